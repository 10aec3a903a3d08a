"""NormalHedge, which solves for the scale of its weights in every round."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import lesser
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.normal_hedge import weigh_normal_hedge
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.totals import LEARNER, LOWEST
from driftgames.hedge.rounds.two_pass import State, TwoPassLearner, compile_rounds, learn_nothing


class NormalHedge(TwoPassLearner):
    r"""NormalHedge (Chaudhuri, Freund and Hsu, 2009), the baseline of Table 1.

    .. math:: p_{t,i} \propto -[s_{t-1,i}]_-\,e^{[s_{t-1,i}]_-^2/c}, \qquad
              c \text{ such that } \sum_i e^{[s_{t-1,i}]_-^2/c} = N e

    It has no parameters either, but it solves for c in every round, and its bound grows with
    the number of actions. [LS14, Tab. 1]

    K. Chaudhuri, Y. Freund and D. Hsu, "A parameter-free hedging algorithm", NeurIPS 2009.

    Examples
    --------
    >>> h = NormalHedge(n_actions=3)
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.93594154, 0.        , 0.06405846])

    Notes
    -----
    If no regret is positive, no c solves the equation. The uniform distribution is then played.
    """

    title = "NormalHedge"
    takes_prior: ClassVar[bool] = False
    _memory_size = 1  # the solution of the last round, where the next search begins

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.normal_hedge`, in units of loss."""
        return bounds.normal_hedge(horizon, epsilon, self._n_actions) * self._width


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    cumulative, totals, memory = state
    learner, largest = totals[LEARNER], totals[LEARNER] - totals[LOWEST]
    if not largest > 0.0:
        for i in range(out.size):
            out[i] = 0.0
        return 0.0
    for i in range(0, out.size, LANES):
        regret = 0.0 - lesser(load(cumulative, i, np.inf) - learner, 0.0)  # 0 - keeps +0
        store(out, i, regret / largest)
    memory[0], total = weigh_normal_hedge(out, None, memory[0])
    return total


NormalHedge._play_rounds = staticmethod(compile_rounds(_weigh, learn_nothing))
