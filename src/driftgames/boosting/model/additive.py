"""Voting stumps as an additive model: one step function per feature.

`score_rows`, which scores many rows a block at a time, serves the models of trees too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite

from driftgames._kernels.arithmetic import size as magnitude
from driftgames._kernels.jit import inner_kernel, kernel, scalar
from driftgames._kernels.lanes import LANES, any_of, first, load
from driftgames.boosting.data.bins import Array, Matrix, first_from
from driftgames.boosting.model.explanation import Explanation, ShapeFunction, draw_shapes, look_up
from driftgames.core.caching import cached_property
from driftgames.core.checks import check_integer
from driftgames.core.display import PREVIEW, Displayed, Fields, Sketch
from driftgames.core.threads import run_in_threads
from driftgames.core.typing import Figure, FloatArray, IntArray
from driftgames.tables import counted


@dataclass(frozen=True)
class AdditiveModel(Displayed):
    r"""The vote of :math:`T` stumps as a sum of one step function per feature.

    .. math:: \sum_{t=1}^{T} \alpha_t h_t(x) = \sum_j g_j(x_j)

    A stump looks at one feature, so stumps on the same feature add up to a step function of
    it: prediction reads one table per feature, however many rounds there were, and the tables
    are the explanation. The vote of [LS14, Alg. 6] has all :math:`\alpha_t = 1`.

    Notes
    -----
    Vote weights that are not all 1 are rounded to multiples of one power of two, some
    :math:`2^{-51}` of their sum. Every sum of votes is then exact in float64, so neither the
    order of adding, nor threads, nor stored zeros change a bit.

    Examples
    --------
    >>> from driftgames.boosting import Stumps
    >>> stumps = Stumps(
    ...     feature=[0, 0, 2],
    ...     threshold=[1.0, 3.0, 0.5],
    ...     left_vote=[-1, -1, 1],
    ...     missing_vote=[1, -1, 1],
    ... )
    >>> model = stumps.add_up(n_features=3)
    >>> model.scores(np.array([[0.0, 9.0, 0.0], [2.0, 9.0, 1.0], [4.0, 9.0, np.nan]]))
    array([-1, -1,  3])
    >>> model.shape_functions[0].values * 3
    array([-2.,  0.,  2.])
    >>> model.explain(np.array([4.0, 9.0, np.nan])).votes
    array([2, 1])
    """

    n_features: int
    features: IntArray
    """The features that any stump looks at, in order."""
    offsets: IntArray
    """Where each of those features begins among ``thresholds``, and one end."""
    thresholds: FloatArray
    values: FloatArray
    """For each feature one value more than it has thresholds; raw votes."""
    missing: FloatArray
    total: float
    """The sum of the vote weights; no score is larger."""
    integer_votes: bool
    """Whether all votes are integers, because all weights are 1."""

    def _headline(self) -> str:
        return f"{self.features.size:,} of {counted(self.n_features, 'feature')} vote"

    def _columns(self) -> Fields:
        shapes = self.shape_functions.values()
        return {
            "feature": [shape.feature for shape in shapes],
            "steps": [shape.thresholds.size for shape in shapes],
            "lowest_vote": [float(shape.values.min()) for shape in shapes],
            "highest_vote": [float(shape.values.max()) for shape in shapes],
        }

    def _sketch(self) -> Sketch:
        columns = self._columns()
        spreads = np.subtract(columns["highest_vote"], columns["lowest_vote"])
        order = np.argsort(-spreads, kind="stable")[:PREVIEW]
        return Sketch(bars={f"x{columns['feature'][k]}": float(spreads[k]) for k in order})

    def scores(
        self, X: Matrix, *, n_threads: int = 1, divisor: float | None = None, finite: bool = False
    ) -> npt.NDArray[Any]:
        """Return the sum of votes on each row: int64 if all weights are 1, else float64.

        With a ``divisor`` the sums are divided by it, and are float64. With ``finite`` an infinity
        in a contiguous array of floats raises ValueError.

        ``X`` is a dense array or a SciPy sparse matrix, which stays sparse. NaN is a missing
        value. The result is the same for any number of threads.
        """
        tables = self.offsets, self.thresholds, self.values, self.missing

        def dense(rows: npt.NDArray[Any], out: FloatArray) -> None:
            buffers = np.empty(BLOCK), np.empty(BLOCK)
            place = np.empty(BLOCK, dtype=np.int64)
            flat = (rows if finite else rows[:0]).reshape(-1)
            if not add_dense(rows, self.features, *tables, *buffers, place, out, flat):
                assert_all_finite(X, allow_nan=True, input_name="X")

        def sparse(data: FloatArray, indices: Array, pointers: IntArray, out: FloatArray) -> None:
            slots, at_zero, base = self._zeros
            add_sparse(data, indices, pointers, slots, *tables, at_zero, base, out)

        shape = (self.n_features,)
        out = score_rows(X, shape, dense, sparse, n_threads=n_threads, divisor=divisor)
        return out if divisor is not None else self._as_votes(out)

    @property
    def shape_functions(self) -> dict[int, ShapeFunction]:
        """The step function of each feature that has a vote, by the feature's index."""
        scale = self.total or 1.0
        return {
            int(j): ShapeFunction(
                int(j), thresholds.copy(), values / scale, float(self.missing[f]) / scale
            )
            for f, (j, thresholds, values) in enumerate(self._tables())
        }

    def explain(self, x: Matrix) -> Explanation:
        """Return the vote of each feature on one example, a vector or a single row."""
        row = check_example(x, self.n_features)
        votes = self._as_votes(self._votes(row[self.features]))
        return Explanation(self.features.copy(), votes, self.total)

    def plot(
        self,
        names: npt.ArrayLike | None = None,
        *,
        n_features: int = 12,
        show_missing: bool = False,
    ) -> Figure:
        """Draw the step functions that move the decision most, largest first."""
        shapes = self.shape_functions.values()
        return draw_shapes(shapes, names, n_features=n_features, show_missing=show_missing)

    def _tables(self) -> list[tuple[int, FloatArray, FloatArray]]:
        ends = zip(self.features, self.offsets[:-1], self.offsets[1:], strict=True)
        return [
            (int(j), self.thresholds[a:b], self.values[a + f : b + f + 1])
            for f, (j, a, b) in enumerate(ends)
        ]

    @cached_property
    def _zeros(self) -> tuple[npt.NDArray[np.int32], FloatArray, float]:
        """The table of each feature, or -1; the vote of each table on zero, and their sum."""
        slots = np.full(self.n_features, -1, dtype=np.int32)
        slots[self.features] = np.arange(self.features.size)
        at_zero = self._votes(np.zeros(self.features.size))
        return slots, at_zero, float(at_zero.sum())

    def _votes(self, row: FloatArray) -> FloatArray:
        """Return the vote of each table on its own entry of ``row``."""
        tables = zip(self._tables(), self.missing, row, strict=True)
        return np.array([look_up(cuts, votes, gone, x) for (_, cuts, votes), gone, x in tables])

    def _as_votes(self, scores: FloatArray) -> npt.NDArray[Any]:
        return scores.astype(np.int64) if self.integer_votes else scores


