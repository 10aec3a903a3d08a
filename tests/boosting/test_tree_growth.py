"""The tree engine against a slow reference, and its rules for ties, missing values and leaves."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from driftgames.boosting.data import binned_training_set
from driftgames.boosting.data.binned_training_set import bin_examples
from driftgames.boosting.data.bins import DenseBins, SparseBins
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.growth import tree_growth
from driftgames.boosting.growth.tree_growth import CRITERIA, TreeGrower, TreeShape
from driftgames.boosting.growth.tree_kernels import same_shares
from driftgames.boosting.growth.tree_state import BLOCK


def score(weights, y, criterion):
    """What one side of a question adds to its score, from exact sums."""
    lower, upper = int(weights[~y].sum()), int(weights[y].sum())
    edge, weight = float(upper - lower), float(lower + upper)
    if criterion == "kearns-mansour":
        weight += 2.0 * math.sqrt(float(lower) * float(upper))
    return edge * edge / weight


def best_question(X, y, weights, sizes, cuts, least, criterion):
    """Try every question of a node: (score, feature, threshold, missing left, goes left)."""
    best = (-1.0,)
    for j, thresholds in enumerate(cuts):
        x = X[:, j]
        gone = np.isnan(x)
        for threshold in thresholds:
            known = x <= threshold
            if not known.any():
                continue
            for missing_left in (True, False) if gone.any() else (None,):
                left = known | gone if missing_left else known
                if min(math.fsum(sizes[left]), math.fsum(sizes[~left])) < least:
                    continue
                found = score(weights[left], y[left], criterion) + score(
                    weights[~left], y[~left], criterion
                )
                if found > best[0]:
                    goes = missing_left
                    if goes is None:
                        goes = weights[left].sum() >= weights[~left].sum()
                    best = (found, j, threshold, int(goes), left)
    return best


def reference(X, y, weights, shape, prior=None):
    """Grow a tree in plain NumPy: nodes (feature, threshold, missing left, left, vote), value.

    ``prior`` are the sample weights. Default: ones.
    """
    sizes, least = np.ones(y.size), shape.min_samples_leaf
    if share := Fraction(str(shape.min_weight_fraction_leaf)):
        sizes = sizes if prior is None else prior
        least = float(share * sum(map(Fraction, sizes.tolist())))
    cuts = []
    for x in X.T:
        values = np.unique(x[~np.isnan(x)])
        cuts.append([*((values[1:] + values[:-1]) / 2), *([np.inf] if np.isnan(x).any() else [])])
    live = np.flatnonzero(weights)
    nodes, leaves = [None], {0: (live, 0, -1)}
    while shape.max_leaves is None or len(leaves) < shape.max_leaves:
        best = (0.0, None)
        for node, (rows, depth, _) in leaves.items():  # in the order in which they were made
            if shape.max_depth is not None and depth >= shape.max_depth:
                continue
            of_node = X[rows], y[rows], weights[rows], sizes[rows]
            question = best_question(*of_node, cuts, least, shape.criterion)
            if question[0] < 0:
                continue
            left = question[4]
            sums = [
                [int(weights[rows][s & (y[rows] == c)].sum()) for c in (0, 1)]
                for s in (left, ~left)
            ]
            if sums[0][0] * sums[1][1] == sums[0][1] * sums[1][0]:
                continue
            gain = question[0] - score(weights[rows], y[rows], shape.criterion)
            if gain > best[0]:
                best = (gain, node, question)
        if best[1] is None:
            break
        gain, node, (_, j, threshold, missing_left, left) = best
        rows, depth, vote = leaves.pop(node)
        nodes[node] = (j, threshold, missing_left, len(nodes), 0)
        vote = sign(weights, y, rows) or vote
        for side in (left, ~left):
            leaves[len(nodes)] = (rows[side], depth + 1, vote)
            nodes.append(None)
    value = 0
    for node, (rows, _, above) in leaves.items():
        nodes[node] = (-1, 0.0, 0, 0, sign(weights, y, rows) or above)
        value += abs(int(weights[rows][y[rows]].sum()) - int(weights[rows][~y[rows]].sum()))
    return nodes, value


def sign(weights, y, rows):
    edge = int(weights[rows][y[rows]].sum()) - int(weights[rows][~y[rows]].sum())
    return (edge > 0) - (edge < 0)


def grown(X, y, weights, shape, form=np.asarray, n_shares=1, prior=None):
    """The tree that the engine grows: nodes as `reference` has them, value, votes in order."""
    masses = SampleWeights.of(np.ones(y.size) if prior is None else prior).of_each
    data = bin_examples(form(X), y, masses, 255, n_shares=n_shares)
    trees = TreeGrower(data, shape)
    value, norm, tree = trees.best(weights[data.order])
    assert norm == weights.sum()
    found = trees.to_values([tree])
    assert trees.to_bins(found) == [tree]
    votes = np.empty(y.size, dtype=np.int64)
    votes[data.order] = 2 * trees.votes(tree).astype(np.int64) - 1
    np.testing.assert_array_equal(votes, found.votes(X)[:, 0])
    columns = (found.feature, found.threshold, found.missing_left, found.left, found.vote)
    return list(zip(*(x.tolist() for x in columns), strict=True)), value, votes


def draw(seed):
    """A small set with ties, duplicates, missing values and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(6, 50)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.integers(2, 7), (n, n_features)).astype(float)
    if n_features > 1 and rng.random() < 0.3:
        X[:, -1] = X[:, 0]
    X[rng.random(X.shape) < rng.choice([0.0, 0.2, 0.6])] = np.nan
    y = rng.random(n) < 0.5
    y[:2] = [False, True]
    largest = int(rng.choice([2, 5, 2**55]))
    weights = rng.integers(0, largest, n)
    weights[rng.integers(n)] = 1
    shape = TreeShape(
        max_depth=rng.choice([1, 2, 3, 4]).item() if rng.random() < 0.8 else None,
        max_leaves=int(rng.integers(2, 7)),
        min_samples_leaf=int(rng.integers(1, 4)),
        criterion=str(rng.choice(list(CRITERIA))),
    )
    return X, y, weights, shape


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_the_slow_reference_grows_the_same_trees(first):
    sizes = []
    for seed in range(first, first + 50):
        X, y, weights, shape = draw(seed)
        nodes, value = reference(X, y, weights, shape)
        found, same_value, votes = grown(X, y, weights, shape)
        assert found == nodes, seed
        assert same_value == value == int((weights * np.where(y, votes, -votes)).sum())
        sizes.append(len(nodes))
    assert max(sizes) >= 9
    assert min(sizes) == 1


