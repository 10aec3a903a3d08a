"""Partitions: how collections are split, the checks of each part, and what is computed on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

import dask
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.checks import ExampleChecks
from driftgames.boosting.data.cuts import Cuts, CutSummary
from driftgames.boosting.data.frames import Categories, FoundCategories, recode
from driftgames.boosting.data.row_sample import hash_rows, stack_rows
from driftgames.boosting.data.sample_weights import WeightScale, WeightTotals, exact_sum
from driftgames.boosting.engine.shape import STUMP, TreeShape
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.model.categories import CategoryCounts, CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.checks import as_floats
from driftgames.core.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Partition:
    """The examples of positive weight of one partition, checked; ``X`` is None if it is empty.

    Categories are codes among those that the partition holds, ``seen``. ``labels`` are those of
    all its examples.
    """

    X: Any = None
    y: Any = None
    sample_weight: FloatArray | None = None
    names: tuple[str, ...] | None = None
    seen: FoundCategories | None = None
    labels: Any = None

    def take(self, taken: BoolArray) -> Partition:
        """Return some of the examples."""
        weights = None if self.sample_weight is None else self.sample_weight[taken]
        y = self.y[taken]
        return replace(self, X=self.X[taken], y=y, sample_weight=weights, labels=np.unique(y))


@dataclass(frozen=True)
class PartSummary:
    """What the client must know of a partition.

    ``spans`` are the least and the largest weight of each label, and ``masses`` their sums.
    """

    n_rows: int
    n_features: int
    names: tuple[str, ...] | None
    seen: FoundCategories | None
    labels: Array
    spans: dict[Any, tuple[float, float]]
    masses: dict[Any, Fraction | int]


@dataclass(frozen=True)
class PartitionSetup:
    """What makes a training set of a partition; the survey fills it in, field by field."""

    classes: Array
    factors: FloatArray | None = None
    scale: WeightScale | None = None
    categories: tuple[Categories | None, ...] | None = None
    encoder: CategoryEncoder | None = None
    cuts: Cuts | None = None
    shape: TreeShape = STUMP

    @property
    def integer_weights(self) -> bool:
        """Whether the sample weights are exact."""
        return self.scale is None or self.scale.unit is not None

    def class_numbers(self, part: Partition) -> IntArray:
        """Return the number of the class of each example."""
        return np.asarray(np.searchsorted(self.classes, part.y))

    def weights(self, part: Partition) -> FloatArray:
        """Return the weights of the examples times those of their classes."""
        weights = np.ones(len(part.y)) if part.sample_weight is None else part.sample_weight
        return weights if self.factors is None else weights * self.factors[self.class_numbers(part)]

    def masses(self, part: Partition) -> IntArray:
        """Return the weights of the examples as integers."""
        if self.scale is None:
            return np.ones(len(part.y), dtype=np.int64)
        return self.scale.weigh(self.weights(part)).of_each

    def codes(self, part: Partition) -> Any:
        """Return the features, categories as codes among those of all partitions."""
        if self.categories is None or part.seen is None:
            return part.X
        return recode(part.X, part.seen.categories, self.categories)

    def columns(self, part: Partition) -> Any:
        """Return the columns that stumps and trees ask about."""
        if self.encoder is None or part.seen is None:
            return part.X
        return self.encoder.expand(self.encoder.recode(part.X, part.seen.categories))


def split(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Return the delayed parts of collections that lie on the same partitions."""
    of_X = parts_of("X", X)
    others = [("y", y)] + ([] if sample_weight is None else [("sample_weight", sample_weight)])
    columns = [of_X]
    for name, collection in others:
        parts = parts_of(name, collection)
        sizes, wanted = _sizes(collection), _sizes(X)
        if len(parts) != len(of_X) or (None not in (sizes, wanted) and sizes != wanted):
            raise ValueError(
                f"{name} must have the partitions of X; X has {_describe(X, of_X)}, "
                f"{name} has {_describe(collection, parts)}"
            )
        columns.append(parts)
    return list(zip(*columns, strict=True))


def is_collection(collection: Any) -> bool:
    """Whether this is a Dask collection, or a list of delayed parts."""
    if isinstance(collection, (list, tuple)):
        return bool(collection) and all(map(_is_lazy, collection))
    return _is_lazy(collection)


def parts_of(name: str, collection: Any) -> list[Any]:
    """Return the delayed parts of a collection."""
    if isinstance(collection, (list, tuple)) and is_collection(collection):
        return list(collection)
    if hasattr(collection, "chunks") and hasattr(collection, "to_delayed"):
        if np.isnan(collection.chunks[0]).any():
            raise ValueError(
                f"{name} must have known chunk sizes; call {name}.compute_chunk_sizes() first"
            )
        if collection.ndim == 2 and len(collection.chunks[1]) > 1:
            collection = collection.rechunk({1: -1})
        return list(collection.to_delayed().ravel())
    if hasattr(collection, "npartitions") and hasattr(collection, "to_delayed"):
        return list(collection.to_delayed())
    raise ValueError(
        f"{name} must be a dask array, a dask data frame or a list of delayed parts; "
        f"got a {type(collection).__name__}"
    )


