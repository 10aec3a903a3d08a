r"""How far a portfolio strategy can fall behind the best constant rebalanced portfolio.

All are bounds on the regret in log-wealth, :math:`\ln W^*_T - \ln W_T`, for every market.

References
----------
.. [C91] T. Cover, "Universal portfolios", Mathematical Finance 1 (1991).
.. [CO96] T. Cover and E. Ordentlich, "Universal portfolios with side information", IEEE
   Transactions on Information Theory 42 (1996).
.. [BK99] A. Blum and A. Kalai, "Universal portfolios with and without transaction costs",
   Machine Learning 35 (1999).
.. [HSSW98] D. Helmbold, R. Schapire, Y. Singer and M. Warmuth, "On-line portfolio selection
   using multiplicative updates", Mathematical Finance 8 (1998).
.. [AHKS06] A. Agarwal, E. Hazan, S. Kale and R. Schapire, "Algorithms for portfolio management
   based on the Newton method", ICML 2006.
.. [OLL17] L. Orseau, T. Lattimore and S. Legg, "Soft-Bayes: Prod for mixtures of experts with
   log-loss", ALT 2017.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import (
    check_between,
    check_fraction,
    check_fractions,
    check_horizons,
    check_integer,
    check_positive,
)
from driftgames.core.typing import FloatArray

_MOST_SUMMED = 1_000_000  # rounds whose terms are added one by one


def universal_portfolio(horizon: npt.ArrayLike, n_assets: int, cost: float = 0.0) -> FloatArray:
    r"""Return :math:`\ln\binom{T+n-1}{n-1} \le (n-1)\ln(T+1)`, for Cover's universal portfolio.

    It needs nothing of the market, not even that prices stay within a range, but the integral
    over all portfolios: points that stand for it do not keep the bound in every market, and
    promise `universal_portfolio_quantile`. [C91]_, [CO96]_

    With a ``cost`` c, a share of the value traded, T stands for :math:`(1+\kappa)T` with
    :math:`\kappa = 2c/(1-c)`, and the regret is to the best portfolio that pays for its own
    rebalancing. The proof is that of [BK99]_: of the portfolio :math:`(1-\alpha)b^* + \alpha z`
    keep the part in :math:`b^*`, rebalance that to :math:`b^*`, and then to the portfolio
    itself, which costs a factor of :math:`1 + \kappa\alpha` at most. So a day leaves at least
    :math:`(1-\alpha)/(1+\kappa\alpha) \ge (1-\alpha)^{1+\kappa}` of what :math:`b^*` has, and
    the portfolios with this :math:`\alpha` or less fill :math:`\alpha^{n-1}` of the volume.

    >>> round(float(universal_portfolio(1, 2)), 4)
    0.6931
    >>> round(float(universal_portfolio(1000, 2, cost=0.01)), 4)
    6.9287
    """
    from scipy.special import gammaln  # slow to import

    rounds, n = check_horizons(horizon), check_integer("n_assets", n_assets, least=2)
    c = check_between("cost", cost, 0.0, 0.5)
    days = rounds * (1.0 + 2.0 * c / (1.0 - c))
    return np.asarray(gammaln(days + n) - gammaln(n) - gammaln(days + 1.0))


def universal_portfolio_quantile(epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return :math:`\ln(1/\epsilon)`, the epsilon-regret of a universal portfolio.

    Its wealth is the mean wealth of all portfolios, so at least epsilon times that of the best
    epsilon of them; it holds for any prior and any number of points. At the share of a single
    point it is the regret to that point. [C91]_
    """
    return np.asarray(-np.log(check_fractions("epsilon", epsilon)))


