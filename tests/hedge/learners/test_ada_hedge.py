"""AdaHedge follows the leader until mixing costs."""

import math

import numpy as np
import pytest

from driftgames.hedge import AdaHedge


def _mix(eta, L):
    """Return weights and mix loss at one learning rate, infinity included."""
    least = L.min()
    w = (least == L).astype(float) if math.isinf(eta) else np.exp(-eta * (L - least))
    return w / w.sum(), least - math.log(w.mean()) / eta


def _by_hand(losses):
    """Play AdaHedge from its definition and return distributions and gaps."""
    L, gap, played, gaps = np.zeros(losses.shape[1]), 0.0, [], []
    for row in losses:
        eta = math.log(row.size) / gap if gap > 0 else math.inf
        p, before = _mix(eta, L)
        L = L + row
        after = _mix(eta, L)[1]
        gap += max(0.0, p @ row - (after - before))
        played.append(p)
        gaps.append(gap)
    return np.array(played), np.array(gaps)


@pytest.mark.parametrize("seed", range(5))
def test_the_weights_are_the_published_ones(seed):
    losses = np.random.default_rng(seed).random((200, 5))
    learner = AdaHedge(5)
    played, gaps = _by_hand(losses)
    run = learner.run(losses, distributions=True)
    np.testing.assert_allclose(run.distributions, played, rtol=1e-7, atol=1e-12)
    assert learner.gap == pytest.approx(gaps[-1], rel=1e-9)


def test_leaders_are_followed_while_the_gap_is_zero():
    learner = AdaHedge(4)
    learner.update([0.0, 0.0, 0.0, 0.0])
    assert learner.gap == 0.0
    assert learner.distribution().tolist() == [0.25] * 4


def test_an_easy_game_costs_a_constant():
    losses = np.tile([0.0, 1.0, 1.0], (5000, 1))
    run = AdaHedge(3).run(losses)
    assert run.regret < 2.0
    assert run.regret_over_time[-1] - run.regret_over_time[100] < 1e-9


def test_a_gap_of_rounding_errors_alone_is_no_error():
    # its learning rate is of the order of 1e16 or more, and magnifies the rounding of a total
    for n_actions, loss in ((10, 1e-9), (33, 0.3), (26, 0.9949173481609178)):
        learner = AdaHedge(n_actions)
        learner.run(np.full((1033, n_actions), loss))
        np.testing.assert_allclose(learner.distribution(), 1 / n_actions)
        assert 0.0 < learner.gap < 1e-10
        assert learner.certificate().holds


@pytest.mark.parametrize(
    "losses",
    [
        np.random.default_rng(1).integers(2, size=(500, 3)).astype(float),
        np.full((500, 7), 0.3),  # which rounding says are less than nothing to mix
    ],
)
def test_the_gap_never_falls(losses):
    learner, last = AdaHedge(losses.shape[1]), 0.0
    for row in losses:
        learner.update(row)
        assert learner.gap >= last
        last = learner.gap


def test_the_promise_allows_for_the_rounding_of_totals_of_any_size():
    # the totals of all actions but one are small, and that one is negative and large
    losses = np.tile([1.0, 2.0, -3.0 * 2.0**40], (30, 1))
    learner = AdaHedge(3, loss_range=None)
    learner.run(losses)
    largest = float(np.abs(learner._get_state()["cumulative"]).max())
    assert largest == 90 * 2.0**40
    gap = learner.gap + 30 * largest * 2.0**-49
    promised = learner.certificate().promised
    epsilons = np.arange(1, 4) / 3
    np.testing.assert_allclose(promised, (1 - np.log(epsilons) / np.log(3)) * gap, rtol=1e-12)
    # equal losses of any size have no gap but rounding errors, which the promise must cover
    for scale in (1e-12, 1.0, 1e12):
        equal = AdaHedge(7, loss_range=None)
        equal.run(np.full((500, 7), 0.1 * scale))
        certificate = equal.certificate()
        assert certificate.realised.max() <= certificate.promised[0] <= 1e-9 * scale
