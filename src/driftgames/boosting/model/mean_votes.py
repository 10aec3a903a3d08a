"""What a feature of trees does on average: the mean of the votes credited to it, by its value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.typing import FloatArray, IntArray

MOST_EXPLAINED = 200
"""How many examples are explained for it: they are spread evenly over the rows."""

_PIECES = 12
_LEAST = 8  # examples in a piece, about


class CreditedVotes(NamedTuple):
    """Examples, and the vote that each feature has on each of them."""

    examples: IntArray
    votes: FloatArray


class MeanVotes(NamedTuple):
    """A step function: ``values[k]`` up to ``thresholds[k]``, the last one beyond all of them."""

    thresholds: FloatArray
    values: FloatArray


def credit_votes(model: FittedModel, rows: Any, label: int, n_features: int) -> CreditedVotes:
    """Return the votes for a class on up to `MOST_EXPLAINED` of the encoded rows."""
    n_rows = rows.shape[0]
    spread = np.linspace(0, n_rows - 1, min(n_rows, MOST_EXPLAINED)).round().astype(np.int64)
    examples = np.unique(spread) if n_rows else spread[:0]
    votes = np.zeros((examples.size, n_features))
    for at, i in enumerate(examples.tolist()):
        explanation = model.explain(rows[i : i + 1], label)
        votes[at, explanation.features] = explanation.contributions
    return CreditedVotes(examples, votes)


def mean_by_value(x: FloatArray, votes: FloatArray) -> MeanVotes:
    """Return the mean vote over pieces of the line with about as many examples each.

    >>> mean_by_value(np.arange(16.0), np.repeat([0.5, -0.5], 8))
    MeanVotes(thresholds=array([7.]), values=array([ 0.5, -0.5]))
    """
    n_pieces = max(1, min(_PIECES, x.size // _LEAST))
    shares = np.arange(1, n_pieces) / n_pieces
    cuts = np.unique(np.quantile(x, shares, method="inverted_cdf"))
    cuts = cuts[cuts < x.max()]
    piece = np.searchsorted(cuts, x)  # a value is in the piece that ends with it
    return MeanVotes(cuts, np.bincount(piece, weights=votes) / np.bincount(piece))


def mean_by_category(codes: FloatArray, votes: FloatArray, n_categories: int) -> FloatArray:
    """Return the mean vote of each category; 0 for one that no example has.

    >>> mean_by_category(np.array([0.0, 2.0, 2.0]), np.array([1.0, 3.0, 5.0]), 3)
    array([1., 0., 4.])
    """
    known = (codes >= 0) & (codes < n_categories)
    at = codes[known].astype(np.int64)
    counts = np.bincount(at, minlength=n_categories)
    return np.bincount(at, weights=votes[known], minlength=n_categories) / np.maximum(counts, 1)
