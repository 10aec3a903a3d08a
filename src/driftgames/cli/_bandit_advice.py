"""``driftgames bandit --advice``: EXP4 over experts who name an arm in each round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftgames.bandit import Exp4
from driftgames.certificates import Certificate
from driftgames.cli._bandit_contexts import ContextTable, mean_and_error
from driftgames.tables import Column, Row, Table, counted


class AdvisedGames(NamedTuple):
    """Games of EXP4: its regret to the best arm as a row, and to its experts with the bound."""

    row: Row
    experts: Table
    certificate: Certificate


def play_advised(
    table: ContextTable, ends: tuple[float, float], gains: bool, games: int, seed: int
) -> AdvisedGames:
    """Let EXP4 play all games of a table with advice."""
    rounds, n_arms = table.losses.shape
    sign = -1.0 if gains else 1.0
    best_arm = float((sign * table.losses).sum(axis=0).min())
    own = np.empty(games)  # the total loss of EXP4
    to_arm = np.empty(games)
    for game in range(games):
        policy = Exp4(
            n_arms,
            experts=table.experts,
            loss_range=ends,
            gains=gains,
            random_state=np.random.default_rng([seed, game]),
        )
        run = policy.run(table.advice, table.losses)
        own[game] = run.learner_loss
        to_arm[game] = sign * table.losses[np.arange(rounds), run.drawn].sum() - best_arm
    losses, caveat = run.rival_losses, f"{run.caveat}; mean of {counted(games, 'game')}"
    certificate = Certificate.of_run(
        run.title, rounds, losses, float(own.mean()), run.bound, caveat=caveat
    )
    bound = float(np.asarray(run.bound(rounds, 1.0 / losses.size)))
    rows: list[Row] = []
    for k in np.argsort(losses, kind="stable").tolist():
        regrets = own - losses[k]
        within = f"{int((regrets <= bound).sum())}/{games}"
        rows.append((table.experts[k], *mean_and_error(regrets), bound, within))
    names = ("regret", "std error", "bound", "games within")
    columns = (Column("expert"), *(Column(name, ",.1f", flush_right=True) for name in names))
    experts = Table("regret of exp4 to each expert, the best first", columns, tuple(rows))
    return AdvisedGames(("exp4", *mean_and_error(to_arm), None, None, None), experts, certificate)
