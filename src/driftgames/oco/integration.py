"""How a density over a convex set is integrated: the strategy, and fixed points for it.

A strategy (`Grid`, `Points`, `HitAndRun`) makes a population of chips. Grids and Sobol points
stand still and only their positions move; the points of hit-and-run walk as well.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftgames._kernels.sums import vecmat
from driftgames.core.checks import check_distribution, check_integer, check_vector
from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.typing import Content, FloatArray
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.loss_total import LossTotal
from driftgames.oco.losses import LossFunction
from driftgames.oco.moments import match_moments
from driftgames.potentials import Potential


class IntegrationWarning(UserWarning):
    """The integral is less certain than it should be; the message says how much."""


@dataclass(frozen=True)
class Precision:
    """How well the mean of the density is known.

    Parameters
    ----------
    error : array
        For each coordinate: an estimate of the error of the rule for a grid (see `Grid`), a
        standard error otherwise: for points that of the jackknife, which leaves out one point
        at a time. Neither is a bound. Where one chip has all of the mass, nothing is known of
        the density around it, and the error is the size of the set.
    effective_size : float
        How many independent points of the density would do as well; for a grid, how many
        chips share the weight.
    n_points : int
        How many chips there are.
    """

    error: FloatArray
    effective_size: float
    n_points: int


class Population(ABC):
    """The chips of one learner: where they are, and their positions s."""

    points: FloatArray
    total: LossTotal
    """The sum of the losses so far."""
    integral: ClassVar[bool]
    """Whether the chips stand for the whole integral rather than for themselves."""

    @abstractmethod
    def mean(self, t: int) -> FloatArray:
        """Return the mean of the density of round ``t``."""

    @abstractmethod
    def precision(self, t: int) -> Precision:
        """Return how well that mean is known."""

    @abstractmethod
    def move(self, loss: LossFunction, losses: FloatArray, learner_loss: float, t: int) -> None:
        """Move the chips of round ``t``, whose ``losses`` and the learner's are on [0, 1]."""

    @abstractmethod
    def quantiles(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the positions of chips that stand for the volume, and their share of it."""

    def lowest(self) -> float:
        """Return the lowest position of a chip."""
        return float(self.quantiles()[0].min())

    @abstractmethod
    def content(self) -> Content:
        """Return the state as JSON."""

    @abstractmethod
    def take(self, content: Content) -> None:
        """Take up a state that `content` described."""


class Integration(ABC):
    """A strategy to integrate over a convex set."""

    @abstractmethod
    def populate(
        self,
        domain: ConvexSet,
        potential: Potential,
        loss_range: tuple[float, float],
        rng: np.random.Generator,
    ) -> Population:
        """Return the chips of a new learner."""


@dataclass(frozen=True)
class Grid(Integration):
    r"""The midpoint rule on a regular grid, for sets of dimension one to three.

    The unit cube is cut into ``per_axis`` equal cells along each axis and their midpoints are
    mapped onto the set, so every chip stands for the same volume. The middle cell of every
    three along each axis gives the same rule with cells three times as wide, and the
    difference of the two is the error it reports: an estimate. On an interval or a box, where
    the error of either falls with the square of the width, it tends to eight times the error
    of the finer one. The maps onto other sets have edges, and chance may bring the two closer
    together than the finer one is to the truth.

    Parameters
    ----------
    per_axis : int, optional
        A multiple of 3. Default: 729, 81 or 27, for dimension 1, 2 or 3.
    """

    per_axis: int | None = None

    _DEFAULTS: ClassVar[dict[int, int]] = {1: 729, 2: 81, 3: 27}

    def __post_init__(self) -> None:
        if self.per_axis is not None:
            check_integer("per_axis", self.per_axis, least=3)
            if self.per_axis % 3:
                raise ValueError(f"per_axis must be a multiple of 3; got {self.per_axis}")

    def populate(
        self,
        domain: ConvexSet,
        potential: Potential,
        loss_range: tuple[float, float],
        rng: np.random.Generator,
    ) -> FixedPopulation:
        """Return one chip for each cell."""
        if domain.dimension not in self._DEFAULTS:
            raise ValueError(
                f"a grid needs a set of dimension 1, 2 or 3; got {domain.dimension}; "
                "use Points or HitAndRun"
            )
        m = self._DEFAULTS[domain.dimension] if self.per_axis is None else self.per_axis
        axes = np.meshgrid(*[np.arange(m)] * domain.dimension, indexing="ij")
        cells = np.stack([axis.ravel() for axis in axes], axis=1)
        coarse = (cells % 3 == 1).all(axis=1)
        return FixedPopulation(domain.from_cube((cells + 0.5) / m), potential, coarse=coarse)


@dataclass(frozen=True)
class Points(Integration):
    """Scrambled Sobol points, mapped onto the set so that equal volumes stay equal.

    The epsilon-regret of Theorem 2 does not depend on the number of chips, so it holds as it
    stands for the points. [LS14, Thm. 2]

    The cube's points are SciPy's, in exact arithmetic: they depend on its version and not on
    the machine. The map onto a box or a simplex is exact arithmetic too; that onto a ball or a
    polytope is SciPy's and may differ in the last bits between machines.

    Parameters
    ----------
    n_points : int
        A power of two, at which Sobol points are balanced.
    matched : bool
        Whether to weigh the points so that the mean and the covariance of the set come out
        exactly (`match_moments`); where there are too few points for that they weigh alike.
    """

    n_points: int = 4096
    matched: bool = False

    def __post_init__(self) -> None:
        n = check_integer("n_points", self.n_points, least=2)
        if n & (n - 1):
            raise ValueError(f"n_points must be a power of two; got {n}")

    def populate(
        self,
        domain: ConvexSet,
        potential: Potential,
        loss_range: tuple[float, float],
        rng: np.random.Generator,
    ) -> FixedPopulation:
        """Return one chip for each point."""
        points, prior = self.place(domain, rng)
        return FixedPopulation(points, potential, prior=prior)

    def place(
        self, domain: ConvexSet, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return the points and their shares of the volume, None when these are equal."""
        from scipy.stats import qmc

        cube = qmc.Sobol(domain.dimension, scramble=True, seed=rng).random(self.n_points)
        points = domain.from_cube(cube)
        prior = match_moments(points, domain.mean, domain.covariance) if self.matched else None
        return points, prior


class FixedPopulation(Population):
    """Chips that stand at fixed points of the set; only their positions decide.

    The sum of the losses is kept for the certificate, without functions.
    """

    integral: ClassVar[bool] = False

    def __init__(
        self,
        points: FloatArray,
        potential: Potential,
        *,
        prior: FloatArray | None = None,
        coarse: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None,
    ) -> None:
        self.points = np.ascontiguousarray(points)
        self.positions = np.zeros(points.shape[0])
        self.total = LossTotal(points.shape[1], keep_functions=False)
        self._potential = potential
        self._prior = prior
        self._coarse = coarse

    def distribution(self, t: int) -> FloatArray:
        """Return the weight of every chip in round ``t``, summing to 1."""
        return self._potential.distribution(self.positions, t, self._prior)

    def mean(self, t: int) -> FloatArray:
        """Return the mean of the density of round ``t``."""
        return vecmat(self.distribution(t), self.points)

    def precision(self, t: int) -> Precision:
        """Return an estimated error of the rule for a grid, and a standard error for points."""
        p = self.distribution(t)
        mean = p @ self.points
        # one chip decides, and the rule does not resolve the density around it
        heaviest = int(np.argmax(p))
        alone = self._without(p, heaviest) - mean if p[heaviest] > 0.5 else np.zeros(mean.size)
        if self._coarse is None:
            error = np.hypot(self._jackknife(p, mean), alone)
        else:
            error = np.maximum(self._against_coarse(p, mean), np.abs(alone))
        return Precision(np.asarray(error), 1.0 / float(p @ p), p.size)

    def _jackknife(self, p: FloatArray, mean: FloatArray) -> FloatArray:
        """Return the root of the summed squared changes when each light chip is left out."""
        light = p <= 0.5
        share = p[light] / (1.0 - p[light])
        return np.asarray(np.sqrt(share**2 @ (self.points[light] - mean) ** 2))

    def _against_coarse(self, p: FloatArray, mean: FloatArray) -> FloatArray:
        """Return the difference to the rule with cells three times as wide."""
        thinned = p[self._coarse]
        mass = float(thinned.sum())
        if mass == 0.0:  # the density falls between all coarse nodes
            return np.asarray(np.ptp(self.points, axis=0))
        return np.asarray(np.abs(thinned @ self.points[self._coarse] / mass - mean))

    def _without(self, p: FloatArray, chip: int) -> FloatArray:
        """Return the mean of all other chips, or the far end of the set where none has mass."""
        others = np.delete(p, chip)
        mass = float(others.sum())
        if mass == 0.0:
            return np.asarray(self.points[chip] + np.ptp(self.points, axis=0))
        return np.asarray(others @ np.delete(self.points, chip, axis=0) / mass)

    def move(self, loss: LossFunction, losses: FloatArray, learner_loss: float, t: int) -> None:
        """Add to every position the chip's loss less the learner's. [LS14, Alg. 5]"""
        self.positions += losses - learner_loss
        self.total.add(loss)

    def quantiles(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the positions and the prior."""
        return self.positions, self._prior

    def content(self) -> Content:
        """Return positions and prior as JSON, and a mark of the points they belong to."""
        return {
            "positions": encode_array(self.positions),
            "prior": None if self._prior is None else encode_array(self._prior),
            "points": fingerprint(self.points),
            "total": self.total.content(),
        }

    def take(self, content: Content) -> None:
        """Take up positions that belong to the same points."""
        n = self.positions.size
        positions = check_vector("positions", decode_array(content["positions"]), n)
        check_fingerprint(self.points, content["points"])
        prior = content["prior"]
        if prior is not None:
            prior = check_distribution("prior", decode_array(prior), n)
        total = self._total_of(content.get("total"))
        self.positions, self._prior, self.total = positions, prior, total

    def _total_of(self, content: Content | None) -> LossTotal:
        n_coordinates = self.points.shape[1]
        if content is not None:
            return LossTotal.of_content(content, n_coordinates, keep_functions=False)
        total = LossTotal(n_coordinates, keep_functions=False)
        total.n_forgotten = 1  # files of version 1 hold no total
        return total


def fingerprint(points: FloatArray) -> str:
    """Return a mark by which the same points are known again.

    >>> fingerprint(np.zeros((1, 2)))
    '374708fff7719dd5'
    """
    return hashlib.sha256(np.ascontiguousarray(points).tobytes()).hexdigest()[:16]


def check_fingerprint(points: FloatArray, mark: str) -> None:
    """Refuse a state whose points are not these."""
    if fingerprint(points) != mark:
        raise DocumentError(
            "its points are laid otherwise here (another version of SciPy, or another kind of "
            "machine), so its positions do not belong to them"
        )
