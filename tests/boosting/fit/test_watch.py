"""Evaluation sets, early stopping and callbacks."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from driftgames.boosting import AdaBoostClassifier, BoostByMajorityClassifier, NHBoostDTClassifier
from driftgames.boosting.fit.job import Stopping
from driftgames.boosting.persistence import encode_model, load_model


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)
    return X, (X[:, 0] + np.sin(2 * X[:, 1]) + 1.5 * rng.normal(size=300) > 0).astype(int)


@pytest.mark.parametrize(
    "booster",
    [
        NHBoostDTClassifier(12, max_leaves=2, calibrate=False),
        AdaBoostClassifier(12, max_depth=2, calibrate=False),
    ],
    ids=["stumps", "trees"],
)
def test_each_round_is_evaluated_as_the_stages_are(booster, data):
    X, y = data
    booster.fit(
        X[:200],
        y[:200],
        eval_set=[(X[200:], y[200:]), (sp.csr_matrix(X[:200]), y[:200])],
        eval_names=["new", "old"],
    )
    assert list(booster.evals_result_) == ["new", "old"]
    new, old = booster.evals_result_.values()
    errors = [np.mean(p != y[200:]) for p in booster.staged_predict(X[200:])]
    np.testing.assert_allclose(new["error"], errors, atol=1e-15)
    np.testing.assert_allclose(old["error"], booster.history_["training_error"], atol=1e-15)
    fitted = LogisticRegression(C=1e6, tol=1e-8)
    for votes, loss in zip(booster.staged_decision_function(X[200:]), new["log_loss"], strict=True):
        fitted.fit(votes[:, None], y[200:])
        best = log_loss(y[200:], fitted.predict_proba(votes[:, None]))
        assert best - 1e-9 < loss < best + 0.01  # the prior and an intercept of 0 cost this
    booster.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
    np.testing.assert_array_equal(booster.evals_result_["valid_0"]["error"], new["error"])
    booster.fit(X[:200], y[:200])
    assert not hasattr(booster, "evals_result_")


def test_the_stopping_rule_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    for _ in range(300):
        scores = rng.integers(0, 4, size=rng.integers(1, 9)).tolist()
        n, tol = int(rng.integers(1, 5)), float(rng.integers(0, 2))
        theirs = HistGradientBoostingClassifier(n_iter_no_change=n, tol=tol)
        assert Stopping(0.1, n, "loss", tol).is_over(scores) == theirs._should_stop(scores)


@pytest.mark.parametrize("scoring", ["loss", "accuracy", None])
def test_a_fit_stops_where_the_score_no_longer_rises(data, scoring):
    X, y = data
    settings = {"n_iter_no_change": 5, "scoring": scoring, "early_stopping": True}
    booster = NHBoostDTClassifier(400, max_leaves=2, **settings, calibrate=False).fit(X, y)
    assert booster.n_iter_ < 400
    assert not booster.ended_early_
    assert booster.validation_score_.size == booster.n_iter_ + 1
    rule = Stopping(0.1, 5, scoring, 1e-7)
    over = [rule.is_over(booster.validation_score_[:t].tolist()) for t in range(2, 99)]
    assert over.index(True) + 2 == booster.n_iter_ + 1
    # the rows that train depend on their contents, not on their order
    order = np.random.default_rng(2).permutation(y.size)
    other = NHBoostDTClassifier(400, max_leaves=2, **settings, calibrate=False).fit(
        X[order], y[order]
    )
    assert encode_model(other) == encode_model(booster)


def test_the_held_out_share_does_not_train(data):
    X, y = data
    sizes = {}
    for share in (0.25, 60, None):
        booster = NHBoostDTClassifier(
            2, max_leaves=2, early_stopping=True, validation_fraction=share
        )
        booster.set_params(calibrate=False).fit(X, y)
        sizes[share] = booster.record_.margins.masses.sum()
    assert sizes[None] == 300
    assert sizes[0.25] == pytest.approx(225, abs=8)
    assert sizes[60] == pytest.approx(240, abs=8)


def test_an_eval_set_decides_when_there_is_one_and_all_examples_train(data):
    X, y = data
    booster = NHBoostDTClassifier(200, max_leaves=2, early_stopping=True, calibrate=False)
    booster.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
    assert booster.record_.margins.masses.sum() == 200
    np.testing.assert_array_equal(
        -booster.validation_score_[1:], booster.evals_result_["valid_0"]["log_loss"]
    )
    assert booster.n_iter_ < 200


def test_auto_stops_early_on_many_examples_only(data, monkeypatch):
    booster = NHBoostDTClassifier(80, max_leaves=2, early_stopping="auto", calibrate=False)
    assert booster.fit(*data).n_iter_ == 80
    assert clone(booster).set_params(early_stopping=np.False_).fit(*data).n_iter_ == 80
    monkeypatch.setattr("driftgames.boosting.fit.fit_booster.MANY", 299)
    assert booster.fit(*data).n_iter_ < 80


def test_callbacks_see_each_round_stop_the_fit_and_save_it(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    seen = []

    def watch(t, stage):
        seen.append((t, stage.n_estimators, stage.edge, stage.training_error))
        if t == 5:
            stage.model().save(tmp_path / "m.json")
        return t == 7

    booster = NHBoostDTClassifier(20, max_leaves=2).fit(frame, y, callbacks=[watch])
    assert [each[:2] for each in seen] == [(t, 20) for t in range(1, 8)]
    np.testing.assert_array_equal([each[2] for each in seen], booster.history_["edge"])
    np.testing.assert_array_equal([each[3] for each in seen], booster.history_["training_error"])
    assert (booster.n_iter_, booster.ended_early_) == (7, False)
    assert booster.calibration_ is not None
    part = load_model(tmp_path / "m.json")
    assert part.stumps_ == booster.stumps_[:5]
    assert part.calibration_ is None
    assert part.feature_names_in_.tolist() == list("abcd")


def test_a_stopped_game_of_known_length_is_calibrated_with_its_plan(data):
    booster = BoostByMajorityClassifier(30).fit(*data, callbacks=[lambda t, _: t == 9])
    assert booster.n_iter_ == 9
    planned = BoostByMajorityClassifier(9, horizon=30).fit(*data)
    np.testing.assert_array_equal(booster.calibration_.slope, planned.calibration_.slope)


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({"early_stopping": "yes"}, {}, "early_stopping must be .*got 'yes'"),
        ({"early_stopping": True, "validation_fraction": 1.5}, {}, "validation_fraction .*got 1.5"),
        ({"early_stopping": True, "validation_fraction": 299}, {}, "=299 of 300 examples must le"),
        ({"n_iter_no_change": 0}, {}, "n_iter_no_change must be .*got 0"),
        ({"tol": -1.0}, {}, "tol must be .*got -1.0"),
        ({"calibrate": "no"}, {}, "calibrate must be .*got 'no'"),
        ({}, {"eval_set": [1]}, "eval_set must be a pair"),
        ({}, {"eval_set": ([[1.0] * 4], [2])}, r"valid_0 must hold the classes \[0, 1\]; got 2"),
        ({}, {"eval_set": ([[1.0] * 3], [1])}, "3 features"),
        ({}, {"eval_set": ([[1.0] * 4], [1]), "eval_names": []}, "eval_names must be 1 diff"),
    ],
)
def test_bad_settings_are_named_and_leave_the_booster_as_it_was(data, settings, options, message):
    booster = NHBoostDTClassifier(3, max_leaves=2, **settings)
    before = dict(vars(booster))
    with pytest.raises(ValueError, match=message):
        booster.fit(*data, **options)
    assert vars(booster) == before
