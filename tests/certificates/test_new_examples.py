"""The promise about new examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom

from driftgames.certificates import NewExamples, coin_interval

COUNTS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def surprise(wrong, n, p):
    return -binom.logcdf(wrong, n, p)


@given(COUNTS, st.sampled_from([1, 25]))
def test_one_part_has_the_bound_of_a_coin_with_delta_shared_by_the_candidates(counts, m):
    n, wrong = counts
    made = NewExamples((n,), (wrong,), n_candidates=m)
    assert made.high == coin_interval(wrong, n, 0.05 / m, side="upper").high
    if wrong < n:
        assert binom.cdf(wrong, n, made.high) == pytest.approx(0.05 / m, rel=1e-6)


@given(COUNTS, st.integers(2, 10))
def test_equal_folds_have_the_bound_of_one_of_them_with_delta_over_e(counts, n_folds):
    n, wrong = counts
    made = NewExamples((n,) * n_folds, (wrong,) * n_folds, "mean")
    one = coin_interval(wrong, n, 0.05 / math.e, side="upper").high
    assert made.high == pytest.approx(one, rel=1e-7)


def largest_mean(n, wrong, budget):
    """Spend the budget on two coins in the best way."""

    def chance(k, spent):
        if wrong[k] == n[k]:
            return 1.0
        return brentq(lambda p: surprise(wrong[k], n[k], p) - spent, 1e-12, 1 - 1e-12, xtol=1e-14)

    def less(share):
        parts = share * budget, (1 - share) * budget
        return -sum(n[k] * chance(k, parts[k] * sum(n) / n[k]) for k in (0, 1)) / sum(n)

    return -minimize_scalar(less, bounds=(1e-6, 1 - 1e-6), options={"xatol": 1e-10}).fun


@pytest.mark.parametrize(
    ("n", "wrong"), [((40, 40), (4, 9)), ((40, 20), (10, 8)), ((100, 90), (30, 22))]
)
def test_folds_have_the_largest_mean_that_their_surprise_allows(n, wrong):
    high = NewExamples(n, wrong, "mean").high
    wanted = largest_mean(n, wrong, 1 + math.log(20))
    assert wanted <= high == pytest.approx(wanted, abs=1e-6)


@given(st.lists(COUNTS, min_size=2, max_size=6))
def test_the_bound_of_folds_lies_above_every_mean_within_the_budget(counts):
    n, wrong = map(tuple, zip(*counts, strict=True))
    made = NewExamples(n, wrong, "mean")
    assert made.estimate <= made.high <= 1
    at = [coin_interval(w, m, 0.05 / math.e, side="upper").high for m, w in counts]
    assert np.average(at, weights=n) <= made.high


@given(st.lists(COUNTS, min_size=2, max_size=6))
def test_more_candidates_less_delta_and_more_errors_raise_the_bound(counts):
    n, wrong = map(tuple, zip(*counts, strict=True))
    high = NewExamples(n, wrong, "mean").high
    more = tuple(min(w + 1, m) for m, w in counts)
    for other in (
        NewExamples(n, wrong, "mean", n_candidates=9),
        NewExamples(n, wrong, "mean", delta=0.01),
        NewExamples(n, more, "mean"),
    ):
        assert other.high >= high * (1 - 1e-8)


@pytest.mark.parametrize("together", [False, True])
def test_folds_that_err_together_or_apart_are_missed_at_most_as_often_as_allowed(together):
    """Five coins of one outcome are the worst case of dependence: the bound must allow for it."""
    rng, n, p, delta, n_draws = np.random.default_rng(0), 40, 0.2, 0.2, 2000
    counts = rng.binomial(n, p, size=(n_draws, 1 if together else 5))
    distinct = {tuple(sorted(np.broadcast_to(row, 5).tolist())): 0 for row in counts}
    for each in distinct:
        distinct[each] = NewExamples((n,) * 5, each, "mean", delta=delta).high
    highs = [distinct[tuple(sorted(np.broadcast_to(row, 5).tolist()))] for row in counts]
    assert np.mean(np.array(highs) < p) <= delta


def test_the_first_line_says_to_whom():
    own = NewExamples((1000,), (100,))
    folds = NewExamples((200,) * 5, (20, 18, 25, 21, 16), "mean", n_candidates=50)
    again = NewExamples((200,) * 5, (20, 18, 25, 21, 16), "refit")
    single = NewExamples((1000,), (100,), "refit")
    alone = NewExamples((200,) * 5, (20, 18, 25, 21, 16), "folds")
    assert str(alone).endswith("they got 100 of 1,000 examples wrong that they held out: 10.0 %")
    assert alone.promise.endswith("the 5 fold boosters, on average")
    assert alone.high == again.high
    begin = "error on new examples at most"
    assert own.promise == f"{begin} 11.7 % with confidence 95 %: this booster"
    assert folds.promise.endswith(": the 5 fold boosters, on average")
    assert single.promise.endswith(": the fold booster")
    assert "estimate for this model, the mean of their votes: 10.0 % error on 1,000" in str(folds)
    assert "estimate for this model, fitted once more to all examples: 10.0 %" in str(again)
    assert "chose among 50 candidates: the bound is corrected" in str(folds)
    assert "the estimate is not, and is a little too low" in str(folds)
    assert "candidates" not in str(again)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_the_printed_bound_is_rounded_up(counts):
    n, wrong = counts
    made = NewExamples((n,), (wrong,))
    if made.high < 1:
        printed = float(made.promise.split("at most ")[1].split(" %")[0])
        assert made.high - 1e-9 <= printed / 100 <= made.high + 0.001 + 1e-9


def test_where_nothing_is_promised_it_says_why():
    none = NewExamples((), (), caveat="none were held out")
    assert str(none) == "nothing is promised about new examples: none were held out"
    assert (none.high, none.estimate) == (1.0, None)
    kept = NewExamples((50,), (5,), "refit", caveat="the fit ended early")
    assert kept.high == 1.0
    assert "10.0 % error on 50 examples" in str(kept)
    assert "too few were held out" in str(NewExamples((3,), (3,)))


def test_the_json_form_has_the_promise_first():
    found = NewExamples((200, 200), (20, 10), "mean").to_json()
    assert next(iter(found)) == "promise"
    assert found["error_at_most"] == NewExamples((200, 200), (20, 10), "mean").high
    assert found["estimate"] == 0.075
    assert NewExamples((), (), caveat="none").to_json()["error_at_most"] is None


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        (((10,), (11,)), "n_errors must be at most n_examples; got 11 of 10"),
        (((10,), (1, 2)), "n_errors must have one count for each of 1 parts; got 2"),
        (((0,), (0,)), "n_examples must be"),
        (((10, 10), (1, 1)), 'model="own" is for one part; got 2'),
        (((10,), (1,), "best"), "model must be one of own, mean, refit, folds; got 'best'"),
        (((10,), (1,), "own", 0), "n_candidates must be"),
        (((10,), (1,), "own", 1, 0.0), "delta must"),
        (((), ()), "caveat must say why"),
    ],
)
def test_wrong_counts_are_refused(given_, words):
    with pytest.raises(ValueError, match=words):
        NewExamples(*given_)
