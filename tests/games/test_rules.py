import numpy as np
import pytest

from driftgames.games import DGv1, DGv2, DGv3, DriftingGame, RuleBrokenError

HALVES = np.array([0.5, 0.5])


@pytest.mark.parametrize(
    ("moves", "rule"),
    [
        ([1.5, 0.6], r"each z must lie in \[-1, 1\]; got 1.5"),
        ([-0.5, 0.2], "p.z must be nonnegative; got -0.15"),
        ([1.0, -0.5], r"\|z_i - z_j\| must be at most 1; got 1.5"),
    ],
)
def test_dgv1_says_which_rule_is_broken(moves, rule):
    with pytest.raises(RuleBrokenError, match=rule):
        DGv1().check(HALVES, np.array(moves))


@pytest.mark.parametrize("moves", [[0.5, -0.5], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
def test_dgv1_allows_what_the_rules_allow(moves):
    DGv1().check(HALVES, np.array(moves))


@pytest.mark.parametrize(
    ("moves", "rule"),
    [
        ([0.5, 1.0], r"each z must be one of \(-1, 1\); got 0.5"),
        ([-1.0, 1.0], "p.z must be at least beta = 0.1; got 0"),
    ],
)
def test_original_game_says_which_rule_is_broken(moves, rule):
    with pytest.raises(RuleBrokenError, match=rule):
        DriftingGame(moves=(-1, 1), beta=0.1).check(HALVES, np.array(moves))


@pytest.mark.parametrize(
    ("outcomes", "rule"),
    [
        ([[-1.5, 1.0], [1.0, 1.0]], "each z must be at least -1; got -1.5"),
        ([[3.0, 0.0], [0.0, 0.0]], "each E z must be at most 1; got 1.5"),
        ([[-1.0, 0.0], [3.0, 0.0]], r"each E z\^2 must be at most 1/p; chip 0 has 5 and p = 0.5"),
        ([[-1.0, 0.0], [0.0, 0.0]], "E p.z must be nonnegative; got -0.25"),
    ],
)
def test_dgv2_says_which_rule_is_broken(outcomes, rule):
    with pytest.raises(RuleBrokenError, match=rule):
        DGv2().check(HALVES, outcomes, HALVES)


def test_dgv2_allows_the_moves_of_the_bandit_reduction():
    p, losses = np.array([0.2, 0.3, 0.5]), np.array([1.0, 0.4, 0.0])
    outcomes = [np.where(np.arange(3) == i, losses[i] / p[i], 0) - losses[i] for i in range(3)]
    DGv2().check(p, outcomes, p)


def test_dgv2_lets_a_chip_of_no_weight_move_at_will():
    DGv2().check([0.0, 1.0], [[-1.0, 0.0], [900.0, 0.0]], [0.999, 0.001])


@pytest.mark.parametrize(
    ("moves", "rule"),
    [([1.2, 0.0], r"each z must lie in \[-1, 1\]; got 1.2"), ([-0.5, 0.1], "E z must be nonneg")],
)
def test_dgv3_says_which_rule_is_broken(moves, rule):
    with pytest.raises(RuleBrokenError, match=rule):
        DGv3().check([1.0, 3.0], moves, [0.5, 0.5])


def test_dgv3_weighs_by_density_and_volume():
    DGv3().check([1.0, 1.0], [-0.2, 0.1], [1.0, 2.0])
    with pytest.raises(RuleBrokenError):
        DGv3().check([1.0, 1.0], [-0.2, 0.1], [1.0, 1.0])


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"moves must be of shape \(2,\)"):
        DGv1().check(HALVES, np.zeros(3))
    with pytest.raises(ValueError, match="outcomes must be a matrix"):
        DGv2().check(HALVES, [0.0, 0.0], HALVES)
