"""AdaNormalHedge, and actions that sleep."""

import math

import numpy as np
import pytest

from driftgames.hedge import AdaNormalHedge
from tests.refusals import restate


def _weights(R, C, q):
    ahead, behind = np.maximum(R + 1, 0.0) ** 2, np.maximum(R - 1, 0.0) ** 2
    return q * (np.exp(ahead / (3 * (C + 1))) - np.exp(behind / (3 * (C + 1))))


def test_the_weights_are_the_published_ones():
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    learner = AdaNormalHedge(4, prior=prior)
    R, C = np.zeros(4), np.zeros(4)
    for row in np.random.default_rng(0).random((200, 4)):
        w = _weights(R, C, prior)
        p = w / w.sum()
        np.testing.assert_allclose(learner.distribution(), p, rtol=1e-8, atol=1e-14)
        learner.update(row)
        r = p @ row - row
        R, C = R + r, C + np.abs(r)
    np.testing.assert_allclose(learner.positions, -R, atol=1e-9)


def _sleepy_game(rounds=300, n_actions=5, seed=0):
    rng = np.random.default_rng(seed)
    awake = rng.random((rounds, n_actions)) < 0.6
    awake[np.arange(rounds), rng.integers(n_actions, size=rounds)] = True
    return rng.random((rounds, n_actions)), awake


def test_sleeping_actions_are_not_played_and_stay_where_they_are():
    L, awake = _sleepy_game()
    learner = AdaNormalHedge(5)
    R, C = np.zeros(5), np.zeros(5)
    for row, mask in zip(L, awake, strict=True):
        w = np.where(mask, _weights(R, C, 1.0), 0.0)
        p = w / w.sum() if w.sum() > 0 else mask / mask.sum()
        np.testing.assert_allclose(learner.distribution(awake=mask), p, rtol=1e-7, atol=1e-12)
        before = learner.positions
        loss = learner.update(row, awake=mask)
        assert loss == pytest.approx(p @ row, abs=1e-9)
        np.testing.assert_allclose(learner.positions[~mask], before[~mask], atol=1e-12)
        r = np.where(mask, p @ row - row, 0.0)
        R, C = R + r, C + np.abs(r)
    # what the certificate holds beside the bound is the regret over each action's own rounds
    np.testing.assert_allclose(np.sort(-learner.positions), np.sort(R), atol=1e-9)
    assert learner.certificate().holds


def test_a_run_takes_a_mask_for_every_round():
    L, awake = _sleepy_game()
    at_once, one_by_one = AdaNormalHedge(5), AdaNormalHedge(5)
    run = at_once.run(L, awake=awake, distributions=True)
    losses = [one_by_one.update(row, awake=mask) for row, mask in zip(L, awake, strict=True)]
    assert at_once == one_by_one
    assert run.learner_losses.tolist() == losses
    assert (run.distributions[~awake] == 0).all()


def test_the_losses_of_sleepers_are_not_looked_at():
    L, awake = _sleepy_game(40)
    noted, blank = AdaNormalHedge(5), AdaNormalHedge(5)
    noted.run(L, awake=awake)
    blank.run(np.where(awake, L, math.nan), awake=awake)
    assert noted == blank
    blank.update([0.5, math.nan, math.inf, -7.0, 0.5], awake=[True, False, False, False, True])


def test_all_awake_is_no_sleep():
    L, _ = _sleepy_game(40)
    plain, masked = AdaNormalHedge(5), AdaNormalHedge(5)
    plain.run(L)
    masked.run(L, awake=np.ones(L.shape, dtype=bool))
    np.testing.assert_allclose(plain.positions, masked.positions, atol=1e-12)


@pytest.mark.parametrize(
    ("awake", "message"),
    [
        ([False] * 3, "at least one action awake"),
        ([True, False], r"awake must be truth values of shape \(3,\)"),
        ([1, 0, 1], "awake must be truth values"),
    ],
)
def test_a_bad_mask_leaves_the_state_unchanged(awake, message):
    learner = AdaNormalHedge(3)
    learner.update([0.1, 0.2, 0.3])
    before = learner.copy()
    with pytest.raises(ValueError, match=message):
        learner.update([0.1, 0.2, 0.3], awake=awake)
    with pytest.raises(ValueError, match=message):
        learner.distribution(awake=awake)
    assert learner == before


