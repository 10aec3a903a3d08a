"""What a potential is, and the one place that says how weights become a distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import normalise as normalise_in_place
from driftgames._kernels.sums import total
from driftgames.core.checks import check_fractions, check_horizons, check_vector
from driftgames.core.description import Describable
from driftgames.core.typing import FloatArray


class NoBoundError(ValueError):
    """The paper promises nothing for this potential; the message says why."""


class Potential(Describable, ABC):
    r"""A family of functions that says how bad it is to stand at ``s`` after round ``t``.

    .. math:: \Phi_t(s) \text{ convex, nonincreasing, nonnegative},
              \qquad \Phi_t(s-1) + \Phi_t(s+1) \le 2\,\Phi_{t-1}(s)

    The player weighs a chip by :math:`\tfrac12(\Phi_t(s-1) - \Phi_t(s+1))`; the sum of
    potentials over the chips then never rises, whatever the adversary does, and that is what
    every bound of the library rests on. [LS14, Alg. 3, Thm. 2]

    A subclass must give `value`; the rest follows from it. It should override `weights` where
    the difference cancels, and `bound` where there is a formula.

    Notes
    -----
    A potential matters up to a constant factor only, so the factors ``a`` and ``exp(-eta R)``
    of the paper are left out. What remains of the horizon is a term that all chips share;
    `value` takes it as ``horizon`` and the weights do not depend on it.
    """

    adaptive: ClassVar[bool]
    """Whether the weights need neither the horizon nor epsilon."""

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

        ``horizon`` is ``t`` unless given: the potential as if the game ended now. A
        ``log_scale`` keeps far positions from overflowing.
        """

    @property
    def last_round(self) -> float:
        """The last round that it has weights for: infinite, unless made for a horizon."""
        return np.inf

    def log_scale(self, positions: npt.ArrayLike, t: int) -> float:
        """Return the logarithm of the largest term in the weights of these chips.

        Shards of one population weigh alike when they share the largest of their log-scales.
        """
        return 0.0

    def weights(
        self, positions: npt.ArrayLike, t: int, log_scale: float | None = None
    ) -> FloatArray:
        """Return ``(Phi_t(s - 1) - Phi_t(s + 1)) / 2 * exp(-log_scale)``.

        Without a ``log_scale`` the weights are relative to the chips' own.
        """
        s = check_vector("positions", positions)
        scale = self.log_scale(s, t) if log_scale is None else log_scale
        return (self.value(s - 1, t, log_scale=scale) - self.value(s + 1, t, log_scale=scale)) / 2

    def distribution(
        self, positions: npt.ArrayLike, t: int, prior: FloatArray | None = None
    ) -> FloatArray:
        """Return what the player of Algorithm 3 plays in round ``t``.

        ``prior`` is the share of each chip in the population, uniform unless given. Where all
        weights are zero every chip is safe and the prior itself is played.
        """
        if prior is None:
            return normalise(self.weights(positions, t))
        s = check_vector("positions", positions, prior.size)
        # a chip of no mass is not there, so it must not set the scale of the others' weights
        s = np.where(prior > 0, s, s[prior > 0].max())
        return normalise(self.weights(s, t) * prior, prior)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return the bound on the epsilon-regret after ``horizon`` rounds.

        .. math:: R = \min\{R : \Phi_T(-R) \ge \Phi_0(0) / \epsilon\}

        Both arguments may be arrays; they broadcast. [LS14, Thm. 2]
        """
        horizons, epsilons = np.broadcast_arrays(
            check_horizons(horizon), check_fractions("epsilon", epsilon)
        )
        solved = [
            self._solve_bound(int(t), float(e))
            for t, e in zip(horizons.flat, epsilons.flat, strict=True)
        ]
        return np.reshape(solved, horizons.shape)

    def _solve_bound(self, horizon: int, epsilon: float) -> float:
        from scipy.optimize import brentq

        needed = float(self.value(np.zeros(1), 0, horizon=horizon)[0]) / epsilon

        def short_of(regret: float) -> float:
            return float(self.value(np.array([-regret]), horizon, horizon=horizon)[0]) - needed

        high = 1.0
        while short_of(high) < 0:
            high *= 2
            if high > 4 * horizon:  # regret cannot exceed the number of rounds
                return np.inf
        return 0.0 if short_of(0.0) >= 0 else float(brentq(short_of, 0.0, high, xtol=1e-12))


def normalise(weights: FloatArray, prior: FloatArray | None = None) -> FloatArray:
    """Return weights as a distribution: the prior (else the uniform one) where all are zero.

    >>> normalise(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    >>> normalise(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    p = np.array(weights, dtype=np.float64)
    normalise_in_place(p, total(p), prior)
    return p
