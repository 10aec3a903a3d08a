"""Boosters of trees: one model for any rows and threads, and all that a booster of stumps has."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from driftgames.boosting import (
    BOOSTERS,
    AdaBoostClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
    Stumps,
    Trees,
)
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit import source
from driftgames.boosting.persistence import encode_model

SETTINGS = {"boost-by-majority": {"edge": 0.05, "horizon": 40}}
SHAPES = {
    "depth 2": {"max_depth": 2},
    "depth 3": {"max_depth": 3, "criterion": "kearns-mansour"},
    "6 leaves": {"max_depth": None, "max_leaves": 6},
    "large leaves": {"max_depth": 4, "min_samples_leaf": 12},
    "heavy leaves": {"max_depth": 4, "min_weight_fraction_leaf": 0.04},
}


def make(name, **settings):
    return BOOSTERS[name](
        **{"n_estimators": 25, "calibrate": False, **SETTINGS.get(name, {}), **settings}
    )


@pytest.fixture(scope="module")
def data():
    """A set with an interaction, ties, zeros and missing values."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 5)), 1)
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] + 0.3 * rng.normal(size=400) > 0, "up", "down")
    X[:, 3] = np.where(rng.random(400) < 0.7, 0.0, X[:, 3])
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.fixture(params=BOOSTERS)
def name(request):
    return request.param


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("prior", [None, "integers", "reals"])
def test_rows_threads_and_layout_give_one_model(name, data, shape, prior, monkeypatch):
    monkeypatch.setattr(source, "_FEW_CODES", 0)
    X, y = data
    rng = np.random.default_rng(1)
    weights = None
    if prior is not None:
        weights = rng.integers(1, 4, 400) if prior == "integers" else rng.random(400)
    shape = {"n_estimators": 4, **shape}
    one = make(name, **shape).fit(X, y, weights)
    order = rng.permutation(400)
    moved = None if weights is None else weights[order]
    others = [
        make(name, **shape).fit(X[order], y[order], moved),
        make(name, n_jobs=2, **shape).fit(X, y, weights).set_params(n_jobs=None),
        make(name, **shape).fit(sp.csr_matrix(X), y, weights),
    ]
    assert one.n_iter_ == len(one.trees_) == 4
    wanted = encode_model(one)
    assert all(encode_model(other) == wanted for other in others)


@pytest.mark.parametrize("share", [0.0, 0.04])
def test_integer_weights_are_copies(name, data, share):
    X, y = data
    copies = np.random.default_rng(2).integers(1, 4, 400)
    shape = {"max_depth": 3, "min_weight_fraction_leaf": share}
    weighted = make(name, **shape).fit(X, y, copies)
    repeated = make(name, **shape).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert encode_model(weighted) == encode_model(repeated)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_the_vote_is_the_sum_of_the_trees(name, data, form):
    X, y = data
    booster = make(name, max_depth=3).fit(form(X), y)
    votes = booster.trees_.votes(X)
    assert set(np.unique(votes)) == {-1, 1}
    by_hand = votes @ booster.estimator_weights_ / booster.estimator_weights_.sum()
    np.testing.assert_allclose(booster.decision_function(form(X)), by_hand, atol=1e-12)
    np.testing.assert_array_equal(
        booster.set_params(n_jobs=2).decision_function(np.tile(X, (30, 1))),
        np.tile(booster.decision_function(X), 30),
    )
    stages = list(booster.staged_decision_function(form(X)))
    np.testing.assert_allclose(stages[-1], by_hand, atol=1e-12)
    first = votes[:, :7] @ booster.estimator_weights_[:7] / booster.estimator_weights_[:7].sum()
    np.testing.assert_allclose(stages[6], first, atol=1e-12)


def test_the_history_and_the_certificate_are_those_of_the_examples(name, data):
    X, y = data
    booster = make(name, max_depth=3).fit(X, y)
    errors = [np.mean(labels != y) for labels in booster.staged_predict(X)]
    np.testing.assert_allclose(booster.history_["training_error"], errors, atol=1e-12)
    certificate = booster.certificate_
    assert certificate.holds
    margins = booster.margins(X, y)
    for theta in (-0.2, 0.0, 0.2, 0.6):
        share = np.mean(margins <= theta + 1e-12)
        assert certificate.at(theta).realised == pytest.approx(share, abs=1e-12)