def test_somebody_with_mass_must_be_awake():
    learner = AdaNormalHedge(3, prior=[0.5, 0.5, 0.0])
    with pytest.raises(ValueError, match="at least one action awake"):
        learner.update([0.1, 0.2, 0.3], awake=[False, False, True])


def test_no_weight_is_a_negative_zero():
    learner = AdaNormalHedge(3)
    learner.run(np.tile([0.0, 1.0, 1.0], (20, 1)))
    assert learner.distribution().tolist() == [1.0, 0.0, 0.0]
    assert not np.signbit(learner.distribution()).any()


def test_a_sample_is_awake():
    learner, rng = AdaNormalHedge(3), np.random.default_rng(0)
    learner.run(np.tile([0.0, 0.4, 0.5], (5, 1)))
    drawn = {learner.sample(rng, awake=[False, True, True]) for _ in range(200)}
    assert drawn == {1, 2}


def test_the_certificate_of_three_rounds_by_hand():
    # uniform at first: the learner loses 1/2, and the regrets are 1/2 and -1/2
    learner = AdaNormalHedge(2)
    learner.update([0.0, 1.0])
    ahead, behind = math.expm1(1.5**2 / 4.5), math.expm1(0.5**2 / 4.5)
    p = ahead / (ahead + behind)
    learner.update([1.0, 1.0])  # which everybody loses, so that C stays
    learner.update([0.0, 0.5])
    loss = 0.5 * (1 - p)
    certificate = learner.certificate()
    np.testing.assert_allclose(certificate.realised, [0.5 + loss, loss - 1.0])
    log_b = math.log(1 + 1.5 * (1 + math.log(4)))
    # at epsilon = 1/2 the better action's C counts, at epsilon = 1 the mean of both
    spread = [0.5 + loss, (0.5 + loss + 1.0 - loss) / 2]
    assert spread[0] < spread[1]
    np.testing.assert_allclose(
        certificate.promised,
        [math.sqrt(3 * C * (log_b + k)) for C, k in zip(spread, (math.log(2), 0.0), strict=True)],
    )


def test_the_promise_counts_the_mean_spread_of_the_best():
    learner = restate(
        AdaNormalHedge(3),
        state__cumulative=np.array([0.0, 1.0, 2.0]),
        state__totals=np.array([9.0, 1.5, 0.0, 0.0]),
        state__memory=np.array([4.0, 1.0, 9.0]),
    )
    epsilons = np.array([1, 2, 3]) / 3
    log_b = math.log(1 + 1.5 * (1 + math.log(10)))
    expected = np.sqrt(3 * np.array([4.0, 2.5, 14.0 / 3]) * (log_b - np.log(epsilons)))
    np.testing.assert_allclose(learner.certificate().promised, expected)


def test_the_mean_of_the_spread_with_a_prior_weighs_by_it():
    learner = restate(
        AdaNormalHedge(2, prior=[0.9, 0.1]),
        state__cumulative=np.array([0.0, 1.0]),
        state__totals=np.array([9.0, 1.0, 0.0, 0.0]),
        state__memory=np.array([4.0, 14.0]),
    )
    log_b = math.log(1 + 1.5 * (1 + math.log(10)))
    assert learner.certificate().promised[-1] == pytest.approx(math.sqrt(3 * 5.0 * log_b))


def test_small_losses_make_a_small_certificate():
    L = np.random.default_rng(2).random((1000, 4))
    large, small = AdaNormalHedge(4), AdaNormalHedge(4)
    large.run(L)
    small.run(L * 0.01)
    assert small.certificate().promised[0] < 0.2 * large.certificate().promised[0]
    assert (large.certificate().promised <= large.bound(1000, large.certificate().epsilons)).all()


def test_actions_without_weight_are_played_by_their_prior():
    h = AdaNormalHedge(3, prior=[0.5, 0.3, 0.2])
    for _ in range(20):
        h.update([0.0, 1.0, 1.0])
    assert (h.positions[1:] >= 1.0).all()  # such actions weigh nothing
    awake = [False, True, True]
    assert h.distribution(awake=awake) == pytest.approx([0.0, 0.6, 0.4])
    assert h.update([0.0, 1.0, 0.5], awake=awake) == pytest.approx(0.8)


def test_regret_is_to_actions_with_a_prior():
    run = AdaNormalHedge(3, prior=[0.5, 0.5, 0.0]).run([[1.0, 1.0, 0.0]] * 5)
    assert run.regret_over_time == pytest.approx(np.zeros(5))
