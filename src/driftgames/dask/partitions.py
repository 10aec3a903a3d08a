"""Partitions: the parts of collections, the checks of each, and what they tell about all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import dask
from driftgames.boosting.base import BaseBooster
from driftgames.boosting.bins import Array
from driftgames.boosting.cut_summary import CutSummary
from driftgames.boosting.sample_weights import WeightScale, WeightTotals
from driftgames.core.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Part:
    """The examples of positive weight of one partition, checked; ``X`` is None if it is empty."""

    X: Any = None
    y: Any = None
    sample_weight: FloatArray | None = None
    names: tuple[str, ...] | None = None

    def weigh(self, scale: WeightScale | None) -> IntArray:
        """Return the weights of the examples as integers."""
        if scale is None or self.sample_weight is None:
            return np.ones(len(self.y), dtype=np.int64)
        return scale.weigh(self.sample_weight).of_each


@dataclass(frozen=True)
class Head:
    """What one place must know of a partition before it is binned."""

    n_rows: int
    labels: Array
    weighty: Array
    n_features: int
    names: tuple[str, ...] | None
    span: tuple[float, float] | None


def split(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Return the delayed parts of collections that lie on the same partitions."""
    of_X = parts_of("X", X)
    others = [("y", y)] + ([] if sample_weight is None else [("sample_weight", sample_weight)])
    columns = [of_X]
    for name, given in others:
        parts = parts_of(name, given)
        mine, wanted = _sizes(given), _sizes(X)
        if len(parts) != len(of_X) or (None not in (mine, wanted) and mine != wanted):
            raise ValueError(
                f"{name} must have the partitions of X; X has {_describe(X, of_X)}, "
                f"{name} has {_describe(given, parts)}"
            )
        columns.append(parts)
    return list(zip(*columns, strict=True))


def is_collection(given: Any) -> bool:
    """Whether this is a Dask collection, or a list of delayed parts."""
    if isinstance(given, (list, tuple)):
        return bool(given) and all(map(_is_lazy, given))
    return _is_lazy(given)


def parts_of(name: str, given: Any) -> list[Any]:
    """Return the delayed parts of a collection."""
    if isinstance(given, (list, tuple)) and is_collection(given):
        return list(given)
    if hasattr(given, "chunks") and hasattr(given, "to_delayed"):
        if np.isnan(given.chunks[0]).any():
            raise ValueError(
                f"{name} must have known chunk sizes; call {name}.compute_chunk_sizes() first"
            )
        if given.ndim == 2 and len(given.chunks[1]) > 1:
            given = given.rechunk({1: -1})
        return list(given.to_delayed().ravel())
    if hasattr(given, "npartitions") and hasattr(given, "to_delayed"):
        return list(given.to_delayed())
    raise ValueError(
        f"{name} must be a dask array, a dask data frame or a list of delayed parts; "
        f"got a {type(given).__name__}"
    )


def _is_lazy(part: Any) -> bool:
    return dask.is_dask_collection(part) or type(part).__name__ == "Future"


def _sizes(given: Any) -> tuple[int, ...] | None:
    """Return the numbers of rows of the partitions, or the borders of a data frame's, if known."""
    if hasattr(given, "chunks"):
        return tuple(given.chunks[0])
    divisions: Any = getattr(given, "divisions", (None,))
    return None if None in divisions else tuple(divisions)


def _describe(given: Any, parts: Sequence[Any]) -> str:
    sizes = _sizes(given)
    return f"{len(parts)}" if sizes is None else f"{len(parts)} {sizes}"


def prepare(k: int, booster: BaseBooster, X: Any, y: Any, sample_weight: Any = None) -> Part:
    """Return the examples of partition ``k`` after the checks of `fit`."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows == 0:
        return Part()
    try:
        X, y = booster._check_input(X, y, reset=True)
        weights = None if sample_weight is None else _check_weights(sample_weight, y.size)
    except ValueError as error:
        raise ValueError(f"partition {k}: {error}") from error
    if sp.issparse(X):
        X = X.copy()
        X.sum_duplicates()
    else:
        X = np.require(X, requirements=["C", "W"])
    names = getattr(booster, "feature_names_in_", None)
    titles = None if names is None else tuple(names.tolist())
    return Part(X, np.array(y), weights, titles)


def _check_weights(given: Any, n_rows: int) -> FloatArray:
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have {n_rows} values; got the shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"sample_weight must be finite and nonnegative; got {wrong:g}")
    return weights


def behead(part: Part) -> Head | None:
    """Return what one place must know of a partition; None of an empty one."""
    if part.X is None:
        return None
    span = None
    heavy = np.ones(part.y.size, dtype=bool)
    if part.sample_weight is not None:
        heavy = part.sample_weight > 0
        if heavy.any():
            span = float(part.sample_weight[heavy].min()), float(part.sample_weight.max())
    return Head(
        int(np.count_nonzero(heavy)),
        np.unique(part.y),
        np.unique(part.y[heavy]),
        part.X.shape[1],
        part.names,
        span,
    )


def weight_totals(part: Part, span: tuple[float, float]) -> WeightTotals | None:
    """Return the sums from which the scale of the sample weights follows."""
    if part.sample_weight is None:
        return None
    return WeightTotals.of(part.sample_weight[part.sample_weight > 0], span)


def heavy_rows(part: Part, scale: WeightScale | None) -> tuple[Any, Array, IntArray]:
    """Return the features, labels and integer weights of the examples that count."""
    weights = part.weigh(scale)
    heavy = weights > 0
    if heavy.all():
        return part.X, part.y, weights
    return part.X[heavy], part.y[heavy], weights[heavy]


def summarise(part: Part, scale: WeightScale | None, max_bins: int) -> CutSummary:
    """Return what cuts are chosen from."""
    summary = CutSummary(max_bins)
    if part.X is not None:
        X, _, weights = heavy_rows(part, scale)
        if weights.size:
            summary.add(X, weights)
    return summary


def merge(summaries: Sequence[CutSummary]) -> CutSummary:
    """Return the summary of the rows of all."""
    merged = CutSummary(summaries[0].max_bins)
    for summary in summaries:
        merged.merge(summary)
    return merged
