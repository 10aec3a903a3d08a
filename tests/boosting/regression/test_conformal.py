"""Promises of intervals: exact for any exchangeable examples, ties and atoms included."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.boosting.regression.conformal import BEYOND, MOST_PLACES, Places
from driftgames.boosting.regression.distribution import LEVELS, PredictedDistribution

COVERAGES = [0.5, 0.8, 0.9, 0.99]


def draw(seed, n_rows):
    """Return distributions with atoms, few of them different, and outcomes with ties.

    Some outcomes are quantiles to the bit or their neighbours, and some lie beyond the range.
    """
    rng = np.random.default_rng(seed)
    scale = rng.choice([1e-3, 1.0, 7.0, 1e5])
    kinds = np.sort(rng.integers(0, 40, size=(3, LEVELS.size)) / 7.0, axis=1) * scale
    kinds[1] += rng.normal(size=1)
    kinds[2, 20:70] = kinds[2, 20]
    which = rng.integers(0, 3, n_rows)
    rows = PredictedDistribution(LEVELS, kinds[which])
    y = rows.ppf(rng.random(4)).ravel()[::4][:n_rows]
    tied = rng.random(n_rows) < 0.5
    y[tied] = rows.quantiles[tied, rng.integers(0, LEVELS.size)]
    near = rng.random(n_rows) < 0.3
    y[near] = np.nextafter(y[near], rng.choice([-np.inf, np.inf]))
    beyond = rng.random(n_rows) < 0.2
    y[beyond] += rng.integers(-3, 4, np.count_nonzero(beyond)) * scale * 10.0
    return rows, np.round(y, 3) if rng.random() < 0.5 else y


@given(seed=st.integers(0, 10**6))
def test_of_exchangeable_examples_at_most_the_promised_share_is_missed(seed):
    """Each of n + 1 examples is the new one in turn: so many misses, and no more, are allowed."""
    n = int(np.random.default_rng(seed).integers(2, 60))
    rows, y = draw(seed, n + 1)
    for coverage in COVERAGES:
        missed = 0
        for new in range(n + 1):
            others = np.arange(n + 1) != new
            places = Places.of(rows[others], y[others], 3, promised=True)
            low, high = places.interval(rows[new], coverage)[0]
            missed += not low <= y[new] <= high
        allowed = 2 * math.floor(round((n + 1) * (1 - coverage) / 2, 9))
        assert missed <= allowed
        assert places.promise(coverage) == 1 - allowed / (n + 1)
        assert places.promise(coverage) >= coverage - 1e-9


@given(seed=st.integers(0, 10**6))
def test_an_outcome_is_inside_by_its_place_if_it_is_so_by_the_ends(seed):
    rows, y = draw(seed, 30)
    for i in range(30):
        of_one = Places.of(rows[[i]], y[[i]], 3, promised=True)
        for low in (of_one.low[0], -2 / BEYOND, 0.0, 0.0503, 0.5):
            for high in (of_one.high[0], 0.5, 0.99921875, 1.0, 1.0 + 5 / BEYOND):
                ends = Places(np.array([low]), np.array([high]), 3, promised=True)
                found = ends.interval(rows[i], 0.0)[0] if low <= high else None
                if found is None:
                    continue
                if of_one.low[0] >= low:
                    assert y[i] >= found[0]
                if of_one.high[0] <= high:
                    assert y[i] <= found[1]


def test_places_of_a_slow_reference():
    rows = PredictedDistribution(LEVELS, np.tile(LEVELS * 10.0, (6, 1)))
    places = Places.of(rows, np.array([-0.99, 0.0, 2.5, 5.0, 10.0, 10.49]), 0, promised=True)
    np.testing.assert_allclose(places.low, [-1.0, 0.0, 0.25, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(places.high, [0.0, 0.0, 0.25, 0.5, 1.0, 1.5])
    assert places.share_within(0.0, 1.0) == pytest.approx(4 / 6)


def test_too_few_outcomes_promise_the_line_and_else_the_range():
    rows = PredictedDistribution(LEVELS, np.tile(LEVELS, (18, 1)))
    y = np.linspace(0.2, 0.7, 18)
    for promised, ends in ((True, [-np.inf, np.inf]), (False, [0.0, 1.0])):
        places = Places.of(rows, y, 0, promised=promised)
        assert places.interval(rows[0], 0.9)[0].tolist() == ends
        assert places.promise(0.9) == 1.0
        assert np.isfinite(places.interval(rows[0], 0.8)).all()


def test_of_many_outcomes_some_are_kept_and_promise_as_much():
    rng = np.random.default_rng(0)
    n = 3 * MOST_PLACES + 17
    rows, y = PredictedDistribution(LEVELS, np.tile(LEVELS, (n, 1))), rng.beta(2, 3, n)
    places = Places.of(rows, y, 0, promised=True)
    assert places.low.size == MOST_PLACES
    for coverage in COVERAGES:
        low, high = places.interval(rows[0], coverage)[0]
        outside = np.count_nonzero(y < low) + np.count_nonzero(y > high)
        assert (outside + 2) / (n + 1) <= 1 - places.promise(coverage) + 1e-12
        assert outside / n > 1 - coverage - 0.005
        assert coverage - 1e-9 <= places.promise(coverage) < coverage + 0.002


def test_a_level_is_infinite_where_no_float_is_a_step_away():
    rows = PredictedDistribution(LEVELS, np.tile(LEVELS * 1e-310, (3, 1)))
    places = Places.of(rows, np.array([-1e300, 1e-310 / 2, 1e300]), -1030, promised=True)
    assert places.interval(rows[0], 0.5)[0].tolist() == [-np.inf, np.inf]
