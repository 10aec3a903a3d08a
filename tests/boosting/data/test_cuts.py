from bisect import bisect_left

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.boosting.data.cuts import (
    Cuts,
    CutSummary,
    common_weight,
    count_values,
    cut_dense,
    cut_sparse,
    midpoints,
    quantile_cuts,
)

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


def ones(n):
    return np.ones(n, dtype=np.int64)


def slow_cuts(values, masses, max_bins):
    """The slow way: `quantile_cuts` in plain Python, and its share in exact integers."""
    if values.size <= max_bins:
        return midpoints(values)
    share, n_heavy = int(masses.sum()) / max_bins, 0
    while (light := masses[masses < share]).size < masses.size - n_heavy:
        n_heavy = masses.size - light.size
        share = int(light.sum()) / (max_bins - n_heavy)
    below = np.cumsum(np.minimum(masses, share)).tolist()
    cuts, at, done = [], -1, 0.0
    for left in range(max_bins, 1, -1):
        target = done + (below[-1] - done) / left
        after = bisect_left(below, target)
        before = max(after - 1, 0)
        nearer = target - below[before] < (below[after] - target) * (1 - 1e-9)
        at = max(at + 1, before if nearer else after)
        if at >= len(below) - 1:
            break
        cuts.append(at)
        done = below[at]
    return midpoints(np.stack([values[cuts], values[np.add(cuts, 1)]]))[0]


def slow_dense(X, weights, max_bins):
    """The slow way: the cuts of all columns from their distinct values."""
    parts = []
    for column in X.T:
        values = np.unique(column[~np.isnan(column)]).astype(np.float64)
        masses = [int(weights[column == x].sum()) for x in values]
        parts.append(slow_cuts(values, np.array(masses, dtype=np.int64), max_bins))
    return Cuts.gather(parts, np.isnan(X).any(axis=0))


def same_bits(one, other):
    assert one.thresholds.tobytes() == other.thresholds.tobytes()
    assert one.starts.tolist() == other.starts.tolist()
    assert one.missing.tolist() == other.missing.tolist()


TINY, HUGE = 5e-324, np.finfo(np.float64).max
EXTREMES = [0.0, -0.0, TINY, -TINY, 3 * TINY, 1e-308, HUGE, -HUGE, np.inf, -np.inf, np.nan]
MASSES = st.one_of(
    st.integers(1, 3), st.integers(1, 2**20), st.integers(2**53, 2**54), st.just(2**53 + 1)
)


@given(arrays(np.int64, st.integers(1, 120), elements=MASSES), st.integers(2, 24))
def test_quantile_cuts_are_those_of_the_slow_way(masses, max_bins):
    values = np.sort(np.random.default_rng(masses.size).normal(size=masses.size))
    fast, slow = quantile_cuts(values, masses, max_bins), slow_cuts(values, masses, max_bins)
    assert fast.tobytes() == slow.tobytes()


@pytest.mark.parametrize("max_bins", [2, 3, 64, 255])
@pytest.mark.parametrize("heaviest", [1, 2, 10**6, 2**52])
@pytest.mark.parametrize("size", [256, 3000])
def test_quantiles_of_many_values_are_those_of_the_slow_way(size, heaviest, max_bins):
    rng = np.random.default_rng(size)
    values = np.sort(rng.normal(size=size))
    masses = (heaviest ** rng.random(size)).astype(np.int64)
    fast, slow = quantile_cuts(values, masses, max_bins), slow_cuts(values, masses, max_bins)
    assert fast.tobytes() == slow.tobytes()


@pytest.mark.parametrize("max_bins", [2, 9])
def test_a_threshold_of_zero_has_no_sign(max_bins):
    column = np.array([[-0.0], [0.0], [np.inf], [1.0], [1.0]])
    for rows in (column, column[[1, 0, 2, 3, 4]], column[:3], column[[1, 0, 2]]):
        cuts = cut_dense(rows, np.ones(len(rows), dtype=np.int64), max_bins)
        assert not np.signbit(cuts.thresholds).any()


