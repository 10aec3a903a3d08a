"""Learners that track what changes, and the optimum for two actions."""

import numpy as np
import pytest

from driftgames.core.documents import DocumentError, encode_array
from driftgames.core.state import nested, restore_nested
from driftgames.hedge import (
    LEARNERS,
    AdaFixedShare,
    AdaNormalHedgeTV,
    ExpertLearner,
    FixedShare,
    TwoExperts,
)
from driftgames.hedge.named_learners import make_learner


def weigh(R, C):
    ahead, behind = np.maximum(R + 1, 0) ** 2, np.maximum(R - 1, 0) ** 2
    return np.exp(ahead / (3 * (C + 1))) - np.exp(behind / (3 * (C + 1)))


def test_tv_is_adanormalhedge_with_sleeping_copies_on_a_geometric_cover():
    L = np.random.default_rng(0).random((40, 11))
    run = AdaNormalHedgeTV(11).run(L, distributions=True)
    copies = {}  # (first round, level): R and C
    for t, (row, played) in enumerate(zip(L, run.distributions, strict=True), 1):
        for j in range(t.bit_length()):
            if t % 2**j == 0:
                copies[t, j] = np.zeros((2, 11))
        awake = [(s, j) for s, j in copies if t < s + 2**j]
        assert len(awake) == t.bit_length()
        w = sum(weigh(*copies[s, j]) / s**2 for s, j in awake)
        np.testing.assert_allclose(played, w / w.sum(), rtol=1e-11)
        r = w / w.sum() @ row - row
        for each in awake:
            copies[each] += r, abs(r)


def test_tv_keeps_two_sums_of_every_copy_that_is_awake():
    learner = AdaNormalHedgeTV(3)
    sizes = []
    for t in range(1, 18):
        learner.update([0.2, 0.9, 0.4])
        learner.distribution()
        sizes.append(learner._memory.size == 2 * 3 * t.bit_length())
    assert all(sizes)
    content = nested(learner)
    assert restore_nested(content, ExpertLearner) == learner
    content["state"]["memory"] = encode_array(np.zeros(6))
    with pytest.raises(DocumentError, match=r"memory must be float64\[30\]; got float64\[6\]"):
        restore_nested(content, ExpertLearner)


def test_tracking_is_chosen_where_the_theory_has_it():
    settings = {"loss_range": (-1.0, 1.0), "names": ["a", "b"]}
    tracking = LEARNERS["adanormalhedge"](2, tracking=True, **settings)
    assert tracking == AdaNormalHedgeTV(2, **settings)
    assert LEARNERS["adahedge"](2, tracking=True, **settings) == AdaFixedShare(2, **settings)
    with pytest.raises(ValueError, match="the theory of Squint has no tracking; that of"):
        LEARNERS["squint"](2, tracking=True)
    with pytest.raises(ValueError, match="tracking must be True or False; got 1"):
        LEARNERS["adanormalhedge"](2, tracking=1)


def test_tv_lets_actions_sleep():
    L = np.random.default_rng(1).random((30, 4))
    awake = np.ones((30, 4), dtype=bool)
    awake[5:20, 1] = False
    asleep = AdaNormalHedgeTV(4)
    run = asleep.run(L, awake=awake, distributions=True)
    assert (run.distributions[5:20, 1] == 0).all()
    charged = np.where(awake, L, run.learner_losses[:, None])
    same = AdaNormalHedgeTV(4)
    same.run(charged, awake=awake)
    assert same == asleep


def test_fixed_share_is_its_formula():
    L = np.random.default_rng(2).random((50, 5))
    prior = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    learner = FixedShare(5, rate=0.7, share=0.05, prior=prior)
    played = learner.run(L, distributions=True).distributions
    p = prior
    for row, found in zip(L, played, strict=True):
        np.testing.assert_allclose(found, p, rtol=1e-12)
        w = p * np.exp(-0.7 * row)
        p = 0.95 * w / w.sum() + 0.05 * prior


def test_fixed_share_shares_something():
    with pytest.raises(ValueError, match=r"share must .*; got 0"):
        FixedShare(2, share=0.0)


def potential(t, gap):
    """Return R(t, g) with Kummer's function from mpmath."""
    import mpmath

    gamma, t = mpmath.mpf("1.30692972771928100310626468"), mpmath.mpf(t)
    if gap >= gamma * mpmath.sqrt(t):
        return gamma * mpmath.sqrt(t) / 2
    kappa = 1 / (mpmath.sqrt(2 * mpmath.pi) * mpmath.erfi(gamma / mpmath.sqrt(2)))
    kummer = mpmath.hyp1f1(-0.5, 0.5, mpmath.mpf(gap) ** 2 / (2 * t))
    return gap / mpmath.mpf(2) + kappa * mpmath.sqrt(t) * kummer


