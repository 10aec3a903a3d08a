"""The sum of many losses on a set, as a function of the point."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log_all
from driftgames._kernels.least_squares import pairwise_dots
from driftgames._kernels.sums import matvec
from driftgames.core.checks import check_integer
from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.typing import Content, FloatArray
from driftgames.oco.losses import (
    LinearLoss,
    LogWealthLoss,
    Loss,
    LossFunction,
    QuadraticLoss,
    quadratic_form,
)


class LossTotal:
    """The sum of all losses so far, as a function of the point.

    Linear and quadratic losses are kept as three running sums and log-wealth losses as their
    relatives. Any other function is kept itself and called again for every point, or only
    counted when ``keep_functions`` is false.

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
        self.others: list[LossFunction] = []

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
            self.others.append(loss)
        else:
            self.n_forgotten += 1

    def copy(self) -> LossTotal:
        """Return a sum that goes on by itself."""
        twin = copy.copy(self)
        twin.gradient = self.gradient.copy()
        twin.relatives, twin.others = self.relatives.copy(), self.others.copy()
        return twin

    @property
    def is_additive(self) -> bool:
        """Whether the sum is a handful of numbers, however many losses went in."""
        return not (self.relatives or self.others)

    @property
    def is_known(self) -> bool:
        """Whether the sum and its gradient follow from what is kept."""
        return not (self.others or self.n_forgotten)

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
        for loss in self.others:
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
            slope += 2.0 * pairwise_dots(turned, points)
            bend += pairwise_dots(turned, directions)

        def computed(steps: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
            return np.asarray(start[rows] + steps * (slope[rows] + steps * bend[rows]))

        return computed

    def content(self) -> Content:
        """Return the sum as JSON; functions cannot be written, and are refused."""
        if self.others:
            raise ValueError(
                f"{len(self.others)} losses are Python functions, which no file can hold; use "
                "LinearLoss, QuadraticLoss or LogWealthLoss, or integrate with Grid or Points"
            )
        return {
            "offset": self.offset,
            "gradient": encode_array(self.gradient),
            "matrix": None if self.matrix is None else encode_array(self.matrix),
            "relatives": encode_array(np.array(self.relatives)) if self.relatives else None,
            "n_forgotten": self.n_forgotten,
        }

    @classmethod
    def of_content(
        cls, content: Content, n_coordinates: int, *, keep_functions: bool = True
    ) -> LossTotal:
        """Return the sum that `content` described, of points of ``n_coordinates`` numbers."""
        gradient, offset = decode_array(content["gradient"]), content["offset"]
        losses: list[Loss] = []
        if content["matrix"] is None:
            losses.append(LinearLoss(gradient, offset))
        else:
            losses.append(QuadraticLoss(decode_array(content["matrix"]), gradient, offset))
        if content["relatives"] is not None:
            losses += [LogWealthLoss(row) for row in decode_array(content["relatives"])]
        total = cls(n_coordinates, keep_functions=keep_functions)
        total.n_forgotten = check_integer("n_forgotten", content.get("n_forgotten", 0), least=0)
        for loss in losses:
            if loss.n_coordinates != n_coordinates:
                raise DocumentError(
                    f"its losses must be of {n_coordinates} coordinates; got {loss.n_coordinates}"
                )
            total.add(loss)
        return total
