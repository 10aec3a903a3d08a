"""Trees and stumps of two classes against a slow reference, and the rules for ties and leaves."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from driftgames._kernels.integers import floor_ratio, ratio, same_products
from driftgames.boosting.data import binned_data
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.data.bins import DenseBins, SparseBins
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.engine import mistake_engine
from driftgames.boosting.engine.binned_trees import to_trees
from driftgames.boosting.engine.rows import BLOCK
from driftgames.boosting.engine.shape import CRITERIA, TreeShape
from tests.boosting.engine.slow_game import GrownRows


def masses(weights, y):
    """The weights of the two classes, as exact integers."""
    return sum(weights[~y].tolist()), sum(weights[y].tolist())


def score(weights, y, criterion):
    """What one side of a question adds to its score, from exact sums."""
    lower, upper = masses(weights, y)
    edge, weight = float(upper - lower), float(lower + upper)
    if criterion == "kearns-mansour":
        weight += 2.0 * math.sqrt(float(lower) * float(upper))
    return edge * edge / weight


def edge_of(weights, y):
    lower, upper = masses(weights, y)
    return upper - lower


def best_question(X, y, weights, sizes, cuts, least, criterion, monotonic):
    """Try every question of a node: (score, feature, threshold, missing left, goes left)."""
    best = (-1,)
    stump = criterion == "edge"
    for j, thresholds in enumerate(cuts):
        x, direction = X[:, j], monotonic[j]
        gone = np.isnan(x)
        n_known = -1 if stump else 0
        for threshold in thresholds:
            known = x <= threshold
            asks_missing = threshold == np.inf
            if known.sum() == n_known:
                continue  # the sides of the cut before, which a direction may have ruled out
            n_known = known.sum()
            for missing_left in (True, False) if gone.any() else (None,):
                if stump and missing_left and asks_missing:
                    continue  # a constant is no question
                left = known | gone if missing_left else known
                edges = [edge_of(weights[side], y[side]) for side in (left, ~left)]
                if stump:
                    found = edges[0] - edges[1]
                    found = -direction * found if direction and not asks_missing else abs(found)
                else:
                    if left.all():
                        continue
                    against = edges[0] * direction > 0 and edges[1] * direction < 0
                    if against and not asks_missing:
                        continue
                    if min(math.fsum(sizes[left]), math.fsum(sizes[~left])) < least:
                        continue
                    found = score(weights[left], y[left], criterion) + score(
                        weights[~left], y[~left], criterion
                    )
                if found > best[0]:
                    goes = missing_left
                    if goes is None:
                        heavier = sum(weights[left].tolist()) >= sum(weights[~left].tolist())
                        goes = heavier and not asks_missing
                    best = (found, j, threshold, int(goes), left)
    return best


def gain_of(question, y, weights, criterion):
    """The gain of a question, or 0 if its sides have the same shares of the classes."""
    if criterion == "edge":
        return abs(question[0])
    sums = [masses(weights[side], y[side]) for side in (question[4], ~question[4])]
    if sums[0][0] * sums[1][1] == sums[0][1] * sums[1][0]:
        return 0.0
    return question[0] - score(weights, y, criterion)


def fix_side(sums, direction):
    """Which side of a monotonic question has a fixed vote, and the vote."""
    lower, upper = (0, 1) if direction > 0 else (1, 0)
    low, high = sums[lower], sums[upper]
    if low[1] <= low[0] and (high[1] < high[0] or low[1] <= high[0]):
        return lower, -1
    return upper, 1


def reference(X, y, weights, shape, prior=None, monotonic=None):
    """Grow a tree: nodes (feature, threshold, missing left, left, vote, gain), and its value.

    ``prior`` are the sample weights. Default: ones.
    """
    monotonic = [0] * X.shape[1] if monotonic is None else monotonic
    sizes, least = np.ones(y.size), shape.min_samples_leaf
    if share := Fraction(str(shape.min_weight_fraction_leaf)):
        sizes = sizes if prior is None else prior
        least = float(share * sum(map(Fraction, sizes.tolist())))
    cuts = []
    for x in X.T:
        values = np.unique(x[~np.isnan(x)])
        cuts.append([*((values[1:] + values[:-1]) / 2), *([np.inf] if np.isnan(x).any() else [])])
    criterion = "edge" if shape.is_stump else shape.criterion
    norm = float(sum(weights.tolist()))
    live = np.flatnonzero(weights)
    leaf = (-1, 0.0, 0, 0)
    root = sign(weights, y, live) or -1
    nodes, leaves = [None], {0: (live, 0, root, False)}
    while shape.max_leaves is None or len(leaves) < shape.max_leaves:
        best = (0.0, None)
        for node, (rows, depth, _, fixed) in leaves.items():  # in the order in which they were made
            if fixed or (shape.max_depth is not None and depth >= shape.max_depth):
                continue
            of_node = X[rows], y[rows], weights[rows], sizes[rows]
            question = best_question(*of_node, cuts, least, criterion, monotonic)
            if question[0] < 0:
                continue
            gain = gain_of(question, y[rows], weights[rows], criterion)
            if gain > best[0]:
                best = (gain, node, question)
        if best[1] is None:
            break
        gain, node, (_, j, threshold, missing_left, left) = best
        rows, depth, vote, _ = leaves.pop(node)
        nodes[node] = (j, threshold, missing_left, len(nodes), 0, gain / norm)
        sides = [rows[left], rows[~left]]
        votes = [sign(weights, y, side) or vote for side in sides]
        if criterion == "edge":
            votes = [1, -1] if edge_at(weights, y, sides) >= 0 else [-1, 1]
        fixed = [False, False]
        if monotonic[j] and threshold != np.inf:
            k, fixed_vote = fix_side([masses(weights[s], y[s]) for s in sides], monotonic[j])
            votes[k], fixed[k] = fixed_vote, True
        for side, each, constant in zip(sides, votes, fixed, strict=True):
            leaves[len(nodes)] = (side, depth + 1, each, constant)
            nodes.append(None)
    value = 0
    for node, (rows, _, vote, _) in leaves.items():
        nodes[node] = (*leaf, vote, 0.0)
        value += vote * edge_of(weights[rows], y[rows])
    if value <= 0 or (criterion == "edge" and len(nodes) == 1):
        return [(*leaf, root, 0.0)], 0
    return nodes, value


def edge_at(weights, y, sides):
    left, right = (edge_of(weights[side], y[side]) for side in sides)
    return left - right


def sign(weights, y, rows):
    edge = edge_of(weights[rows], y[rows])
    return (edge > 0) - (edge < 0)


def grown(X, y, weights, shape, form=np.asarray, n_threads=1, prior=None, monotonic=None):
    """The tree that the engine grows: nodes as `reference` has them, value, votes in order."""
    of_each = SampleWeights.of(np.ones(y.size) if prior is None else prior).of_each
    data = bin_examples(form(X), y, of_each, 255, monotonic=monotonic)
    trees = GrownRows(data, shape, n_threads=n_threads)
    value, norm, tree = trees.best(weights[data.order])
    assert norm == max(weights.sum(), 1)
    votes = np.empty(y.size, dtype=np.int64)
    votes[data.order] = 2 * trees.votes(tree).astype(np.int64) - 1
    if len(tree) > 1 or not shape.is_stump:
        values = trees.to_values([tree])
        np.testing.assert_array_equal(votes, values.votes(X)[:, 0])
    found = to_trees([tree], data.cuts)
    columns = (found.feature, found.threshold, found.missing_left, found.left, found.vote)
    return list(zip(*(x.tolist() for x in (*columns, found.gain)), strict=True)), value, votes


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


@pytest.mark.parametrize("way", ["plain", "threads", "monotonic", "monotonic threads"])
@pytest.mark.parametrize("first", range(0, 400, 100))
def test_the_slow_reference_grows_the_same_trees(first, way):
    sizes = []
    for seed in range(first, first + 100):
        X, y, weights, shape = draw(seed)
        monotonic = None
        if "monotonic" in way:
            monotonic = np.random.default_rng(seed).integers(-1, 2, X.shape[1])
        nodes, value = reference(X, y, weights, shape, monotonic=monotonic)
        threads = 2 if "threads" in way else 1
        form = sp.csr_matrix if seed % 3 == 0 else np.asarray
        found, same_value, votes = grown(
            X, y, weights, shape, form, n_threads=threads, monotonic=monotonic
        )
        assert found == nodes, seed
        assert same_value == value
        if len(nodes) > 1:
            assert value == int((weights * np.where(y, votes, -votes)).sum())
        sizes.append(len(nodes))
    assert max(sizes) >= 9
    assert min(sizes) == 1


@pytest.mark.parametrize("way", ["plain", "threads", "monotonic", "sparse", "sparse threads"])
def test_the_slow_reference_chooses_the_same_stumps(way):
    """An exhaustive stump may have all the weight on one side, and votes against itself."""
    one_sided = lost = 0
    for seed in range(300):
        X, y, weights, _ = draw(seed)
        rng = np.random.default_rng(seed)
        if seed % 4 == 0:
            y[:] = y[0]
            y[-1] = not y[0]
            weights[-1] = 0  # all the weight is of one class
            weights[0] = max(weights[0], 1)
        monotonic = rng.integers(-1, 2, X.shape[1]) if way == "monotonic" else None
        form = sp.csr_matrix if "sparse" in way else np.asarray
        threads = 2 if "threads" in way else 1
        wanted = reference(X, y, weights, TreeShape(), monotonic=monotonic)
        found = grown(X, y, weights, TreeShape(), form, n_threads=threads, monotonic=monotonic)
        assert found[:2] == wanted, seed
        one_sided += found[1] == weights.sum()
        lost += found[0][0][1] == np.inf
    assert one_sided > 10
    assert lost > 5


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
    monkeypatch.setattr(binned_data, "_SPARSE_BELOW", -1 if kind is DenseBins else 2)
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
    for n_threads in (2, 3):
        assert grown(X, y, weights, shape, n_threads=n_threads, prior=prior)[:2] == one[:2]


def nodes_of(X, y, weights=None, **shape):
    X, y = np.asarray(X, dtype=float), np.asarray(y) == 1
    X = X[:, None] if X.ndim == 1 else X
    weights = np.ones(y.size, dtype=np.int64) if weights is None else np.array(weights)
    nodes = grown(X, y, weights, TreeShape(**{"max_depth": 2, **shape}))[0]
    return [node[:5] for node in nodes]  # without the gains


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
    nodes = nodes_of(np.column_stack([x, z]), labels)
    assert [node[3] for node in nodes] == [1, 3, 5, 0, 0, 0, 0]


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


@pytest.mark.parametrize("n_threads", [1, 2])
def test_only_rows_of_weight_are_summed(n_threads):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (200, 3)).astype(float)
    y = X[:, 0] + X[:, 1] + 4 * rng.random(200) > 10
    data = bin_examples(X, y, np.ones(200, dtype=np.int64), 255)
    assert isinstance(data.bins, DenseBins)
    weights = rng.integers(0, 2, 200)

    def grow():
        value, norm, tree = GrownRows(data, TreeShape(2), n_threads=n_threads).best(weights)
        return value, norm, tree.questions.tolist(), tree.votes.tolist()

    wanted = grow()
    assert len(wanted[2]) == 7
    data.bins.codes[weights == 0] = 0  # what these rows list is not read
    assert grow() == wanted
    data.bins.codes[weights != 0] = 0
    assert grow() != wanted


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_tree_may_have_more_leaves_than_the_arrays_hold_at_first(monkeypatch, n_threads):
    monkeypatch.setattr(mistake_engine, "_LEAVES", 2)
    monkeypatch.setattr(mistake_engine, "_CHUNK_NODES", 4)
    rng = np.random.default_rng(2)
    X, y = rng.random((400, 2)), rng.random(400) < 0.5
    ones = np.ones(400, dtype=np.int64)
    nodes, value, votes = grown(X, y, ones, TreeShape(None, 300), n_threads=n_threads)
    assert len(nodes) > 255
    assert value == 400
    np.testing.assert_array_equal(votes > 0, y)


@njit
def compare(lower, upper, lower_all, upper_all):
    return same_products(lower, upper_all, upper, lower_all)


def test_shares_are_compared_in_exact_integers():
    rng = np.random.default_rng(3)
    for _ in range(200):
        a, b, c = (int(x) for x in rng.integers(1, 2**30, 3))
        for lower, upper in ((a * b, a * c), (a * b + 1, a * c), (a * b, a * c + 1)):
            assert compare(lower, upper, b, c) == (lower * c == upper * b)
    assert not compare(2**40, 2**34 * (2**16 - 1), 2**30, 2**40)  # equal in the lower 64 bits


@njit
def divide(a, b):
    return ratio(a, b)


@njit
def divide_down(a, b, bits):
    return floor_ratio(a, b, bits)


def test_ratios_are_rounded_once():
    rng = np.random.default_rng(4)
    pairs = [(1, 1), (1, 3), (1, 2**62 + 1), (2**62, 2**62 + 1), (2**53 + 1, 2**54)]
    for bits in (10, 40, 62):
        pairs += [sorted(int(x) for x in rng.integers(1, 2**bits, 2)) for _ in range(300)]
    # halves between two floats, and numbers next to them
    for mantissa in (int(x) for x in rng.integers(2**52, 2**53, 100)):
        pairs += [(2 * mantissa + 1 + k, 2**61) for k in (-1, 0, 1)]
    for a, b in pairs:
        assert divide(a, b) == a / b
        for bits in (1, 53, 62):
            assert divide_down(a, b, bits) == (a << bits) // b
