"""The sum of many losses on a set as a function of the point, and its lowest value.

The regret of a learner is measured against the point with the lowest total.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log_all
from driftgames._kernels.simplex import most_log_wealth
from driftgames._kernels.sums import matvec, row_dots
from driftgames.core.checks import check_integer
from driftgames.core.typing import Content, FloatArray
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.losses import (
    LinearLoss,
    LogWealthLoss,
    Loss,
    LossFunction,
    QuadraticLoss,
    quadratic_form,
)
from driftgames.oco.sets import Simplex

_MOST_STEPS = 2000
_CLOSE = 1e-12  # relative to how much the linear part changes over the set

T = TypeVar("T")


class _Shared(tuple[T, ...]):
    """A tuple that copies share: a function must not be copied, and some cannot be."""

    def __deepcopy__(self, memo: object) -> _Shared[T]:
        return self


class LossTotal:
    """The sum of all losses so far, as a function of the point.

    Linear and quadratic losses are kept as three running sums and log-wealth losses as their
    relatives. Any other function is kept and called again for every point. With
    ``keep_functions=False`` it is only counted.

    Examples
    --------
    >>> total = LossTotal(2)
    >>> for _ in range(3):
    ...     total.add(LinearLoss([1.0, 0.0]))
    >>> total(np.array([[0.5, 0.5]]))
    array([1.5])
    """

    def __init__(self, n_coordinates: int, *, keep_functions: bool = True) -> None:
        self.keep_functions = keep_functions
        self.n_forgotten = 0
        self.offset = 0.0
        self.gradient = np.zeros(n_coordinates)
        self.matrix: FloatArray | None = None
        self.relatives: list[FloatArray] = []
        self.functions = _Shared[LossFunction]()

    def add(self, loss: LossFunction) -> None:
        """Add one more loss."""
        if isinstance(loss, (LinearLoss, QuadraticLoss)):
            self.offset += loss.offset
            self.gradient += loss.gradient
            if isinstance(loss, QuadraticLoss):
                self.matrix = loss.matrix + (0.0 if self.matrix is None else self.matrix)
        elif isinstance(loss, LogWealthLoss):
            self.relatives.append(loss.relatives)
        elif self.keep_functions:
            self.functions = _Shared((*self.functions, loss))
        else:
            self.n_forgotten += 1

    def copy(self) -> LossTotal:
        """Return an independent sum."""
        twin = copy.copy(self)
        twin.gradient = self.gradient.copy()
        twin.relatives = self.relatives.copy()
        return twin

    @property
    def is_additive(self) -> bool:
        """Whether the size of the sum does not depend on the number of losses."""
        return not (self.relatives or self.functions)

    @property
    def is_known(self) -> bool:
        """Whether the sum and its gradient follow from what is kept."""
        return not (self.functions or self.n_forgotten)

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the sum of all losses at each row of ``points``."""
        if self.n_forgotten:
            raise ValueError(f"{self.n_forgotten} losses were functions and are not kept")
        points = np.ascontiguousarray(points)
        total = matvec(points, self.gradient) + self.offset
        if self.matrix is not None:
            total += quadratic_form(self.matrix, points)
        for row in self.relatives:
            total -= log_all(matvec(points, row))
        for loss in self.functions:
            # a copy, because a function may work in place
            total += np.asarray(loss(points.copy()), dtype=np.float64)
        return total

    def gradient_at(self, point: FloatArray) -> FloatArray:
        """Return the gradient of the sum at one point; every loss must be known."""
        slope = self.gradient.copy()
        if self.matrix is not None:
            slope += 2.0 * matvec(self.matrix, point)
        if self.relatives:
            rows = np.asarray(self.relatives)
            slope -= (1.0 / (rows @ point)) @ rows
        return slope

    def along(
        self, points: FloatArray, directions: FloatArray
    ) -> Callable[[FloatArray, npt.NDArray[np.intp]], FloatArray]:
        """Return ``f(steps, rows)``: the sum at ``points[rows] + steps * directions[rows]``.

        Where the sum is additive a step costs three multiplications.
        """
        if not self.is_additive:

            def walked(steps: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
                return self(points[rows] + steps[:, np.newaxis] * directions[rows])

            return walked
        start, slope = self(points), matvec(directions, self.gradient)
        bend = np.zeros(points.shape[0])
        if self.matrix is not None:
            turned = np.stack([matvec(directions, row) for row in self.matrix], axis=1)
            slope += 2.0 * row_dots(turned, points)
            bend += row_dots(turned, directions)

        def computed(steps: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
            return np.asarray(start[rows] + steps * (slope[rows] + steps * bend[rows]))

        return computed

    def get_state(self) -> Content:
        """Return the sum: numbers, arrays, and the functions, which a file cannot hold."""
        return {
            "offset": self.offset,
            "gradient": self.gradient,
            "matrix": self.matrix,
            "relatives": np.array(self.relatives) if self.relatives else None,
            "functions": self.functions,
            "n_forgotten": self.n_forgotten,
        }

    @classmethod
    def from_state(
        cls, state: Content, n_coordinates: int, *, keep_functions: bool = True
    ) -> LossTotal:
        """Return the sum whose state this is, of points of ``n_coordinates`` numbers."""
        gradient, offset = state["gradient"], state["offset"]
        losses: list[Loss] = []
        if state["matrix"] is None:
            losses.append(LinearLoss(gradient, offset))
        else:
            losses.append(QuadraticLoss.of_sum(state["matrix"], gradient, offset))
        if state["relatives"] is not None:
            losses += [LogWealthLoss(row) for row in state["relatives"]]
        total = cls(n_coordinates, keep_functions=keep_functions)
        total.functions = _Shared(state["functions"])
        if not all(map(callable, total.functions)):
            raise ValueError(f"functions must be an empty list in a file; got {total.functions}")
        total.n_forgotten = check_integer("n_forgotten", state["n_forgotten"], least=0)
        for loss in losses:
            if loss.n_coordinates != n_coordinates:
                raise ValueError(
                    f"losses must be of {n_coordinates} coordinates; got {loss.n_coordinates}"
                )
            total.add(loss)
        return total


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
