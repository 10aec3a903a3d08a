"""Folds: fits that hold rows out. Votes on these rows calibrate a booster and choose its size.

The rows of a fold that are held out keep their place among the binned rows with a sample weight of
zero. They go through every tree, and their mistakes are counted: that is their vote. So a fold
needs no predictions of its own, and its votes can be read between two rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.fit.calibration import FoldKeys
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.growth.tree_training_set import grow_on
from driftgames.boosting.model.training_record import vote_by_mass
from driftgames.boosting.weights.example_chips import ExampleChips, Round
from driftgames.core.typing import BoolArray, FloatArray, IntArray

Start = Callable[[Any], ExampleChips]
"""It returns the examples of a training set as chips before the first round."""


class Fold:
    """A fit without the rows that it holds out.

    ``held`` tells which examples these are, and ``labels`` number their classes if there are more
    than two.
    """

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        held: BoolArray,
        start: Start,
        labels: IntArray | None,
        n_classes: int,
        n_threads: int = 1,
    ) -> None:
        self._order = np.arange(data.n_rows) if data.order is None else data.order
        weights = np.where(held[self._order], 0, data.sample_weights)
        n_rows = int(np.count_nonzero(weights))
        least = max(1, min(shape.min_samples_leaf, n_rows // 2))
        self.training_set = grow_on(
            data,
            replace(shape, min_samples_leaf=least),
            weights,
            labels=None if labels is None else labels[self._order],
            n_classes=n_classes,
            n_threads=n_threads,
        )
        self.mass = int(weights.sum())
        """The sample weight of the examples that it is fitted to."""
        self._default = vote_by_mass(self.training_set.masses)
        self._chips = start(self.training_set)
        self._ended = False

    def votes(self, n_rounds: int) -> FloatArray:
        """Play until there are ``n_rounds`` rounds; return the votes on all examples."""
        more = n_rounds - self._chips.n_rounds
        if more > 0 and not self._ended:
            self._chips.advance(more)
            self._ended = self._chips.n_rounds < n_rounds
        n_votes = self._default.size
        votes = np.empty((self._order.size, n_votes) if n_votes > 1 else self._order.size)
        played = self._chips.n_rounds > 0
        votes[self._order] = self._chips.votes() if played else self._default.reshape(-1)
        return votes

    def rounds(self, n_rounds: int) -> list[Round]:
        """Return the first rounds."""
        return self._chips.rounds(0, self.count(n_rounds))

    def count(self, n_rounds: int) -> int:
        """Return how many of the first rounds were played: fewer if no tree had an edge."""
        return min(n_rounds, self._chips.n_rounds)


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

    The votes of a fold are on the examples that it holds out, in their order.
    """

    def play(number: int) -> FloatArray:
        held = dealt.part == number
        fold = Fold(data, shape, held, start, labels, n_classes)
        return np.stack([fold.votes(stage)[held] for stage in stages])

    if pool is None:
        return [lambda number=number: play(number) for number in dealt.folds]  # type: ignore[misc]
    return [pool.submit(play, number).result for number in dealt.folds]
