"""Convex sets to play on: interval, box, simplex and ball, each with its uniform measure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc, ndtri

from driftgames._kernels.simplex import simplex_covariance, simplex_from_cube
from driftgames._kernels.sums import dot, matvec, row_dots
from driftgames.core.checks import check_integer, check_positive, check_vector, shown
from driftgames.core.typing import FloatArray, read_only
from driftgames.oco.convex_set import TOLERANCE, ConvexSet, between_planes


@dataclass(frozen=True, eq=False)
class Box(ConvexSet):
    """All points between two corners.

    Examples
    --------
    >>> box = Box([0.0, -1.0], [1.0, 1.0])
    >>> box.contains([[0.5, 0.5], [0.5, 2.0]])
    array([ True, False])
    >>> box.from_cube(np.array([[0.5, 0.25]]))
    array([[ 0.5, -0.5]])
    """

    low: FloatArray
    high: FloatArray

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        corner = check_vector("low", low)
        opposite = check_vector("high", high, corner.size)
        if corner.size == 0 or not (corner < opposite).all():
            raise ValueError(
                f"low must lie below high in every coordinate; got {shown(low)}, {shown(high)}"
            )
        object.__setattr__(self, "low", read_only(corner))
        object.__setattr__(self, "high", read_only(opposite))
        object.__setattr__(self, "n_coordinates", corner.size)

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each row whether it lies between the corners."""
        rows = self._rows(points)
        spare = TOLERANCE * (self.high - self.low)
        return np.asarray(((rows >= self.low - spare) & (rows <= self.high + spare)).all(axis=1))

    def from_cube(self, cube: FloatArray) -> FloatArray:
        """Stretch the unit cube."""
        return self.low + cube * (self.high - self.low)

    def chords(self, points: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where the lines leave the box."""
        return between_planes(points, directions, self.low, self.high)

    def lowest(self, gradient: FloatArray) -> FloatArray:
        """Return the corner on the low side of the gradient."""
        return np.where(self._vector("gradient", gradient) > 0, self.low, self.high)

    def project(self, point: FloatArray) -> FloatArray:
        """Clip each coordinate."""
        return np.clip(self._vector("point", point), self.low, self.high)

    @property
    def farthest(self) -> float:
        """Half of the diagonal."""
        half = (self.high - self.low) / 2
        return math.sqrt(dot(half, half))

    @property
    def mean(self) -> FloatArray:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def covariance(self) -> FloatArray:
        """A twelfth of the squared widths."""
        return np.diag((self.high - self.low) ** 2 / 12)


def Interval(low: float = 0.0, high: float = 1.0) -> Box:  # noqa: N802 - a set like the others
    """Return the points of the line from ``low`` to ``high``: a box of one dimension.

    >>> Interval(-1.0, 1.0).contains([[0.0], [1.5]])
    array([ True, False])
    """
    return Box([low], [high])


@dataclass(frozen=True, eq=False)
class Simplex(ConvexSet):
    r"""All probability vectors, :math:`\{x \ge 0 : \sum_i x_i = 1\}`.

    It is flat: ``n_coordinates`` numbers, one dimension fewer.

    Examples
    --------
    >>> Simplex(3).dimension
    2
    >>> Simplex(3).from_cube(np.array([[0.75, 0.5]]))
    array([[0.5 , 0.25, 0.25]])
    """

    n_coordinates: int

    def __post_init__(self) -> None:
        check_integer("n_coordinates", self.n_coordinates, least=2)

    @property
    def dimension(self) -> int:
        """One less than there are coordinates."""
        return self.n_coordinates - 1

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each row whether it is a probability vector."""
        rows = self._rows(points)
        return np.asarray(
            (rows >= -TOLERANCE).all(axis=1) & (np.abs(rows.sum(axis=1) - 1.0) <= TOLERANCE)
        )

    def from_cube(self, cube: FloatArray) -> FloatArray:
        """Break a stick: each coordinate takes its share of what the earlier ones left."""
        return simplex_from_cube(cube)

    def chords(self, points: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where a coordinate reaches zero."""
        zeros = np.zeros(self.n_coordinates)
        return between_planes(points, directions, zeros, np.full(self.n_coordinates, np.inf))

    def lowest(self, gradient: FloatArray) -> FloatArray:
        """Return the corner of the lowest entry."""
        corner = np.zeros(self.n_coordinates)
        corner[int(np.argmin(self._vector("gradient", gradient)))] = 1.0
        return corner

    def project(self, point: FloatArray) -> FloatArray:
        """Take the same off every coordinate, down to zero, so that the rest sums to 1."""
        point = self._vector("point", point)
        # the projection does not change, and the largest entries keep all of their digits
        lowered = point - point.max()
        falling = np.sort(lowered)[::-1]
        levels = (np.cumsum(falling) - 1.0) / np.arange(1, self.n_coordinates + 1)
        level = levels[np.flatnonzero(falling > levels)[-1]]
        return np.asarray(np.maximum(lowered - level, 0.0))

    @property
    def farthest(self) -> float:
        """The distance of a corner from the uniform distribution."""
        return math.sqrt(1.0 - 1.0 / self.n_coordinates)

    @property
    def mean(self) -> FloatArray:
        """The uniform distribution."""
        return np.full(self.n_coordinates, 1.0 / self.n_coordinates)

    @property
    def covariance(self) -> FloatArray:
        """That of the Dirichlet distribution with all parameters 1."""
        return simplex_covariance(self.n_coordinates)

    def off_plane(self, steps: FloatArray) -> FloatArray:
        """Return the mean of the coordinates of each step."""
        ones = np.ones(self.n_coordinates)
        return matvec(steps, ones)[:, np.newaxis] / self.n_coordinates


@dataclass(frozen=True, eq=False)
class Ball(ConvexSet):
    """All points within ``radius`` of ``center``.

    Examples
    --------
    >>> Ball([0.0, 0.0], 2.0).contains([[1.0, 1.0], [2.0, 2.0]])
    array([ True, False])
    """

    center: FloatArray
    radius: float = field(default=1.0)

    def __init__(self, center: npt.ArrayLike, radius: float = 1.0) -> None:
        middle = check_vector("center", center)
        if middle.size == 0:
            raise ValueError("center must have at least one coordinate; got none")
        object.__setattr__(self, "center", read_only(middle))
        object.__setattr__(self, "radius", check_positive("radius", radius))
        object.__setattr__(self, "n_coordinates", middle.size)

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each row whether it is within the radius."""
        offsets = self._rows(points) - self.center
        distances = np.sqrt(row_dots(offsets, offsets))
        return np.asarray(distances <= self.radius * (1.0 + TOLERANCE))

    def from_cube(self, cube: FloatArray) -> FloatArray:
        """Make a Gaussian of the cube and turn its length, whose law is known, into a radius.

        Both laws are SciPy's, so the last bits of the points are too.
        """
        d = self.dimension
        # a coordinate of exactly 0 would lie at infinity
        gaussian = ndtri(np.clip(cube, 2.0**-53, 1.0 - 2.0**-53))
        squared = np.sum(gaussian**2, axis=1, keepdims=True)
        shares = gammainc(d / 2, squared / 2) ** (1.0 / d)
        unit = gaussian / np.sqrt(np.where(squared > 0, squared, 1.0))
        return np.asarray(self.center + self.radius * shares * unit)

    def chords(self, points: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the two roots of the quadratic equation of the sphere."""
        offsets = points - self.center
        a = row_dots(directions, directions)
        half_b = row_dots(offsets, directions)
        c = np.minimum(row_dots(offsets, offsets) - self.radius**2, 0.0)
        root = np.sqrt(half_b**2 - a * c)
        return (-half_b - root) / a, (-half_b + root) / a

    def lowest(self, gradient: FloatArray) -> FloatArray:
        """Return the point of the sphere against the gradient."""
        gradient = self._vector("gradient", gradient)
        length = math.sqrt(dot(gradient, gradient))
        if length == 0:
            return self.center.copy()
        return self.center - gradient * (self.radius / length)

    def project(self, point: FloatArray) -> FloatArray:
        """Pull a point outside towards the center."""
        point = self._vector("point", point)
        offset = point - self.center
        length = math.sqrt(dot(offset, offset))
        if length <= self.radius:
            return point
        return np.asarray(self.center + offset * (self.radius / length))

    @property
    def farthest(self) -> float:
        """The radius."""
        return self.radius

    @property
    def mean(self) -> FloatArray:
        """The center."""
        return self.center

    @property
    def covariance(self) -> FloatArray:
        """``radius**2 / (d + 2)`` in every direction."""
        return np.eye(self.dimension) * (self.radius**2 / (self.dimension + 2))