def test_two_experts_weigh_the_lagging_one_by_a_difference_of_the_potential():
    learner = TwoExperts()
    for t, row in enumerate(np.random.default_rng(3).random((30, 2)) * [1.0, 0.6], 1):
        cumulative = learner.action_losses
        gap = abs(float(cumulative[0] - cumulative[1]))
        lagging = (potential(t, gap + 1) - potential(t, gap - 1)) / 2
        p = learner.distribution()
        assert p[np.argmax(cumulative)] == pytest.approx(float(lagging), abs=1e-13)
        learner.update(row)


def test_two_experts_are_two_and_are_found_by_name(tmp_path):
    with pytest.raises(ValueError, match="needs n_actions to be 2; got 3"):
        TwoExperts(3)
    with pytest.raises(ValueError, match="no prior"):
        TwoExperts(prior=[0.5, 0.5])
    learner = make_learner("two-experts", 2, loss_range=(-1.0, 3.0), names=["a", "b"])
    L = np.random.default_rng(4).uniform(-1, 3, (40, 2))
    learner.run(L[:20])
    learner.save(tmp_path / "s.json")
    loaded = TwoExperts.load(tmp_path / "s.json")
    assert loaded == learner
    assert (loaded.run(L[20:]).learner_losses == [learner.update(row) for row in L[20:]]).all()


def test_adahedge_with_a_fixed_share_is_its_formula():
    rng = np.random.default_rng(5)
    L = rng.random((200, 5)) * np.exp(rng.normal(size=(200, 1)))
    L[:2] = 0.3  # losses that do not differ change nothing
    q, share = np.array([0.1, 0.2, 0.3, 0.4, 0.0]), 0.05
    learner = AdaFixedShare(5, share=share, prior=q, loss_range=None)
    played = learner.run(L, distributions=True).distributions
    p, gap, width, paid = q, 0.0, 0.0, 0.0
    staying = -np.log1p(-share)
    for t, (row, found) in enumerate(zip(L, played, strict=True)):
        np.testing.assert_allclose(found, p, rtol=1e-9, atol=1e-15)
        own, wider = p @ row, width
        complexity = np.log(5) + t * staying
        if width == 0.0:
            gap = own - row[:4].min()
            if gap < 1e-12:
                continue
            width = wider = gap / complexity
            v = p * np.exp(-row / width)
        else:
            v = p * np.exp(-row / width)
            gap += own + width * np.log(v.sum())
            wider = max(width, gap / complexity)
        u = np.where(q > 0, q, 1.0) ** (1 - width / wider) * (v / v.sum()) ** (width / wider)
        p, width = (1 - share) * u / u.sum() + share * q, wider
        paid += staying * width
    assert learner.gap == pytest.approx(gap, rel=1e-9)
    wanted = gap + width * (3 * np.log(10) - 2 * np.log(share)) + paid
    assert learner.run_bound(2) == pytest.approx(wanted, rel=1e-9)


def test_adahedge_with_a_fixed_share_checks_its_share_and_its_state():
    for share in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match=r"share must lie in \(0, 1.; got|share must lie in"):
            AdaFixedShare(2, share=share)
    content = nested(AdaFixedShare(2, share=0.5))
    content["state"]["memory"] = nested(AdaFixedShare(2, share=0.4))["state"]["memory"]
    with pytest.raises(DocumentError, match=r"begin with the share 0.5; got 0.4"):
        restore_nested(content, ExpertLearner)
    content["state"]["memory"] = encode_array(np.array([0.5, 1.0, 1.0, 0.1, 0.5, 0.6]))
    with pytest.raises(DocumentError, match=r"the distribution must sum to 1; got 1.1"):
        restore_nested(content, ExpertLearner)


@pytest.mark.parametrize("name", ["normalhedge.dt", "squint", "boa", "adahedge"])
def test_tracking_by_name_says_who_can(name):
    if name == "adahedge":
        assert isinstance(make_learner(name, 2, tracking=True), AdaFixedShare)
        return
    with pytest.raises(ValueError, match="has no tracking; that of AdaHedge and of"):
        make_learner(name, 2, tracking=True)
