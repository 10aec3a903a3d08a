"""The potential of NormalHedge.DT, which also gives NH-Boost.DT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import fma, lesser
from driftgames._kernels.elementary import exp, exp_all, expm1, expm1_all, log1p_all, sinh
from driftgames._kernels.jit import scalar
from driftgames.core.checks import (
    as_floats,
    check_fractions,
    check_horizons,
    check_integer,
    check_positive,
)
from driftgames.core.typing import FloatArray
from driftgames.potentials.base import POTENTIALS, NoBoundError
from driftgames.potentials.compiled import (
    CompiledPotential,
    Kernels,
    Theta,
    compile_kernels,
)


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
        The bound holds for ``d >= 3`` and is smallest at 3. Below 3 the weights are defined, and
        `bound` raises `NoBoundError`.
    lag : int
        The number of rounds by which the clock in the exponent runs late: ``d (t - lag)``
        replaces ``d t``. While it is at most zero the potential is constant, and all weights are
        zero. ``NormalHedgeDT(d=4, lag=1)`` reproduces the published experiments of NH-Boost.DT.
        Lemma 2 covers only ``lag=0``.

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
    registry_name: ClassVar[str | None] = "normalhedge.dt"

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", check_positive("d", self.d))
        object.__setattr__(self, "lag", check_integer("lag", self.lag, least=0))

    @property
    def title(self) -> str:
        """NormalHedge.DT, with its parameters if they differ from the paper's."""
        return "NormalHedge.DT" if self == NormalHedgeDT() else str(self)

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
        return exp_all(exponents - log_scale) + (one_less_b - 1.0) * exp_all(-log_scale)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`\sqrt{d T \ln((1 - b_0)/\epsilon + 1)}`.

        This is the exact bound. The printed Corollary 2, `certificates.bounds.corollary_2`,
        replaces ``1 - b_0`` by a logarithm. [LS14, Lem. 2, Cor. 2]
        """
        rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
        if self.d < 3:
            raise NoBoundError(f"no bound is known for d < 3 (Lemma 2 needs d >= 3); got {self.d}")
        if self.lag > 0:
            raise NoBoundError(f"no bound is known for a clock that lags (Lemma 2); got {self.lag}")
        return np.asarray(np.sqrt(self.d * rounds * log1p_all(self.one_less_b(rounds) / epsilons)))

    def one_less_b(self, horizon: npt.ArrayLike, since: int = 0) -> FloatArray:
        r"""Return :math:`\tfrac12\sum_{\tau=t+1}^{T}(e^{4/(d\tau)} - 1)`, where ``t = since``."""
        rounds = np.asarray(horizon)
        terms = expm1_all(4.0 / (self.d * np.arange(since + 1, int(rounds.max()) + 1)))
        return np.asarray(np.concatenate([[0.0], np.cumsum(terms)])[rounds - since] / 2)

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of NormalHedge.DT."""
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

POTENTIALS["normalhedge.dt, d=5"] = lambda horizon, epsilon: NormalHedgeDT(d=5.0)
