"""``driftgames bandit replay``: contexts and advice, which a policy sees before each pull."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftgames.bandit import Exp4, SquareCB
from driftgames.certificates import Certificate
from driftgames.cli._numbers import NumberBlock, NumberFile, open_numbers
from driftgames.cli._options import Reading
from driftgames.core.cells import is_missing
from driftgames.core.checks import first_index
from driftgames.core.text import listed, shown
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError
from driftgames.tables import Column, Row, Table, counted

MODELS = ("ridge", "logistic")
"""The regressions that play."""


class ContextTable(NamedTuple):
    """Rounds: what a policy sees, and the losses of the arms.

    ``advice`` has a row per expert and a column per arm in each round.
    """

    contexts: FloatArray
    losses: FloatArray
    advice: FloatArray
    experts: tuple[str, ...]


def read_contexts(
    source: str,
    reading: Reading,
    contexts: str | None,
    advice: str | None,
    ends: tuple[float, float],
) -> ContextTable:
    """Return the columns that are named as contexts and as advice, and the others as losses."""
    with open_numbers(source, reading, "a context or a loss") as file:
        experts = _named("--advice", advice, file, file.table.kept)
        file.read_as_text(experts)
        features = _named("--contexts", contexts, file, file.columns)
        seen = [file.columns.index(j) for j in features]
        arms = [k for k in range(len(file.columns)) if k not in seen]
        if len(arms) < 2:
            options = " and ".join(
                option
                for option, given in (("--contexts", contexts), ("--advice", advice))
                if given is not None
            )
            raise ValueError(f"{options} must leave at least two columns for the arms")
        blocks, advised = [], []
        for block in file.blocks:
            losses = block.numbers[:, arms]
            outside = ~((losses >= ends[0]) & (losses <= ends[1]))
            if outside.any():
                row, k = first_index(outside)
                place = file.table.place(block.places[row], file.columns[arms[k]])
                raise DataError(
                    f"{place}: losses must lie in [{ends[0]:g}, {ends[1]:g}] (see --loss-range); "
                    f"got {losses[row, k]:g}"
                )
            blocks.append(block.numbers)
            advised.append(_advice(block, file, [file.table.title(file.columns[k]) for k in arms]))
    if not blocks:
        raise ValueError("no losses came: the input has a header and no rounds")
    numbers = np.concatenate(blocks)
    return ContextTable(
        numbers[:, seen],
        np.ascontiguousarray(numbers[:, arms]),
        np.concatenate(advised),
        tuple(file.table.title(j) for j in experts),
    )


def context_rows(
    table: ContextTable, ends: tuple[float, float], gains: bool, games: int, seed: int
) -> list[Row]:
    """Return the regret of SquareCB to the best arm, a row for each regression."""
    rows: list[Row] = []
    for model in MODELS if table.contexts.size else ():
        regrets, promises = np.empty(games), np.empty(games)
        for game in range(games):
            policy = SquareCB(
                table.losses.shape[1],
                n_features=table.contexts.shape[1],
                model=model,
                loss_range=ends,
                gains=gains,
                random_state=np.random.default_rng([seed, game]),
            )
            run = policy.run(table.contexts, table.losses)
            regrets[game], promises[game] = run.regret, run.certificate().promised[0]
        finite = bool(np.isfinite(promises).all())
        bound = float(promises.mean()) if finite else None
        kept = f"{int((regrets <= promises).sum())}/{games}" if finite else None
        rows.append((f"squarecb, {model}", *mean_and_error(regrets), bound, kept))
    return rows


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
    return AdvisedGames(("exp4", *mean_and_error(to_arm), None, None), experts, certificate)


def mean_and_error(regrets: FloatArray) -> tuple[float, float | None]:
    """Return the mean of the games and its standard error; one game has none."""
    games = regrets.size
    error = float(regrets.std(ddof=1)) / math.sqrt(games) if games > 1 else None
    return float(regrets.mean()), error


def _named(option: str, wanted: str | None, file: NumberFile, among: list[int]) -> list[int]:
    """Return the columns that an option names, in its order."""
    if wanted is None:
        return []
    if file.names is None:
        raise ValueError(f"{option} names columns, and the input has no header")
    names = [file.table.title(j) for j in among]
    asked = [name.strip() for name in wanted.split(",")]
    for name in asked:
        if names.count(name) != 1:
            raise ValueError(f"{option} must name columns: {listed(names)}; got {name!r}")
    if len(set(asked)) < len(asked):
        raise ValueError(f"{option} must name each column once; got {wanted!r}")
    return [among[names.index(name)] for name in asked]


def _advice(block: NumberBlock, file: NumberFile, arms: Sequence[str]) -> FloatArray:
    """Return the advice of each expert in each round: an arm, or all alike where none is named."""
    places = {name: k for k, name in enumerate(arms)}
    rows = np.vstack([np.eye(len(arms)), np.full(len(arms), 1.0 / len(arms))])
    advice = np.empty((len(block.places), len(file.texts), len(arms)))
    for expert, (column, cells) in enumerate(zip(file.texts, block.texts, strict=True)):
        for t, cell in enumerate(cells):
            name = str(cell).strip()
            if name not in places and not is_missing(cell):
                raise DataError(
                    f"{file.table.place(block.places[t], column)}: advice must name an arm: "
                    f"{listed(arms)}; got {shown(name)}"
                )
            advice[t, expert] = rows[places.get(name, len(arms))]
    return advice
