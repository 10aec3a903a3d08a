"""Convex losses on a set: linear, quadratic and log-wealth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log_all
from driftgames._kernels.jit import allocating_kernel
from driftgames._kernels.sums import dot, matvec
from driftgames.core.checks import as_floats, check_number, check_vector
from driftgames.core.typing import FloatArray, read_only

_BLOCK = 64  # points that stay in the cache
_ROUNDING = 1e-10  # a negative eigenvalue this small, relative to the largest, is zero

LossFunction = Callable[[FloatArray], npt.ArrayLike]
"""A convex function of the rows of an array: points in, one loss each out."""


class Loss(ABC):
    """A loss whose convexity is known from its form, so that it need not be probed."""

    n_coordinates: int
    """How many numbers make a point."""

    @abstractmethod
    def _at(self, points: FloatArray) -> FloatArray:
        """Return the loss at each row of points that have as many columns."""

    @abstractmethod
    def gradient_at(self, point: FloatArray) -> FloatArray:
        """Return the gradient at one point."""

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the loss at each row of ``points``."""
        if points.shape[-1] != self.n_coordinates:
            raise ValueError(
                f"a {type(self).__name__} is of {self.n_coordinates} coordinates; got points of "
                f"{points.shape[-1]}"
            )
        return self._at(np.ascontiguousarray(points, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class LinearLoss(Loss):
    r"""The loss :math:`f(x) = g\cdot x + c`.

    Linear losses add up to one linear loss, so the memory of a learner that sees only linear
    losses does not grow.

    Examples
    --------
    >>> LinearLoss([1.0, 0.0], offset=0.5)(np.array([[0.25, 0.75]]))
    array([0.75])
    """

    gradient: FloatArray
    offset: float = 0.0

    def __init__(self, gradient: npt.ArrayLike, offset: float = 0.0) -> None:
        object.__setattr__(self, "gradient", _vector("gradient", gradient))
        object.__setattr__(self, "offset", check_number("offset", offset))
        object.__setattr__(self, "n_coordinates", self.gradient.size)

    def _at(self, points: FloatArray) -> FloatArray:
        return matvec(points, self.gradient) + self.offset

    def gradient_at(self, point: FloatArray) -> FloatArray:
        """Return the same gradient everywhere."""
        return self.gradient


@dataclass(frozen=True, eq=False)
class QuadraticLoss(Loss):
    r"""The loss :math:`f(x) = x^\top H x + g\cdot x + c`, with H positive semidefinite.

    They add up as linear ones do.

    Examples
    --------
    >>> loss = QuadraticLoss.to_target([1.0, 0.0], scale=0.5)
    >>> loss(np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([0., 1.])
    >>> QuadraticLoss([[-1.0]])
    Traceback (most recent call last):
    ...
    ValueError: the loss is not convex: its matrix has the eigenvalue -1
    """

    matrix: FloatArray
    gradient: FloatArray
    offset: float = 0.0

    def __init__(
        self, matrix: npt.ArrayLike, gradient: npt.ArrayLike | None = None, offset: float = 0.0
    ) -> None:
        self._keep(matrix, gradient, offset)
        eigenvalues = np.linalg.eigvalsh(self.matrix)
        if eigenvalues[0] < -_ROUNDING * float(np.abs(eigenvalues).max()):
            raise ValueError(
                f"the loss is not convex: its matrix has the eigenvalue {eigenvalues[0]:g}"
            )

    def _keep(self, matrix: npt.ArrayLike, gradient: npt.ArrayLike | None, offset: float) -> None:
        square = as_floats("matrix", matrix)
        if square.ndim != 2 or square.shape[0] != square.shape[1] or not np.isfinite(square).all():
            raise ValueError(f"matrix must be square and finite; got shape {square.shape}")
        n = square.shape[0]
        slope = _vector("gradient", np.zeros(n) if gradient is None else gradient, n)
        object.__setattr__(self, "matrix", read_only((square + square.T) / 2))
        object.__setattr__(self, "gradient", slope)
        object.__setattr__(self, "offset", check_number("offset", offset))
        object.__setattr__(self, "n_coordinates", n)

    @classmethod
    def of_sum(cls, matrix: npt.ArrayLike, gradient: npt.ArrayLike, offset: float) -> QuadraticLoss:
        """Return a sum of quadratic losses, without a test of convexity.

        Each loss was tested. Rounding adds up, so their sum might fail the same test.
        """
        loss = cls.__new__(cls)
        loss._keep(matrix, gradient, offset)
        return loss

    @classmethod
    def to_target(cls, target: npt.ArrayLike, scale: float = 1.0) -> QuadraticLoss:
        r"""Return :math:`f(x) = a\,|x - y|^2` for a target y."""
        y = _vector("target", target)
        return cls(scale * np.eye(y.size), -2.0 * scale * y, scale * dot(y, y))

    def _at(self, points: FloatArray) -> FloatArray:
        return quadratic_form(self.matrix, points) + matvec(points, self.gradient) + self.offset

    def gradient_at(self, point: FloatArray) -> FloatArray:
        """Return :math:`2 H x + g`."""
        return 2.0 * matvec(self.matrix, point) + self.gradient


@dataclass(frozen=True, eq=False)
class LogWealthLoss(Loss):
    r"""The loss :math:`f(x) = -\ln(x\cdot r)` of a portfolio on a day with price relatives r.

    On the simplex it lies between ``-log(max r)`` and ``-log(min r)``. With it continuous EXP
    is Cover's universal portfolio.

    Examples
    --------
    >>> LogWealthLoss([2.0, 0.5])(np.array([[0.5, 0.5]])).round(4)
    array([-0.2231])
    """

    relatives: FloatArray

    def __init__(self, relatives: npt.ArrayLike) -> None:
        vector = _vector("relatives", relatives)
        if not (vector > 0).all():
            raise ValueError(f"relatives must be above 0; got {vector.min():g}")
        object.__setattr__(self, "relatives", vector)
        object.__setattr__(self, "n_coordinates", vector.size)

    def _at(self, points: FloatArray) -> FloatArray:
        return -log_all(matvec(points, self.relatives))

    def gradient_at(self, point: FloatArray) -> FloatArray:
        r"""Return :math:`-r / (x\cdot r)`."""
        return np.asarray(-self.relatives / dot(self.relatives, point))


@allocating_kernel
def quadratic_form(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Return ``x' H x`` at each row of ``points``, for symmetric H."""
    out = np.zeros(points.shape[0])
    for begin in range(0, out.size, _BLOCK):
        block, total = points[begin : begin + _BLOCK], out[begin : begin + _BLOCK]
        for k in range(matrix.shape[0]):
            products = matvec(block, matrix[k])
            for row in range(total.size):
                total[row] += block[row, k] * products[row]
    return out


@dataclass(frozen=True)
class DifferentiableLoss:
    """A convex function of your own with its gradient, for learners that follow gradients.

    Parameters
    ----------
    function : callable
        Takes points, one per row, and returns one loss each.
    gradient_at : callable
        Takes one point and returns a subgradient of ``function`` there.

    Examples
    --------
    >>> loss = DifferentiableLoss(
    ...     lambda points: np.abs(points[:, 0]), lambda point: np.sign(point)
    ... )
    >>> loss(np.array([[-2.0]])), loss.gradient_at(np.array([-2.0]))
    (array([2.]), array([-1.]))
    """

    function: LossFunction
    gradient_at: Callable[[FloatArray], npt.ArrayLike]

    def __call__(self, points: FloatArray) -> npt.ArrayLike:
        """Return the loss at each row of ``points``."""
        return self.function(points)


def _vector(name: str, values: npt.ArrayLike, length: int | None = None) -> FloatArray:
    return read_only(check_vector(name, values, length))
