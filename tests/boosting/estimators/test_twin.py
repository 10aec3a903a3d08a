"""A slow twin of NH-Boost.DT, straight from Algorithm 6, gives the same stumps."""

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTClassifier


def algorithm_6(X, y, n_rounds, d=3.0):
    """NH-Boost.DT on 0/1 features in plain floats; ties go to the lowest feature.

    Returns for each round the feature, the vote where it is 0, and the edge.
    """
    y = np.where(y > 0, 1.0, -1.0)
    s = np.zeros(y.size)
    columns, chosen = X.T.tocsr(), []
    for t in range(1, n_rounds + 1):
        p = np.exp(np.minimum(s - 1, 0) ** 2 / (d * t)) - np.exp(
            np.minimum(s + 1, 0) ** 2 / (d * t)
        )
        p /= p.sum()
        # the sum of p y h when h votes +1 where the feature is 0 and -1 where it is 1
        scores = (p * y).sum() - 2 * (columns @ (p * y))
        j = int(np.flatnonzero(np.abs(scores) > np.abs(scores).max() - 1e-9)[0])
        at_zero = 1 if scores[j] >= 0 else -1
        h = at_zero * (1 - 2 * columns[[j]].toarray()[0])
        edge = (p * y * h).sum() / 2
        s += y * h / 2 - edge
        chosen.append((j, at_zero, edge))
    return [np.array(column) for column in zip(*chosen, strict=True)]


@pytest.mark.parametrize("name", ["a9a", "census", "ocr49", "splice", "w8a"])
def test_the_slow_twin_gives_the_same_stumps(paper_data, name):
    (X, y), _ = paper_data(name)
    n_rounds = 200
    booster = NHBoostDTClassifier(n_rounds, max_leaves=2, calibrate=False).fit(X, y)
    features, votes, edges = algorithm_6(X, y, n_rounds)
    np.testing.assert_array_equal(booster.stumps_.feature, features)
    np.testing.assert_array_equal(booster.stumps_.left_vote, votes)
    np.testing.assert_allclose(booster.history_["edge"], edges, rtol=0, atol=1e-10)
    assert (booster.stumps_.threshold == 0.5).all()


@pytest.mark.parametrize("name", ["a9a", "census", "w8a"])
def test_rows_in_any_order_and_any_threads_give_the_same_model(paper_data, name):
    (X, y), _ = paper_data(name)
    one = NHBoostDTClassifier(60, max_leaves=2, calibrate=False).fit(X, y)
    order = np.random.default_rng(0).permutation(y.size)
    other = NHBoostDTClassifier(60, max_leaves=2, n_jobs=3, calibrate=False).fit(X[order], y[order])
    assert other.stumps_ == one.stumps_
    for part in one.history_:
        np.testing.assert_array_equal(other.history_[part], one.history_[part])
