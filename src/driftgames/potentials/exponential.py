"""The exponential potential: EXP, the exponential weights algorithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.elementary import exp, exp_all, expm1, log, log1p, log_all, sinh
from driftgames._kernels.jit import scalar
from driftgames.core.checks import (
    as_floats,
    check_fraction,
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

_EXACT_RATE = 1e9  # above it, the rounding error of a position times eta may exceed 1
_LARGEST_RATE = 1e30  # two positions differ by 2**-53 or more: above 1e19 one has all the weight


@dataclass(frozen=True)
class Exponential(CompiledPotential):
    r"""Potential of the exponential weights algorithm (EXP).

    .. math:: \Phi_t(s) = \Bigl(\frac{e^\eta + e^{-\eta}}{2}\Bigr)^{T-t} e^{-\eta s}

    Its weights are :math:`e^{-\eta s}` up to a factor. The regret is optimal when ``eta`` is
    tuned to the horizon and epsilon, so the potential is not adaptive. [LS14, Sec. 3.3]

    Examples
    --------
    >>> Exponential(eta=1.0).distribution([0.0, 1.0], t=1)
    array([0.73105858, 0.26894142])
    >>> round(float(Exponential.tuned(100, 0.1).bound(100, 0.1)), 3)
    21.378
    """

    eta: float

    adaptive: ClassVar[bool] = False
    title: ClassVar[str] = "EXP"
    registry_name: ClassVar[str | None] = "exp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", check_positive("eta", self.eta))

    @classmethod
    def tuned(cls, horizon: int, epsilon: float) -> Exponential:
        r"""Return EXP with :math:`\eta = \sqrt{2 \ln(1/\epsilon) / T}`. [LS14, Sec. 3.3]"""
        rounds = check_integer("horizon", horizon, least=1)
        fraction = check_fraction("epsilon", epsilon)
        if fraction == 1.0:
            raise ValueError("epsilon must be below 1 to tune eta: at 1 the best eta is 0")
        return cls(math.sqrt(-2 * float(log_all(fraction)) / rounds))

    @classmethod
    def for_game(cls, horizon: int | None, epsilon: float) -> Exponential:
        """Return `tuned`."""
        if horizon is None:
            raise ValueError("exp must know its horizon to tune its learning rate; got none")
        return cls.tuned(horizon, epsilon)

    def value(
        self,
        positions: npt.ArrayLike,
        t: int,
        *,
        horizon: int | None = None,
        log_scale: float = 0.0,
    ) -> FloatArray:
        """Return ``Phi_t(s) * exp(-log_scale)``."""
        rounds_left = count_rounds_left(t, horizon)
        s = as_floats("positions", positions)
        return exp_all(-self.eta * s + rounds_left * self._log_cosh() - log_scale)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`(\ln(1/\epsilon) + T \ln\cosh\eta) / \eta`. [LS14, Thm. 2]"""
        rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
        return np.asarray(log_all(1 / epsilons) / self.eta + rounds * (self._log_cosh() / self.eta))

    def hedge_bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`\ln(1/\epsilon)/\eta + \min(\eta/8, \ln\cosh(\eta)/\eta)\,T`.

        Losses in [0, 1] move chips by less than the game of the paper allows, and Hoeffding's
        lemma bounds the growth of a round by :math:`\eta^2/8`; see
        `certificates.bounds.exponential_hoeffding`.
        """
        rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
        growth = min(self.eta / 8, self._log_cosh() / self.eta)
        return np.asarray(log_all(1 / epsilons) / self.eta + rounds * growth)

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of EXP."""
        return _KERNELS

    @property
    def theta(self) -> Theta:
        """``(eta,)``, at most 1e30: a larger eta weighs floats in the same way."""
        return (min(self.eta, _LARGEST_RATE),)

    def _log_cosh(self) -> float:
        # cosh(x) = 1 + 2 sinh(x/2)^2, which keeps its digits for small eta; a large one overflows
        if self.eta < 1:
            half = sinh(self.eta / 2)
            return log1p(2 * half * half)
        return self.eta + log1p(exp(-2 * self.eta)) - log(2.0)


@scalar
def _exponent(s: float, t: float, theta: Theta) -> float:
    (eta,) = theta
    return -eta * (s - 1.0)


@scalar
def _weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    (eta,) = theta
    # the larger of the two terms is scaled, so that no eta overflows
    return -0.5 * expm1(-2.0 * eta) * exp(_exponent(s, t, theta) - log_scale)


@scalar
def _game_weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    (eta,) = theta
    if eta > _EXACT_RATE:
        return exp(_exponent(s, t, theta) - log_scale)  # exactly 1 for the lowest chip
    # without the factor that all chips share
    return exp(fma(-eta, s, eta - log_scale))


_KERNELS = compile_kernels(weight=_weight, exponent=_exponent, game_weight=_game_weight)
