"""The river adapter: river's own checks, pipelines, and the faults of its EWARegressor."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from river import base, checks, datasets, evaluate, linear_model, metrics, preprocessing

from driftgames.hedge.losses.interval_losses import AbsoluteLoss
from driftgames.hedge.river import HedgeClassifier, HedgeRegressor


class Says(base.Regressor):
    """Predict one feature, or a constant; learn nothing."""

    def __init__(self, what):
        self.what = what
        self.seen = 0

    def learn_one(self, x, y):
        self.seen += 1

    def predict_one(self, x):
        return x.get(self.what, self.what)


class Votes(base.Classifier):
    """Predict a label without probabilities."""

    def __init__(self, label):
        self.label = label

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return self.label


def instances(kind):
    return [kind(**parameters) for parameters in kind._unit_test_params()]


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{type(model).__name__}-{check.__name__}")
        for model in [*instances(HedgeRegressor), *instances(HedgeClassifier)]
        for check in checks.yield_checks(model)
        if check.__name__ not in model._unit_test_skips()
    ],
)
def test_river_checks(model, check):
    check(model.clone())


def test_a_regressor_is_the_mixture_of_its_models():
    from driftgames import ExpertMixture

    X = np.random.default_rng(0).normal(100.0, 30.0, (40, 2))
    y = X @ [0.3, 0.7] + np.random.default_rng(1).normal(size=40)
    for settings in ({}, {"linearise": False}):
        model = HedgeRegressor([Says("a"), Says("b")], **settings)
        predictions = []
        for row, outcome in zip(X, y, strict=True):
            predictions.append(model.predict_one({"a": row[0], "b": row[1]}))
            model.learn_one({"a": row[0], "b": row[1]}, outcome)
        mixture = ExpertMixture(combiners=False, **settings)
        np.testing.assert_allclose(predictions, mixture.predict_then_fit(X, y), rtol=1e-12)
        np.testing.assert_allclose(model.weights, mixture.weights_, rtol=1e-9)
        assert model.certificate().holds


def test_three_models_that_all_say_one_predict_one_at_first():
    assert HedgeRegressor([Says(1.0) for _ in range(3)]).predict_one({}) == 1.0


def test_the_best_model_wins_and_every_bound_holds():
    rng = np.random.default_rng(3)
    model = HedgeRegressor([Says("good"), Says("bad"), Says(0.5)], AbsoluteLoss(0, 1))
    for _ in range(500):
        y = float(rng.random())
        x = {"good": min(1.0, y + 0.05), "bad": 1.0 - y}
        before = model.weights
        model.predict_one(x)
        assert np.array_equal(model.weights, before)  # predicting changes nothing
        model.learn_one(x, y)
    assert model.weights.argmax() == 0
    assert model.certificate().holds
    assert model.certificate().horizon == 500
    assert [each.seen for each in model] == [500] * 3


def test_a_wild_model_is_moved_to_the_nearer_end_of_the_range():
    model = HedgeRegressor([Says(1e300), Says(-7.0)], outcome_range=(0, 10))
    assert model.predict_one({}) == 5.0
    model.learn_one({}, 10.0)
    assert model.weights[0] > model.weights[1]


def test_an_outcome_outside_the_range_is_named_and_nobody_learns():
    model = HedgeRegressor([Says(0.5), Says(0.6)], outcome_range=(0, 10))
    before = model.weights
    with pytest.raises(ValueError, match=r"outcomes must lie in \[0, 10\]; got 11.0"):
        model.learn_one({}, 11.0)
    with pytest.raises(ValueError, match="predictions must be finite; got nan"):
        HedgeRegressor([Says(np.nan)]).learn_one({}, 0.5)
    assert np.array_equal(model.weights, before)
    assert [each.seen for each in model] == [0, 0]


def test_in_a_pipeline_it_is_about_as_good_as_its_best_model():
    def score(model):
        pipeline = preprocessing.StandardScaler() | model
        stream = datasets.TrumpApproval().take(400)
        return evaluate.progressive_val_score(stream, pipeline, metrics.MAE()).get()

    makers = [linear_model.PARegressor, lambda: linear_model.LinearRegression(intercept_lr=0.1)]
    alone = [score(make()) for make in makers]
    mixed = score(HedgeRegressor([make() for make in makers], outcome_range=(30, 50)))
    assert mixed <= 1.1 * min(alone)


def test_state_survives_pickling_and_clones_are_fresh():
    model = HedgeRegressor([Says(0.2), Says(0.9)])
    for _ in range(20):
        model.learn_one({}, 0.8)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.weights, model.weights)
    assert model.weights[1] == pytest.approx(6 / 7, abs=1e-3)  # 0.2 / 7 + 0.9 * 6 / 7 = 0.8
    assert model.clone().weights.tolist() == [0.5, 0.5]


def test_probabilities_are_mixed_and_the_better_model_wins():
    model = HedgeClassifier([Votes("a"), Votes("b")])
    assert model.predict_proba_one({}) == {"a": 0.5, "b": 0.5}
    for t in range(200):
        model.learn_one({}, "b" if t % 4 else "a")
    proba = model.predict_proba_one({})
    assert sum(proba.values()) == pytest.approx(1.0)
    assert model.predict_one({}) == "b"
    assert proba["b"] > 0.9
    # a sure label costs half of (1 + 1) when it is wrong and nothing when right
    assert model.certificate().realised[1] <= model.certificate().promised[1]
    assert model._learner.action_losses.tolist() == [150.0, 50.0]


def test_a_classifier_that_knows_no_label_yet_loses_one_half():
    model = HedgeClassifier([linear_model.LogisticRegression(), Votes(None)])
    model.learn_one({"x": 1.0}, True)
    assert model._learner.action_losses.tolist() == [0.25, 0.5]


class Gives(Votes):
    """Give these probabilities, whatever comes."""

    def predict_proba_one(self, x):
        return self.label


def test_probabilities_may_sum_to_a_hair_above_one():
    # the loss 1.0000000000000002 of a sure and wrong model is no loss in [0, 1]
    model = HedgeClassifier([Gives({"a": 1.0000000000000002}), Votes("b")])
    model.learn_one({}, "b")
    assert model._learner.action_losses.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"a": math.nan, "b": 0.5},
            r"probabilities must lie in \[0, 1\] .*got {'a': nan, 'b': 0.5}",
        ),
        ({"a": 1.99, "b": -0.99}, r"probabilities must lie in \[0, 1\]"),
        ({"a": 0.8, "b": 0.8}, r"probabilities must .* sum to at most 1; got {'a': 0.8, 'b': 0.8}"),
    ],
)
def test_what_is_no_probability_is_refused_and_nobody_learns(wrong, message):
    model = HedgeClassifier([Votes("a"), Gives(wrong)])
    with pytest.raises(ValueError, match=message):
        model.learn_one({}, "a")
    with pytest.raises(ValueError, match=message):
        model.predict_proba_one({})
    assert model._learner.t == 0


def test_a_missing_river_is_named_with_its_cure():
    code = (
        "import sys; sys.modules['river'] = None\n"
        "try:\n    import driftgames.hedge.river\n"
        "except ImportError as error:\n    sys.stdout.write(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'driftgames[river]'" in done.stdout
