"""Runs of all settings are one kind of thing: rounds, and a certificate of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftgames.bandit import POLICIES
from driftgames.core.run import Run
from driftgames.hedge import AdaptiveIntervals, Hedge
from driftgames.oco import Ball, Box, CoinBetting, ContinuousHedge, LinearLoss
from driftgames.online_boosting import OnlineBBM
from driftgames.portfolio import STRATEGIES, best_constant_rebalanced

ROWS = np.random.default_rng(5).random((30, 3))
LABELS = np.where(ROWS[:, 0] < 0.5, -1, 1)
LOSSES = [LinearLoss(row) for row in ROWS[:, :2]]

PLAYERS: dict[str, tuple[Callable[[], Any], Callable[[Any, slice], Run[Any]]]] = {
    "hedge": (lambda: Hedge(3), lambda learner, part: learner.run(ROWS[part])),
    "bandit": (lambda: POLICIES["exp3"](3, 30, 1), lambda policy, part: policy.run(ROWS[part])),
    "continuous": (
        lambda: ContinuousHedge(Box([0.0, 0.0], [0.5, 0.5])),
        lambda learner, part: learner.run(LOSSES[part]),
    ),
    "coin betting": (
        lambda: CoinBetting(Ball([0.0, 0.0], 1.0)),
        lambda learner, part: learner.run(LOSSES[part]),
    ),
    "portfolio": (
        lambda: STRATEGIES["soft-bayes"](3),
        lambda strategy, part: strategy.run(0.5 + ROWS[part]),
    ),
    "online boosting": (
        lambda: OnlineBBM(3),
        lambda booster, part: booster.run(
            np.where(ROWS[part] < 0.8, LABELS[part, None], -1), LABELS[part]
        ),
    ),
    "intervals": (
        AdaptiveIntervals,
        lambda learner, part: learner.run(ROWS[part, 0], ROWS[part, 1]),
    ),
}


@pytest.mark.parametrize("setting", PLAYERS)
def test_a_run_names_its_player_and_numbers_its_rounds(setting):
    make, play = PLAYERS[setting]
    player = make()
    first, second = play(player, slice(0, 20)), play(player, slice(20, 30))
    for run, rounds in ((first, range(1, 21)), (second, range(21, 31))):
        assert isinstance(run, Run)
        assert run.title == player.title
        assert run.n_rounds == len(rounds)
        assert run.rounds.tolist() == list(rounds)


@pytest.mark.parametrize("setting", PLAYERS)
def test_the_certificate_of_a_first_run_is_that_of_its_player(setting):
    make, play = PLAYERS[setting]
    player = make()
    run = play(player, slice(0, 30))
    found = run.certificate()
    assert found.holds
    match setting:
        case "bandit":
            wanted = player.certificate(run.arm_losses, run.learner_loss)
        case "portfolio":
            wanted = player.certificate(best_constant_rebalanced(0.5 + ROWS))
        case _:
            wanted = player.certificate()
    assert str(found) == str(wanted)
    if setting not in ("intervals", "online boosting"):
        assert isinstance(run.regret, float)
        assert run.regret <= run.promised < np.inf


@pytest.mark.parametrize("setting", ["hedge", "portfolio", "intervals", "online boosting"])
def test_a_player_that_went_on_no_longer_certifies_the_run(setting):
    make, play = PLAYERS[setting]
    player = make()
    run = play(player, slice(0, 20))
    kept = play(player.copy(), slice(20, 30))
    run.certificate()
    play(player, slice(20, 30))
    with pytest.raises(ValueError, match="played 10 more rounds, and its certificate counts them"):
        run.certificate()
    if setting != "portfolio":
        assert str(kept.certificate()) == str(player.certificate())


@pytest.mark.parametrize("setting", ["continuous", "coin betting"])
def test_a_run_on_a_convex_set_keeps_its_certificate(setting):
    make, play = PLAYERS[setting]
    player = make()
    run = play(player, slice(0, 20))
    before = str(run.certificate())
    play(player, slice(20, 30))
    assert str(run.certificate()) == before
