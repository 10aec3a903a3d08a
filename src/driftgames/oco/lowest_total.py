"""The lowest total loss on a convex set: what a learner's regret is measured against."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftgames._kernels.simplex import most_log_wealth
from driftgames.core.typing import FloatArray
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.loss_total import LossTotal
from driftgames.oco.sets import Simplex

_MOST_STEPS = 2000
_CLOSE = 1e-12  # relative to how much the linear part changes over the set


class LowestTotal(NamedTuple):
    """A point of the set, its total loss, and how far below that the lowest may lie."""

    point: FloatArray
    value: float
    gap: float

    @property
    def floor(self) -> float:
        """A lower bound on the total loss of every point of the set."""
        return self.value - self.gap


def lowest_total(total: LossTotal, domain: ConvexSet) -> LowestTotal:
    r"""Return the point of a set that would have lost least; every loss must be known.

    .. math:: \min_{x\in S} F(x) \ \ge\ F(x) - \max_{y\in S} \nabla F(x)\cdot(x-y)

    The right side follows from convexity and bounds what is missing, the gap. Linear totals
    are solved at once, and log-wealth on the simplex by Newton's method. Others are solved by
    accelerated projected gradients, which start again where they rise.

    Examples
    --------
    >>> from driftgames.oco import Box, LinearLoss
    >>> total = LossTotal(2)
    >>> total.add(LinearLoss([1.0, -1.0]))
    >>> lowest_total(total, Box([0.0, 0.0], [1.0, 1.0]))
    LowestTotal(point=array([0., 1.]), value=-1.0, gap=0.0)
    """
    if total.matrix is None and not total.relatives:
        point = domain.lowest(total.gradient)
        return LowestTotal(point, _at(total, point), 0.0)
    additive = total.matrix is None and not total.gradient.any()
    if isinstance(domain, Simplex) and additive:
        point, log_wealth, gap = most_log_wealth(np.asarray(total.relatives), 1e-10)
        return LowestTotal(point, total.offset - log_wealth, gap)
    return _descend(total, domain)


def _descend(total: LossTotal, domain: ConvexSet) -> LowestTotal:
    x = ahead = domain.middle
    value, momentum, step = _at(total, x), 1.0, 1.0
    floor = -math.inf
    for _ in range(_MOST_STEPS):
        slope = total.gradient_at(x)
        reach = slope * (x - domain.lowest(slope))
        floor = max(floor, value - float(reach.sum()))
        if value - floor <= _CLOSE * float(np.abs(reach).sum()):
            break
        moved, step = _projected_step(total, domain, ahead, step)
        reached = _at(total, moved)
        if reached > value:  # the momentum overshot: one plain step from the best point
            moved, step = _projected_step(total, domain, x, step)
            reached, momentum = _at(total, moved), 1.0
            if reached >= value:
                break
        following = (1.0 + math.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = domain.project(moved + (momentum - 1.0) / following * (moved - x))
        x, value, momentum, step = moved, reached, following, 1.5 * step
    return LowestTotal(x, value, max(value - floor, 0.0))


def _projected_step(
    total: LossTotal, domain: ConvexSet, start: FloatArray, step: float
) -> tuple[FloatArray, float]:
    """Return a step down the gradient that the quadratic model of this length allows."""
    value, slope = _at(total, start), total.gradient_at(start)
    while True:
        moved = domain.project(start - step * slope)
        change = moved - start
        model = value + float(slope @ change) + float(change @ change) / (2.0 * step)
        if _at(total, moved) <= model + 1e-15 * abs(value) or step < 1e-300:
            return moved, step
        step /= 2.0


def _at(total: LossTotal, point: FloatArray) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(total(point[np.newaxis])[0])
    return math.inf if math.isnan(value) else value
