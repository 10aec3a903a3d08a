"""Boost-by-majority: closed forms against the game they solve, and long or strong games."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from driftgames.boosting import BoostByMajorityClassifier
from driftgames.boosting.engine.rules import MajorityRule
from driftgames.potentials import MinimaxPotential


@pytest.mark.parametrize("edge", [0.01, 0.2, 0.45])
@pytest.mark.parametrize("horizon", [1, 2, 11, 30])
def test_weights_and_value_are_those_of_the_minimax_game(horizon, edge):
    game = MinimaxPotential(lambda s: s <= 0, horizon, beta=2 * edge, keep_table=True)
    rule = MajorityRule(horizon, edge)
    assert rule.game_value == pytest.approx(game.game_value, rel=1e-12)
    for t in range(1, horizon + 1):
        mistakes = np.arange(t)
        solved = game.weights((t - 1.0) - 2.0 * mistakes, t)
        weights = rule.weights(mistakes, t, 0.0, np.ones(t, dtype=np.int64))
        assert weights.max() == (1.0 if solved.any() else 0.0)
        np.testing.assert_allclose(weights * solved.max(), solved, rtol=1e-12, atol=0)
    over = rule.weights(np.arange(horizon), horizon + 1, 0.0, np.ones(horizon, dtype=np.int64))
    assert not over.any()


def exact_weights(horizon, edge, t, mistakes):
    """The chance that the vote hangs on this round, in fractions, relative to the largest."""
    left, odds = horizon - t, (Fraction(1, 2) + Fraction(edge)) / (Fraction(1, 2) - Fraction(edge))
    wanted = [horizon // 2 - (t - 1) + int(k) for k in mistakes]
    chances = [
        math.comb(left, h) * odds ** (h - wanted[0]) if 0 <= h <= left else 0 for h in wanted
    ]
    return [float(chance / max(chances)) for chance in chances]


@pytest.mark.parametrize(
    ("horizon", "edge"), [(1, 0.2), (2, 0.49), (500, 0.01), (1001, 0.3), (1499, 0.45), (4000, 0.1)]
)
def test_game_values_of_long_games_are_binomial_tails(horizon, edge):
    right, wrong = Fraction(1, 2) + Fraction(edge), Fraction(1, 2) - Fraction(edge)
    p, q = (Fraction(each).limit_denominator(10**6) for each in (right, wrong))
    tail = sum(
        math.comb(horizon, h) * p.numerator**h * q.numerator ** (horizon - h)
        for h in range(horizon // 2 + 1)
    )
    exact = Fraction(tail, p.denominator**horizon)
    assert p.denominator == q.denominator
    assert MajorityRule(horizon, edge).game_value == pytest.approx(float(exact), rel=1e-11, abs=0)


@pytest.mark.parametrize(("horizon", "edge"), [(1499, 0.45), (5000, 0.1)])
@pytest.mark.parametrize("t", [1, 2, 40, 700])
def test_weights_of_long_games_do_not_underflow(horizon, edge, t):
    mistakes = np.arange(min(t, 30))
    weights = MajorityRule(horizon, edge).weights(mistakes, t, 0.0, np.ones(mistakes.size))
    expected = exact_weights(horizon, edge, t, mistakes)
    np.testing.assert_allclose(weights, expected, rtol=1e-10)
    assert weights.max() == 1.0


def test_weights_are_relative_to_the_largest_that_is_held():
    """Between two groups lie levels without examples that outweigh both beyond all floats."""
    mistakes, masses = np.arange(9999), np.zeros(9999, dtype=np.int64)
    masses[[0, -1]] = 1
    weights = MajorityRule(20_000, 0.01).weights(mistakes, 10_000, 0.0, masses)
    assert np.isfinite(weights).all()
    assert weights[[0, -1]].max() == 1.0


@pytest.mark.parametrize(
    ("horizon", "edge"), [(700, 0.45), (800, 0.45), (1000, 0.3), (1500, 0.1), (2000, 0.1)]
)
def test_long_or_strong_games_are_played_to_their_end(horizon, edge):
    X = np.arange(100.0)[:, None]
    y = X[:, 0] > 49
    booster = BoostByMajorityClassifier(horizon, edge, calibrate=False).fit(X, y)
    assert booster.n_iter_ == horizon
    assert (booster.history_["edge"] == 0.5).all()
    assert booster.certificate_.holds


def test_a_strong_game_does_not_repeat_one_stump():
    X, y = load_breast_cancer(return_X_y=True)
    booster = BoostByMajorityClassifier(200, 0.45, horizon=1499, calibrate=False).fit(X, y)
    stumps = set(zip(booster.stumps_.feature, booster.stumps_.threshold, strict=True))
    assert len(stumps) > 20
    assert not booster.ended_early_
