"""Hit-and-run: chips that walk through the set so that they always follow the density."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftgames._kernels.sums import dot, total, vecmat
from driftgames.core.checks import (
    as_floats,
    check_flag,
    check_integer,
    check_number,
    check_positive,
)
from driftgames.core.generators import put_back
from driftgames.core.schema import OBJECT
from driftgames.core.typing import Content, FloatArray
from driftgames.core.units import Units
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.integration import Integration, IntegrationWarning, Population, Precision
from driftgames.oco.loss_total import LossTotal
from driftgames.oco.losses import LossFunction
from driftgames.potentials import Potential

_QUANTILE_POINTS = 2048
MOST_STEPS = 10_000


@dataclass(frozen=True)
class HitAndRun(Integration):
    r"""Random walkers on any bounded convex set, in any dimension.

    After each round the walkers are drawn again in proportion to how their weight changed, and
    then walk: a random direction, the chord through the point, and a new point on that chord by
    slice sampling. Weights fall with the position and positions are convex, so the part of a
    chord above any height is an interval and each step is exact: nothing is tuned, and no step
    is rejected. The walkers start where the last round left them.

    Losses that add up (`LinearLoss`, `QuadraticLoss`) cost the same in every round; any other
    loss is kept and called again, which costs as much as there were rounds. Such a function
    must return the same values later as in its round (see `ContinuousHedge.update`).

    Parameters
    ----------
    n_walkers : int
        How many walkers.
    n_steps : int, optional
        Steps per round. Default: ``4 + 2 * dimension``.
    least_effective : float
        A round whose effective sample size is below this warns.
    """

    n_walkers: int = 1024
    n_steps: int | None = None
    least_effective: float = 100.0

    def __post_init__(self) -> None:
        check_integer("n_walkers", self.n_walkers, least=2)
        if self.n_steps is not None:
            check_integer("n_steps", self.n_steps, least=1)
            if self.n_steps > MOST_STEPS:
                raise ValueError(f"n_steps must be at most {MOST_STEPS:,}; got {self.n_steps}")
        check_positive("least_effective", self.least_effective)

    def count(self, domain: ConvexSet) -> int:
        """Return the number of walkers."""
        return self.n_walkers

    def populate(
        self, domain: ConvexSet, potential: Potential, units: Units, rng: np.random.Generator
    ) -> Walkers:
        """Return walkers spread uniformly over the set."""
        return Walkers(self, domain, potential, units, rng)


class Walkers(Population):
    """Walkers that follow the density of the next round.

    Notes
    -----
    The effective sample size is followed through the rounds. Let ``a`` be the variance of the
    mean of the walkers in units of the variance of the density, so that the size is ``1 / a``.
    Weights with an effective share ``phi`` turn ``a`` into ``a / phi``, drawing again adds
    ``1 / m - 1 / n`` where m of the n walkers survive, and steps after which the coordinates
    of a walker correlate by ``rho`` with where it stood leave ``rho**2 a + (1 - rho**2) / n``.
    """

    integral: ClassVar[bool] = True

    def __init__(
        self,
        strategy: HitAndRun,
        domain: ConvexSet,
        potential: Potential,
        units: Units,
        rng: np.random.Generator,
    ) -> None:
        self.points = domain.sample(strategy.n_walkers, rng)
        self._strategy = strategy
        self._domain = domain
        self._potential = potential
        self._units = units
        self._rng = rng
        self.total = LossTotal(domain.n_coordinates)
        self._learner_total = 0.0  # in units of the losses
        self._inverse_size = 1.0 / strategy.n_walkers
        self._warned = False

    def positions_at(self, points: FloatArray) -> FloatArray:
        """Return the positions s of any points of the set."""
        return self._scaled(self.total(points))

    def mean(self, t: int) -> FloatArray:
        """Return the mean of the walkers."""
        n = self.points.shape[0]
        return vecmat(np.full(n, 1.0 / n), self.points)

    def precision(self, t: int) -> Precision:
        """Return the standard error of that mean and the effective sample size."""
        spread = self.points.std(axis=0)
        size = 1.0 / self._inverse_size
        return Precision(np.asarray(spread / np.sqrt(size)), size, self.points.shape[0])

    def move(self, loss: LossFunction, losses: FloatArray, learner_loss: float, t: int) -> None:
        """Take a loss, then let the walkers follow the density of round ``t + 1``."""
        before = self._potential.weights(self.positions_at(self.points), t)
        self.total = self.total.copy()
        self.total.add(loss)
        self._learner_total += self._units.from_game(learner_loss)
        after = self._potential.weights(self.positions_at(self.points), t + 1)
        # where every walker was safe the density was uniform, and so was the walkers' law
        with np.errstate(divide="ignore", invalid="ignore"):
            self._draw_again(after / before if before.any() else after)
        self._walk(t + 1)
        few = 1.0 / self._inverse_size < self._strategy.least_effective
        if few and not self._warned:
            warnings.warn(
                f"the {self.points.shape[0]} walkers are worth {1.0 / self._inverse_size:.0f} "
                f"independent points after round {t}; take more walkers or more steps",
                IntegrationWarning,
                stacklevel=3,
            )
        self._warned = few

    def quantiles(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the positions of fresh points that are uniform by volume."""
        rng = np.random.default_rng(0)  # measuring must not change what the learner draws
        return self.positions_at(self._domain.sample(_QUANTILE_POINTS, rng)), None

    def lowest(self) -> float:
        """Return the lowest position of a walker or of a uniform point."""
        return min(super().lowest(), float(self.positions_at(self.points).min()))

    def get_state(self) -> Content:
        """Return walkers, the sum of the losses, and the state of the generator."""
        return {
            "walkers": self.points,
            "total": self.total.get_state(),
            "learner_total": self._learner_total,
            "inverse_size": self._inverse_size,
            "warned": self._warned,
            "generator": self._rng.bit_generator.state,
        }

    def set_state(self, state: Content) -> None:
        """Take over walkers that stand in the set."""
        points = as_floats("walkers", state["walkers"])
        if not self._domain.contains(points).all():
            raise ValueError("walkers must all stand in the set")
        total = LossTotal.from_state(state["total"], self._domain.n_coordinates)
        learner_total = check_number("learner_total", state["learner_total"])
        inverse_size = check_positive("inverse_size", state["inverse_size"])
        warned = check_flag("warned", state["warned"])
        OBJECT.check("generator", state["generator"])
        self._rng = put_back(self._rng, state["generator"])
        self.points, self.total, self._learner_total = points, total, learner_total
        self._inverse_size, self._warned = inverse_size, warned

    def _scaled(self, totals: FloatArray) -> FloatArray:
        return (totals - self._learner_total) / self._units.width

    def _draw_again(self, ratios: FloatArray) -> None:
        """Draw the walkers in proportion to ``ratios``, systematically."""
        n = ratios.size
        ratios = np.where(np.isfinite(ratios), ratios, 0.0)  # 0/0: dead before and dead now
        mass = total(ratios)
        if mass == 0.0:
            return  # all weights are zero; the walk begins from where the walkers stand
        p = ratios / mass
        self._inverse_size *= n * dot(p, p)
        heights = np.cumsum(p)
        marks = (np.arange(n) + self._rng.random()) / n * heights[-1]
        chosen = np.minimum(np.searchsorted(heights, marks, side="right"), n - 1)
        self.points = self.points[chosen]
        self._inverse_size += 1.0 / np.unique(chosen).size - 1.0 / n

    def _walk(self, t: int) -> None:
        start = self.points
        n = start.shape[0]
        steps = self._strategy.n_steps
        for _ in range(4 + 2 * self._domain.dimension if steps is None else steps):
            self._step(t)
        rho = _correlation(start, self.points)
        self._inverse_size = rho**2 * self._inverse_size + (1.0 - rho**2) / n

    def _step(self, t: int) -> None:
        """Move every walker along a random chord, to a point as high as a random part of its own.

        The chord shrinks towards the walker until a drawn point is high enough.
        """
        n = self.points.shape[0]
        directions = self._domain.directions(n, self._rng)
        low, high = self._domain.chords(self.points, directions)
        along = self.total.along(self.points, directions)
        rows = np.arange(n)
        here = self._scaled(along(np.zeros(n), rows))
        heights = self._rng.random((n,))
        dead = not self._potential.weights(here, t).any()  # then the density is uniform
        steps = np.zeros(n)
        while rows.size:
            tried = low[rows] + (high[rows] - low[rows]) * self._rng.random(rows.size)
            there = self._scaled(along(tried, rows))
            both = self._potential.weights(np.concatenate([here[rows], there]), t)
            own, new = np.split(both, 2)
            # a walker of weight zero may step to any point that weighs as much or more
            good = (new >= heights[rows] * own) & ((new > 0) | (own == 0)) | dead
            steps[rows[good]] = tried[good]
            left = tried < 0
            low[rows[left]], high[rows[~left]] = tried[left], tried[~left]
            rows = rows[~good]
        self.points = self.points + steps[:, np.newaxis] * directions


def _correlation(before: FloatArray, after: FloatArray) -> float:
    """Return the highest correlation of a coordinate, at least 0; 1 if one stands still."""
    rows = (np.ascontiguousarray(points.T) for points in (before, after))
    before, after = (each - each.mean(axis=1, keepdims=True) for each in rows)
    scales = np.sqrt((before**2).sum(axis=1) * (after**2).sum(axis=1))
    moving = scales > 0
    products = (before * after).sum(axis=1)
    each = np.divide(products, scales, out=np.ones_like(scales), where=moving)
    return float(np.clip(each.max(), 0.0, 1.0))
