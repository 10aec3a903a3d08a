"""Squint: every learning rate at once, in closed form."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel
from driftgames._kernels.ledger import LEAD
from driftgames._kernels.rounds import PlayRounds, rounds_of
from driftgames._support.checks import FloatArray
from driftgames.certificates import bounds
from driftgames.hedge.memory import RememberingLearner


class Squint(RememberingLearner):
    r"""Squint with the improper prior on learning rates (Koolen and van Erven, 2015).

    .. math:: p_{t,i} \propto q_i \int_0^{1/2} e^{\eta R_i - \eta^2 V_i}\,d\eta, \qquad
              R_i = \sum_{\tau<t} r_{\tau,i}, \quad V_i = \sum_{\tau<t} r_{\tau,i}^2

    where :math:`r_{t,i} = p_t\cdot\ell_t - \ell_{t,i}` and q is the prior. The regret to a set
    of actions grows with the square root of their mean V, so that it is small both where
    losses vary little and where many actions are good.

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

    @property
    def title(self) -> str:
        """Squint."""
        return "Squint"

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.squint`, in units of loss."""
        return bounds.squint(horizon, epsilon) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        best_first = self._best_first()
        shares = np.ones(best_first.size) if self._prior is None else self._prior[best_first]
        variance = np.cumsum(shares * self._memory[best_first]) / np.cumsum(shares)
        return bounds.squint(horizon, epsilon, variance=variance) * self._width

    @property
    def _memory_size(self) -> int:
        return self._n_actions  # V

    @property
    def _play_rounds(self) -> PlayRounds:
        return _PLAY_ROUNDS


@kernel
def _weigh(
    cumulative: FloatArray,
    ledger: FloatArray,
    prior: FloatArray | None,
    memory: FloatArray,
    out: FloatArray,
) -> float:
    total = 0.0
    for i in range(out.size):
        if prior is None:
            out[i] = evidence(ledger[LEAD] - cumulative[i], memory[i])
        elif prior[i] > 0.0:
            out[i] = prior[i] * evidence(ledger[LEAD] - cumulative[i], memory[i])
        else:
            out[i] = 0.0
        total += out[i]
    return total


@kernel
def _learn(
    cumulative: FloatArray,
    ledger: FloatArray,
    prior: FloatArray | None,
    memory: FloatArray,
    losses: FloatArray,
    total: float,
    learner_loss: float,
) -> None:
    for i in range(losses.size):
        memory[i] += (learner_loss - losses[i]) ** 2


_NODES, _SHARES = np.polynomial.legendre.leggauss(12)
_NODES, _SHARES = (_NODES + 1.0) / 4.0, _SHARES / 4.0  # from [-1, 1] to [0, 1/2]


@kernel
def evidence(regret: float, variance: float) -> float:
    r"""Return :math:`\int_0^{1/2} e^{\eta R - \eta^2 V}\,d\eta` to a relative 1e-12.

    Read from its other end the integral is one of the same kind, which leaves
    ``R <= V/2``. There it is a difference of error functions, scaled so that neither over-
    nor underflows; where V is so small that they would cancel, the integrand is nearly flat
    and twelve nodes of Gauss and Legendre give it to all digits.
    """
    R, V, scale = regret, variance, 1.0
    if R > 0.5 * V:
        scale = math.exp(0.5 * R - 0.25 * V)
        R = V - R
    if V < 1.0 and R > -8.0:
        total = 0.0
        for k in range(_NODES.size):
            total += _SHARES[k] * math.exp(_NODES[k] * (R - _NODES[k] * V))
        return scale * total
    root = math.sqrt(V)
    start, end = -0.5 * R / root, 0.5 * (V - R) / root
    height = scale * math.sqrt(math.pi) / (2.0 * root)
    if start > 0.0:
        return height * (_scaled_erfc(start) - math.exp(0.5 * R - 0.25 * V) * _scaled_erfc(end))
    return height * math.exp(start * start) * (math.erf(end) - math.erf(start))


@kernel
def _scaled_erfc(x: float) -> float:
    """Return ``exp(x^2) erfc(x)`` for ``x > 0``, by its asymptotic series from 10 on."""
    if x < 10.0:
        return math.exp(x * x) * math.erfc(x)
    step, term, total = -0.5 / (x * x), 1.0, 1.0
    for k in range(1, 21, 2):
        term *= k * step
        total += term
    return total / (x * math.sqrt(math.pi))


_PLAY_ROUNDS = rounds_of(_weigh, _learn)
