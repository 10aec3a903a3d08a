"""The potential of the backward heat equation: a smaller bound than that of NormalHedge.DT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import lesser
from driftgames._kernels.elementary import exp, exp_all, log, scaled_kummer, scaled_kummer_all
from driftgames._kernels.jit import scalar
from driftgames.core.checks import as_floats, check_fractions, check_horizons, count_rounds_left
from driftgames.core.typing import FloatArray
from driftgames.potentials.compiled import (
    CompiledPotential,
    Kernels,
    Theta,
    compile_kernels,
)

_LARGEST_X = 760.0  # G is beyond one over the smallest float there


@dataclass(frozen=True)
class BackwardHeat(CompiledPotential):
    r"""Potential that solves the backward heat equation: adaptive, without parameters.

    .. math:: \Phi_t(s) = \sqrt t\,G\Bigl(\frac{[s]_-^2}{2t}\Bigr) + \sqrt T - \sqrt t, \qquad
              G(x) = \sum_{k\ge1} \frac{x^k}{(2k-1)\,k!}, \qquad [s]_- = \min(s, 0)

    and :math:`\Phi_0 \equiv \sqrt T`. The regret is at most :math:`\sqrt{2Tx}` with
    :math:`G(x) = 1/\epsilon`, which is :math:`\sqrt{2T(\ln(1/\epsilon) + O(\ln\ln(1/\epsilon)))}`
    for all T and epsilon at once. NormalHedge.DT has a factor of 3 in the place of 2, and a term in
    :math:`\ln\ln T`. A chip at ``s >= 1`` weighs zero. The theorem is that of [LS14, Thm. 2].

    The function is that of Z. Zhang, A. Cutkosky and I. Paschalidis, "PDE-based optimal strategy
    for unconstrained online learning", ICML 2022, and for two experts of N. Harvey, C. Liaw,
    E. Perkins and S. Randhawa, "Optimal anytime regret with two experts", 2022, on one side of 0.

    Notes
    -----
    *Why the recipe holds.* Let :math:`V_t(s) = \sqrt t\,G(s^2/2t) - \sqrt t`, without the cut at 0,
    and let Z be a standard normal variable. :math:`V_t'' = e^{s^2/2t}/\sqrt t`, so
    :math:`E V_t''(s + Z) = V_{t-1}''(s)` for :math:`t \ge 2`. V is even, and
    :math:`E V_t(Z) = -\sqrt{t-1} = V_{t-1}(0)` term by term, so :math:`E V_t(s+Z) = V_{t-1}(s)`.
    All even derivatives of :math:`V_t` from the second on are positive, since those of
    :math:`e^{s^2/2t} = E e^{sZ/\sqrt t}` are. A coin :math:`\pm1` has the moments 1, and Z has
    :math:`E Z^{2k} = (2k-1)!! \ge 1`. So in the series of :math:`V_t` about s

    .. math:: \tfrac12\bigl(V_t(s-1) + V_t(s+1)\bigr)
              = \sum_k \frac{V_t^{(2k)}(s)}{(2k)!}
              \le \sum_k \frac{V_t^{(2k)}(s)}{(2k)!} E Z^{2k} = E V_t(s + Z) = V_{t-1}(s)

    The cut at 0 only lowers the left side: V is lowest at 0. For ``s > 0`` the left side falls in s
    and the right side does not. In the first round all chips are at 0, where
    :math:`V_1(-1) + V_1(0) = -1.454 \le 0`. The term :math:`\sqrt T` makes the potential
    nonnegative.

    A weight costs two polynomials of degree 49, so it is slower than that of NormalHedge.DT.

    Examples
    --------
    >>> BackwardHeat().distribution([-2.0, 0.0, 1.0], t=4)
    array([0.908473, 0.091527, 0.      ])
    >>> round(float(BackwardHeat().bound(1000, 0.01)), 2)
    117.42
    """

    title: ClassVar[str] = "backward heat"
    adaptive: ClassVar[bool] = True
    registry_name: ClassVar[str | None] = "backward-heat"

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
        below = np.minimum(as_floats("positions", positions), 0.0)
        x = below**2 * _rate(float(t))
        rest = (np.sqrt(end) - np.sqrt(t)) * exp_all(-log_scale)
        return np.asarray(np.sqrt(t) * scaled_kummer_all(x) * exp_all(x - log_scale) + rest)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`\sqrt{2 T x}` with :math:`G(x) = 1/\epsilon`. [LS14, Thm. 2]"""
        rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
        low, high = np.zeros(epsilons.shape), np.full(epsilons.shape, _LARGEST_X)
        for _ in range(64):  # G rises
            x = 0.5 * (low + high)
            # in logarithms: the products have few digits where epsilon is near the smallest floats
            enough = x + np.log(scaled_kummer_all(x)) >= -np.log(epsilons)
            low, high = np.where(enough, low, x), np.where(enough, x, high)
        return np.asarray(np.sqrt(2.0 * rounds * high))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this potential."""
        return _KERNELS

    @property
    def theta(self) -> Theta:
        """``(0.0,)``: there are no parameters, and a compiled tuple must not be empty."""
        return (0.0,)


@scalar
def _rate(t: float) -> float:
    return 0.5 / t if t > 0.0 else 0.0


@scalar
def _exponent(s: float, t: float, theta: Theta) -> float:
    left = lesser(s - 1.0, 0.0)
    return left * left * _rate(t) + 0.5 * log(t)  # G(x) is at most exp(x)


@scalar
def _weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    rate, scale = _rate(t), 0.5 * log(t) - log_scale
    left, right = lesser(s - 1.0, 0.0), lesser(s + 1.0, 0.0)
    near, far = right * right * rate, left * left * rate
    return 0.5 * (scaled_kummer(far) * exp(far + scale) - scaled_kummer(near) * exp(near + scale))


_KERNELS = compile_kernels(weight=_weight, exponent=_exponent)
