"""The potential of NormalHedge.DT, which also gives NH-Boost.DT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import fma, lesser
from driftgames._kernels.chips import Theta
from driftgames._kernels.elementary import exp, exp_all, expm1, expm1_all, sinh
from driftgames._kernels.jit import scalar
from driftgames.core.checks import (
    as_floats,
    check_fractions,
    check_horizons,
    check_integer,
    check_positive,
)
from driftgames.core.typing import FloatArray
from driftgames.potentials.base import NoBoundError
from driftgames.potentials.compiled import CompiledPotential, Kernels, compile_kernels


@dataclass(frozen=True)
class NormalHedgeDT(CompiledPotential):
    r"""Potential of NormalHedge.DT: adaptive, without parameters.

    .. math:: \Phi_t(s) = e^{[s]_-^2 / (d t)} - b_t, \qquad [s]_- = \min(s, 0), \qquad
              b_t = 1 - \tfrac12 \sum_{\tau=t+1}^{T} \bigl(e^{4/(d\tau)} - 1\bigr)

    and :math:`\Phi_0 \equiv 1 - b_0`. A chip at ``s >= 1`` weighs exactly zero, which lets
    `NHBoostDTClassifier` skip examples. [LS14, Lem. 2, Cor. 2]

    Parameters
    ----------
    d : float
        The bound holds from 3 on, where it is also at its best; below 3 the weights are still
        defined and `bound` says that nothing is promised.
    lag : int
        How many rounds the clock in the exponent runs behind: ``d (t - lag)`` stands for
        ``d t``, and while it is zero the potential is flat, so that all chips weigh alike.
        ``NormalHedgeDT(d=4, lag=1)`` gives the published experiments of NH-Boost.DT to the
        digit. Lemma 2 covers ``lag=0`` alone.

    Examples
    --------
    >>> NormalHedgeDT().distribution([-2.0, 0.0, 1.0], t=4)
    array([0.9221987, 0.0778013, 0.       ])
    >>> round(float(NormalHedgeDT().bound(1000, 0.01)), 2)
    138.64
    """

    d: float = 3.0
    lag: int = 0

    adaptive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", check_positive("d", self.d))
        object.__setattr__(self, "lag", check_integer("lag", self.lag, least=0))

    def value(
        self,
        positions: npt.ArrayLike,
        t: int,
        *,
        horizon: int | None = None,
        log_scale: float = 0.0,
    ) -> FloatArray:
        """Return ``Phi_t(s) * exp(-log_scale)``."""
        one_less_b = 0.0 if horizon is None else float(self.one_less_b(horizon, since=t))
        exponents = self._exponent(as_floats("positions", positions), t)
        if log_scale == 0.0:
            return expm1_all(exponents) + one_less_b
        return exp_all(exponents - log_scale) + (one_less_b - 1.0) * exp(-log_scale)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`\sqrt{d T \ln((1 - b_0)/\epsilon + 1)}`.

        It is exact where the printed Corollary 2, `certificates.bounds.corollary_2`, bounds
        ``1 - b_0`` by a logarithm. [LS14, Lem. 2, Cor. 2]
        """
        rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
        if self.d < 3:
            raise NoBoundError(f"no bound is known for d < 3 (Lemma 2 needs d >= 3); got {self.d}")
        if self.lag > 0:
            raise NoBoundError(f"no bound is known for a clock that lags (Lemma 2); got {self.lag}")
        return np.asarray(np.sqrt(self.d * rounds * np.log1p(self.one_less_b(rounds) / epsilons)))

    def one_less_b(self, horizon: npt.ArrayLike, since: int = 0) -> FloatArray:
        r"""Return :math:`\tfrac12\sum_{\tau=t+1}^{T}(e^{4/(d\tau)} - 1)`, where ``t = since``."""
        rounds = np.asarray(horizon)
        terms = expm1_all(4.0 / (self.d * np.arange(since + 1, int(rounds.max()) + 1)))
        return np.asarray(np.concatenate([[0.0], np.cumsum(terms)])[rounds - since] / 2)

    @property
    def kernels(self) -> Kernels:
        """The loops compiled for NormalHedge.DT."""
        return _KERNELS if self.d < 3 or self.lag > 0 else _GAME_KERNELS

    @property
    def theta(self) -> Theta:
        """``(d, lag)``."""
        return (self.d, float(self.lag))

    def _exponent(self, s: FloatArray, t: int) -> FloatArray:
        return np.minimum(s, 0.0) ** 2 * _rate(float(t), self.theta)


@scalar
def _rate(t: float, theta: Theta) -> float:
    d, lag = theta
    return 1.0 / (d * (t - lag)) if t > lag else 0.0


@scalar
def _exponent(s: float, t: float, theta: Theta) -> float:
    left = lesser(s - 1.0, 0.0)
    return left * left * _rate(t, theta)


@scalar
def _weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    rate = _rate(t, theta)
    left, right = lesser(s - 1.0, 0.0), lesser(s + 1.0, 0.0)
    # a difference of squares by its factors: right - left is exact where both are below 0
    narrowed = expm1((right - left) * (right + left) * rate)
    return 0.5 * (0.0 - narrowed) * exp(fma(left * left, rate, -log_scale))  # 0 - keeps +0


@scalar
def _game_weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    half_rate = 0.5 * _rate(t, theta)
    left, right = lesser(s - 1.0, 0.0), lesser(s + 1.0, 0.0)
    # the same difference about its middle; |s| < t and d >= 3 keep the sine's argument below 2/3
    middle = exp(fma(fma(left, left, right * right), half_rate, -log_scale))
    return middle * sinh((left - right) * (left + right) * half_rate)


_KERNELS = compile_kernels(weight=_weight, exponent=_exponent)
_GAME_KERNELS = compile_kernels(weight=_weight, exponent=_exponent, game_weight=_game_weight)