BLOCK = 512
"""Rows that `add_dense` takes at a time: their columns stay in the nearest cache."""

_FEW = 24  # the most thresholds for which comparing with all of them beats a search


@scalar
def has_infinity(flat: npt.NDArray[Any], begin: int, end: int) -> bool:
    """Return whether these entries hold an infinity; some entries after them may count too."""
    infinite = first(0)
    for i in range(begin, end, LANES):
        infinite = infinite | (magnitude(load(flat, i, 0.0)) == np.inf)
    return bool(any_of(infinite))


@inner_kernel
def find_places(
    thresholds: FloatArray, begin: int, end: int, column: FloatArray, size: int, place: IntArray
) -> None:
    """Write which threshold is the first that is at least a value; for NaN ``end``.

    The search takes the same steps for all values, without a branch on one.
    """
    place[:size] = begin
    left = end - begin
    while left > 0:
        half = (left + 1) // 2
        for i in range(size):
            passed = not column[i] <= thresholds[place[i] + half - 1]
            place[i] += half if passed else 0
        left -= half


@kernel
def add_dense(
    rows: npt.NDArray[Any],
    features: IntArray,
    offsets: IntArray,
    thresholds: FloatArray,
    values: FloatArray,
    missing: FloatArray,
    column: FloatArray,
    vote: FloatArray,
    place: IntArray,
    out: FloatArray,
    flat: npt.NDArray[Any],
) -> bool:
    """Write the sum over features of each row; the three scratch arrays hold a `BLOCK`.

    Return whether ``flat`` holds no infinity; it has all entries of the rows, or none. The search
    costs little here, because it fetches a block into the cache.
    """
    infinite, width = False, rows.shape[1]
    for start in range(0, rows.shape[0], BLOCK):
        size = min(BLOCK, rows.shape[0] - start)
        total = out[start : start + size]
        total[:] = 0.0
        if flat.size > 0:
            infinite |= has_infinity(flat, start * width, (start + size) * width)
        for f in range(features.size):
            begin, end = offsets[f], offsets[f + 1]
            for i in range(size):
                column[i] = rows[start + i, features[f]]
            if end - begin <= _FEW:
                vote[:size] = values[begin + f]
                for k in range(begin, end):
                    step = values[k + f + 1] - values[k + f]
                    for i in range(size):
                        vote[i] += step if column[i] > thresholds[k] else 0.0
            else:
                find_places(thresholds, begin, end, column, size, place)
                for i in range(size):
                    vote[i] = values[f + place[i]]
            for i in range(size):
                total[i] += vote[i] if column[i] == column[i] else missing[f]  # NaN differs
    return not infinite


