"""Convex losses on a set: linear, quadratic and log-wealth, and the sum of many of them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._support.checks import FloatArray, as_floats, check_number, check_vector
from driftgames._support.documents import Content, DocumentError, decode_array, encode_array

LossFunction = Callable[[FloatArray], npt.ArrayLike]
"""A convex function of the rows of an array: points in, one loss each out."""


class Loss(ABC):
    """A loss whose convexity is known from its form, so that it need not be probed."""

    @property
    @abstractmethod
    def n_coordinates(self) -> int:
        """How many numbers make a point."""

    @abstractmethod
    def _at(self, points: FloatArray) -> FloatArray:
        """Return the loss at each row of points that have as many columns."""

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the loss at each row of ``points``."""
        if points.shape[-1] != self.n_coordinates:
            raise ValueError(
                f"a {type(self).__name__} is of {self.n_coordinates} coordinates; got points of "
                f"{points.shape[-1]}"
            )
        return self._at(points)


@dataclass(frozen=True, eq=False)
class LinearLoss(Loss):
    r"""The loss :math:`f(x) = g\cdot x + c`.

    Any number of them add up to one, so a learner that meets linear losses only needs no more
    memory after a million rounds than after one.

    Examples
    --------
    >>> LinearLoss([1.0, 0.0], offset=0.5)(np.array([[0.25, 0.75]]))
    array([0.75])
    """

    gradient: FloatArray
    offset: float = 0.0

    def __init__(self, gradient: npt.ArrayLike, offset: float = 0.0) -> None:
        object.__setattr__(self, "gradient", check_vector("gradient", gradient))
        object.__setattr__(self, "offset", check_number("offset", offset))

    @property
    def n_coordinates(self) -> int:
        """How many numbers make a point."""
        return self.gradient.size

    def _at(self, points: FloatArray) -> FloatArray:
        return np.asarray(points @ self.gradient + self.offset)


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
        square = as_floats("matrix", matrix)
        if square.ndim != 2 or square.shape[0] != square.shape[1] or not np.isfinite(square).all():
            raise ValueError(f"matrix must be square and finite; got shape {square.shape}")
        square = (square + square.T) / 2
        eigenvalues = np.linalg.eigvalsh(square)
        if eigenvalues[0] < -1e-10 * max(1.0, float(np.abs(eigenvalues).max())):
            raise ValueError(
                f"the loss is not convex: its matrix has the eigenvalue {eigenvalues[0]:g}"
            )
        n = square.shape[0]
        slope = np.zeros(n) if gradient is None else check_vector("gradient", gradient, n)
        object.__setattr__(self, "matrix", square)
        object.__setattr__(self, "gradient", slope)
        object.__setattr__(self, "offset", check_number("offset", offset))

    @classmethod
    def to_target(cls, target: npt.ArrayLike, scale: float = 1.0) -> QuadraticLoss:
        r"""Return :math:`f(x) = a\,|x - y|^2` for a target y."""
        y = check_vector("target", target)
        return cls(scale * np.eye(y.size), -2.0 * scale * y, scale * float(y @ y))

    @property
    def n_coordinates(self) -> int:
        """How many numbers make a point."""
        return self.gradient.size

    def _at(self, points: FloatArray) -> FloatArray:
        curved = np.einsum("ij,ij->i", points @ self.matrix, points)
        return np.asarray(curved + points @ self.gradient + self.offset)


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
        vector = check_vector("relatives", relatives)
        if not (vector > 0).all():
            raise ValueError(f"relatives must be above 0; got {vector.min():g}")
        object.__setattr__(self, "relatives", vector)

    @property
    def n_coordinates(self) -> int:
        """How many numbers make a point."""
        return self.relatives.size

    def _at(self, points: FloatArray) -> FloatArray:
        return np.asarray(-np.log(points @ self.relatives))


class LossTotal:
    """The sum of all losses so far, as a function of the point.

    Linear and quadratic losses are kept as three running sums and log-wealth losses as their
    relatives; any other function is kept itself and called again for every point.

    Examples
    --------
    >>> total = LossTotal(2)
    >>> for _ in range(3):
    ...     total.add(LinearLoss([1.0, 0.0]))
    >>> total(np.array([[0.5, 0.5]]))
    array([1.5])
    """

    def __init__(self, n_coordinates: int) -> None:
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
        else:
            self.others.append(loss)

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

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the sum of all losses at each row of ``points``."""
        total = points @ self.gradient + self.offset
        if self.matrix is not None:
            total += np.einsum("ij,ij->i", points @ self.matrix, points)
        if self.relatives:
            total -= np.log(points @ np.asarray(self.relatives).T).sum(axis=1)
        for loss in self.others:
            # a copy, because a function may work in place
            total += np.asarray(loss(points.copy()), dtype=np.float64)
        return np.asarray(total)

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
        start, slope = self(points), directions @ self.gradient
        bend = np.zeros(points.shape[0])
        if self.matrix is not None:
            turned = directions @ self.matrix
            slope += 2.0 * np.einsum("ij,ij->i", turned, points)
            bend += np.einsum("ij,ij->i", turned, directions)

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
        }

    @classmethod
    def of_content(cls, content: Content, n_coordinates: int) -> LossTotal:
        """Return the sum that `content` described, of points of ``n_coordinates`` numbers."""
        gradient, offset = decode_array(content["gradient"]), content["offset"]
        losses: list[Loss] = []
        if content["matrix"] is None:
            losses.append(LinearLoss(gradient, offset))
        else:
            losses.append(QuadraticLoss(decode_array(content["matrix"]), gradient, offset))
        if content["relatives"] is not None:
            losses += [LogWealthLoss(row) for row in decode_array(content["relatives"])]
        total = cls(n_coordinates)
        for loss in losses:
            if loss.n_coordinates != n_coordinates:
                raise DocumentError(
                    f"its losses must be of {n_coordinates} coordinates; got {loss.n_coordinates}"
                )
            total.add(loss)
        return total