def test_the_edges_are_those_of_algorithm_6(data):
    """The weights of NH-Boost.DT in plain floats, on the trees that the booster chose."""
    X, y = data
    booster = NHBoostDTClassifier(25, max_depth=2, calibrate=False).fit(X, y)
    sign = np.where(y == "up", 1.0, -1.0)
    s = np.zeros(y.size)
    zeros = []
    for t, vote in enumerate(booster.trees_.votes(X).T.astype(float), start=1):
        below, above = np.minimum(s - 1, 0), np.minimum(s + 1, 0)
        p = np.exp(below**2 / (3 * t)) - np.exp(above**2 / (3 * t))
        edge = (p / p.sum() * sign * vote).sum() / 2
        assert booster.history_["edge"][t - 1] == pytest.approx(edge, abs=1e-9)
        s += sign * vote / 2 - edge
        zeros.append(np.mean(s >= 1))
    np.testing.assert_allclose(booster.history_["zero_fraction"], zeros, atol=1e-12)
    assert zeros[-1] > 0.02


def test_trees_find_an_interaction_that_stumps_cannot(data):
    X, y = data
    stumps, trees = (
        NHBoostDTClassifier(60, max_depth=depth, calibrate=False).fit(X, y) for depth in (1, 2)
    )
    assert stumps.score(X, y) < 0.8
    assert trees.score(X, y) > 0.9


def test_one_question_is_the_stump_engine_and_its_file(data):
    booster = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(*data)
    assert (
        booster.stumps_ == NHBoostDTClassifier(9, max_depth=1, calibrate=False).fit(*data).stumps_
    )
    assert booster.trees_ == Trees.none()
    assert "trees" not in encode_model(booster)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_trees_keep_to_their_shape(data, shape):
    X, y = data
    booster = NHBoostDTClassifier(25, **shape, calibrate=False).fit(X, y)
    trees, limit = booster.trees_, TreeShape(**shape)
    n_leaves = (trees.n_nodes + 1) // 2
    if limit.max_depth is not None:
        assert trees.depths.max() == limit.max_depth
    if limit.max_leaves is not None:
        assert n_leaves.max() == limit.max_leaves
    assert (trees.gain[trees.left > 0] > 0).all()
    if limit.min_samples_leaf > 1:
        smaller = (
            NHBoostDTClassifier(25, **{**shape, "min_samples_leaf": 1}, calibrate=False)
            .fit(X, y)
            .trees_
        )
        assert smaller.n_nodes.mean() > trees.n_nodes.mean()
        _, sizes = np.unique(trees[:1].leaves(X), return_counts=True)
        assert limit.min_samples_leaf <= sizes.min() < 40  # every example weighs in round 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_leaf_holds_its_share_of_the_weight_of_examples_and_classes(data, n_classes):
    X, y = data
    y = (y == "up") + 1 * ((X[:, 2] > 0) & (n_classes == 3))
    given, factors = np.random.default_rng(3).random(400), np.array([0.01, 5.0, 1.0])
    least = []
    for share in (0.0, 0.06):
        booster = NHBoostDTClassifier(
            1, max_depth=4, calibrate=False, class_weight=dict(enumerate(factors[:n_classes]))
        )
        booster.set_params(min_weight_fraction_leaf=share).fit(X, y, given)
        _, leaf = np.unique(booster.trees_.leaves(X)[:, 0], return_inverse=True)
        masses = np.bincount(leaf, given * factors[y])
        assert masses.size > 2
        least.append(masses.min() / masses.sum())
    assert least[0] < 0.03
    assert least[1] >= 0.06


def test_explanations_add_up_to_the_decision_exactly(name, data):
    X, y = data
    booster = make(name, max_depth=3).fit(X, y)
    decisions = booster.decision_function(X)
    for x, decision in zip(X[:60], decisions[:60], strict=True):
        why = booster.explain(x)
        assert why.decision == decision
        assert (why.base + why.votes[::-1].sum()) / why.total == decision


