"""Which sizes race, on which examples and which folds.

- Below `SCOUTED` examples five parts are held out in turn.
- From there on the first fold races alone, and its best sizes play on all five folds.
- Up to `FEW_VALUES` values, examples times columns, and `FEW_CLASSES` classes a mean is made of
  `N_REPEATS` races, each on other folds. The first one tells what was chosen.
- From `LARGE` examples on a sample of `SAMPLE` examples scouts, with one part of five held out. The
  best size of the sample and the next larger ones then race on all examples but a tenth: the more
  examples there are, the larger the trees that pay. The tenth chooses among them, chooses the
  rounds, and calibrates the winner, which is the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.row_sample import draw_keys
from driftgames.boosting.engine.game import GameRule
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import FoldFit, Folds, RowKeys, is_large, make_folds
from driftgames.boosting.fit.job import Columns, Job
from driftgames.boosting.fit.race import (
    MOST_SIZES,
    Entrant,
    Race,
    last_stage,
    most_rounds,
    run_race,
    run_scouted,
    sizes_for,
    stages_for,
)
from driftgames.boosting.fit.source import LocalRows, Threads
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.core.typing import IntArray

N_FOLDS = 5
"""The number of parts that are held out in turn."""

SCOUTED = 3_000
"""From this number of examples on, the first fold races alone."""

FEW_VALUES = 20_000
"""Up to this number of values, examples times columns, a mean is made of several races."""

MOST_LEAVES_OF_NUMBERS = 64
"""The most leaves that are tried where the outcome is a number: a round takes longer there."""

MOST_ROUNDS_OF_NUMBERS = 800
"""The most rounds that are tried there: of more of them the CRPS hardly falls."""

FEW_CLASSES = 4
"""For more classes it is made of one."""

N_REPEATS = 3
"""The number of these races."""

SAMPLE = 25_000
"""The number of examples that choose the leaves where there are many."""

_SCOUTED_ROUNDS = 400  # the most that a sample plays
_LAST_FOLDS = 10  # of many examples, the last fit holds out one of ten folds


def choose_size(
    job: Job,
    rows: LocalRows,
    keys: RowKeys,
    n_rounds: int | None,
    threads: Threads,
    on_progress: Callable[[int], None],
) -> Race | None:
    """Return the race of the sizes that a job leaves open, over the numbers of rounds.

    ``n_rounds`` is None if they are chosen too. None where a class has one example only.
    """
    columns, n_classes = rows.columns, rows.columns.n_leaf_classes
    stages = stages_for(n_classes, rows.n_rows) if n_rounds is None else [n_rounds]
    if columns.gaps is not None and n_rounds is None:
        stages = [n for n in stages if n <= MOST_ROUNDS_OF_NUMBERS]
    shapes = _open_shapes(job.shape, columns, rows.n_rows)
    track = _Track(job.rule, stages, threads, on_progress)
    all_folds = columns.gaps is not None  # the next stage needs votes on every example
    if not is_large(rows.n_rows):
        race = track.race(rows, shapes, make_folds(keys, N_FOLDS))
        few = rows.n_rows * columns.n_features <= FEW_VALUES
        few = few and columns.classes.size <= FEW_CLASSES
        quiet = replace(track, on_progress=_ignore)
        repeats = (
            partial(quiet.race, rows, shapes, make_folds(keys.repeat(k), N_FOLDS))
            for k in range(1, N_REPEATS if few else 1)
        )
        return race and replace(race, repeats=tuple(repeats))
    first: Race | None = None
    if len(shapes) > 1:
        sample = sample_rows(keys)
        folds = make_folds(keys.take(sample), N_FOLDS).first(1)
        scout = replace(track, stages=_scouted(stages))
        first = scout.race(rows.take(sample), shapes, folds)
        if first is None:
            return None
        shapes = _larger_shapes(first, shapes)
    folds = make_folds(keys, N_FOLDS) if all_folds else make_folds(keys, _LAST_FOLDS).first(1)
    last = track.race(rows, shapes, folds, n_threads=1 if all_folds else threads.n_threads)
    if last is None or first is None:
        return last
    return replace(last, choice=last.choice.after(first.choice))


def count_rounds(job: Job, rows: LocalRows, n_rounds: int | None) -> int:
    """Return the most rounds that the folds of all sizes play in `choose_size`, on a sample too."""
    columns, n_rows = rows.columns, rows.n_rows
    n_classes, shapes = columns.n_leaf_classes, _open_shapes(job.shape, columns, rows.n_rows)
    stages = stages_for(n_classes, n_rows) if n_rounds is None else [n_rounds]

    def rounds(stages: Sequence[int], n_rows: int) -> list[int]:
        fitted = [shape.fitted_to(n_classes, n_rows) for shape in shapes]
        limits = [most_rounds(each.most_leaves or 0, columns.cost, n_rows, 0) for each in fitted]
        return [last_stage(stages, limit) for limit in limits]

    every = rounds(stages, n_rows)
    best = sum(sorted(every)[-MOST_SIZES:])
    if not is_large(n_rows):
        return N_FOLDS * sum(every) if n_rows < SCOUTED else sum(every) + (N_FOLDS - 1) * best
    scouted = rounds(_scouted(stages), SAMPLE) if len(shapes) > 1 else []
    return sum(scouted) + (1 if columns.gaps is None else N_FOLDS) * best


def _scouted(stages: list[int]) -> list[int]:
    """Return the stages that a sample plays."""
    return [n for n in stages if n <= _SCOUTED_ROUNDS] or stages


def _open_shapes(shape: TreeShape, columns: Columns, n_rows: int) -> list[TreeShape]:
    """Return the sizes that a shape leaves open; the shape itself if it has one."""
    if not shape.is_open:
        return [shape]
    sizes = sizes_for(columns.n_leaf_classes, n_rows)
    if columns.gaps is not None:
        sizes = [size for size in sizes if size <= MOST_LEAVES_OF_NUMBERS]
    return [replace(shape, max_leaves=size) for size in sizes]


def _larger_shapes(first: Race, shapes: Sequence[TreeShape]) -> list[TreeShape]:
    """Return the sizes that play on all rows: the best of the sample, and the next larger ones.

    A sample prefers small trees: the more rows there are, the larger the trees that pay.
    """
    best = [each.max_leaves for each in shapes].index(first.choice.max_leaves)
    return list(shapes[best : best + MOST_SIZES])


def _ignore(steps: int) -> None:
    """Leave the bar of the first race as it is."""


def sample_rows(keys: RowKeys) -> IntArray:
    """Return the rows of the least keys: the same ones in any order of the examples."""
    drawn = draw_keys(keys.hashes, keys.labels, keys.sample_weight)
    return np.sort(np.argsort(drawn, kind="stable")[:SAMPLE])


@dataclass(frozen=True)
class _Track:
    """What all races of a fit have in common."""

    rule: GameRule
    stages: Sequence[int]
    threads: Threads
    on_progress: Callable[[int], None]

    def race(
        self,
        rows: LocalRows,
        shapes: Sequence[TreeShape],
        folds: Folds,
        *,
        n_threads: int = 1,
    ) -> Race | None:
        """Let shapes race on folds; None if there are none."""
        if not folds.numbers:
            return None
        columns, n_classes = rows.columns, rows.columns.n_leaf_classes
        fitted = [shape.fitted_to(n_classes, rows.n_rows) for shape in shapes]
        coded: dict[tuple[int, bool], tuple[CategoryEncoder | None, BinnedData]] = {}
        entrants = []
        for shape in fitted:
            fits: list[FoldFit] = []
            encoders: list[CategoryEncoder | None] = []
            for number in folds.numbers:
                held_out = folds.fold_of == number
                which = number, not shape.is_stump
                if which not in coded:
                    coded[which] = rows.coded(held_out, ranked=which[1])
                encoder, binned = coded[which]
                labels = folds.outcomes.labels
                learner = columns.learner(binned, shape, labels, n_threads)
                fits.append(FoldFit(learner, held_out, self.rule, self.stages[-1]))
                encoders.append(encoder)
            leaves = shape.most_leaves or 0
            most = most_rounds(leaves, columns.cost, rows.n_rows, binned.n_codes)
            entrants.append(Entrant(leaves, fits, folds, encoders, most))
        scouts = rows.n_rows >= SCOUTED and len(folds.numbers) > 1
        run = run_scouted if scouts else run_race
        # folds of several threads play one after the other
        return run(
            entrants, self.stages, None if n_threads > 1 else self.threads.pool, self.on_progress
        )