@pytest.mark.parametrize("kind", ["integers", "reals"])
def test_the_slow_reference_grows_the_same_trees_of_heavy_leaves(kind):
    sizes = []
    for seed in range(80):
        X, y, weights, shape = draw(seed)
        rng = np.random.default_rng(seed)
        prior = (
            rng.exponential(size=y.size) if kind == "reals" else 1.0 + rng.integers(9, size=y.size)
        )
        share = float(rng.choice([0.01, 0.07, 0.1, 0.25, 0.5]))
        shape = replace(shape, min_samples_leaf=1, min_weight_fraction_leaf=share)
        form = sp.csr_matrix if seed % 2 else np.asarray
        wanted = reference(X, y, weights, shape, prior)
        assert grown(X, y, weights, shape, form, prior=prior)[:2] == wanted, seed
        free = reference(X, y, weights, replace(shape, min_weight_fraction_leaf=0.0))
        sizes.append((len(wanted[0]), len(free[0])))
    assert max(sizes)[0] >= 9
    assert sum(limited < free for limited, free in sizes) > 20


@pytest.mark.parametrize(("share", "n_nodes"), [(0.07, 3), (0.0700001, 1)])
def test_a_share_of_the_weight_is_the_decimal_that_was_written(share, n_nodes):
    y = np.arange(100) < 7  # in floats, 0.07 * 100 is more than 7
    shape = TreeShape(1, min_weight_fraction_leaf=share)
    assert len(grown(1.0 * y[:, None], y, np.ones(100, dtype=np.int64), shape)[0]) == n_nodes


