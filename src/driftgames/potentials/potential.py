"""The base class of potentials, their registry, and how weights become a distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import normalise as normalise_in_place
from driftgames._kernels.sums import total
from driftgames.core.checks import (
    check_fractions,
    check_horizons,
    check_integer,
    check_vector,
    shown,
)
from driftgames.core.description import Describable
from driftgames.core.typing import Figure, FloatArray

POTENTIALS: dict[str, Callable[[int | None, float], Potential]] = {}
"""Name to ``factory(horizon, epsilon)``, as `Potential.for_game` describes it.

A potential with a ``registry_name`` enters itself when its class is defined. Every theorem test
runs on every entry.
"""


class NoBoundError(ValueError):
    """No bound is known for this potential; the message says why."""


class Potential(Describable, ABC):
    r"""A family of functions: the cost of a chip at position ``s`` after round ``t``.

    .. math:: \Phi_t(s) \text{ convex, nonincreasing, nonnegative},
              \qquad \Phi_t(s-1) + \Phi_t(s+1) \le 2\,\Phi_{t-1}(s)

    The player gives a chip the weight :math:`\tfrac12(\Phi_t(s-1) - \Phi_t(s+1))`. The sum of
    potentials over the chips then never rises, for any adversary. Every bound of the library
    follows from this. [LS14, Alg. 3, Thm. 2]

    A subclass must define `value`; the other methods have defaults that use it. It should
    override `weights` where the difference cancels, and `bound` where there is a formula. A
    subclass with a ``registry_name`` enters itself in `POTENTIALS`, and a frozen dataclass is
    saved and loaded by its fields, also when it is defined outside the library.

    Notes
    -----
    A constant factor of a potential changes no decision, so the factors ``a`` and
    ``exp(-eta R)`` of the paper are left out. The horizon then enters as a term that all chips
    share. `value` takes it as ``horizon``, and the weights do not depend on it.
    """

    adaptive: ClassVar[bool]
    """Whether the weights need neither the horizon nor epsilon."""

    registry_name: ClassVar[str | None] = None
    """The name in `POTENTIALS`. Default: None, no entry."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        name = vars(cls).get("registry_name")  # a subclass does not inherit its parent's entry
        if name is not None:
            POTENTIALS[name] = cls.for_game

    @classmethod
    def for_game(cls, horizon: int | None, epsilon: float) -> Potential:
        """Return the potential for a game of ``horizon`` rounds and for the epsilon-regret.

        An adaptive potential needs neither. ``horizon`` is None where it is unknown.
        """
        return cls()

    @property
    def title(self) -> str:
        """The name of the algorithm that this potential gives."""
        return str(self)

    @abstractmethod
    def value(
        self,
        positions: npt.ArrayLike,
        t: int,
        *,
        horizon: int | None = None,
        log_scale: float = 0.0,
    ) -> FloatArray:
        """Return ``Phi_t(s) * exp(-log_scale)`` for a game of ``horizon`` rounds.

        The default ``horizon`` is ``t``: the game ends after this round. A ``log_scale``
        keeps far positions from overflowing.
        """

    @property
    def last_round(self) -> float:
        """The last round for which the weights are defined. Default: infinity."""
        return np.inf

    def log_scale(self, positions: npt.ArrayLike, t: int) -> float:
        """Return the logarithm of the largest term in the weights of these chips.

        The parts of a population have comparable weights if all use the largest of their
        log-scales.
        """
        return 0.0

    def weights(
        self, positions: npt.ArrayLike, t: int, log_scale: float | None = None
    ) -> FloatArray:
        """Return ``(Phi_t(s - 1) - Phi_t(s + 1)) / 2 * exp(-log_scale)``.

        The default ``log_scale`` is that of these positions.
        """
        s = check_vector("positions", positions)
        if not s.size:
            raise ValueError("positions must be those of at least one chip; got none")
        scale = self.log_scale(s, t) if log_scale is None else log_scale
        return (self.value(s - 1, t, log_scale=scale) - self.value(s + 1, t, log_scale=scale)) / 2

    def distribution(
        self, positions: npt.ArrayLike, t: int, prior: FloatArray | None = None
    ) -> FloatArray:
        """Return the distribution that Algorithm 3 plays in round ``t``. [LS14, Alg. 3]

        ``prior`` is the share of each chip in the population. Default: uniform. If all
        weights are zero, the prior is played.
        """
        if prior is None:
            return normalise(self.weights(positions, t))
        prior = check_vector("prior", prior)
        if not ((prior >= 0).all() and (prior > 0).any()):
            raise ValueError(f"prior must be nonnegative and not all zero; got {shown(prior)}")
        s = check_vector("positions", positions, prior.size)
        # a chip of share 0 must not set the scale of the weights
        s = np.where(prior > 0, s, s[prior > 0].max())
        return normalise(self.weights(s, t) * prior, prior)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return the bound on the epsilon-regret after ``horizon`` rounds.

        .. math:: R = \min\{R : \Phi_T(-R) \ge \Phi_0(0) / \epsilon\}

        Both arguments may be arrays; they broadcast. Where some horizons have a bound and others
        have none, the latter are infinite. A potential that is not the library's own is checked
        first, and one that fails has no bound: `check_potential`. [LS14, Thm. 2]
        """
        from driftgames.potentials.conditions import require_potential  # it needs this class

        require_potential(self, horizon)
        horizons, epsilons = np.broadcast_arrays(
            check_horizons(horizon), check_fractions("epsilon", epsilon)
        )
        solved, missing = np.full(horizons.shape, np.inf), []
        for t in (distinct := np.unique(horizons).tolist()):
            try:
                solved[horizons == t] = self._solve_bounds(t, epsilons[horizons == t])
            except NoBoundError as error:
                missing.append(error)
        if missing and len(missing) == len(distinct):
            raise missing[-1]
        return solved

    def plot(self, times: Sequence[int] = (4, 25, 100)) -> Figure:
        r"""Draw :math:`\Phi_t(s)` after some rounds, and the weights of these rounds below.

        The last of ``times`` is the horizon, unless the potential was made for one. A curve covers
        the positions that coins would reach, and the weights of a round are relative to the largest
        of them: a factor of a round changes no decision.

        >>> from driftgames.potentials import NormalHedgeDT
        >>> figure = NormalHedgeDT().plot(times=(10, 100))
        >>> [axes.get_ylabel() for axes in figure.axes]
        ['potential', 'weight, relative']
        """
        from driftgames.plots.potential import plot_potential

        rounds = [check_integer("times", t, least=1) for t in times]
        if not rounds:
            raise ValueError("times must name at least one round; got none")
        end = int(self.last_round) if np.isfinite(self.last_round) else max(rounds)
        values, weights = {}, {}
        for t in rounds:
            before, after = self._drawn_positions(t - 1), self._drawn_positions(t)
            values[f"t = {t}"] = after, self.value(after, t, horizon=end)
            heavy = self.weights(before, t)
            weights[f"t = {t}"] = before, heavy / (float(heavy.max()) or 1.0)
        return plot_potential(values, weights, title=self.title)

    def _drawn_positions(self, t: int) -> FloatArray:
        """Return positions for a curve: as far as coins may move a chip in ``t`` rounds."""
        reach = min(2.5 * t**0.5, float(t))
        return np.linspace(-reach, reach / 2, 300)

    def hedge_bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return a bound for losses in [0, 1]. Default: `bound`, which allows moves in [-1, 1]."""
        return self.bound(horizon, epsilon)

    def _solve_bounds(self, horizon: int, epsilons: FloatArray) -> FloatArray:
        """Return the bound of each epsilon; a step cuts all brackets into 16 or 256 parts."""
        needed = self.value(np.zeros(1), 0, horizon=horizon)[0] / epsilons

        def final(regrets: FloatArray) -> FloatArray:
            return self.value(-regrets.ravel(), horizon, horizon=horizon).reshape(regrets.shape)

        tried, reached = [0.0], [final(np.zeros(1))[0]]
        # regret cannot exceed the number of rounds
        while reached[-1] < needed.max(initial=0.0) and 2 * tried[-1] <= 4 * horizon:
            tried.append(max(1.0, 2 * tried[-1]))
            reached.append(final(np.array(tried[-1:]))[0])
        steps = (np.array(reached)[:, np.newaxis] < needed).sum(axis=0)
        ends = np.array([0.0, *tried, np.inf])
        low, high = ends[steps], ends[steps + 1]
        inside = (low < high) & (high < np.inf)
        bits = 8 if needed.size < 16 else 4
        parts, rows = np.arange(2**bits + 1) / 2**bits, np.arange(np.count_nonzero(inside))
        for _ in range(64 // bits if rows.size else 0):
            cuts = low[inside, np.newaxis] + (high - low)[inside, np.newaxis] * parts
            short = (final(cuts[:, 1:-1]) < needed[inside, np.newaxis]).sum(axis=1)
            low[inside], high[inside] = cuts[rows, short], cuts[rows, short + 1]
        return high


def normalise(weights: FloatArray, prior: FloatArray | None = None) -> FloatArray:
    """Return weights as a distribution; if all are zero, the prior (default: uniform).

    >>> normalise(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    >>> normalise(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    p = np.array(check_vector("weights", weights))
    if prior is not None:
        prior = check_vector("prior", prior)
        if prior.shape != p.shape:
            raise ValueError(f"prior must be of shape {p.shape}; got shape {prior.shape}")
    normalise_in_place(p, total(p), prior)
    return p
