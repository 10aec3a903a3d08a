"""Hedge with infinitely many actions: one chip for every point of a convex set."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from driftgames._kernels.sums import dot
from driftgames.core.checks import (
    as_floats,
    check_integer,
    check_interval,
    check_number,
    check_range,
)
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.typing import FloatArray
from driftgames.oco.certificate import ContinuousCertificate
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.description import describe, restore
from driftgames.oco.hit_and_run import HitAndRun
from driftgames.oco.integration import FixedPopulation, Grid, Integration, Points, Precision
from driftgames.oco.losses import Loss, LossFunction
from driftgames.oco.lowest_total import lowest_total
from driftgames.oco.polytope import Polytope
from driftgames.potentials import NormalHedgeDT, Potential
from driftgames.potentials.describe import describe_potential, restore_potential

VERSION = 2
KIND = "driftgames.ContinuousHedge"

_ROUNDING = 1e-9  # relative to the range of the losses
_N_PROBES = 64


class ContinuousHedge:
    r"""The general algorithm for online convex optimization.

    .. math:: p_t(x) \propto \Phi_t(s_{t-1}(x) - 1) - \Phi_t(s_{t-1}(x) + 1), \qquad
              x_t = \mathbf{E}_{x\sim p_t}[x], \qquad
              s_t(x) = s_{t-1}(x) + f_t(x) - f_t(x_t)

    Every point of a convex set is a chip, and the learner plays the mean of the density. Its
    loss is that of the point it played, which convexity keeps below the mean of the losses;
    that is all the theory needs. With NormalHedge.DT there is nothing to tune. [LS14, Alg. 5]

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
    random_state : int
        Of the scrambling of points and of the walks.

    Notes
    -----
    A loss outside its range, or one that is seen not to be convex, is refused and leaves the
    learner as it was. Convexity is seen on segments between random chips, and in the losses of
    all chips: their mean must not lie below the loss of the mean.

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

    def __init__(
        self,
        domain: ConvexSet,
        potential: Potential | None = None,
        *,
        integration: Integration | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        random_state: int = 0,
    ) -> None:
        _check_kind("domain", domain, ConvexSet)
        self._domain = domain
        self._potential = NormalHedgeDT() if potential is None else potential
        self._integration = _default_for(domain) if integration is None else integration
        _check_kind("potential", self._potential, Potential)
        _check_kind("integration", self._integration, Integration)
        self._low, self._high = check_interval("loss_range", loss_range)
        self._random_state = check_integer("random_state", random_state, least=0)
        rng = np.random.default_rng(self._random_state)
        probing, rng = rng.spawn(2)
        self._population = self._integration.populate(
            domain, self._potential, (self._low, self._high), rng
        )
        self._probes = _probes(domain, probing)
        self._t = 0
        self._learner_loss = 0.0

    # ---------------------------------------------------------------- playing

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
            raise ValueError(f"a loss must be a function of points; got {loss!r}")
        point = self.predict()
        values, own = self._evaluate(loss, point)
        width = self._high - self._low
        self._population.move(
            loss, (values - self._low) / width, (own - self._low) / width, self._t + 1
        )
        self._t += 1
        self._learner_loss += own
        return own

    @property
    def t(self) -> int:
        """How many rounds were played."""
        return self._t

    @property
    def learner_loss(self) -> float:
        """The learner's total loss."""
        return self._learner_loss

    @property
    def points(self) -> FloatArray:
        """Where the chips are."""
        return self._population.points

    @property
    def positions(self) -> FloatArray:
        """Each chip's total loss less the learner's, on [0, 1] per round.

        With hit-and-run, those of points drawn uniformly for the occasion.
        """
        return self._population.quantiles()[0].copy()

    def precision(self) -> Precision:
        """Return how well the next prediction is integrated."""
        return self._population.precision(self._t + 1)

    def run(self, losses: Iterable[LossFunction]) -> FloatArray:
        """Take one loss function per round and return the learner's own losses."""
        return np.array([self.update(loss) for loss in losses], dtype=np.float64)

    def certificate(self) -> ContinuousCertificate:
        """Return epsilon-regret and regret beside what the chips promise. [LS14, Thm. 6]

        The regret is to the best point of the set where that can be worked out: after losses
        of the library, or none.
        """
        positions, prior = self._population.quantiles()
        total, width = self._population.total, self._high - self._low
        if total.is_known:
            lowest = (lowest_total(total, self._domain).floor - self._learner_loss) / width
        else:
            lowest = self._population.lowest()
        return ContinuousCertificate.of_run(
            f"{type(self._potential).__name__} on a {type(self._domain).__name__.lower()}",
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

    # ---------------------------------------------------------------- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a JSON document, atomically.

        Fixed chips are saved by their positions, whatever the losses were, with the sum of
        the losses that are no functions. Walkers are saved with the sum of all losses, which
        functions cannot be part of.
        """
        content = {
            "domain": describe(self._domain),
            "potential": describe_potential(self._potential),
            "integration": describe(self._integration),
            "loss_range": [self._low, self._high],
            "random_state": self._random_state,
            "t": self._t,
            "learner_loss": self._learner_loss,
            "population": self._population.content(),
        }
        write_document(path, KIND, VERSION, content)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        domain: ConvexSet | None = None,
        potential: Potential | None = None,
        integration: Integration | None = None,
    ) -> ContinuousHedge:
        """Return the learner that was saved at ``path``; it goes on to the same bits.

        A ``domain``, ``potential`` or ``integration`` of your own, which a file cannot hold,
        is given again.
        """
        content = read_document(path, KIND, VERSION)
        try:
            learner = cls(
                restore(content["domain"], "domain", domain),
                restore_potential(content["potential"], potential),
                integration=restore(content["integration"], "integration", integration),
                loss_range=tuple(content["loss_range"]),
                random_state=content["random_state"],
            )
            learner._t = check_integer("t", content["t"], least=0)
            learner._learner_loss = check_number("learner_loss", content["learner_loss"])
            learner._population.take(content["population"])
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentError(f"{path}: not a whole ContinuousHedge: {error}") from error
        return learner

    # ---------------------------------------------------------------- checking

    def _evaluate(self, loss: LossFunction, point: FloatArray) -> tuple[FloatArray, float]:
        """Return the losses of the chips and of the learner, both checked."""
        points = self._population.points
        n = points.shape[0]
        if isinstance(loss, Loss):
            values = np.append(loss(points), loss(point[np.newaxis]))
        else:
            # one call, so that a slow function pays its overhead once
            asked = np.concatenate([points, point[np.newaxis], *self._probes])
            values = as_floats("losses", loss(asked))
            if values.shape != (asked.shape[0],):
                raise ValueError(
                    f"a loss must return one value per row, shape ({asked.shape[0]},); "
                    f"got shape {values.shape}"
                )
        spare = _ROUNDING * (self._high - self._low)
        if not ((values >= self._low - spare) & (values <= self._high + spare)).all():
            check_range("losses", values, self._low, self._high)
        own = float(values[n])
        if not isinstance(loss, Loss):
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


def _default_for(domain: ConvexSet) -> Integration:
    if domain.dimension <= 2:
        return Grid()
    return HitAndRun() if isinstance(domain, Polytope) and not domain.has_map else Points()


def _check_kind(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be of kind {kind.__name__}; got {value!r}")


def _probes(domain: ConvexSet, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Return the beginnings, middles and ends of segments of every length in the set."""
    left, right = domain.sample(_N_PROBES, rng), domain.sample(_N_PROBES, rng)
    right = left + rng.random((_N_PROBES, 1)) ** 2 * (right - left)
    return left, (left + right) / 2, right
