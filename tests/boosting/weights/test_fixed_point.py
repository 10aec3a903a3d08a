"""Examples as chips, where floating point ends: tiny weights, tiny errors, perfect votes."""

import mpmath
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from driftgames._kernels.jit import kernel
from driftgames._kernels.templates import instantiate
from driftgames.boosting import (
    AdaBoostClassifier,
    NHBoostClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
)
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.growth.binned_trees import from_stumps
from driftgames.boosting.growth.mistake_engine import MistakeEngine, scale_raw
from driftgames.boosting.growth.positions import scale_weights
from driftgames.boosting.growth.shape import STUMP, TreeShape
from driftgames.boosting.growth.tree_training_set import TreeRows
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.weights.exponential import ExponentialChips

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
    zeros, wrong = scale_raw(np.array([0.0, 5.0, 2.0]) * scale, masses, 0, 1, out)
    assert (zeros, wrong) == (3, 2)
    assert out[:2].tolist() == [0.0, 0.0]
    assert 2**60 <= 2 * out[2] < 2**61


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
@pytest.mark.parametrize("scale", [0.0, 1e-323, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("exact", [True, False])
def test_the_compiled_scale_is_the_one_of_python(scale, exact, n_rounds):
    """Also where the two classes have other numbers of mistakes, and a number has none."""
    rng = np.random.default_rng(n_rounds)
    y = np.arange(40) % 2 == 1
    data = bin_examples(
        y[:, None] * 1.0, y, np.ones(40, dtype=np.int64), 255, integer_weights=exact
    )
    engine = MistakeEngine(data, TreeShape(2), rng.integers(1, 9, 40), 5)
    votes = rng.integers(0, 2, (n_rounds, 2)) * 2 - 1
    for left, right in votes.tolist():
        stumps = Stumps([0], [0.5], [left], [left])
        (tree,) = from_stumps(stumps, data.cuts)
        tree.votes[2, 0] = right
        engine.move(tree, 0.1)
    first, masses = engine.masses()
    raw = scale * rng.random(masses.shape[1]) * (rng.random(masses.shape[1]) < 0.8)
    engine.set_weights(raw)
    out = np.empty(raw.size)
    zeros, _ = scale_raw(raw, masses, first, n_rounds, out)
    assert engine.rounds(n_rounds - 1, n_rounds)[0][2] == zeros
    held = masses.any(axis=0)
    found = engine.weights_by_mistakes()
    np.testing.assert_array_equal(found[held], np.rint(out[held]) if exact else out[held])


@pytest.mark.parametrize("kind", ["rounds", "python"])
def test_a_tied_vote_is_for_class_0(kind):
    """Of four votes: class 0 errs above two mistakes, class 1 from two on."""
    masses = np.array([[1, 2, 4, 8, 16], [32, 64, 128, 256, 512]])
    if kind == "python":
        wrong = scale_raw(np.ones(5), masses, 0, 4, np.empty(5))[1]
    else:
        y = np.repeat([False, True], [31, 992])
        data = bin_examples(y[:, None] * 1.0, y, np.ones(y.size, dtype=np.int64), 255)
        engine = MistakeEngine(data, TreeShape(2), data.sample_weights, 5)
        engine.positions.masses[:, :5] = masses
        engine.positions.counters[0].width = 5
        engine.positions.unscaled[:5] = 1.0
        _, wrong = instantiate(scale_weights, kernel)(engine.positions, 4, 0)
    assert wrong == 8 + 16 + 128 + 256 + 512


def test_a_huge_constant_gives_tiny_weights_and_plays_on():
    X, y = each_wrong_on_one_row()
    with np.errstate(all="raise"):
        booster = NHBoostDTClassifier(5, max_leaves=2, d=1e300, calibrate=False).fit(X, y)
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


def rows_of(X, y):
    data = bin_examples(X, y == 1, np.ones(y.size, dtype=np.int64), 255)
    return TreeRows(data, STUMP, data.sample_weights)


def stump(rows, feature):
    """The first question of a feature; high values vote for class 1."""
    stumps = Stumps([feature], rows.data.cuts.of(feature)[:1], [-1], [-1])
    return rows.to_bins(stumps)[0]


def test_no_example_weighs_nothing_in_adaboost(monkeypatch):
    rows = rows_of(*each_wrong_on_one_row())
    seen, best = [], TreeRows.best
    monkeypatch.setattr(TreeRows, "best", lambda self, w: seen.append(w.copy()) or best(self, w))
    assert len(ExponentialChips(rows).play(200)) == 200
    assert min(w.min() for w in seen) == 1
    assert all(2**60 <= int(w.sum()) < 2**62 for w in seen)


def test_a_perfect_hypothesis_has_one_vote_more_than_all_before_it():
    X, y = each_wrong_on_one_row()
    rows = rows_of(np.column_stack([X, y]), y)
    chips = ExponentialChips(rows)
    played = [chips.replay(stump(rows, j), 0.5 - 2.0**-10)[0] for j in (3, 3, 4)]
    assert played[-1].training_error > 0
    assert not chips.finished
    (perfect,) = chips.play(5)
    assert (perfect.edge, perfect.hypothesis.questions[0, 0]) == (0.5, 60)
    assert perfect.vote_weight == sum(each.vote_weight for each in played) + 1
    assert chips.finished
    assert perfect.training_error == 0.0
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
    rows = rows_of(*each_wrong_on_one_row())
    played, _ = ExponentialChips(rows).replay(stump(rows, 0), edge)
    assert played.vote_weight == units * 2.0**-32


@pytest.mark.parametrize("cls", [AdaBoostClassifier, NHBoostClassifier, NHBoostDTClassifier])
@pytest.mark.parametrize("weights", [None, 1 / np.arange(1, 65)])
def test_a_replayed_round_has_the_edge_of_the_round(cls, weights):
    """``replay`` finds the edge from the weights, not from what it is told."""
    X, y = each_wrong_on_one_row()
    X[::3, :5] *= -1
    booster = cls(12, max_depth=1).fit(X, y, sample_weight=weights)
    of_each, exact = SampleWeights.of(np.ones(y.size) if weights is None else weights)
    data = bin_examples(X, y == 1, of_each, 255, integer_weights=exact)
    rows = TreeRows(data, STUMP, data.sample_weights)
    stumps, edges = rows.to_bins(booster.stumps_), booster.history_["edge"].tolist()
    chips = booster.place_chips(rows, 12)
    for tree, edge in zip(stumps, edges, strict=True):
        assert chips.replay(tree, edge)[1] == pytest.approx(edge, abs=1e-12)
    told_otherwise = booster.place_chips(rows, 12).replay(stumps[0], 0.5 * edges[0])
    assert told_otherwise[1] == pytest.approx(edges[0], abs=1e-12)
