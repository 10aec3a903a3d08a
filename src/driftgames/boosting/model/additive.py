"""Voting stumps as an additive model: one step function per feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite

from driftgames.boosting.model import additive_kernels as kernels
from driftgames.boosting.model.row_scores import check_example, score_rows
from driftgames.core.display import PREVIEW, Displayed, Fields, Sketch
from driftgames.core.text import shown
from driftgames.core.typing import Figure, FloatArray, IntArray
from driftgames.tables import counted

T = TypeVar("T")


class ByFeature(dict[int, T]):
    """One value for each feature that votes, by its position; after a fit on a frame by name too.

    Examples
    --------
    >>> votes = ByFeature({1: 0.25}, ["age", "income"])
    >>> votes[1] == votes["income"], "age" in votes, votes.get("age")
    (True, False, None)
    >>> votes.named()
    {'income': 0.25}
    """

    def __init__(self, values: Mapping[int, T], names: Sequence[str] | None) -> None:
        super().__init__(values)
        self._names = None if names is None else [str(name) for name in names]

    def __missing__(self, key: Any) -> T:
        if isinstance(key, str) and key in (self._names or ()):
            return self[(self._names or []).index(key)]
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a feature, or ``default`` if the feature does not vote."""
        try:
            return self[key]
        except KeyError:
            return default

    def named(self) -> dict[str, T]:
        """Return the values by the names of their features; without names they are x0, x1, ..."""
        return {f"x{j}" if self._names is None else self._names[j]: v for j, v in self.items()}


def headline_of_shape(feature: int, name: str | None, values: FloatArray) -> str:
    """Return what a shape is, on one line."""
    title = f"x{feature}" if name is None else name
    return f"{title} votes from {values.min():+.4f} to {values.max():+.4f}"


