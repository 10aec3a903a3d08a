"""The potential of NormalHedge.DT, which also gives NH-Boost.DT.

`driftgames.hedge.plain` has the weights as the paper prints them: read it first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import fma, lesser
from driftgames._kernels.elementary import exp, exp_all, expm1, expm1_all, log1p_all, log_all, sinh
from driftgames._kernels.jit import scalar
from driftgames.core.checks import (
    as_floats,
    check_fractions,
    check_horizons,
    check_integer,
    check_positive,
    count_rounds_left,
)
from driftgames.core.typing import FloatArray
from driftgames.potentials.compiled import (
    CompiledPotential,
    Kernels,
    Theta,
    compile_kernels,
)
from driftgames.potentials.potential import POTENTIALS, NoBoundError

_EXACT_D = 1e-6  # below it, the rounding error of an exponent may exceed 1
_SMALLEST_D = 1e-60  # two squares of positions differ so much over d t that one has all the weight
_ADDED_UP = 4096  # terms of a sum; the bound on the others is then as exact as they are


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
        end = t + count_rounds_left(t, horizon)
        one_less_b = float(self.one_less_b(end, since=t))
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
        r"""Return :math:`\tfrac12\sum_{\tau=t+1}^{T} f(\tau)`, where ``t = since``.

        With :math:`f(x) = e^{c/x} - 1` and :math:`c = 4/d`. The first 4096 terms are added up. For
        a longer sum the result is an upper bound, from the formula of Euler and Maclaurin:

        .. math:: \sum_{\tau=m+1}^{T} f(\tau) = \int_m^T f + \frac{f(T) - f(m)}2
                  + \frac{f'(T) - f'(m)}{12} + R, \qquad -\frac{|f^{(3)}(m)|}{720} \le R \le 0

        f is a sum of positive multiples of :math:`x^{-k}`, so its derivatives alternate in sign.
        Then the remainder R lies between 0 and the first term that is left out, which is
        :math:`-(f^{(3)}(T) - f^{(3)}(m))/720` and negative. At ``m = 4096`` and ``d >= 3`` its size
        is below :math:`10^{-16}`. The integral is, term by term,

        .. math:: \int_m^T f = c\ln\frac Tm
                  + \sum_{k\ge2} \frac{c^k}{k!\,(k-1)}\bigl(m^{1-k} - T^{1-k}\bigr)

        A factor of :math:`1 + 2^{-44}` covers all rounding errors.
        """
        rounds = np.asarray(horizon)
        last = int(rounds.max(initial=since))
        middle = min(last, since + _ADDED_UP)
        terms = expm1_all(4.0 / (self.d * np.arange(since + 1, middle + 1)))
        sums = np.concatenate([[0.0], np.cumsum(terms)])[np.minimum(rounds, middle) - since]
        if last > middle and np.isfinite(sums).all():
            beyond = np.maximum(rounds, middle)  # nothing is left of a short sum
            longer = (sums + self._sum_beyond(middle, beyond)) * (1 + 2.0**-44)
            sums = np.where(rounds > middle, longer, sums)
        return np.asarray(sums / 2)

    def _sum_beyond(self, m: int, rounds: npt.NDArray[Any]) -> FloatArray:
        """Return an upper bound on the sum of f over ``m + 1, ..., T``; `one_less_b` proves it."""
        c, ratio = 4.0 / self.d, m / rounds
        near, far = c / m, c / rounds
        ends = (expm1_all(far) - expm1(near)) / 2
        slopes = (near * exp(near) / m - far * exp_all(far) / rounds) / 12
        term, power, k = c, np.ones(rounds.shape), 1
        integral = -c * log_all(ratio)
        # m near^k / k! falls at last; what is left out is far below the rounding errors
        while k < 2 * near + 4 or term > 2.0**-60 * c:
            k += 1
            term, power = term * near / k, power * ratio
            integral = integral + term / (k - 1) * (1.0 - power)
        return np.asarray(integral + ends + slopes)

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of NormalHedge.DT."""
        return _KERNELS if self.d < 3 or self.lag > 0 else _GAME_KERNELS

    @property
    def theta(self) -> Theta:
        """``(d, lag)``, d at least 1e-60: a smaller one weighs floats in the same way."""
        return (max(self.d, _SMALLEST_D), float(self.lag))

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
    if theta[0] < _EXACT_D:
        return 0.5 * (0.0 - narrowed) * exp(_exponent(s, t, theta) - log_scale)
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
