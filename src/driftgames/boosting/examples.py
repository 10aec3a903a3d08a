"""A training set made ready: binned and sorted for stumps, or as it is for other learners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Executor
from typing import Any

import numpy as np

from driftgames.boosting.binning import IntArray
from driftgames.boosting.chips import CountedChips, Counts, MistakeCounts
from driftgames.boosting.learners import EstimatorLearner, StumpLearner, WeakLearner
from driftgames.boosting.rules import Rule
from driftgames.boosting.stumps import Stumps
from driftgames.boosting.table import Stump, Table
from driftgames.boosting.tally import Tally


class Examples(ABC):
    """Examples and a weak learner for them, before the first round."""

    whole: bool
    """Whether the masses of the examples are whole numbers."""

    @abstractmethod
    def learner(self) -> WeakLearner:
        """Return the weak learner, for boosters that weigh every example by itself."""

    @abstractmethod
    def counted(self, rule: Rule) -> CountedChips:
        """Return the examples as chips, for boosters that weigh by number of mistakes."""


class StumpExamples(Examples):
    """Examples in bins, for the exhaustive stump.

    Parameters
    ----------
    table : Table
        The examples.
    whole : bool
        Whether their masses are whole numbers.
    pool : Executor, optional
        Runs ``n_threads`` shares of the rows side by side.
    """

    def __init__(
        self, table: Table, *, whole: bool, pool: Executor | None = None, n_threads: int = 1
    ) -> None:
        self._table = table
        self.whole = whole
        self._pool = pool
        self._n_threads = n_threads

    def learner(self) -> StumpLearner:
        """Return the stump learner that adds up weights over rows."""
        return StumpLearner(self._table, self._pool, self._n_threads)

    def counted(self, rule: Rule) -> CountedChips:
        """Return the examples as chips: tallied, as long as that is the cheaper way."""
        counts: Counts = MistakeCounts(self.learner())
        if self.whole and 2 * self._table.n_codes < self._worth():
            counts = _TalliedCounts(
                Tally(self._table, self._pool, self._n_threads), self.learner(), self._worth()
            )
        return CountedChips(rule, counts, whole=self.whole)

    def stumps(self, chosen: list[Stump]) -> Stumps:
        """Return stumps on the table as stumps on feature values."""
        cuts = self._table.cuts
        features, cut, left, missing = np.array(chosen, dtype=np.int64).reshape(-1, 4).T
        at = cuts.starts[features] + cut
        beyond = at == cuts.starts[features + 1]  # it asks whether the value is missing
        thresholds = np.append(cuts.thresholds, np.inf)[np.where(beyond, -1, at)]
        return Stumps(features, thresholds, left, missing)  # type: ignore[arg-type]

    def places(self, stumps: Stumps) -> list[Stump]:
        """Return stumps on feature values as stumps on the table."""
        rows = zip(
            stumps.feature.tolist(),
            stumps.threshold.tolist(),
            stumps.left_vote.tolist(),
            stumps.missing_vote.tolist(),
            strict=True,
        )
        index = self._table.cuts.index
        return [(j, index(j, theta), left, missing) for j, theta, left, missing in rows]

    def _worth(self) -> int:
        """How many counts it is worth adding up before adding up over all rows is cheaper."""
        return 2 * self._table.bins.codes.size + 20 * self._table.n_rows


class EstimatorExamples(Examples):
    """Examples as they are, for a scikit-learn classifier."""

    def __init__(self, learner: EstimatorLearner, *, whole: bool) -> None:
        self._learner = learner
        self.whole = whole

    def learner(self) -> EstimatorLearner:
        """Return the classifier's learner."""
        return self._learner

    def counted(self, rule: Rule) -> CountedChips:
        """Return the examples as chips."""
        return CountedChips(rule, MistakeCounts(self._learner), whole=self.whole)


class _TalliedCounts:
    """A tally, until its levels are so many that one number for each example costs less."""

    def __init__(self, tally: Tally, learner: StumpLearner, worth: int) -> None:
        self._counts: Counts = tally
        self._learner = learner
        self._worth = worth

    def masses(self) -> tuple[int, IntArray]:
        return self._counts.masses()

    def best(self, first: int, weights: Any) -> tuple[int, int, Stump]:
        return self._counts.best(first, weights)

    def move(self, hypothesis: Stump) -> None:
        self._counts.move(hypothesis)
        if isinstance(self._counts, Tally) and self._counts.size > self._worth:
            self._counts = MistakeCounts(self._learner, self._counts.mistakes)
