"""Contexts of ``driftgames bandit``: columns of the table that a policy sees before each pull."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftgames.cli._numbers import open_numbers
from driftgames.cli._options import Reading
from driftgames.core.checks import first_index
from driftgames.core.text import listed
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError
from driftgames.tables import Row

MODELS = ("ridge", "logistic")
"""The regressions that play."""


class ContextTable(NamedTuple):
    """Rounds: what a policy sees, and the losses of the arms."""

    contexts: FloatArray
    losses: FloatArray


def read_contexts(source: str, wanted: str, ends: tuple[float, float]) -> ContextTable:
    """Return the columns that are named as contexts, and the others as losses."""
    with open_numbers(source, Reading(), "a context or a loss") as file:
        names = file.names
        if names is None:
            raise ValueError("--contexts names columns, and the input has no header")
        asked = [name.strip() for name in wanted.split(",")]
        for name in asked:
            if names.count(name) != 1:
                raise ValueError(f"--contexts must name columns: {listed(names)}; got {name!r}")
        if len(set(asked)) < len(asked):
            raise ValueError(f"--contexts must name each column once; got {wanted!r}")
        seen = [names.index(name) for name in asked]
        arms = [k for k in range(len(names)) if k not in seen]
        if len(arms) < 2:
            raise ValueError("--contexts must leave at least two columns for the arms")
        blocks = []
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
    if not blocks:
        raise ValueError("no losses came: the input has a header and no rounds")
    numbers = np.concatenate(blocks)
    return ContextTable(numbers[:, seen], np.ascontiguousarray(numbers[:, arms]))


def context_rows(
    table: ContextTable, ends: tuple[float, float], gains: bool, games: int, seed: int
) -> list[Row]:
    """Return the regret of SquareCB to the best arm, a row for each regression."""
    from driftgames.bandit import SquareCB

    rows: list[Row] = []
    for model in MODELS:
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
        error = float(regrets.std(ddof=1)) / math.sqrt(games) if games > 1 else None
        finite = bool(np.isfinite(promises).all())
        bound = float(promises.mean()) if finite else None
        kept = f"{int((regrets <= promises).sum())}/{games}" if finite else None
        rows.append((f"squarecb, {model}", float(regrets.mean()), error, None, bound, kept))
    return rows