def _is_lazy(part: Any) -> bool:
    return dask.is_dask_collection(part) or type(part).__name__ == "Future"


def _sizes(collection: Any) -> tuple[int, ...] | None:
    """Return the numbers of rows of the partitions, or the borders of a data frame's, if known."""
    if hasattr(collection, "chunks"):
        return tuple(collection.chunks[0])
    divisions: Any = getattr(collection, "divisions", (None,))
    return None if None in divisions else tuple(divisions)


def _describe(collection: Any, parts: Sequence[Any]) -> str:
    sizes = _sizes(collection)
    return f"{len(parts)}" if sizes is None else f"{len(parts)} {sizes}"


def stack(parts: Sequence[Any]) -> Any:
    """Return the rows of all parts: arrays, sparse matrices or data frames."""
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return np.ma.concatenate(parts)  # type: ignore[no-untyped-call]  # NumPy gives no types
    if sp.issparse(parts[0]) or isinstance(parts[0], np.ndarray):
        return stack_rows(parts)
    first = nw.from_native(parts[0], allow_series=True)
    if isinstance(first, nw.Series):
        return np.concatenate([np.asarray(part) for part in parts])
    return nw.to_native(nw.concat([nw.from_native(part) for part in parts]))


def prepare(k: int, checks: ExampleChecks, X: Any, y: Any, sample_weight: Any = None) -> Partition:
    """Return the examples of partition ``k`` after the checks of `fit`."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows == 0:
        return Partition()
    try:
        rows, y, categories = checks.check_examples(X, y)
        weights = None if sample_weight is None else _check_weights(sample_weight, y.size)
        seen = None if categories is None else FoundCategories.of(X, categories)
    except ValueError as error:
        raise ValueError(f"partition {k}: {error}") from error
    if sp.issparse(rows):
        rows = rows.copy()
        rows.sum_duplicates()
    else:
        rows = np.require(rows, requirements=["C", "W"])
    names = None if checks.names is None else tuple(checks.names.tolist())
    part = Partition(rows, np.array(y), weights, names, seen, np.unique(y))
    if weights is None or (weights > 0).all():
        return part
    return replace(part.take(weights > 0), labels=part.labels)


def _check_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    weights = as_floats("sample_weight", sample_weight)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have {n_rows} values; got the shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"sample_weight must be finite and nonnegative; got {wrong:g}")
    return weights


def summarise_partition(part: Partition) -> PartSummary | None:
    """Return what the client must know of a partition; None of an empty one."""
    if part.X is None:
        return None
    labels, numbers, sizes = np.unique(part.y, return_inverse=True, return_counts=True)
    names = labels.tolist()
    spans, masses = dict.fromkeys(names, (1.0, 1.0)), dict(zip(names, sizes.tolist(), strict=True))
    if part.sample_weight is not None and names:
        ordered = part.sample_weight[np.argsort(numbers, kind="stable")]
        for label, weights in zip(names, np.split(ordered, np.cumsum(sizes)[:-1]), strict=True):
            spans[label] = float(weights.min()), float(weights.max())
            masses[label] = exact_sum(weights)
    n_rows, n_features = part.X.shape
    return PartSummary(n_rows, n_features, part.names, part.seen, part.labels, spans, masses)


def weight_totals(
    part: Partition, setup: PartitionSetup, span: tuple[float, float]
) -> WeightTotals:
    """Return the sums from which the scale of the sample weights follows."""
    return WeightTotals.of(setup.weights(part), span)


def count_categories(part: Partition, setup: PartitionSetup) -> CategoryCounts:
    """Return how much mass each category has in each class."""
    assert setup.categories is not None
    counted = setup.codes(part), setup.categories, setup.class_numbers(part), setup.masses(part)
    return CategoryCounts.of(*counted, setup.classes.size)


def find_keys(part: Partition, setup: PartitionSetup) -> tuple[RowKeys, IntArray]:
    """Return what folds are made of, and the weights as integers."""
    keys = RowKeys(hash_rows(setup.codes(part)), setup.class_numbers(part), part.sample_weight)
    return keys, setup.masses(part)


def vote(part: Partition, taken: BoolArray, model: FittedModel) -> FloatArray:
    """Return the votes of a model on the examples ``taken``."""
    categories = None if part.seen is None else part.seen.categories
    return model.votes(model.expand(part.X[taken], categories))


def summarise_values(
    part: Partition, setup: PartitionSetup, max_bins: int, n_expected: int | None
) -> CutSummary:
    """Return what cuts are chosen from; all partitions have ``n_expected`` rows."""
    summary = CutSummary(max_bins, n_expected)
    summary.add(setup.columns(part), setup.masses(part))
    return summary


def merge_summaries(summaries: Sequence[CutSummary]) -> CutSummary:
    """Return the summary of the rows of all."""
    merged = CutSummary(summaries[0].max_bins)
    for summary in summaries:
        merged.merge(summary)
    return merged


def choose_cuts(summary: CutSummary) -> Cuts | None:
    """Return the cuts; None if the summary kept too few rows."""
    return summary.cuts() if summary.enough else None
