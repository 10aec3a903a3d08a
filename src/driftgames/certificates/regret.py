"""Epsilon-regret: how far a learner is behind all but the best epsilon fraction of actions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_distribution, check_number, check_vector, is_real, shown
from driftgames.core.display import Displayed
from driftgames.core.typing import FloatArray


class _Curve(NamedTuple):
    epsilons: FloatArray
    regret: FloatArray


class RegretCurve(Displayed, _Curve):
    """Epsilon-regret at every epsilon where it can change, the best action first.

    It unpacks as ``epsilons, regret = curve``.
    """

    def _headline(self) -> str:
        return f"epsilon-regret to {self.epsilons.size:,} quantiles of the actions"


def epsilon_regret(action_losses: npt.ArrayLike, learner_loss: float, epsilon: float) -> float:
    r"""Return the regret to the :math:`\lceil N\epsilon\rceil`-th best action.

    .. math:: \mathbf{R}^\epsilon = \sum_t p_t\cdot\ell_t - \sum_t \ell_{t, i_\epsilon}

    It is infinite for ``epsilon = 0`` and minus infinity for ``epsilon > 1``. ``action_losses``
    are the totals of the actions, ``learner_loss`` is the total of the learner. [LS14, Sec. 3.1]

    >>> epsilon_regret([3.0, 1.0, 2.0], learner_loss=2.5, epsilon=1/3)
    1.5
    >>> epsilon_regret([3.0, 1.0, 2.0], learner_loss=2.5, epsilon=0.5)
    0.5
    >>> epsilon_regret([3.0, 1.0, 2.0], learner_loss=2.5, epsilon=0.0)
    inf
    """
    losses = _check_totals(action_losses)
    learner = check_number("learner_loss", learner_loss)
    if not (is_real(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be a number >= 0; got {shown(epsilon)}")
    if epsilon == 0:
        return math.inf
    if epsilon > 1:
        return -math.inf
    rank = quantile_rank(epsilon, losses.size)
    return float(learner - np.partition(losses, rank - 1)[rank - 1])


def quantile_rank(epsilon: float, n_chips: int) -> int:
    r"""Return :math:`\lceil N \epsilon \rceil`, with ``k / N`` read as that very fraction.

    In floating point ``(k / N) * N`` may lie just above ``k``, and its ceiling one too high.
    """
    nearest = round(n_chips * epsilon)
    return nearest if nearest / n_chips == epsilon else math.ceil(n_chips * epsilon)


def regret_curve(
    action_losses: npt.ArrayLike, learner_loss: float, prior: npt.ArrayLike | None = None
) -> RegretCurve:
    """Return the epsilon-regret for ``epsilon = 1/N, 2/N, ..., 1``, in O(N log N).

    With a ``prior`` over the actions, epsilon is the prior mass of the actions at least as
    good as the one compared to.

    >>> print(regret_curve([3.0, 1.0], learner_loss=2.5))
    RegretCurve: epsilon-regret to 2 quantiles of the actions
    epsilons  regret
         0.5     1.5
           1    -0.5
    """
    losses = _check_totals(action_losses)
    n_chips = losses.size
    order = np.argsort(losses, kind="stable")
    regret = np.asarray(check_number("learner_loss", learner_loss) - losses[order])
    if prior is None:
        return RegretCurve(np.arange(1, n_chips + 1) / n_chips, regret)
    mass = check_distribution("prior", prior, n_chips)[order]
    # an action of no mass says nothing about any epsilon above 0
    kept = mass > 0
    return RegretCurve(np.minimum(np.cumsum(mass[kept]), 1.0), regret[kept])


def _check_totals(action_losses: npt.ArrayLike) -> FloatArray:
    totals = check_vector("action_losses", action_losses)
    if not totals.size:
        raise ValueError("action_losses must hold at least one action; got none")
    return totals
