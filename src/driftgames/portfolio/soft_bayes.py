"""Soft-Bayes: no learning rate, no horizon and no limit on how far relatives spread."""

from __future__ import annotations

import numpy as np

from driftgames.certificates.bounds.portfolios import soft_bayes
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio.baseline_kernels import soft_bayes as play_soft_bayes
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced
from driftgames.portfolio.strategy import PortfolioStrategy


class SoftBayes(PortfolioStrategy):
    r"""Bayes' rule at a rate: move by a part of the way to the posterior, less every day.

    .. math:: b_{t+1,i} = \frac{\eta_{t+1}}{\eta_t}\,
              b_{t,i}\Bigl(1 - \eta_t + \eta_t\frac{x_{t,i}}{b_t\cdot x_t}\Bigr)
              + \Bigl(1 - \frac{\eta_{t+1}}{\eta_t}\Bigr)\frac1n, \qquad
              \eta_t = \sqrt{\frac{\ln n}{2nt}}

    Its regret is below :math:`2\sqrt{2nT\ln n}` and a smaller term in **every** market, where
    exponentiated gradient and the Newton step need the least ratio of two relatives of a day.
    A day costs O(n). `certificates.bounds.soft_bayes` derives the bound. L. Orseau, T. Lattimore
    and S. Legg, "Soft-Bayes: Prod for mixtures of experts with log-loss", ALT 2017.

    Examples
    --------
    >>> SoftBayes(2).run([[2.0, 0.5], [2.0, 0.5], [2.0, 0.5]]).portfolios.round(3)
    array([[0.5  , 0.5  ],
           [0.588, 0.412],
           [0.635, 0.365]])
    """

    title = "Soft-Bayes"
    _array_names = ("shares",)

    def __init__(self, n_assets: int, *, cost: float = 0.0) -> None:
        super().__init__(n_assets, cost=cost)
        self._shares = np.full(self._n_assets, 1.0 / self._n_assets)

    def regret_bound(self, best: BestConstantRebalanced) -> float:
        """Return how far the log-wealth may lie below that of ``best``, of the same days."""
        if self._cost:
            raise ValueError(f"there is no bound with costs; got cost={self._cost:g}")
        self._check_same_days(best)
        return float(soft_bayes(self._t, self._n_assets))

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        play_soft_bayes(self._shares, float(self._t), relatives, portfolios)
        return portfolios

    def _set_state(self, state: Content) -> None:
        shares = state.get("shares")
        if isinstance(shares, np.ndarray) and not (shares > 0).all():
            raise ValueError(f"shares must be above 0; got {shares.min():g}")
        super()._set_state(state)
