"""Minimax and recipe potentials: against closed forms, binomials and linear programs."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from driftgames.certificates import epsilon_regret
from driftgames.games import Chips, DriftingGame, PotentialPlayer, minimax_player, move
from driftgames.potentials import Exponential, MinimaxPotential, RecipePotential


def at_most_zero(s):
    return s <= 0


def binomial_tail(n, most, chance):
    """The chance of at most ``most`` heads in ``n``, by exact sums."""
    heads = range(min(most, n) + 1)
    return sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in heads)


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("horizon", [1, 2, 7, 20])
def test_majority_loss_gives_boost_by_majoritys_binomials(horizon, beta):
    solved = MinimaxPotential(at_most_zero, horizon, beta=beta)
    chance = (1 + beta) / 2
    for t in range(horizon + 1):
        rounds_left = horizon - t
        for s in range(-t, t + 1, 2):
            # s + heads - tails <= 0
            most = (rounds_left - s) // 2
            expected = binomial_tail(rounds_left, most, chance) if most >= 0 else 0.0
            assert solved.value([s], t)[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("beta", [0.0, 0.2])
def test_majority_weights_are_binomial_probabilities(beta):
    horizon, chance = 9, (1 + beta) / 2
    solved = MinimaxPotential(at_most_zero, horizon, beta=beta, keep_table=True)
    for t in range(1, horizon + 1):
        rounds_left = horizon - t
        for s in range(-(t - 1), t, 2):
            # the round decides when exactly one of s - 1, s + 1 ends at or below 0
            heads = (rounds_left - s + 1) // 2
            exact = math.comb(rounds_left, heads) if 0 <= heads <= rounds_left else 0
            expected = exact * chance**heads * (1 - chance) ** (rounds_left - heads) / 2
            assert solved.weights([s], t)[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_exponential_loss_gives_the_closed_form():
    eta, horizon = 0.3, 12
    solved = MinimaxPotential(lambda s: np.exp(-eta * s), horizon, keep_table=True)
    for t in range(1, horizon + 1):
        s = np.arange(-(t - 1), t, 2)
        closed = Exponential(eta)
        np.testing.assert_allclose(
            solved.value(s, t - 1), closed.value(s, t - 1, horizon=horizon), rtol=1e-12
        )
        share = solved.weights(s, t) / solved.weights(s, t).sum()
        np.testing.assert_allclose(share, closed.distribution(s, t), rtol=1e-12)


@settings(max_examples=60)
@given(data=st.data())
def test_layer_solves_the_min_max_of_eq1(data):
    """One step back against the linear program min v, v >= Phi(s + z) + w (z - beta), w >= 0."""
    moves = data.draw(
        st.lists(st.integers(-4, 4), min_size=2, max_size=6, unique=True).filter(
            lambda z: min(z) < 0 < max(z)
        )
    )
    beta = data.draw(st.floats(0, max(moves)))
    drops = np.array(data.draw(st.lists(st.floats(0, 1), min_size=9, max_size=9)))
    heights = np.cumsum(drops[::-1])[::-1]

    def loss(s):
        return heights[np.asarray(s).astype(int) + 4]

    solved = MinimaxPotential(loss, 1, moves, beta)
    w = solved.weights([0.0], 1)[0]
    rows = [[-1.0, z - beta] for z in moves]
    program = linprog([1.0, 0.0], rows, [-loss(z) for z in moves], bounds=[(None, None), (0, None)])
    # the solver of linear programs is content with 1e-7
    assert solved.game_value == pytest.approx(program.fun, abs=1e-7)
    assert w >= 0
    reached = max(loss(z) + w * (z - beta) for z in moves)
    assert reached == pytest.approx(solved.game_value, abs=1e-9)


def test_a_loss_of_a_billionth_counts():
    """Found by fresh examples: a solver of linear programs takes this loss for none."""
    heights = np.cumsum([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-9, 1e-9, 0.0][::-1])[::-1]
    solved = MinimaxPotential(lambda s: heights[np.asarray(s).astype(int) + 4], 1, [0, 4, -1])
    assert solved.game_value == heights[4] == 2e-9


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 1.25, 2.0, 2.9, 3.0])
def test_envelope_of_a_concave_loss_is_the_loss_itself(beta):
    """Every move is a corner of the envelope, so beta may fall into any of its pieces."""
    solved = MinimaxPotential(lambda s: 30.0 - (s + 2) ** 2 * (s > -2), 1, range(-2, 4), beta)
    below, above = math.floor(beta), math.ceil(beta)
    corners = [30.0 - (z + 2) ** 2 for z in (below, above)]
    assert solved.game_value == pytest.approx(np.interp(beta, [below, above], corners))


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 1.25, 2.0, 2.9, 3.0])
def test_weight_is_the_slope_of_the_envelope_and_the_mean_of_both_at_a_corner(beta):
    """The loss falls by 2 z + 5 from z to z + 1. At beta = z both neighbouring slopes count."""
    solved = MinimaxPotential(lambda s: 30.0 - (s + 2) ** 2 * (s > -2), 1, range(-2, 4), beta)
    below = 2 * math.ceil(beta) + 3
    above = 2 * math.floor(beta) + 5
    # there is no slope to the right of the largest move
    expected = below if beta == 3.0 else (below + above) / 2
    assert solved.weights([0.0], 1)[0] == pytest.approx(expected, rel=1e-12)


def test_table_and_recomputation_agree():
    kept = MinimaxPotential(at_most_zero, 15, (-1.0, 0.5, 1.0), 0.1, keep_table=True)
    lean = MinimaxPotential(at_most_zero, 15, (-1.0, 0.5, 1.0), 0.1)
    for t in range(1, 16):
        s = np.arange(-(t - 1), t - 0.5, 0.5)
        np.testing.assert_array_equal(kept.weights(s, t), lean.weights(s, t))
        np.testing.assert_array_equal(kept.value(s, t), lean.value(s, t))


def test_a_table_that_would_fill_the_memory_is_refused():
    with pytest.raises(
        ValueError, match=r"would hold 2,000,000,000,000 numbers, and at most 200,0"
    ):
        minimax_player(DriftingGame(), at_most_zero, 10**6)


def test_memory_is_linear_in_the_reachable_positions():
    MinimaxPotential(at_most_zero, 10).game_value  # noqa: B018 (compiles first)
    tracemalloc.start()
    solved = MinimaxPotential(at_most_zero, 4000, beta=0.05)
    assert 0 < solved.game_value < 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 8001 * 8  # a table would take 32 million numbers


def test_minimax_bound_is_the_radius_where_the_value_suffices():
    solved = MinimaxPotential(lambda s: s <= -4, 10, (-1.0, 0.0, 1.0))
    assert solved.bound(10, 0.23) == 4.0
    assert solved.bound(10, 0.22) == 10.0  # nothing but that ten rounds cannot lose more
    np.testing.assert_array_equal(solved.bound(10, [0.5, 0.1]), [4.0, 10.0])
    assert solved.bound([10, 10], 0.5).shape == (2,)


def test_minimax_bound_asks_for_more_than_equality_on_a_plateau():
    """Four chips that stood at -2, 0, 0 and 0 have regret 2 for a quarter of them."""
    solved = MinimaxPotential(lambda s: s <= -1, 2)
    player, game = PotentialPlayer(solved), DriftingGame()
    chips = Chips(np.zeros(4))
    for z in ([-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, -1.0]):
        game.check(player.distribution(chips), np.array(z))
        chips = move(chips, z)
    assert epsilon_regret(chips.positions, 0.0, 0.25) == 2.0
    assert solved.bound(2, 0.25) == 2.0


def test_rounding_of_the_game_value_does_not_pass_for_more():
    """At the very share that the game allows nothing is promised, whichever way it is rounded."""
    for horizon in range(1, 40):
        for tenths in range(1, 10):
            solved = MinimaxPotential(at_most_zero, horizon, beta=tenths / 10)
            chance = Fraction(10 + tenths, 20)
            exact = float(binomial_tail(horizon, horizon // 2, chance))
            assert solved.bound(horizon, exact) == horizon


@pytest.mark.parametrize(("moves", "beta"), [((1, 2), 0.0), ((1, 2, 3), 0.5), ((0.5, 1), 0.2)])
def test_where_every_move_exceeds_beta_the_adversary_makes_the_least(moves, beta):
    solved = MinimaxPotential(lambda s: np.maximum(5 - s, 0.0), 3, moves, beta)
    assert solved.game_value == 5 - 3 * min(moves)
    assert solved.weights([0.0], 1) == [0.0]


def test_an_interval_keeps_its_ends():
    solved = MinimaxPotential.on_interval(at_most_zero, 2, low=-0.29, high=0.29, per_unit=100)
    assert (min(solved.moves), max(solved.moves)) == (-0.29, 0.29)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: MinimaxPotential(lambda s: s > 0, 5), "loss must be nonincreasing; it rises"),
        (lambda: MinimaxPotential(lambda s: -s, 5), "loss must be finite and nonnegative"),
        (lambda: MinimaxPotential(lambda s: 1.0, 5), "loss must be vectorised"),
        (lambda: MinimaxPotential(at_most_zero, 0), "horizon must be an integer >= 1; got 0"),
        (lambda: MinimaxPotential(at_most_zero, 5, (1.0,)), "moves must hold at least two"),
        (lambda: MinimaxPotential(at_most_zero, 5, (-1, math.pi)), "a common step of some size"),
        (lambda: MinimaxPotential(at_most_zero, 5, beta=-0.1), r"beta must lie in \[0, 1\].*-0.1"),
        (lambda: MinimaxPotential(at_most_zero, 5, beta=1.5), r"beta must lie in \[0, 1\].*1.5"),
        (lambda: MinimaxPotential(at_most_zero, 5).value([0.25], 2), "multiples of .* step 1"),
        (lambda: MinimaxPotential(at_most_zero, 5).value([3.0], 2), "2 rounds cannot reach"),
        (lambda: MinimaxPotential(at_most_zero, 5).value([0.0], 6), "t must lie in 0..5"),
        (lambda: MinimaxPotential(at_most_zero, 5).bound(6, 0.1), "solved for horizon 5; got 6"),
        (lambda: RecipePotential(lambda s: -s, 5), "phi_T must be nonnegative; it is not at"),
        (lambda: RecipePotential(np.abs, 5), "phi_T must be nonincreasing; it is not at 0"),
        (lambda: RecipePotential(lambda s: s <= 0.0, 5), "phi_T must be convex; it is not at 0"),
        (
            lambda: RecipePotential(lambda s: np.exp(-s) + 1000.0 * (s > 10), 60),
            "phi_T must be nonincreasing; it is not at 10",
        ),
        (
            lambda: RecipePotential(lambda s: np.exp(-s) + 1000.0 * (s <= 10), 60),
            "phi_T must be convex; it is not at 10",
        ),
        (lambda: RecipePotential(lambda s: s * np.inf, 5), "phi_T must be finite|invalid value"),
        (lambda: RecipePotential(lambda s: 0.0 * s, 5).bound(6, 0.1), "given for horizon 5"),
    ],
)
def test_bad_input_names_the_value_and_the_rule(wrong, message):
    with pytest.raises((ValueError, RuntimeWarning), match=message):
        wrong()


@pytest.mark.parametrize("t", [1, 5, 30])
def test_recipe_equals_the_closed_form_of_the_exponential(t):
    recipe = RecipePotential(lambda s: np.exp(-0.4 * s), 30)
    closed = Exponential(0.4)
    s = np.linspace(-t, t, 17)
    np.testing.assert_allclose(recipe.value(s, t), closed.value(s, t, horizon=30), rtol=1e-12)
    np.testing.assert_allclose(recipe.distribution(s, t), closed.distribution(s, t), rtol=1e-12)
    assert recipe.bound(30, 0.1) == pytest.approx(float(closed.bound(30, 0.1)), rel=1e-9)


def test_recipe_allows_for_rounding():
    assert RecipePotential(lambda s: np.hypot(s, 1.0) - s, 500).bound(500, 0.1) > 0


def test_recipe_holds_with_equality():
    recipe = RecipePotential(lambda s: np.maximum(-s, 0.0) ** 3, 40)
    s = np.linspace(-7, 7, 57)
    left = recipe.value(s - 1, 8) + recipe.value(s + 1, 8)
    np.testing.assert_allclose(left, 2 * recipe.value(s, 7), rtol=1e-12)
