import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.boosting import binning
from driftgames.boosting.binning import cut_dense, cut_sparse, midpoints, quantile_cuts

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(arrays(np.float64, st.integers(1, 40), elements=FLOATS))
def test_midpoints_part_neighbours_however_close_or_far(values):
    values = np.unique(values)
    cuts = midpoints(values)
    assert (values[:-1] <= cuts).all()
    assert (cuts < values[1:]).all()


def test_neighbouring_floats_are_parted():
    values = 1 + np.arange(4) * np.finfo(float).eps
    assert midpoints(values).tolist() == values[:-1].tolist()


@given(arrays(np.float64, st.integers(1, 300), elements=st.integers(0, 40)), st.integers(2, 20))
def test_quantile_cuts_are_few_ascending_and_part_every_bin(values, max_bins):
    cuts = quantile_cuts(np.sort(values), max_bins)
    assert cuts.size < max_bins
    assert (np.diff(cuts) > 0).all()
    used = np.unique(np.searchsorted(cuts, values))
    np.testing.assert_array_equal(used, np.arange(cuts.size + 1))
    if np.unique(values).size <= max_bins:
        assert cuts.size == np.unique(values).size - 1


def test_bins_of_distinct_values_hold_like_shares():
    values = np.random.default_rng(0).normal(size=10_000)
    cuts = quantile_cuts(np.sort(values), 50)
    shares = np.bincount(np.searchsorted(cuts, values))
    assert cuts.size == 49
    assert shares.min() >= 199
    assert shares.max() <= 201


def test_a_frequent_value_leaves_the_other_bins_to_the_rest():
    rest = np.random.default_rng(0).random(1000) + 1
    cuts = quantile_cuts(np.sort(np.append(np.zeros(9000), rest)), 11)
    shares = np.bincount(np.searchsorted(cuts, rest))
    assert cuts.size == 10
    assert shares[0] == 0  # the zeros have a bin of their own
    np.testing.assert_allclose(shares[1:], 100, atol=1)


def test_dense_and_sparse_cuts_agree():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((400, 5)) < 0.6, 0.0, rng.normal(size=(400, 5)))
    X[:, 1] = X[:, 1] > 0
    X[:, 2] = 0.0
    X[:, 3] = np.round(X[:, 3]) - 5
    X[rng.random(X.shape) < 0.1] = np.nan
    dense, sparse = cut_dense(X, 30), cut_sparse(sp.csr_matrix(X), 30)
    np.testing.assert_array_equal(dense.thresholds, sparse.thresholds)
    np.testing.assert_array_equal(dense.starts, sparse.starts)
    np.testing.assert_array_equal(dense.missing, sparse.missing)
    assert dense.n_bins.tolist() == [31, 3, 2, dense.of(3).size + 2, 31]


def test_large_tables_are_cut_by_a_sample_that_knows_no_order(monkeypatch):
    X = np.random.default_rng(2).normal(size=(3000, 3)).astype(np.float32)
    X[::7, 1] = np.nan
    exact = cut_dense(X, 16)
    monkeypatch.setattr(binning, "SAMPLE", 1000)
    one = cut_dense(X, 16)
    other = cut_dense(np.asfortranarray(X[::-1]), 16)
    np.testing.assert_array_equal(one.thresholds, other.thresholds)
    assert not np.array_equal(one.thresholds, exact.thresholds)
    np.testing.assert_allclose(one.thresholds, exact.thresholds, atol=0.2)
    assert one.missing.tolist() == [False, True, False]


def test_cuts_know_their_thresholds_and_no_others():
    cuts = cut_dense(np.array([[0.0], [1.0], [3.0], [np.nan]]), 255)
    assert [cuts.index(0, 0.5), cuts.index(0, 2.0), cuts.index(0, np.inf)] == [0, 1, 2]
    with pytest.raises(ValueError, match=r"threshold 0\.7 of feature 0 does not separate"):
        cuts.index(0, 0.7)
