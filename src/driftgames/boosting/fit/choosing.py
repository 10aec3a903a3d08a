"""Folds for a race of sizes: how many examples are held out, and how often they are dealt.

- Below `SCOUTED` examples five parts are held out in turn.
- From there on the first fold races alone, and its best sizes play on all five folds.
- Up to `FEW_VALUES` values, examples times columns, and `FEW_CLASSES` classes a mean is made of
  `N_DEALS` races. Each deals the examples to folds in its own way. The first one tells what was
  chosen.
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
from driftgames.boosting.engine.game import GameRule, TreeLearner
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit import folds
from driftgames.boosting.fit.folds import Fold, FoldKeys, RowKeys, deal_folds
from driftgames.boosting.fit.job import Job
from driftgames.boosting.fit.mean import Mean, best_mean
from driftgames.boosting.fit.race import (
    MOST_SIZES,
    Entrant,
    Race,
    most_rounds,
    run_race,
    run_scouted,
    sizes_for,
    stages_for,
)
from driftgames.boosting.fit.source import LocalRows, Threads
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.typing import IntArray

N_FOLDS = 5
"""The number of parts that are held out in turn."""

SCOUTED = 3_000
"""From this number of examples on, the first fold races alone."""

FEW_VALUES = 20_000
"""Up to this number of values, examples times columns, a mean is made of several races."""

FEW_CLASSES = 4
"""For more classes it is made of one."""

N_DEALS = 3
"""The number of these races."""

SAMPLE = 25_000
"""The number of examples that choose the leaves where there are many."""

_SCOUTED_ROUNDS = 400  # the most that a sample plays
_LAST_PARTS = 10  # of many examples, the last fit holds out one of ten parts


@dataclass(frozen=True)
class SizeRace(Race):
    """A race, and what its winner was made of."""

    shape: TreeShape
    dealt: FoldKeys
    again: tuple[Callable[[], SizeRace | None], ...] = ()
    """They race on other deals; see `N_DEALS`."""
    on_sample: bool = False
    """Whether a sample raced whose votes say nothing of a fit to all examples."""

    def is_of(self, model: FittedModel) -> bool:
        """Whether the votes of the winner's folds calibrate a model: it has as many rounds."""
        return not self.on_sample and model.n_rounds == self.choice.n_estimators

    def mean(self) -> Mean | None:
        """Return the mean of boosters of the least log-loss, by all deals.

        None if no fold has a hypothesis.
        """
        # one fold has one booster: the promise about new examples is about the model itself
        mean = best_mean(self.ranked if len(self.dealt.folds) > 1 else self.ranked[:1])
        if mean is None:
            return None
        races = (deal() for deal in self.again)
        others = (best_mean(race.ranked) for race in races if race is not None)
        return Mean.of([mean, *(each for each in others if each is not None)]) or mean


def choose_size(
    job: Job,
    rows: LocalRows,
    keys: RowKeys,
    n_classes: int,
    n_rounds: int | None,
    threads: Threads,
    tell: Callable[[int], None],
) -> SizeRace | None:
    """Return the race of the sizes that a job leaves open, over the numbers of rounds.

    ``n_classes`` counts classes without examples too. ``n_rounds`` is None if they are chosen too.
    None where a class has one example only.
    """
    stages = stages_for(n_classes, rows.n_rows) if n_rounds is None else [n_rounds]
    sizes = sizes_for(n_classes, rows.n_rows) if job.shape.is_open else [job.shape.max_leaves]
    shapes = [replace(job.shape, max_leaves=size) for size in sizes]
    track = _Track(job.rule, stages, n_classes, threads, tell)
    if rows.n_rows < folds.LARGE:
        race = track.race(rows, keys, shapes, deal_folds(keys, N_FOLDS))
        quiet = replace(track, tell=_tell_nothing)
        again = (
            partial(quiet.race, rows, deal, shapes, deal_folds(deal, N_FOLDS))
            for deal in _other_deals(keys, rows, n_classes)
        )
        return race and replace(race, again=tuple(again))
    first: SizeRace | None = None
    if len(shapes) > 1:
        at = sample_rows(keys)
        some = keys.take(at)
        dealt = _first_fold(deal_folds(some, N_FOLDS))
        scout = replace(track, stages=[n for n in stages if n <= _SCOUTED_ROUNDS] or stages)
        first = scout.race(rows.take(at), some, shapes, dealt)
        if first is None:
            return None
        shapes = _hand_on(first, shapes)
    dealt = _first_fold(deal_folds(keys, _LAST_PARTS))
    last = track.race(rows, keys, shapes, dealt, n_threads=threads.n_threads)
    if last is None or first is None:
        return last
    return replace(last, choice=last.choice.after(first.choice))


