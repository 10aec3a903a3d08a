"""Five strategies that are easy to state, to compare the universal portfolio with."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.moments import cholesky
from driftgames._kernels.sums import matvec
from driftgames.certificates.bounds import portfolios as bounds
from driftgames.core.checks import check_between, check_fraction, check_integer, check_positive
from driftgames.core.schema import NUMBER, Schema, array_of
from driftgames.core.state import check_arrays
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio import trading_kernels as kernels
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced
from driftgames.portfolio.strategy import PortfolioStrategy
from driftgames.potentials import NoBoundError

_STEPS = (1e-9, 1e9)  # of Newton's method; the solutions of its equations keep digits
_ROUNDING = 1e-9
_LARGEST_RATE = 1e6  # one day then decides alone, and the sums of many days stay finite


class UniformRebalancing(PortfolioStrategy):
    """Hold the same share of every asset, every day.

    Examples
    --------
    >>> UniformRebalancing(2).run([[2.0, 0.5], [0.5, 2.0]]).wealth
    array([1.25  , 1.5625])
    """

    title = "uniform rebalancing"

    def _play(self, relatives: FloatArray) -> FloatArray:
        return np.full((relatives.shape[0] + 1, self._n_assets), 1.0 / self._n_assets)


class BuyAndHold(PortfolioStrategy):
    """Buy the same share of every asset and never trade again.

    Examples
    --------
    >>> BuyAndHold(2).run([[2.0, 0.5], [0.5, 2.0]]).wealth
    array([1.25, 1.  ])
    """

    title = "buy and hold"
    _array_names = ("log_prices",)

    def __init__(self, n_assets: int, *, cost: float = 0.0) -> None:
        super().__init__(n_assets, cost=cost)
        self._log_prices = np.zeros(self._n_assets)

    def _play(self, relatives: FloatArray) -> FloatArray:
        prices = np.cumsum(
            np.concatenate([self._log_prices[np.newaxis], log_all(relatives)]), axis=0
        )
        self._log_prices = prices[-1]
        shares = exp_all(prices - prices.max(axis=1, keepdims=True))
        return shares / matvec(shares, np.ones(self._n_assets))[:, np.newaxis]


class ExponentiatedGradient(PortfolioStrategy):
    r"""Move towards what the day favoured, by a factor per asset.

    .. math:: b_{t+1,i} \propto b_{t,i} \exp\Bigl(\eta \frac{x_{t,i}}{b_t\cdot x_t}\Bigr)

    Its regret is bounded by `certificates.bounds.exponentiated_gradient`. Helmbold, Schapire,
    Singer and Warmuth (1998), who trade with ``eta = 0.05``.

    Examples
    --------
    >>> ExponentiatedGradient(2, eta=1.0).run([[2.0, 0.5], [2.0, 0.5]]).portfolios.round(3)
    array([[0.5  , 0.5  ],
           [0.769, 0.231]])
    """

    title = "exponentiated gradient"
    _array_names = ("logits",)
    _named_arguments: ClassVar[Schema] = {**PortfolioStrategy._named_arguments, "eta": NUMBER}

    def __init__(self, n_assets: int, *, eta: float = 0.05, cost: float = 0.0) -> None:
        super().__init__(n_assets, cost=cost)
        self._eta = check_between("eta", check_positive("eta", eta), 0.0, _LARGEST_RATE)
        self._logits = np.zeros(self._n_assets)

    @classmethod
    def tuned(cls, n_assets: int, horizon: int, variability: float) -> ExponentiatedGradient:
        r"""Return the strategy with :math:`\eta = 2r\sqrt{2\ln n/T}`.

        ``variability`` is r, the least that the lowest relative of a day is over the highest.
        """
        n = check_integer("n_assets", n_assets, least=2)
        rounds = check_integer("horizon", horizon, least=1)
        r = check_fraction("variability", variability)
        return cls(n, eta=2 * r * math.sqrt(2 * math.log(n) / rounds))

    def _bound(self, best: BestConstantRebalanced) -> float:
        n, r = self._n_assets, best.variability
        return float(bounds.exponentiated_gradient(self._t, n, r, self._eta))

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        kernels.exponentiated_gradient(self._logits, relatives, self._eta, portfolios)
        return portfolios


class OnlineNewtonStep(PortfolioStrategy):
    r"""Newton's method on the log-wealth, one step a day.

    .. math:: b_{t+1} = (1-\eta)\,\Pi^{A_t}\Bigl(\delta A_t^{-1}\bigl(1+\tfrac1\beta\bigr)
              \sum_{\tau\le t} g_\tau\Bigr) + \frac{\eta}{n}, \qquad
              A_t = I + \sum_{\tau\le t} g_\tau g_\tau^\top, \qquad
              g_\tau = \frac{x_\tau}{b_\tau\cdot x_\tau}

    where the projection onto the simplex is in the norm of :math:`A_t`. The defaults are those
    of the published experiments; the bound, `certificates.bounds.online_newton_step`, is for
    `guaranteed`. Agarwal, Hazan, Kale and Schapire (2006).

    Notes
    -----
    The published ``delta = 1/8`` aims so low that the projection favours what has lost: where
    one asset wins every day it ends up without it. That pays on the markets of the published
    experiments, whose prices swing back, and is not what the bound is about.

    Examples
    --------
    >>> OnlineNewtonStep(2).run([[2.0, 0.5], [2.0, 0.5]]).portfolios.round(3)
    array([[0.5  , 0.5  ],
           [0.238, 0.762]])
    """

    title = "online Newton step"
    _array_names = ("curvature", "gradients", "start")
    _named_arguments: ClassVar[Schema] = {
        **PortfolioStrategy._named_arguments,
        **dict.fromkeys(("beta", "delta", "mix"), NUMBER),
    }

    def __init__(
        self,
        n_assets: int,
        *,
        beta: float = 1.0,
        delta: float = 0.125,
        mix: float = 0.0,
        cost: float = 0.0,
    ) -> None:
        super().__init__(n_assets, cost=cost)
        self._beta = check_between("beta", check_positive("beta", beta), *_STEPS)
        self._delta = check_between("delta", check_positive("delta", delta), *_STEPS)
        self._mix = check_between("mix", mix, 0.0, 1.0)
        self._curvature = np.eye(self._n_assets)
        self._gradients = np.zeros(self._n_assets)
        self._start = np.full(self._n_assets, 1.0 / self._n_assets)

    @classmethod
    def guaranteed(cls, n_assets: int, variability: float) -> OnlineNewtonStep:
        """Return the strategy that the bound is for; ``variability`` as for the bound."""
        n = check_integer("n_assets", n_assets, least=2)
        r = check_fraction("variability", variability)
        return cls(n, beta=r / (8 * math.sqrt(n)), delta=1.0)

    def _bound(self, best: BestConstantRebalanced) -> float:
        n = self._n_assets
        assumed = self._beta * 8 * math.sqrt(n)  # the variability that `guaranteed` was given
        if self._delta != 1.0 or self._mix or assumed * (1 - 1e-12) > best.variability:
            raise NoBoundError(
                f"the bound of {self.title} is for `guaranteed`, with a variability of at most "
                f"that of the days; got beta={self._beta:g}, delta={self._delta:g} and "
                f"mix={self._mix:g} on days of variability {best.variability:g}"
            )
        return float(bounds.online_newton_step(self._t, n, min(assumed, best.variability)))

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        kernels.online_newton_step(
            self._curvature,
            self._gradients,
            self._start,
            relatives,
            self._beta,
            self._delta,
            self._mix,
            portfolios,
        )
        return portfolios

    def _set_state(self, state: Content) -> None:
        check_arrays(state, self._get_state())
        A = state["curvature"]
        sizes = np.sqrt(np.abs(np.diag(A)))
        with np.errstate(all="ignore"):
            scaled = A / sizes / sizes[:, np.newaxis]
        # rounding errors of many days stay far below the spare part of the diagonal
        spare = scaled + _ROUNDING * np.eye(self._n_assets)
        factor = cholesky(np.nan_to_num(spare, nan=0.0), 0.0)
        if not (np.array_equal(A, A.T) and (np.diag(A) >= 1).all() and np.diag(factor).all()):
            raise ValueError("curvature must be the identity and a sum of squares")
        super()._set_state(state)

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        n = arguments.get("n_assets")
        return ours, {**state, "curvature": array_of(n, n)}


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

    def _bound(self, best: BestConstantRebalanced) -> float:
        return float(bounds.soft_bayes(self._t, self._n_assets))

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        kernels.soft_bayes(self._shares, float(self._t), relatives, portfolios)
        return portfolios

    def _set_state(self, state: Content) -> None:
        shares = state.get("shares")
        if isinstance(shares, np.ndarray) and not (shares > 0).all():
            raise ValueError(f"shares must be above 0; got {shares.min():g}")
        super()._set_state(state)