def test_an_explanation_credits_the_change_of_the_mean_vote_to_the_question():
    booster = NHBoostDTClassifier(1, max_depth=2, max_leaves=3, calibrate=False)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [0, 1]], dtype=float)
    booster.fit(X, [0, 0, 0, 1, 0, 0])
    assert booster.trees_.votes(X)[:, 0].tolist() == [-1, -1, -1, 1, -1, -1]
    # the root is worth -1/2, its sides -1 and 0, and the sides of the second question -1 and +1
    for x, votes in (([0, 1], [-0.5, 0.0]), ([1, 1], [0.5, 1.0]), ([1, 0], [0.5, -1.0])):
        why = booster.explain(x)
        assert (why.base, why.votes.tolist()) == (-0.5, votes)


def test_importances_are_shares_of_the_edges_by_gain(data):
    booster = NHBoostDTClassifier(25, max_depth=2, calibrate=False).fit(*data)
    wanted = np.zeros(5)
    for t, edge in enumerate(booster.history_["edge"]):
        tree = booster.trees_[t : t + 1]
        for j, gain in zip(tree.feature, tree.gain, strict=True):
            if j >= 0:
                wanted[j] += edge * gain / tree.gain.sum()
    np.testing.assert_allclose(booster.feature_importances_, wanted / wanted.sum(), atol=1e-12)
    assert set(booster.feature_importances_.argsort()[-3:].tolist()) == {0, 1, 2}


def test_only_stumps_are_an_additive_model(data):
    booster = NHBoostDTClassifier(5, max_depth=2, calibrate=False).fit(*data)
    assert not hasattr(booster, "shape_functions_")
    with pytest.raises(AttributeError, match=r"additive model \(max_leaves=2\)"):
        booster.plot_shapes()


def test_a_fit_anew_leaves_nothing_of_the_trees(data):
    booster = (
        NHBoostDTClassifier(5, max_depth=2, calibrate=False)
        .fit(*data)
        .set_params(max_depth=1)
        .fit(*data)
    )
    assert encode_model(booster) == encode_model(
        NHBoostDTClassifier(5, max_depth=1, calibrate=False).fit(*data)
    )
    booster.set_params(max_depth=2).fit(*data)
    assert booster.stumps_ == Stumps.none()


def test_a_set_that_no_question_divides_is_predicted_as_its_heavier_class():
    X = np.zeros((4, 2))
    with pytest.warns(NoEdgeWarning):
        booster = NHBoostDTClassifier(3, max_depth=2, calibrate=False).fit(X, [0, 1, 1, 1])
    assert booster.n_iter_ == 0
    assert booster.predict(X).tolist() == [1, 1, 1, 1]
    assert booster.feature_importances_.tolist() == [0.0, 0.0]
    with pytest.warns(NoEdgeWarning):
        assert (
            NHBoostDTClassifier(3, max_depth=2, calibrate=False).fit(X, [0, 1, 0, 1]).n_iter_ == 0
        )


