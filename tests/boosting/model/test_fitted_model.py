"""What a fit leaves behind: tables built once, and a state that settings do not change."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from driftgames.boosting import (
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
    Stumps,
)
from driftgames.boosting.model.training_record import Fitted
from driftgames.certificates.margins import Margins
from driftgames.potentials import Exponential, TwoNorm


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).round(1)
    return X, (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200) > 0).astype(int)


@pytest.fixture
def built(monkeypatch):
    """The additive models that are built during a test."""
    models = []
    build = Stumps.add_up

    def record(*arguments, **settings):
        models.append(build(*arguments, **settings))
        return models[-1]

    monkeypatch.setattr(Stumps, "add_up", record)
    return models


def test_the_tables_are_built_once_for_each_fit(data, built):
    X, y = data
    booster = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(X, y)
    for use in (booster.predict, booster.decision_function, booster.predict_proba):
        use(X)
    booster.explain(X[0])
    assert booster.shape_functions_
    assert len(built) == 1
    votes = booster.set_params(n_estimators=30).fit(X, y).decision_function(X)
    assert len(built) == 2
    np.testing.assert_array_equal(
        votes, NHBoostDTClassifier(30, max_leaves=2).fit(X, y).decision_function(X)
    )


def test_copies_and_pickles_hold_no_tables_and_build_their_own(data, built):
    X, y = data
    booster = AdaBoostClassifier(9, calibrate=False).fit(X, y)
    assert b"AdditiveModel" not in pickle.dumps(booster)
    for again in (pickle.loads(pickle.dumps(booster)), copy.deepcopy(booster), copy.copy(booster)):
        np.testing.assert_array_equal(again.decision_function(X), booster.decision_function(X))
    assert len(built) == 3  # a shallow copy has the same model
    assert not hasattr(pickle.loads(pickle.dumps(clone(booster))), "classes_")
    trees = NHBoostDTClassifier(4, max_depth=2).fit(X, y)
    again = pickle.loads(pickle.dumps(trees))
    np.testing.assert_array_equal(again.decision_function(X), trees.decision_function(X))


def test_threads_share_one_model(data):
    X, y = data
    booster = NHBoostDTClassifier(30, max_leaves=2, calibrate=False).fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(booster.decision_function, [X] * 16))
    assert all(np.array_equal(votes, answers[0]) for votes in answers)


def test_stages_sort_a_sparse_matrix_by_columns_once(data, monkeypatch):
    X, y = data
    booster = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(X, y)
    sorted_rows = []
    by_columns = sp.csr_matrix.tocsc

    def record(self, copy=False):
        sorted_rows.append(self.shape)
        return by_columns(self, copy)

    monkeypatch.setattr(sp.csr_matrix, "tocsc", record)
    stages = list(booster.staged_decision_function(sp.csr_matrix(X)))
    assert sorted_rows == [X.shape]
    np.testing.assert_array_equal(stages, list(booster.staged_decision_function(X)))


@pytest.mark.parametrize(("fitted", "now"), [(1, 3), (3, 1)])
def test_predictions_are_those_of_the_fit_whatever_the_shape_says_now(data, fitted, now):
    X, y = data
    booster = NHBoostDTClassifier(6, max_depth=fitted, calibrate=False).fit(X, y)
    votes, stages = booster.decision_function(X), list(booster.staged_decision_function(X))
    importances = booster.feature_importances_
    booster.set_params(max_depth=now)
    np.testing.assert_array_equal(booster.decision_function(X), votes)
    np.testing.assert_array_equal(list(booster.staged_decision_function(X)), stages)
    np.testing.assert_array_equal(booster.feature_importances_, importances)
    assert hasattr(booster, "shape_functions_") == (fitted == 1)


CHANGES = {
    NHBoostDTClassifier(20, max_leaves=2, d=5.0, calibrate=False): {"d": 50.0},
    BoostByMajorityClassifier(21, edge=0.1, calibrate=False): {"edge": 0.3, "n_estimators": 99},
    PotentialBoostClassifier(TwoNorm(), 20, calibrate=False): {"potential": Exponential(0.5)},
}


@pytest.mark.parametrize("booster", CHANGES, ids=repr)
def test_the_certificate_is_that_of_the_fit_whatever_the_settings_say_now(data, booster):
    before = booster.fit(*data).certificate_
    assert booster.set_params(**CHANGES[booster]).certificate_ == before
    assert booster.fit(*data).certificate_ != before


def test_the_certificate_of_adaboost_has_the_exact_shares_of_the_margins(data):
    booster = AdaBoostClassifier(20, calibrate=False).fit(*data)
    exact = Margins.of_examples(booster.margins(*data))
    certificate = booster.certificate_
    np.testing.assert_array_equal(certificate.realised, exact.share(certificate.thetas))
    assert np.unique(certificate.realised).size > 20


def test_there_is_no_certificate_before_a_fit():
    assert not hasattr(NHBoostDTClassifier(calibrate=False), "certificate_")


def test_a_fit_anew_leaves_nothing_of_the_earlier_one(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    booster = NHBoostDTClassifier(6, max_depth=2, calibrate=False).fit(frame, y)
    assert len(booster.trees_) == 6
    assert not hasattr(booster, "shape_functions_")
    booster.set_params(max_depth=None, max_leaves=2).fit(X, y)
    assert not hasattr(booster, "feature_names_in_")
    assert (
        vars(booster).keys()
        == vars(NHBoostDTClassifier(6, max_leaves=2, calibrate=False).fit(X, y)).keys()
    )
    assert booster.shape_functions_


@pytest.mark.parametrize("cls", [NHBoostDTClassifier, AdaBoostClassifier])
def test_importances_are_the_edges_times_their_votes(data, cls):
    booster = cls(20, max_depth=1).fit(*data)
    gains = booster.estimator_weights_ * booster.history_["edge"]
    wanted = [gains[booster.stumps_.feature == j].sum() / gains.sum() for j in range(5)]
    np.testing.assert_allclose(booster.feature_importances_, wanted)
    booster = cls(5, max_depth=2).fit(*data)
    gains = booster.estimator_weights_ * booster.history_["edge"]
    trees = [booster.trees_[t : t + 1] for t in range(5)]
    asked = [tree.left > 0 for tree in trees]
    each = [
        np.bincount(tree.feature[at], tree.gain[at] / tree.gain.sum(), 5)
        for tree, at in zip(trees, asked, strict=True)
    ]
    wanted = np.average(each, axis=0, weights=gains)
    np.testing.assert_allclose(booster.feature_importances_, wanted)


def test_an_explanation_wants_what_prediction_wants(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    booster = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(frame, y)
    decision = booster.decision_function(frame[:1])[0]
    for x in (frame[:1], frame.iloc[0], X[0], X[0].tolist()):
        assert booster.explain(x).decision == decision
    for x in (frame[list("edcba")][:1], frame[list("edcba")].iloc[0]):
        with pytest.raises(ValueError, match="feature names should match"):
            booster.explain(x)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        booster.explain(X[:1])
    bare = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(X, y)
    for x in (X[:1], sp.csr_matrix(X[:1]), pd.Series(X[0])):
        assert bare.explain(x).decision == decision
    for x in (np.full(5, np.inf), np.full((1, 5), np.inf), pd.Series(np.full(5, np.inf))):
        with pytest.raises(ValueError, match="infinity"):
            bare.explain(x)
    with pytest.raises(ValueError, match="one row; got 2 rows"):
        bare.explain(X[:2])
    with pytest.raises(ValueError, match="one row of 5 values; got a vector of 3"):
        bare.explain(X[0, :3])


def test_a_fit_makes_another_model_and_leaves_the_old_one_as_it_was(data):
    X, y = data
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(X, y)
    model, votes = booster.model_, booster.decision_function(X)
    booster.set_params(n_estimators=9).fit(X, y)
    assert booster.model_ is not model
    np.testing.assert_array_equal(model.votes(X), votes)
    np.testing.assert_array_equal(booster.model_.part(0, 5).votes(X), votes)
    other = NHBoostDTClassifier().adopt(Fitted(model, booster.record_))
    np.testing.assert_array_equal(other.decision_function(X), votes)
    with pytest.raises(ValueError, match="read-only"):
        model.vote_weights[0] = 2.0
    for name in ("classes_", "stumps_", "history_", "n_iter_", "model_", "calibration_"):
        with pytest.raises(AttributeError):
            setattr(booster, name, None)


def test_a_model_needs_a_weight_for_each_hypothesis(data):
    model = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(*data).model_
    with pytest.raises(ValueError, match="4 weights for 5"):
        replace(model, vote_weights=np.ones(4))
