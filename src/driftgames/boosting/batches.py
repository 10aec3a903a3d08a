"""Fits beyond memory: one pass over the batches for the cuts, one for the bins.

Cuts are chosen from a summary that merges, and weights are integers. So the model is that of a fit
on all rows at once, for any size and any order of the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.assembly import DenseAssembly, SparseAssembly
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array
from driftgames.boosting.cut_summary import CutSummary
from driftgames.boosting.cuts import Cuts
from driftgames.boosting.row_sample import hash_rows
from driftgames.boosting.sample_weights import SampleWeights, check_weights, weigh_examples
from driftgames.boosting.sources import Source
from driftgames.core.progress import progress
from driftgames.core.typing import IntArray

OTHER_ROWS = "source must yield the same rows each time it is read"


@dataclass
class BatchReader:
    """Reads a source as often as needed, with the checks of `fit` on every batch.

    Parameters
    ----------
    source : Source
        The batches.
    check : callable
        ``check(X, y, first)`` returns the examples of a batch in the form that `fit` uses.
    check_classes : callable
        Returns the classes of all labels, in order, or raises ValueError.
    show : bool
        Whether to show progress bars.
    """

    source: Source
    check: Callable[[Any, Any, bool], tuple[Any, Array]]
    check_classes: Callable[[Array], Array]
    show: bool
    n_rows: int | None = None
    weights: SampleWeights | None = None
    _seen: dict[Any, tuple[int, int]] = field(default_factory=dict)

    def summarise(self, max_bins: int) -> tuple[Array, Cuts]:
        """Read all batches; return the classes and the cuts."""
        summary, labels = CutSummary(max_bins), []
        for X, y, weights in self._read("finding cuts"):
            labels.append(np.unique(y))
            self._see(y, weights, summary.add(X, weights))
        if not labels:
            raise ValueError("source must yield examples; it yielded no batch")
        self.n_rows = sum(n for n, _ in self._seen.values())
        return self.check_classes(np.concatenate(labels)), summary.cuts()

    def bin(self, classes: Array, cuts: Cuts, **settings: Any) -> BinnedTrainingSet:
        """Read all batches again; return them in bins."""
        expected, self._seen = self._seen, {}
        n_lower, n_upper = (expected[label][0] for label in classes.tolist())
        assembly: DenseAssembly | SparseAssembly | None = None
        for X, y, weights in self._read("binning"):
            self._see(y, weights, hash_rows(X))
            for label, (n, _) in self._seen.items():
                if n > expected.get(label, (0, 0))[0]:
                    raise ValueError(f"{OTHER_ROWS}; there are more rows of class {label!r} now")
            if assembly is None:
                sparse = sp.issparse(X)
                assembly = (
                    SparseAssembly(cuts) if sparse else DenseAssembly(cuts, (n_lower, n_upper))
                )
            assembly.add(X, y == classes[1], weights)
        for label, seen in expected.items():
            if seen != self._seen.get(label):
                n, now = seen[0], self._seen.get(label, (0, 0))[0]
                what = "other values" if n == now else f"{now:,} rows instead of {n:,}"
                raise ValueError(f"{OTHER_ROWS}; class {label!r} has {what} the second time")
        assert assembly is not None
        exact = self.weights is None or self.weights.integer_weights
        return assembly.finish(integer_weights=exact, **settings)

    def _weigh(self) -> SampleWeights:
        """Read the sample weights of all batches; return a zero for an example that has none."""
        labels, given = [], []
        for k, batch in enumerate(self.source.read_weights()):
            labels.append(np.asarray(batch.y))
            given.append(np.zeros(0) if batch.sample_weight is None else batch.sample_weight)
            if np.shape(given[-1]) != labels[-1].shape:
                raise ValueError(
                    "all batches must have a sample weight for each label, or none; batch "
                    f"{k} has {np.size(given[-1])} weights for {labels[-1].size} labels"
                )
        y, weights = np.concatenate(labels), np.concatenate(given)
        checked = check_weights(weights, y, y, self.check_classes(y))
        _, _, heavy = weigh_examples(y, y, checked)
        integers = np.zeros(y.size, dtype=np.int64)
        integers[weights > 0] = heavy.of_each
        return SampleWeights(integers, heavy.integer_weights)

    def _read(self, task: str) -> Iterator[tuple[Any, Array, IntArray]]:
        """Yield the examples of positive weight of each batch, and their weights."""
        at, sparse = 0, None
        with progress(task, self.n_rows or self.source.n_rows, show=self.show) as advance:
            for k, batch in enumerate(self.source.read()):
                if np.ndim(batch.X) == 2 and batch.X.shape[0] == 0:
                    raise ValueError(f"batch {k} must not be empty; it has no rows")
                if batch.sample_weight is not None and self.weights is None:
                    self.weights = self._weigh()
                X, y = self._checked(k, batch.X, batch.y)
                if sparse not in (None, sp.issparse(X)):
                    raise ValueError(f"batches must be all dense or all sparse; batch {k} differs")
                sparse = sp.issparse(X)
                weights: IntArray = np.ones(y.size, dtype=np.int64)
                if self.weights is not None:
                    weights = self.weights.of_each[at : at + y.size]
                    if weights.size < y.size:
                        raise ValueError(f"{OTHER_ROWS}; there are more of them now")
                at += y.size
                heavy = weights > 0
                if heavy.all():
                    yield X, y, weights
                elif heavy.any():
                    yield X[heavy], y[heavy], weights[heavy]
                advance(y.size)

    def _checked(self, k: int, X: Any, y: Any) -> tuple[Any, Array]:
        try:
            X, y = self.check(X, y, k == 0 and not self._seen)
        except ValueError as error:
            raise ValueError(f"batch {k}: {error}") from error
        if not sp.issparse(X):
            return np.require(X, requirements=["C", "W"]), y
        X.sum_duplicates()
        return X, y

    def _see(self, y: Array, weights: IntArray, hashes: Array) -> None:
        """Count the rows of each label, and add up their hashes, in any order."""
        mixed = hashes * weights.astype(np.uint64)  # modulo 2**64
        for label in np.unique(y).tolist():
            mine = y == label
            n, total = self._seen.get(label, (0, 0))
            total += int(mixed[mine].sum())
            self._seen[label] = n + int(np.count_nonzero(mine)), total % 2**64
