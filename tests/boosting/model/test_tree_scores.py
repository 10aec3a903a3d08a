"""Votes of trees, one row or many at a time: the plain definition, for every kind of row."""

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.model.stumps import exact_weights
from driftgames.boosting.model.tree_scores import PairModel, TreeModel
from driftgames.boosting.model.trees import Trees

WIDTH = 9


def draw(rng, n):
    """Rows with ties, zeros and missing values."""
    X = rng.normal(size=(n, WIDTH)).round(1)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def plain_scores(trees, weights, X):
    """The weighted sum of the votes that `Trees.votes` defines."""
    votes = trees.votes(X).astype(np.float64)
    return np.tensordot(votes, exact_weights(weights, len(trees))[0], axes=([1], [0]))


@pytest.fixture(scope="module", params=[(NHBoostDTClassifier, 2), (AdaBoostClassifier, 4)])
def grown(request):
    cls, n_classes = request.param
    rng = np.random.default_rng(n_classes)
    X, y = draw(rng, 300), rng.integers(n_classes, size=300)
    model = cls(70, max_depth=None, max_leaves=11, calibrate=False).fit(X, y)
    given = model.trees_, model.estimator_weights_, WIDTH
    return TreeModel(*given) if n_classes == 2 else PairModel(*given, n_classes)


@pytest.mark.parametrize("n", [1, 7, 8, 64, 65, 511, 512, 513, 1100])
@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, np.float32, sp.csr_matrix])
def test_blocks_of_rows_have_the_plain_sums(grown, n, kind):
    rows = kind(draw(np.random.default_rng(n), n))
    wanted = rows.toarray() if sp.issparse(rows) else rows
    wanted = plain_scores(grown.trees, grown.vote_weights, wanted)
    np.testing.assert_array_equal(grown.scores(rows), wanted)
    np.testing.assert_array_equal(grown.scores(rows, n_threads=2), wanted)


@pytest.mark.parametrize("weight", [1.0, 0.75])
def test_more_votes_than_a_byte_counts(weight):
    stump = Trees([3], [0, -1, -1], [0.5, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, -1], [1, 0, 0])
    trees = stump.take(np.zeros(600, dtype=np.int64))
    scores = TreeModel(trees, np.full(600, weight), 1).scores(np.arange(12.0)[:, None] / 8)
    np.testing.assert_array_equal(scores, np.repeat([600 * weight, -600 * weight], [5, 7]))


def test_an_infinite_threshold_asks_whether_a_value_is_missing():
    for missing_left in (0, 1):
        tree = Trees(
            [3], [0, -1, -1], [np.inf, 0, 0], [missing_left, 0, 0], [1, 0, 0], [0, -1, 1], [1, 0, 0]
        )
        rows = np.array([[np.nan], [-1e308], [1e308]] * 5)
        wanted = np.tile([-1 if missing_left else 1, -1, -1], 5)
        np.testing.assert_array_equal(TreeModel(tree, None, 1).scores(rows), wanted)
        np.testing.assert_array_equal(TreeModel(tree, None, 1).scores(rows[:1]), wanted[:1])


@pytest.mark.parametrize("n", [1, 100])
def test_infinities_are_found_only_if_they_are_looked_for(grown, n):
    X = draw(np.random.default_rng(1), n)
    grown.scores(X, finite=True)
    X[n // 2, WIDTH - 1] = -np.inf
    grown.scores(X)
    with pytest.raises(ValueError, match="infinity"):
        grown.scores(X, finite=True)
