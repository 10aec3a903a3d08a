"""Eq. (2), Theorem 1 and Theorem 2 by playing games."""

import copy
import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.certificates import bounds, regret_curve
from driftgames.games import (
    Chips,
    DGv1,
    DriftingGame,
    GreedyAdversary,
    HedgeAsPlayer,
    PlayerAsHedge,
    PotentialPlayer,
    RandomAdversary,
    StochasticAdversary,
    minimax_player,
    move,
    play,
    positions,
    potential_sum,
    worst_case,
)
from driftgames.hedge import Hedge
from driftgames.potentials import POTENTIALS, MinimaxPotential, NormalHedgeDT

EVERY_POTENTIAL = pytest.mark.parametrize("name", POTENTIALS)
ADVERSARIES = {
    "random": lambda phi: RandomAdversary(),
    "stochastic": lambda phi: StochasticAdversary(best=0, gap=0.2),
    "greedy": GreedyAdversary,
}
EVERY_ADVERSARY = pytest.mark.parametrize("adversary", ADVERSARIES)


@EVERY_POTENTIAL
@EVERY_ADVERSARY
@pytest.mark.parametrize("n_chips", [1, 6, 40])
def test_eq2_potential_sum_never_rises(name, adversary, n_chips):
    horizon = 120
    phi = POTENTIALS[name](horizon, 0.1)
    record = play(
        PotentialPlayer(phi),
        ADVERSARIES[adversary](phi),
        n_chips=n_chips,
        horizon=horizon,
        observers={"sum": potential_sum(phi, horizon)},
        rng=3,
    )
    start = phi.value([0.0], 0, horizon=horizon)[0]
    sums = np.concatenate([[start], record.seen["sum"]])
    assert np.isfinite(sums).all()
    assert (np.diff(sums) <= 1e-12 * start).all()


@EVERY_POTENTIAL
@pytest.mark.parametrize("t", [2, 9, 40])
def test_eq3_convex_potentials_make_the_interval_as_good_as_its_ends(name, t):
    """With w = (Phi(s-1) - Phi(s+1)) / 2 no move within [-1, 1] beats the two ends."""
    phi = POTENTIALS[name](40, 0.1)
    s = np.linspace(-t, t, 41)
    left, right = phi.value(s - 1, t), phi.value(s + 1, t)
    w = (left - right) / 2
    for z in np.linspace(-1, 1, 21):
        assert (phi.value(s + z, t) + w * z <= (left + right) / 2 * (1 + 1e-12)).all()


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("kind", [RandomAdversary, GreedyAdversary])
def test_eq2_holds_for_the_minimax_player_of_the_original_game(beta, kind):
    horizon, game = 15, DriftingGame(moves=(-1.0, 0.0, 1.0), beta=beta)
    player = minimax_player(game, lambda s: s <= 0, horizon)
    phi = player.potential
    adversary = kind(game=game) if kind is RandomAdversary else kind(phi, game)
    record = play(
        player,
        adversary,
        n_chips=11,
        horizon=horizon,
        rules=game,
        observers={"sum": potential_sum(phi, horizon)},
        rng=1,
    )
    sums = np.concatenate([[phi.game_value], record.seen["sum"]])
    assert (np.diff(sums) <= 1e-12).all()
    assert record.loss(lambda s: s <= 0) <= phi.game_value + 1e-12


@pytest.mark.parametrize(("beta", "n_chips"), [(0.0, 4), (0.1, 4), (0.2, 4), (0.3, 3)])
def test_eq2_minimax_value_bounds_the_exact_worst_case(beta, n_chips):
    game, horizon = DriftingGame(beta=beta), 3
    player = minimax_player(game, lambda s: s <= 0, horizon)
    worst = worst_case(
        player, lambda s: s <= 0, rules=game, moves=(-1, 1), n_chips=n_chips, horizon=horizon
    )
    assert worst <= player.potential.game_value + 1e-12
    careless = worst_case(
        Stubborn(), lambda s: s <= 0, rules=game, moves=(-1, 1), n_chips=n_chips, horizon=horizon
    )
    assert careless >= worst


class Stubborn:
    """Plays the first chip for ever."""

    def distribution(self, chips):
        p = np.zeros(chips.positions.size)
        p[0] = 1.0
        return p

    def observe(self, moves):
        pass


class Uniform:
    """Plays the uniform distribution and learns nothing."""

    def distribution(self, chips):
        return np.full(chips.positions.size, 1 / chips.positions.size)

    def observe(self, moves):
        pass


