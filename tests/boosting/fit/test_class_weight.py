"""Weights of classes, and what is predicted where no hypothesis has an edge."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss, recall_score

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier, NoEdgeWarning
from driftgames.boosting.persistence import encode_model, load_model


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3)).round(2)
    y = X[:, 0] + X[:, 1] + 1.5 * rng.normal(size=1500) > 3.8
    return X, np.where(y, "rare", "usual")


def test_balanced_classes_are_found_and_probabilities_stay_those_of_the_data(rare):
    X, y = rare
    assert 0.02 < np.mean(y == "rare") < 0.06
    train, test = slice(0, 900), slice(900, None)
    plain = NHBoostDTClassifier(40, max_leaves=2).fit(X[train], y[train])
    balanced = NHBoostDTClassifier(40, max_leaves=2, class_weight="balanced").fit(
        X[train], y[train]
    )
    recalls = [
        recall_score(y[test], b.predict(X[test]), pos_label="rare") for b in (plain, balanced)
    ]
    assert recalls[0] < 0.1
    assert recalls[1] > 0.5
    losses = [log_loss(y[test], b.predict_proba(X[test])) for b in (plain, balanced)]
    assert losses[1] < 1.05 * losses[0]
    mean = balanced.predict_proba(X[test])[:, 0].mean()
    assert mean == pytest.approx(np.mean(y[test] == "rare"), abs=0.02)


def test_class_weights_leave_probabilities_of_several_classes_as_they_are(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.choice(3, size=2400, p=[0.08, 0.46, 0.46])
    X = (rng.normal(size=(2400, 3)) + 0.9 * np.eye(3)[y]).round(2)
    train, test = slice(0, 1200), slice(1200, None)
    losses = {}
    for weight in (None, "balanced", {0: 5.0}):
        for size in ({"n_estimators": 40, "max_leaves": 4}, {"max_leaves": 2}):
            model = NHBoostDTClassifier(class_weight=weight, **size).fit(X[train], y[train])
            p = model.predict_proba(X[test])
            losses[str(weight), len(size)] = log_loss(y[test], p)
            shares = np.bincount(y[test]) / 1200
            np.testing.assert_allclose(p.mean(axis=0), shares, atol=0.025)
    assert min(losses.values()) > 0.93 * max(losses.values())
    assert len(model.calibration_.class_intercepts) == 3
    np.testing.assert_array_equal(
        model.predict(X), model.decision_function(X).argmax(axis=1)
    )  # they say what errors cost
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [NHBoostDTClassifier, AdaBoostClassifier])
def test_class_weights_are_factors_of_sample_weights(rare, kind):
    X, y = rare[0][:300], rare[1][:300]
    weights = np.random.default_rng(1).integers(1, 4, size=300)
    by_class = kind(8, max_depth=1, class_weight={"rare": 5}, calibrate=False).fit(X, y, weights)
    by_hand = kind(8, max_depth=1, calibrate=False).fit(
        X, y, np.where(y == "rare", 5 * weights, weights)
    )
    assert by_class.stumps_ == by_hand.stumps_
    masses = [weights[y == label].sum() for label in ("rare", "usual")]
    balanced = kind(8, max_depth=1, class_weight="balanced", calibrate=False).fit(X, y, weights)
    ratio = dict(zip(["rare", "usual"], [1 / mass for mass in masses], strict=True))
    assert (
        balanced.stumps_
        == kind(8, max_depth=1, class_weight=ratio, calibrate=False).fit(X, y, weights).stumps_
    )


def test_class_weights_of_numpy_types_are_saved(rare, tmp_path):
    X, y = rare[0][:300], (rare[1][:300] == "rare").astype(np.int64)
    weights = {np.int64(0): np.int64(1), np.int64(1): np.float64(2.5)}
    booster = NHBoostDTClassifier(2, max_leaves=2, class_weight=weights, calibrate=False).fit(X, y)
    booster.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").class_weight == {0: 1, 1: 2.5}


def test_class_weights_are_saved_and_bind(rare, tmp_path):
    X, y = rare[0][:300], rare[1][:300]
    booster = NHBoostDTClassifier(6, max_leaves=2, class_weight={"rare": 5}, calibrate=False)
    booster.fit(X, y).save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.class_weight == {"rare": 5}
    assert encode_model(loaded) == encode_model(booster)
    with pytest.raises(ValueError, match="class_weight was"):
        loaded.set_params(class_weight="balanced").save(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ({"odd": 2.0}, r"must name the classes \['rare', 'usual'\]; got 'odd'"),
        ({"rare": -1.0}, r"class_weight\['rare'\] must be a finite number > 0; got -1.0"),
        ("equal", "class_weight must be a dict"),
        (3, "class_weight must be a dict"),
    ],
)
def test_bad_class_weights_are_named(rare, weight, message):
    with pytest.raises(ValueError, match=message):
        NHBoostDTClassifier(2, max_leaves=2, class_weight=weight, calibrate=False).fit(*rare)


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("heavier", ["a", "b"])
def test_constant_features_give_the_heavier_class(heavier, calibrate, tmp_path):
    X = np.ones((10, 2))
    y = np.array(["a", "b"] * 2 + [heavier] * 6)
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=calibrate)
    with pytest.warns(NoEdgeWarning, match=f"0 of 5 rounds, and .*{heavier}.* is predicted every"):
        booster.fit(X, y)
    booster.save(tmp_path / "m.json")
    for model in (booster, load_model(tmp_path / "m.json")):
        assert set(model.predict(X)) == {heavier}
        p = model.predict_proba(X)[0, int(heavier == "b")]
        smoothed = (8 * 9 / 10 + 2 / 4) / 10  # Platt's targets
        assert p == pytest.approx(smoothed if calibrate else 0.8)
        np.testing.assert_allclose(model.decision_function(X), 0.6 if heavier == "b" else -0.6)


def test_the_weights_decide_which_class_is_heavier():
    with pytest.warns(NoEdgeWarning, match="predicted everywhere"):
        booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(
            np.ones((3, 1)), [0, 0, 1], sample_weight=[1, 1, 3]
        )
    assert booster.predict([[1.0]]).tolist() == [1]


@pytest.mark.parametrize("n_rounds", [1, 4, 5])
def test_trees_without_a_question_give_the_heavier_class(n_rounds):
    with pytest.warns(NoEdgeWarning, match="predicted everywhere"):
        booster = NHBoostDTClassifier(n_rounds, max_depth=2, calibrate=False).fit(
            np.ones((5, 1)), [0, 0, 1, 1, 1]
        )
    assert booster.predict([[1.0]]).tolist() == [1]


@pytest.mark.parametrize("absent", [0, 1, 2])
@pytest.mark.parametrize(
    "settings", [{}, {"ensemble": False}, {"n_estimators": 9, "max_leaves": 4}]
)
def test_a_class_without_weight_is_kept_and_not_predicted(absent, settings):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, y % 2])
    model = NHBoostDTClassifier(categorical_features=[4], **settings)
    model.fit(X, y, sample_weight=(y != absent) * 1.0)
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.decision_function(X)[:, absent] == -1).all()
    there = y != absent
    assert model.score(X[there], y[there]) > 0.95
    assert model.predict_proba(X)[:, absent].max() < 0.2
