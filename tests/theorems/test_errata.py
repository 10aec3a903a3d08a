"""What docs/errata.md says of the paper, shown by running it."""

import math

import numpy as np
import pytest

from driftgames.bandit import POLICIES, BernoulliArms, play_games
from driftgames.certificates import bounds
from driftgames.games import Chips, DGv1, PotentialPlayer, move
from driftgames.hedge import LEARNERS, Hedge
from driftgames.potentials import MinimaxPotential, NormalHedgeDT, Potential


@pytest.mark.parametrize(("T", "R"), [(1, 0), (4, 1), (4, 3), (10, 3), (11, 4), (30, 9)])
@pytest.mark.parametrize("per_unit", [1, 2, 5])
def test_sec3_for_odd_t_minus_r_the_quoted_sum_rounded_down_is_below_the_value(T, R, per_unit):
    """The value is that of one round less. With the limit rounded down the sum is too small."""
    value = MinimaxPotential.on_interval(lambda s: s <= -R, T, per_unit=per_unit).game_value
    rounded_down = sum(math.comb(T + 1, j) for j in range((T - R) // 2 + 1)) / 2**T
    assert value > 1.3 * rounded_down
    if T > 1:
        assert value == pytest.approx(bounds.relaxed_game_value(T - 1, R), rel=1e-13)
    assert value <= bounds.relaxed_game_hoeffding(T, R)
    with pytest.raises(ValueError, match="must be even"):
        bounds.relaxed_game_value(T, R)


class Bowl(Potential):
    """Meets all that Algorithm 3 asks of Phi_2 in a game of 3 rounds, and rises to the right."""

    adaptive = False

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        s = np.asarray(positions, dtype=float)
        if t == 3:
            return np.minimum(s, 0.0) ** 2
        return (self.value(s - 1, t + 1) + self.value(s + 1, t + 1)) / 2 + (s**2 if t == 2 else 0)


def test_alg3_must_ask_for_nonincreasing_potentials_in_every_round():
    phi, s = Bowl(), np.linspace(-3, 3, 121)
    for t in (1, 2, 3):
        left = phi.value(s - 1, t) + phi.value(s + 1, t)
        assert (left <= 2 * phi.value(s, t - 1) + 1e-12).all()
        assert (np.diff(phi.value(s, t), 2) >= -1e-12).all()
    assert (np.diff(phi.value(s, 3)) <= 0).all()
    # two actions after the losses 0 and 1: the worse one gets a negative "probability"
    weights = phi.weights([-0.5, 0.5], 2)
    assert weights[1] < 0 < weights[0]


def test_alg3_has_no_weights_for_chips_that_are_all_safe():
    """DGv1 allows the adversary to move every chip by 1. All weights are then zero."""
    phi, start = NormalHedgeDT(), Chips.at_start(3)
    z = np.ones(3)
    DGv1().check(PotentialPlayer(phi).distribution(start), z)
    chips = move(start, z)
    assert phi.weights(chips.positions, 2).tolist() == [0.0, 0.0, 0.0]
    assert PotentialPlayer(phi).distribution(chips).tolist() == [1 / 3] * 3


@pytest.mark.parametrize("seed", range(20))
def test_in_hedge_some_chip_always_has_weight(seed):
    """As p.z = 0, some chip of positive weight does not move to the right."""
    rng = np.random.default_rng(seed)
    learner = Hedge(4)
    for _ in range(200):
        p = learner.distribution()
        losses = (p < p.max()) * 1.0 if rng.random() < 0.5 else rng.random(4)
        learner.update(losses)
        assert learner.positions.min() < 1


def test_alg7_has_no_scale_where_no_example_is_behind():
    """With all positions at 0 the sum of exp([s]^2 / c) is N for every c, never N e."""
    learner = LEARNERS["normalhedge"](3, 10)
    learner.update([0.5, 0.5, 0.5])
    assert learner.positions.tolist() == [0.0, 0.0, 0.0]
    for c in (1e-3, 1.0, 1e3):
        assert np.exp(np.minimum(learner.positions, 0) ** 2 / c).sum() == 3.0
    assert learner.distribution().tolist() == [1 / 3] * 3


def test_tab1_the_regret_of_normal_hedge_grows_with_t_at_epsilon_1():
    """The table's sqrt(T ln(1/epsilon)) + ln^2 N does not depend on T at epsilon = 1."""
    regrets = []
    for rounds in (400, 10_000):
        losses = np.zeros((rounds, 2))
        losses[::2, 0] = losses[1::2, 1] = 1.0
        learner = LEARNERS["normalhedge"](2, rounds)
        learner.run(losses)
        regrets.append(float(-learner.positions.max()))  # to the worse of the two actions
        assert regrets[-1] <= float(learner.bound(rounds, 1.0))
    assert regrets[0] > 0.8 * math.sqrt(400)
    assert regrets[1] == pytest.approx(5 * regrets[0], rel=0.05)


def test_thm5_proves_the_regret_of_the_means_and_not_the_mean_of_the_regrets():
    """On fair coins no arm is better on average, and one always turns out to have been."""
    games = play_games(POLICIES["exp3"], BernoulliArms.with_gap(5, 0.0), 1000, n_games=400, seed=2)
    of_the_means = float(games.certificate().realised[0])
    mean_of_the_regrets = float(games.regret.mean())
    assert of_the_means < 4.0
    assert mean_of_the_regrets > 0.5 * math.sqrt(1000)


@pytest.mark.parametrize(("d", "holds"), [(3.0, True), (2.4, True), (2.3, False)])
def test_lem2_inequality_holds_a_little_below_d_of_3(d, holds):
    """The proof compares term by term. The inequality itself breaks between 2.3 and 2.4."""
    phi, broken = NormalHedgeDT(d=d), False
    for t in (2, 3, 5, 10, 30, 100, 1000, 10_000):
        s = -np.sqrt(np.linspace(0.0, 6 * t, 4001))
        s = s[s >= -(t - 1)]
        left = phi.value(s - 1, t, horizon=10_000) + phi.value(s + 1, t, horizon=10_000)
        right = 2 * phi.value(s, t - 1, horizon=10_000)
        broken = broken or bool((left > right * (1 + 1e-9)).any())
    assert broken is not holds
