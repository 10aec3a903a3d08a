"""The votes of features on many rows at once, and their means by the value of a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.data.bins import Matrix
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import Member, take_turns
from driftgames.boosting.model.tree_scores import PairModel, TreeModel
from driftgames.core.typing import FloatArray, IntArray

MOST_EXPLAINED = 200
"""How many examples a mean is over: they are spread evenly over the rows."""

_PIECES = 12
_LEAST = 8  # examples in a piece, about
_TREES = 1_000  # that are walked at a time


class Boosters(NamedTuple):
    """The boosters of a mean: the owner of each hypothesis, and the shares of the vote."""

    owner: IntArray
    shares: FloatArray

    @classmethod
    def of(cls, model: FittedModel, members: Sequence[Member]) -> Boosters:
        """Return the members of a mean; a model that is none is one booster."""
        sizes = [each.n_rounds for each in members]
        if sum(sizes) != model.n_rounds or not sizes:
            sizes = [model.n_rounds]
        owner = np.repeat(np.arange(len(sizes)), sizes)[take_turns(sizes)]
        masses = np.bincount(owner, weights=model.vote_weights, minlength=len(sizes))
        return cls(owner, masses / (masses.sum() or 1.0))

    def models(self, model: FittedModel) -> list[FittedModel]:
        """Return each booster as a model of its own."""
        numbers = [np.flatnonzero(self.owner == k) for k in range(self.shares.size)]
        return [
            replace(
                model, hypotheses=model.hypotheses.take(at), vote_weights=model.vote_weights[at]
            )
            for at in numbers
        ]

    def spread(self, values: FloatArray, mean: FloatArray) -> FloatArray | None:
        """Return the standard deviation of ``values``, a row of each booster, around their mean."""
        if self.shares.size < 2:
            return None
        return np.asarray(np.sqrt(self.shares @ (values - mean) ** 2))


class Credits(NamedTuple):
    """The part of each feature in the vote for a class, on each row."""

    votes: FloatArray
    """Of shape (boosters, rows, features); the boosters' votes add up to that of the model."""
    base: float
    """The part that no feature decides."""


def spread_rows(n_rows: int) -> IntArray:
    """Return up to `MOST_EXPLAINED` rows that are spread evenly."""
    return np.unique(
        np.linspace(0, n_rows - 1, min(n_rows, MOST_EXPLAINED)).round().astype(np.int64)
    )


def credit_votes(
    model: FittedModel,
    rows: Matrix,
    classes: Sequence[int],
    features: IntArray,
    boosters: Boosters | None = None,
) -> list[Credits]:
    """Return what `FittedModel.explain` says of these features, for each of these classes.

    ``boosters`` keeps the votes of the boosters of a mean apart. Default: the votes of all.
    """
    owner = np.zeros(model.n_rounds, np.int64) if boosters is None else boosters.owner
    shape = (int(owner.max(initial=0)) + 1, rows.shape[0], features.size)
    if not isinstance(model.scorer, PairModel | TreeModel):
        return [_credit_stumps(model, rows, k, features, shape) for k in classes]
    scorer = model.scorer
    two = isinstance(scorer, TreeModel)
    models = [scorer if isinstance(scorer, TreeModel) else scorer.of_class(k) for k in classes]
    signs = [-1.0 if two and k == 0 else 1.0 for k in classes]
    found = _walk(model, rows, [each.worth for each in models], features, owner, shape)
    return [
        Credits(sign * votes / (each.total or 1.0), sign * each.base / (each.total or 1.0))
        for sign, votes, each in zip(signs, found, models, strict=True)
    ]


def _credit_stumps(
    model: FittedModel, rows: Matrix, label: int, features: IntArray, shape: tuple[int, ...]
) -> Credits:
    """Return the votes of stumps of two classes; one booster has them all."""
    votes = np.zeros(shape)
    for i in range(rows.shape[0]):
        parts = model.explain(rows[i : i + 1], label).by_feature
        votes[0, i] = [parts.get(j, 0.0) for j in features.tolist()]
    return Credits(votes, 0.0)


