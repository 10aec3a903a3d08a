"""More than two classes: boosters of pairs (example, label), from the fit to the file."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import (
    BOOSTERS,
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)
from driftgames.boosting.persistence import FORMAT, VERSION, encode_model, load_model
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.certificates.pairs import PairCertificate
from driftgames.core.documents import DocumentError, decode_array, encode_array, write_document
from driftgames.potentials import TwoNorm

pytestmark = pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")

SHAPES = {
    "stumps": {"max_depth": 1},
    "trees": {"max_depth": 2},
    "leaves": {"max_depth": None, "max_leaves": 4, "min_samples_leaf": 3},
}


def make(kind, rounds=12, **settings):
    booster = kind(n_estimators=rounds, **settings)
    return booster.set_params(horizon=12) if kind is BoostByMajorityClassifier else booster


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (150, 5)).astype(float)
    names = np.array(["ant", "bee", "cat", "dog", "eel"])
    y = names[np.minimum((X[:, 0] + X[:, 1] * X[:, 2] / 4).astype(int), 4)]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def stumps(data):
    return NHBoostDTClassifier(30, max_leaves=2, calibrate=False).fit(*data)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", BOOSTERS.values())
def test_rows_threads_and_sparse_give_the_same_file(kind, shape, data, tmp_path, monkeypatch):
    if shape != "stumps":  # one fold instead of ten
        monkeypatch.setattr("driftgames.boosting.fit.folds.SMALL", 100)
        monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 100)
    X, y = data
    settings = {"calibrate": kind is NHBoostDTClassifier, **SHAPES[shape]}
    one = make(kind, **settings).fit(X, y)
    wanted = encode_model(one)
    order = np.random.default_rng(1).permutation(y.size)
    for rows in (X[order], sp.csr_matrix(X[order])):
        other = make(kind, n_jobs=2, **settings).fit(rows, y[order])
        assert encode_model(other.set_params(n_jobs=None)) == wanted
        np.testing.assert_array_equal(
            other.decision_function(rows), one.decision_function(X)[order]
        )
    one.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert encode_model(again) == encode_model(again.fit(X, y)) == wanted


@pytest.mark.parametrize("kind", BOOSTERS.values())
def test_the_argmax_decides_and_the_history_has_its_errors(kind, data):
    X, y = data
    booster = make(kind, max_depth=2, calibrate=False).fit(X, y)
    votes = booster.decision_function(X)
    assert votes.shape == (150, 5)
    assert np.abs(votes).max() <= 1
    np.testing.assert_array_equal(booster.predict(X), booster.classes_[votes.argmax(axis=1)])
    errors = [np.mean(labels != y) for labels in booster.staged_predict(X)]
    np.testing.assert_allclose(booster.history_["training_error"], errors)
    assert errors[-1] < 0.3 < errors[0]
    shares = booster.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), votes.argmax(axis=1))
    margins = booster.margins(X, y)
    right = booster.predict(X) == y
    assert (margins[~right] <= 0).all()
    second, first = np.sort(votes, axis=1)[:, -2:].T
    np.testing.assert_array_equal(margins[right], (first - second)[right] / 2)
    *_, last = booster.staged_decision_function(X)
    np.testing.assert_allclose(last, votes, rtol=0, atol=1e-12)


def test_a_tie_is_for_the_first_class_and_a_vote_for_none_has_equal_shares():
    booster = NHBoostDTClassifier(1, max_leaves=2).fit(
        [[0.0], [0.0], [1.0], [2.0]], ["a", "b", "c", "c"]
    )
    votes = booster.decision_function([[0.0]])[0]
    assert votes.tolist() == [1, 1, -1]
    assert booster.predict([[0.0]]) == ["a"]
    booster = NHBoostDTClassifier(1, max_leaves=2).fit([[0.0], [0.0], [0.0]], ["a", "b", "c"])
    assert booster.n_iter_ == 0
    np.testing.assert_allclose(booster.decision_function([[0.0]]), [[-1 / 3] * 3])
    flat = NHBoostDTClassifier(1, max_leaves=2, calibrate=False)
    flat.fit([[0.0]] * 8, ["a"] * 2 + ["b"] * 4 + ["c"] * 2)
    assert flat.predict([[1.0]]) == ["b"]
    np.testing.assert_allclose(flat.predict_proba([[1.0]]), [[0.25, 0.5, 0.25]])


def test_a_sample_weight_counts_as_copies(data):
    X, y = data
    copies = np.random.default_rng(2).integers(0, 4, y.size)
    weighted = NHBoostDTClassifier(10, max_depth=2, calibrate=False).fit(X, y, sample_weight=copies)
    repeated = NHBoostDTClassifier(10, max_depth=2, calibrate=False).fit(
        np.repeat(X, copies, 0), y.repeat(copies)
    )
    assert encode_model(weighted) == encode_model(repeated)
    fractions = NHBoostDTClassifier(10, max_depth=2, calibrate=False).fit(
        X, y, sample_weight=copies / 3 + 0.01
    )
    assert fractions.certificate_.holds
    assert fractions.score(X, y) > 0.7


def test_a_class_without_weight_is_kept_and_never_predicted(data):
    X, y = data
    booster = NHBoostDTClassifier(10, max_leaves=2, calibrate=False).fit(
        X, y, sample_weight=y != "eel"
    )
    assert booster.classes_.tolist() == ["ant", "bee", "cat", "dog", "eel"]
    assert (booster.decision_function(X)[:, 4] == -1).all()
    assert "eel" not in booster.predict(X)
    with pytest.raises(ValueError, match=r"only class .*eel.* has any"):
        NHBoostDTClassifier(10, max_leaves=2, calibrate=False).fit(X, y, sample_weight=y == "eel")


def test_the_right_pairs_have_half_of_the_mass(data):
    """Otherwise a vote of -1 for every label would have an edge of 0.3 without any question."""
    _, y = data
    noise = np.random.default_rng(0).random((y.size, 1))
    booster = NHBoostDTClassifier(1, max_leaves=2, calibrate=False).fit(noise, y)
    share = np.unique(y, return_counts=True)[1] / y.size
    constant = np.abs(share - 1 / 5).sum() * 5 / 16
    assert constant <= booster.history_["edge"][0] < constant + 0.1


@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostClassifier(20, calibrate=False),
        NHBoostDTClassifier(20, max_depth=2, calibrate=False),
    ],
)
def test_the_votes_of_the_features_add_up_to_the_decision_for_each_class(booster, data):
    X, y = data
    booster.fit(X, y)
    for x, votes in zip(X[:9], booster.decision_function(X[:9]), strict=True):
        decisions = [booster.explain(x, label).decision for label in booster.classes_]
        assert decisions == votes.tolist()
        assert booster.explain(x).decision == votes.max()
    assert booster.feature_importances_.sum() == pytest.approx(1.0)
    assert booster.feature_importances_.argmax() == 0
    with pytest.raises(ValueError, match=r"label must be one of .*; got 'fox'"):
        booster.explain(X[0], "fox")


def test_of_two_classes_either_can_be_explained(data):
    X, y = data
    booster = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(X, y == "bee")
    first, second = booster.explain(X[0], False), booster.explain(X[0], True)
    assert second.decision == booster.explain(X[0]).decision == -first.decision


def test_step_functions_and_the_base_add_up_to_the_decision(stumps, data):
    X, _ = data
    votes = stumps.decision_function(X[:20])
    for label, shapes in stumps.shape_functions_.items():
        k = stumps.classes_.tolist().index(label)
        explained = stumps.explain(X[0], label)
        total = sum(shape(X[:20, j]) for j, shape in shapes.items()) + explained.base / 30
        np.testing.assert_allclose(total, votes[:, k], rtol=0, atol=1e-12)
    with pytest.raises(AttributeError, match="one additive model for each of 5 classes"):
        stumps.plot_shapes()
    assert not hasattr(
        NHBoostDTClassifier(2, max_depth=2, calibrate=False).fit(*data), "shape_functions_"
    )


def test_the_constant_of_the_argmax_is_the_best_one():
    """One wrong pair of mass 1 out of 2 (K - 1) makes the argmax of every example err."""
    for n_classes in (3, 5, 10):
        mass = 2 * (n_classes - 1)
        votes = np.full(n_classes, -0.5)
        votes[0], votes[1] = 0.1, 0.2  # the right label is 0, and 1 wins
        margins = Margins.of_examples(
            [votes[0], *-votes[1:]], [n_classes - 1, *[1] * (n_classes - 1)]
        )
        assert margins.masses.sum() == mass
        pairs = MarginCertificate.of_game_value("one wrong pair", 10, margins, 1.0, 1 / mass)
        constant = NHBoostDTClassifier(calibrate=False)._errors_per_pair(n_classes)
        assert PairCertificate.of(pairs, n_classes, constant).holds
        assert pairs.holds is False  # without the constant the bound is wrong for the argmax
        assert not PairCertificate.of(pairs, n_classes, constant - 0.01).holds


def test_adaboosts_constant_is_the_best_one():
    """Right pairs of weight e^-m and one wrong pair of weight e^m, with (K - 1) e^-m = e^m."""
    for n_classes in (3, 5, 10):
        m = np.log(n_classes - 1) / 2
        mean = ((n_classes - 1) * np.exp(-m) + np.exp(m)) / (2 * (n_classes - 1))
        constant = AdaBoostClassifier(calibrate=False)._errors_per_pair(n_classes)
        assert constant * mean == pytest.approx(1.0)


@pytest.mark.parametrize(
    "booster",
    [
        NHBoostDTClassifier(300, max_depth=2, calibrate=False),
        AdaBoostClassifier(40, calibrate=False),
        PotentialBoostClassifier(TwoNorm(), 200, max_depth=2, calibrate=False),
        BoostByMajorityClassifier(101, 0.2, max_depth=2, calibrate=False),
    ],
    ids=lambda booster: type(booster).__name__,
)
def test_thm3_holds_over_the_pairs_and_promises_something_about_the_argmax(booster, data):
    X, y = np.random.default_rng(4).random((150, 2)), data[1]
    X[:, 0] += np.searchsorted(np.unique(y), y)  # one feature has the classes in order
    certificate = booster.fit(X, y).certificate_
    assert certificate.holds
    assert certificate.training_error == pytest.approx(1 - booster.score(X, y))
    assert certificate.error_bound < 0.9
    votes = booster.decision_function(X)
    own = y[:, None] == booster.classes_
    margins, masses = np.where(own, votes, -votes), np.where(own, 4, 1)
    for theta in (-0.1, 0.0, 0.1, 0.3, 0.6):
        row = certificate.at(theta)
        assert row.realised == pytest.approx(masses[margins <= theta + 1e-12].sum() / masses.sum())
        assert row.realised <= row.promised
    assert "pairs of an example and one of 5 labels" in str(certificate)


def test_a_file_can_be_read_as_documented(stumps, data, tmp_path):
    stumps.save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())["content"]
    trees = {name: decode_array(array) for name, array in content["trees"].items()}
    asked = np.cumsum(trees["left"] > 0) - (trees["left"] > 0)
    X, totals, begin = data[0], np.zeros(5), 0
    for weight, size in zip(content["estimator_weights"], trees["n_nodes"], strict=True):
        n = begin
        while trees["left"][n]:
            question = trees["question"][asked[n]]
            value = X[3, trees["feature"][question]]
            left = value <= trees["threshold"][question]
            if np.isnan(value):
                left = trees["missing_left"][question]
            n = begin + trees["left"][n] + (0 if left else 1)
        totals += weight * trees["vote"][n - asked[n]]
        begin += size
    np.testing.assert_array_equal(totals / 30, stumps.decision_function(X[3:4])[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda votes: votes[:, :2],
            r"trees\.vote must be .* of shape \[\d+, 5\]; got int8\[\d+, 2",
        ),
        (lambda votes: votes[:, 0], r"trees\.vote must be an array of integers of shape"),
        (lambda votes: 0 * votes, r"trees\.vote must be 1 or -1; got 0"),
    ],
)
def test_votes_that_are_wrong_are_refused(stumps, tmp_path, change, message):
    content = encode_model(stumps)
    votes = change(decode_array(content["trees"]["vote"]))
    content["trees"]["vote"] = encode_array(votes)
    write_document(tmp_path / "m.json", FORMAT, VERSION, content)
    with pytest.raises(DocumentError, match=message):
        load_model(tmp_path / "m.json")


def test_stumps_with_one_vote_cannot_have_five_classes(stumps, tmp_path):
    content = encode_model(stumps)
    two = encode_model(
        NHBoostDTClassifier(2, max_leaves=2, calibrate=False).fit([[0.0], [1.0]], [0, 1])
    )
    del content["trees"]
    write_document(tmp_path / "m.json", FORMAT, VERSION, {**content, "stumps": two["stumps"]})
    with pytest.raises(DocumentError, match=r"stumps\.feature must be a list of 0"):
        load_model(tmp_path / "m.json")
