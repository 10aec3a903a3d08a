"""Fits that go on (`warm_start`): with the same examples and settings, or not at all."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from driftgames.boosting import (
    BOOSTERS,
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)
from driftgames.boosting.estimators.persistence import encode_model, load_model
from driftgames.potentials import Exponential, TwoNorm

SETTINGS = {"boost-by-majority": {"horizon": 20}, "potential boost": {"potential": TwoNorm()}}
MODELS = [
    *(
        kind(n_estimators=12, max_depth=1, **SETTINGS.get(name, {}))
        for name, kind in BOOSTERS.items()
    ),
    NHBoostDTClassifier(
        12, estimator=DecisionTreeClassifier(max_depth=2), random_state=0, calibrate=False
    ),
]
TREE = DecisionTreeClassifier(max_depth=1)


@pytest.fixture(params=MODELS, ids=repr)
def booster(request):
    return clone(request.param)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(2)
    return X, (X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=300) > 0).astype(int)


OTHER_EXAMPLES = {
    "labels the other way round": lambda X, y: (X, 1 - y, None),
    "shuffled labels": lambda X, y: (X, np.random.default_rng(1).permutation(y), None),
    "one label changed": lambda X, y: (X, np.where(np.arange(y.size) == 7, 1 - y, y), None),
    "other weights": lambda X, y: (X, y, 1 + np.arange(y.size) % 3),
}


@pytest.mark.parametrize("case", OTHER_EXAMPLES)
def test_other_examples_are_refused_and_leave_the_model_as_it_was(booster, data, case):
    booster.set_params(warm_start=True, calibrate=False).fit(*data)
    before = dict(vars(booster))
    booster.set_params(n_estimators=15)
    wanted = "edge|training_error|zero_fraction"
    with pytest.raises(ValueError, match=rf"examples of the earlier fit: .* the ({wanted}) is"):
        booster.fit(*OTHER_EXAMPLES[case](*data))
    assert vars(booster) == {**before, "n_estimators": 15}


def test_the_error_names_the_round_and_both_numbers(data):
    X, y = data
    booster = NHBoostDTClassifier(12, max_leaves=2, warm_start=True, calibrate=False).fit(X, y)
    edge = booster.history_["edge"][0]
    message = f"after round 1 the edge is {-edge:g}, expected {edge:g}$"
    with pytest.raises(ValueError, match=message):
        booster.fit(X, 1 - y)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, NHBoostDTClassifier])
def test_labels_with_the_same_errors_are_refused_for_their_edges(kind):
    X = [[1, 3, 1], [3, 3, 0], [3, 0, 0], [2, 0, 1], [1, 1, 3]]
    X += [[1, 3, 2], [3, 2, 3], [3, 0, 1], [3, 2, 1]]
    booster = kind(2, max_depth=1, warm_start=True).fit(X, [1, 1, 1, 0, 0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match=r"after round 2 the edge is .*, expected "):
        booster.fit(X, [1, 0, 1, 1, 0, 1, 0, 1, 1])


def test_what_is_accepted_never_breaks_a_certificate(booster):
    """Two labels that are swapped show in an edge, or every weak hypothesis takes them alike."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        X = rng.normal(size=(40, 3)).round(1)
        y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
        swapped = y.copy()
        swapped[[np.argmax(y == 0), np.argmax(y == 1)]] = 1, 0
        played = clone(booster).set_params(n_estimators=3, warm_start=True, calibrate=False)
        played.fit(X, y)
        try:
            played.set_params(n_estimators=5).fit(X, swapped)
        except ValueError:
            continue
        assert played.certificate_.holds


@pytest.mark.parametrize("booster", MODELS[:-1], ids=repr)  # a tree minds the order of rows
def test_the_same_examples_in_another_order_go_on(booster, data):
    X, y = data
    order = np.random.default_rng(2).permutation(y.size)
    whole = clone(booster).set_params(n_estimators=18).fit(X, y)
    booster = clone(booster).set_params(warm_start=True).fit(X, y)
    booster.set_params(n_estimators=18).fit(X[order], y[order]).set_params(warm_start=False)
    assert encode_model(booster) == encode_model(whole)


