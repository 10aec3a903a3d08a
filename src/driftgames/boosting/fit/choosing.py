"""Folds for a race of sizes: how many examples are held out, and how often they are dealt.

- Below `SCOUTED` examples five parts are held out in turn. A mean of boosters is then made of
  `N_DEALS` deals: the sizes that are in it are fitted to the folds of other deals too. There is one
  deal only where there are more than `FEW_CLASSES` classes.
- From there on the first fold races alone, and its best sizes play on all five folds.
- From `LARGE` examples on a sample of `SAMPLE` examples chooses the number of leaves, with one part
  of five held out. Then one booster of this size plays on all examples but a tenth, which chooses
  its rounds and calibrates it. So choosing costs less than fitting there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from driftgames.boosting.fit import calibration
from driftgames.boosting.fit.calibration import FoldKeys, RowKeys, deal_folds
from driftgames.boosting.fit.folds import Fold
from driftgames.boosting.fit.means import Mean, best_mean
from driftgames.boosting.fit.race import (
    Entrant,
    Race,
    play_folds_to,
    run_race,
    run_scouted,
    sizes_for,
    stages_for,
)
from driftgames.boosting.fit.training_rows import Coded, FoldRows
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.core.typing import IntArray

N_FOLDS = 5
"""The number of parts that are held out in turn."""

SCOUTED = 3_000
"""From this number of examples on, the first fold races alone."""

N_DEALS = 3
"""How often few examples are dealt to folds for a mean of boosters."""

FEW_CLASSES = 4
"""For more classes examples are dealt once only."""

SAMPLE = 25_000
"""The number of examples that choose the leaves where there are many."""

_LAST_PARTS = 10  # of many examples, the last fit holds out one of ten parts


@dataclass(frozen=True)
class SizeRace(Race):
    """A race, and what its winner was made of."""

    shape: TreeShape
    dealt: FoldKeys
    deal_again: Callable[[Sequence[Entrant]], list[list[Entrant]]]
    """It returns sizes with those of other deals that play as many rounds."""

    def mean(self) -> Mean | None:
        """Return the mean of boosters of the least log-loss, by all deals.

        None if no fold has a hypothesis.
        """
        mean = best_mean(self.ranked)
        return mean and (Mean.of(self.deal_again(mean.entrants)) or mean)


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

    def enter(shapes: Sequence[TreeShape], dealt: FoldKeys) -> list[Entrant]:
        coded: dict[tuple[int, bool], Coded] = {}
        entrants = []
        for shape in shapes:
            folds, encoders = [], []
            for number in dealt.folds:
                held = dealt.part == number
                which = number, not shape.is_stump
                if which not in coded:
                    coded[which] = rows.coded(held, ranked=which[1])
                encoder, binned = coded[which]
                folds.append(Fold(binned, shape, held, begin, labels, n_classes, n_threads))
                encoders.append(encoder)
            entrants.append(Entrant(shape.most_leaves or 0, folds, dealt, encoders))
        return entrants

    fitted = [shape.fitted_to(n_classes, rows.n_rows) for shape in shapes]
    scouts = rows.n_rows >= SCOUTED and len(dealt.folds) > 1
    race = (run_scouted if scouts else run_race)(enter(fitted, dealt), stages, pool, tell)
    by_leaves = {shape.most_leaves or 0: shape for shape in fitted}

    def deal_again(entrants: Sequence[Entrant]) -> list[list[Entrant]]:
        few = rows.n_rows < SCOUTED and n_classes <= FEW_CLASSES
        own = [by_leaves[each.max_leaves] for each in entrants]
        deals = range(1, N_DEALS if few else 1)
        others = [enter(own, deal_folds(keys.dealt_again(k), N_FOLDS)) for k in deals]
        reached = [each.stages[each.best] for each in entrants] * len(others)
        added = [each for deal in others for each in deal]
        asked = [(each.folds, stage) for each, stage in zip(added, reached, strict=True)]
        votes = play_folds_to(asked, pool)
        for each, stage, found in zip(added, reached, votes, strict=True):
            each.measure(stage, found)
        return [list(each) for each in zip(entrants, *others, strict=True)]

    shape = by_leaves[race.winner.max_leaves]
    return SizeRace(race.ranked, race.choice, shape, dealt, deal_again)