def _walk(
    model: FittedModel,
    rows: Matrix,
    worths: Sequence[FloatArray],
    features: IntArray,
    owner: IntArray,
    shape: tuple[int, ...],
) -> list[FloatArray]:
    """Send all rows through all trees; credit the change of worth at a question to its feature.

    The two features of a pair share it.
    """
    trees = model.trees
    n_rows, n_kept = shape[1:]
    slots = np.full(model.n_features, n_kept)  # the last slot is for all other features
    slots[features] = np.arange(n_kept)
    asked, column = np.unique(np.maximum(trees.feature, 0), return_inverse=True)
    some: Any = rows[:, asked]
    values = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
    sides = [slots[owner[asked]][column] for owner in model.owners]
    found = [np.zeros(shape[0] * n_rows * (n_kept + 1)) for _ in worths]
    for begin in range(0, len(trees), _TREES):
        roots = trees.starts[begin : min(begin + _TREES, len(trees))]
        root = np.repeat(roots, n_rows)
        row = np.tile(np.arange(n_rows), roots.size)
        place = np.repeat(owner[begin : begin + roots.size], n_rows) * n_rows + row
        node = root
        while node.size:
            goes_on = trees.left[node] > 0
            root, row, place, node = root[goes_on], row[goes_on], place[goes_on], node[goes_on]
            x = values[row, column[node]]
            left = np.where(np.isnan(x), trees.missing_left[node] == 1, x <= trees.threshold[node])
            below = root + trees.left[node] + np.where(left, 0, 1)
            for slot in sides:
                at = place * (n_kept + 1) + slot[node]
                for votes, worth in zip(found, worths, strict=True):
                    votes += np.bincount(at, (worth[below] - worth[node]) / len(sides), votes.size)
            node = below
    return [each.reshape(shape[0], n_rows, n_kept + 1)[:, :, :n_kept] for each in found]


class MeanVotes(NamedTuple):
    """A step function: ``values[k]`` up to ``thresholds[k]``, the last one beyond all of them.

    ``spread`` is the standard deviation of each value among boosters, if there are several.
    """

    thresholds: FloatArray
    values: FloatArray
    spread: FloatArray | None


def mean_by_value(x: FloatArray, votes: FloatArray, boosters: Boosters) -> MeanVotes:
    """Return the mean vote over pieces of the line with about as many examples each.

    ``votes`` has a row of each booster.

    >>> one = Boosters(np.zeros(1, int), np.ones(1))
    >>> mean_by_value(np.arange(16.0), np.repeat([[0.5, -0.5]], 8, axis=1), one)[:2]
    (array([7.]), array([ 0.5, -0.5]))
    """
    n_pieces = max(1, min(_PIECES, x.size // _LEAST))
    shares = np.arange(1, n_pieces) / n_pieces
    cuts = np.unique(np.quantile(x, shares, method="inverted_cdf"))
    cuts = cuts[cuts < x.max()]
    piece = np.searchsorted(cuts, x)  # a value is in the piece that ends with it
    return MeanVotes(cuts, *_means(piece, votes, cuts.size + 1, boosters))


def mean_by_category(
    codes: FloatArray, votes: FloatArray, n_categories: int, boosters: Boosters
) -> MeanVotes:
    """Return the mean vote of each category; 0 for one that no example has.

    >>> one = Boosters(np.zeros(1, int), np.ones(1))
    >>> mean_by_category(np.array([0.0, 2.0, 2.0]), np.array([[1.0, 3.0, 5.0]]), 3, one).values
    array([1., 0., 4.])
    """
    known = (codes >= 0) & (codes < n_categories)
    at = codes[known].astype(np.int64)
    return MeanVotes(np.empty(0), *_means(at, votes[:, known], n_categories, boosters))


def _means(
    group: IntArray, votes: FloatArray, n_groups: int, boosters: Boosters
) -> tuple[FloatArray, FloatArray | None]:
    """Return the mean of the whole vote in each group, and its spread among the boosters."""
    counts = np.maximum(np.bincount(group, minlength=n_groups), 1)
    sums = [np.bincount(group, weights=each, minlength=n_groups) / counts for each in votes]
    mean = np.sum(sums, axis=0)
    shares = np.maximum(boosters.shares, np.finfo(float).tiny)
    return mean, boosters.spread(np.array(sums) / shares[:, None], mean)
