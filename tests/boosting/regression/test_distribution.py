"""Predicted distributions: one piecewise linear quantile function, read in many ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from driftgames.boosting.regression.distribution import LEVELS, PredictedDistribution


def draw(seed, n_rows=4, scale=1.0):
    """Rows with atoms and without, on uneven levels."""
    rng = np.random.default_rng(seed)
    levels = np.append(np.append(0.0, np.sort(rng.random(9))), 1.0)
    quantiles = np.sort(rng.normal(size=(n_rows, 11)), axis=1)
    quantiles[0, 3:6] = quantiles[0, 3]  # an atom
    quantiles[1, :2] = quantiles[1, 0]  # at the end
    quantiles[-1] = 0.25  # certain
    return PredictedDistribution(levels, quantiles * scale)


def slow_cdf(levels, row, y):
    """The largest level whose quantile is at most ``y``."""
    if y < row[0]:
        return 0.0
    if y >= row[-1]:
        return 1.0
    k = max(j for j in range(row.size) if row[j] <= y)
    return levels[k] + (levels[k + 1] - levels[k]) * (y - row[k]) / (row[k + 1] - row[k])


def slow_crps(levels, row, y):
    """The integral of the quantile losses, step by step."""
    total = 0.0
    for u, v, a, b in zip(levels, levels[1:], row, row[1:], strict=False):
        breaks = [u + (y - a) / (b - a) * (v - u)] if a < y < b else None

        def loss(s, u=u, v=v, a=a, b=b):
            q = a + (s - u) / (v - u) * (b - a)
            return 2 * ((y < q) - s) * (q - y)

        total += integrate.quad(loss, u, v, points=breaks, epsabs=1e-12)[0]
    return total


@given(seed=st.integers(0, 10**6), y=st.floats(-3, 3))
def test_cdf_and_ppf_are_those_of_a_slow_reference(seed, y):
    rows = draw(seed)
    for outcome in (y, *rows.quantiles[:, 4], rows.quantiles[0, 0], rows.quantiles[0, -1]):
        expected = [slow_cdf(rows.levels, row, outcome) for row in rows.quantiles]
        np.testing.assert_allclose(rows.cdf(outcome), expected, rtol=1e-12)
    levels = np.append(np.random.default_rng(seed).random(20), rows.levels)
    expected = [np.interp(levels, rows.levels, row) for row in rows.quantiles]
    np.testing.assert_allclose(rows.ppf(levels), expected, rtol=1e-12, atol=1e-15)
    ascending = rows.ppf(np.sort(levels))
    assert (np.diff(ascending, axis=1) >= 0).all()
    assert (ascending >= rows.quantiles[:, :1]).all()
    assert (ascending <= rows.quantiles[:, -1:]).all()


@given(seed=st.integers(0, 10**6), level=st.floats(0.001, 0.999))
def test_cdf_is_the_inverse_of_ppf(seed, level):
    rows = draw(seed)
    quantiles = rows.ppf(level)
    found = rows.cdf(quantiles)
    assert (found >= level - 1e-9).all()
    no_atom = np.array([np.diff(row).min() > 1e-6 for row in rows.quantiles])
    np.testing.assert_allclose(found[no_atom], level, atol=1e-9)
    assert found[-1] == 1.0  # the certain row
    np.testing.assert_array_equal(rows.ppf([level, 0.5])[:, 0], quantiles)


@given(seed=st.integers(0, 10**6), y=st.floats(-3, 3))
def test_crps_is_the_integral_of_quantile_losses(seed, y):
    rows = draw(seed)
    outcomes = np.array([y, rows.quantiles[1, 3], rows.quantiles[2, 0] - 1, 0.25])
    expected = [
        slow_crps(rows.levels, row, outcome)
        for row, outcome in zip(rows.quantiles, outcomes, strict=True)
    ]
    found = rows.crps(outcomes)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    assert found[-1] == 0.0
    np.testing.assert_array_equal(rows.crps(y)[:1], found[:1])


def test_crps_is_the_integral_of_squared_errors_of_the_cdf():
    rows = draw(3)
    grid = np.linspace(-6, 6, 120_001)
    for y in (-0.7, 0.25, 4.0):
        for i, row in enumerate(rows.quantiles):
            below = np.array([rows[i].cdf(z)[0] for z in grid[::50]])
            expected = integrate.trapezoid((below - (grid[::50] >= y)) ** 2, grid[::50])
            assert rows.crps(y)[i] == pytest.approx(expected, abs=6e-3), row


def test_a_uniform_distribution_has_its_closed_forms():
    low, width = -1.0, 3.0
    rows = PredictedDistribution(LEVELS, (low + width * LEVELS)[None])
    uniform = stats.uniform(low, width)
    for y in (-2.5, -1.0, -0.3, 0.5, 1.7, 2.0, 5.0):
        z = np.clip((y - low) / width, 0, 1)
        beyond = abs((y - low) / width - z)
        assert rows.crps(y)[0] == pytest.approx(width * (beyond + z * z - z + 1 / 3))
        assert rows.cdf(y)[0] == pytest.approx(uniform.cdf(y))
    assert rows.mean()[0] == pytest.approx(0.5)
    assert rows.median()[0] == pytest.approx(0.5)
    assert rows.std()[0] == pytest.approx(uniform.std())
    np.testing.assert_allclose(rows.interval(0.9), [uniform.interval(0.9)])
    np.testing.assert_array_equal(rows.interval(), rows.interval(0.9))
    np.testing.assert_array_equal(rows.interval(1.0), [[-1.0, 2.0]])


def test_a_certain_distribution_has_its_absolute_error():
    rows = PredictedDistribution(LEVELS, np.full((3, LEVELS.size), 2.0))
    np.testing.assert_allclose(rows.crps([1.0, 2.0, 5.0]), [1.0, 0.0, 3.0])
    assert rows.std().tolist() == [0.0, 0.0, 0.0]
    assert rows.cdf([1.9, 2.0, 2.1]).tolist() == [0.0, 1.0, 1.0]
    np.testing.assert_array_equal(rows.interval(0.5), np.full((3, 2), 2.0))


def test_moments_are_those_of_many_quantiles():
    rows = draw(5)
    fine = rows.ppf((np.arange(200_000) + 0.5) / 200_000)
    np.testing.assert_allclose(rows.mean(), fine.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(rows.std(), fine.std(axis=1), atol=1e-5)
    given_means = PredictedDistribution(rows.levels, rows.quantiles, np.arange(4.0))
    assert given_means.mean().tolist() == [0.0, 1.0, 2.0, 3.0]
    np.testing.assert_array_equal(given_means.std(), rows.std())  # about their own mean


@pytest.mark.parametrize("power", [-900, -1, 10, 900])
def test_powers_of_two_scale_all_and_no_bit_more(power):
    rows = draw(6)
    scaled = PredictedDistribution(rows.levels, np.ldexp(rows.quantiles, power))
    y = np.array([0.3, -0.5, 0.1, 0.2])
    for read in (
        lambda d, k: d.mean(),
        lambda d, k: d.std(),
        lambda d, k: d.ppf([0.1, 0.77]),
        lambda d, k: d.crps(np.ldexp(y, k)),
        lambda d, k: d.sample(5, 0),
    ):
        found, one = read(scaled, power), read(rows, 0)
        np.testing.assert_array_equal(found, np.ldexp(one, power))
        assert np.abs(found).max() > 0
    np.testing.assert_array_equal(scaled.cdf(np.ldexp(y, power)), rows.cdf(y))


def test_samples_are_reproducible_and_follow_the_distribution():
    rows = draw(7)
    samples = rows.sample(20_000, 1)
    assert samples.shape == (4, 20_000)
    np.testing.assert_array_equal(samples, rows.sample(20_000, 1))
    assert (samples[:3, :50] != rows.sample(20_000, 2)[:3, :50]).any(axis=1).all()
    for row, drawn in zip(rows.quantiles[2:3], samples[2:3], strict=True):
        at = np.linspace(row[0], row[-1], 50)
        expected = [slow_cdf(rows.levels, row, each) for each in at]
        found = np.searchsorted(np.sort(drawn), at, side="right") / drawn.size
        np.testing.assert_allclose(found, expected, atol=0.02)
    assert (samples[0] == rows.quantiles[0, 3]).mean() == pytest.approx(
        rows.levels[5] - rows.levels[3], abs=0.02
    )
    assert np.abs(np.corrcoef(samples[1:3])[0, 1]) < 0.05  # rows are drawn apart


def test_rows_are_taken_by_numbers_slices_and_masks():
    rows = PredictedDistribution(*vars(draw(8)).values())
    rows = PredictedDistribution(rows.levels, rows.quantiles, np.arange(4.0))
    assert len(rows) == 4
    for wanted, numbers in (
        (1, [1]),
        (-1, [3]),
        (np.int64(2), [2]),
        (slice(1, 3), [1, 2]),
        ([3, 0], [3, 0]),
        (np.array([True, False, False, True]), [0, 3]),
    ):
        taken = rows[wanted]
        assert isinstance(taken, PredictedDistribution)
        np.testing.assert_array_equal(taken.quantiles, rows.quantiles[numbers])
        assert taken.mean().tolist() == [float(number) for number in numbers]
    assert len(draw(8)[1:].mean()) == 3


def test_rows_are_numbers_and_not_out_of_range():
    rows = draw(9)
    for number in (4, -5):
        with pytest.raises(IndexError, match="out of range"):
            rows[number]
    assert [each.median()[0] for each in rows] == rows.median().tolist()


def test_it_shows_a_line_for_each_row():
    rows = draw(10)
    frame = rows.to_frame()
    assert list(frame) == ["mean", "median", "std", "low_90", "high_90"]
    np.testing.assert_array_equal(frame[["low_90", "high_90"]], rows.interval(0.9))
    assert "4 rows" in repr(rows)


@pytest.mark.parametrize("q", [-0.1, 1.1, np.nan, [0.5, 2.0], [[0.5]], "half", None])
def test_a_level_is_refused(q):
    with pytest.raises(ValueError, match=r"q must be (levels in|numbers)"):
        draw(0).ppf(q)


@pytest.mark.parametrize("coverage", [0.0, -0.5, 1.5, np.nan, "most", None])
def test_a_coverage_is_refused(coverage):
    with pytest.raises(ValueError, match="coverage must"):
        draw(0).interval(coverage)


@pytest.mark.parametrize("y", [[1.0], [[1.0]] * 4, np.zeros((4, 1)), "one", [1, 2, 3, "x"]])
def test_outcomes_of_another_shape_are_refused(y):
    for read in (draw(0).crps, draw(0).cdf):
        with pytest.raises(ValueError, match=r"y must be (a number, or one for each of 4|numbers)"):
            read(y)


@pytest.mark.parametrize("y", [np.nan, None, [0.0, 1.0, np.nan, 2.0], np.inf])
def test_outcomes_that_are_missing_or_infinite_are_refused(y):
    for read in (draw(0).crps, draw(0).cdf):
        with pytest.raises(ValueError, match="y must be finite"):
            read(y)


@pytest.mark.parametrize("n_samples", [0, -1, 1.5, "two"])
def test_a_number_of_samples_is_refused(n_samples):
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1"):
        draw(0).sample(n_samples)
