"""Convex sets to play on: interval, box, simplex and ball, each with its uniform measure."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc, ndtri

from driftgames._support.checks import (
    FloatArray,
    as_floats,
    check_finite,
    check_integer,
    check_positive,
    check_vector,
)

TOLERANCE = 1e-9
"""How far outside, relative to the size of the set, rounding may put a point."""


class ConvexSet(ABC):
    """A compact convex set S, one chip for each of its points. [LS14, Sec. 4]

    What the learners need of it: membership, the uniform measure (as a map from the unit cube,
    so that grids and Sobol points fit every set), its first two moments, and the chord through
    a point, along which hit-and-run walks.
    """

    n_coordinates: int
    """How many numbers make a point."""
    dimension: int
    """The dimension d of the set, which Theorem 6 speaks of; less than `n_coordinates` when
    the set is flat."""

    @abstractmethod
    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each row whether it lies in the set, up to rounding."""

    @abstractmethod
    def from_cube(self, cube: FloatArray) -> FloatArray:
        """Map rows of the unit cube onto the set so that equal volumes stay equal.

        ``cube`` has `dimension` columns.
        """

    @abstractmethod
    def chords(self, points: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest ``t`` with ``point + t direction`` in the set."""

    @property
    @abstractmethod
    def mean(self) -> FloatArray:
        """The centre of mass."""

    @property
    @abstractmethod
    def covariance(self) -> FloatArray:
        """The covariance of a uniform point."""

    def sample(self, n_points: int, rng: np.random.Generator) -> FloatArray:
        """Return points drawn uniformly by volume, one per row."""
        n = check_integer("n_points", n_points, least=1)
        return self.from_cube(rng.random((n, self.dimension)))

    def directions(self, n_points: int, rng: np.random.Generator) -> FloatArray:
        """Return uniform directions that do not leave the plane of the set."""
        steps = rng.standard_normal((n_points, self.n_coordinates))
        steps -= self._off_plane(steps)
        steps /= np.linalg.norm(steps, axis=1, keepdims=True)
        return steps

    def _off_plane(self, steps: FloatArray) -> FloatArray:
        """Return the part of each step that leaves the plane of the set."""
        return np.zeros(1)

    def _rows(self, points: npt.ArrayLike) -> FloatArray:
        rows = np.atleast_2d(as_floats("points", points))
        if rows.ndim != 2 or rows.shape[1] != self.n_coordinates:
            raise ValueError(
                f"points must have {self.n_coordinates} columns; got shape {rows.shape}"
            )
        check_finite("points", rows)
        return rows


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
            raise ValueError(f"low must lie below high in every coordinate; got {low!r}, {high!r}")
        object.__setattr__(self, "low", corner)
        object.__setattr__(self, "high", opposite)

    @property
    def n_coordinates(self) -> int:  # type: ignore[override]
        """How many numbers make a point."""
        return self.low.size

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The dimension of the set."""
        return self.low.size

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
        return _between_planes(points, directions, self.low, self.high)

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


@dataclass(frozen=True)
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
    def dimension(self) -> int:  # type: ignore[override]
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
        d = self.dimension
        # what is left after a break is a Beta(k, 1) share, where k more breaks could follow
        left = np.cumprod((1.0 - cube) ** (1.0 / np.arange(d, 0, -1)), axis=1)
        points = np.empty((cube.shape[0], d + 1))
        points[:, 0] = 1.0 - left[:, 0]
        points[:, 1:d] = left[:, :-1] - left[:, 1:]
        points[:, d] = left[:, -1]
        return points

    def chords(self, points: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where a coordinate reaches zero."""
        zeros = np.zeros(self.n_coordinates)
        return _between_planes(points, directions, zeros, np.full(self.n_coordinates, np.inf))

    @property
    def mean(self) -> FloatArray:
        """The uniform distribution."""
        return np.full(self.n_coordinates, 1.0 / self.n_coordinates)

    @property
    def covariance(self) -> FloatArray:
        """That of the Dirichlet distribution with all parameters 1."""
        n = self.n_coordinates
        return (np.eye(n) - 1.0 / n) / (n * (n + 1))

    def _off_plane(self, steps: FloatArray) -> FloatArray:
        return np.asarray(steps.mean(axis=1, keepdims=True))


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
        object.__setattr__(self, "center", middle)
        object.__setattr__(self, "radius", check_positive("radius", radius))

    @property
    def n_coordinates(self) -> int:  # type: ignore[override]
        """How many numbers make a point."""
        return self.center.size

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The dimension of the set."""
        return self.center.size

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each row whether it is within the radius."""
        distances = np.linalg.norm(self._rows(points) - self.center, axis=1)
        return np.asarray(distances <= self.radius * (1.0 + TOLERANCE))

    def from_cube(self, cube: FloatArray) -> FloatArray:
        """Make a Gaussian of the cube and turn its length, whose law is known, into a radius."""
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
        a = np.einsum("ij,ij->i", directions, directions)
        half_b = np.einsum("ij,ij->i", offsets, directions)
        c = np.minimum(np.einsum("ij,ij->i", offsets, offsets) - self.radius**2, 0.0)
        root = np.sqrt(half_b**2 - a * c)
        return (-half_b - root) / a, (-half_b + root) / a

    @property
    def mean(self) -> FloatArray:
        """The center."""
        return self.center

    @property
    def covariance(self) -> FloatArray:
        """``radius**2 / (d + 2)`` in every direction."""
        return np.eye(self.dimension) * (self.radius**2 / (self.dimension + 2))


def _between_planes(
    points: FloatArray, directions: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the chords of a region that is bounded coordinate by coordinate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (low - points) / directions, (high - points) / directions
    first, last = np.minimum(to_low, to_high), np.maximum(to_low, to_high)
    still = directions == 0  # along this coordinate nothing is ever reached
    first[still], last[still] = -math.inf, math.inf
    # a point that rounding put just outside keeps at least itself
    return np.minimum(first.max(axis=1), 0.0), np.maximum(last.min(axis=1), 0.0)
