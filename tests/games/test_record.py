"""What a game keeps when it is asked to: table, picture and animation."""

import numpy as np
import pytest

from driftgames.games import (
    DGv1,
    DriftingGame,
    GreedyAdversary,
    LookaheadAdversary,
    PotentialPlayer,
    RandomAdversary,
    StochasticAdversary,
    minimax_player,
    play,
    potential_sum,
)
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm

GAME = DriftingGame(moves=(-1, 1), beta=0.1)


def recorded(phi, foe=None, n_chips=4, horizon=30):
    observers = {"mean": potential_sum(phi, horizon)}
    foe = StochasticAdversary() if foe is None else foe
    return play(
        PotentialPlayer(phi), foe, n_chips=n_chips, horizon=horizon, observers=observers,
        record=True,
    )  # fmt: skip


def test_the_history_is_the_game():
    phi = NormalHedgeDT()
    game = recorded(phi)
    history = game.history
    np.testing.assert_allclose(history.positions[-1], game.chips.positions, atol=1e-12)
    np.testing.assert_allclose(history.potential_means[1:], game.seen["mean"], rtol=1e-12)
    for t, (s, p, w) in enumerate(
        zip(history.positions, history.p, history.weights, strict=False), start=1
    ):
        np.testing.assert_allclose(p, phi.distribution(s, t), atol=1e-12)
        np.testing.assert_allclose(p * w.sum(), w, atol=1e-12)


def test_the_table_has_a_row_for_each_chip_and_round():
    frame = recorded(TwoNorm()).table(first=2, last=4).to_frame()
    assert list(frame.columns) == ["round", "chip", "s", "w", "p", "z", "change"]
    assert frame["round"].tolist() == [2] * 4 + [3] * 4 + [4] * 4
    assert (frame["change"] <= 1e-12).all()


def test_without_a_record_it_says_how_to_get_one():
    game = play(PotentialPlayer(TwoNorm()), StochasticAdversary(), n_chips=2, horizon=3)
    for ask in (game.table, game.plot, game.animate):
        with pytest.raises(ValueError, match="record=True"):
            ask()
    assert list(game.to_frame().columns) == ["chip", "position"]


def test_a_player_without_a_potential_has_no_sum():
    class Uniform:
        def distribution(self, chips):
            return np.full(chips.positions.size, 1 / chips.positions.size)

        def observe(self, moves):
            pass

    game = play(Uniform(), StochasticAdversary(), n_chips=3, horizon=5, record=True)
    assert game.history.potential_means is None
    assert len(game.plot().axes) == 2
    assert "w" not in game.table().to_frame()


@pytest.mark.parametrize("ending", ["html", "gif"])
def test_an_animation_is_a_file(tmp_path, ending):
    path = tmp_path / f"game.{ending}"
    recorded(NormalHedgeDT()).animate(seconds=2).save(path)
    begin = path.read_bytes()[:15].lower()
    assert begin.startswith(b"<!doctype html>" if ending == "html" else b"gif89a")
    if ending == "html":
        assert "<script" not in path.read_text()
        assert path.read_text().count("<animate ") == 9  # two per chip, and the bar


def test_an_animation_has_two_formats(tmp_path):
    with pytest.raises(ValueError, match=r"\.html or \.gif"):
        recorded(TwoNorm()).animate().save(tmp_path / "game.mp4")


# ---------------------------------------------------------------- rules and adversaries


def test_rules_default_to_the_game_of_the_adversary():
    player = minimax_player(GAME, lambda s: s <= 0, horizon=6)
    for foe in (RandomAdversary(GAME), GreedyAdversary(player.potential, GAME)):
        game = play(player, foe, n_chips=8, horizon=6)
        assert set(np.abs(np.diff(game.chips.positions)) % 2) <= {0.0}


@pytest.mark.parametrize(
    "foe", [StochasticAdversary(), RandomAdversary(), LookaheadAdversary(6)], ids=repr
)
def test_an_adversary_of_another_game_is_named(foe):
    player = minimax_player(GAME, lambda s: s <= 0, horizon=6)
    with pytest.raises(ValueError, match="the adversary plays another game") as error:
        play(player, foe, n_chips=64, horizon=6, rules=GAME)
    assert len(str(error.value)) < 200
    with pytest.raises(ValueError, match="multiples of the moves' common step") as error:
        play(player, foe, n_chips=64, horizon=6)
    assert len(str(error.value)) < 200  # one position, not 64


@pytest.mark.parametrize("n_chips", [2, 8, 40])
@pytest.mark.parametrize(
    "make", [NormalHedgeDT, TwoNorm, lambda: Exponential.for_game(200, 1 / 8)],
    ids=["dt", "2-norm", "exp"],
)  # fmt: skip
def test_the_lookahead_adversary_beats_coins_and_the_greedy_one(make, n_chips):
    phi = make()

    def regret(foe, rng=0):
        game = play(PotentialPlayer(phi), foe, n_chips=n_chips, horizon=200, rng=rng)
        return -float(game.chips.positions.min())

    strong = regret(LookaheadAdversary(200))
    coins = np.mean([regret(StochasticAdversary(gap=0.0), seed) for seed in range(10)])
    assert strong > coins
    assert strong > regret(GreedyAdversary(phi))
    assert strong <= phi.hedge_bound(200, 1 / n_chips)


def test_the_bound_of_hedge_bites():
    """Regret comes within a fifth of what Theorem 2 promises of the exponential weights."""
    phi = Exponential.for_game(200, 1 / 8)
    game = play(PotentialPlayer(phi), LookaheadAdversary(200), n_chips=8, horizon=200)
    assert -game.chips.positions.min() > 0.8 * phi.hedge_bound(200, 1 / 8)


def test_the_moves_of_the_lookahead_adversary_obey_dgv1():
    phi = TwoNorm()
    play(PotentialPlayer(phi), LookaheadAdversary(20), n_chips=30, horizon=25, rules=DGv1())
