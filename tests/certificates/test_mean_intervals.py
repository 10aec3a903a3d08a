"""Intervals from samples of a fixed size: exact coverage, and widths beside other intervals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from driftgames.certificates import coin_interval, mean_interval

DELTA = 0.2


def all_samples(values, n):
    return np.array(list(itertools.product(values, repeat=n)))


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("side", ["both", "lower", "upper"])
@pytest.mark.parametrize(
    ("values", "n"), [((0.0, 1.0), 11), ((0.0, 0.5, 1.0), 7), ((0.1, 0.2, 1.0), 7)]
)
def test_no_more_than_delta_of_all_samples_miss(values, n, side, any_order):
    samples = all_samples(values, n)
    found = [mean_interval(row, DELTA, side=side, any_order=any_order) for row in samples]
    low, high = np.array([(each.low, each.high) for each in found]).T
    index = np.searchsorted(values, samples)
    rng = np.random.default_rng(0)
    misses = []
    for p in [*rng.dirichlet(np.ones(len(values)), size=100), *np.eye(len(values))]:
        mean = float(p @ np.array(values))
        chance = np.prod(p[index], axis=1)
        misses.append(chance @ ((low > mean + 1e-12) | (high < mean - 1e-12)))
    assert max(misses) <= DELTA
    assert max(misses) > DELTA / (20 if any_order else 8)  # it is not far too wide


def grid(n_cells):
    u = np.arange(n_cells + 1) / n_cells
    return u**2 / (u**2 + (1 - u) ** 2)


def plain_rejection(x, w, claim, delta):
    """Return whether the bettor of the docstring makes 1/delta, step by step."""
    n, wealth, squares, inner = len(x), 1.0, 0.0, 0.0
    for t in range(n):
        q = delta * wealth / 1.02
        if delta * wealth >= 1:
            return True
        if q <= 1e-12:
            return False
        coin = max(1 - inner / (claim * (1 - claim) * (0.3 + t)), 0.0)
        known = 1 + 3 * coin / (claim * (1 - claim))
        variance = (known * claim * (1 - claim) * coin + squares) / (known + t)
        z = stats.norm.ppf(q)
        bet = stats.norm.pdf(z) / (q * math.sqrt(variance * (n - t)))
        bet = min(bet, 1 / claim, (1 / q - 1) / (1 - claim))
        gain = w[t] * (x[t] - claim)
        wealth *= max(1 + bet * gain, 0.0)
        squares, inner = squares + gain**2, inner + x[t] * (1 - x[t])
    return delta * wealth >= 1


def plain_lower_bound(x, w, delta):
    cells, parts = 10 + math.ceil(4 * len(x) ** 0.5), 10 + math.ceil(min(0.8 * len(x) ** 0.5, 60))
    coarse, fine = grid(cells), grid(cells * parts)
    cell = 0
    while cell + 1 < cells and plain_rejection(x, w, coarse[cell + 1], delta / 40):
        cell += 1
    i = cell * parts
    while i + 1 < cells * parts and plain_rejection(x, w, fine[i + 1], delta * 39 / 40):
        i += 1
    return fine[i]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("shape", "n"), [((1, 1), 60), ((10, 30), 25), ((0.3, 0.1), 40)])
def test_the_bounds_are_those_of_the_formula_in_plain_python(shape, n, weighted):
    rng = np.random.default_rng(n)
    for _ in range(3):
        x = rng.beta(*shape, size=n)
        w = rng.uniform(0.2, 1, size=n) if weighted else np.ones(n)
        both, lower = (mean_interval(x, 0.1, weights=w, side=side) for side in ("both", "lower"))
        # the kernel's quantile has three digits
        assert both.low == pytest.approx(plain_lower_bound(x, w, 0.05), abs=2e-3)
        assert both.high == pytest.approx(1 - plain_lower_bound(1 - x, w, 0.05), abs=2e-3)
        assert lower.low == pytest.approx(plain_lower_bound(x, w, 0.1), abs=2e-3)


@pytest.mark.parametrize("any_order", [False, True])
def test_no_more_than_delta_miss_if_weights_come_with_the_values(any_order):
    pairs = np.array([(0.2, 1.0), (1.0, 0.3), (0.6, 0.0)])
    paths = all_samples(range(3), 7)
    found = [
        mean_interval(pairs[i, 1], DELTA, weights=pairs[i, 0], any_order=any_order) for i in paths
    ]
    low, high = np.array([(each.low, each.high) for each in found]).T
    for p in np.random.default_rng(0).dirichlet(np.ones(3), size=50):
        mean = (p @ pairs.prod(axis=1)) / (p @ pairs[:, 0])
        assert np.prod(p[paths], axis=1) @ ((low > mean) | (high < mean)) <= DELTA


@pytest.mark.parametrize("n", [1, 2, 7, 30, 200])
@pytest.mark.parametrize("side", ["both", "lower", "upper"])
def test_coin_intervals_cover_every_chance(n, side):
    k = np.arange(n + 1)
    found = [coin_interval(int(each), n, DELTA, side=side) for each in k]
    low, high = np.array([(each.low, each.high) for each in found]).T
    for p in [*np.linspace(0.001, 0.999, 200), *np.clip([*low, *high], 1e-9, 1 - 1e-9)]:
        assert stats.binom.pmf(k, n, p) @ ((low > p) | (high < p)) <= DELTA + 1e-9


@given(
    n=st.sampled_from([1, 2, 15, 16, 17, 1000, 50_000, 10**7]),
    share=st.floats(0, 1),
    delta=st.floats(1e-6, 0.99),
)
@settings(max_examples=100)
def test_coin_intervals_are_those_of_clopper_and_pearson(n, share, delta):
    k = round(n * share)
    found = coin_interval(k, n, delta)
    low = stats.beta.ppf(delta / 2, k, n - k + 1) if k else 0.0
    high = stats.beta.ppf(1 - delta / 2, k + 1, n - k) if k < n else 1.0
    assert found.low == pytest.approx(low, rel=1e-6, abs=1e-12)
    assert found.high == pytest.approx(high, rel=1e-6, abs=1e-12)
    assert found.low <= found.mean <= found.high


def test_one_side_of_a_coin_interval_has_all_of_delta():
    both, lower, upper = (coin_interval(30, 400, 0.05, side=s) for s in ("both", "lower", "upper"))
    assert both.low < lower.low
    assert upper.high < both.high
    assert (lower.high, upper.low) == (1.0, 0.0)


@pytest.mark.parametrize("p", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("n", [30, 100, 400])
def test_coins_are_at_most_1_15_times_as_wide_as_clopper_and_pearson(n, p):
    rng = np.random.default_rng(n)
    ours, theirs = [], []
    for _ in range(60):
        x = (rng.random(n) < p) * 1.0
        found, exact = mean_interval(x), coin_interval(int(x.sum()), n)
        ours.append(found.high - found.low)
        theirs.append(exact.high - exact.low)
    assert np.mean(ours) <= 1.15 * np.mean(theirs)


@pytest.mark.parametrize("shape", [(1, 1), (10, 30), (100, 100), (0.1, 2.0), (0.5, 0.01)])
@pytest.mark.parametrize("n", [10, 50, 300])
def test_it_is_narrower_than_empirical_bernstein(n, shape):
    rng = np.random.default_rng(n)
    for _ in range(10):
        x = rng.beta(*shape, size=n)
        found, doubt = mean_interval(x), math.log(4 / 0.05)
        half = math.sqrt(2 * x.var(ddof=1) * doubt / n) + 7 * doubt / (3 * (n - 1))
        theirs = min(x.mean() + half, 1.0) - max(x.mean() - half, 0.0)
        assert found.high - found.low < theirs


def test_any_order_has_the_same_bits():
    rng = np.random.default_rng(0)
    x, w = rng.random(200), rng.random(200)
    orders = [rng.permutation(200) for _ in range(5)]
    found = {mean_interval(x[i], weights=w[i], any_order=True) for i in orders}
    assert len(found) == 1
    assert len({mean_interval(x[i], weights=w[i]) for i in orders}) > 1


def test_other_units_change_nothing():
    x = np.random.default_rng(0).random(100)
    unit, other = mean_interval(x), mean_interval(10 * x - 5, value_range=(-5, 5))
    assert other.low == pytest.approx(10 * unit.low - 5)
    assert other.high == pytest.approx(10 * unit.high - 5)
    assert other.mean == pytest.approx(10 * unit.mean - 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_interval([]), "at least one value"),
        (lambda: mean_interval([2.0]), r"must lie in \[0, 1\]"),
        (lambda: mean_interval([0.5], 0.0), "delta must lie in"),
        (lambda: mean_interval([0.5], side="middle"), "side must be one of"),
        (lambda: mean_interval([0.5], weights=[-1.0]), r"weights must lie in \(0, 1\]"),
        (lambda: mean_interval([0.5], any_order=1), "any_order must be True or False"),
        (lambda: coin_interval(3, 2), "successes must be at most trials; got 3 of 2"),
        (lambda: coin_interval(-1, 2), "successes must be an integer >= 0"),
        (lambda: coin_interval(0, 0), "trials must be an integer >= 1"),
        (lambda: coin_interval(0, 2**41), "at most"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("kind", ["coins", "uniform", "weighted"])
def test_an_interval_for_any_order_covers_the_mean(kind):
    rng = np.random.default_rng(5)
    missed = missed_by_half = 0
    for _ in range(200):
        values = rng.random(60) if kind == "uniform" else (rng.random(60) < 0.3).astype(float)
        weights = rng.uniform(0.2, 1.0, 60) if kind == "weighted" else None
        mean = 0.5 if kind == "uniform" else 0.3
        found = mean_interval(values, weights=weights, any_order=True)
        missed += not found.low <= mean <= found.high
        away = abs(mean - found.mean) / (
            found.high - found.mean if mean > found.mean else found.mean - found.low
        )
        missed_by_half += away > 0.5
    assert missed <= 10  # 5 %
    assert missed_by_half > 10  # half as wide an interval would fail