# halves of infinities of both signs have no sum: then the lower one is the threshold
@pytest.mark.filterwarnings("ignore:invalid value encountered in add:RuntimeWarning")
@given(st.data(), st.sampled_from([np.float64, np.float32]), st.integers(2, 9))
def test_cuts_of_a_table_are_those_of_the_slow_way(data, dtype, max_bins):
    shape = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 3))
    few = st.integers(-3, 3).map(float)
    values = st.one_of(few, st.sampled_from(EXTREMES), st.floats(-8, 8))
    with np.errstate(over="ignore"):
        X = data.draw(arrays(np.float64, shape, elements=values)).astype(dtype)
    heaviest = data.draw(st.sampled_from([1, 3, 2**40]))
    weights = data.draw(arrays(np.int64, shape[0], elements=st.integers(1, heaviest)))
    slow = slow_dense(X, weights, max_bins)
    same_bits(cut_dense(X, weights, max_bins), slow)
    same_bits(cut_dense(np.asfortranarray(X), weights, max_bins), slow)
    summary = CutSummary(max_bins)
    summary.add(X, weights)
    same_bits(summary.cuts(), slow)


def test_masses_of_equal_values_are_added_up_and_missing_values_have_none():
    column, weights = np.array([2.0, np.nan, 0.0, 2.0, -0.0, np.inf]), np.array([5, 9, 1, 2, 3, 4])
    for chosen, masses in ((weights, [4, 7, 4]), (weights[:1], [10, 10, 5])):
        values, sums = count_values(column, chosen)
        assert values.tolist() == [0.0, 2.0, np.inf]
        assert sums.tolist() == masses
    assert common_weight(weights) is weights
    assert count_values(np.array([np.nan, np.nan]), ones(1))[0].size == 0


def test_a_column_of_which_the_sample_knows_nothing_is_not_cut(monkeypatch):
    monkeypatch.setattr("driftgames.boosting.data.cuts.SAMPLE", 5)
    X = np.column_stack([np.full(400, np.nan), np.arange(400.0)])
    X[:4, 0] = np.arange(4.0)
    assert cut_dense(X, ones(400), 2).n_bins.size == 2


@pytest.mark.parametrize("heavy", [0, 300, 599])
def test_one_heavy_value_leaves_the_other_bins_to_the_others(heavy):
    """Wherever it stands, also at the end."""
    masses = ones(600)
    masses[heavy] = 10**6
    cuts = quantile_cuts(np.arange(600.0), masses, 255)
    assert cuts.size == 254
    sizes = np.diff(np.searchsorted(np.arange(600.0), cuts), prepend=0, append=600)
    assert sizes.max() <= 4


@pytest.mark.parametrize(
    ("heavy", "sizes"),
    [
        ([0], [1, 200, 200, 200]),
        ([200], [200, 1, 200, 200]),
        ([600], [200, 200, 200, 1]),
        ([0, 601], [1, 300, 300, 1]),
    ],
)
@pytest.mark.parametrize("mass", [10**3, 10**9])
def test_heavy_values_count_as_exactly_one_share(heavy, sizes, mass):
    """Six hundred light values fill the other bins evenly, to the value."""
    masses = ones(600 + len(heavy))
    masses[heavy] = mass
    cuts = quantile_cuts(np.arange(masses.size), masses, 4)
    ends = np.searchsorted(np.arange(masses.size), cuts)
    assert np.diff(ends, prepend=0, append=masses.size).tolist() == sizes


def test_of_two_cuts_equally_far_the_second_is_taken():
    assert quantile_cuts(np.arange(5.0), ones(5), 2).tolist() == [2.5]
    assert quantile_cuts(np.arange(5.0), 3 * ones(5), 2).tolist() == [2.5]
    assert quantile_cuts(np.arange(5.0), np.array([1, 2, 1, 1, 1]), 2).tolist() == [1.5]