@functools.cache
def worst_regrets(n_actions, losses_in, horizon):
    """Return the worst epsilon-regret of `Hedge` over all losses of a grid, for each k/N."""
    rows = list(itertools.product(losses_in, repeat=n_actions))
    worst = np.full(n_actions, -np.inf)
    for losses in itertools.product(rows, repeat=horizon):
        learner = Hedge(n_actions)
        total = float(learner.run(np.array(losses), progress=False).learner_losses.sum())
        worst = np.maximum(worst, regret_curve(np.sum(losses, axis=0), total).regret)
    return worst


def ends_of_games(player, n_chips, horizon):
    """Yield where the chips end in every game with z = l - p.l and losses 0 or 1.

    Every other move of DGv1 is to the right of one of these or between them.
    """
    rows = [np.array(losses) for losses in itertools.product((0.0, 1.0), repeat=n_chips)]

    def search(player, chips):
        if chips.t == horizon:
            yield chips.positions
            return
        p = player.distribution(chips)
        for losses in rows:
            z = losses - p @ losses
            DGv1().check(p, z)
            moved, told = move(chips, z), player
            if moved.t < horizon:  # the last moves are of no use to the player
                told = copy.deepcopy(player)
                told.observe(z)
            yield from search(told, moved)

    return np.array(list(search(player, Chips.at_start(n_chips))))


@pytest.mark.parametrize(("n_chips", "horizon"), [(2, 2), (2, 5), (3, 3), (4, 2)])
def test_thm1_hedge_as_player_loses_at_most_the_fraction_of_regrets_beyond_r(n_chips, horizon):
    """Statement (1): all games with losses in {0, 1}, for radii around every worst regret."""
    worst = worst_regrets(n_chips, (0.0, 1.0), horizon)
    ends = ends_of_games(HedgeAsPlayer(Hedge(n_chips)), n_chips, horizon)
    lazy = ends_of_games(Uniform(), n_chips, horizon)
    for radius in np.concatenate([worst - 1e-6, worst + 1e-6, [0.5, 1.0, 1.5]]):
        lost = (ends <= -radius).mean(axis=1).max()
        assert lost <= bounds.theorem_1(worst, radius)
    # the bound is reached just below the worst regret, and uniform play breaks it just above
    assert (ends <= -(worst[0] - 1e-6)).mean(axis=1).max() == 1 / n_chips
    assert bounds.theorem_1(worst, worst[0] + 1e-6) == 0.0
    assert (lazy <= -(worst[0] + 1e-6)).mean(axis=1).max() > 0.0


@pytest.mark.parametrize(("n_chips", "horizon"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5])
def test_thm1_statement_1_holds_for_moves_with_a_positive_average_too(n_chips, horizon, radius):
    """Every game on a grid of moves, among them moves with p.z > 0."""
    lost = worst_case(
        HedgeAsPlayer(Hedge(n_chips)),
        lambda s: s <= -radius,
        rules=DGv1(),
        moves=(-1.0, -0.5, 0.0, 0.5, 1.0),
        n_chips=n_chips,
        horizon=horizon,
    )
    assert lost <= bounds.theorem_1(worst_regrets(n_chips, (0.0, 0.5, 1.0), horizon), radius)


@pytest.mark.parametrize(("n_actions", "horizon"), [(2, 5), (3, 3), (4, 2)])
def test_thm1_player_as_hedge_has_regret_below_r_where_the_player_loses_less_than_epsilon(
    n_actions, horizon
):
    """Statement (2): the worst loss of the player at R says which epsilon-regrets are below R."""
    ends = ends_of_games(PotentialPlayer(NormalHedgeDT()), n_actions, horizon)
    worst = worst_regrets(n_actions, (0.0, 1.0), horizon)
    epsilons = np.arange(1, n_actions + 1) / n_actions
    said = 0
    for radius in np.linspace(0.1, horizon, 60):
        lost = (ends <= -radius).mean(axis=1).max()
        assert (worst[epsilons > lost + 1e-12] < radius).all()
        said += np.count_nonzero(epsilons > lost + 1e-12)
    assert said > 60  # it says something for most radii
    # a uniform player loses less than 1/N only at a larger radius
    lazy = ends_of_games(Uniform(), n_actions, horizon)
    assert -lazy.min() > worst[0] + 0.2


@settings(max_examples=50)
@given(losses=arrays(float, (8, 5), elements=st.floats(0, 1)), radius=st.floats(0.1, 3))
def test_thm1_player_as_hedge_regret_is_where_the_chips_stand(losses, radius):
    """Statement (2): chips beyond -R are actions whose regret is R or more."""
    hedge = PlayerAsHedge(PotentialPlayer(NormalHedgeDT()), 5)
    total = sum(hedge.update(row) for row in losses)
    regret = total - losses.sum(axis=0)
    np.testing.assert_allclose(-hedge.chips.positions, regret, atol=1e-12)
    fraction = float(np.mean(hedge.chips.positions <= -radius))
    curve = regret_curve(losses.sum(axis=0), total)
    beyond = curve.epsilons > fraction + 1e-12
    assert (curve.regret[beyond] < radius + 1e-9).all()


