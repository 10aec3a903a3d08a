import itertools

import numpy as np
import pytest

from driftgames.games import (
    Chips,
    DGv1,
    DriftingGame,
    GreedyAdversary,
    PlayerAsHedge,
    PotentialPlayer,
    RandomAdversary,
    RuleBrokenError,
    StochasticAdversary,
    move,
    play,
    player_loss,
    positions,
    potential_sum,
    weights,
)
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm


def test_move_is_pure_and_ticks_the_clock():
    chips = Chips(np.array([0.5, -0.5]), 3)
    moved = move(chips, [1.0, 0.25])
    assert moved.t == 4
    assert moved.positions.tolist() == [1.5, -0.25]
    assert chips.positions.tolist() == [0.5, -0.5]


def test_a_game_records_what_observers_want():
    phi = NormalHedgeDT()
    record = play(
        PotentialPlayer(phi),
        RandomAdversary(),
        n_chips=4,
        horizon=30,
        observers={
            "where": positions,
            "p": weights,
            "sum": potential_sum(phi, 30),
            "loss": player_loss(lambda s: s <= -1),
        },
    )
    assert record.chips.t == 30
    assert {name: seen.shape for name, seen in record.seen.items()} == {
        "where": (30, 4),
        "p": (30, 4),
        "sum": (30,),
        "loss": (30,),
    }
    np.testing.assert_array_equal(record.seen["where"][-1], record.chips.positions)
    assert record.seen["loss"][-1] == record.loss(lambda s: s <= -1)
    np.testing.assert_allclose(record.seen["p"].sum(axis=1), 1.0)


def test_the_same_seed_plays_the_same_game():
    def game(seed):
        player = PotentialPlayer(TwoNorm())
        return play(player, RandomAdversary(), n_chips=3, horizon=9, rng=seed).chips.positions

    np.testing.assert_array_equal(game(5), game(5))
    assert (game(5) != game(6)).any()


class Cheat:
    def moves(self, chips, p, rng):
        return np.full(p.size, -1.0)


def test_an_adversary_that_cheats_is_caught():
    with pytest.raises(RuleBrokenError, match=r"p\.z must be nonnegative; got -1"):
        play(PotentialPlayer(TwoNorm()), Cheat(), n_chips=2, horizon=1)


class Unfair:
    def distribution(self, chips):
        return np.array([0.7, 0.7])

    def observe(self, moves):
        pass


def test_a_player_that_plays_no_distribution_is_caught():
    with pytest.raises(ValueError, match="the player's distribution must sum to 1"):
        play(Unfair(), RandomAdversary(), n_chips=2, horizon=1)


@pytest.mark.parametrize("n_chips", [1, 2, 7, 13, 30])
@pytest.mark.parametrize("seed", range(5))
def test_every_adversary_keeps_the_rules(n_chips, seed):
    rng = np.random.default_rng(seed)
    phi = Exponential(0.5)
    chips = Chips(rng.normal(size=n_chips) * 3, 9)
    for game in (DGv1(), DriftingGame((-1.0, 1.0), 0.2), DriftingGame((-1.0, 0.0, 1.0))):
        p = rng.dirichlet(np.ones(n_chips))
        for adversary in (RandomAdversary(game), GreedyAdversary(phi, game)):
            game.check(p, adversary.moves(chips, p, rng))
    p = rng.dirichlet(np.ones(n_chips))
    DGv1().check(p, StochasticAdversary().moves(chips, p, rng))


def test_greedy_finds_the_best_moves_of_a_grid():
    """No allowed move on a grid of DGv1 has a larger next sum, and most have a smaller one."""
    rng = np.random.default_rng(1)
    phi, chips = NormalHedgeDT(), Chips(np.array([-1.0, -0.8, -0.5]), 8)
    p = phi.distribution(chips.positions, 9)
    chosen = GreedyAdversary(phi).moves(chips, p, rng)
    best = phi.value(chips.positions + chosen, 9).sum()
    sums = []
    for z in itertools.product(np.linspace(-1, 1, 17), repeat=3):
        try:
            DGv1().check(p, np.array(z))
        except RuleBrokenError:
            continue
        sums.append(phi.value(chips.positions + z, 9).sum())
    assert max(sums) <= best + 1e-12
    assert np.median(sums) < 0.9 * best


@pytest.mark.parametrize("n", [24, 26, 28, 30, 40])
def test_greedy_spends_all_that_the_average_leaves(n):
    """Equal chips and beta 0: half of them may go left, whatever rounding says of the sum."""
    chips, p = Chips(np.zeros(n), 4), np.full(n, 1 / n)
    z = GreedyAdversary(Exponential(0.5), DriftingGame()).moves(chips, p, np.random.default_rng(0))
    assert np.count_nonzero(z < 0) == n // 2


def test_stochastic_losses_favour_the_chip_that_is_best():
    rng, chips, p = np.random.default_rng(0), Chips(np.zeros(3)), np.full(3, 1 / 3)
    adversary = StochasticAdversary(best=1, gap=0.4)
    mean = np.mean([adversary.moves(chips, p, rng) for _ in range(400)], axis=0)
    assert mean[1] < -0.15
    assert mean[0] > 0
    assert mean[2] > 0


def test_stochastic_adversary_names_a_chip_that_is_not_there():
    with pytest.raises(ValueError, match="best must be one of the 2 chips; got 5"):
        play(PotentialPlayer(TwoNorm()), StochasticAdversary(best=5), n_chips=2, horizon=1)
    with pytest.raises(ValueError, match=r"gap must lie in \[0, 0.5\]; got 0.6"):
        StochasticAdversary(gap=0.6)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([0.5, 1.5], r"losses must lie in \[0, 1\]; got 1.5 at index 1"),
        ([0.5, np.nan], "losses must be finite; got nan at index 1"),
        ([0.5], r"losses must be of shape \(2,\); got shape \(1,\)"),
    ],
)
def test_bad_losses_leave_the_chips_where_they_are(losses, message):
    hedge = PlayerAsHedge(PotentialPlayer(TwoNorm()), 2)
    hedge.update([1.0, 0.0])
    before = hedge.chips
    with pytest.raises(ValueError, match=message):
        hedge.update(losses)
    assert hedge.chips is before


@pytest.mark.parametrize(("n_chips", "horizon"), [(0, 1), (1, 0)])
def test_a_game_needs_chips_and_rounds(n_chips, horizon):
    with pytest.raises(ValueError, match="must be an integer >= 1; got 0"):
        play(PotentialPlayer(TwoNorm()), RandomAdversary(), n_chips=n_chips, horizon=horizon)


def test_moves_may_be_integers_and_potentials_truth_values():
    game = DriftingGame(moves=(-1, 1), beta=0.1)
    player = PotentialPlayer(NormalHedgeDT())
    record = play(player, RandomAdversary(game), rules=game, n_chips=3, horizon=5)
    assert set(np.unique(np.abs(record.chips.positions) % 2)) == {1.0}

    class Cliff(NormalHedgeDT):
        def value(self, positions, t, *, horizon=None, log_scale=0.0):
            return np.asarray(positions) <= 0

    record = play(player, GreedyAdversary(Cliff()), n_chips=3, horizon=3)
    assert record.chips.t == 3
