"""What a learner needs of a convex set."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from driftgames._kernels.sums import row_dots
from driftgames.core.checks import as_floats, check_finite, check_integer, check_vector
from driftgames.core.description import Describable
from driftgames.core.generators import check_generator
from driftgames.core.state import same
from driftgames.core.typing import FloatArray

TOLERANCE = 1e-9
"""How far outside, relative to the size of the set, rounding may put a point."""


class ConvexSet(Describable, ABC):
    """A compact convex set S, one chip for each of its points. [LS14, Sec. 4]

    Learners need membership, the uniform measure (as a map from the unit cube,
    so that grids and Sobol points fit every set), its first two moments, and the chord through
    a point, along which hit-and-run walks. Comparators need its lowest points and gradient
    methods its projection.
    """

    n_coordinates: int
    """How many numbers make a point."""

    @property
    def dimension(self) -> int:
        """The dimension d of the set, which Theorem 6 speaks of; less where the set is flat."""
        return self.n_coordinates

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

    @abstractmethod
    def lowest(self, gradient: FloatArray) -> FloatArray:
        """Return a point of the set at which ``gradient . x`` is lowest."""

    @abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """Return the point of the set that is nearest to ``point``."""

    @property
    @abstractmethod
    def farthest(self) -> float:
        """A distance from `middle` that no point of the set exceeds."""

    @property
    def middle(self) -> FloatArray:
        """A point inside the set at which a learner without losses may start."""
        return self.mean

    @property
    @abstractmethod
    def mean(self) -> FloatArray:
        """The centre of mass."""

    @property
    @abstractmethod
    def covariance(self) -> FloatArray:
        """The covariance of a uniform point."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConvexSet) or type(other) is not type(self):
            return NotImplemented
        return same(self._described_arguments(), other._described_arguments())

    __hash__ = None  # type: ignore[assignment]

    def sample(self, n_points: int, rng: np.random.Generator) -> FloatArray:
        """Return points drawn uniformly by volume, one per row."""
        n = check_integer("n_points", n_points, least=1)
        return self.from_cube(check_generator("rng", rng).random((n, self.dimension)))

    def directions(self, n_points: int, rng: np.random.Generator) -> FloatArray:
        """Return uniform directions that do not leave the plane of the set."""
        n = check_integer("n_points", n_points, least=1)
        steps = check_generator("rng", rng).standard_normal((n, self.n_coordinates))
        steps -= self.off_plane(steps)
        steps /= np.sqrt(row_dots(steps, steps))[:, np.newaxis]
        return steps

    def off_plane(self, steps: FloatArray) -> FloatArray:
        """Return the part of each step that leaves the plane of the set."""
        return np.zeros(1)

    def _vector(self, name: str, values: npt.ArrayLike) -> FloatArray:
        """Return one number for each coordinate, or say what is wrong with them."""
        return check_vector(name, values, self.n_coordinates)

    def _rows(self, points: npt.ArrayLike) -> FloatArray:
        rows = np.atleast_2d(as_floats("points", points))
        if rows.ndim != 2 or rows.shape[1] != self.n_coordinates:
            raise ValueError(
                f"points must have {self.n_coordinates} columns; got shape {rows.shape}"
            )
        check_finite("points", rows)
        return rows


def between_planes(
    points: FloatArray, directions: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the chords of a region that is bounded coordinate by coordinate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (low - points) / directions, (high - points) / directions
    first, last = np.minimum(to_low, to_high), np.maximum(to_low, to_high)
    still = directions == 0  # a line along this coordinate reaches no plane
    first[still], last[still] = -math.inf, math.inf
    # a point that rounding put just outside keeps at least itself
    return np.minimum(first.max(axis=1), 0.0), np.maximum(last.min(axis=1), 0.0)
