"""Confidence sequences by betting: exact chances of a miss, over all sequences of few values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgames.certificates import ConfidenceSequence, confidence_sequence
from tests.refusals import check_files_of

SETTINGS = [{}, {"drifting": True}, {"side": "lower"}, {"side": "upper"}, {"tuned_for": 3}]


def coins(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))


def chances(rows, p):
    return np.prod(np.where(rows == 1, p, 1 - p), axis=1)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9])
def test_the_wealth_against_the_true_mean_is_a_martingale(settings, p):
    rows = coins(8)
    wealth = []
    for row in rows:
        bettor = ConfidenceSequence(0.1, **settings)
        bettor.update(row)
        wealth.append(bettor.wealth(p))
    assert chances(rows, p) @ wealth == pytest.approx(1.0, rel=1e-9)
    # a lazy bettor has 1 on every path; this one has not
    assert np.ptp(wealth) > 0.5


def test_weighted_wealth_is_a_supermartingale_even_if_weights_come_with_the_values():
    # weight and value are drawn together; the mean is E wX / E w
    pairs = [(0.2, 1.0), (1.0, 0.3), (0.6, 0.0)]
    p = np.array([0.5, 0.2, 0.3])
    mean = sum(q * w * x for q, (w, x) in zip(p, pairs, strict=True)) / sum(
        q * w for q, (w, _) in zip(p, pairs, strict=True)
    )
    expected = 0.0
    for path in itertools.product(range(3), repeat=6):
        bettor = ConfidenceSequence(0.1, tuned_for=6)
        bettor.update([pairs[i][1] for i in path], [pairs[i][0] for i in path])
        expected += np.prod(p[list(path)]) * bettor.wealth(mean)
    assert 0.5 < expected <= 1 + 1e-9


def test_the_wealth_against_the_average_of_drifting_means_is_at_most_a_martingale():
    expected = 0.0
    for row in coins(9):
        chance, means = 1.0, []
        for t, x in enumerate(row):  # the chance reacts to the past
            p = 0.15 + 0.7 * (row[:t].mean() < 0.5 if t else 0.5)
            means.append(p)
            chance *= p if x else 1 - p
        bettor = ConfidenceSequence(0.1, drifting=True, tuned_for=9)
        bettor.update(row)
        expected += chance * bettor.wealth(float(np.mean(means)))
    assert 0.1 < expected <= 1 + 1e-9


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("p", [0.05, 0.31, 0.5, 0.8])
def test_no_more_than_delta_of_all_sequences_miss_at_any_time(settings, p):
    rows, delta = coins(11), 0.2
    missed = []
    for row in rows:
        run = confidence_sequence(row, delta, **settings)
        missed.append(((run.low > p) | (run.high < p)).any())
    miss = chances(rows, p) @ np.array(missed)
    assert miss <= delta
    assert (run.low <= run.high).all()


def test_an_interval_that_is_too_narrow_by_a_fifth_would_be_seen_to_miss():
    rng, delta, p, missed = np.random.default_rng(0), 0.2, 0.5, 0
    for _ in range(400):
        x = (rng.random(100) < p) * 1.0
        run = confidence_sequence(x, delta)
        middle, half = (run.low + run.high) / 2, (run.high - run.low) / 2
        missed += bool((abs(middle - p) > 0.8 * half).any())
    assert missed > 400 * delta * 0.6  # the sequences are not far too wide


@pytest.mark.parametrize("value_range", [(0.0, 1.0), (-3.0, 5.0)])
def test_any_range_is_the_unit_range_in_other_units(value_range):
    low, high = value_range
    x = np.random.default_rng(0).random(300)
    unit = confidence_sequence(x)
    other = confidence_sequence(low + (high - low) * x, value_range=value_range)
    np.testing.assert_allclose(other.low, low + (high - low) * unit.low, atol=1e-9)
    np.testing.assert_allclose(other.high, low + (high - low) * unit.high, atol=1e-9)
    np.testing.assert_allclose(other.mean, low + (high - low) * unit.mean, atol=1e-9)


def test_values_without_an_upper_end_have_a_lower_bound():
    rng, missed = np.random.default_rng(1), 0
    for _ in range(200):
        x = rng.exponential(size=200) ** 2 / 2  # of mean 1, now and then very large
        found = ConfidenceSequence(0.2, value_range=(0, None), side="lower")
        found.update(x)
        missed += found.low > 1
        assert found.high == math.inf
    assert missed <= 200 * 0.2
    assert 0.5 < found.low < 1


def test_the_range_may_grow_before_a_value():
    rng = np.random.default_rng(0)
    found = ConfidenceSequence(0.05)
    found.update(rng.random(50))
    before = found.copy()
    with pytest.raises(ValueError, match="must lie in"):
        found.update([0.5, 2.0])
    assert found == before
    found.grow(-1.0, 2.0)
    assert found.value_range == (-1.0, 2.0)
    found.update(rng.uniform(-1, 2, size=2000))
    assert found.low < 0.5 < found.high
    assert found.high - found.low < 0.3
    with pytest.raises(ValueError, match="can only grow"):
        found.grow(-1.0, 1.5)


@pytest.mark.parametrize("drifting", [False, True])
def test_a_range_that_grows_before_the_first_value_is_the_range(drifting):
    grown = ConfidenceSequence(drifting=drifting)
    grown.grow(-1, 1)
    assert (grown.low, grown.high) == (-1.0, 1.0)
    grown.update([-0.5] * 50)
    assert -1.0 < grown.low < -0.5 < grown.high < 0.0
    grown.grow(-2, 1)  # the mean of values in [-1, 1] lies there, whatever comes later
    assert -1.0 < grown.low < -0.5


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_weights_of_a_grown_range_are_those_of_the_formula(side):
    rng, sign = np.random.default_rng(0), 1.0 if side == "lower" else -1.0
    x, w = rng.uniform(-1, 2, size=40), rng.uniform(0.1, 1, size=40)
    x[:20] = rng.random(20)
    found = ConfidenceSequence(0.1, side=side, drifting=True)
    found.update(x[:20], w[:20])
    found.grow(-1, 2)
    found.update(x[20:], w[20:])
    ends = np.repeat([0.0, -1.0] if side == "lower" else [1.0, 2.0], 20)
    rates, prior = found._rates, np.exp(found._log_prior[0 if side == "lower" else 1])
    bought = np.exp(w @ np.log1p(np.outer(sign * (x - ends), rates)))
    for mean in (0.2, 0.5, 0.9):
        paid = (1 + rates * sign * (mean - w @ ends / w.sum())) ** w.sum()
        assert found.wealth(mean) == pytest.approx(prior @ (bought / paid), rel=1e-9)
    bound = found.low if side == "lower" else found.high
    assert found.wealth(bound) == pytest.approx(10, rel=1e-6)


def test_growing_ranges_miss_no_more_than_delta():
    missed = expected = 0.0
    rows = coins(10)
    for row in rows:
        found = ConfidenceSequence(0.2, tuned_for=10)
        x = row.copy()
        x[5:] = 0.5 + 3 * (row[5:] - 0.5)  # values -1 and 2 with the same mean 1/2
        found.update(x[:5])
        found.grow(-1, 2)
        found.update(x[5:])
        missed += (found.low > 0.5) or (found.high < 0.5)
        expected += found.wealth(0.5)
    assert missed / len(rows) <= 0.2
    assert 0.5 < expected / len(rows) <= 1 + 1e-9


@given(
    values=st.lists(st.floats(0, 1), min_size=1, max_size=40),
    cut=st.integers(0, 40),
    drifting=st.booleans(),
)
@settings(max_examples=40)
def test_values_one_by_one_or_at_once_have_the_same_bits(values, cut, drifting):
    at_once, in_two = (ConfidenceSequence(0.1, drifting=drifting) for _ in range(2))
    run = at_once.run(values)
    in_two.update(values[:cut])
    for value in values[cut:]:
        in_two.update(value)
    if not drifting:  # a run keeps the bounds of each round
        assert at_once == in_two
    assert (at_once.low, at_once.high) == pytest.approx((in_two.low, in_two.high), abs=1e-9)
    assert run.low[-1] == pytest.approx(at_once.low, abs=1e-9)
    assert run.log_wealth(0.4)[-1] == at_once.log_wealth(0.4)
    assert at_once.low <= run.mean[-1] + 1e-12
    assert run.mean[-1] <= at_once.high + 1e-12


def test_coins_in_any_order_have_the_same_bits():
    x = (np.random.default_rng(0).random(500) < 0.1) * 1.0
    bounds = set()
    for order in (x, x[::-1].copy(), np.sort(x)):
        found = ConfidenceSequence(drifting=True)
        found.update(order)
        bounds.add((found.low, found.high))
    assert len(bounds) == 1


def test_a_saved_sequence_goes_on_to_the_same_bits(tmp_path):
    x = np.random.default_rng(0).random(100)
    found = ConfidenceSequence(0.1, value_range=(0, 2), side="upper", tuned_for=50)
    found.update(x[:60], np.linspace(0.1, 1, 60))
    found.grow(-1, 3)
    found.save(tmp_path / "s.json")
    loaded = ConfidenceSequence.load(tmp_path / "s.json")
    for each in (found, loaded):
        each.update(x[60:])
    assert loaded == found
    assert loaded.high == found.high


REFUSED = [
    ("state", {}, "the state must be|is missing"),
    ("state.numbers", np.full(7, 0.5), "must|cannot"),
    ("state.ends", np.array([0.5, 1.0]), "must|cannot"),
    ("state.sums", np.zeros((2, 3)), "must|cannot"),
]


def test_a_file_that_no_bettor_writes_is_refused(tmp_path):
    check_files_of(ConfidenceSequence(), tmp_path / "s.json", REFUSED)


def test_a_mean_that_changes_contradicts_a_constant_one():
    x = np.repeat([0.0, 1.0], 200)
    constant, drifting = ConfidenceSequence(), ConfidenceSequence(drifting=True)
    for each in (constant, drifting):
        each.update(x)
    assert constant.contradicted
    assert "no constant mean" in str(constant)
    assert not drifting.contradicted
    assert drifting.low < 0.5 < drifting.high


def test_long_sequences_stay_finite_and_narrow():
    x = np.tile([0.0, 1.0, 0.25, 0.75], 50_000)
    found = ConfidenceSequence()
    found.update(x)
    assert 0.49 < found.low < 0.5 < found.high < 0.51
    assert found.wealth(0.9) == math.inf
    assert found.wealth(0.5) < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0.0}, r"delta must lie in \(0, 1\]"),
        ({"side": "left"}, "side must be one of both, lower, upper; got 'left'"),
        ({"value_range": (1, 0)}, "value_range must be"),
        ({"value_range": (0, None)}, "the upper bound needs the high end"),
        ({"value_range": (-math.inf, 1), "side": "lower"}, "the lower bound needs the low end"),
        ({"tuned_for": 0}, "tuned_for must be an integer >= 1"),
        ({"drifting": 1}, "drifting must be True or False"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        ConfidenceSequence(**arguments)


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([0.5, math.nan], None, "values must be finite; got nan at index 1"),
        ([1.5], None, r"values must lie in \[0, 1\]"),
        ([[0.5]], None, "one-dimensional"),
        ([0.5, 0.5], [1.0], r"weights must be of shape \(2,\)"),
        ([0.5, 0.5], [1.0, 2.0], r"weights must lie in \(0, 1\]; got 2.0 at index 1"),
        ([0.5], [0.0], r"weights must lie in \(0, 1\]"),
    ],
)
def test_bad_values_change_nothing(values, weights, message):
    found = ConfidenceSequence()
    found.update(0.3)
    before = found.copy()
    with pytest.raises(ValueError, match=message):
        found.update(values, weights)
    assert found == before


def test_the_wealth_and_the_bounds_can_be_drawn():
    run = confidence_sequence(np.random.default_rng(0).random(100), side="lower")
    axes = run.plot_wealth(0.3, 0.5).axes[0]
    assert [line.get_label() for line in axes.lines][:2] == ["mean 0.3", "mean 0.5"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), run.log_wealth(0.3) / np.log(10))
    bounds = run.plot().axes[0].lines
    np.testing.assert_array_equal(bounds[1].get_ydata(), run.low)
