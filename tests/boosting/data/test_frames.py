"""Columns of data frames: a rule for every type, and a clear error for what has none."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.data.frames import UNKNOWN, code_columns

N = 40
LETTERS = ["a", "b", "c", "d"] * 10
NUMBERS = [1.0, 2.0, None, 4.0] * 10
Y = np.arange(N) % 4 > 1

COLUMNS = {
    "pandas bool": (pd.Series([True, False] * 20), [1.0, 0.0] * 20),
    "pandas Int64": (pd.array([1, 2, None, 4] * 10, dtype="Int64"), NUMBERS),
    "pandas boolean": (pd.array([True, None] * 20, dtype="boolean"), [1.0, None] * 20),
    "pandas objects": (pd.Series([1, Decimal("2"), None, 4.0] * 10, dtype=object), NUMBERS),
    "polars decimal": (pl.Series([Decimal("1"), Decimal("2"), None, Decimal("4")] * 10), NUMBERS),
    "polars null": (pl.Series([None] * N), [None] * N),
    "polars float": (pl.Series([1.0, 2.0, float("nan"), 4.0] * 10, dtype=pl.Float32), NUMBERS),
    "arrow bool": (pa.array([True, None] * 20), [1.0, None] * 20),
    "arrow decimal": (pa.array([Decimal("1"), Decimal("2"), None, Decimal("4")] * 10), NUMBERS),
}


def frame_of(column, **others):
    """Return a frame of the library that the column is of."""
    kind = type(column).__module__.split(".")[0]
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind]
    return make({"x": column, **others})


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_of_numbers_are_the_same_with_and_without_a_column_of_categories(case):
    column, numbers = COLUMNS[case]
    wanted = np.array(numbers, dtype=float)
    codes, _ = code_columns(
        frame_of(column, c=LETTERS), (None, None), learn=np.array([False, True])
    )
    np.testing.assert_array_equal(codes[:, 0], wanted)
    np.testing.assert_array_equal(codes[:, 1], [0, 1, 2, 3] * 10)
    other = np.arange(N) % 3
    alone = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(frame_of(column, z=other), Y)
    plain = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(
        np.column_stack([wanted, other]), Y
    )
    assert alone.stumps_ == plain.stumps_
    assert alone.encoder_ is None


DAYS = np.arange(N) + 18262.5  # since 1970: noon of 2020-01-01
NOONS = pd.Series(pd.date_range("2020-01-01 12:00", periods=N))
DATES = {
    "pandas": NOONS,
    "pandas in a zone": NOONS.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "pandas objects": NOONS.astype(object),
    "polars": pl.Series(NOONS.to_numpy()),
    "pyarrow": pa.array(NOONS.to_numpy()),
}


@pytest.mark.parametrize("case", DATES)
def test_dates_are_days_since_1970(case):
    frame = frame_of(DATES[case])
    codes, _ = code_columns(frame, (None,))
    np.testing.assert_array_equal(codes[:, 0], DAYS)
    y = np.arange(N) > N // 3
    plain = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(DAYS[:, None], y)
    if case != "pandas objects":
        dated = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(frame, y)
        assert dated.stumps_ == plain.stumps_
        np.testing.assert_array_equal(dated.predict(frame), y)
    pandas = pd.DataFrame({"x": DAYS})
    numbers = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(pandas, y)
    np.testing.assert_array_equal(numbers.predict(frame), y)


def test_durations_are_days():
    spans = NOONS - NOONS[0]
    for frame in (pd.DataFrame({"x": spans}), pl.DataFrame({"x": spans.to_numpy()})):
        np.testing.assert_array_equal(code_columns(frame, (None,))[0][:, 0], np.arange(N))


CATEGORIES = {
    "pandas category": (pd.Categorical(["b", "a", None]), ("a", "b"), [1, 0, np.nan]),
    "pandas ordered": (
        pd.Categorical(["b", "a", None], categories=["z", "b", "a"], ordered=True),
        ("b", "a"),
        [0, 1, np.nan],
    ),
    "pandas numbers": (pd.Categorical([3, 1, 2.5]), (1, 2.5, 3), [2, 0, 1]),
    "pandas intervals": (pd.cut([1, 5, 9], [0, 4, 10]), ("(0, 4]", "(4, 10]"), [0, 1, 1]),
    "pandas all missing": (pd.Series([None] * 3, dtype=object), (), [np.nan] * 3),
    "polars category": (
        pl.Series(["b", "a", None], dtype=pl.Categorical),
        ("a", "b"),
        [1, 0, np.nan],
    ),
    "polars enum": (
        pl.Series(["b", "a", None], dtype=pl.Enum(["b", "a"])),
        ("b", "a"),
        [0, 1, np.nan],
    ),
    "polars text": (pl.Series(["", "ß", "a"]), ("", "a", "ß"), [0, 2, 1]),
    "polars decimals": (pl.Series([Decimal("1.5"), Decimal("1"), None]), (1, 1.5), [1, 0, np.nan]),
    "polars dates": (
        pl.Series([datetime.date(2020, 2, 1), None]),
        ("2020-02-01",),
        [0, np.nan],
    ),
    "pandas truth values": (pd.Series([True, False]), (False, True), [1, 0]),
    "arrow dictionary": (pa.array([7, 5, None]).dictionary_encode(), (5, 7), [1, 0, np.nan]),
}


@pytest.mark.parametrize("case", CATEGORIES)
def test_categories_are_sorted_or_in_the_order_of_their_type(case):
    column, categories, wanted = CATEGORIES[case]
    if isinstance(column, pd.Categorical):
        column = pd.Series(column)
    frame = frame_of(column)
    codes, found = code_columns(frame, (None,), learn=np.array([True]))
    assert found == (categories,)
    np.testing.assert_array_equal(codes[:, 0], wanted)
    again, _ = code_columns(frame, found)
    np.testing.assert_array_equal(again, codes)


def test_values_that_the_fit_did_not_see_have_a_code_of_their_own():
    rows = np.array([["a", 1.0], ["x", None], [np.nan, 2.0], [pd.NA, 3]], dtype=object)
    codes, _ = code_columns(rows, (("a", "b"), None))
    np.testing.assert_array_equal(codes, [[0, 1], [UNKNOWN, np.nan], [np.nan, 2], [np.nan, 3]])
    codes, _ = code_columns(np.array([[True], [3.0], [2**60]], dtype=object), ((1, 2**60),))
    np.testing.assert_array_equal(codes[:, 0], [0, UNKNOWN, 1])


LETTER_FRAME = pd.DataFrame({"c": LETTERS, "x": NUMBERS})
BAD = {
    "times of day": (pl.DataFrame({"x": [datetime.time(7)] * N}), {}, "'x' is of type Time"),
    "dates of two meanings": (
        pd.DataFrame({"x": ["01/02/2020"] * N, "c": LETTERS}),
        {"categorical_features": ["c"]},
        "column 'x': a date such as '01/02/2020' has two meanings",
    ),
    "lists": (pl.DataFrame({"x": [[1]] * N}), {}, "column 'x' is of type List"),
    "objects": (LETTER_FRAME.assign(x=[{}] * N), {}, "column 'x' must hold numbers"),
    "categories that are no values": (
        pd.DataFrame({"x": [{}] * N}),
        {"categorical_features": ["x"]},
        "column 'x' must hold strings or numbers",
    ),
    "strings and numbers": (
        pd.DataFrame({"c": ["a", 1] * 20, "x": NUMBERS}),
        {"categorical_features": ["c"]},
        "column 'c' must hold categories of one kind, strings or numbers; got 'a' and 1",
    ),
    "infinite categories": (
        np.array([[np.inf], [0.0]] * 20),
        {"categorical_features": [0]},
        "column 0 holds inf",
    ),
    "another word": (LETTER_FRAME, {"categorical_features": "all"}, "got 'all'"),
    "no categories": (LETTER_FRAME, {"categorical_features": None}, "must be numbers; got"),
    "other categories": (
        LETTER_FRAME.assign(d=LETTERS),
        {"categorical_features": ["c"]},
        "column 'd' must hold numbers; got 'a'",
    ),
    "an unknown name": (
        LETTER_FRAME,
        {"categorical_features": ["y"]},
        r"positions of the 2 columns \['c', 'x'\]; got 'y'",
    ),
    "a name without names": (np.eye(N), {"categorical_features": ["c"]}, "columns; got 'c'"),
    "a far position": (LETTER_FRAME, {"categorical_features": [2]}, "got 2"),
    "a short mask": (LETTER_FRAME, {"categorical_features": [True]}, r"each of 2 columns; got \[T"),
    "sparse": (sp.csr_matrix(np.eye(N)), {"categorical_features": [0]}, "X is sparse"),
    "infinite numbers": (LETTER_FRAME.assign(x=np.inf), {}, "infinity"),
    "fewer labels": (LETTER_FRAME[:-1], {}, "inconsistent numbers of samples"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_rule_is_refused_and_leaves_nothing(case):
    X, settings, message = BAD[case]
    booster = NHBoostDTClassifier(2, max_leaves=2, **settings, calibrate=False)
    with pytest.raises((TypeError, ValueError), match=message):
        booster.fit(X, Y)
    assert vars(booster).keys() == vars(NHBoostDTClassifier(calibrate=False)).keys()


def test_prediction_wants_the_columns_of_the_fit():
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(LETTER_FRAME, Y)
    wrong = {
        "feature names should match": LETTER_FRAME[["x", "c"]],
        "'a' and 3": LETTER_FRAME.assign(c=3),
        "column 'x' must hold numbers; got 'a'": LETTER_FRAME.assign(x="a"),
        "feature names should match those": LETTER_FRAME[["c"]],
    }
    for message, X in wrong.items():
        with pytest.raises(ValueError, match=message):
            booster.predict(X)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        votes = booster.decision_function(LETTER_FRAME.to_numpy())
    np.testing.assert_array_equal(votes, booster.decision_function(LETTER_FRAME))


def test_text_that_is_a_number_is_read_as_one():
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(LETTER_FRAME, Y)
    text = LETTER_FRAME.assign(x=[None if x is None else repr(float(x)) for x in NUMBERS])
    found = booster.decision_function(text)
    np.testing.assert_array_equal(found, booster.decision_function(LETTER_FRAME))
