"""Losses and their sums."""

import numpy as np
import pytest

from driftgames.core.description import decode, encode
from driftgames.oco import LinearLoss, LogWealthLoss, QuadraticLoss
from driftgames.oco.loss_total import LossTotal


def a_few(rng):
    root = rng.normal(size=(3, 3))
    return [
        LinearLoss(rng.normal(size=3), 0.5),
        QuadraticLoss(root @ root.T, rng.normal(size=3), -0.25),
        QuadraticLoss.to_target(rng.random(3), 0.3),
        LogWealthLoss(rng.random(3) + 0.1),
        lambda points: np.abs(points).sum(axis=1),
    ]


def test_the_total_is_the_sum_of_its_losses():
    rng = np.random.default_rng(0)
    losses, points = a_few(rng), rng.random((20, 3))
    total = LossTotal(3)
    for loss in losses:
        total.add(loss)
    assert np.allclose(total(points), sum(loss(points) for loss in losses))
    assert not total.is_additive


@pytest.mark.parametrize("kept", [2, 3, 5])
def test_along_a_line_the_total_is_that_at_the_points(kept):
    rng = np.random.default_rng(1)
    total = LossTotal(3)
    for loss in a_few(rng)[:kept]:
        total.add(loss)
    points, directions = rng.random((10, 3)) + 1, rng.normal(size=(10, 3))
    rows, steps = np.array([7, 2, 5]), np.array([0.1, -0.2, 0.05])
    expected = total(points[rows] + steps[:, None] * directions[rows])
    assert np.allclose(total.along(points, directions)(steps, rows), expected)


def test_additive_totals_do_not_grow():
    total = LossTotal(2)
    for _ in range(1000):
        total.add(LinearLoss([1.0, 2.0]))
        total.add(QuadraticLoss.to_target([0.0, 1.0]))
    assert total.is_additive
    assert not total.relatives
    assert not total.functions


def test_a_total_survives_json_unless_it_holds_functions():
    rng = np.random.default_rng(2)
    total, points = LossTotal(3), rng.random((5, 3))
    for loss in a_few(rng)[:4]:
        total.add(loss)
    again = LossTotal.from_state(decode(encode(total.get_state())), 3)
    assert np.array_equal(again(points), total(points))
    total.add(lambda points: points[:, 0])
    with pytest.raises(TypeError, match="a file cannot hold <function"):
        encode(total.get_state())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QuadraticLoss([[1.0, 0.0], [0.0, -0.5]]), "not convex.*eigenvalue -0.5"),
        (lambda: QuadraticLoss([[1.0, 2.0]]), "matrix must be square"),
        (lambda: LogWealthLoss([1.0, 0.0]), "relatives must be above 0; got 0"),
        (lambda: LinearLoss([np.inf]), "gradient must be finite"),
        (lambda: LinearLoss([1.0], offset=np.nan), "offset must be a finite number"),
    ],
)
def test_bad_losses_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "arrays"),
    [
        (LinearLoss, {"gradient": np.ones(2)}),
        (QuadraticLoss, {"matrix": np.eye(2), "gradient": np.ones(2)}),
        (LogWealthLoss, {"relatives": np.ones(2)}),
    ],
    ids=["linear", "quadratic", "log wealth"],
)
def test_a_loss_keeps_its_own_arrays(make, arrays):
    given, x = {name: array.copy() for name, array in arrays.items()}, np.array([[0.25, 0.5]])
    loss = make(**given)
    before = loss(x), loss.gradient_at(x[0])
    for array in given.values():
        array += 7.0
    assert np.array_equal(loss(x), before[0])
    assert np.array_equal(loss.gradient_at(x[0]), before[1])
    for name in arrays:
        with pytest.raises(ValueError, match="read-only"):
            getattr(loss, name)[:] = 7.0


@pytest.mark.parametrize("size", [1e-300, 1e-11, 1.0, 1e11])
def test_convexity_does_not_depend_on_the_size_of_the_loss(size):
    with pytest.raises(ValueError, match="not convex"):
        QuadraticLoss(size * np.array([[1.0, 0.0], [0.0, -0.5]]))
    with pytest.raises(ValueError, match="not convex"):
        QuadraticLoss([[-size]])
    flat = np.ones((3, 3)) / 3  # two eigenvalues are zero up to rounding
    assert QuadraticLoss(size * flat).n_coordinates == 3
    assert QuadraticLoss(np.zeros((2, 2))).n_coordinates == 2


def test_a_total_of_convex_losses_is_loaded_without_another_test_of_convexity():
    """Each matrix is convex up to rounding; the rounding adds up and the largest parts do not."""
    total = LossTotal(3)
    for axis in range(2):
        diagonal = np.array([0.0, 0.0, -0.9e-10])
        diagonal[axis] = 1.0
        total.add(QuadraticLoss(np.diag(diagonal)))
    again = LossTotal.from_state(decode(encode(total.get_state())), 3)
    assert np.array_equal(again.matrix, total.matrix)
