"""TwoExperts: the lowest regret that is possible at every time, for two actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames.certificates import bounds
from driftgames.core.checks import check_integer, shown
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.totals import CLOCK
from driftgames.hedge.rounds.two_pass import State, TwoPassLearner, compile_rounds, learn_nothing


class TwoExperts(TwoPassLearner):
    r"""The anytime optimum for two actions (Harvey, Liaw, Perkins and Randhawa, 2020).

    .. math:: p_t(\text{lagging}) = \tfrac12\bigl(R(t, g + 1) - R(t, g - 1)\bigr), \qquad
              R(t, g) = \frac g2 + \kappa\sqrt t\,M_0\Bigl(\frac{g^2}{2t}\Bigr)

    where g is the gap between the two totals, :math:`M_0(x) = -\sum_k x^k/((2k-1)\,k!)`, and
    :math:`R(t, g) = \gamma\sqrt t/2` from :math:`g = \gamma\sqrt t` on. There :math:`M_0` is 0:
    :math:`\gamma = 1.30693`. The regret is at most :math:`\gamma\sqrt t/2` at every t, and no
    learner has a lower bound of this form.

    N. J. A. Harvey, C. Liaw, E. Perkins and S. Randhawa, "Optimal anytime regret with two
    experts", FOCS 2020.

    Examples
    --------
    >>> h = TwoExperts()
    >>> h.update([0.0, 1.0])
    0.5
    >>> h.distribution()
    array([0.73463111, 0.26536889])

    Notes
    -----
    The theory has integer gaps and losses in {0, 1}. The same formula serves any losses in
    [0, 1]. A round that changes the gap by :math:`\delta\in[-1, 1]` adds :math:`p\delta` to the
    regret, where p is the weight of the lagging action. R is concave in g, so the chord from
    :math:`g-1` to :math:`g+1`, whose slope is p, lies below it. Hence the regret stays below
    :math:`R(t, g)` if only :math:`R(t-1, g) \le \frac12(R(t, g+1) + R(t, g-1))`, one inequality
    for each t and g. The tests check it on a grid: numerical evidence for real gaps, and the
    published theorem for integers. :math:`R(t, -g) = R(t, g) - g` serves a change of the leader.
    """

    title = "TwoExperts"
    takes_prior: ClassVar[bool] = False
    _memory_size = 0

    def __init__(
        self,
        n_actions: int = 2,
        *,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        if check_integer("n_actions", n_actions, least=1) != 2:
            raise ValueError(f"TwoExperts needs n_actions to be 2; got {shown(n_actions)}")
        super().__init__(
            n_actions, prior=prior, loss_range=loss_range, gains=gains, dtype=dtype, names=names
        )

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.two_experts`, in units of loss."""
        return bounds.two_experts(horizon, epsilon) * self._width


# mp.findroot(lambda g: mp.hyp1f1(-0.5, 0.5, g * g / 2), 1.3)
_GAMMA = bounds.TWO_EXPERTS_GAMMA
# 1 / (mp.sqrt(2 * mp.pi) * mp.erfi(GAMMA / mp.sqrt(2))), so that R has no kink at GAMMA
_KAPPA = 0.2781765847357866
_TERMS = 20  # x is at most 0.86, where the last term is below 1e-19


@scalar
def _regret(t: float, gap: float) -> float:
    """Return R(t, gap), which is defined for negative gaps by the same formula."""
    root = np.sqrt(t)
    if gap >= _GAMMA * root:
        return 0.5 * _GAMMA * root
    x = 0.5 * gap * gap / t
    series = 0.0
    power = 1.0
    for k in range(_TERMS):
        series -= power / (2.0 * k - 1.0)
        power *= x / (k + 1.0)
    return fma(_KAPPA * root, series, 0.5 * gap)


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    cumulative, totals, _ = state
    t, gap = totals[CLOCK] + 1.0, abs(cumulative[0] - cumulative[1])
    lagging = 0.5 * (_regret(t, gap + 1.0) - _regret(t, gap - 1.0))
    behind = 0 if cumulative[0] > cumulative[1] else 1
    out[behind], out[1 - behind] = lagging, 1.0 - lagging
    return 1.0


TwoExperts._play_rounds = staticmethod(compile_rounds(_weigh, learn_nothing))