BAD = [
    ({"max_depth": 0}, "max_depth must be .* >= 1; got 0"),
    ({"max_depth": 1.5}, "max_depth must be"),
    ({"max_depth": True}, "max_depth must be .* got True"),
    ({"max_depth": None, "max_leaves": None}, "max_leaves must be given if max_depth is None"),
    ({"max_leaves": "few"}, "max_leaves must be one of auto; got 'few'"),
    ({"max_leaves": 1}, "max_leaves must be .* >= 2; got 1"),
    ({"max_leaves": 31}, "max_leaves must be at most 10, .* got 31"),
    ({"max_depth": 2, "min_samples_leaf": 0}, "min_samples_leaf must be .* >= 1; got 0"),
    ({"max_depth": 2, "min_samples_leaf": 6}, "min_samples_leaf must be at most 5, .* got 6"),
    ({"min_weight_fraction_leaf": 0.6}, r"leaf must lie in \[0, 0\.5\]; got 0\.6"),
    ({"min_weight_fraction_leaf": float("nan")}, "min_weight_fraction_leaf must lie .* got nan"),
    ({"min_weight_fraction_leaf": False}, "min_weight_fraction_leaf must lie .* got False"),
    (
        {"min_samples_leaf": 5, "min_weight_fraction_leaf": 0.1},
        "min_samples_leaf must be 1 beside a positive min_weight_fraction_leaf; got 5 and 0.1",
    ),
    ({"criterion": "entropy"}, "criterion must be one of gini, kearns-mansour; got 'entropy'"),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_bad_shapes_are_refused(name, settings, message):
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    booster = make(name, **settings)
    before = vars(booster).copy()
    with pytest.raises(ValueError, match=message):
        booster.fit(X, y)
    assert vars(booster) == before


def test_examples_of_weight_zero_fill_no_leaf():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    with pytest.raises(ValueError, match="max_leaves must be at most 4"):
        NHBoostDTClassifier(2, max_leaves=5, calibrate=False).fit(X, y, [1] * 4 + [0] * 8)


BROKEN = [
    ({"left": [1, 0, 0, 0, 0]}, "must join the nodes of tree 0 to a tree"),
    ({"left": [3, 1, 0, 0, 0]}, "must join the nodes of tree 0 to a tree"),
    ({"left": [1, 0, 1, 0, 0]}, "must join the nodes of tree 0 to a tree"),
    ({"vote": [0, 0, 0, 1, -1]}, r"vote must be \+1 or -1 in the leaves"),
    ({"vote": [1, -1, 0, 1, -1]}, "0 in its questions"),
    ({"feature": [-1, -1, 1, -1, -1]}, "feature must be >= 0 in the questions"),
    ({"feature": [0, 2, 1, -1, -1]}, "-1 in its leaves"),
    ({"threshold": [float("nan"), 0, 4, 0, 0]}, "must not be NaN"),
    ({"n_nodes": [3]}, "must have 3 entries each"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_nodes_that_are_no_tree_are_refused(change, message):
    whole = {
        "n_nodes": [5],
        "feature": [0, -1, 1, -1, -1],
        "threshold": [1.5, 0.0, 4.0, 0.0, 0.0],
        "missing_left": [1, 0, 0, 0, 0],
        "left": [1, 0, 3, 0, 0],
        "vote": [0, -1, 0, 1, -1],
        "gain": [0.4, 0.0, 0.2, 0.0, 0.0],
    }
    assert len(Trees(**whole)) == 1
    with pytest.raises(ValueError, match=message):
        Trees(**{**whole, **change})


@pytest.mark.parametrize("kind", [NHBoostDTClassifier, AdaBoostClassifier])
def test_predictions_on_float32_are_those_on_its_values(kind):
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    booster = kind(20, max_depth=3, calibrate=False).fit(X, y)
    np.testing.assert_array_equal(
        booster.decision_function(X), booster.decision_function(X.astype(np.float64))
    )
    assert booster.score(X, y) > 0.99


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_auto_is_two_leaves_more_than_classes_where_none_can_be_chosen(n_classes, tmp_path):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 3))
    y = rng.integers(1, n_classes, 200)
    y[7] = 0  # one example only: no fold can hold it out
    settings = {"max_depth": None, "calibrate": False, "max_bins": 255}
    auto = NHBoostDTClassifier(4, max_leaves="auto", **settings).fit(X, y)
    given = NHBoostDTClassifier(4, max_leaves=2 + n_classes, **settings).fit(X, y)
    assert auto.trees_ == given.trees_
    if n_classes > 2:  # three leaves separate one example
        assert auto.trees_.n_nodes.tolist() == [3 + 2 * n_classes] * 4
    np.testing.assert_array_equal(auto.decision_function(X), given.decision_function(X))
    auto.save(tmp_path / "m.json")
    assert NHBoostDTClassifier.load(tmp_path / "m.json").max_leaves == "auto"
    few = NHBoostDTClassifier(2, max_leaves="auto", **settings).fit([[0.0], [1.0]], [0, 1])
    assert len(few.stumps_) == 2  # no more leaves than examples
