"""Fixed Share: exponential weights that return to the prior a little in every round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.lanes import LANES, fold, load, spread, store
from driftgames._kernels.sums import lowest_of
from driftgames.certificates import bounds
from driftgames.core.checks import check_fraction, check_positive
from driftgames.core.schema import POSITIVE, SHARE, Schema
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.rounds.share_kernels import copy_weights, share_out, shares_at
from driftgames.hedge.rounds.two_pass import State, TwoPassLearner, compile_rounds


class FixedShare(TwoPassLearner):
    r"""Fixed Share (Herbster and Warmuth, 1998), for comparators that switch.

    .. math:: p_{t+1,i} = (1 - \alpha)\,\frac{p_{t,i}\,e^{-\eta\ell_{t,i}}}
              {\sum_j p_{t,j}\,e^{-\eta\ell_{t,j}}} + \alpha q_i, \qquad p_1 = q

    where q is the prior. No weight falls below :math:`\alpha q_i`, so a switch costs
    :math:`\ln(1/\alpha q_i)/\eta` instead of a wait. Both parameters must be chosen;
    `AdaFixedShare` finds the rate, and `AdaNormalHedgeTV` has no parameter.

    M. Herbster and M. K. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Parameters
    ----------
    rate : float
        The learning rate :math:`\eta` on losses in [0, 1]. Default: 0.3.
    share : float
        The share :math:`\alpha` in (0, 1]. Default: 0.01.

    Examples
    --------
    >>> h = FixedShare(n_actions=3)
    >>> round(h.update([0.2, 0.9, 0.4]), 12)
    0.5
    >>> h.distribution()
    array([0.36302612, 0.29489464, 0.34207924])
    """

    title = "Fixed Share"
    _named_arguments: ClassVar[Schema] = {"rate": POSITIVE, "share": SHARE}

    def __init__(
        self,
        n_actions: int | None = None,
        *,
        rate: float = 0.3,
        share: float = 0.01,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            n_actions, prior=prior, loss_range=loss_range, gains=gains, dtype=dtype, names=names
        )
        self._rate = check_positive("rate", rate)
        self._share = check_fraction("share", share)
        self._memory[:2] = self._rate, self._share

    @classmethod
    def for_horizon(
        cls, n_actions: int, horizon: int | None = None, **settings: object
    ) -> FixedShare:
        """Return a learner whose rate and share suit a few switches in ``horizon`` rounds."""
        if horizon is not None:
            rate = math.sqrt(8.0 * (1.0 + log(float(horizon))) / horizon)
            settings = {"rate": rate, "share": 1.0 / (horizon + 1.0), **settings}
        return cls(n_actions, **settings)  # type: ignore[arg-type]

    def bound(
        self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike, *, switches: int = 0
    ) -> FloatArray:
        """Return `bounds.fixed_share`, in units of loss."""
        found = bounds.fixed_share(horizon, epsilon, self._rate, self._share, switches=switches)
        return found * self._width

    @property
    def _memory_size(self) -> int:
        return 2 + self._n_actions  # rate, share, and the distribution; 0 before the first round

    def _set_state(self, state: Content) -> None:
        memory = state.get("memory", self._memory)
        if memory.shape == self._memory.shape and (memory[:2] != self._memory[:2]).any():
            raise ValueError(
                f"the memory must begin with the rate {self._rate:g} and the share "
                f"{self._share:g}; got {memory[0]:g} and {memory[1]:g}"
            )
        super()._set_state(state)


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    return copy_weights(state[2][2:], out)


@inner_kernel
def _learn(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    _, _, memory = state
    rate, share, p = memory[0], memory[1], memory[2:]
    least, summed = lowest_of(losses), spread(0.0)
    for i in range(0, losses.size, LANES):
        w = load(p, i, 0.0) if total > 0.0 else shares_at(prior, p.size, i)
        w = w * exp(-rate * (load(losses, i, np.inf) - least))
        store(p, i, w)
        summed += w
    share_out(p, fold(summed), share, prior)


FixedShare._play_rounds = staticmethod(compile_rounds(_weigh, _learn))