@kernel
def add_sparse(
    data: FloatArray,
    indices: npt.NDArray[np.int32],
    pointers: IntArray,
    slots: npt.NDArray[np.int32],
    offsets: IntArray,
    thresholds: FloatArray,
    values: FloatArray,
    missing: FloatArray,
    at_zero: FloatArray,
    base: float,
    out: FloatArray,
) -> None:
    """Write ``base``, the sum of a row of zeros, corrected by the entries that a row stores.

    ``slots[j]`` is the number of feature ``j`` among the tables, or -1. ``pointers`` count from
    the first stored entry of these rows.
    """
    for i in range(out.size):
        total = base
        for entry in range(pointers[i], pointers[i + 1]):
            f = slots[indices[entry]]
            if f >= 0:
                x = data[entry]
                if x == x:
                    at = first_from(thresholds, offsets[f], offsets[f + 1], x)
                    total += values[f + at] - at_zero[f]
                else:
                    total += missing[f] - at_zero[f]
        out[i] = total


CHUNK = 4096
"""Rows per task; the same for any number of threads."""


def score_rows(
    X: Matrix,
    shape: tuple[int, ...],
    dense: Callable[[Array, FloatArray], None],
    sparse: Callable[[Array, Array, Array, FloatArray], None],
    *,
    n_threads: int,
    divisor: float | None,
) -> FloatArray:
    """Return the scores of rows; ``shape`` is the number of features and the shape of a score.

    ``dense(rows, out)`` adds the scores of some rows of an array to ``out``, which is zero, and
    ``sparse(data, indices, pointers, out)`` those of a CSR matrix. With a ``divisor`` the scores
    are divided by it.
    """
    n_features, *width = shape
    rows: Matrix = X if issparse(X) else np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(f"X must have shape (n_rows, {n_features}); got {tuple(rows.shape)}")
    if n_threads != 1:
        check_integer("n_threads", n_threads, least=1)
    if issparse(rows):
        rows = rows.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    out = np.zeros((rows.shape[0], *width))

    def score(start: int) -> None:
        part = out[start : start + CHUNK]
        if issparse(rows):
            pointers = rows.indptr[start : start + len(part) + 1].astype(np.int64)
            stored = slice(pointers[0], pointers[-1])
            data = rows.data[stored].astype(np.float64, copy=False)
            indices = rows.indices[stored].astype(np.int32, copy=False)
            sparse(data, indices, pointers - pointers[0], part)
        else:
            some = rows[start : start + len(part)]
            if some.dtype not in (np.float32, np.float64):
                some = some.astype(np.float64)
            some.flags.writeable = False  # of this view: kernels are compiled for such rows
            dense(some, part)
        if divisor is not None:
            part /= divisor

    if 0 < len(out) <= CHUNK:
        score(0)
    else:
        run_in_threads(score, range(0, len(out), CHUNK), n_threads)
    return out


def check_example(x: Matrix, n_features: int) -> FloatArray:
    """Return one example, a vector or a single row, as a vector of floats."""
    row = np.asarray(x.toarray() if issparse(x) else x, dtype=np.float64)
    row = row[0] if row.ndim == 2 and row.shape[0] == 1 else row
    if row.shape != (n_features,):
        raise ValueError(f"x must be one example of {n_features} features; got shape {row.shape}")
    return row
