"""Examples as chips, where floating point ends: tiny weights, tiny errors, perfect votes."""

import mpmath
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from driftgames.boosting import (
    AdaBoostClassifier,
    NHBoostClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
)
from driftgames.boosting.data.binned_training_set import BinnedTrainingSet, bin_examples
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.estimators.adaboost import ExponentialChips
from driftgames.boosting.growth.stump_kernels import scale_weights

LAST_EDGE = 0.5 - 2.0**-54


def each_wrong_on_one_row(n_rows=64, n_features=60):
    """Feature ``j`` tells the label, but for row ``j``."""
    y = np.arange(n_rows) % 2
    X = np.tile(2.0 * y[:, None] - 1, n_features)
    X[np.arange(n_features), np.arange(n_features)] *= -1
    return X, y


@pytest.mark.parametrize("scale", [1e-323, 1e-300, 1.0, 1e300])
def test_weights_of_any_size_fill_the_bits(scale):
    out = np.empty(3)
    masses = np.array([[2, 0, 1], [1, 0, 1]])
    zeros, wrong = scale_weights(np.array([0.0, 5.0, 2.0]) * scale, masses, 0, 1, 61, out)
    assert (zeros, wrong) == (3, 2)
    assert out[:2].tolist() == [0.0, 0.0]
    assert 2**60 <= 2 * out[2] < 2**61


def test_a_huge_constant_gives_tiny_weights_and_plays_on():
    X, y = each_wrong_on_one_row()
    with np.errstate(all="raise"):
        booster = NHBoostDTClassifier(5, d=1e300, calibrate=False).fit(X, y)
    assert booster.n_iter_ == 5


def test_adaboost_takes_no_hypothesis_with_a_mistake_for_perfect():
    X, y = each_wrong_on_one_row()
    booster = AdaBoostClassifier(60, calibrate=False).fit(X, y)
    assert booster.n_iter_ == 60
    assert booster.stumps_.feature.tolist() == list(range(60))
    assert booster.history_["edge"].max() == LAST_EDGE
    assert booster.estimator_weights_.max() == pytest.approx(np.arctanh(1 - 2.0**-53), abs=1e-9)
    assert not booster.history_["training_error"][2:].any()
    assert booster.certificate_.holds


def test_no_example_weighs_nothing_in_adaboost(monkeypatch):
    X, y = each_wrong_on_one_row()
    table = bin_examples(X, y == 1, np.ones(y.size, dtype=np.int64), 255)
    seen, best = [], BinnedTrainingSet.best
    monkeypatch.setattr(BinnedTrainingSet, "best", lambda self, w: seen.append(w) or best(self, w))
    chips = ExponentialChips(table)
    for _ in range(200):
        edge, stump = chips.choose()
        chips.move(stump, edge)
    assert min(w.min() for w in seen) == 1
    assert all(2**60 <= int(w.sum()) < 2**62 for w in seen)


def test_a_perfect_hypothesis_has_one_vote_more_than_all_before_it():
    X, y = each_wrong_on_one_row()
    X = np.column_stack([X, y])
    table = bin_examples(X, y == 1, np.ones(y.size, dtype=np.int64), 255)
    chips = ExponentialChips(table)
    before = [chips.move((j, 0, -1, -1), 0.5 - 2.0**-10) for j in (3, 3, 4)]
    assert chips.training_error > 0
    assert not chips.finished
    edge, stump = chips.choose()
    assert (edge, stump[0]) == (0.5, 60)
    assert chips.move(stump, edge) == sum(before) + 1
    assert chips.finished
    assert chips.training_error == 0.0
    assert chips.margins().values[0] > 0


class Contrary(ClassifierMixin, BaseEstimator):
    """It knows every answer and says the other."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, -1] < 0).astype(int)]


@pytest.mark.parametrize("cls", [AdaBoostClassifier, NHBoostDTClassifier])
def test_a_learner_that_is_always_wrong_has_no_edge(cls):
    y = np.arange(10) % 2
    X = 2.0 * y[:, None] - 1
    with pytest.warns(NoEdgeWarning, match="the fit ended after 0 of 5 rounds"):
        booster = cls(5, estimator=Contrary()).fit(X, y)
    assert booster.ended_early_


@pytest.mark.parametrize("edge", [2.0**-54, 2.0**-32, 1e-6, 0.1, 0.25, 0.4999, LAST_EDGE])
def test_a_vote_of_adaboost_is_alpha_rounded_to_its_unit(edge):
    with mpmath.workdps(40):
        alpha = mpmath.log((mpmath.mpf(1) / 2 + edge) / (mpmath.mpf(1) / 2 - edge)) / 2
        units = int(mpmath.nint(alpha * 2**32))
    X, y = each_wrong_on_one_row()
    table = bin_examples(X, y == 1, np.ones(y.size, dtype=np.int64), 255)
    chips = ExponentialChips(table)
    assert chips.move((0, 0, -1, -1), edge) == units * 2.0**-32


@pytest.mark.parametrize("cls", [AdaBoostClassifier, NHBoostClassifier, NHBoostDTClassifier])
@pytest.mark.parametrize("weights", [None, 1 / np.arange(1, 65)])
def test_a_replayed_round_has_the_edge_of_the_round(cls, weights):
    """``move_again`` finds the edge from the weights, not from what it is told."""
    X, y = each_wrong_on_one_row()
    X[::3, :5] *= -1
    booster = cls(12).fit(X, y, sample_weight=weights)
    of_each, exact = SampleWeights.of(np.ones(y.size) if weights is None else weights)
    training_set = bin_examples(X, y == 1, of_each, 255, integer_weights=exact)
    stumps, edges = training_set.to_bins(booster.stumps_), booster.history_["edge"].tolist()
    chips = booster._start(training_set)
    for stump, edge in zip(stumps, edges, strict=True):
        assert chips.move_again(stump, edge)[1] == pytest.approx(edge, abs=1e-12)
    told_otherwise = booster._start(training_set).move_again(stumps[0], 0.5 * edges[0])
    assert told_otherwise[1] == pytest.approx(edges[0], abs=1e-12)
