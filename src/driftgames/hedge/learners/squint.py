"""Squint: every learning rate at once, in closed form."""

from __future__ import annotations

import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, root, size
from driftgames._kernels.elementary import exp, scaled_erfc
from driftgames._kernels.jit import scalar
from driftgames._kernels.lanes import any_of
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.two_pass import ChipwiseLearner, compile_chipwise


class Squint(ChipwiseLearner):
    r"""Squint with the improper prior on learning rates (Koolen and van Erven, 2015).

    .. math:: p_{t,i} \propto q_i \int_0^{1/2} e^{\eta R_i - \eta^2 V_i}\,d\eta, \qquad
              R_i = \sum_{\tau<t} r_{\tau,i}, \quad V_i = \sum_{\tau<t} r_{\tau,i}^2

    where :math:`r_{t,i} = p_t\cdot\ell_t - \ell_{t,i}` and q is the prior. The regret to a set
    of actions grows with the square root of their mean V. It is small if losses vary little, and
    if many actions are good.

    W. M. Koolen and T. van Erven, "Second-order quantile methods for experts and combinatorial
    games", COLT 2015.

    Examples
    --------
    >>> h = Squint(n_actions=3)
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.35803232, 0.29931879, 0.34264889])
    """

    title = "Squint"

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.squint`, in units of loss."""
        return bounds.squint(horizon, epsilon) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        variance = self._mean_of_best(self._memory)  # V
        return bounds.squint(horizon, epsilon, variance=variance) * self._width


# Gauss and Legendre on [0, 1/2]; NumPy's nodes come from an eigenvalue solver and may differ::
#     x = mp.findroot(lambda x: mp.legendre(12, x), start); node = (x + 1) / 4
#     share = 1 / (2 * (1 - x * x) * mp.diff(lambda x: mp.legendre(12, x), x) ** 2)
_NODES = (
    0.004609841438320187,
    0.023970685907381287,
    0.05752433145142383,
    0.10317051142834564,
    0.15804212525045494,
    0.21869164787213277,
    0.28130835212786726,
    0.34195787474954503,
    0.39682948857165434,
    0.4424756685485762,
    0.4760293140926187,
    0.49539015856167984,
)
_FIRST_SHARES = (
    0.011793834096627957,
    0.026734831498829607,
    0.040019582135836555,
    0.05079185668076648,
    0.0583731341345887,
    0.06228676145335069,
)
_SHARES = _FIRST_SHARES + _FIRST_SHARES[::-1]

_ROOT_PI = 1.7724538509055159
_FLAT = 0.01  # below this variance the error functions would cancel
_STEEP = -8.0  # above this regret the nodes resolve the integrand


@scalar
def evidence(regret: float, variance: float) -> float:
    r"""Return :math:`\int_0^{1/2} e^{\eta R - \eta^2 V}\,d\eta` to a relative 1e-12.

    The substitution ``eta -> 1/2 - eta`` gives an integral of the same kind, which leaves
    ``R <= V/2``. There it is a difference of error functions, scaled so that neither over- nor
    underflows. If V is so small that they would cancel, the integrand is nearly constant, and
    twelve nodes of Gauss and Legendre suffice.
    """
    mirrored = regret > 0.5 * variance
    R, V = choose(mirrored, variance - regret, regret), variance
    # erf from start to end, in units of the scaled erfc; the ratio is exp(start^2 - end^2)
    half_width = 0.5 / root(choose(V > 0.0, V, 1.0))
    start, end = R * half_width, (V - R) * half_width
    log_ratio = 0.5 * R - 0.25 * V
    ratio = exp(log_ratio)
    before, after = scaled_erfc(size(start)), ratio * scaled_erfc(end)
    ahead = choose(R > 0.0, 2.0 * exp(start * start) - before, before)
    result = (ahead - after) * (_ROOT_PI * half_width)
    flat = (V < _FLAT) & (R > _STEEP)
    if any_of(flat):
        total = 0.0 * R
        for k in range(len(_NODES)):
            total = fma(_SHARES[k], exp(_NODES[k] * (R - _NODES[k] * V)), total)
        result = choose(flat, total, result)
    if any_of(mirrored):
        result = choose(mirrored, result * (1.0 / ratio), result)
    return result


@scalar
def _learn(regret: float, variance: float) -> float:
    return fma(regret, regret, variance)


Squint._play_rounds = staticmethod(compile_chipwise(evidence, _learn))