@given(st.integers(0, 100_000))
@settings(max_examples=100)
def test_sparse_rows_and_permuted_rows_give_the_same_tree(seed):
    X, y, weights, shape = draw(seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, 0.0, X)
    wanted = grown(X, y, weights, shape)[:2]
    assert grown(X, y, weights, shape, sp.csr_matrix)[:2] == wanted
    order = np.random.default_rng(seed).permutation(y.size)
    assert grown(X[order], y[order], weights[order], shape)[:2] == wanted


@pytest.mark.parametrize("kind", [DenseBins, SparseBins])
@pytest.mark.parametrize(
    "least", [{}, {"min_samples_leaf": 7}, {"min_weight_fraction_leaf": 0.03}], ids=str
)
def test_shares_and_layouts_of_the_rows_change_nothing(monkeypatch, kind, least):
    monkeypatch.setattr(tree_growth, "_FEW_SUMS", 0)
    monkeypatch.setattr(binned_training_set, "_SPARSE_BELOW", -1 if kind is DenseBins else 2)
    rng = np.random.default_rng(0)
    n = 6 * BLOCK  # three shares have rows of both classes
    X = rng.integers(0, 9, (n, 5)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.random(n) > 16
    weights = rng.integers(0, 2**50, n) * (rng.random(n) < 0.7)
    prior = rng.integers(1, 9, n).astype(float)
    assert BLOCK * 2 < y.sum() < n - BLOCK * 2
    shape = TreeShape(4, **least)
    assert isinstance(bin_examples(X, y, prior.astype(np.int64), 255).bins, kind)
    one = grown(X, y, weights, shape, prior=prior)
    assert len(one[0]) > 10
    assert one[:2] == reference(X, y, weights, shape, prior)
    for n_shares in (2, 3):
        assert grown(X, y, weights, shape, n_shares=n_shares, prior=prior)[:2] == one[:2]


def nodes_of(X, y, weights=None, **shape):
    X, y = np.asarray(X, dtype=float), np.asarray(y) == 1
    X = X[:, None] if X.ndim == 1 else X
    weights = np.ones(y.size, dtype=np.int64) if weights is None else np.array(weights)
    return grown(X, y, weights, TreeShape(**{"max_depth": 2, **shape}))[0]


def test_two_questions_find_what_no_stump_does():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], dtype=float)
    y = np.array([0, 1, 1, 0, 0]) == 1
    ones = np.ones(5, dtype=np.int64)
    assert [grown(X, y, ones, TreeShape(depth))[1] for depth in (1, 2)] == [1, 5]


def test_ties_go_to_the_lowest_feature_then_threshold():
    x = np.array([1.0, 2.0, 3.0])
    root = nodes_of(np.column_stack([3 - x, x, x]), [0, 1, 0], max_depth=1, min_samples_leaf=1)[0]
    assert root[:2] == (0, 0.5)
    root = nodes_of(np.column_stack([[1, 1, 1], x]), [0, 1, 0])[0]
    assert root[:2] == (1, 1.5)


def test_of_equal_gains_the_leaf_made_first_is_split_first():
    x, z = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1] * 2
    labels = [0, 0, 0, 1, 1, 1, 1, 0]  # both sides of the first question gain the same
    nodes = nodes_of(np.column_stack([x, z]), labels, max_leaves=3)
    assert [node[3] for node in nodes] == [1, 3, 0, 0, 0]


def test_a_question_that_tells_nothing_is_not_asked():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
    assert len(nodes_of(X, [0, 0, 0, 0, 1, 1, 1, 1], [3, 5, 7, 11, 9, 15, 21, 33])) == 1


