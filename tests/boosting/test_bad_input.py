"""Every bad input: a clear error in scikit-learn's manner, and nothing half-fitted."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from driftgames.boosting import (
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    DataWarning,
    NHBoostClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)


def broken(form, member, at, value):
    """Return a sparse matrix whose arrays contradict its shape."""
    matrix = sp.csr_matrix(X).asformat(form)
    getattr(matrix, member)[at] = value
    return matrix


BAD_FITS = {
    "one class": (X, np.ones(40), {}, {}, "one class only"),
    "continuous labels": (X, X[:, 0], {}, {}, "Unknown label type.* NHBoostDTRegressor fits"),
    "no rows": (X[:0], Y[:0], {}, {}, r"0 sample\(s\)"),
    "no features": (X[:, :0], Y, {}, {}, r"0 feature\(s\)"),
    "infinite": (np.where(X > 2, np.inf, X), Y, {}, {}, "infinity"),
    "sparse infinite": (sp.csr_matrix(np.where(X > 2, np.inf, X)), Y, {}, {}, "infinity"),
    "a column that is not there": (broken("csr", "indices", 5, 3), Y, {}, {}, r"\[0, 3\); got 3"),
    "a negative column": (broken("csr", "indices", 5, -1), Y, {}, {}, r"\[0, 3\); got -1"),
    "a row beyond the entries": (broken("csr", "indptr", 40, 999), Y, {}, {}, "indptr of a sparse"),
    "rows that fall": (broken("csr", "indptr", 7, 0), Y, {}, {}, "indptr of a sparse X must be 41"),
    "CSC with a wrong row": (broken("csc", "indices", 0, 40), Y, {}, {}, "row numbers.* got 40"),
    "COO with a wrong row": (broken("coo", "row", 0, 40), Y, {}, {}, "row numbers.* got 40"),
    "blocks with a wrong column": (broken("bsr", "indices", 0, 9), Y, {}, {}, "column.* got 9"),
    "an integer of 400 digits": ([[10**400], [0]], [0, 1], {}, {}, "X and y must be numbers that"),
    "a weight of 400 digits": (X, Y, {}, {"sample_weight": [10**400] * 40}, "sample_weight must"),
    "rows that differ": (X, Y[:-1], {}, {}, "inconsistent numbers of samples"),
    "negative weights": (X, Y, {}, {"sample_weight": -np.ones(40)}, "Negative values"),
    "all weights zero": (
        X,
        Y,
        {},
        {"sample_weight": np.zeros(40)},
        "non-zero|zero for every example",
    ),
    "weights of one class": (X, Y, {}, {"sample_weight": Y}, "zero for all of one class"),
    "no rounds": (X, Y, {"n_estimators": 0}, {}, "n_estimators must be an integer >= 1; got 0"),
    "one bin": (X, Y, {"max_bins": 1}, {}, "max_bins must be an integer >= 2; got 1"),
    "many bins": (X, Y, {"max_bins": 256}, {}, "max_bins must be at most 255; got 256"),
    "a fraction of a thread": (
        X,
        Y,
        {"n_jobs": 1.5},
        {},
        "n_jobs must be None or an integer other than 0, at most 2147483647; got 1",
    ),
    "threads in words": (X, Y, {"n_jobs": "a"}, {}, "an integer other than 0"),
    "no threads": (X, Y, {"n_jobs": 0}, {}, "an integer other than 0"),
    "threads beyond counting": (X, Y, {"n_jobs": 2**63}, {}, "an integer other than 0"),
    "a masked label": (
        X,
        np.ma.array(Y, mask=np.arange(40) == 3),
        {},
        {},
        "y must have no masked entries; got one at index 3",
    ),
    "a masked weight": (
        X,
        Y,
        {},
        {"sample_weight": np.ma.array(np.ones(40), mask=np.arange(40) == 5)},
        "sample_weight must have no masked entries; got one at index 5",
    ),
    "a label that is None": (
        X,
        [0, 1, None, *Y[3:]],
        {},
        {},
        "missing labels; got None at index 2",
    ),
    "a label that is NA": (
        X,
        pd.Series(["a", pd.NA] * 20, dtype="string"),
        {},
        {},
        "missing labels; got <NA> at index 1",
    ),
    "a label that is NaT": (
        X,
        np.array(["2020-01-01", "NaT"] * 20, dtype="datetime64[D]"),
        {},
        {},
        "missing labels; got None at index 1",
    ),
    "labels of two kinds": (X, ["a", 3] * 20, {}, {}, "labels of one kind.* got 'a' and 3"),
    "a score that is none": (X, Y, {"scoring": object()}, {}, "scoring must be a name, a scorer"),
    "an unknown score": (X, Y, {"scoring": "best"}, {}, "scoring must be .*; got 'best'"),
    "an unknown way to stop": (
        X,
        Y,
        {"early_stopping": "cv"},
        {},
        "early_stopping must be one of auto; got 'cv'",
    ),
    "a seed in words": (X, Y, {"random_state": "abc"}, {}, "random_state must be an integer >= 0"),
}


@pytest.mark.parametrize("case", BAD_FITS)
@pytest.mark.parametrize("cls", [NHBoostDTClassifier, AdaBoostClassifier])
def test_a_bad_fit_is_refused_and_leaves_nothing(cls, case):
    data, labels, settings, arguments, message = BAD_FITS[case]
    booster = cls(**settings)
    with pytest.raises(ValueError, match=message):
        booster.fit(data, labels, **arguments)
    assert vars(booster) == vars(cls(**settings))
    with pytest.raises(NotFittedError):
        check_is_fitted(booster)


@pytest.mark.parametrize("case", BAD_FITS)
def test_a_bad_fit_leaves_an_earlier_model_as_it_was(case):
    data, labels, settings, arguments, message = BAD_FITS[case]
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(X, Y)
    before = booster.decision_function(X)
    booster.set_params(**settings)
    with pytest.raises(ValueError, match=message):
        booster.fit(data, labels, **arguments)
    booster.set_params(n_estimators=5, max_bins=255, n_jobs=None)
    np.testing.assert_array_equal(booster.decision_function(X), before)
    assert booster.n_features_in_ == 3


@pytest.mark.parametrize(
    ("booster", "message"),
    [
        (NHBoostDTClassifier(d=0), "d must be a finite number > 0"),
        (PotentialBoostClassifier("exp"), "potential must be a Potential; got 'exp'"),
        (BoostByMajorityClassifier(edge=0.5), r"edge must be a number in \(0, 0.5\); got 0.5"),
        (BoostByMajorityClassifier(20, horizon=10), "n_estimators must be at most horizon=10"),
    ],
)
def test_settings_of_single_boosters(booster, message):
    with pytest.raises(ValueError, match=message):
        booster.fit(X, Y)


def test_prediction_wants_the_features_of_the_fit():
    booster = NHBoostClassifier(5).fit(X, Y)
    for predict in (booster.predict, booster.decision_function, booster.predict_proba):
        with pytest.raises(
            ValueError, match="X has 2 features, but NHBoostClassifier is expecting 3"
        ):
            predict(X[:, :2])
    with pytest.raises(ValueError, match="infinity"):
        booster.predict(np.full((1, 3), np.inf))
    with pytest.raises(ValueError, match=r"column numbers of a sparse X must lie in \[0, 3\)"):
        booster.predict(broken("csr", "indices", 0, 2**30))


def test_prediction_wants_a_number_of_threads():
    booster = NHBoostClassifier(5).fit(X, Y)
    votes = booster.decision_function(X)
    np.testing.assert_array_equal(booster.set_params(n_jobs=-1).decision_function(X), votes)
    with pytest.raises(ValueError, match=r"n_jobs must be None or an integer .* got 1\.5"):
        booster.set_params(n_jobs=1.5).predict(X)
    with pytest.raises(ValueError, match="an integer other than 0"):
        booster.set_params(n_jobs=0).predict(X)


def test_margins_want_known_labels_one_for_each_example():
    booster = NHBoostClassifier(5).fit(X, Y)
    with pytest.raises(ValueError, match="one label per example"):
        booster.margins(X, Y[:3])
    with pytest.raises(ValueError, match=r"classes \[0, 1\]; got .*2"):
        booster.margins(X, Y + 1)
    with pytest.raises(ValueError, match="missing labels; got <NA> at index 0"):
        booster.margins(X, np.array([pd.NA, *Y[1:]], dtype=object))


def test_masked_values_are_missing_values():
    hidden = np.abs(X) < 0.5
    labels = hidden[:, 0].astype(int)  # only the missing values tell
    masked, missing = np.ma.array(X, mask=hidden), np.where(hidden, np.nan, X)
    seen = NHBoostDTClassifier(9, max_leaves=2).fit(masked, labels)
    wanted = NHBoostDTClassifier(9, max_leaves=2).fit(missing, labels)
    assert seen.stumps_ == wanted.stumps_
    np.testing.assert_array_equal(seen.predict_proba(masked), wanted.predict_proba(missing))
    assert (seen.decision_function(masked) != seen.decision_function(X)).any()


def test_one_row_is_explained_at_a_time():
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(X, Y)
    with pytest.raises(ValueError, match="x must be one row; got 40 rows"):
        booster.explain(X)
    with pytest.raises(ValueError, match="one row of 3 values; got a vector of 40"):
        booster.explain(X[:, 0])


@pytest.mark.parametrize("method", ["fit", "fit_batches"])
def test_arguments_of_other_libraries_are_answered_with_the_parameters(method):
    message = rf"NHBoostDTClassifier.{method}\(\) has no argument 'early_stopping_rounds': "
    rows = (X, Y) if method == "fit" else ([(X, Y)],)
    with pytest.raises(TypeError, match=message + "early_stopping and n_iter_no_change are"):
        getattr(NHBoostDTClassifier(), method)(*rows, early_stopping_rounds=5)
    with pytest.raises(TypeError, match="'n_jobs': it is a parameter of NHBoostDTClassifier"):
        NHBoostDTClassifier().fit(X, Y, n_jobs=2)


def test_strings_in_an_array_name_the_setting_for_categories():
    rows = np.array([["a", 1.0], ["b", 2.0]] * 10, dtype=object)
    with pytest.raises(ValueError, match="got 'a' in row 0, column 0; categorical_features="):
        NHBoostDTClassifier(3).fit(rows, [0, 1] * 10)
    NHBoostDTClassifier(3, categorical_features=[0]).fit(rows, [0, 1] * 10)


def test_labels_that_look_like_a_quantity_are_said():
    X = np.random.default_rng(1).normal(size=(310, 2))
    booster = NHBoostDTClassifier(1, max_leaves=2, calibrate=False)
    words = "y holds 31 different numbers, which looks like a quantity; .* use NHBoostDTRegressor,"
    for labels in (np.arange(310) % 31, (np.arange(310) % 31).astype(str)):
        with pytest.warns(DataWarning, match=words):
            booster.fit(X, labels)
    with pytest.warns(DataWarning, match=words):
        booster.fit_batches([(X, np.arange(310) % 31)])
    booster.fit(X, np.arange(310) % 30)  # a warning would be an error here
    booster.fit(X, [f"class {k % 31}" for k in range(310)])


def test_labels_that_name_the_rows_are_said():
    booster = NHBoostDTClassifier(1, max_leaves=2, calibrate=False)
    names = [f"person {k // 2}" for k in range(70)]
    booster.fit(np.arange(70.0)[:, None], names)  # two rows of each
    with pytest.warns(DataWarning, match="y holds 36 different classes in 70 rows: .* a name of"):
        booster.fit(np.arange(70.0)[:, None], [*names[:-1], "another"])


def test_strings_that_are_numbers_with_marks_are_said():
    frame = pd.DataFrame({"pay": ["1.234,5", "2.000,0", None] * 20})
    words = "column 'pay' holds strings such as '1.234,5', which are read as categories: turn them"
    with pytest.warns(DataWarning, match=words):
        NHBoostDTClassifier(1, max_leaves=2, calibrate=False).fit(frame, [0, 1, 1] * 20)


def test_more_than_a_thousand_classes_are_refused():
    X, booster = np.zeros((2002, 1)), NHBoostDTClassifier()
    with pytest.raises(ValueError, match="at most 1,000 classes; got 1,001 different numbers"):
        booster.fit(X, np.arange(2002) % 1001)
    with pytest.raises(ValueError, match="at most 1,000 classes; got 1,001 different classes"):
        booster.fit(X, [f"class {k % 1001}" for k in range(2002)])


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_one_weight_for_all_rows_must_be_finite(weight):
    with pytest.raises(ValueError, match=r"must be finite; got (nan|inf)"):
        NHBoostDTClassifier(2, max_leaves=2).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    "table",
    [
        np.full((40, 3), np.datetime64("2020-01-01")),
        np.full((40, 3), np.timedelta64(3, "D")),
        np.full((40, 3), b"1.5"),
        np.zeros((40, 3), dtype=[("a", float)]),
    ],
    ids=["dates", "spans", "bytes", "records"],
)
def test_arrays_of_other_types_are_not_read_as_numbers(table):
    booster = NHBoostDTClassifier(2, max_leaves=2, calibrate=False)
    with pytest.raises(ValueError, match="X must be numbers; got an array of"):
        booster.fit(table, Y)
    booster.fit(X, Y)
    for call in (booster.predict, booster.explain_model):
        with pytest.raises(ValueError, match="X must be numbers; got an array of"):
            call(table)


def test_a_row_that_cannot_be_read_is_named():
    booster = NHBoostDTClassifier(2, max_leaves=2, calibrate=False).fit(X, Y)
    with pytest.raises(ValueError, match="x must be numbers that fit in a float64"):
        booster.explain([10**400, 1, 2])
    with pytest.raises(ValueError, match="x must be numbers; got 'a'"):
        booster.explain(["a", "b", "c"])
    with pytest.raises(ValueError, match="x must be one row; got"):
        booster.explain([[1.0], [2.0, 3.0]])


def test_the_limits_of_a_tree_may_be_as_large_as_any_integer():
    wanted = NHBoostDTClassifier(3, max_depth=None, calibrate=False, max_leaves=8).fit(X, Y)
    deep = NHBoostDTClassifier(3, max_depth=2**63 - 1, calibrate=False, max_leaves=8).fit(X, Y)
    assert deep.trees_ == wanted.trees_


def test_constraints_of_several_classes_are_refused_with_the_reason():
    booster = NHBoostDTClassifier(2, max_leaves=2, monotonic_cst=[1, 0, 0])
    with pytest.raises(ValueError, match="cannot all rise with a feature: fit one class against"):
        booster.fit(X, np.arange(40) % 3)
