"""Calibrated probabilities: what they are fitted to, what they reach and what they depend on."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from driftgames.boosting import BOOSTERS, AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.row_sample import hash_rows, hold_out, rank_rows
from driftgames.boosting.engine import game
from driftgames.boosting.fit import choosing, folds
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.model.calibration import Calibration, fit_sigmoid, fit_softmax
from driftgames.boosting.persistence import load_model
from driftgames.potentials import TwoNorm


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)).round(1)
    return X, (X[:, 0] + np.sin(2 * X[:, 1]) + 0.8 * rng.normal(size=400) > 0).astype(int)


def same(one, other):
    np.testing.assert_array_equal(one.calibration_.slope, other.calibration_.slope)
    np.testing.assert_array_equal(one.calibration_.intercept, other.calibration_.intercept)


def test_the_sigmoid_has_the_least_log_loss_under_platts_targets():
    rng = np.random.default_rng(1)
    votes = rng.normal(size=300) / 9 + 0.3
    positive = rng.random(300) < 1 / (1 + np.exp(2 - 9 * votes))
    masses = rng.integers(1, 4, size=300)
    n, m = masses[positive].sum(), masses[~positive].sum()
    target = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))

    def loss(ab):
        z = ab[0] * votes + ab[1]
        return np.sum(masses * (np.logaddexp(0, z) - target * z))

    slope, intercept, mean = fit_sigmoid(votes, positive, masses)
    assert intercept != 0
    found = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
    np.testing.assert_allclose([slope, intercept], found.x, rtol=1e-5)
    p = 1 / (1 + np.exp(-slope * votes - intercept))
    assert mean == pytest.approx(log_loss(positive, p, sample_weight=masses))


@pytest.mark.parametrize("votes", [[0.5, 0.5, -0.5, -0.5], [0.1] * 4])
def test_a_vote_for_a_class_never_makes_it_less_likely(votes):
    positive = np.array([False, False, True, False])
    slope, intercept, _ = fit_sigmoid(np.array(votes), positive, np.ones(4, dtype=np.int64))
    assert slope == 0
    assert intercept == pytest.approx(np.log((2 / 3 + 3 / 5) / (1 / 3 + 12 / 5)))


def test_several_classes_share_a_slope_of_the_least_log_loss():
    rng = np.random.default_rng(2)
    votes = rng.normal(size=(90, 3)) / 3
    labels = np.argmax(votes + rng.normal(size=(90, 3)) / 3, axis=1)
    masses = rng.integers(1, 4, size=90)
    several = Calibration.fit(votes, labels, masses)
    held = np.bincount(labels, masses)
    own = labels[:, None] == np.arange(3)
    target = np.where(own, 1.0 + held, 0.5) / (held[labels, None] + 2)

    def loss(slope):
        z = slope * votes
        return np.sum(masses * (logsumexp(z, axis=1) - (target * z).sum(axis=1)))

    found = minimize_scalar(loss, bounds=(0, 50), method="bounded", options={"xatol": 1e-9})
    assert several.slope == pytest.approx(found.x, rel=1e-5)
    assert several.intercept == 0
    p = several.probabilities(votes)
    np.testing.assert_array_equal(p.argmax(axis=1), votes.argmax(axis=1))
    np.testing.assert_allclose(p, softmax(several.slope * votes, axis=1))
    mean = several.log_loss(votes, labels, masses)
    assert mean == pytest.approx(log_loss(labels, p, sample_weight=masses))
    assert Calibration.fit(-votes, labels, masses).slope == 0  # votes that mislead


def test_class_weights_give_each_class_an_intercept_of_the_least_log_loss():
    rng = np.random.default_rng(2)
    votes = rng.normal(size=(300, 4)) / 3
    labels = np.argmax(4 * votes + [0, 1, 2, -1] + rng.gumbel(size=(300, 4)), axis=1)
    masses = rng.integers(1, 4, size=300)
    several = Calibration.fit(votes, labels, masses, class_weighted=True)
    held = np.bincount(labels, masses)
    own = labels[:, None] == np.arange(4)
    target = np.where(own, 1.0 + held, 1 / 3) / (held[labels, None] + 2)

    def loss(numbers):
        z = numbers[0] * votes + np.concatenate([[0.0], numbers[1:]])
        return np.sum(masses * (logsumexp(z, axis=1) - (target * z).sum(axis=1)))

    found = minimize(loss, np.zeros(4), options={"gtol": 1e-6})
    numbers = several.slope, *several.class_intercepts[1:]
    np.testing.assert_allclose(numbers, found.x, rtol=1e-4)
    assert several.class_intercepts[0] == 0
    z = several.slope * votes + np.array(several.class_intercepts)
    np.testing.assert_allclose(several.probabilities(votes), softmax(z, axis=1))
    order = rng.permutation(300)
    again = Calibration.fit(votes[order], labels[order], masses[order], class_weighted=True)
    assert (again.slope, again.class_intercepts) == (several.slope, several.class_intercepts)


@pytest.mark.parametrize("class_weighted", [False, True])
def test_misleading_votes_of_several_classes_leave_the_shares_of_the_classes(class_weighted):
    labels = np.repeat([0, 1, 2], [30, 60, 10])
    votes = -np.eye(3)[labels]
    masses = np.ones(100, dtype=np.int64)
    flat = Calibration.fit(votes, labels, masses, class_weighted=class_weighted)
    assert flat.slope == 0
    np.testing.assert_allclose(flat.probabilities(votes)[0], [0.3, 0.6, 0.1], atol=0.02)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_predictions_are_of_the_largest_probability_and_without_calibration_of_most_votes(
    n_classes, tmp_path
):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2)).round(1)
    y = (rng.random(500) < np.where(X[:, 0] > 0, 0.4, 0.02)).astype(int)
    if n_classes > 2:
        y = np.digitize(X[:, 0] + rng.normal(size=500), [0.9, 1.4, 1.9])
    n_moved = 0
    for booster in (AdaBoostClassifier(15), NHBoostDTClassifier(max_leaves=4)):
        booster.fit(X, y)
        predicted = booster.predict(X)
        np.testing.assert_array_equal(predicted, booster.predict_proba(X).argmax(axis=1))
        for last in booster.staged_predict(X):  # noqa: B007
            pass
        np.testing.assert_array_equal(last, predicted)
        if n_classes == 2:
            n_moved += (predicted != (booster.decision_function(X) > 0)).sum()
        else:
            row = np.flatnonzero(predicted != y)[0]
            assert booster.explain(X[row]).label == predicted[row]
        booster.save(tmp_path / "m.json")
        np.testing.assert_array_equal(load_model(tmp_path / "m.json").predict(X), predicted)
        votes = clone(booster).set_params(calibrate=False).fit(X, y)
        wanted = votes.decision_function(X)
        wanted = wanted > 0 if n_classes == 2 else wanted.argmax(axis=1)
        np.testing.assert_array_equal(votes.predict(X), wanted)
    assert n_moved or n_classes > 2


def test_of_two_classes_the_softmax_is_the_sigmoid():
    rng = np.random.default_rng(3)
    votes = rng.normal(size=60) / 3
    labels = (votes + rng.normal(size=60) / 3 > 0).astype(int)
    masses = np.ones(60, dtype=np.int64)
    slope, intercept, _ = fit_sigmoid(votes, labels == 1, masses)
    assert intercept == 0
    of_both = fit_softmax(np.column_stack([-votes, votes]), labels, masses)
    assert 2 * of_both == pytest.approx(slope)


@pytest.mark.parametrize("name", BOOSTERS)
def test_log_loss_is_that_of_scikit_learns_calibration(name):
    X, y = load_breast_cancer(return_X_y=True)
    test = np.arange(y.size) % 2 == 0
    booster = BOOSTERS[name](n_estimators=30, max_depth=1)
    if name == "potential boost":
        booster.set_params(potential=TwoNorm())
    loss = log_loss(y[test], booster.fit(X[~test], y[~test]).predict_proba(X[test]))
    peer = CalibratedClassifierCV(clone(booster).set_params(calibrate=False), cv=5)
    wanted = log_loss(y[test], peer.fit(X[~test], y[~test]).predict_proba(X[test]))
    assert loss < 1.02 * wanted
    booster.set_params(calibrate=False).fit(X[~test], y[~test])
    assert booster.calibration_ is None
    votes = booster.decision_function(X[test])
    np.testing.assert_array_equal(booster.predict_proba(X[test])[:, 1], (1 + votes) / 2)
    assert log_loss(y[test], booster.predict_proba(X[test])) > 1.5 * loss


def test_votes_that_calibrate_come_from_boosters_that_did_not_see_the_example(data):
    X, y = data
    noise = np.random.default_rng(4).permutation(y)  # nothing can be learnt
    booster = NHBoostDTClassifier(30, max_depth=3).fit(X, noise)
    assert (booster.margins(X, noise) >= 0).mean() > 0.75
    assert np.ptp(booster.predict_proba(X)[:, 1]) < 0.3


def test_rows_in_any_order_and_layout_give_the_same_sigmoid(data):
    X, y = data
    order = np.random.default_rng(5).permutation(y.size)
    booster = NHBoostDTClassifier(9, max_leaves=2, n_jobs=2).fit(X, y)
    same(booster, NHBoostDTClassifier(9, max_leaves=2).fit(sp.csr_matrix(X[order]), y[order]))
    weights = np.random.default_rng(6).integers(0, 3, size=y.size)
    X, y, weights = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(weights, 2)
    weights[::2] = 1  # copies of different weight
    order = np.random.default_rng(7).permutation(y.size)
    weighted = NHBoostDTClassifier(9, max_leaves=2).fit(X, y, weights)
    same(weighted, NHBoostDTClassifier(9, max_leaves=2).fit(X[order], y[order], weights[order]))
    assert weighted.calibration_.slope != booster.calibration_.slope


@pytest.mark.parametrize("n", [60, 6000])
def test_only_a_sure_intercept_moves_the_likelier_class_off_the_vote(n):
    rng = np.random.default_rng(2)
    votes = rng.normal(size=n) / 5
    positive = rng.random(n) < 1 / (1 + np.exp(-0.2 - 9 * votes))
    slope, intercept, _ = fit_sigmoid(votes, positive, np.ones(n, dtype=np.int64))
    assert slope == pytest.approx(9, rel=0.4)
    if n == 60:
        assert intercept == 0
        p = Calibration(np.array([slope]), np.array([intercept])).probabilities(votes)
        np.testing.assert_array_equal(p.argmax(axis=1), votes > 0)
    else:
        assert intercept == pytest.approx(0.2, abs=0.1)


def test_a_file_keeps_the_sigmoid(data, tmp_path):
    X, y = data
    whole = NHBoostDTClassifier(12, max_leaves=2).fit(X, y)
    whole.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    same(loaded, whole)
    np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))


def test_large_data_costs_one_fit_more_on_four_fifths(data, monkeypatch):
    X, y = data
    sizes, begin = [], game.MistakeRule.begin

    def count(rule, learner, n_rounds):
        sizes.append(np.count_nonzero(learner.sample_weights))
        return begin(rule, learner, n_rounds)

    monkeypatch.setattr(game.MistakeRule, "begin", count)
    monkeypatch.setattr(folds, "SMALL", 100)
    NHBoostDTClassifier(5, max_leaves=2).fit(X, y)
    assert len(sizes) == 1 + 5
    assert sum(sizes) == pytest.approx(5 * y.size, abs=1)
    sizes.clear()
    monkeypatch.setattr(folds, "LARGE", 400)
    NHBoostDTClassifier(5, max_leaves=2).fit(X, y)
    assert sorted(sizes) == [pytest.approx(320, abs=9), 400]


@pytest.mark.parametrize("n_cells", [8, 500, 4000])
def test_copies_are_dealt_as_chance_would_deal_them(n_cells):
    rng = np.random.default_rng(3)
    cells, y = rng.integers(0, n_cells, 4000), rng.integers(0, 2, 4000)
    hashes = hash_rows(cells[:, None].astype(float))
    part = rank_rows(hashes, y) % 10
    # as many held-out rows as by chance have a copy with the same, or the other, label elsewhere
    table = np.zeros((n_cells, 2, 10), dtype=int)
    np.add.at(table, (cells, y, part), 1)
    within = (table * (table - 1)).sum(), (table[:, 0] * table[:, 1]).sum()
    sizes = table.sum(axis=2)
    pairs = (sizes * (sizes - 1)).sum() / 10, (sizes[:, 0] * sizes[:, 1]).sum() / 10
    np.testing.assert_allclose(within, pairs, rtol=0.01, atol=4 * np.sqrt(max(pairs)))
    order = rng.permutation(4000)
    again = rank_rows(hashes[order], y[order]) % 10
    counts = np.zeros_like(table)
    np.add.at(counts, (cells[order], y[order], again), 1)
    np.testing.assert_array_equal(counts, table)
    assert hold_out(np.arange(1000), 0.1).sum() == 100


def test_a_sample_of_a_table_with_copies_has_all_cells(monkeypatch):
    monkeypatch.setattr(choosing, "SAMPLE", 400)
    cells = np.random.default_rng(4).integers(0, 16, 4000)
    keys = RowKeys(hash_rows(cells[:, None].astype(float)), cells % 2, None)
    assert np.bincount(cells[choosing.sample_rows(keys)]).min() > 8


@pytest.mark.parametrize(
    ("n", "columns", "settings"),
    [
        (600, 7, {"max_leaves": 8, "n_estimators": 25}),
        (800, 3, {"max_leaves": 4, "n_estimators": 25}),
        (600, 5, {"max_leaves": 2}),
    ],
)
def test_coins_on_repeated_rows_are_estimated_as_coins(n, columns, settings):
    """Every classifier errs in half of the new examples, and the held-out examples say so."""
    estimates, misses = [], 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (n, columns)).astype(float), rng.integers(0, 2, n)
        promise = NHBoostDTClassifier(**settings).fit(X, y).certificate_.new_examples
        estimates.append(sum(promise.n_errors) / sum(promise.n_examples))
        misses += promise.high < 0.5
    assert misses == 0
    # the sigmoid is fitted to the same examples, and a constant class is right a little more often
    assert np.mean(estimates) == pytest.approx(0.49, abs=0.015)


def test_one_example_of_a_class_is_calibrated_by_the_prior():
    X = np.arange(20.0)[:, None]
    booster = NHBoostDTClassifier(5, max_leaves=2).fit(X, X[:, 0] > 18)
    p = booster.predict_proba(X)[:, 1]
    assert p[-1] == pytest.approx(2 / 3, abs=0.01)
    assert p[0] == pytest.approx(1 / 21, abs=0.01)


def test_an_unknown_kind_of_early_stopping_is_refused(data):
    with pytest.raises(ValueError, match="early_stopping must be one of auto; got 'cv'"):
        NHBoostDTClassifier(early_stopping="cv").fit(*data)
