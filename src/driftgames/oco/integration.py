"""How a density over a convex set is integrated: the strategy, and fixed points for it.

A strategy (`Grid`, `Points`, `HitAndRun`) makes a population of chips. Grids and Sobol points
stand still and only their positions move; the points of hit-and-run walk as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftgames._kernels.moments import match_moments
from driftgames._kernels.sobol import check_fingerprint, check_power_of_two, fingerprint, sobol
from driftgames._kernels.sums import vecmat
from driftgames.core.checks import check_distribution, check_integer, check_vector
from driftgames.core.description import Describable
from driftgames.core.typing import BoolArray, Content, FloatArray
from driftgames.core.units import Units
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.loss_total import LossTotal
from driftgames.oco.losses import LossFunction
from driftgames.potentials import Potential


class IntegrationWarning(UserWarning):
    """The integral is less certain than it should be; the message says how much."""


@dataclass(frozen=True)
class Precision:
    """How well the mean of the density is known.

    Parameters
    ----------
    error : array
        For each coordinate: for a grid, an estimate of the error of the rule (see `Grid`); else
        a standard error. The standard error of points is that of the jackknife, which leaves
        out one point at a time. Neither is a bound. If one chip has all of the mass, the chips
        do not resolve the density around it, and the error is the size of the set.
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
    """Whether the chips represent the whole integral rather than only themselves."""

    def with_point(self, point: FloatArray) -> FloatArray:
        """Return the points of the chips and one more, which the caller does not change."""
        return np.concatenate([self.points, point[np.newaxis]])

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
        """Return the positions of chips that represent the volume, and the share of each."""

    def lowest(self) -> float:
        """Return the lowest position of a chip."""
        return float(self.quantiles()[0].min())

    @abstractmethod
    def get_state(self) -> Content:
        """Return the live state."""

    @abstractmethod
    def set_state(self, state: Content) -> None:
        """Take this state over, or raise ValueError and change nothing."""


class Integration(Describable, ABC):
    """A strategy to integrate over a convex set."""

    def count(self, domain: ConvexSet) -> int | None:
        """Return the number of chips on this set. Default: None, unknown."""
        return None

    @abstractmethod
    def populate(
        self, domain: ConvexSet, potential: Potential, units: Units, rng: np.random.Generator
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

    def count(self, domain: ConvexSet) -> int:
        """Return the number of cells."""
        m = self.per_axis or self._DEFAULTS.get(domain.dimension, 3)
        return int(m ** min(domain.dimension, 3))

    def populate(
        self, domain: ConvexSet, potential: Potential, units: Units, rng: np.random.Generator
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
        exactly (`match_moments`). Too few points for that weigh alike.
    """

    n_points: int = 4096
    matched: bool = False

    def __post_init__(self) -> None:
        check_power_of_two("n_points", self.n_points)

    def count(self, domain: ConvexSet) -> int:
        """Return the number of points."""
        return self.n_points

    def populate(
        self, domain: ConvexSet, potential: Potential, units: Units, rng: np.random.Generator
    ) -> FixedPopulation:
        """Return one chip for each point."""
        points, prior = self.place(domain, rng)
        return FixedPopulation(points, potential, prior=prior)

    def place(
        self, domain: ConvexSet, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return the points and their shares of the volume, None when these are equal."""
        points = domain.from_cube(sobol(domain.dimension, self.n_points, rng))
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
        coarse: BoolArray | None = None,
    ) -> None:
        self._rows = np.concatenate([points, points[:1]])  # the last one is for `with_point`
        self.positions = np.zeros(points.shape[0])
        self.total = LossTotal(points.shape[1], keep_functions=False)
        self._potential = potential
        self._prior = prior
        self._coarse = coarse

    @property
    def points(self) -> FloatArray:  # type: ignore[override]
        """Where the chips are."""
        return self._rows[:-1]

    def with_point(self, point: FloatArray) -> FloatArray:
        """Return the same array in every round, so that many points are not copied."""
        self._rows[-1] = point
        return self._rows

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
        """Return the mean of all other chips; if none has mass, the far end of the set."""
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

    def get_state(self) -> Content:
        """Return positions, prior, the sum of the losses, and a fingerprint of the points."""
        return {
            "positions": self.positions,
            "prior": self._prior,
            "points": fingerprint(self.points),
            "total": self.total.get_state(),
        }

    def set_state(self, state: Content) -> None:
        """Take over positions that belong to the same points."""
        n, n_coordinates = self.points.shape
        positions, prior = check_vector("positions", state["positions"], n), state["prior"]
        check_fingerprint(self.points, state["points"])
        if prior is not None:
            prior = check_distribution("prior", prior, n)
        self.total = LossTotal.from_state(state["total"], n_coordinates, keep_functions=False)
        self.positions, self._prior = positions, prior
