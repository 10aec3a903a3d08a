"""Which sizes race, on which examples and which folds.

- Below `SCOUTED` examples all `N_FOLDS` folds race.
- From there on the first fold races alone, and its best sizes play on the other folds.
- Up to `FEW_VALUES` values, examples times columns, and `FEW_CLASSES` classes a mean is made of
  `N_REPEATS` races, each on other folds. The first one tells what was chosen.
- From `SCOUTED` examples on pairs of columns can join: they are tried on the first fold, once sizes
  have raced there without them.
- From `LARGE` examples on a sample of `SAMPLE` examples scouts. Its best size and the next larger
  ones race on the first fold of all examples: the more there are, the larger the trees that pay.
  The `FEW_SIZES` best ones play on the other folds; with thresholds as many as before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from driftgames._kernels.elementary import log_all
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.pairs import OPERATIONS, ColumnPairs
from driftgames.boosting.data.row_sample import draw_keys
from driftgames.boosting.engine.game import GameRule
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import FoldFit, Folds, RowKeys, is_large, make_folds
from driftgames.boosting.fit.job import Columns, GoesOn, Job
from driftgames.boosting.fit.race import (
    MOST_SIZES,
    Audition,
    Entrant,
    NotWorthwhileError,
    Race,
    most_rounds,
    run_race,
    run_scouted,
    sizes_for,
    stages_for,
)
from driftgames.boosting.fit.source import LocalRows, Threads
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import PairTrial
from driftgames.boosting.model.stumps import Stumps
from driftgames.core.typing import IntArray

N_FOLDS = 5
"""The number of parts that are held out in turn."""

SCOUTED = 3_000
"""From this number of examples on, the first fold races alone."""

FEW_VALUES = 20_000
"""Up to this number of values, examples times columns, a mean is made of several races."""

MOST_LEAVES_OF_NUMBERS = 64
"""The most leaves that are tried where the outcome is a number: a round takes longer there."""

FEW_CLASSES = 4
"""For more classes it is made of one."""

N_REPEATS = 3
"""The number of these races."""

SAMPLE = 25_000
"""The number of examples that scout from `folds.LARGE` on."""

FEW_SIZES = 2
"""The number of sizes that then play on all folds: a third brings little."""

MOST_PAIRED = 50
"""The most columns among which couples are searched, those of the largest gains."""

MOST_COUPLES = 6
"""The most couples of columns that pairs are made of."""

LEAST_SHARE = 0.2
"""A couple is tried if its score is at least this share of the largest one."""

CLEAR = 2.0
"""How many standard errors the log-loss must fall for pairs to join."""

_SCOUTED_ROUNDS = 400  # the most that a sample plays


def choose_size(
    job: Job,
    rows: LocalRows,
    keys: RowKeys,
    n_rounds: int | None,
    threads: Threads,
    on_progress: Callable[[int], None],
    *,
    pairs: bool = False,
) -> Race | None:
    """Return the race of the sizes that a job leaves open, over the numbers of rounds.

    ``n_rounds`` is None if they are chosen too. None where a class has one example only. ``pairs``
    tells whether pairs of columns may join.
    """
    columns, shapes = rows.columns, _open_shapes(job.shape, rows.columns, rows.n_rows)
    stages = _open_stages(columns, rows.n_rows, n_rounds)
    track = _Track(job.rule, stages, threads, on_progress, job.goes_on)
    scouted: Race | None = None
    pairs = pairs and rows.n_rows >= SCOUTED and rows.pairable().size > 1
    if is_large(rows.n_rows) and len(shapes) > 1:
        sample = sample_rows(keys)
        folds = make_folds(keys.take(sample), N_FOLDS).first(1)
        scout = replace(track, stages=_scouted(stages), goes_on=None)
        scouted = scout.race(rows.take(sample), shapes, folds)
        shapes = shapes if scouted is None else _larger_shapes(scouted, shapes)
    race = track.race(rows, shapes, make_folds(keys, N_FOLDS), pairs=pairs)
    if race is None:
        return None
    if scouted is not None:
        race = replace(race, choice=race.choice.after(scouted.choice))
    if race.audition is not None:
        rows = race.audition.widen(rows)
    few = rows.n_rows * columns.n_features <= FEW_VALUES and columns.classes.size <= FEW_CLASSES
    repeats = (
        partial(track.quiet.race, rows, shapes, make_folds(keys.repeat(k), N_FOLDS))
        for k in range(1, N_REPEATS if few else 1)
    )
    return replace(race, repeats=tuple(repeats))


def count_rounds(job: Job, rows: LocalRows, n_rounds: int | None) -> int:
    """Return the most rounds that all folds play in `choose_size`, those on a sample too."""
    columns, n_rows = rows.columns, rows.n_rows
    stages, n_sizes = (
        _open_stages(columns, n_rows, n_rounds),
        len(_open_shapes(job.shape, columns, n_rows)),
    )
    if n_rows < SCOUTED:
        return N_FOLDS * n_sizes * stages[-1]
    most = 0
    if is_large(n_rows) and n_sizes > 1:
        most, n_sizes = n_sizes * _scouted(stages)[-1], min(n_sizes, MOST_SIZES)
    others = (N_FOLDS - 1) * min(n_sizes, _most_sizes(columns, n_rows))
    return most + (n_sizes + others) * stages[-1]


def _open_stages(columns: Columns, n_rows: int, n_rounds: int | None) -> list[int]:
    """Return the numbers of rounds to choose from; ``n_rounds`` alone if it is given."""
    if n_rounds is not None:
        return [n_rounds]
    return stages_for(columns.n_leaf_classes, n_rows, thresholds=columns.gaps is not None)


def _most_sizes(columns: Columns, n_rows: int) -> int:
    """Return how many sizes play on all folds after the first one."""
    return FEW_SIZES if is_large(n_rows) and columns.gaps is None else MOST_SIZES


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
    goes_on: GoesOn | None

    def race(
        self, rows: LocalRows, shapes: Sequence[TreeShape], folds: Folds, *, pairs: bool = False
    ) -> Race | None:
        """Let shapes race on folds; None if there are none. With ``pairs`` these may join.

        Raise `NotWorthwhileError` if ``goes_on`` says no after the first fold.
        """
        if not folds.numbers:
            return None
        entrants = self._enter(rows, shapes, folds)
        pool, on_progress = self.threads.pool, self.on_progress
        if rows.n_rows < SCOUTED or len(folds.numbers) == 1:
            return run_race(entrants, self.stages, pool, on_progress)
        n_sizes = _most_sizes(rows.columns, rows.n_rows)
        scouted = run_race([each.fresh(1) for each in entrants], self.stages, pool, on_progress)
        if self.goes_on is not None and not scouted.asks(self.goes_on):
            raise NotWorthwhileError
        audition = self.audition(rows, scouted, shapes, folds) if pairs else None
        if audition is not None and audition.pairs is not None:
            trees = [each.max_leaves for each in scouted.ranked if each.max_leaves > 2]
            shapes = [each for each in shapes if each.max_leaves in trees[:n_sizes]]
            before = scouted.choice
            del entrants, scouted  # their games take memory
            race = self.quiet.race(audition.widen(rows), shapes, folds)
            assert race is not None
            race = replace(race, choice=race.choice.after(before))
        else:
            race = run_scouted(entrants, scouted, pool, on_progress, n_sizes=n_sizes)
        return race if audition is None else race.with_pairs(audition)

    @property
    def quiet(self) -> _Track:
        """The same for races that no one follows."""
        return replace(self, on_progress=_ignore, goes_on=None)

    def audition(
        self, rows: LocalRows, scouted: Race, shapes: Sequence[TreeShape], folds: Folds
    ) -> Audition:
        """Let pairs of columns play on the first fold, with the best trees that were scouted there.

        They are made of the columns that these trees ask about together. They join if the log-loss
        falls by more than `CLEAR` standard errors below that of the best size. Stumps get none.
        """
        best = scouted.winner
        played = next((each for each in scouted.ranked if each.max_leaves > 2), None)
        pairs = None if played is None else _most_asked(rows, played)
        if played is None or pairs is None:
            return Audition(None, PairTrial(0.0, 0.0, 2))
        same = [each for each in shapes if each.max_leaves == played.max_leaves]
        race = self.quiet.race(rows.with_pairs(pairs), same, folds.first(1))
        assert race is not None
        wide = race.winner
        gain, error = best.folds.held_out_outcomes.difference(
            best.losses[best.best], wide.losses[wide.best]
        )
        if gain <= CLEAR * error:
            return Audition(None, PairTrial(gain, error, 2))
        n_couples = len(pairs) // len(OPERATIONS)
        n_sets = math.comb(math.comb(rows.pairable().size, 2), n_couples)
        return Audition(pairs, PairTrial(gain, error, 2 * MOST_COUPLES * n_sets))

    def _enter(self, rows: LocalRows, shapes: Sequence[TreeShape], folds: Folds) -> list[Entrant]:
        """Return an entrant for each shape, which has not begun to play."""
        columns, n_classes = rows.columns, rows.columns.n_leaf_classes
        thresholds = columns.gaps is not None
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
                learner = columns.learner(binned, shape, labels)
                fits.append(FoldFit(learner, held_out, self.rule, self.stages[-1]))
                encoders.append(encoder)
            leaves = shape.most_leaves or 0
            size = leaves, columns.cost, rows.n_rows, binned.n_codes
            most = most_rounds(*size, thresholds=thresholds)
            entrants.append(Entrant(leaves, fits, folds, encoders, most))
        return entrants


def _most_asked(rows: LocalRows, entrant: Entrant) -> ColumnPairs | None:
    r"""Return pairs of the columns that trees ask about together; None if there are none.

    A question right below one about another column counts for the two by its gain: S in all, where
    the sums of both columns let E expect. Couples are ranked by :math:`S \ln(S/E) - S + E`, which
    is large where S is beyond E and not small.
    """
    trees = entrant.fits[0].to_values(entrant.played()[0])
    if isinstance(trees, Stumps):
        return None
    owner = rows.columns.empty_model(entrant.encoders[0]).owners[0]
    columns = rows.pairable()
    gains = trees.gains_of(owner)[columns]
    columns = np.sort(columns[np.argsort(-gains, kind="stable")[:MOST_PAIRED]])
    together = trees.gains_below(owner, columns)
    sums, (first, second) = together.sum(axis=0), np.triu_indices(columns.size, 1)
    found = together[first, second]
    expected = sums[first] * sums[second] / (sums.sum() or 1.0)
    more = np.flatnonzero(found > expected)
    if not more.size:
        return None
    found, expected = found[more], expected[more]
    scores = found * log_all(found / expected) - found + expected
    best = np.argsort(-scores, kind="stable")[:MOST_COUPLES]
    best = np.sort(more[best[scores[best] >= LEAST_SHARE * scores.max()]])
    return ColumnPairs.of_couples(columns[first[best]].tolist(), columns[second[best]].tolist())