def _hand_on(first: SizeRace, shapes: Sequence[TreeShape]) -> list[TreeShape]:
    """Return the sizes that play on all rows: the best of the sample, and the next larger ones.

    A sample prefers small trees: the more rows there are, the larger the trees that pay.
    """
    at = next(k for k, each in enumerate(shapes) if each.max_leaves == first.shape.max_leaves)
    return list(shapes[at : at + MOST_SIZES])


def _tell_nothing(steps: int) -> None:
    """Leave the bar of the first race as it is."""


def _other_deals(keys: RowKeys, rows: LocalRows, n_classes: int) -> list[RowKeys]:
    """Return the keys of the other deals of the examples to folds."""
    few = rows.n_rows * rows.n_columns <= FEW_VALUES and n_classes <= FEW_CLASSES
    return [keys.dealt_again(k) for k in range(1, N_DEALS if few else 1)]


def _first_fold(dealt: FoldKeys) -> FoldKeys:
    """Return the same with the first part held out only."""
    return dealt._replace(folds=dealt.folds[:1])


def sample_rows(keys: RowKeys) -> IntArray:
    """Return the rows of the least keys: the same ones in any order of the examples."""
    return np.sort(np.argsort(draw_keys(*keys), kind="stable")[:SAMPLE])


@dataclass(frozen=True)
class _Track:
    """What all races of a fit have in common."""

    rule: GameRule
    stages: Sequence[int]
    n_classes: int
    threads: Threads
    tell: Callable[[int], None]

    def race(
        self,
        rows: LocalRows,
        keys: RowKeys,
        shapes: Sequence[TreeShape],
        dealt: FoldKeys,
        *,
        n_threads: int = 1,
    ) -> SizeRace | None:
        """Let shapes race on folds; None if there are none."""
        if not dealt.folds:
            return None
        fitted = [shape.fitted_to(self.n_classes, rows.n_rows) for shape in shapes]
        coded: dict[tuple[int, bool], tuple[CategoryEncoder | None, BinnedData]] = {}
        entrants = []
        for shape in fitted:
            members: list[Fold] = []
            encoders: list[CategoryEncoder | None] = []
            for number in dealt.folds:
                held_out = dealt.part == number
                which = number, not shape.is_stump
                if which not in coded:
                    coded[which] = rows.coded(held_out, ranked=which[1])
                encoder, binned = coded[which]
                learner = TreeLearner.of(binned, shape, keys.labels, self.n_classes, n_threads)
                members.append(Fold(learner, held_out, self.rule, self.stages[-1]))
                encoders.append(encoder)
            leaves = shape.most_leaves or 0
            most = most_rounds(leaves, self.n_classes, rows.n_rows, binned.n_codes)
            entrants.append(Entrant(leaves, members, dealt, encoders, most))
        scouts = rows.n_rows >= SCOUTED and len(dealt.folds) > 1
        run = run_scouted if scouts else run_race
        # folds of several threads play one after the other
        race = run(entrants, self.stages, None if n_threads > 1 else self.threads.pool, self.tell)
        shape = next(each for each in fitted if (each.most_leaves or 0) == race.winner.max_leaves)
        return SizeRace(race.ranked, race.choice, shape, dealt)
