"""Folds on shared bins: a fit of its own for each, whose held-out rows weigh nothing.

The rows of a fold that are held out keep their place among the binned rows with a sample weight of
zero. They go through every tree, and their mistakes are counted: that is their vote. So folds need
neither bins nor predictions of their own. They are independent calls and run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.fit.calibration import FoldKeys
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.growth.tree_training_set import GrownTrees, grow_on
from driftgames.boosting.model.training_record import vote_by_mass
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.core.typing import FloatArray, IntArray

Start = Callable[[GrownTrees], ExampleChips]
"""It returns the examples as chips before the first round."""


class Fold:
    """A fit without the rows that it holds out, and its votes on them.

    ``part`` is the fold of each binned row.
    """

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        part: IntArray,
        fold: int,
        start: Start,
        labels: IntArray | None,
        n_classes: int,
    ) -> None:
        held = part == fold
        weights = np.where(held, 0, data.sample_weights)
        n_rows = int(np.count_nonzero(weights))
        least = max(1, min(shape.min_samples_leaf, n_rows // 2))
        shape = replace(shape, min_samples_leaf=least)
        training_set = grow_on(data, shape, weights, labels=labels, n_classes=n_classes)
        self._default = vote_by_mass(training_set.masses)
        self._rows = np.flatnonzero(held)
        if data.order is not None:  # the votes are in the order of the examples
            self._rows = self._rows[np.argsort(data.order[self._rows], kind="stable")]
        self._chips = start(training_set)
        self._ended = False

    def votes(self, n_rounds: int) -> FloatArray:
        """Play until there are so many rounds; return the votes on the rows held out."""
        more = n_rounds - self._chips.n_rounds
        if more > 0 and not self._ended:
            self._ended = len(self._chips.play(more)) < more
        if self._chips.n_rounds == 0:
            size = () if self._default.size == 1 else self._default.shape
            return np.broadcast_to(self._default.reshape(size), (self._rows.size, *size)).copy()
        return self._chips.votes(self._rows)


def play_folds(
    data: BinnedData,
    shape: TreeShape,
    dealt: FoldKeys,
    start: Start,
    stages: Sequence[int],
    *,
    labels: IntArray | None,
    n_classes: int,
    pool: ThreadPoolExecutor | None,
) -> list[Callable[[], FloatArray]]:
    """Begin to play all folds; return what waits for the votes of each after these stages.

    ``labels`` number the classes of the binned rows if there are more than two.
    """
    part = dealt.part if data.order is None else dealt.part[data.order]

    def play(fold: int) -> FloatArray:
        mine = Fold(data, shape, part, fold, start, labels, n_classes)
        return np.stack([mine.votes(stage) for stage in stages])

    if pool is None:
        return [lambda fold=fold: play(fold) for fold in dealt.folds]  # type: ignore[misc]
    return [pool.submit(play, fold).result for fold in dealt.folds]
