"""Columns of pairs of columns, beside a slow reference."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from driftgames.boosting.data.pairs import OPERATIONS, ColumnPairs

VALUES = st.floats(allow_infinity=False, width=64)


def slow_pair(a, b, operation):
    """One number of a pair, by the words of the docstring."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    value = {"-": a - b, "*": a * b, "+": a + b}[operation]
    largest = float(np.finfo(float).max)
    return min(max(value, -largest), largest)


@given(st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=1, max_size=6))
def test_pairs_stand_behind_the_columns_they_are_made_of(rows):
    X = np.array(rows)
    pairs = ColumnPairs.of_couples([0, 0, 1], [1, 2, 2])
    wide = pairs.append(X, X)
    np.testing.assert_array_equal(wide[:, :3], X)
    for row, made in zip(rows, wide[:, 3:].tolist(), strict=True):
        wanted = [slow_pair(row[a], row[b], sign) for a, b, sign in pairs]
        np.testing.assert_array_equal(made, wanted)
    assert not np.isinf(wide).any()


def test_all_pairs_of_some_couples():
    pairs = ColumnPairs.of_couples([1, 1, 4], [4, 5, 5])
    assert set(pairs) == {(a, b, sign) for a, b in [(1, 4), (1, 5), (4, 5)] for sign in OPERATIONS}
    assert len(pairs) == 3 * len(OPERATIONS)
    assert pairs.names(list("abcdef"))[:2] == ["b - e", "b * e"]
    assert pairs.names()[-1] == "x4 + x5"


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_numbers_of_other_types_are_paired_as_doubles(dtype):
    a, b = 2**24 - 3, 2**24 - 1
    X = np.array([[a, b]], dtype=dtype)
    wide = ColumnPairs.of_couples([0], [1]).append(X, X)
    assert wide.dtype == np.float64
    assert wide[0].tolist() == [a, b, -2.0, float(a * b), a + b]


def test_sparse_columns_of_categories_stay_sparse():
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    columns = sp.csr_matrix(np.eye(2))
    wide = ColumnPairs.of_couples([0], [1]).append(columns, X)
    assert sp.issparse(wide)
    np.testing.assert_array_equal(
        wide.toarray(), [[1, 0, np.nan, np.nan, np.nan], [0, 1, -1, 6, 5]]
    )
