import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from driftgames.core import checks


@pytest.mark.parametrize("value", [1, 5, np.int64(3)])
def test_integers_come_back_as_int(value):
    assert checks.check_integer("n", value, least=1) == int(value)
    assert type(checks.check_integer("n", value, least=1)) is int


@pytest.mark.parametrize("value", [0, 1.0, "3", True, None, math.nan])
def test_what_is_not_an_integer_from_one_on_is_refused(value):
    with pytest.raises(ValueError, match="n must be an integer >= 1; got"):
        checks.check_integer("n", value, least=1)


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan, "x", True, None])
def test_what_is_not_positive_and_finite_is_refused(value):
    with pytest.raises(ValueError, match="rate must be a finite number > 0; got"):
        checks.check_positive("rate", value)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.0000001, math.nan])
def test_what_is_not_a_fraction_is_refused(value):
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\]; got"):
        checks.check_fraction("epsilon", value)
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\]; got"):
        checks.check_fractions("epsilon", [0.5, value])


def test_range_names_value_index_and_extremes():
    with pytest.raises(
        ValueError, match=r"losses must lie in \[0, 1\]; got -0.5 at index \(1, 0\)"
    ):
        checks.check_range("losses", np.array([[0.0, 1.0], [-0.5, 2.0]]), 0.0, 1.0)
    with pytest.raises(ValueError, match="got nan at index 0"):
        checks.check_range("losses", np.array([np.nan]), 0.0, 1.0)


def test_vector_length_and_shape():
    with pytest.raises(ValueError, match=r"must be of shape \(3,\); got shape \(2,\)"):
        checks.check_vector("losses", [1, 2], 3)
    with pytest.raises(ValueError, match=r"must be one-dimensional; got shape \(1, 2\)"):
        checks.check_vector("losses", [[1, 2]])


@pytest.mark.parametrize(
    ("p", "message"),
    [([0.5, 0.6], "must sum to 1"), ([-0.5, 1.5], "nonnegative; got -0.5 at index 0")],
)
def test_what_is_no_distribution_is_refused(p, message):
    with pytest.raises(ValueError, match=message):
        checks.check_distribution("p", p, 2)


@pytest.mark.parametrize("value", [None, 5, (0, 1, 2), ("0", "1"), "01", (1, 1), (0, math.inf)])
def test_what_is_no_interval_is_refused(value):
    with pytest.raises(
        ValueError, match=r"range must be \(low, high\), finite and low < high; got"
    ):
        checks.check_interval("range", value)
    with pytest.raises(ValueError, match=r"range must be \(low, high\)"):
        checks.check_interval("range", (math.nan, 1.0))
    assert checks.check_interval("range", [0, np.float32(0.5)]) == (0.0, 0.5)


@pytest.mark.parametrize("value", [0, 1, "no", None, np.array([True])])
def test_what_is_no_truth_value_is_refused(value):
    with pytest.raises(ValueError, match="gains must be True or False; got"):
        checks.check_flag("gains", value)
    assert checks.check_flag("gains", np.True_) is True


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0 + 2.0j]),
        np.array([1, 2], dtype="timedelta64[s]"),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array(["1.5"]),
        np.array([b"1.5"]),
        np.array(["1.5", 2.0], dtype=object),
        "0.5",
        [[1.0], [1.0, 2.0]],
    ],
)
def test_what_numpy_would_turn_into_numbers_is_refused(values):
    with pytest.raises(ValueError, match="losses must be numbers; got"):
        checks.as_floats("losses", values)


@pytest.mark.parametrize(
    "values",
    [[1, 2], (True, False), np.float32([1, 2]), [Fraction(1, 2), 3], np.ma.masked_array([1.0])],
)
def test_numbers_of_any_kind_become_floats(values):
    numbers = checks.as_floats("losses", values)
    assert type(numbers) is np.ndarray
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [float(value) for value in values]


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), Fraction(10**400), 10**5000],
    ids=["large", "small", "fraction", "no digits are shown"],
)
def test_numbers_that_no_float_holds_are_refused(value):
    for check in (
        lambda: checks.check_positive("rate", value),
        lambda: checks.check_number("rate", value),
        lambda: checks.check_between("rate", value, 0, 1),
        lambda: checks.check_fraction("rate", value),
        lambda: checks.check_interval("rate", (0, value)),
        lambda: checks.check_vector("rate", [0.5, value]),
        lambda: checks.check_fractions("rate", value),
        lambda: checks.check_horizons(value),
        lambda: checks.check_integer("rate", value, least=1),
    ):
        with pytest.raises(ValueError, match=r"must (be|lie) .*; got"):
            check()


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity"])
def test_decimals_that_are_no_numbers_are_refused(text):
    for check in (
        lambda: checks.check_positive("rate", Decimal(text)),
        lambda: checks.check_interval("rate", (0, Decimal(text))),
        lambda: checks.check_vector("rate", [0.5, Decimal(text)]),
    ):
        with pytest.raises(ValueError, match=r"rate must be .*; got"):
            check()