@given(arrays(np.int64, st.integers(1, 80), elements=st.integers(1, 40)), st.integers(2, 20))
def test_quantile_cuts_are_few_ascending_and_part_every_bin(masses, max_bins):
    values = np.arange(masses.size) / 4
    cuts = quantile_cuts(values, masses, max_bins)
    assert cuts.size < max_bins
    assert (np.diff(cuts) > 0).all()
    used = np.unique(np.searchsorted(cuts, values))
    np.testing.assert_array_equal(used, np.arange(cuts.size + 1))
    if values.size <= max_bins:
        assert cuts.size == values.size - 1
    np.testing.assert_array_equal(cuts, quantile_cuts(values, 7 * masses, max_bins))


def test_bins_of_distinct_values_hold_like_shares():
    values = np.random.default_rng(0).normal(size=10_000)
    cuts = quantile_cuts(np.sort(values), ones(10_000), 50)
    shares = np.bincount(np.searchsorted(cuts, values))
    assert cuts.size == 49
    assert shares.min() >= 199
    assert shares.max() <= 201


def test_a_frequent_value_leaves_the_other_bins_to_the_rest():
    rest = np.random.default_rng(0).random(1000) + 1
    cuts = quantile_cuts(np.append(0.0, np.sort(rest)), np.append(9000, ones(1000)), 11)
    shares = np.bincount(np.searchsorted(cuts, rest))
    assert cuts.size == 10
    assert shares[0] == 0  # the zeros have a bin of their own
    np.testing.assert_allclose(shares[1:], 100, atol=1)


@pytest.mark.parametrize("heaviest", [1, 2, 9])
def test_dense_and_sparse_cuts_agree(heaviest):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((400, 6)) < 0.6, 0.0, rng.normal(size=(400, 6)))
    X[:, 1] = X[:, 1] > 0
    X[:, 2] = 0.0
    X[:, 3] = np.round(X[:, 3]) - 5
    X[:, 5] = rng.normal(size=400)  # no zero is left out
    X[rng.random(X.shape) < 0.1] = np.nan
    mass = rng.integers(1, heaviest + 1, size=400)
    dense, sparse = cut_dense(X, mass, 30), cut_sparse(sp.csr_matrix(X), mass, 30)
    np.testing.assert_array_equal(dense.thresholds, sparse.thresholds)
    np.testing.assert_array_equal(dense.starts, sparse.starts)
    np.testing.assert_array_equal(dense.missing, sparse.missing)
    assert dense.n_bins[[1, 2, 5]].tolist() == [3, 2, 31]
    assert dense.n_bins.max() == 31


def test_large_tables_are_cut_by_a_sample_that_knows_no_order(monkeypatch):
    X = np.random.default_rng(2).normal(size=(3000, 3)).astype(np.float32)
    X[::7, 1] = np.nan
    mass = ones(3000)
    exact = cut_dense(X, mass, 16)
    monkeypatch.setattr("driftgames.boosting.data.cuts.SAMPLE", 1000)
    one = cut_dense(X, mass, 16)
    other = cut_dense(np.asfortranarray(X[::-1]), mass, 16)
    np.testing.assert_array_equal(one.thresholds, other.thresholds)
    assert not np.array_equal(one.thresholds, exact.thresholds)
    np.testing.assert_allclose(one.thresholds, exact.thresholds, atol=0.2)
    assert one.missing.tolist() == [False, True, False]


@pytest.mark.parametrize("sample", [300, 1200, 2000])
def test_a_sample_takes_a_row_with_all_its_copies(monkeypatch, sample):
    rng = np.random.default_rng(3)
    X, copies = rng.normal(size=(1000, 2)), rng.integers(1, 4, size=1000)
    monkeypatch.setattr("driftgames.boosting.data.cuts.SAMPLE", sample)
    weighted = cut_dense(X, copies, 16)
    repeated = cut_dense(np.repeat(X, copies, axis=0), ones(copies.sum()), 16)
    np.testing.assert_array_equal(weighted.thresholds, repeated.thresholds)