def test_a_tied_leaf_votes_like_the_node_above_and_a_tied_root_votes_minus_one():
    nodes = nodes_of([0, 0, 1, 1, 1], [0, 1, 1, 1, 1], max_depth=1, min_samples_leaf=2)
    assert [node[4] for node in nodes] == [0, 1, 1]
    nodes = nodes_of([0, 0, 1, 1, 1], [0, 1, 0, 0, 0], max_depth=1, min_samples_leaf=2)
    assert [node[4] for node in nodes] == [0, -1, -1]
    assert nodes_of([0, 0], [0, 1]) == [(-1, 0.0, 0, 0, -1)]


LOST = float("nan")


@pytest.mark.parametrize(("label", "goes_left"), [(0, 1), (1, 0)])
def test_missing_values_go_where_they_serve_best(label, goes_left):
    nodes = nodes_of([1, 1, 2, 2, LOST, LOST], [0, 0, 1, 1, label, label])
    assert nodes[0] == (0, 1.5, goes_left, 1, 0)


def test_missing_values_without_weight_go_to_the_side_of_more_weight():
    x, y = [1, 2, 2, LOST], [0, 1, 1, 0]
    assert nodes_of(x, y, [1, 1, 1, 0])[0] == (0, 1.5, 0, 1, 0)
    assert nodes_of(x, y, [3, 1, 1, 0])[0] == (0, 1.5, 1, 1, 0)
    assert nodes_of(x, y, [2, 1, 1, 0])[0] == (0, 1.5, 1, 1, 0)


def test_a_question_may_be_whether_the_value_is_missing():
    nodes = nodes_of([1, 2, 1, 2, LOST, LOST], [0, 0, 0, 0, 1, 1])
    assert nodes == [(0, np.inf, 0, 1, 0), (-1, 0.0, 0, 0, -1), (-1, 0.0, 0, 0, 1)]


def test_only_rows_of_weight_are_summed_and_of_two_sides_the_smaller():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (200, 3)).astype(float)
    y = X[:, 0] + X[:, 1] + 4 * rng.random(200) > 10
    data = bin_examples(X, y, np.ones(200, dtype=np.int64), 255)
    assert isinstance(data.bins, DenseBins)
    weights = rng.integers(0, 2, 200)
    wanted = TreeGrower(data, TreeShape(2)).best(weights)
    data.bins.codes[weights == 0] = 0  # what these rows list is not read
    grower = TreeGrower(data, TreeShape(2))
    assert grower.best(weights) == wanted
    tree = wanted[2]
    assert len(tree) == 7
    n_left = np.count_nonzero(data.bins.columns[tree[0].feature][weights > 0] <= tree[0].cut)
    n_rows = np.count_nonzero(weights)
    assert 0 < n_left < n_rows
    # the root and its smaller side; the leaves below are not summed
    assert grower.n_summed == n_rows + min(n_left, n_rows - n_left)


@pytest.mark.parametrize("n_shares", [1, 2])
def test_a_tree_may_have_more_leaves_than_the_arrays_hold_at_first(monkeypatch, n_shares):
    monkeypatch.setattr(tree_growth, "_FEW_SUMS", 0)
    monkeypatch.setattr(tree_growth, "_LEAVES", 2)
    rng = np.random.default_rng(2)
    X, y = rng.random((400, 2)), rng.random(400) < 0.5
    ones = np.ones(400, dtype=np.int64)
    nodes, value, votes = grown(X, y, ones, TreeShape(None, 300), n_shares=n_shares)
    assert len(nodes) > 255
    assert value == 400
    np.testing.assert_array_equal(votes > 0, y)


@njit
def compare(lower, upper, lower_all, upper_all):
    return same_shares(lower, upper, lower_all, upper_all)


def test_shares_are_compared_in_exact_integers():
    rng = np.random.default_rng(3)
    for _ in range(200):
        a, b, c = (int(x) for x in rng.integers(1, 2**30, 3))
        for lower, upper in ((a * b, a * c), (a * b + 1, a * c), (a * b, a * c + 1)):
            assert compare(lower, upper, b, c) == (lower * c == upper * b)
    assert not compare(2**40, 2**34 * (2**16 - 1), 2**30, 2**40)  # equal in the lower 64 bits
