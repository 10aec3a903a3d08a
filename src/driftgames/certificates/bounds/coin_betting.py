r"""How far a bettor on the gradients of convex losses can fall behind any point.

References
----------
.. [OP16] F. Orabona and D. Pal, "Coin betting and parameter-free online learning", NeurIPS 2016.
.. [LS15] H. Luo and R. E. Schapire, "Achieving all with no parameters: AdaNormalHedge", COLT
   2015, from which the clock is: the sum of the absolute moves instead of their number.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats, check_positive, shown
from driftgames.core.typing import FloatArray

_HALVINGS = 100  # of an interval: all bits of a float and more


def log_krichevsky_trofimov(positions: npt.ArrayLike, clock: npt.ArrayLike) -> FloatArray:
    r"""Return the logarithm of the Krichevsky-Trofimov potential at ``|x| <= S``.

    .. math:: F_S(x) = \frac{2^S}{\pi\,\Gamma(S+1)}\,\Gamma\Bigl(\frac{S+1+x}2\Bigr)
              \Gamma\Bigl(\frac{S+1-x}2\Bigr)

    It is even, log-convex and a martingale, :math:`F_{S+1}(x+1) + F_{S+1}(x-1) = 2 F_S(x)`, with
    :math:`F_0(0) = 1`. [OP16]_

    >>> round(float(np.exp(log_krichevsky_trofimov(2.0, 2.0))), 12)
    1.5
    """
    from scipy.special import gammaln  # slow to import

    x, S = as_floats("positions", positions), as_floats("clock", clock)
    if not (np.abs(x) <= S).all():
        raise ValueError("positions must lie within the clock of 0")
    tails = gammaln((S + 1 + x) / 2) + gammaln((S + 1 - x) / 2)
    return np.asarray(S * math.log(2) + tails - gammaln(S + 1) - math.log(math.pi))


def coin_betting(clock: npt.ArrayLike, stake: float = 1.0) -> FloatArray:
    r"""Return the regret of a bettor to every point within 1, for gradients of length 1 at most.

    .. math:: \epsilon + \max_{0\le x\le S}\ \bigl(x - \epsilon F_S(x)\bigr)
              \ \le\ \epsilon + \sqrt{S\ln(1 + 24 S^2/\epsilon^2)}, \qquad
              S = \sum_t |g_t|

    The bettor begins with the wealth epsilon, the ``stake``, and holds
    :math:`\epsilon F_S(|\sum_t g_t|)` at least; the maximum is over what that leaves of the
    regret (the conjugate of the potential), which is what is returned. The form with the root
    is the corollary of [OP16]_ and needs ``S >= 1``. The proof is in `oco.CoinBetting`. For points
    within R and gradients of length G it is ``G R coin_betting(S / G, stake)`` with a stake in
    units of R.

    >>> round(float(coin_betting(10_000.0)), 1)
    377.2
    """
    from scipy.special import digamma  # slow to import

    S, epsilon = as_floats("clock", clock), check_positive("stake", stake)
    if not ((S >= 0) & np.isfinite(S)).all():
        raise ValueError(f"clock must be finite and nonnegative; got {shown(clock)}")
    low, high = np.zeros(S.shape), S.copy()
    # the slope of x - epsilon F(x) falls: halve the interval in which it is zero
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        growth = (digamma((S + 1 + x) / 2) - digamma((S + 1 - x) / 2)) / 2
        with np.errstate(divide="ignore"):
            log_slope = math.log(epsilon) + log_krichevsky_trofimov(x, S) + np.log(growth)
        low, high = np.where(log_slope < 0, x, low), np.where(log_slope < 0, high, x)
    # below high there is no more to gain, and at low the potential is no larger
    return np.asarray(epsilon + high - epsilon * np.exp(log_krichevsky_trofimov(low, S)))
