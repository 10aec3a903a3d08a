"""AdaBoost.OL: online boosting that adapts to the edges that the weak learners have."""

from __future__ import annotations

import math

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames._kernels.sums import dot, total
from driftgames.core.checks import check_range
from driftgames.core.schema import OBJECT, Schema, array_of
from driftgames.core.state import check_arrays, nested, restore_nested
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge import AdaHedge
from driftgames.online_boosting.online_booster import OnlineBooster

LARGEST_VOTE = 2.0
"""The votes of the weak learners lie in [-2, 2]."""


class AdaBoostOL(OnlineBooster):
    r"""Logistic weights, votes by gradient steps, and AdaHedge over the number of weak learners.

    .. math:: w_{t,i} = \frac1{1 + e^{s_{t,i-1}}}, \qquad
              s_{t,i} = s_{t,i-1} + \alpha_{t,i} z_{t,i}, \qquad
              \alpha_{t+1,i} = \Pi_{[-2,2]}\Bigl(\alpha_{t,i} +
              \frac{4}{\sqrt{2 G_{t,i}}}\, \frac{z_{t,i}}{1 + e^{s_{t,i}}}\Bigr)

    where :math:`z_{t,i} = \pm1` says whether weak learner i is right and :math:`G_{t,i}` is the sum
    of the squared gradients. Expert i predicts by the first i weak learners, and AdaHedge mixes the
    N experts. No edge need be known. The expected number of mistakes is at most

    .. math:: \frac{T\ln 2 + \sum_i 4\sqrt{2G_{T,i}}}{\sum_i \gamma_i^2} + R_T

    for the realised edges :math:`\gamma_i` and the regret :math:`R_T` of AdaHedge. Beygelzimer,
    Kale and Luo (2015), Alg. 2.

    Parameters
    ----------
    n_learners : int
        N.

    Notes
    -----
    The bound holds on every stream; its form follows from these steps. Let
    :math:`\ell(s) = \ln(1+e^{-s})`. Since
    :math:`\ell(s + \alpha z) - \ell(s) \le w(s)(e^{-\alpha z} - 1)`, the best fixed vote in [-2, 2]
    lowers the sum of losses by at least :math:`2\gamma_i^2 \sum_t w_{t,i}`. The gradient steps
    lose at most :math:`4\sqrt{2G_{T,i}}` to it, because gradients are below 1 and the interval is 4
    wide. All N steps begin with :math:`T\ln 2` and end above 0. An example on which expert i errs
    has a weight of at least 1/2 for weak learner i + 1, so the least number of mistakes of an
    expert, times :math:`\sum_i\gamma_i^2`, is at most the numerator.

    The paper has the rate :math:`4/\sqrt t` and draws an expert; here the rate follows the
    gradients, and the vote is the mean of the experts' labels. Mistakes are those of a drawn
    expert, on average. The label by the sign of the vote makes at most twice as many.

    Examples
    --------
    >>> booster = AdaBoostOL(2)
    >>> booster.update([1, -1], label=1)
    array([1., 1.])
    >>> booster.vote([1, -1])
    1.0
    """

    title = "AdaBoost.OL"
    _caveat = "mean mistakes of a drawn expert"

    def __init__(self, n_learners: int) -> None:
        super().__init__(n_learners)
        self._votes, self._squares = np.zeros((2, self._n_learners))
        self._hedge = AdaHedge(self._n_learners)

    @property
    def votes(self) -> FloatArray:
        """The vote of each weak learner."""
        return self._votes.copy()

    def _vote(self, predictions: FloatArray) -> float:
        experts = np.sign(np.cumsum(self._votes * predictions))
        return dot(np.asarray(self._hedge.distribution(), np.float64), experts)

    def _move(self, moves: FloatArray) -> tuple[FloatArray, float]:
        margins = np.cumsum(self._votes * moves)
        slopes = 1.0 / (1.0 + exp_all(np.append(0.0, margins)))
        mistake = self._hedge.update((margins <= 0).astype(np.float64))
        gradients = moves * slopes[1:]
        self._squares += gradients * gradients
        steps = 2 * LARGEST_VOTE / np.sqrt(2.0 * self._squares) * gradients
        self._votes = np.clip(self._votes + steps, -LARGEST_VOTE, LARGEST_VOTE)
        return slopes[:-1], mistake

    def _promised(self) -> float:
        regrets = 2 * LARGEST_VOTE * total(np.sqrt(2.0 * self._squares))
        squares = dot(self.edges, self.edges)
        if squares == 0.0:
            return float(self._t)
        least = min(self._t, (self._t * math.log(2) + regrets) / squares)
        regret = self._hedge.certificate().at(1.0 / self._n_learners).promised
        return min(float(self._t), least + regret)

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        array = array_of(arguments.get("n_learners"))
        return ours, {**state, "votes": array, "squares": array, "hedge": OBJECT}

    def _get_state(self) -> Content:
        own = {"votes": self._votes, "squares": self._squares, "hedge": nested(self._hedge)}
        return {**super()._get_state(), **own}

    def _set_state(self, state: Content) -> None:
        check_arrays(state, self._get_state())
        check_range("votes", state["votes"], -LARGEST_VOTE, LARGEST_VOTE)
        # the first gradient is 1/2, and none is above 1
        check_range("squares", state["squares"], 0.25 * (state["t"] > 0), float(state["t"]))
        hedge = restore_nested(state["hedge"], AdaHedge)
        if (hedge.n_actions, hedge.t) != (self._n_learners, state["t"]):
            raise ValueError(f"hedge must be of {self._n_learners} experts and {state['t']} rounds")
        super()._set_state(state)
        self._votes, self._squares, self._hedge = state["votes"], state["squares"], hedge
