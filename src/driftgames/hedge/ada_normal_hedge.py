"""AdaNormalHedge: NormalHedge.DT with a clock of its own for each action."""

from __future__ import annotations

from typing import ClassVar

import numpy.typing as npt

from driftgames._kernels.arithmetic import lesser, size
from driftgames._kernels.elementary import exp, expm1
from driftgames._kernels.jit import scalar
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.two_pass import ChipwiseLearner, compile_chipwise


class AdaNormalHedge(ChipwiseLearner):
    r"""AdaNormalHedge (Luo and Schapire, 2015): parameter-free, good on easy data.

    .. math:: p_{t,i} \propto q_i\Bigl(e^{[R_i+1]_+^2/3(C_i+1)} - e^{[R_i-1]_+^2/3(C_i+1)}\Bigr)
              \qquad R_i = \sum_{\tau<t} r_{\tau,i}, \quad C_i = \sum_{\tau<t} |r_{\tau,i}|

    where :math:`r_{t,i} = p_t\cdot\ell_t - \ell_{t,i}` and q is the prior. The regret to an
    action grows with the square root of its own C, which is small if losses are small. Actions
    may sleep: pass ``awake=`` to `distribution`, `update` and `run`.

    H. Luo and R. E. Schapire, "Achieving all with no parameters: AdaNormalHedge", COLT 2015.

    Examples
    --------
    >>> h = AdaNormalHedge(n_actions=3)
    >>> round(h.update([0.2, 0.9, 0.4]), 12)
    0.5
    >>> h.distribution()
    array([0.50464197, 0.08326649, 0.41209154])
    >>> h.distribution(awake=[False, True, True])
    array([0.        , 0.16809355, 0.83190645])

    Notes
    -----
    A sleeping action is charged the learner's loss: its position does not change, and its total
    includes the learner's loss of the rounds in which it slept.
    """

    title = "AdaNormalHedge"
    sleeps: ClassVar[bool] = True

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.ada_normal_hedge`, in units of loss."""
        return bounds.ada_normal_hedge(horizon, epsilon) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        spread = self._mean_of_best(self._memory)  # C
        return bounds.ada_normal_hedge(horizon, epsilon, spread=spread) * self._width


@scalar
def weigh_chip(regret: float, spread: float) -> float:
    """Return the weight of an action with this R and this C, before its prior."""
    rate = 1.0 / (3.0 * (spread + 1.0))
    left, right = lesser(-regret - 1.0, 0.0), lesser(-regret + 1.0, 0.0)
    # a product of two nonnegative numbers, so that no weight is -0
    return expm1((left - right) * (left + right) * rate) * exp(right * right * rate)


@scalar
def _learn(regret: float, spread: float) -> float:
    return spread + size(regret)


AdaNormalHedge._play_rounds = staticmethod(compile_chipwise(weigh_chip, _learn))
