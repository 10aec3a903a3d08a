"""The training data in bins: matrices in any form, and weights as copies."""

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.binned_data import bin_examples


def stored_in_parts(X, rng):
    """A CSR matrix that stores each value as a sum of two entries, in any order."""
    n, d = X.shape
    part = rng.integers(-3, 4, size=X.shape)
    indices = np.stack([rng.permutation(2 * d) % d for _ in range(n)])
    first = np.zeros(X.shape, dtype=bool)
    data = np.empty(indices.shape)
    for i, e in np.ndindex(indices.shape):
        j = indices[i, e]
        data[i, e] = X[i, j] - part[i, j] if first[i, j] else part[i, j]
        first[i, j] = True
    return sp.csr_matrix((data.ravel(), indices.ravel(), np.arange(n + 1) * 2 * d), shape=X.shape)


@pytest.mark.parametrize("cls", [NHBoostDTClassifier, AdaBoostClassifier])
def test_entries_stored_twice_are_summed_and_the_matrix_left_alone(cls):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(80, 4)).astype(float)
    y = X[:, 0] + X[:, 1] > 3 + rng.random(80)
    parts = stored_in_parts(X, rng)
    before = parts.data.copy()
    booster = cls(20).fit(parts, y)
    assert booster.stumps_ == cls(20).fit(X, y).stumps_
    wrong = (booster.decision_function(parts) > 0) != y
    assert booster.history_["training_error"][-1] == pytest.approx(wrong.mean())
    np.testing.assert_array_equal(parts.data, before)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_weight_of_two_is_cut_as_two_rows(form):
    """More values than bins, so that the cuts are quantiles."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((400, 3)) < 0.5, 0.0, rng.normal(size=(400, 3)))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.random(400) < 0.5
    copies = rng.integers(1, 5, size=400)
    weighted = bin_examples(form(X), y, copies, 30)
    ones = np.ones(copies.sum(), dtype=np.int64)
    repeated = bin_examples(form(np.repeat(X, copies, axis=0)), np.repeat(y, copies), ones, 30)
    np.testing.assert_array_equal(weighted.cuts.thresholds, repeated.cuts.thresholds)
    np.testing.assert_array_equal(weighted.cuts.starts, repeated.cuts.starts)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)
    plain = bin_examples(form(X), y, np.ones(400, dtype=np.int64), 30)
    assert not np.array_equal(plain.cuts.thresholds, weighted.cuts.thresholds)