def exponentiated_gradient(
    horizon: npt.ArrayLike, n_assets: int, variability: float, eta: float | None = None
) -> FloatArray:
    r"""Return the log-regret of the exponentiated gradient with learning rate ``eta``.

    .. math:: \frac{\ln n}{\eta} + \frac{\eta T}{8 r^2}, \qquad
              \eta = 2r\sqrt{2 \ln n / T} \ \text{ gives } \ \frac{\sqrt{2 T \ln n}}{2 r}

    ``variability`` is r: the lowest relative of a day over the highest is never below it.
    Without ``eta`` the tuned one is meant. [HSSW98]_
    """
    rounds, n = check_horizons(horizon), check_integer("n_assets", n_assets, least=2)
    r = check_fraction("variability", variability)
    if eta is None:
        return np.asarray(np.sqrt(2 * rounds * math.log(n)) / (2 * r))
    rate = check_positive("eta", eta)
    return np.asarray(math.log(n) / rate + rate * rounds / (8 * r**2))


def online_newton_step(horizon: npt.ArrayLike, n_assets: int, variability: float) -> FloatArray:
    r"""Return :math:`\frac{10\,n^{3/2}}{r}\ln\frac{nT}{r^2}`, the log-regret of Newton's step.

    It is for ``beta = r / (8 sqrt(n))``, ``delta = 1`` and no mixing; ``variability`` is r, as
    for `exponentiated_gradient`. [AHKS06]_
    """
    rounds, n = check_horizons(horizon), check_integer("n_assets", n_assets, least=2)
    r = check_fraction("variability", variability)
    return np.asarray(10 * n**1.5 / r * np.log(n * rounds / r**2))


def soft_bayes(horizon: npt.ArrayLike, n_assets: int) -> FloatArray:
    r"""Return the log-regret of Soft-Bayes with :math:`\eta_t = \sqrt{\ln n/(2nt)}`, any market.

    .. math:: \frac{\ln n}{\eta_T} + \sum_{t=1}^T \Bigl(n\kappa_t\eta_t + \kappa_t - 1\Bigr)
              \approx 2\sqrt{2nT\ln n}, \qquad \kappa_t = -\frac{\ln(1-\eta_t)}{\eta_t}

    The algorithm and the leading term are those of [OLL17]_. The form follows from these steps.
    Let :math:`r_i = x_i/(b\cdot x)` and :math:`u_i = 1 - \eta + \eta r_i`, so that the shares
    move by the factors u.

    1. For every portfolio a, :math:`\ln a\cdot r - \frac1\eta\sum_i a_i \ln u_i \le \kappa - 1
       + \max_i [\ln u_i]_+`. Bound :math:`-\ln u_i` by its chord where :math:`r_i \le 1`, let
       these assets hold what makes the left side largest, and use
       :math:`\ln(1+y) \ge 2y/(2+y)` for the others.
    2. The logarithm is concave, so
       :math:`\ln nb_{t+1,i} \ge \frac{\eta_{t+1}}{\eta_t}(\ln nb_{t,i} + \ln u_i)`, and
       :math:`\sum_t \frac1{\eta_t}\ln u_{t,i} \le \ln n/\eta_T`.
    3. By the same inequality and :math:`\sum_i \ln nb_i \le 0`, the sum of all
       :math:`\ln u_{t,i}` is at most 0. Each is at least :math:`-\kappa_t\eta_t`, so the positive
       ones sum to at most :math:`\sum_t n\kappa_t\eta_t`.

    >>> float(soft_bayes(1000, 2).round(1))
    118.9
    """
    rounds, n = check_horizons(horizon), check_integer("n_assets", n_assets, least=2)
    c = math.sqrt(math.log(n) / (2 * n))
    summed = int(min(rounds.max(initial=1), _MOST_SUMMED))
    eta = c / np.sqrt(np.arange(1.0, summed + 1))
    drift = -np.log1p(-eta)
    totals = np.cumsum(n * drift + drift / eta - 1.0)
    # beyond, kappa - 1 is at most in proportion to eta, because it is convex and 0 at 0
    kappa = drift[-1] / eta[-1]
    rest = 2.0 * c * (np.sqrt(np.maximum(rounds, summed)) - math.sqrt(summed))
    late = rest * (n * kappa + (kappa - 1.0) / eta[-1])
    last = math.log(n) * np.sqrt(rounds) / c
    return np.asarray(last + totals[np.minimum(rounds, summed) - 1] + late)
