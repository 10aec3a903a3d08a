r"""The bettor of `off_policy_value`: it buys weighted losses, and sells the noise of the weights.

.. math:: \prod_t \frac{1 + \lambda w_t \ell_t - \mu_t (w_t - 1)}{1 + \lambda \bar v}
"""

from __future__ import annotations

import math

import numpy as np

from driftgames._kernels.elementary import log, log1p
from driftgames._kernels.jit import kernel, scalar
from driftgames.certificates import betting_kernels
from driftgames.certificates.betting import NO_BETS, bet_rates, log_masses
from driftgames.certificates.betting_kernels import SUM, WEIGHT, T
from driftgames.core.typing import FloatArray

TUNED_FOR = 20_000
"""The rounds for which the bettor's rates are chosen; the interval holds for any number."""

_MOST_SOLD = 0.5  # of what may be lost on a pull of the largest weight
_UNKNOWN = 1e12  # a largest weight from here on is as good as none


def lower_end(weights: FloatArray, losses: FloatArray, largest: FloatArray, delta: float) -> float:
    """Return a lower bound for the mean of ``v_t``, at least 0 and at most 1.

    ``largest`` has the largest weight that each round could have had, known before its draw;
    infinity if it is not known.
    """
    target = -log(delta)
    rates = bet_rates(target, TUNED_FOR)
    sums = np.zeros((2, rates.size))
    settle(weights, losses, largest, rates, sums[0])
    numbers = np.zeros(7)
    numbers[[T, WEIGHT, SUM]] = weights.size  # the mean is at most 1
    state = sums, np.vstack([log_masses(False), NO_BETS]), rates, numbers
    if betting_kernels.log_wealth(*state, 1.0)[0] >= target:
        return 1.0
    return betting_kernels.find_bound(*state, 0.0, target)


@kernel
def settle(
    weights: FloatArray,
    losses: FloatArray,
    largest: FloatArray,
    rates: FloatArray,
    sums: FloatArray,
) -> None:
    """Add the logarithm of ``1 + rate w l - sold (w - 1)`` over all rounds, for each rate.

    What is sold depends on earlier rounds alone: on the weighted mean of their losses, with two
    pulls of loss 1/2 before the first.
    """
    pulled = lost = 0.0
    for t in range(weights.size):
        w, most = weights[t], largest[t]
        bought = w * losses[t]
        known = 1.0 < most < _UNKNOWN
        guess = (lost + most) / (pulled + 2.0 * most) if known else 0.5
        for j in range(rates.size):
            sold = best_sale(rates[j], guess, most) if known else 0.0
            sums[j] += log1p(rates[j] * bought - sold * (w - 1.0))
        pulled += w
        lost += bought


@scalar
def best_sale(rate: float, loss: float, most: float) -> float:
    r"""Return how much of ``w - 1`` to sell, where ``w`` is ``most`` or 0.

    The mean logarithm of the wealth is largest where, with :math:`s = \mu(B - 1)`,
    :math:`a = 1 + \lambda B` and :math:`k = 1/(B - 1)`,

    .. math:: \frac{v}{a - s} + \frac{1 - v}{1 - s} = \frac{1}{1 + ks},

    a quadratic equation. Any smaller sale is valid too: at most half of what may be lost is sold,
    because the loss v is a guess.
    """
    k = 1.0 / (most - 1.0)
    a = 1.0 + rate * most
    c = loss + (1.0 - loss) * a
    half = a + c * k
    root = math.sqrt(max(half * half - 4.0 * (1.0 + k) * (a - c), 0.0))
    share: float = 2.0 * (a - c) / (half + root)
    return min(share, _MOST_SOLD) * k
