"""Where thresholds lie, what they keep of the outcomes, and the quantiles that follow."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.boosting.regression.distribution import LEVELS
from driftgames.boosting.regression.outcome_thresholds import N_THRESHOLDS, Thresholds, least_masses

FIELDS = "values", "gaps", "means", "knots", "starts"


def ones(n):
    return np.ones(n, dtype=np.int64)


def assert_equal(found, expected):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def slow_thresholds(y, n_thresholds):
    """Inverted CDFs of copies, without the largest outcome; each counts once."""
    ascending, found = np.sort(y).tolist(), []
    parts = n_thresholds + 1
    levels = [Fraction(k, parts) for k in range(1, parts)]
    if n_thresholds >= 12:
        tails = [Fraction(15, 100 * parts), Fraction(45, 100 * parts)]
        levels = [*tails, *levels, *(1 - tail for tail in reversed(tails))]
    for level in levels:
        place = next(i for i in range(len(y)) if i + 1 >= level * len(y))
        if ascending[place] < ascending[-1] and ascending[place] not in found:
            found.append(ascending[place])
    if len(found) < 3:  # more thresholds at equal steps, or else below all outcomes
        first = found[-1] if found else ascending[0]
        step = (ascending[-1] - first) / (4 - len(found))
        more = (first + k * step for k in range(1, 4 - len(found)))
        found += [each for each in more if first < each < ascending[-1]]
    while len(found) < 3:
        found.insert(0, np.nextafter(found[0] if found else ascending[0], -np.inf))
    return found


def slow_quantile(thresholds, above, level):
    """The quantile of one row at one level, bin by bin."""
    ends = [*(1.0 - above), 1.0]
    j = next(j for j, end in enumerate(ends) if end >= level)
    begin = ends[j - 1] if j else 0.0
    knots = thresholds.knots[thresholds.starts[j] : thresholds.starts[j + 1]]
    share = (level - begin) / (ends[j] - begin) if ends[j] > begin else 1.0
    return np.interp(share, np.linspace(0, 1, knots.size), knots)


def draw_outcomes(seed, kind, n=400):
    rng = np.random.default_rng(seed)
    if kind == "real":
        return rng.normal(size=n)
    if kind == "heavy tails":
        return rng.standard_cauchy(size=n)
    if kind == "ties":
        return rng.poisson(rng.choice([0.3, 3.0, 20.0]), size=n).astype(float)
    return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n))  # many zeros


KINDS = "real", "heavy tails", "ties", "zeros"


def draw_above(seed, n_rows, n_thresholds):
    """Probabilities that fall: some at 0 and 1, some equal."""
    rng = np.random.default_rng(seed)
    drawn = np.clip(np.round(rng.normal(0.5, 0.4, (n_rows, n_thresholds)), 2), 0.0, 1.0)
    return -np.sort(-drawn, axis=1)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    n_thresholds=st.sampled_from([1, 2, 5, 12, N_THRESHOLDS]),
)
def test_thresholds_and_bins_are_those_of_a_slow_reference(kind, seed, n, n_thresholds):
    y = draw_outcomes(seed, kind, n)
    found = Thresholds.of(y, ones(n), n_thresholds)
    np.testing.assert_allclose(found.values, slow_thresholds(y, n_thresholds), rtol=1e-14)
    assert found.size == len(found.values)
    positions = found.positions(y)
    np.testing.assert_array_equal(positions, (y[:, None] > found.values).sum(axis=1))
    for j in range(found.size + 1):
        inside = y[positions == j]
        if not inside.size:  # its ends, alike
            inside = np.sort([found.values[j - 1] if j else y.min(), found.values[j]])
        knots = found.knots[found.starts[j] : found.starts[j + 1]]
        assert found.means[j] == pytest.approx(inside.mean(), rel=1e-12, abs=1e-12)
        assert (np.diff(knots) >= 0).all()
        assert knots[-1] == inside.max()
        assert knots[0] >= (found.values[j - 1] if j else inside.min())
        assert knots.size == (61 if j in (0, found.size) else 9)
        if np.unique(inside).size <= 3:
            assert set(knots) <= set(inside)
        elif j:
            assert knots[0] == found.values[j - 1]
    assert found.starts[-1] == found.knots.size


def test_a_value_of_many_copies_is_flat_in_its_bin():
    """Most of the first bin is 1.0; it is linear only between copies of different values."""
    y = np.repeat([0.0, 1.0, 2.0, 3.0, 9.0], [1, 54, 1, 4, 60])
    thresholds = Thresholds.of(y, ones(120), 1)
    knots = thresholds.knots[: thresholds.starts[1]]  # as many steps as copies
    assert thresholds.values[0] == 3.0
    assert (knots[2:55] == 1.0).all()
    assert knots[55] == 1.5
    assert (knots[57:] == 3.0).all()


def test_levels_have_two_more_in_each_outer_bin_from_twelve_on():
    assert least_masses(3, 100).tolist() == [25, 50, 75]
    assert least_masses(11, 100).size == 11
    twelve = least_masses(12, 13 * 100)
    assert twelve.tolist() == [15, 45, *range(100, 1300, 100), 1255, 1285]


@pytest.mark.parametrize("n_thresholds", [3, 13, 14, 16, 17, 19, 22])
@pytest.mark.parametrize("copies", [1, 2, 3, 10, 100])
def test_a_level_that_outcomes_meet_exactly_is_met(n_thresholds, copies):
    y = np.repeat(np.arange(20.0 * (n_thresholds + 1)), copies)  # all levels fall between outcomes
    found = Thresholds.of(y, ones(y.size), n_thresholds).values
    np.testing.assert_array_equal(found, slow_thresholds(y, n_thresholds))
    assert not set((np.arange(20.0, y[-1], 20.0) - 1.0).tolist()) - set(found.tolist())


def test_gaps_are_half_the_distance_of_neighbours():
    y = np.repeat([0.0, 1.0, 3.0, 7.0, 8.0], 5)
    thresholds = Thresholds.of(y, ones(25), 4)
    assert thresholds.values.tolist() == [0.0, 1.0, 3.0, 7.0]
    expected = np.array([1.0, 1.5, 3.0, 4.0])  # an outer one has the whole distance
    np.testing.assert_array_equal(thresholds.gaps, np.rint(expected / 4 * 2**16))


def test_a_tiny_gap_counts_at_least_one():
    y = np.repeat([0.0, 1e-9, 1.0, 2.0], 5)
    assert Thresholds.of(y, ones(20), 3).gaps.min() > 0
    y = np.repeat([0.0, 1e-9, 2e-9, 1.0, 2.0], 5)
    assert Thresholds.of(y, ones(25), 4).gaps[0] == 1


def test_one_outcome_has_three_thresholds_right_below_it():
    for y in (np.array([3.5]), np.full(9, 3.5)):
        thresholds = Thresholds.of(y, ones(y.size))
        steps = np.spacing(3.5) * np.array([3, 2, 1])
        np.testing.assert_array_equal(thresholds.values, 3.5 - steps)
        assert thresholds.positions(np.array([3.0, 3.5, 4.0])).tolist() == [0, 3, 3]
        always_above = np.ones((2, 3))
        np.testing.assert_array_equal(thresholds.expectations(always_above), [3.5, 3.5])
        np.testing.assert_array_equal(thresholds.quantiles(always_above, LEVELS)[:, 1:], 3.5)


def test_two_outcomes_have_three_thresholds():
    two = Thresholds.of(np.repeat([1.0, 2.0], [9, 1]), ones(10), 1)
    np.testing.assert_allclose(two.values, [1.0, 4 / 3, 5 / 3])
    assert (two.gaps == 2**16).all()
    assert two.positions(np.array([1.0, 1.5, 2.0])).tolist() == [0, 2, 3]
    above = np.array([[0.3, 0.3, 0.3]])  # nothing lies between
    assert two.expectations(above) == pytest.approx(1.3)
    assert two.quantiles(above, np.array([0.0, 0.7, 0.71, 1.0])).tolist() == [[1.0, 1.0, 2.0, 2.0]]
    mostly_above = Thresholds.of(np.repeat([0.0, 1.0], [1, 999]), ones(1000))
    assert mostly_above.values.tolist() == [0.25, 0.5, 0.75]


def test_neighbours_among_floats_have_thresholds_below_both():
    for y in (1.0, 1e-300, -1e300):
        both = np.sort([y, np.nextafter(y, 2 * y)])
        thresholds = Thresholds.of(both, ones(2))
        assert thresholds.values[-1] == both[0]
        assert (np.diff(thresholds.values) > 0).all()
        assert thresholds.size == 3
        assert thresholds.means[2:].tolist() == both.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_is_a_number_of_copies_and_zero_is_none(kind):
    for seed in range(20):
        y = draw_outcomes(seed, kind, 80)
        weights = np.random.default_rng(seed).integers(0, 4, 80)
        weighted = Thresholds.of(y, weights)
        copies = np.repeat(y, weights)
        assert_equal(weighted, Thresholds.of(copies, ones(copies.size)))
        order = np.random.default_rng(1).permutation(80)
        assert_equal(weighted, Thresholds.of(y[order], weights[order]))
        assert_equal(weighted, Thresholds.of(y, 2**40 * weights))


def test_outcomes_held_out_are_not_looked_at():
    y, weights = draw_outcomes(0, "real"), ones(400)
    far = Thresholds.of(np.append(y, [-99.0, 99.0, 98.0]), np.append(weights, [0, 0, 0]))
    assert_equal(far, Thresholds.of(y, weights))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [-900, -3, 1, 900])
def test_powers_of_two_scale_all_and_no_bit_more(kind, power):
    y = draw_outcomes(1, kind)
    one, scaled = (Thresholds.of(each, ones(400)) for each in (y, np.ldexp(y, power)))
    for name in ("values", "means", "knots"):
        np.testing.assert_array_equal(getattr(scaled, name), np.ldexp(getattr(one, name), power))
    for name in ("gaps", "starts"):
        np.testing.assert_array_equal(getattr(scaled, name), getattr(one, name))
    above = draw_above(0, 20, one.size)
    for read in (lambda t: t.quantiles(above, LEVELS), lambda t: t.expectations(above)):
        np.testing.assert_array_equal(read(scaled), np.ldexp(read(one), power))


@pytest.mark.parametrize("shift", [2.0**40, -(2.0**20)])
def test_exact_shifts_move_the_thresholds_and_change_no_gap(shift):
    y = np.round(1024 * draw_outcomes(2, "real")) / 1024  # ties, and exact sums
    one, moved = (Thresholds.of(each, ones(400)) for each in (y, y + shift))
    np.testing.assert_array_equal(moved.values, one.values + shift)
    np.testing.assert_array_equal(moved.gaps, one.gaps)
    np.testing.assert_array_equal(moved.positions(y + shift), one.positions(y))
    for name in ("means", "knots"):
        expected = getattr(one, name) + shift
        np.testing.assert_allclose(getattr(moved, name), expected, rtol=4e-16 * 8)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 4e307])
def test_huge_and_tiny_outcomes_stay_finite(scale):
    y = np.clip(draw_outcomes(3, "real"), -2, 2)
    one = Thresholds.of(y, ones(400))
    for weights in (ones(400), np.full(400, 2**52 // 400)):
        scaled = Thresholds.of(y * scale, weights)
        np.testing.assert_allclose(scaled.means, one.means * scale, rtol=1e-12)
        np.testing.assert_allclose(scaled.knots, one.knots * scale, rtol=1e-8)
        np.testing.assert_allclose(scaled.gaps, one.gaps, atol=1)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6), n_thresholds=st.sampled_from([1, 3, N_THRESHOLDS]))
def test_quantiles_are_those_of_a_slow_reference(kind, seed, n_thresholds):
    y = draw_outcomes(seed, kind, 60)
    thresholds = Thresholds.of(y, ones(60), n_thresholds)
    above = draw_above(seed, 4, thresholds.size)
    levels = np.unique(np.append(LEVELS, 1.0 - above[0]))
    found = thresholds.quantiles(above, levels)
    for row, quantiles in zip(above, found, strict=True):
        expected = [slow_quantile(thresholds, row, level) for level in levels]
        np.testing.assert_allclose(quantiles, expected, rtol=1e-9, atol=1e-12 * np.ptp(y))
    assert (np.diff(found, axis=1) >= 0).all()
    assert found.min() >= y.min()
    assert found.max() <= y.max()


def test_a_distribution_has_the_probabilities_of_its_bins():
    y = draw_outcomes(4, "real")
    thresholds = Thresholds.of(y, ones(400))
    above = -np.sort(-np.random.default_rng(0).random((5, thresholds.size)), axis=1)
    masses = thresholds.bin_masses(above)
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.cumsum(masses, axis=1)[:, :-1], 1.0 - above)
    for row, quantiles in zip(above, thresholds.quantiles(above, LEVELS), strict=True):
        at = thresholds.quantiles(row[None], 1.0 - row)
        np.testing.assert_allclose(at[0], thresholds.values)
        assert quantiles[[0, -1]].tolist() == [y.min(), y.max()]
    expected = [
        sum(m * mean for m, mean in zip(row, thresholds.means, strict=True)) for row in masses
    ]
    np.testing.assert_allclose(thresholds.expectations(above), expected)


def test_shares_of_the_training_outcomes_give_their_mean_and_quantiles():
    y = draw_outcomes(5, "real", 5000)
    thresholds = Thresholds.of(y, ones(5000))
    above = (y[:, None] > thresholds.values).mean(axis=0)[None]
    assert thresholds.expectations(above)[0] == pytest.approx(y.mean(), abs=1e-12)
    inner = LEVELS[3:-3]
    found = thresholds.quantiles(above, inner)[0]
    np.testing.assert_allclose(found, np.quantile(y, inner), atol=0.02)


def test_a_bin_without_probability_is_passed_over():
    thresholds = Thresholds.of(np.repeat([1.0, 2.0, 3.0, 4.0], 5), ones(20), 3)  # four atoms
    assert thresholds.values.tolist() == [1.0, 2.0, 3.0]
    above = np.array([[0.5, 0.5, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    found = thresholds.quantiles(above, np.array([0.0, 0.5, 0.50001, 1.0]))
    assert found.tolist() == [[1.0, 1.0, 3.0, 3.0], [1.0, 4.0, 4.0, 4.0], [1.0, 1.0, 1.0, 1.0]]
