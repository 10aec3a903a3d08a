"""Monotonic constraints: the vote never steps the other way, at any point and for any model."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.persistence import encode_model, load_model

SHAPES = {
    "stumps": {},
    "depth 3": {"max_depth": 3},
    "leaves": {"max_depth": None, "max_leaves": 9, "criterion": "kearns-mansour"},
    "large leaves": {"max_depth": 4, "min_samples_leaf": 5},
}
CONSTRAINTS = np.array([1, -1, 0])


def draw(seed, *, missing=0.1):
    """Return data whose classes go with and against the constraints."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(150, 3)).astype(float)
    steps = rng.choice([-1.0, 1.0], size=3)
    y = np.sin(X * steps).sum(axis=1) + X @ steps / 4 + rng.normal(size=150) > 0
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def steps(booster, rng):
    """Return how the vote moves where one feature rises from one value to the next."""
    points = rng.integers(-6, 7, size=(60, 3)) + rng.choice([0.0, 0.5, np.nan], size=(60, 3))
    found = []
    for j in range(3):
        path = np.repeat(points[:, None], 27, axis=1)
        path[:, :, j] = np.arange(-6.5, 7.0, 0.5)
        votes = booster.decision_function(path.reshape(-1, 3)).reshape(60, 27)
        found.append(np.diff(votes, axis=1))
    return found


@pytest.mark.parametrize("kind", [NHBoostDTClassifier, AdaBoostClassifier])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
def test_the_vote_never_steps_against_a_constraint(kind, shape):
    rng = np.random.default_rng(9)
    moved = np.zeros(3, dtype=bool)
    free_breaks = False
    for seed in range(6):
        X, y = draw(seed)
        booster = kind(15, calibrate=False, monotonic_cst=CONSTRAINTS, **SHAPES[shape])
        booster.fit(sp.csr_matrix(X) if seed % 2 else X, y)
        rises, falls, free = steps(booster, rng)
        assert rises.min() >= 0
        assert falls.max() <= 0
        moved |= [rises.max() > 0, falls.min() < 0, free.min() < 0 < free.max()]
        unbound = booster.set_params(monotonic_cst=None).fit(X, y)
        free_breaks |= steps(unbound, rng)[0].min() < 0
    assert moved[:2].all()
    assert moved[2]
    assert free_breaks  # the data would break the constraints


def test_a_constraint_that_the_best_stump_keeps_changes_nothing():
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = X[:, 0] > 0.1
    plain = NHBoostDTClassifier(1, max_leaves=2, calibrate=False).fit(X, y)
    bound = NHBoostDTClassifier(1, max_leaves=2, monotonic_cst=[1, 0], calibrate=False).fit(X, y)
    assert bound.stumps_ == plain.stumps_
    trees = NHBoostDTClassifier(1, max_depth=2, monotonic_cst=[1, 0], calibrate=False).fit(X, y)
    assert trees.score(X, y) == 1.0


def test_constraints_by_name_and_position_are_saved_and_bind(tmp_path):
    X, y = draw(1)
    frame = pd.DataFrame(X, columns=["up", "down", "free"])
    by_name = NHBoostDTClassifier(9, max_leaves=2, monotonic_cst={"up": 1, "down": -1}).fit(
        frame, y
    )
    by_place = NHBoostDTClassifier(9, max_leaves=2, monotonic_cst=CONSTRAINTS).fit(X, y)
    assert by_name.stumps_ == by_place.stumps_
    np.testing.assert_array_equal(by_name.calibration_.slope, by_place.calibration_.slope)
    for booster in (by_name, by_place):
        booster.save(tmp_path / "m.json")
        loaded = load_model(tmp_path / "m.json")
        assert encode_model(loaded) == encode_model(booster)
    with pytest.raises(ValueError, match=r"monotonic_cst was \[1, -1, 0\]"):
        loaded.set_params(monotonic_cst=[1, 0, 0]).save(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"monotonic_cst": [1, 0]}, r"each of the 3 features; got \[1, 0\]"),
        ({"monotonic_cst": [1, 2, 0]}, "must hold -1, 0 and 1; got 2 for feature 1"),
        ({"monotonic_cst": {"age": 1}}, "got 'age', which is not among its columns"),
        ({"monotonic_cst": "up"}, "must be a dict or"),
    ],
)
def test_bad_constraints_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        NHBoostDTClassifier(3, **settings, calibrate=False).fit(*draw(1, missing=0.0))


@pytest.mark.parametrize("depth", [1, 2])
def test_constraints_hold_beside_categories(depth):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"town": rng.choice(["Bonn", "Kiel", "Ulm"], 150)})
    frame["age"] = rng.integers(-4, 5, size=150)
    y = (frame["age"].abs() > 2) ^ (frame["town"] == "Ulm")
    grid = pd.DataFrame({"town": "Kiel", "age": np.arange(-5, 6)})
    steps = {}
    for sign in (-1, 0, 1):
        booster = NHBoostDTClassifier(
            15, max_depth=depth, monotonic_cst={"age": sign}, calibrate=False
        ).fit(frame, y)
        steps[sign] = np.diff(booster.decision_function(grid))
    assert (steps[-1] <= 0).all()
    assert (steps[1] >= 0).all()
    assert (steps[0] < 0).any()
    assert (steps[0] > 0).any()
    assert steps[-1].any()
    assert steps[1].any()
    with pytest.raises(ValueError, match="must be 0 for categories without an order; feature 0"):
        NHBoostDTClassifier(2, max_leaves=2, monotonic_cst={"town": 1}).fit(frame, y)


def test_several_classes_are_refused_with_the_reason():
    X, _ = draw(1)
    with pytest.raises(ValueError, match="is for two classes; got it beside 3, whose votes cannot"):
        NHBoostDTClassifier(3, monotonic_cst=CONSTRAINTS).fit(X, np.arange(len(X)) % 3)