@dataclass(frozen=True)
class ShapeFunction(Displayed):
    """The vote of one feature, as a step function of its value.

    ``values[k]`` is the vote for ``thresholds[k - 1] < x <= thresholds[k]``, and ``missing`` the
    vote if the value is missing. Votes are normalised: their sum over all features lies in
    [-1, 1].
    """

    feature: int
    thresholds: FloatArray
    values: FloatArray
    missing: float
    name: str | None = None

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Return the vote at each ``x``; NaN is a missing value."""
        return np.asarray(_look_up(self.thresholds, self.values, self.missing, x))

    def __neg__(self) -> ShapeFunction:
        return replace(self, values=-self.values, missing=-self.missing)

    def _headline(self) -> str:
        return headline_of_shape(self.feature, self.name, self.values)

    def _columns(self) -> Fields:
        ends = [-np.inf, *self.thresholds.tolist(), np.inf]
        last = (np.nan, np.nan, self.missing)
        rows = [*zip(ends, ends[1:], self.values.tolist(), strict=False), last]
        return dict(zip(("above", "up_to", "vote"), zip(*rows, strict=True), strict=True))

    def _sketch(self) -> Sketch | None:
        kept = np.flatnonzero(np.isfinite(self.thresholds))
        if kept.size < 2:
            return Sketch(bars={"lowest": float(self.values.min()), "highest": self.values.max()})
        votes = np.repeat(self.values[: kept.size + 1], 2)[1:-1]  # a step at each threshold
        return Sketch(np.repeat(self.thresholds[kept], 2), {"vote": votes}, label="value")


@dataclass(frozen=True)
class Explanation(Displayed):
    """The vote of each feature on one example.

    The votes and ``base`` add up to the score exactly, in any order. ``total`` is the sum of all
    vote weights, and the score over it is the decision, bit for bit. ``base`` is the part of the
    score that no feature decides; it is 0 for stumps.
    """

    features: IntArray
    votes: npt.NDArray[Any]
    total: float
    base: float = 0.0
    names: Sequence[str] | None = None
    """The names of all features of the model, after a fit on a data frame."""
    label: Any = None
    """The class that the votes are for; None where the model that votes has no names of classes."""

    @property
    def decision(self) -> float:
        """The normalised vote in [-1, 1], as the decision function gives it."""
        return (float(self.votes.sum()) + self.base) / (self.total or 1.0)

    @property
    def contributions(self) -> FloatArray:
        """The votes over ``total``: each feature's part of the decision."""
        return self.votes / (self.total or 1.0)

    @property
    def by_feature(self) -> ByFeature[float]:
        """The contributions, by the position of the feature or by its name."""
        parts = zip(self.features.tolist(), self.contributions.tolist(), strict=True)
        return ByFeature(dict(parts), self.names)

    def strongest(self, n_features: int = 10) -> list[tuple[Any, float]]:
        """Return the features that moved this decision most, with their contributions.

        They are names after a fit on a data frame, else positions.
        """
        order = np.argsort(-np.abs(self.votes), kind="stable")[:n_features]
        found = [int(self.features[f]) for f in order]
        labels: list[Any] = found if self.names is None else [str(self.names[j]) for j in found]
        return list(zip(labels, self.contributions[order].tolist(), strict=True))

    def _headline(self) -> str:
        whose = "" if self.label is None else f" for {shown(self.label)}"
        return f"vote {self.decision:+.4f}{whose}, by {counted(self.features.size, 'feature')}"

    def _facts(self) -> Fields:
        return {"vote": self.decision, "base": self.base / (self.total or 1.0)}

    def _columns(self) -> Fields:
        parts = self.strongest(self.features.size)
        return {"feature": [name for name, _ in parts], "vote": [vote for _, vote in parts]}

    def _preview(self) -> Fields:
        return {name: values[:PREVIEW] for name, values in self._columns().items()}

    def _sketch(self) -> Sketch:
        return Sketch(bars={str(name): vote for name, vote in self.strongest()})


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
        found = self._columns()
        spreads = np.subtract(found["highest_vote"], found["lowest_vote"])
        order = np.argsort(-spreads, kind="stable")[:PREVIEW]
        return Sketch(bars={f"x{found['feature'][k]}": float(spreads[k]) for k in order})

    def scores(
        self, X: Any, *, n_threads: int = 1, divisor: float | None = None, finite: bool = False
    ) -> npt.NDArray[Any]:
        """Return the sum of votes on each row: int64 if all weights are 1, else float64.

        With a ``divisor`` the sums are divided by it, and are float64. With ``finite`` an infinity
        in a contiguous array of floats raises ValueError.

        ``X`` is a dense array or a SciPy sparse matrix, which stays sparse. NaN is a missing
        value. The result is the same for any number of threads.
        """
        tables = self.offsets, self.thresholds, self.values, self.missing

        def dense(rows: npt.NDArray[Any], out: FloatArray) -> None:
            buffers = np.empty(kernels.BLOCK), np.empty(kernels.BLOCK)
            place = np.empty(kernels.BLOCK, dtype=np.int64)
            flat = (rows if finite else rows[:0]).reshape(-1)
            if not kernels.add_dense(rows, self.features, *tables, *buffers, place, out, flat):
                assert_all_finite(X, allow_nan=True, input_name="X")

        def sparse(data: FloatArray, indices: Any, pointers: IntArray, out: FloatArray) -> None:
            slots, at_zero, base = self._zeros
            kernels.add_sparse(data, indices, pointers, slots, *tables, at_zero, base, out)

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

    def explain(self, x: Any) -> Explanation:
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
        return np.array([_look_up(cuts, votes, gone, x) for (_, cuts, votes), gone, x in tables])

    def _as_votes(self, scores: FloatArray) -> npt.NDArray[Any]:
        return scores.astype(np.int64) if self.integer_votes else scores


def draw_shapes(
    shapes: Iterable[Any],
    names: npt.ArrayLike | None,
    *,
    n_features: int,
    show_missing: bool,
    values_of: Callable[[int], FloatArray] | None = None,
    label: str = "vote",
) -> Figure:
    """Draw functions of features, as `AdditiveModel.plot` does.

    The ``shapes`` are like `ShapeFunction`; they may have ``categories``. ``values_of`` gives the
    data of a feature, whose range and density are drawn.
    """
    from driftgames.plots.shapes import plot_shapes

    shapes = list(shapes)
    labels = None if names is None else np.asarray(names)
    return plot_shapes(
        [shape.thresholds for shape in shapes],
        [shape.values for shape in shapes],
        [f"x{s.feature}" if labels is None else str(labels[s.feature]) for s in shapes],
        missing=[shape.missing for shape in shapes] if show_missing else None,
        categories=[getattr(shape, "categories", None) for shape in shapes],
        sample_of=None if values_of is None else lambda at: values_of(shapes[at].feature),
        n_shapes=n_features,
        label=label,
    )


def _look_up(
    thresholds: FloatArray, values: FloatArray, missing: float, x: npt.ArrayLike
) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    absent = np.isnan(at)
    found = values[np.searchsorted(thresholds, np.where(absent, 0.0, at), side="left")]
    return np.where(absent, missing, found)