def test_a_library_that_is_missing_is_named_with_the_extra_that_installs_it():
    wanted = r"^driftgames.hedge.river needs river: pip install 'driftgames\[river\]'$"
    with (
        pytest.raises(ImportError, match=wanted),
        checks.needs_extra("driftgames.hedge.river", "river"),
    ):
        import a_library_that_is_missing  # noqa: F401


MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (MASKED, np.array([[1.0, np.nan], [3.0, 4.0]])),
        (list(MASKED), np.array([[1.0, np.nan], [3.0, 4.0]])),
        (np.ma.array([1, 2], mask=[False, True]), np.array([1.0, np.nan])),
        (np.ma.array([True, False], mask=[True, False]), np.array([np.nan, 0.0])),
        (np.ma.array(["a", "b"], mask=[True, False]), np.array([None, "b"], dtype=object)),
        (np.ma.masked, np.array(np.nan)),
    ],
)
def test_masked_entries_are_missing_values_or_errors(values, wanted):
    found = checks.unmask("X", values, missing=True)
    np.testing.assert_array_equal(found, wanted)
    assert type(found) is np.ndarray
    with pytest.raises(ValueError, match="X must have no masked entries; got one at index"):
        checks.unmask("X", values)
    if wanted.dtype == np.float64:
        np.testing.assert_array_equal(checks.as_floats("X", values, missing=True), wanted)
        with pytest.raises(ValueError, match="X must have no masked entries"):
            checks.as_floats("X", values)


def test_masked_dates_become_no_time():
    dates = np.ma.array(np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), mask=[True, False])
    assert np.isnat(checks.unmask("X", dates, missing=True)).tolist() == [True, False]


def test_what_has_no_mask_comes_back_as_it_is():
    for values in ([1.0, 2.0], np.zeros(2), "text", None):
        assert checks.unmask("X", values) is values
    assert type(checks.unmask("X", np.ma.array([1.0, 2.0]))) is np.ndarray


def test_no_learner_reads_below_a_mask():
    """Each of these read the numbers below the mask."""
    from driftgames.bandit import POLICIES, play_games
    from driftgames.hedge import ExpertMixture, Hedge, SeriesMixture
    from driftgames.online_boosting import OnlineBBM
    from driftgames.portfolio import price_relatives, run

    X, y = np.ma.array(np.eye(3), mask=np.eye(3, dtype=bool)), np.array([0.5, 0.2, 0.1])
    gaps = np.where(np.eye(3, dtype=bool), np.nan, np.eye(3))
    own, same = ExpertMixture().fit(X, y), ExpertMixture().fit(gaps, y)
    assert own.total_loss_ == same.total_loss_
    assert own.rounds_awake_.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(own.predict(X[:1]), same.predict(gaps[:1]))
    series = [SeriesMixture(outside="nearest").predict_then_fit(each, y) for each in (X, gaps)]
    np.testing.assert_array_equal(*series)
    hidden = np.ma.array(y, mask=[True, False, False])
    prices = np.ma.array([[1.0, 2.0], [2.0, 1.0]], mask=[[False, True], [False, False]])
    for refused in (
        lambda: ExpertMixture().fit(gaps, hidden),
        lambda: Hedge(3).update(hidden),
        lambda: Hedge(3).run(X),
        lambda: run(prices),
        lambda: price_relatives(prices),
        lambda: play_games(POLICIES["exp3"], X),
        lambda: OnlineBBM(3, 0.1).run(np.ma.ones((1, 3)) * X[:1], [1]),
    ):
        with pytest.raises(ValueError, match="must have no masked entries; got one at index"):
            refused()


def test_a_string_that_no_table_shows_is_named_by_itself():
    with (
        pytest.raises(ValueError, match=r"X and y must be numbers; got 'a'"),
        checks.float_errors("X and y"),
    ):
        np.array(["a"]).astype(float)
    with pytest.raises(ValueError, match="another"), checks.float_errors("X and y"):
        raise ValueError("another")
