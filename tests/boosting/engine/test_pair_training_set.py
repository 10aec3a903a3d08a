"""Trees with a vote for each label: the engine against a slow reference in plain NumPy."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting.data import binned_data
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.engine import mistake_engine
from driftgames.boosting.engine.shape import CRITERIA, TreeShape
from tests.boosting.engine.slow_game import GrownRows


def sides_of(W, y):
    """The weights of the right and of the wrong pairs of each label, as exact integers."""
    labels = range(W.shape[1])
    upper = [sum(W[y == label, label].tolist()) for label in labels]
    return upper, [sum(W[y != label, label].tolist()) for label in labels]


def score(W, y, criterion):
    """What one side of a question adds to its score: four sums, which a tree adds up."""
    sides = list(zip(*sides_of(W, y), strict=True))
    if criterion == "edge":
        return sum(abs(upper - lower) for upper, lower in sides)
    found = [0.0] * 4
    for label, (upper, lower) in enumerate(sides):
        if upper + lower:
            weight = float(upper + lower)
            if criterion == "kearns-mansour":
                weight += 2.0 * math.sqrt(float(lower) * float(upper))
            found[label % 4] += float(upper - lower) * float(upper - lower) / weight
    return (found[0] + found[1]) + (found[2] + found[3])


def best_question(X, y, W, sizes, cuts, least, criterion):
    """Try every question of a node: (score, feature, threshold, missing left, goes left)."""
    best = (-1,)
    for j, thresholds in enumerate(cuts):
        gone = np.isnan(X[:, j])
        for threshold in thresholds:
            known = X[:, j] <= threshold
            if not known.any() and criterion != "edge":  # a stump may ask for missing values
                continue
            for missing_left in (True, False) if gone.any() else (None,):
                left = known | gone if missing_left else known
                if min(math.fsum(sizes[left]), math.fsum(sizes[~left])) < least:
                    continue
                found = score(W[left], y[left], criterion) + score(W[~left], y[~left], criterion)
                if found > best[0]:
                    goes = missing_left
                    if goes is None:
                        goes = W[left].sum() >= W[~left].sum()
                    best = (found, j, threshold, int(goes), left)
    return best


def gains(question, y, W, criterion):
    """The gain of a question, or 0 if its sides have the same shares of every label."""
    left = question[4]
    if criterion != "edge" and all(
        u * all_low == low * all_u
        for u, low, all_u, all_low in zip(*sides_of(W[left], y[left]), *sides_of(W, y), strict=True)
    ):
        return 0.0
    return question[0] - score(W, y, criterion)


def reference(X, y, W, shape, prior):
    """Grow a tree: nodes (feature, threshold, missing left, left, votes, gain), and its value."""
    sizes, least = np.ones(y.size), shape.min_samples_leaf
    if share := Fraction(str(shape.min_weight_fraction_leaf)):
        sizes, least = prior, float(share * sum(map(Fraction, prior.tolist())))
    cuts = []
    for x in X.T:
        values = np.unique(x[~np.isnan(x)])
        cuts.append([*((values[1:] + values[:-1]) / 2), *([np.inf] if np.isnan(x).any() else [])])
    criterion = "edge" if shape.is_stump else shape.criterion
    live = np.flatnonzero(W.any(axis=1))
    nodes, leaves = [None], {0: (live, 0, [-1] * W.shape[1])}
    while shape.max_leaves is None or len(leaves) < shape.max_leaves:
        best = (0, None)
        for node, (rows, depth, _) in leaves.items():  # in the order in which they were made
            if shape.max_depth is not None and depth >= shape.max_depth:
                continue
            of_node = X[rows], y[rows], W[rows], sizes[rows]
            question = best_question(*of_node, cuts, least, criterion)
            if (
                question[0] >= 0
                and (gain := gains(question, y[rows], W[rows], criterion)) > best[0]
            ):
                best = (gain, node, question)
        if best[1] is None:
            break
        gain, node, (_, j, threshold, missing_left, left) = best
        rows, depth, above = leaves.pop(node)
        gain /= float(W.sum())
        nodes[node] = (j, threshold, missing_left, len(nodes), [0] * W.shape[1], gain)
        votes = vote(W[rows], y[rows], above)
        for side in (left, ~left):
            leaves[len(nodes)] = (rows[side], depth + 1, votes)
            nodes.append(None)
    value = 0
    for node, (rows, _, above) in leaves.items():
        nodes[node] = (-1, 0.0, 0, 0, vote(W[rows], y[rows], above), 0.0)
        value += score(W[rows], y[rows], "edge")
    return nodes, value


def vote(W, y, above):
    """The vote of a leaf for each label; a tied label has the vote of the node above."""
    edges = (u - low for u, low in zip(*sides_of(W, y), strict=True))
    return [(e > 0) - (e < 0) or up for e, up in zip(edges, above, strict=True)]


def grown(X, y, W, shape, prior, form=np.asarray, n_threads=1):
    """The tree that the engine grows, as `reference` has it."""
    masses = SampleWeights.of(prior).of_each
    data = bin_examples(form(X), np.zeros(y.size, dtype=bool), masses, 255)
    pairs = GrownRows(data, shape, y[data.order], n_threads=n_threads, n_classes=W.shape[1])
    value, norm, tree = pairs.best(W[data.order].reshape(-1))
    assert norm == W.sum()
    found = pairs.to_values([tree])
    votes = np.empty(W.shape, dtype=np.int64)
    votes[data.order] = 2 * pairs.votes(tree).reshape(W.shape).astype(np.int64) - 1
    np.testing.assert_array_equal(votes, found.votes(X)[:, 0])
    columns = (found.feature, found.threshold, found.missing_left, found.left, found.vote)
    return list(zip(*(x.tolist() for x in (*columns, found.gain)), strict=True)), value


def draw(seed):
    """A small set with ties, duplicates, missing values and weights, many of them zero."""
    rng = np.random.default_rng(seed)
    n, n_features, n_classes = (int(rng.integers(*ends)) for ends in ((6, 40), (1, 4), (3, 7)))
    X = rng.integers(0, rng.integers(2, 7), (n, n_features)).astype(float)
    if n_features > 1 and rng.random() < 0.3:
        X[:, -1] = X[:, 0]
    X[rng.random(X.shape) < rng.choice([0.0, 0.2, 0.6])] = np.nan
    y = rng.integers(0, n_classes, n)
    W = rng.integers(0, int(rng.choice([2, 5, 2**50])), (n, n_classes))
    W[rng.random(n) < 0.3] = 0
    W[rng.integers(n), 0] = 1
    shape = TreeShape(
        max_depth=rng.choice([1, 1, 2, 3]).item() if rng.random() < 0.8 else None,
        max_leaves=int(rng.integers(2, 6)),
        min_samples_leaf=int(rng.choice([1, 1, 2, 3])),
        criterion=str(rng.choice(list(CRITERIA))),
    )
    return X, y, W, shape


@pytest.mark.parametrize(
    ("first", "limit"), [(0, "rows"), (100, "rows"), (0, "integers"), (0, "reals")]
)
def test_the_slow_reference_grows_the_same_trees(first, limit, monkeypatch):
    sizes = []
    for seed in range(first, first + 100):
        X, y, W, shape = draw(seed)
        rng = np.random.default_rng(seed)
        prior = (
            rng.exponential(size=y.size) if limit == "reals" else 1.0 + rng.integers(9, size=y.size)
        )
        if limit != "rows":
            share = float(rng.choice([0.01, 0.07, 0.1, 0.25, 0.5]))
            shape = replace(shape, min_samples_leaf=1, min_weight_fraction_leaf=share)
        expected = reference(X, y, W, shape, prior)
        # rows list their bins if a share of them below this is outside the commonest bin
        monkeypatch.setattr(binned_data, "_SPARSE_BELOW", seed % 2)
        form = sp.csr_matrix if seed % 3 == 0 else np.asarray
        assert grown(X, y, W, shape, prior, form, n_threads=1 + seed % 2) == expected, seed
        sizes.append(len(expected[0]))
    assert min(sizes) == 1
    assert max(sizes) >= 9


@pytest.mark.parametrize("n_threads", [1, 2])
def test_trees_of_many_leaves_outgrow_their_arrays(n_threads, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 9, (300, 3)).astype(float), rng.integers(0, 5, 300)
    W, shape = rng.integers(1, 9, (300, 5)), TreeShape(None, 60)
    wanted = grown(X, y, W, shape, np.ones(300), n_threads=n_threads)
    assert len(wanted[0]) > 100
    monkeypatch.setattr(mistake_engine, "_LEAVES", 2)
    monkeypatch.setattr(mistake_engine, "_CHUNK_NODES", 4)
    assert grown(X, y, W, shape, np.ones(300), n_threads=n_threads) == wanted
