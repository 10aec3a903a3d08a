"""The lowest total loss on a set, with a gap that bounds what is missing."""

import numpy as np
import pytest

from driftgames.oco import Ball, Box, LinearLoss, LogWealthLoss, QuadraticLoss, Simplex
from driftgames.oco.loss_total import LossTotal, lowest_total


def total_of(losses, n):
    total = LossTotal(n)
    for loss in losses:
        total.add(loss)
    return total


def losses_of(kind, n, rng):
    linear = [LinearLoss(g, 0.5) for g in rng.normal(size=(5, n))]
    curved = [QuadraticLoss.to_target(y, 0.3) for y in rng.normal(size=(5, n))]
    logs = [LogWealthLoss(r) for r in rng.uniform(0.5, 2.0, size=(5, n))]
    return {
        "linear": linear,
        "quadratic": linear + curved,
        "log-wealth": logs,
        "all": linear + curved + logs,
    }[kind]


@pytest.mark.parametrize("kind", ["linear", "quadratic", "log-wealth", "all"])
def test_no_point_of_the_set_is_below_the_floor_and_the_gap_is_small(domain, kind):
    if kind in ("all", "log-wealth") and not isinstance(domain, Simplex):
        pytest.skip("relatives are of portfolios")
    rng = np.random.default_rng(0)
    total = total_of(losses_of(kind, domain.n_coordinates, rng), domain.n_coordinates)
    lowest = lowest_total(total, domain)
    assert domain.contains(lowest.point).all()
    assert lowest.value == pytest.approx(float(total(lowest.point[None])[0]))
    points = np.concatenate([domain.sample(5000, rng), [domain.middle]])
    assert total(points).min() >= lowest.floor - 1e-9
    assert 0 <= lowest.gap <= 1e-6 * (1 + abs(lowest.value))


def test_the_lowest_point_of_a_bowl_is_the_projection_of_its_middle():
    target = np.array([3.0, 0.2, -1.0])
    for domain in (Box(np.zeros(3), np.ones(3)), Ball(np.zeros(3), 1.0), Simplex(3)):
        lowest = lowest_total(total_of([QuadraticLoss.to_target(target)], 3), domain)
        assert lowest.point == pytest.approx(domain.project(target), abs=1e-6)


def test_a_stretched_bowl_is_solved_too():
    rng = np.random.default_rng(1)
    loss = QuadraticLoss(np.diag(10.0 ** np.arange(-3, 3)), rng.normal(size=6))
    lowest = lowest_total(total_of([loss], 6), Box(-np.ones(6), np.ones(6)))
    exact = np.clip(-loss.gradient / (2 * np.diag(loss.matrix)), -1, 1)
    assert lowest.value - float(loss(exact[None])[0]) <= lowest.gap + 1e-12
    assert lowest.gap < 1e-6


def test_functions_that_are_not_kept_cannot_be_summed():
    total = LossTotal(2, keep_functions=False)
    total.add(lambda x: x[:, 0])
    assert not total.is_known
    with pytest.raises(ValueError, match="1 losses were functions and are not kept"):
        total(np.zeros((1, 2)))
