"""The best convex combination in hindsight: no other one is better by more than the gap."""

import numpy as np
import pytest

from driftgames.hedge import best_combination
from driftgames.hedge.losses.interval_losses import PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss
from driftgames.hedge.losses.make_loss import CustomLoss, make_loss
from driftgames.hedge.mixture import hindsight

OWN = CustomLoss(
    lambda x, y: np.sqrt(1.0 + (x - y) ** 2),
    gradient=lambda x, y: (x - y) / np.sqrt(1 + (x - y) ** 2),
)
LOSSES = {
    "square": SquareLoss(None, None),
    "absolute": make_loss("absolute", any_size=True),
    "pinball": PinballLoss(0.8, None, None),
    "log": LogLoss(0.001),
    "own": OWN,
}


def table(name, rounds=120, experts=6, scale=1.0):
    rng = np.random.default_rng(2)
    X = 0.05 + 0.9 * rng.random((rounds, experts))
    if name == "log":
        return X, (rng.random(rounds) < 0.5 * X[:, 0] + 0.5 * X[:, 1]) * 1.0
    return X * scale, (0.5 * X[:, 0] + 0.3 * X[:, 1] + 0.3 * rng.random(rounds)) * scale


@pytest.mark.parametrize("name", LOSSES)
def test_no_combination_is_better_by_more_than_the_gap(name):
    loss, (X, y) = LOSSES[name], table(name)
    best = best_combination(X, y, loss)
    assert best.weights.min() >= 0.0
    assert best.weights.sum() == pytest.approx(1.0)
    assert best.total_loss == pytest.approx(loss.evaluate(X @ best.weights, y).sum())
    assert best.gap <= 1e-5 * best.total_loss
    rng = np.random.default_rng(0)
    others = np.vstack([rng.dirichlet(np.ones(6), 500), np.eye(6)])
    others = np.vstack([others, 0.99 * best.weights + 0.01 * others])
    losses = np.array([loss.evaluate(X @ q, y).sum() for q in others])
    assert losses.min() >= best.total_loss - best.gap - 1e-9
    assert np.median(losses) > best.total_loss * 1.0001


@pytest.mark.parametrize("name", LOSSES)
def test_the_gap_of_a_search_that_stops_early_covers_what_is_missing(name, monkeypatch):
    loss, (X, y) = LOSSES[name], table(name)
    best = best_combination(X, y, loss)
    search = hindsight._search
    even = np.full(6, 1 / 6)
    monkeypatch.setattr(hindsight, "_search", lambda *given: (even, search(*given)[1]))
    early = best_combination(X, y, loss)
    assert early.total_loss > best.total_loss * 1.001
    assert early.total_loss - early.gap <= best.total_loss + 1e-9


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e5, 1e120])
@pytest.mark.parametrize("name", ["square", "absolute"])
def test_the_scale_of_the_forecasts_does_not_matter(name, scale):
    X, y = table(name)
    plain, scaled = best_combination(X, y, name), best_combination(X * scale, y * scale, name)
    np.testing.assert_allclose(scaled.weights, plain.weights, atol=1e-6)


def test_equal_experts_and_one_expert_are_no_trouble():
    X, y = table("square")
    assert best_combination(X[:, :1], y).weights.tolist() == [1.0]
    twice = best_combination(np.hstack([X, X]), y)
    assert twice.total_loss == pytest.approx(best_combination(X, y).total_loss, rel=1e-9)
    assert best_combination(np.tile(y[:, None], 3), y).total_loss < 1e-25


@pytest.mark.parametrize(
    ("X", "y", "loss", "message"),
    [
        ([[0.5, np.nan]], [0.5], "square", "predictions must be finite"),
        ([0.5, 0.5], [0.5], "square", r"got \(2,\) and \(1,\)"),
        ([[0.5, 0.5]], [0.5, 0.5], "square", r"got \(1, 2\) and \(2,\)"),
        (np.empty((0, 2)), [], "square", r"got \(0, 2\) and \(0,\)"),
        ([[0.5, 0.5]], [0.5], "zero-one", "must be convex and have a slope"),
    ],
)
def test_bad_tables_are_named(X, y, loss, message):
    with pytest.raises(ValueError, match=message):
        best_combination(X, y, loss)
