import numpy as np
import pytest

from driftgames.games import DGv1, DGv2, DGv3, DriftingGame, RuleBrokenError

HALVES = np.array([0.5, 0.5])
OVER = 1e-6  # beyond a limit by more than rounding


@pytest.mark.parametrize(
    ("at_the_limit", "beyond"),
    [
        ([1.0, 1.0], [1.0 + OVER, 1.0]),
        ([-0.5, 0.5], [-0.5 - OVER, 0.5]),  # p.z = 0
        ([1.0, 0.0], [1.0, -OVER]),  # |z_i - z_j| = 1
        ([0.9, -0.1], [0.9 + OVER, -0.1]),
    ],
    ids=["largest move", "average", "difference", "difference inside"],
)
def test_app_a_every_limit_of_dgv1_is_where_the_paper_puts_it(at_the_limit, beyond):
    DGv1().check(HALVES, np.array(at_the_limit))
    with pytest.raises(RuleBrokenError):
        DGv1().check(HALVES, np.array(beyond))


def test_app_a_dgv1_allows_a_move_of_minus_one_only_where_it_has_no_weight():
    DGv1().check(np.array([0.0, 1.0]), np.array([-1.0, 0.0]))
    with pytest.raises(RuleBrokenError, match="must lie in"):
        DGv1().check(np.array([0.0, 1.0]), np.array([-1.0 - OVER, 0.0]))


# outcomes in rows, each of chance 1/2, against p = (1/2, 1/2)
@pytest.mark.parametrize(
    ("at_the_limit", "beyond"),
    [
        ([[-1.0, 1.0], [1.0, 0.0]], [[-1.0 - OVER, 1.0], [1.0, 0.0]]),
        ([[1.0, 0.0], [1.0, 0.0]], [[1.0 + OVER, 0.0], [1.0 + OVER, 0.0]]),
        ([[2.0, 0.0], [0.0, 0.0]], [[2.0 + OVER, 0.0], [-OVER, 0.0]]),
        ([[-0.5, 0.5], [0.5, -0.5]], [[-0.5 - OVER, 0.5], [0.5, -0.5]]),
    ],
    ids=["least move", "mean", "variance", "average"],
)
def test_app_a_every_limit_of_dgv2_is_where_the_paper_puts_it(at_the_limit, beyond):
    DGv2().check(HALVES, at_the_limit, HALVES)
    with pytest.raises(RuleBrokenError):
        DGv2().check(HALVES, beyond, HALVES)


@pytest.mark.parametrize("p", [0.1, 0.25, 0.9])
def test_app_a_the_second_moment_of_dgv2_is_limited_by_one_over_p(p):
    """A chip of weight p that moves by +a or -1 with E z = 0 has E z^2 = a, so a = 1/p."""
    player = np.array([p, 1 - p])

    def outcomes(a):
        return [[a, 0.0], [-1.0, 0.0]], [1 / (1 + a), a / (1 + a)]

    DGv2().check(player, *outcomes(1 / p))
    for excess in (1.0001, 1.1, 1.2):
        with pytest.raises(RuleBrokenError, match=r"E z\^2 must be at most 1/p"):
            DGv2().check(player, *outcomes(excess / p))


@pytest.mark.parametrize(
    ("at_the_limit", "beyond"),
    [
        ([1.0, 1.0], [1.0 + OVER, 1.0]),
        ([-1.0, 1.0 / 3], [-1.0 - OVER, 1.0 / 3 + OVER]),
        ([-0.3, 0.1], [-0.3 - OVER, 0.1]),
    ],
    ids=["largest move", "least move", "average"],
)
def test_app_a_every_limit_of_dgv3_is_where_the_paper_puts_it(at_the_limit, beyond):
    """Two pieces of one volume; the density is three times as large on the second."""
    DGv3().check([1.0, 3.0], at_the_limit, [0.5, 0.5])
    with pytest.raises(RuleBrokenError):
        DGv3().check([1.0, 3.0], beyond, [0.5, 0.5])


def test_app_a_dgv3_has_no_rule_on_differences():
    DGv3().check([1.0, 1.0], [-1.0, 1.0], [0.5, 0.5])
    with pytest.raises(RuleBrokenError, match="z_i - z_j"):
        DGv1().check(HALVES, np.array([-1.0, 1.0]))


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5])
def test_sec2_the_average_of_the_original_game_is_at_least_beta(beta):
    game = DriftingGame(moves=(-1, 1), beta=beta)
    p = np.array([(1 + beta) / 2, (1 - beta) / 2])
    game.check(p, np.array([1.0, -1.0]))  # p.z = beta
    with pytest.raises(RuleBrokenError, match=r"p\.z must be"):
        game.check(p - OVER * np.array([1.0, -1.0]), np.array([1.0, -1.0]))


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
