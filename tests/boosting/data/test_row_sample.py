"""The sample of rows by content: one sample whatever the layout, the order or the split."""

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.cuts import cut_dense, cut_sparse
from driftgames.boosting.data.row_sample import RowSample


def make_rows(n_rows=900):
    """Return rows with zeros, NaN and copies. Float32 holds their values exactly."""
    rng = np.random.default_rng(0)
    X = rng.integers(-900, 900, size=(n_rows, 5)) / 8.0
    X[rng.random(X.shape) < 0.4] = 0.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[: n_rows // 3] = X[-(n_rows // 3) :]
    return X, rng.integers(1, 4, size=n_rows)


def sampled(X, weights, size=200):
    sample = RowSample(size)
    sample.add(X, weights)
    return content(sample)


def content(sample):
    """Return the mass of each distinct row."""
    rows = sample.rows.toarray() if sp.issparse(sample.rows) else sample.rows
    masses = {}
    for row, weight in zip(rows, sample.weights.tolist(), strict=True):
        key = tuple("nan" if np.isnan(x) else float(x) + 0.0 for x in row)
        masses[key] = masses.get(key, 0) + weight
    return masses


def test_a_sample_holds_a_number_of_rows_with_all_their_copies():
    X, weights = make_rows()
    drawn, everything = sampled(X, weights), sampled(X, weights, size=900)
    assert len(drawn) == 200
    assert drawn.items() <= everything.items()
    assert sum(everything.values()) == weights.sum()


def test_layouts_of_the_same_values_give_one_sample():
    X, weights = make_rows()
    expected = sampled(X, weights)
    with_zeros = sp.csr_matrix(np.where(X == 0, 1000.0, X))
    with_zeros.data[with_zeros.data == 1000.0] = 0.0
    backwards = sp.csr_matrix(X)
    for begin, end in zip(backwards.indptr[:-1], backwards.indptr[1:], strict=True):
        backwards.indices[begin:end] = backwards.indices[begin:end][::-1].copy()
        backwards.data[begin:end] = backwards.data[begin:end][::-1].copy()
    other_nan = X.copy()
    other_nan[np.isnan(X)] = np.array([0xFFF8000000000123], dtype=np.uint64).view(np.float64)
    layouts = {
        "CSR": sp.csr_matrix(X),
        "stored zeros": with_zeros,
        "entries in another order": backwards,
        "float32": X.astype(np.float32),
        "CSR of float32": sp.csr_matrix(X.astype(np.float32)),
        "negative zeros": np.where(X == 0, -0.0, X),
        "another NaN": other_nan,
    }
    for layout, rows in layouts.items():
        assert sampled(rows, weights) == expected, layout
    assert sampled(X[:, ::-1], weights) != expected


def test_the_sample_of_a_whole_is_the_merger_of_its_parts():
    X, weights = make_rows()
    expected = sampled(X, weights)
    batches, other = RowSample(200), RowSample(200)
    for begin in range(0, 600, 50):
        batches.add(X[begin : begin + 50], weights[begin : begin + 50])
    other.add(sp.csr_matrix(X[600:]), weights[600:])
    other.merge(RowSample(200))
    batches.add(X[:0], weights[:0])
    batches.merge(other)
    assert content(batches) == expected


def test_a_sample_that_knows_how_many_rows_come_keeps_few_and_says_if_too_few():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(20_000, 3)), np.ones(20_000, dtype=np.int64)
    copies = X[rng.integers(0, 150, 20_000)]
    for rows, enough in ((X, True), (copies, False), (copies[:50], True)):
        whole, foreseen = RowSample(200), RowSample(200, n_expected=len(rows))
        whole.add(rows, weights[: len(rows)])
        part = RowSample(200, n_expected=len(rows))
        part.add(rows[::2], weights[: len(rows) : 2])
        foreseen.add(rows[1::2], weights[1 : len(rows) : 2])
        if rows is X:
            assert part.rows.shape[0] < 200  # of 10,000
        foreseen.merge(part)
        assert foreseen.enough == enough
        assert (content(foreseen) == content(whole)) == enough


def test_copies_take_no_space():
    X, weights = make_rows(60)
    sample = RowSample(100)
    for _ in range(9):
        sample.add(X, weights)
        assert sample.rows.shape[0] <= 200
    assert content(sample) == {row: 9 * mass for row, mass in sampled(X, weights).items()}


def test_samples_that_do_not_fit_are_refused_and_change_nothing():
    X, weights = make_rows(30)
    sample = RowSample(200)
    sample.add(X, weights)
    before = content(sample)
    with pytest.raises(ValueError, match="samples must have one size; got 200 and 100"):
        sample.merge(RowSample(100))
    with pytest.raises(ValueError, match="rows must have 5 columns; got 4"):
        sample.add(X[:, :4], weights)
    assert content(sample) == before


def test_hashes_are_even_over_alike_rows():
    """Of rows that differ in few bits a fair share falls into the sample from every corner."""
    grid = np.array(np.meshgrid(np.arange(40.0), np.arange(40.0))).reshape(2, -1).T
    sample = RowSample(400)
    sample.add(grid, np.ones(1600, dtype=np.int64))
    np.testing.assert_allclose(sample.rows.mean(axis=0), 19.5, atol=2.0)
    np.testing.assert_allclose(sample.rows.std(axis=0), 11.5, atol=1.0)


@pytest.mark.parametrize("sample", [300, 2000])
def test_dense_and_sparse_input_give_one_model_beyond_the_sample(monkeypatch, sample):
    monkeypatch.setattr("driftgames.boosting.data.cuts.SAMPLE", sample)
    X, weights = make_rows(1200)
    X[:, 3] = np.sign(X[:, 3])
    stored = sp.csr_matrix(X)
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) > 10
    dense, sparse = cut_dense(X, weights, 20), cut_sparse(stored, weights, 20)
    assert dense.n_bins.tolist() == [21, 21, 21, 4, 21]
    np.testing.assert_array_equal(dense.thresholds, sparse.thresholds)
    np.testing.assert_array_equal(dense.starts, sparse.starts)
    for booster in (
        NHBoostDTClassifier(15, max_leaves=2, calibrate=False),
        AdaBoostClassifier(8, max_depth=2, calibrate=False),
    ):
        booster.fit(X, y, sample_weight=weights)
        votes, edges = booster.decision_function(X), booster.history_["edge"].tolist()
        booster.fit(stored, y, sample_weight=weights)
        np.testing.assert_array_equal(booster.decision_function(stored), votes)
        assert booster.history_["edge"].tolist() == edges
