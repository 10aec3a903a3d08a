"""Folds for a race of sizes: all examples in turn, or of many examples a sample and one part.

Below `LARGE` examples five parts are held out in turn. From there on a sample of `SAMPLE` examples
chooses the number of leaves, with one part of five held out. Then one booster of this size plays on
all examples but a tenth, which chooses its rounds and calibrates it. So choosing costs less than
fitting there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from driftgames.boosting.fit import calibration
from driftgames.boosting.fit.calibration import FoldKeys, RowKeys, deal_folds
from driftgames.boosting.fit.folds import Fold
from driftgames.boosting.fit.race import Entrant, Race, run_race, sizes_for, stages_for
from driftgames.boosting.fit.training_rows import FoldRows
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.core.typing import IntArray

N_FOLDS = 5
"""The number of parts that are held out in turn."""

SAMPLE = 25_000
"""The number of examples that choose the leaves where there are many."""

_LAST_PARTS = 10  # of many examples, the last fit holds out one of ten parts


@dataclass(frozen=True)
class SizeRace(Race):
    """A race, and what its winner was made of."""

    shape: TreeShape
    dealt: FoldKeys
    encoders: Mapping[int, Sequence[CategoryEncoder | None]]
    """The encoders of the folds of each size."""


def choose_size(
    rows: FoldRows,
    keys: RowKeys,
    shape: TreeShape,
    n_rounds: int | None,
    start: Callable[..., ExampleChips],
    pool: ThreadPoolExecutor | None,
    n_threads: int,
    tell: Callable[[int], None],
) -> SizeRace | None:
    """Return the race of the sizes that a shape leaves open, over the numbers of rounds.

    ``n_rounds`` is None if they are chosen too. None where a class has one example only.
    """
    n_classes = int(keys.labels.max()) + 1
    stages = stages_for(n_classes) if n_rounds is None else [n_rounds]
    sizes = sizes_for(n_classes, rows.n_rows) if shape.is_open else [shape.max_leaves]
    shapes = [replace(shape, max_leaves=size) for size in sizes]
    make = partial(_race, start=start, stages=stages, n_classes=n_classes, pool=pool, tell=tell)
    if rows.n_rows < calibration.LARGE:
        return make(rows, keys, shapes, deal_folds(keys, N_FOLDS))
    first: SizeRace | None = None
    if len(shapes) > 1:
        at = sample_rows(keys)
        some = keys.take(at)
        dealt = _first_fold(deal_folds(some, N_FOLDS))
        first = make(rows.take(at), some, shapes, dealt)
        if first is None:
            return None
        shapes = [first.shape]
    last = make(rows, keys, shapes, _first_fold(deal_folds(keys, _LAST_PARTS)), n_threads=n_threads)
    if last is None or first is None:
        return last
    return replace(last, choice=last.choice.after(first.choice))


def _first_fold(dealt: FoldKeys) -> FoldKeys:
    """Return the same with the first part held out only."""
    return dealt._replace(folds=dealt.folds[:1])


def sample_rows(keys: RowKeys) -> IntArray:
    """Return the rows of the least hashes: the same ones in any order of the examples."""
    weights = np.ones(keys.labels.size) if keys.sample_weight is None else keys.sample_weight
    return np.sort(np.lexsort((weights, keys.labels, keys.hashes))[:SAMPLE])


def _race(
    rows: FoldRows,
    keys: RowKeys,
    shapes: Sequence[TreeShape],
    dealt: FoldKeys,
    *,
    start: Callable[..., ExampleChips],
    stages: Sequence[int],
    n_classes: int,
    pool: ThreadPoolExecutor | None,
    tell: Callable[[int], None],
    n_threads: int = 1,
) -> SizeRace | None:
    if not dealt.folds:
        return None
    labels = keys.labels if n_classes > 2 else None
    begin = partial(start, n_rounds=stages[-1])
    coded: dict[tuple[int, bool], Any] = {}
    entrants, encoders = [], {}
    for shape in shapes:
        fitted = shape.fitted_to(n_classes, rows.n_rows)
        folds, own = [], []
        for number in dealt.folds:
            held = dealt.part == number
            which = number, not fitted.is_stump
            if which not in coded:
                coded[which] = rows.coded(held, ranked=which[1])
            encoder, binned = coded[which]
            folds.append(Fold(binned, fitted, held, begin, labels, n_classes, n_threads))
            own.append(encoder)
        entrants.append(Entrant(fitted.most_leaves or 0, folds, dealt))
        encoders[entrants[-1].max_leaves] = own
    race = run_race(entrants, stages, pool, tell)
    shape = shapes[entrants.index(race.winner)]
    return SizeRace(race.ranked, race.choice, shape, dealt, encoders)
