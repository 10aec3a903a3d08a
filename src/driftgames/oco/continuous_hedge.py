"""Hedge with infinitely many actions: one chip for every point of a convex set."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np

from driftgames._kernels.ranges import all_inside
from driftgames._kernels.sums import dot
from driftgames.core.checks import as_floats, check_kind, check_range, shown
from driftgames.core.generators import RandomState, seed_of
from driftgames.core.schema import PAIR, Requirement, Schema, integer, made_as
from driftgames.core.typing import Content, FloatArray
from driftgames.core.units import Units
from driftgames.oco.continuous_certificate import ContinuousCertificate
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.hit_and_run import HitAndRun
from driftgames.oco.integration import FixedPopulation, Grid, Integration, Points, Precision
from driftgames.oco.learner import ConvexLearner
from driftgames.oco.loss_total import lowest_total
from driftgames.oco.losses import Loss, LossFunction
from driftgames.oco.polytope import Polytope
from driftgames.potentials import NormalHedgeDT, Potential

_ROUNDING = 1e-9  # relative to the range of the losses
_N_PROBES = 64


class ContinuousHedge(ConvexLearner[LossFunction, ContinuousCertificate]):
    r"""The general algorithm for online convex optimization.

    .. math:: p_t(x) \propto \Phi_t(s_{t-1}(x) - 1) - \Phi_t(s_{t-1}(x) + 1), \qquad
              x_t = \mathbf{E}_{x\sim p_t}[x], \qquad
              s_t(x) = s_{t-1}(x) + f_t(x) - f_t(x_t)

    Every point of a convex set is a chip, and the learner plays the mean of the density. By
    convexity its loss is at most the mean of the losses, and the theory needs no more than
    that. With NormalHedge.DT there is nothing to tune. [LS14, Alg. 5]

    Parameters
    ----------
    domain : ConvexSet
        `Interval`, `Box`, `Simplex`, `Ball` or `Polytope`.
    potential : Potential
        Any potential. Default: `NormalHedgeDT`.
    integration : Integration, optional
        `Grid`, `Points` or `HitAndRun`. Default: a grid up to dimension two; beyond it, points
        where the set has a map from the cube, and else hit-and-run. In many dimensions no
        number of chips is enough: see `CoinBetting`.
    loss_range : (float, float)
        Where losses lie; only the width matters.
    random_state : int, Generator or None
        The seed of the scrambling of points and of the walks.

    Notes
    -----
    A loss outside its range is refused, and so is a loss that fails a test of convexity. Both
    leave the learner as it was. The tests are on segments between random points, and on the
    chips: the mean of their losses must not lie below the loss of their mean.

    Examples
    --------
    >>> from driftgames.oco import Interval, LinearLoss
    >>> learner = ContinuousHedge(Interval(0.0, 1.0))
    >>> for _ in range(100):
    ...     learned = learner.update(LinearLoss([1.0]))
    >>> learner.predict().round(3)
    array([0.014])
    >>> learner.certificate().holds
    True
    """

    VERSION: ClassVar[int] = 3
    _named_arguments: ClassVar[Schema] = {
        **ConvexLearner._named_arguments,
        "potential": made_as(Potential),
        "integration": made_as(Integration),
        "random_state": integer(0),
    }

    def __init__(
        self,
        domain: ConvexSet,
        potential: Potential | None = None,
        *,
        integration: Integration | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(domain)
        self._potential = NormalHedgeDT() if potential is None else potential
        self._integration = _default_for(domain) if integration is None else integration
        check_kind("potential", self._potential, Potential)
        check_kind("integration", self._integration, Integration)
        self._units = Units.of(loss_range)
        self._random_state = seed_of(random_state)
        rng = np.random.default_rng(self._random_state)
        probing, rng = rng.spawn(2)
        self._population = self._integration.populate(domain, self._potential, self._units, rng)
        self._probes = _probes(domain, probing)

    # ---------------------------------------------------------------- playing

    @property
    def title(self) -> str:
        """The potential and the kind of set."""
        return f"{self._potential.title} on a {type(self._domain).__name__.lower()}"

    def predict(self) -> FloatArray:
        """Return the point for the next round: the mean of the density."""
        return self._population.mean(self._t + 1)

    def update(self, loss: LossFunction) -> float:
        """Take the loss function of a round and return the learner's own loss.

        `HitAndRun` keeps a Python function and calls it again in later rounds, so it must bind
        what it depends on: ``lambda x, y=y: f(x, y)``. With ``lambda x: f(x, y)`` in a loop,
        all rounds would follow the last ``y``.
        """
        if not callable(loss):
            raise ValueError(f"a loss must be a function of points; got {shown(loss)}")
        chips, to_game = self._population, self._units.to_game
        # fixed chips call no loss while they move, so they cannot fail
        fixed = isinstance(chips, FixedPopulation)
        with self._lock:
            point = self.predict()
            values, own = self._evaluate(loss, point)
            with nullcontext() if fixed else self._all_or_nothing():
                chips.move(loss, to_game(values), to_game(own), self._t + 1)
            self._t += 1
            self._learner_loss += own
        return own

    @property
    def points(self) -> FloatArray:
        """Where the chips are."""
        return self._population.points

    @property
    def positions(self) -> FloatArray:
        """Each chip's total loss less the learner's, on [0, 1] per round.

        With hit-and-run, these are the positions of points that are drawn uniformly now.
        """
        return self._population.quantiles()[0].copy()

    def precision(self) -> Precision:
        """Return how well the next prediction is integrated."""
        return self._population.precision(self._t + 1)

    def certificate(self) -> ContinuousCertificate:
        """Return epsilon-regret and regret beside what the chips promise. [LS14, Thm. 6]

        The regret is to the best point of the set if all losses were those of the library. If
        some were functions, that point is not known: the regret is then to the best chip, and
        nothing is said of Theorem 6.
        """
        positions, prior = self._population.quantiles()
        total, width = self._population.total, self._units.width
        if total.is_known:
            lowest = (lowest_total(total, self._domain).floor - self._learner_loss) / width
        else:
            lowest = self._population.lowest()
        return ContinuousCertificate.of_run(
            self.title,
            self._t,
            positions,
            prior,
            self._potential,
            self._domain.dimension,
            width,
            lowest=lowest,
            over_the_set=total.is_known,
            integral=self._population.integral,
        )

    # ---------------------------------------------------------------- state

    def content(self) -> Content:
        """Return arguments and state as JSON.

        Fixed chips are held by their positions, after any losses. Walkers are held with the sum
        of all losses, and a file cannot hold a Python function.
        """
        if kept := len(self._population.total.functions):
            raise ValueError(
                f"{kept} losses are Python functions, which no file can hold; use LinearLoss, "
                "QuadraticLoss or LogWealthLoss, or integrate with Grid or Points"
            )
        return super().content()

    def _arguments(self) -> Content:
        return {**super()._arguments(), "loss_range": [self._units.low, self._units.high]}

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        domain, integration = arguments.get("domain"), arguments.get("integration")
        n_chips = n_coordinates = None
        if isinstance(integration, Integration) and isinstance(domain, ConvexSet):
            n_chips, n_coordinates = integration.count(domain), domain.n_coordinates

        population = Requirement(
            "an object with a total", lambda v: _has_sizes(v, n_chips, n_coordinates)
        )
        return {**ours, "loss_range": PAIR}, {**state, "population": population}

    def _get_own_state(self) -> Content:
        return {"population": self._population.get_state()}

    def _set_own_state(self, state: Content) -> None:
        self._population.set_state(state["population"])

    # ---------------------------------------------------------------- checking

    def _evaluate(self, loss: LossFunction, point: FloatArray) -> tuple[FloatArray, float]:
        """Return the losses of the chips and of the learner, both checked."""
        low, high = self._units.low, self._units.high
        asked = self._population.with_point(point)
        n, is_known = asked.shape[0] - 1, isinstance(loss, Loss)
        if not is_known:  # one call, so that a slow function pays its overhead once
            asked = np.concatenate([asked, *self._probes])
        values = as_floats("losses", loss(asked))
        if values.shape != (asked.shape[0],):
            raise ValueError(
                f"a loss must return one value per row, shape ({asked.shape[0]},); "
                f"got shape {values.shape}"
            )
        spare = _ROUNDING * self._units.width
        if not all_inside(values, low - spare, high + spare):
            check_range("losses", values, low, high)
        own = float(values[n])
        if not is_known:
            self._check_convex(values, n, spare)
        return values[:n], own

    def _check_convex(self, values: FloatArray, n: int, spare: float) -> None:
        left, middle, right = values[n + 1 :].reshape(3, -1)
        excess = middle - (left + right) / 2
        worst = int(np.argmax(excess))
        if excess[worst] > spare:
            at = [probes[worst] for probes in self._probes]
            raise ValueError(
                f"the loss is not convex: it is {middle[worst]:g} at {at[1]}, halfway between "
                f"{left[worst]:g} at {at[0]} and {right[worst]:g} at {at[2]}"
            )
        population = self._population
        if isinstance(population, FixedPopulation):
            mean = dot(population.distribution(self._t + 1), values[:n])
            if values[n] > mean + spare:
                raise ValueError(
                    f"the loss is not convex: it is {values[n]:g} at the mean of the density, "
                    f"above its mean {mean:g}"
                )


def _has_sizes(population: Any, n_chips: int | None, n_coordinates: int | None) -> bool:
    """Whether this is the state of a population; a wrong size is a ValueError that names it."""
    if not isinstance(population, dict) or not isinstance(population.get("total"), dict):
        return False
    gradient = np.shape(population["total"].get("gradient", ()))
    if n_coordinates is not None and gradient != (n_coordinates,):
        found = gradient[0] if len(gradient) == 1 else gradient
        raise ValueError(f"losses must be of {n_coordinates} coordinates; got {found}")
    for name, shape in (("positions", (n_chips,)), ("walkers", (n_chips, n_coordinates))):
        found = np.shape(population.get(name, ()))
        if name in population and n_chips is not None and found != shape:
            raise ValueError(f"{name} must be of shape {shape}; got {found}")
    return True


def _default_for(domain: ConvexSet) -> Integration:
    if domain.dimension <= 2:
        return Grid()
    return HitAndRun() if isinstance(domain, Polytope) and not domain.has_map else Points()


def _probes(domain: ConvexSet, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Return the beginnings, middles and ends of segments of every length in the set."""
    left, right = domain.sample(_N_PROBES, rng), domain.sample(_N_PROBES, rng)
    right = left + rng.random((_N_PROBES, 1)) ** 2 * (right - left)
    return left, (left + right) / 2, right
