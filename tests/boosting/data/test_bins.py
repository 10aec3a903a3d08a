"""The search for bins by an index, beside NumPy's search among the cuts."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.boosting.data.binned_data import bin_columns, bin_examples, index_cuts
from driftgames.boosting.data.bins import place_of
from driftgames.boosting.data.cuts import Cuts

TINY, HUGE = 5e-324, np.finfo(np.float64).max
EXTREMES = [0.0, -0.0, TINY, -TINY, 1e-308, 1.0, -1.0, HUGE, -HUGE, np.inf, -np.inf]
VALUES = st.one_of(st.sampled_from([*EXTREMES, np.nan]), st.floats(width=32), st.floats())


def slow_bins(X, cuts):
    bins = [np.searchsorted(cuts.of(j), X[:, j]) for j in range(X.shape[1])]
    return np.where(np.isnan(X), cuts.n_bins - 1, np.column_stack(bins))


def check(X, parts):
    cuts = Cuts.gather(parts, np.isnan(X).any(axis=0))
    order = np.random.default_rng(0).permutation(len(X))
    columns = bin_columns(X, order, cuts)
    np.testing.assert_array_equal(columns.T, slow_bins(X, cuts)[order])


@given(st.data(), st.sampled_from([np.float64, np.float32]))
def test_every_value_goes_to_the_number_of_cuts_below_it(data, dtype):
    with np.errstate(over="ignore"):
        X = data.draw(arrays(np.float64, (data.draw(st.integers(1, 30)), 2), elements=VALUES))
        X = X.astype(dtype)
    wanted = arrays(np.float64, st.integers(0, 20), elements=VALUES)
    drawn = [data.draw(wanted) for _ in range(2)]
    check(X, [np.unique(part[part < np.inf]) for part in drawn])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "spread", [np.sort, np.exp, lambda x: np.exp(9 * x), lambda x: x**9, lambda x: 1 + 1e-6 * x]
)
def test_cuts_may_be_spread_in_any_way(spread, dtype, order):
    """More rows than a block, values on the cuts and beside them, one feature without a cut."""
    rng = np.random.default_rng(1)
    parts = [np.unique(spread(rng.normal(size=size))) for size in (254, 3, 1, 0)]
    X = np.asarray(spread(rng.normal(size=(3000, 4))), dtype=dtype, order=order)
    for j, part in enumerate(parts):
        X[: part.size, j] = part
        X[300 : 300 + part.size, j] = np.nextafter(part, np.inf)
    X[rng.random(X.shape) < 0.1] = np.nan
    check(X, parts)


def test_evenly_spread_cuts_need_one_step_and_crowded_ones_all():
    for parts, steps in (
        ([np.arange(254.0)], 1),
        ([np.append(np.arange(253.0), 1e9)], 128),
        ([np.empty(0)], 0),
    ):
        index = index_cuts(Cuts.gather(parts, np.zeros(1, dtype=bool)))
        assert index.first_steps.tolist() == [steps]


@pytest.mark.parametrize("size", [100, 60_000])  # below the size where threads take part, and above
def test_threads_make_the_same_bins(size):
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(size, 4)), 3)
    positive, weights = rng.random(size) < 0.4, rng.integers(1, 4, size=size)
    one = bin_examples(X, positive, weights, 255)
    with ThreadPoolExecutor(2) as pool:
        two = bin_examples(X, positive, weights, 255, pool=pool, n_parts=2)
    for name in ("codes", "columns"):
        np.testing.assert_array_equal(getattr(one.bins, name), getattr(two.bins, name))
    np.testing.assert_array_equal(one.cuts.thresholds, two.cuts.thresholds)
    np.testing.assert_array_equal(one.counts, two.counts)


def test_no_value_is_looked_up_outside_the_table():
    for scale in (0.0, 2.0, np.inf):
        places = [int(place_of(x, 1.0, scale, 16)) for x in (np.nan, -np.inf, 1.0, 5.0, np.inf)]
        assert places[:3] == [0, 0, 0]
        assert places == sorted(places)
        assert places[-1] in (0, 15)
