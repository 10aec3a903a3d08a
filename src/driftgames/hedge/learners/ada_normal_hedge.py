"""AdaNormalHedge: NormalHedge.DT with a clock of its own for each action."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import greater, lesser, size
from driftgames._kernels.distribution import times_prior
from driftgames._kernels.elementary import exp, expm1
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames._kernels.lanes import LANES, first, fold, load, spread, store
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.linearised_kernels import MixRounds, compile_mixing
from driftgames.hedge.rounds.scale_free import ScaleFreeLearner
from driftgames.hedge.rounds.seen_scale import HEADER, SCALE, clip_to_scale
from driftgames.hedge.rounds.two_pass import PlayRounds, State, chipwise, compile_rounds


class AdaNormalHedge(ScaleFreeLearner):
    r"""AdaNormalHedge (Luo and Schapire, 2015): parameter-free, good on easy data.

    .. math:: p_{t,i} \propto q_i\Bigl(e^{[R_i+1]_+^2/3(C_i+1)} - e^{[R_i-1]_+^2/3(C_i+1)}\Bigr)
              \qquad R_i = \sum_{\tau<t} r_{\tau,i}, \quad C_i = \sum_{\tau<t} |r_{\tau,i}|

    where :math:`r_{t,i} = p_t\cdot\ell_t - \ell_{t,i}` and q is the prior. The regret to an
    action grows with the square root of its own C, which is small if losses are small. Actions
    may sleep: pass ``awake=`` to `distribution`, `update` and `run`.

    Without a range of the losses, ``loss_range=None``, the regrets are divided by the largest one
    so far, :math:`S_t`, and a round's regrets are clipped to the scale before it. Multiplying all
    losses by a constant then changes no distribution. The certificate has the bound of the run,
    `bounds.ada_normal_hedge_scaled`.

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
    >>> h = AdaNormalHedge(n_actions=3, loss_range=None)
    >>> for row in [[200, 900, 400], [100, 700, 600]]:
    ...     _ = h.update(row)
    >>> h.distribution()
    array([0.9623314, 0.       , 0.0376686])

    Notes
    -----
    A sleeping action is charged the learner's loss: its position does not change, and its total
    includes the learner's loss of the rounds in which it slept.
    """

    title = "AdaNormalHedge"
    sleeps: ClassVar[bool] = True

    _play_scaled: ClassVar[PlayRounds]
    _mix_scaled: ClassVar[MixRounds]

    @property
    def _memory_size(self) -> int:
        # C of each action; without a range the scale, and the clipped sums of both signs
        return self._n_actions if self._is_bounded else HEADER + 2 * self._n_actions

    @property
    def scale(self) -> float:
        """The largest regret of a round so far, in units of loss; for losses without a range."""
        return self._width if self._is_bounded else float(self._memory[SCALE])

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.ada_normal_hedge`, in units of loss."""
        self._check_bounded()
        return bounds.ada_normal_hedge(horizon, epsilon) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        if self._is_bounded:
            spread = self._mean_of_best(self._memory)  # C
            return bounds.ada_normal_hedge(horizon, epsilon, spread=spread) * self._width
        scale, first = self._memory[:HEADER].tolist()
        spreads = self._memory[HEADER:].reshape(2, -1).sum(axis=0)
        growth = np.zeros_like(spreads)
        if first > 0.0:  # in logarithms, because the ratio may overflow
            with np.errstate(divide="ignore"):
                growth = np.logaddexp(0.0, np.log(spreads) - np.log(first))
        shares = self._prior if self._prior is not None else 1.0 / self._n_actions
        return bounds.ada_normal_hedge_scaled(
            epsilon,
            scale=scale,
            first_scale=first,
            spread=self._mean_of_best(spreads),
            log_growth=float(np.sum(shares * growth)),
        )

    def _choose_rounds(self) -> PlayRounds:
        return self._play_rounds if self._is_bounded else self._play_scaled

    def _choose_mixing(self) -> MixRounds:
        return self._mix_rounds if self._is_bounded else self._mix_scaled


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


@inner_kernel
def _weigh_scaled(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    _, _, memory = state
    n, total = out.size, spread(0.0)
    gains, losses = memory[HEADER : HEADER + n], memory[HEADER + n :]
    scale = memory[SCALE] if memory[SCALE] > 0.0 else 1.0
    for i in range(0, n, LANES):
        gained, lost = load(gains, i, 0.0) / scale, load(losses, i, 0.0) / scale
        w = times_prior(weigh_chip(gained - lost, gained + lost), prior, i, first(n - i))
        store(out, i, w)
        total += w
    return fold(total)


@inner_kernel
def _learn_scaled(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    memory = state[2]
    factor = clip_to_scale(memory, prior, losses, learner_loss)
    add_regrets(memory[HEADER:], losses, factor, learner_loss)


@inner_kernel
def add_regrets(sums: FloatArray, losses: FloatArray, factor: float, learner_loss: float) -> None:
    """Add the clipped regrets of a round to two sums per action: of the positive, the negative."""
    n = losses.size
    gained, lost = sums[:n], sums[n : 2 * n]
    for i in range(0, n, LANES):
        regret = (learner_loss - load(losses, i, 0.0)) * factor
        store(gained, i, load(gained, i, 0.0) + greater(regret, 0.0))
        store(lost, i, load(lost, i, 0.0) + greater(-regret, 0.0))


_weigh, _learn_all = chipwise(weigh_chip, _learn)
AdaNormalHedge._play_rounds = staticmethod(compile_rounds(_weigh, _learn_all))
AdaNormalHedge._mix_rounds = staticmethod(compile_mixing(_weigh, _learn_all))
AdaNormalHedge._play_scaled = staticmethod(compile_rounds(_weigh_scaled, _learn_scaled))
AdaNormalHedge._mix_scaled = staticmethod(compile_mixing(_weigh_scaled, _learn_scaled))
