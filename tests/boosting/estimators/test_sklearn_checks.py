"""scikit-learn's own checks on every engine and class, and its tools around them."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from driftgames.boosting import BOOSTERS, AdaBoostClassifier, NHBoostDTClassifier

ENGINES = [
    NHBoostDTClassifier(),  # chooses its size; the model is a mean of fold boosters
    NHBoostDTClassifier(5, max_leaves=2),  # counts mistakes and calibrates
    AdaBoostClassifier(5, calibrate=False),  # weighs every example by itself
    NHBoostDTClassifier(5, max_depth=3, calibrate=False),  # grows trees
]
OTHERS = [
    kind(n_estimators=20, calibrate=False)
    for kind in BOOSTERS.values()
    if kind not in map(type, ENGINES)
]


def expected_failures(booster):
    equal = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    if booster.calibrate:
        return dict.fromkeys(equal, "one fold holds out an example of weight 2, several its copies")
    return {}


# some checks fit a handful of points, on which the stumps run out of edges, and the booster says so
@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@parametrize_with_checks(ENGINES, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    # one fold calibrates instead of ten; the check compares probabilities with predictions, and
    # from one small fold an intercept may move the likelier class off the vote
    if estimator.n_estimators != "auto" and check.func.__name__ != "check_classifiers_train":
        for size in ("SMALL", "LARGE"):
            monkeypatch.setattr(f"driftgames.boosting.fit.folds.{size}", 0)
    check(estimator)


OF_A_CLASS = {
    "check_class_weight_classifiers",
    "check_dict_unchanged",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_estimators_unfitted",
    "check_fit_check_is_fitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}
"""The checks of a class's constructor, parameters, clones and state, and of heavy classes.

All boosters share one `fit` and one set of predictions. The other checks are about these, and run
on one booster for each engine.
"""


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize("booster", OTHERS, ids=lambda booster: type(booster).__name__)
def test_scikit_learn_checks_of_a_class(booster):
    ran = set()
    for estimator, check in estimator_checks_generator(booster):
        if check.func.__name__ in OF_A_CLASS:
            check(estimator)
            ran.add(check.func.__name__)
    assert ran == OF_A_CLASS, "scikit-learn has renamed a check"


def test_the_tags_say_any_number_of_classes_sparse_and_missing():
    tags = get_tags(NHBoostDTClassifier())
    assert tags.classifier_tags.multi_class
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def test_pipeline_and_cross_validation(cancer):
    scores = cross_val_score(
        make_pipeline(StandardScaler(), NHBoostDTClassifier(50, max_leaves=2, calibrate=False)),
        *cancer,
        cv=4,
    )
    assert scores.mean() > 0.94


def test_grid_search_over_rounds_and_constants(cancer):
    search = GridSearchCV(
        NHBoostDTClassifier(max_leaves=2, calibrate=False),
        {"n_estimators": [5, 40], "d": [3.0, 6.0]},
        cv=3,
    )
    search.fit(*cancer)
    assert search.best_params_["n_estimators"] == 40
    assert search.best_score_ > 0.94


def test_calibration_sharpens_probabilities(cancer):
    X, y = cancer
    booster = NHBoostDTClassifier(50, max_leaves=2, calibrate=False)
    calibrated = CalibratedClassifierCV(booster, cv=3).fit(X, y)
    plain = booster.fit(X, y).predict_proba(X)[:, 1]
    better = calibrated.predict_proba(X)[:, 1]
    assert np.mean((better - y) ** 2) < np.mean((plain - y) ** 2)


def test_one_against_the_rest_makes_many_classes_too():
    X, y = load_iris(return_X_y=True)
    booster = OneVsRestClassifier(NHBoostDTClassifier(30, max_leaves=2, calibrate=False)).fit(X, y)
    assert booster.score(X, y) > 0.94
