"""Examples as chips, where floating point ends: tiny weights, tiny errors, perfect votes."""

import mpmath
import numpy as np
import pytest

from driftgames._kernels.jit import kernel
from driftgames._kernels.templates import instantiate
from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.engine.binned_trees import BinnedTree, TreeLearner
from driftgames.boosting.engine.game import VoteGame
from driftgames.boosting.engine.mistake_engine import MistakeEngine, TreeGrower
from driftgames.boosting.engine.positions import scale_weights
from driftgames.boosting.engine.remote_game import scale_in_python
from driftgames.boosting.engine.shape import STUMP, TreeShape

LAST_EDGE = 0.5 - 2.0**-54


def each_wrong_on_one_row(n_rows=64, n_features=60):
    """Feature ``j`` tells the label, but for row ``j``."""
    y = np.arange(n_rows) % 2
    X = np.tile(2.0 * y[:, None] - 1, n_features)
    X[np.arange(n_features), np.arange(n_features)] *= -1
    return X, y


def stump_of(feature, left, right):
    """The first question of a feature, on bins."""
    questions = np.array([(feature, 0, 1, 1), (-1, 0, 0, 0), (-1, 0, 0, 0)], np.int32)
    return BinnedTree(questions, np.array([[0], [left], [right]], np.int8), np.zeros(3))


@pytest.mark.parametrize("scale", [1e-323, 1e-300, 1.0, 1e300])
def test_weights_of_any_size_fill_the_bits(scale):
    out = np.empty(3)
    masses = np.array([[2, 0, 1], [1, 0, 1]])
    zeros, wrong = scale_in_python(np.array([0.0, 5.0, 2.0]) * scale, masses, 0, 1, out)
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
    engine = MistakeEngine(TreeLearner(data, TreeShape(2), rng.integers(1, 9, 40)), 5)
    votes = rng.integers(0, 2, (n_rounds, 2)) * 2 - 1
    for left, right in votes.tolist():
        engine.set_tree(stump_of(0, left, right))
        engine.move_leaves()
    assert engine.n_rounds == n_rounds
    first, masses = engine.masses()
    raw = scale * rng.random(masses.shape[1]) * (rng.random(masses.shape[1]) < 0.8)
    engine.positions.unscaled[: raw.size] = raw
    found = instantiate(scale_weights, kernel)(engine.positions, n_rounds, 0)
    out = np.empty(raw.size)
    assert found == scale_in_python(raw, masses, first, n_rounds, out)
    for c in (0, 1):
        held = np.flatnonzero(masses[c])
        weights = engine._table[c, first + held - engine.positions.shift[c]]
        np.testing.assert_array_equal(weights, np.rint(out[held]) if exact else out[held])


@pytest.mark.parametrize("kind", ["rounds", "python"])
def test_a_tied_vote_is_for_class_0(kind):
    """Of four votes: class 0 errs above two mistakes, class 1 from two on."""
    masses = np.array([[1, 2, 4, 8, 16], [32, 64, 128, 256, 512]])
    if kind == "python":
        wrong = scale_in_python(np.ones(5), masses, 0, 4, np.empty(5))[1]
    else:
        y = np.repeat([False, True], [31, 992])
        data = bin_examples(y[:, None] * 1.0, y, np.ones(y.size, dtype=np.int64), 255)
        engine = MistakeEngine(TreeLearner(data, TreeShape(2), data.sample_weights), 5)
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


def game_of(X, y):
    data = bin_examples(X, y == 1, np.ones(y.size, dtype=np.int64), 255)
    return VoteGame(TreeLearner(data, STUMP, data.sample_weights))


def test_no_example_weighs_nothing_in_adaboost(monkeypatch):
    seen, grow = [], TreeGrower.grow
    monkeypatch.setattr(TreeGrower, "grow", lambda self, w: seen.append(w.copy()) or grow(self, w))
    assert len(game_of(*each_wrong_on_one_row()).play(200)) == 200
    assert min(w.min() for w in seen) == 1
    assert all(2**60 <= int(w.sum()) < 2**62 for w in seen)


def test_a_perfect_hypothesis_has_one_vote_more_than_all_before_it():
    X, y = each_wrong_on_one_row()
    chips = game_of(np.column_stack([X, y]), y)
    for feature in (3, 3, 4):
        chips._move(stump_of(feature, -1, 1), 0.5 - 2.0**-10)
    played = chips.rounds(0, 3)
    assert played[-1].training_error > 0
    assert not chips.finished
    (perfect,) = chips.play(5)
    assert (perfect.edge, perfect.tree.questions[0, 0]) == (0.5, 60)
    assert perfect.vote_weight == sum(each.vote_weight for each in played) + 1
    assert chips.finished
    assert perfect.training_error == 0.0
    assert chips.margins().values[0] > 0


@pytest.mark.parametrize("edge", [2.0**-54, 2.0**-32, 1e-6, 0.1, 0.25, 0.4999, LAST_EDGE])
def test_a_vote_of_adaboost_is_alpha_rounded_to_its_unit(edge):
    with mpmath.workdps(40):
        alpha = mpmath.log((mpmath.mpf(1) / 2 + edge) / (mpmath.mpf(1) / 2 - edge)) / 2
        units = int(mpmath.nint(alpha * 2**32))
    chips = game_of(*each_wrong_on_one_row())
    chips._move(stump_of(0, -1, 1), edge)
    assert chips.rounds(0, 1)[0].vote_weight == units * 2.0**-32
