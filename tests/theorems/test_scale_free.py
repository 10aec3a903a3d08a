"""Bounds of learners without a range of the losses, on random, adversarial and long games."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.certificates import IntervalCertificate, bounds
from driftgames.hedge import (
    BOA,
    LEARNERS,
    AdaFixedShare,
    AdaHedge,
    AdaNormalHedge,
    AdaNormalHedgeTV,
)
from driftgames.potentials import NoBoundError

FREE = [AdaNormalHedge, AdaNormalHedgeTV, AdaHedge, AdaFixedShare, BOA]
numbers = st.one_of(
    st.sampled_from([-1.0, 0.0, 1.0, 100.0]), st.floats(-10, 10), st.floats(-1e6, 1e6)
)
games = arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(2, 5)), elements=numbers)


def growing(rounds, n_actions, seed=0):
    """Losses whose size grows by a factor of a million; action 1 is good."""
    rng = np.random.default_rng(seed)
    L = rng.random((rounds, n_actions)) * np.logspace(0, 6, rounds)[:, None]
    L[:, 1] *= 0.7
    return L


def assert_kept(learner, own, L, awake=None):
    """Check the certificate against regrets by hand, for every epsilon."""
    there = np.ones(L.shape, bool) if awake is None else awake
    regret = np.where(there, own[:, None] - L, 0.0).sum(axis=0)
    found = learner.certificate()
    rounding = 1e-9 * (np.abs(L).sum() + 1.0)
    assert np.isfinite(found.promised).all()
    assert found.realised.max() == pytest.approx(regret.max(), abs=rounding)
    assert (found.realised <= found.promised + rounding).all()


@pytest.mark.parametrize("kind", FREE)
@tried(max_examples=60)
@given(L=games)
def test_regret_stays_below_the_bound_of_the_run_on_losses_of_any_size(kind, L):
    learner = kind(L.shape[1], loss_range=None)
    own = learner.run(L).learner_losses
    assert_kept(learner, own, L)


@pytest.mark.parametrize("kind", FREE)
@tried(max_examples=30)
@given(L=games, data=st.data())
def test_the_bound_holds_for_sleepers_and_for_a_prior(kind, L, data):
    n = L.shape[1]
    awake = data.draw(arrays(bool, L.shape))
    awake[:, n - 1] = True
    prior = np.arange(n) / sum(range(n))  # action 0 has no mass
    learner = kind(n, loss_range=None, prior=prior)
    run = learner.run(L, awake=awake, distributions=True)
    assert (run.distributions[~awake] == 0).all()
    assert (run.distributions[:, 0] == 0).all()
    assert_kept(learner, run.learner_losses, L[:, 1:], awake[:, 1:])


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize("rounds", [50, 20_000])
def test_a_greedy_adversary_whose_losses_grow_cannot_break_the_bound(kind, rounds):
    # the heavier half loses, and from time to time the losses are ten times as large
    learner, own, L = kind(4, loss_range=None), [], []
    step = max(1, rounds // 200)
    for k in range(rounds // step):
        heavy = np.argsort(-learner.distribution(), kind="stable")[:2]
        row = np.zeros(4)
        row[heavy] = 10.0 ** (k // 50)
        part = np.broadcast_to(row, (step, 4))
        own.append(learner.run(part, progress=False).learner_losses)
        L.append(part)
    assert_kept(learner, np.concatenate(own), np.concatenate(L))
    if step == 1:  # between two looks, a learner that tracks gains
        assert learner.certificate().realised[0] > 0


@pytest.mark.parametrize("kind", FREE)
def test_a_lazy_player_breaks_the_bound_that_the_learner_keeps(kind):
    rounds = 60_000 if kind is AdaNormalHedgeTV else 6_000
    L = np.random.default_rng(0).random((rounds, 10)) * 1000.0
    L[:, 3] *= 0.2
    learner = kind(10, loss_range=None)
    own = learner.run(L).learner_losses
    assert_kept(learner, own, L)
    lazy = L.mean(axis=1).sum() - L.sum(axis=0).min()
    assert lazy > learner.certificate().promised[0]


def test_clipping_is_paid_for_once_and_not_every_time():
    L = growing(4000, 5)
    learner = AdaNormalHedge(5, loss_range=None)
    own = learner.run(L).learner_losses
    assert_kept(learner, own, L)
    assert learner.scale == pytest.approx(np.abs(own[:, None] - L).max())
    promised = learner.certificate().promised[0]
    # the bound of one who was told the range; the price of not knowing it is small
    told = AdaNormalHedge(5, loss_range=(0.0, float(L.max())))
    told.run(L)
    assert promised < 1.5 * told.certificate().promised[0]


def test_the_bound_is_its_formula_and_its_lemma():
    L = growing(300, 3)
    learner = AdaNormalHedge(3, loss_range=None)
    own = learner.run(L).learner_losses
    r = own[:, None] - L
    scale, first, C, potential = 0.0, 0.0, np.zeros(3), 0.0
    for row in r:
        most = np.abs(row).max()
        clip = 1.0 if scale == 0.0 or most <= scale else scale / most
        first = first or most
        potential += np.mean(np.abs(row * clip) / (C + (scale or most)))
        C += np.abs(row * clip)
        scale = max(scale, most)
    growth = np.mean(np.log1p(C / first))
    assert potential <= 2 * growth  # what each round adds to the potential, and what is promised
    best = np.argsort(L.sum(axis=0))
    for k in range(1, 4):
        mean = C[best[:k]].mean()
        wanted = scale - first + math.sqrt(3 * scale * mean * math.log((1 + 3 * growth) * 3 / k))
        assert learner.certificate().promised[k - 1] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("kind", FREE)
def test_the_unit_of_the_losses_changes_no_bit(kind):
    L = np.random.default_rng(2).normal(size=(200, 4))
    plain = kind(4, loss_range=None).run(L, distributions=True).distributions
    for power in (-300, 40, 700):
        scaled = kind(4, loss_range=None).run(L * 2.0**power, distributions=True).distributions
        np.testing.assert_array_equal(scaled, plain)


@pytest.mark.parametrize("kind", FREE)
def test_the_unit_of_the_losses_is_the_unit_of_the_bound(kind):
    L = np.random.default_rng(2).normal(size=(200, 4))
    plain = kind(4, loss_range=None).run(L).certificate()
    for power in (-900, -560, 520, 900):
        scaled = kind(4, loss_range=None).run(L * 2.0**power).certificate()
        assert scaled.holds
        np.testing.assert_allclose(scaled.promised * 2.0**-power, plain.promised, rtol=1e-9)
    nothing = kind(4, loss_range=None)
    nothing.run(np.zeros((3, 4)))
    assert nothing.certificate().holds


@pytest.mark.parametrize("kind", FREE)
def test_a_gain_without_a_range_is_minus_a_loss_to_the_bit(kind):
    L = 1e-15 * np.random.default_rng(2).normal(size=(50, 4))
    losses, gains = kind(4, loss_range=None), kind(4, loss_range=None, gains=True)
    ran, other = losses.run(L, distributions=True), gains.run(-L, distributions=True)
    np.testing.assert_array_equal(other.distributions, ran.distributions)
    np.testing.assert_array_equal(other.learner_losses, ran.learner_losses)
    np.testing.assert_array_equal(gains.action_losses, losses.action_losses)
    assert gains.learner_loss == losses.learner_loss
    assert gains.update([1e-15, 0.0, 0.0, 0.0]) == losses.update([-1e-15, 0.0, 0.0, 0.0])


@tried(max_examples=40)
@given(L=arrays(np.float64, st.tuples(st.integers(1, 24), st.integers(1, 4)), elements=numbers))
def test_regret_of_tv_stays_below_its_bound_on_every_interval_without_a_range(L):
    learner = AdaNormalHedgeTV(L.shape[1], loss_range=None)
    own = learner.run(L).learner_losses
    found = learner.interval_certificate(L)
    scale = learner.scale
    r = own[:, None] - L
    first_scale = next((x for x in np.abs(r).max(axis=1) if x > 0), 0.0)
    rounding = 1e-9 * (np.abs(L).sum() + 1.0)
    for first in range(1, len(L) + 1):
        for last in range(first, len(L) + 1):
            promised = bounds.tracking_scaled(
                first, last, 1 / L.shape[1], scale=scale, first_scale=first_scale
            )
            assert r[first - 1 : last].sum(axis=0).max() <= promised + rounding
    assert found.largest.realised <= found.largest.promised + rounding


def test_tracking_without_a_range_follows_a_switch_that_others_miss():
    L = 500.0 + 500.0 * np.random.default_rng(1).random((8000, 3))
    L[:4000, 0] = 0.0
    L[4000:, 1] = 0.0
    learner = LEARNERS["adanormalhedge"](3, tracking=True, loss_range=None)
    assert isinstance(learner, AdaNormalHedgeTV)
    assert learner.interval_certificate(L).holds
    learner.run(L)
    lazy = AdaNormalHedge(3, loss_range=None).run(L).learner_losses
    found = IntervalCertificate.of_run(
        "lazy", lazy, L, lambda r, s: learner._interval_promise(r, s, 1 / 3)
    )
    assert not found.holds
    with pytest.raises(NoBoundError, match="no bound before the run"):
        learner.interval_bound(1, 5, 0.3)


@pytest.mark.parametrize("kind", FREE)
def test_a_learner_without_a_range_is_saved_and_updates_are_a_run(kind, tmp_path):
    L = growing(60, 4)
    learner, single = kind(4, loss_range=None), kind(4, loss_range=None)
    run = learner.run(L[:40])
    assert [single.update(row) for row in L[:40]] == run.learner_losses.tolist()
    assert single == learner
    learner.save(tmp_path / "s.json")
    loaded = kind.load(tmp_path / "s.json")
    assert loaded == learner
    assert loaded.run(L[40:]).learner_losses.tolist() == learner.run(L[40:]).learner_losses.tolist()
    with pytest.raises(ValueError, match="losses must lie in"):
        learner.update([0.0, math.inf, 0.0, 0.0])


@pytest.mark.parametrize("kind", FREE)
def test_a_first_scale_far_below_the_last_leaves_the_bound_finite(kind):
    L = np.array([[2e-311, 3e-311], [-1.0, 2e-311], [0.5, 1e200]])
    learner = kind(2, loss_range=None)
    assert_kept(learner, learner.run(L).learner_losses, L)