@pytest.mark.parametrize(
    ("booster", "changed", "message"),
    [
        (
            NHBoostDTClassifier(5, max_leaves=2, calibrate=False),
            {"d": 30.0},
            "d was 3.0 in the rounds .*; got 30.0",
        ),
        (
            NHBoostDTClassifier(5, max_leaves=2, calibrate=False),
            {"max_bins": 16},
            "max_bins was 'auto' in the rounds .*; got 16",
        ),
        (
            BoostByMajorityClassifier(5, horizon=9, calibrate=False),
            {"edge": 0.2},
            "edge was 0.1 .*; got 0.2",
        ),
        (
            BoostByMajorityClassifier(5, horizon=9, calibrate=False),
            {"horizon": 8},
            "horizon was 9 .*; got 8",
        ),
        (
            PotentialBoostClassifier(TwoNorm(), 5, calibrate=False),
            {"potential": Exponential(0.3)},
            r"potential was TwoNorm\(\) .*; got Exponential\(eta=0.3\)",
        ),
    ],
)
def test_other_settings_are_refused(data, tmp_path, booster, changed, message):
    booster = clone(booster).set_params(warm_start=True).fit(*data)
    booster.save(tmp_path / "m.json")
    resumed = load_model(tmp_path / "m.json")
    for model in (booster, resumed):
        model.set_params(n_estimators=7, **changed)
        with pytest.raises(ValueError, match=message):
            model.fit(*data)
        with pytest.raises(ValueError, match=message):  # the file would not say what was fitted
            model.save(tmp_path / "other.json")
        assert not (tmp_path / "other.json").exists()
        model.set_params(warm_start=False).fit(*data)  # anew, anything goes


def test_settings_that_leave_the_rounds_played_alone_may_change(data):
    booster = NHBoostDTClassifier(5, max_leaves=2, warm_start=True, calibrate=False).fit(*data)
    booster.set_params(n_estimators=8, n_jobs=2, d=3, random_state=4).fit(*data)
    assert (
        booster.stumps_ == NHBoostDTClassifier(8, max_leaves=2, calibrate=False).fit(*data).stumps_
    )


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (None, TREE, r"with the built-in stump.*; got estimator=DecisionTreeClassifier"),
        (TREE, None, r"with an estimator.*; got estimator=None"),
    ],
)
def test_a_switch_of_the_weak_learner_is_refused(data, first, then, message):
    booster = NHBoostDTClassifier(5, estimator=first, warm_start=True, calibrate=False).fit(*data)
    votes = booster.decision_function(data[0])
    booster.set_params(estimator=then, n_estimators=8)
    with pytest.raises(ValueError, match=message):
        booster.fit(*data)
    np.testing.assert_array_equal(booster.decision_function(data[0]), votes)
    booster.set_params(warm_start=False, ensemble=False).fit(*data)
    assert booster.n_iter_ == 8


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState, int])
def test_random_learners_go_on_alike_for_every_kind_of_seed(data, source):
    tree = DecisionTreeClassifier(max_depth=2, max_features=1)
    whole = NHBoostDTClassifier(12, estimator=tree, random_state=source(3), calibrate=False).fit(
        *data
    )
    parts = NHBoostDTClassifier(
        5, estimator=tree, random_state=source(3), warm_start=True, calibrate=False
    )
    parts.fit(*data).set_params(n_estimators=12).fit(*data)
    np.testing.assert_array_equal(parts.history_["edge"], whole.history_["edge"])
    seeds = [h.random_state for h in whole.estimators_]
    assert [h.random_state for h in parts.estimators_] == seeds
    assert len(set(seeds)) == 12
