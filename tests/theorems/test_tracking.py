"""Regret on every interval, to comparators that switch, and at every time for two actions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import erfi, hyp1f1

from driftgames.certificates import IntervalCertificate, bounds
from driftgames.hedge import (
    AdaFixedShare,
    AdaHedge,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    FixedShare,
    TwoExperts,
)

GAMMA = bounds.TWO_EXPERTS_GAMMA
losses = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


def switching(rounds, n_actions, pieces, seed=0):
    """Losses whose best action is another one in each piece."""
    L = 0.5 + 0.5 * np.random.default_rng(seed).random((rounds, n_actions))
    for k, piece in enumerate(np.array_split(np.arange(rounds), pieces)):
        L[piece, k % n_actions] = 0.0
    return L


def all_intervals(own, L):
    """Return first, last and regret of every interval, by brute force."""
    for first in range(1, len(L) + 1):
        for last in range(first, len(L) + 1):
            part = slice(first - 1, last)
            yield first, last, own[part].sum() - L[part].sum(axis=0).min()


@tried(max_examples=40)
@given(L=arrays(np.float64, st.tuples(st.integers(1, 24), st.integers(1, 4)), elements=losses))
def test_regret_of_tv_stays_below_its_bound_on_every_interval(L):
    learner = AdaNormalHedgeTV(L.shape[1])
    own = learner.run(L).learner_losses
    first, last, regret = np.array(list(all_intervals(own, L))).T
    bound = learner.interval_bound(first.astype(int), last.astype(int), 1 / L.shape[1])
    assert (regret <= bound + 1e-9).all()
    found = learner.interval_certificate(L)
    assert found.holds
    assert found.largest.realised == pytest.approx(regret.max(), abs=1e-12)
    share = found.worst.realised / found.worst.promised
    assert share == pytest.approx((regret / bound).max(), abs=1e-12)


@pytest.mark.parametrize("length", [13, 230])  # in one block of rounds, and over many
@pytest.mark.parametrize("seed", range(3))
def test_the_interval_that_uses_most_of_its_bound_is_found_among_all(seed, length):
    rng = np.random.default_rng(seed)
    rounds = 400
    L = (rng.random((rounds, 3)) < rng.random((1, 3))).astype(float)
    at = int(rng.integers(20, 380 - length))
    own = L.min(axis=1)
    own[at : at + length] = 1.0  # an interval that is no power of 2, and in no dyadic one alone
    L[at : at + length, 1] = 0.0

    def bound(first, last):
        return 0.5 + 2.0 * np.sqrt(last - first + 1.0)

    first, last, regret = np.array(list(all_intervals(own, L))).T
    shares = regret / bound(first, last)
    found = IntervalCertificate.of_run("x", own, L, bound)
    assert found.worst.realised / found.worst.promised == pytest.approx(shares.max(), abs=1e-12)
    assert found.holds == (shares.max() <= 1)
    assert not found.holds
    # a bound that only this interval breaks
    limit = shares.max() - 1e-9
    barely = IntervalCertificate.of_run("x", own, L, lambda r, s: limit * bound(r, s))
    assert not barely.holds
    enough = IntervalCertificate.of_run("x", own, L, lambda r, s: (limit + 2e-9) * bound(r, s))
    assert enough.holds


def test_actions_of_prior_0_are_not_compared_with():
    L = np.tile([0.0, 1.0, 1.0], (200, 1))
    found = AdaNormalHedgeTV(3, prior=[0, 0.5, 0.5]).interval_certificate(L)
    assert found.holds
    assert found.largest.realised == 0.0
    assert not AdaNormalHedgeTV(3, prior=[0, 0.5, 0.5]).interval_bound(1, 200, 0.5) < 187


def test_sleeping_actions_have_no_regret_in_the_interval_certificate():
    rng = np.random.default_rng(0)
    awake = rng.random((120, 4)) < 0.7
    awake[:, 3] = True
    L = np.where(awake, rng.random((120, 4)), 0.0)
    found = AdaNormalHedgeTV(4).interval_certificate(L, awake=awake)
    assert found.holds
    own = AdaNormalHedgeTV(4).run(L, awake=awake).learner_losses
    gains = np.where(awake, own[:, None] - L, 0.0)
    assert found.realised[-1] == pytest.approx(gains.sum(axis=0).max())
    assert found.largest.realised < own.sum()  # sleepers of loss 0 would be far ahead
    with pytest.raises(ValueError, match="awake must be of shape"):
        IntervalCertificate.of_run("x", own, L, lambda r, s: s - r + 1.0, awake=awake[1:])


def test_a_learner_that_does_not_track_breaks_the_interval_bound_where_tv_keeps_it():
    L = switching(8000, 3, 2)
    own = AdaNormalHedge(3).run(L).learner_losses
    learner = AdaNormalHedgeTV(3)

    def bound(first, last):
        return learner.interval_bound(first, last, 1 / 3)

    lazy = IntervalCertificate.of_run("lazy", own, L, bound)
    assert not lazy.holds
    assert lazy.worst.first > 3900  # after the change
    assert learner.interval_certificate(L).holds


def test_interval_bounds_add_up_over_the_cover():
    # [3, 3], [4, 7] and [8, 10] of [8, 15]
    log_b = np.log(1 + 1.5 * (1 + np.log1p(10)))
    c = 2 * np.pi**2 / 9
    pieces = [(3, 1), (4, 4), (8, 3)]
    wanted = sum(np.sqrt(3 * n * (log_b + np.log(c * s**2 / 0.25))) for s, n in pieces)
    assert bounds.tracking(3, 10, 0.25) == pytest.approx(wanted, rel=1e-12)
    shares = sum(1 / (k * 2.0**j) ** 2 for j in range(30) for k in range(1, 3000))
    assert shares == pytest.approx(c, rel=1e-3)
    assert shares < c


@tried(max_examples=40)
@given(
    L=arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(2, 4)), elements=losses),
    rate=st.floats(0.05, 3.0),
    share=st.floats(0.01, 0.5),
)
def test_fixed_share_keeps_its_bound_to_every_sequence_that_switches(L, rate, share):
    learner = FixedShare(L.shape[1], rate=rate, share=share)
    own = learner.run(L).learner_losses.sum()
    best = np.zeros(L.shape[1])  # of sequences with m switches, by their last action
    most = min(4, len(L) - 1)
    lowest = np.full((most + 1, L.shape[1]), np.inf)
    lowest[0] = best
    for row in L:
        before = np.vstack([np.full(L.shape[1], np.inf), lowest[:-1]]).min(axis=1)
        lowest = np.minimum(lowest, before[:, None]) + row
    for m in range(most + 1):
        promised = learner.bound(len(L), 1 / L.shape[1], switches=m)
        assert own - lowest[m].min() <= promised + 1e-9


def test_fixed_share_follows_a_switch_that_a_learner_with_one_weight_misses():
    L = switching(3000, 3, 6)
    learner = FixedShare(3, rate=0.5, share=0.002)
    promised = float(learner.bound(3000, 1 / 3, switches=5))
    assert learner.run(L).learner_losses.sum() <= promised
    assert AdaNormalHedge(3).run(L).learner_losses.sum() > promised


@tried(max_examples=100)
@given(L=arrays(np.float64, st.tuples(st.integers(1, 60), st.just(2)), elements=losses))
def test_two_experts_keep_gamma_half_root_t_at_every_time(L):
    run = TwoExperts().run(L)
    assert (run.regret_over_time <= GAMMA / 2 * np.sqrt(run.rounds) + 1e-12).all()


def two_experts_regret(t, gap):
    """Return R(t, g), which is defined for negative gaps by the same formula."""
    root = np.sqrt(t)
    kappa = 1.0 / (np.sqrt(2.0 * np.pi) * erfi(GAMMA / np.sqrt(2.0)))
    inside = 0.5 * gap + kappa * root * hyp1f1(-0.5, 0.5, gap**2 / (2.0 * t))
    return np.where(gap >= GAMMA * root, 0.5 * GAMMA * root, inside)


@pytest.mark.parametrize("t", [1, *range(2, 40), 100, 999, 10_000, 10**6])
def test_two_experts_need_one_inequality_per_round_since_their_regret_is_concave(t):
    # with concavity it covers all losses in [0, 1]: the chord from g - 1 to g + 1 has the slope p
    gap = np.linspace(0.0, 2.0 * np.sqrt(t) + 2.0, 4001)
    before = np.zeros(1) if t == 1 else two_experts_regret(t - 1, gap)
    gap = gap[: before.size]
    ahead, behind = two_experts_regret(t, gap + 1.0), two_experts_regret(t, gap - 1.0)
    rounding = 1e-13 * np.sqrt(t)
    assert (before <= 0.5 * (ahead + behind) + rounding).all()
    # and it is nearly an equality, so that no lower function of this kind would do
    assert (0.5 * (ahead + behind) - before).min() <= 0.2 / np.sqrt(t)
    points = np.linspace(-1.0, 2.0 * np.sqrt(t) + 2.0, 4001)
    bend = np.diff(two_experts_regret(t, points), 2)
    assert (bend <= 1e-13 * np.sqrt(t)).all()
    for g in gap[:: max(1, gap.size // 20)]:
        delta = np.linspace(-1.0, 1.0, 81)
        p = 0.5 * (
            two_experts_regret(t, np.array(g + 1.0)) - two_experts_regret(t, np.array(g - 1.0))
        )
        start = 0.0 if t == 1 else two_experts_regret(t - 1, np.array(g))
        assert (start + p * delta <= two_experts_regret(t, g + delta) + rounding).all()


def test_a_greedy_adversary_comes_within_one_percent_of_gamma_half_root_t():
    # it charges the heavier action, which brings the gap back to 0 again and again, and ends by
    # opening the gap to gamma sqrt(t)
    learner, reached = TwoExperts(), []
    for t in range(1, 2061):
        row = np.zeros(2)
        row[np.argmax(learner.distribution()) if t <= 2000 else 1] = 1.0
        learner.update(row)
        reached.append((learner.learner_loss - learner.action_losses.min()) / np.sqrt(t))
    assert 0.99 * GAMMA / 2 < max(reached) <= GAMMA / 2
    assert learner.certificate().holds
    assert GAMMA / 2 * np.sqrt(2060) < 2060 / 2 - 1000  # the regret of one who plays both alike


def best_sequence(L, switches):
    """Return the lowest loss of a sequence of actions with at most so many switches."""
    lowest = np.full((switches + 1, L.shape[1]), np.inf)
    lowest[0] = 0.0
    for row in L:
        for m in range(switches, 0, -1):
            lowest[m] = np.minimum(lowest[m], lowest[m - 1].min())
        lowest += row
    return lowest.min()


@pytest.mark.parametrize("free", [False, True])
@tried(max_examples=60)
@given(
    L=arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=losses),
    share=st.sampled_from([0.001, 0.01, 0.3]),
)
def test_regret_of_adahedge_with_a_share_to_sequences_stays_below_its_bounds(L, share, free):
    settings = {"loss_range": None} if free else {}
    sizes = np.exp(3 * np.sin(np.arange(len(L))))[:, None] if free else 1.0
    learner = AdaFixedShare(L.shape[1], share=share, **settings)
    own = learner.run(L * sizes).learner_losses.sum()
    for m in range(4):
        regret = own - best_sequence(L * sizes, m)
        assert regret <= learner.run_bound(m) + 1e-9
        if not free:
            assert learner.run_bound(m) <= learner.bound(len(L), 1 / L.shape[1], switches=m) + 1e-9


def test_a_learner_without_a_share_breaks_the_bound_that_one_with_a_share_keeps():
    L = 1000.0 * switching(9000, 3, 3)
    learner = AdaFixedShare(3, loss_range=None)
    own = learner.run(L).learner_losses.sum()
    best = best_sequence(L, 2)
    assert own - best <= learner.run_bound(2)
    lazy = AdaHedge(3, loss_range=None).run(L).learner_losses.sum()
    assert lazy - best > learner.run_bound(2)
