"""What a user sees of the boosters."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from driftgames.boosting import (
    BOOSTERS,
    AdaBoostClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
    PotentialBoostClassifier,
)
from driftgames.boosting.engine.game import MistakeGame
from driftgames.potentials import Exponential, NormalHedgeDT, Potential, RecipePotential, TwoNorm

SETTINGS = {
    "boost-by-majority": {"n_estimators": 31, "edge": 0.05},
    "potential boost": {"potential": TwoNorm()},
}
MODELS = {
    name: kind(**{"n_estimators": 30, "max_depth": 1, "calibrate": False, **SETTINGS.get(name, {})})
    for name, kind in BOOSTERS.items()
}
MODELS["exponential"] = PotentialBoostClassifier(Exponential(0.3), 30, calibrate=False)


@pytest.fixture(params=MODELS)
def booster(request):
    return clone(MODELS[request.param])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.7 * rng.normal(size=500) > 0
    return X, np.where(y, "yes", "no")


def same_model(one, other):
    assert one.stumps_ == other.stumps_
    np.testing.assert_array_equal(one.estimator_weights_, other.estimator_weights_)
    for part in ("edge", "zero_fraction", "training_error"):
        np.testing.assert_array_equal(one.history_[part], other.history_[part])


def test_votes_predictions_and_margins_hang_together(booster, data):
    X, y = data
    booster.fit(X, y)
    votes = booster.decision_function(X)
    by_hand = booster.stumps_.votes(X) @ booster.estimator_weights_
    np.testing.assert_allclose(votes, by_hand / booster.estimator_weights_.sum(), atol=1e-15)
    assert booster.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(booster.predict(X), np.where(votes > 0, "yes", "no"))
    np.testing.assert_allclose(booster.predict_proba(X)[:, 1], (1 + votes) / 2)
    np.testing.assert_array_equal(booster.margins(X, y), np.where(y == "yes", votes, -votes))
    assert booster.score(X, y) > 0.8
    assert booster.n_iter_ == len(booster.stumps_) == booster.n_estimators
    assert booster.history_["training_error"][-1] == pytest.approx(1 - booster.score(X, y))
    assert (booster.history_["edge"] > 0).all()
    assert not booster.ended_early_


def test_stages_end_in_the_whole(booster, data):
    X, y = data
    booster.fit(X, y)
    stages = list(booster.staged_decision_function(sp.csr_matrix(X)))
    assert len(stages) == booster.n_iter_
    np.testing.assert_allclose(stages[-1], booster.decision_function(X), atol=1e-15)
    errors = [np.mean(p != y) for p in booster.staged_predict(X)]
    np.testing.assert_allclose(errors, booster.history_["training_error"], atol=1e-15)


def test_a_tied_vote_is_for_the_first_class(data):
    X, y = data
    booster = NHBoostDTClassifier(2, max_leaves=2, calibrate=False).fit(X, y)
    tied = booster.decision_function(X) == 0
    assert tied.any()
    assert set(booster.predict(X)[tied]) == {"no"}


def test_every_kind_of_table_gives_the_same_model(booster, data):
    X, y = data
    X = np.round(X)
    names = [f"f{j}" for j in range(X.shape[1])]
    booster.fit(X, y)
    stumps, votes = booster.stumps_, booster.decision_function(X)
    assert not hasattr(booster, "feature_names_in_")
    for table in (
        X.astype(np.float32),
        X.astype(int),
        np.asfortranarray(X),
        sp.csr_matrix(X),
        sp.csc_array(X),
        sp.coo_matrix(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        booster.fit(table, y)
        assert booster.stumps_ == stumps
        np.testing.assert_array_equal(booster.decision_function(table), votes)
    assert booster.feature_names_in_.tolist() == names


def test_threads_and_the_order_of_rows_change_nothing(booster, data):
    X, y = data
    other = booster.__class__(**booster.get_params()).set_params(n_jobs=3)
    order = np.random.default_rng(1).permutation(len(y))
    same_model(booster.fit(X, y), other.fit(X[order], y[order]))


def test_integer_sample_weights_are_copies_and_zero_leaves_out(booster, data):
    X, y = np.round(data[0], 1), data[1]
    copies = np.random.default_rng(2).integers(0, 3, size=len(y))
    repeated = booster.__class__(**booster.get_params())
    booster.fit(X, y, sample_weight=copies)
    repeated.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    same_model(booster, repeated)
    assert booster.certificate_.training_error == repeated.certificate_.training_error


def test_any_scale_of_sample_weights_is_the_same_prior(booster, data):
    X, y = data
    weights = np.random.default_rng(3).random(len(y)) + 0.1
    other = booster.__class__(**booster.get_params())
    order = np.random.default_rng(4).permutation(len(y))
    booster.fit(X, y, sample_weight=weights)
    other.fit(X[order], y[order], sample_weight=1024 * weights[order])
    same_model(booster, other)


def test_an_interrupted_fit_leaves_the_booster_as_it_was(data, monkeypatch):
    X, y = data
    booster = NHBoostDTClassifier(10, max_leaves=2, calibrate=False).fit(X, y)
    before = dict(vars(booster))
    advance = MistakeGame.advance

    def interrupt(self, n_rounds):
        if self.n_rounds + n_rounds > 20:
            raise KeyboardInterrupt
        return advance(self, n_rounds)

    monkeypatch.setattr(MistakeGame, "advance", interrupt)
    booster.set_params(n_estimators=40)
    with pytest.raises(KeyboardInterrupt):
        booster.fit(X, y)
    assert vars(booster) == {**before, "n_estimators": 40}
    monkeypatch.undo()
    same_model(booster.fit(X, y), NHBoostDTClassifier(40, max_leaves=2, calibrate=False).fit(X, y))


def test_missing_values_go_to_the_better_side(booster):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    y = rng.random(400) < 0.5
    X[y & (rng.random(400) < 0.6), 0] = np.nan
    booster.fit(X, y)
    about = booster.stumps_.feature == 0
    assert about[0]
    assert (booster.stumps_.missing_vote[about][:1] == 1).all()
    assert booster.score(X, y) > 0.75
    assert (booster.predict(np.full((2, 3), np.nan)) == booster.predict([[np.nan] * 3])).all()


def test_whether_a_value_is_missing_is_a_question_of_its_own():
    X = np.array([[np.nan]] * 5 + [[1.0]] * 5)
    y = np.repeat([1, 0], 5)
    booster = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(X, y)
    assert np.isposinf(booster.stumps_.threshold).all()
    assert booster.score(X, y) == 1.0
    assert booster.predict([[-50.0]]).tolist() == [0]


def test_a_value_missing_only_later_votes_with_the_larger_side():
    X = np.array([[0.0]] * 7 + [[1.0]] * 3)
    y = np.repeat([1, 0], [7, 3])
    assert AdaBoostClassifier(3, calibrate=False).fit(X, y).predict([[np.nan]]).tolist() == [1]
    assert AdaBoostClassifier(3, calibrate=False).fit(1 - X, y).predict([[np.nan]]).tolist() == [1]


def test_no_edge_ends_the_fit_and_says_so():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(NoEdgeWarning, match="in round 1: the fit ended after 0 of 20 rounds"):
        booster = NHBoostDTClassifier(20, max_leaves=2).fit(X, [0, 1, 0, 1])
    assert booster.ended_early_
    assert booster.n_iter_ == 0
    assert booster.certificate_ is None
    assert booster.predict(X).tolist() == [0, 0, 0, 0]
    assert booster.predict_proba(X).tolist() == [[0.5, 0.5]] * 4
    assert booster.feature_importances_.tolist() == [0.0]
    with pytest.warns(NoEdgeWarning, match="round 2: the fit ended after 1 of 20"):
        some = AdaBoostClassifier(20).fit(X, [0, 1, 1, 1])
    assert some.n_iter_ == 1


def test_a_perfect_stump_outvotes_the_others_and_ends_adaboost():
    X = np.arange(10.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        booster = AdaBoostClassifier(20, calibrate=False).fit(X, X[:, 0] > 4)
    assert booster.estimator_weights_.tolist() == [1.0]
    assert booster.score(X, X[:, 0] > 4) == 1.0
    assert not booster.ended_early_


def test_importances_are_shares_of_votes_times_edges(booster, data):
    booster.fit(*data)
    importances = booster.feature_importances_
    assert importances.shape == (5,)
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-2:]) == {0, 1}


def test_verbose_asks_for_a_bar_of_all_rounds(data, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, description, total, *words):
            bars.append([total, 0])

        def __enter__(self):
            return lambda steps: bars[-1].__setitem__(1, bars[-1][1] + steps)

        def __exit__(self, *error):
            return None

    monkeypatch.setattr("driftgames.boosting.fit.fit_booster.progress", Bar)
    NHBoostDTClassifier(7, max_leaves=2, verbose=1, calibrate=False).fit(*data)
    NHBoostDTClassifier(7, max_leaves=2, calibrate=False).fit(*data)
    assert bars == [[7, 7]]


def test_the_published_constants_are_a_potential_with_a_clock_of_its_own(data):
    X, y = data
    lagging = PotentialBoostClassifier(NormalHedgeDT(d=4, lag=1), 20, calibrate=False).fit(X, y)
    plain = PotentialBoostClassifier(n_estimators=20, calibrate=False).fit(X, y)
    same_model(plain, NHBoostDTClassifier(20, max_leaves=2, calibrate=False).fit(X, y))
    assert lagging.stumps_ != plain.stumps_
    assert lagging.history_["edge"][0] == plain.history_["edge"][0]


class Plain(Potential):
    """A potential with no more than a value: the truncated square."""

    adaptive = True

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        return np.minimum(positions, 0.0) ** 2 * np.exp(-log_scale)


def test_any_potential_makes_a_booster(data):
    plain = PotentialBoostClassifier(Plain(), 25, calibrate=False).fit(*data)
    compiled = PotentialBoostClassifier(TwoNorm(), 25, calibrate=False).fit(*data)
    assert plain.stumps_ == compiled.stumps_
    np.testing.assert_allclose(plain.history_["edge"], compiled.history_["edge"], rtol=1e-12)


def test_a_potential_made_for_a_horizon_boosts_up_to_it(data):
    recipe = RecipePotential(lambda s: np.minimum(s, 0.0) ** 2, horizon=25)
    whole = PotentialBoostClassifier(recipe, 25, calibrate=False).fit(*data)
    assert whole.certificate_.holds
    assert not whole.certificate_.caveat
    assert whole.history_["zero_fraction"][-1] == 0.0  # no round comes after the last
    part = PotentialBoostClassifier(recipe, 10, calibrate=False).fit(*data)
    assert part.stumps_ == whole.stumps_[:10]
    assert "given for horizon 25; got 10" in part.certificate_.caveat


def test_shapes_explanations_and_plots_are_the_additive_models(data):
    X, y = data
    booster = NHBoostDTClassifier(30, max_leaves=2, calibrate=False).fit(
        pd.DataFrame(X, columns=list("abcde")), y
    )
    shapes = booster.shape_functions_
    votes = sum(shape(X[:, j]) for j, shape in shapes.items())
    decisions = booster.decision_function(pd.DataFrame(X, columns=list("abcde")))
    np.testing.assert_allclose(votes, decisions, atol=1e-15)
    assert booster.explain(X[0]).decision == pytest.approx(votes[0])
    assert booster.plot_shapes(n_features=2).axes
