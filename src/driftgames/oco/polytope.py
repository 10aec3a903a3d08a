"""Polytopes: bounded sets given by linear inequalities."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from driftgames.core.caching import cached_property
from driftgames.core.checks import as_floats, check_finite, check_integer, check_vector
from driftgames.core.generators import check_generator
from driftgames.core.typing import FloatArray, read_only
from driftgames.oco.convex_set import TOLERANCE, ConvexSet
from driftgames.oco.sets import Simplex

MOST_TRIANGULATED = 5
"""Up to this dimension a polytope is cut into simplices, which makes its measure exact."""

_THIN = 1e-9  # an inscribed ball this small, relative to the set, is no interior


@dataclass(frozen=True, eq=False)
class Polytope(ConvexSet):
    r"""All points with :math:`A x \le b`, bounded and with an interior, checked by LP.

    Up to dimension `MOST_TRIANGULATED` it is cut into simplices, and its uniform measure and
    its moments are exact. Beyond, points are drawn by a long hit-and-run walk, there is no map
    from the cube, and `HitAndRun` is the way to integrate.

    Examples
    --------
    >>> triangle = Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])
    >>> triangle.contains([[0.2, 0.2], [0.8, 0.8]])
    array([ True, False])
    >>> triangle.mean.round(6)
    array([0.333333, 0.333333])
    >>> Polytope([[-1, 0], [0, -1]], [0, 0])
    Traceback (most recent call last):
    ...
    ValueError: the polytope must be bounded; coordinate 0 has no upper bound
    """

    A: FloatArray
    b: FloatArray
    low: FloatArray = field(init=False)
    high: FloatArray = field(init=False)
    inner: FloatArray = field(init=False)

    def __init__(self, A: npt.ArrayLike, b: npt.ArrayLike) -> None:
        normals = as_floats("A", A)
        if normals.ndim != 2 or normals.shape[1] == 0:
            raise ValueError(f"A must have one row per inequality; got shape {normals.shape}")
        check_finite("A", normals)
        offsets = check_vector("b", b, normals.shape[0])
        object.__setattr__(self, "A", read_only(normals))
        object.__setattr__(self, "b", read_only(offsets))
        object.__setattr__(self, "n_coordinates", normals.shape[1])
        unit, reach = self._unit
        center, radius = _inscribed_ball(unit, reach)
        low, high = _bounding_box(unit, reach)
        if radius <= _THIN * float((high - low).max()):
            raise ValueError(
                f"the polytope must have an interior; its largest ball has radius {radius:g}"
            )
        object.__setattr__(self, "low", read_only(low))
        object.__setattr__(self, "high", read_only(high))
        object.__setattr__(self, "inner", read_only(center))

    @cached_property
    def _unit(self) -> tuple[FloatArray, FloatArray]:
        """The inequalities with normals of length one; those with a normal of zero are left out."""
        lengths = np.linalg.norm(self.A, axis=1)
        if (self.b[lengths == 0] < 0).any():
            raise ValueError("the polytope must not be empty; it asks that 0 be below 0")
        kept = lengths > 0
        return self.A[kept] / lengths[kept, np.newaxis], self.b[kept] / lengths[kept]

    @property
    def has_map(self) -> bool:
        """Whether its uniform measure is known exactly."""
        return self.dimension <= MOST_TRIANGULATED

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each row whether it keeps every inequality."""
        unit, reach = self._unit
        spare = TOLERANCE * float((self.high - self.low).max())
        return np.asarray((self._rows(points) @ unit.T <= reach + spare).all(axis=1))

    def from_cube(self, cube: FloatArray) -> FloatArray:
        """Let the first coordinate choose a simplex by volume, and fill it with the rest."""
        corners, volumes = self._simplices
        edges = np.concatenate([[0.0], np.cumsum(volumes / volumes.sum())])
        edges[-1] = 1.0
        chosen = np.clip(np.searchsorted(edges, cube[:, 0], side="right") - 1, 0, volumes.size - 1)
        rest = cube.copy()
        rest[:, 0] = (cube[:, 0] - edges[chosen]) / (edges[chosen + 1] - edges[chosen])
        shares = Simplex(self.dimension + 1).from_cube(rest)
        return np.asarray(np.einsum("ij,ijk->ik", shares, corners[chosen]))

    def sample(self, n_points: int, rng: np.random.Generator) -> FloatArray:
        """Return points drawn uniformly by volume, one per row."""
        if self.has_map:
            return super().sample(n_points, rng)
        n_points = check_integer("n_points", n_points, least=1)
        check_generator("rng", rng)
        points = np.repeat(self.inner[np.newaxis], n_points, axis=0)
        # the walk forgets where it began after a number of steps of the order of d**2
        for _ in range(10 * self.dimension**2):
            steps = self.directions(n_points, rng)
            first, last = self.chords(points, steps)
            points += (first + (last - first) * rng.random(n_points))[:, np.newaxis] * steps
        return points

    def chords(self, points: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where the lines first break an inequality."""
        unit, reach = self._unit
        speed = directions @ unit.T
        room = np.maximum(reach - points @ unit.T, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = room / speed
        last = np.where(speed > 0, steps, np.inf).min(axis=1)
        first = np.where(speed < 0, steps, -np.inf).max(axis=1)
        return first, last

    def lowest(self, gradient: FloatArray) -> FloatArray:
        """Return a solution of the linear program."""
        from scipy.optimize import linprog

        gradient = self._vector("gradient", gradient)
        unit, reach = self._unit
        # the bounding box removes no point, and keeps a flat objective bounded
        bounds = np.column_stack([self.low, self.high])
        # the solver takes an entry below its tolerance for zero, so the largest entry becomes 1
        largest = float(np.abs(gradient).max())
        objective = gradient / largest if largest > 0 else gradient
        solved = linprog(objective, A_ub=unit, b_ub=reach, bounds=bounds)
        if solved.status != 0:
            raise ValueError(f"the lowest point was not found: {solved.message}")
        return np.asarray(solved.x)

    def project(self, point: FloatArray) -> FloatArray:
        """Solve the least distance problem, by nonnegative least squares on its dual.

        Lawson and Hanson, "Solving least squares problems" (1974), chapter 23.
        """
        from scipy.optimize import nnls

        point = self._vector("point", point)
        unit, reach = self._unit
        excess = unit @ point - reach
        if (excess <= 0).all():
            return point
        # in units of the largest excess the last residual is not lost in rounding
        largest = float(excess.max())
        columns = np.vstack([-unit.T, excess / largest])
        target = np.zeros(self.dimension + 1)
        target[-1] = 1.0
        multipliers, _ = nnls(columns, target)
        residual = columns @ multipliers - target
        return np.asarray(point - largest * (residual[:-1] / residual[-1]))

    @property
    def middle(self) -> FloatArray:
        """The center of the largest ball inside."""
        return self.inner

    @property
    def farthest(self) -> float:
        """The distance to the farthest corner of the bounding box."""
        return float(np.linalg.norm(np.maximum(self.high - self.inner, self.inner - self.low)))

    @property
    def mean(self) -> FloatArray:
        """The centre of mass."""
        corners, volumes = self._simplices
        return np.asarray(volumes @ corners.mean(axis=1) / volumes.sum())

    @property
    def covariance(self) -> FloatArray:
        """The covariance, from those of the simplices and of their centres."""
        corners, volumes = self._simplices
        n = self.dimension + 1
        centred = corners - self.mean
        total = centred.sum(axis=1)
        # E[xx'] over a simplex is (sum of c c' over corners + S S') / (n (n + 1))
        second = np.einsum("ijk,ijl->ikl", centred, centred) + np.einsum("ik,il->ikl", total, total)
        return np.asarray(np.einsum("i,ikl->kl", volumes, second) / (n * (n + 1) * volumes.sum()))

    @cached_property
    def _simplices(self) -> tuple[FloatArray, FloatArray]:
        """The corners of simplices that fill the polytope, and their volumes."""
        if not self.has_map:
            raise ValueError(
                f"a polytope of dimension {self.dimension} is not cut into simplices (at most "
                f"{MOST_TRIANGULATED}); integrate over it with HitAndRun"
            )
        if self.dimension == 1:
            corners = np.array([[self.low, self.high]])
        else:
            from scipy.spatial import Delaunay, HalfspaceIntersection

            unit, reach = self._unit
            halfspaces = np.column_stack([unit, -reach])
            vertices = HalfspaceIntersection(halfspaces, self.inner).intersections
            triangulation = Delaunay(vertices)
            corners = vertices[triangulation.simplices]
        volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
        kept = volumes > 1e-14 * volumes.sum()
        return corners[kept], volumes[kept]


def _inscribed_ball(A: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    from scipy.optimize import linprog

    d = A.shape[1]
    # no ball in a bounded set is larger; an unbounded set is for `_bounding_box` to name
    most = float(np.abs(b).max(initial=0.0)) + 1.0
    solved = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([A, np.ones(b.size)]),
        b_ub=b,
        bounds=[(None, None)] * d + [(0.0, most)],
    )
    if solved.status == 2:
        raise ValueError("the polytope must not be empty; no point keeps every inequality")
    if solved.status != 0:
        raise ValueError(f"the polytope could not be checked: {solved.message}")
    return np.asarray(solved.x[:-1]), float(solved.x[-1])


def _bounding_box(A: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    from scipy.optimize import linprog

    d = A.shape[1]
    corners = np.empty((2, d))
    for side, (sign, word) in enumerate([(1.0, "lower"), (-1.0, "upper")]):
        for coordinate in range(d):
            objective = np.zeros(d)
            objective[coordinate] = sign
            solved = linprog(objective, A_ub=A, b_ub=b, bounds=(None, None))
            if solved.status != 0:
                raise ValueError(
                    f"the polytope must be bounded; coordinate {coordinate} has no {word} bound"
                )
            corners[side, coordinate] = solved.x[coordinate]
    return corners[0], corners[1]