@settings(max_examples=40)
@given(data=st.data())
def test_thm1_conversions_there_and_back_play_the_same(data):
    n = data.draw(st.integers(1, 6))
    losses = data.draw(arrays(float, (6, n), elements=st.floats(0, 1)))
    plain = PlayerAsHedge(PotentialPlayer(NormalHedgeDT()), n)
    inner = PlayerAsHedge(PotentialPlayer(NormalHedgeDT()), n)
    double = PlayerAsHedge(HedgeAsPlayer(inner), n)
    for row in losses:
        np.testing.assert_allclose(plain.distribution(), double.distribution(), atol=1e-9)
        plain.update(row)
        double.update(row)


@EVERY_POTENTIAL
@settings(max_examples=25)
@given(data=st.data())
def test_thm2_regret_stays_below_bound_for_every_epsilon_on_drawn_losses(name, data):
    horizon, n = 12, data.draw(st.integers(1, 9))
    losses = data.draw(arrays(float, (horizon, n), elements=st.sampled_from([0.0, 0.3, 1.0])))
    assert_below_bound(POTENTIALS[name](horizon, 0.2), losses)


def assert_below_bound(phi, losses):
    hedge = PlayerAsHedge(PotentialPlayer(phi), losses.shape[1])
    total, horizons = 0.0, range(1, len(losses) + 1)
    for t, row in zip(horizons, losses, strict=True):
        total += hedge.update(row)
        if phi.adaptive or t == len(losses):
            curve = regret_curve(losses[:t].sum(axis=0), total)
            assert (curve.regret <= phi.bound(t, curve.epsilons) + 1e-9).all()


@pytest.mark.parametrize("name", [n for n in POTENTIALS if n != "recipe"])
@pytest.mark.parametrize("n_chips", [2, 6, 60])
def test_thm2_regret_stays_below_bound_at_every_t_up_to_2000_against_greedy(name, n_chips):
    phi = POTENTIALS[name](2000, 1 / n_chips)
    assert_regrets_below_bound(phi, long_game(phi, GreedyAdversary(phi), n_chips))


@pytest.mark.parametrize("name", [n for n in POTENTIALS if n != "recipe"])
@pytest.mark.parametrize("n_chips", [2, 10, 60])
def test_thm2_regret_stays_below_bound_at_every_t_up_to_2000_on_coin_flips(name, n_chips):
    phi = POTENTIALS[name](2000, 1 / n_chips)
    regrets = long_game(phi, StochasticAdversary(gap=0.0), n_chips)
    assert_regrets_below_bound(phi, regrets)
    assert regrets[:, 0].max() > 0.2 * math.sqrt(2000)  # pure luck of the best does this harm


def long_game(phi, adversary, n_chips):
    """The regrets of a game of 2,000 rounds, round by round, the largest first."""
    record = play(
        PotentialPlayer(phi),
        adversary,
        n_chips=n_chips,
        horizon=2000,
        observers={"positions": positions},
    )
    return np.sort(-record.seen["positions"], axis=1)[:, ::-1]


def assert_regrets_below_bound(phi, regrets):
    horizon, n_chips = regrets.shape
    assert np.isfinite(regrets).all()
    epsilons = np.arange(1, n_chips + 1) / n_chips
    promised = phi.bound(np.arange(1, horizon + 1)[:, np.newaxis], epsilons)
    assert (regrets <= promised).all()


@pytest.mark.parametrize(("T", "R"), [(4, 2), (10, 4), (11, 5), (30, 10), (60, 2)])
@pytest.mark.parametrize("per_unit", [1, 2, 3, 10])
def test_sec3_relaxed_game_value_is_the_quoted_sum_on_any_grid(T, R, per_unit):
    solved = MinimaxPotential.on_interval(lambda s: s <= -R, T, per_unit=per_unit)
    exact = sum(math.comb(T + 1, j) for j in range((T - R) // 2 + 1)) / 2**T
    assert solved.game_value == pytest.approx(exact, rel=1e-13)
    assert bounds.relaxed_game_value(T, R) == exact
    assert exact <= bounds.relaxed_game_hoeffding(T, R)


def test_sec3_relaxed_game_value_has_the_digits_that_were_tried():
    assert MinimaxPotential.on_interval(lambda s: s <= -2, 4).game_value == 0.375
    value = MinimaxPotential.on_interval(lambda s: s <= -4, 10, per_unit=4).game_value
    assert round(value, 4) == 0.2266
