"""Loops of `driftgames.certificates.mean_intervals`: a bettor with a deadline, and tails of coins.

No bit depends on the machine. A bet may be any number that is known before its value, so that the
approximation of the normal quantile costs width, not validity.
"""

from __future__ import annotations

import math

from driftgames._kernels.elementary import exp, log, log1p
from driftgames._kernels.jit import brief_kernel, kernel, scalar
from driftgames.core.typing import FloatArray, IntArray

_HALF_LOG_2_PI = 0.9189385332046727
_ROOT_2_PI = 2.5066282746310002
_BANKRUPT = 1e-12  # a chance of success below which a bettor gives up
_BEYOND = 1.02  # the bettor aims at more than it needs, so that hopeless claims are rejected early
_COARSE = 1.0 / 40.0  # the share of delta that rejects claims far from the bound, for speed
_GOLDEN = 0.6180339887498949
_TINY = 1e-18  # terms of a tail below this share of it are left out


@kernel
def lower_bound(
    values: FloatArray, weights: FloatArray, delta: float, n_cells: int, n_parts: int
) -> float:
    """Return a lower bound for the mean of values in [0, 1].

    Cells of a coarse grid are rejected with a small share of ``delta``. From the first that is
    not, all points of a fine grid are tested, with the rest of it.
    """
    cell = 0
    for j in range(1, n_cells):
        if not is_rejected(values, weights, grid_point(j, n_cells), delta * _COARSE):
            break
        cell = j
    bound = grid_point(cell, n_cells)
    for i in range(cell * n_parts + 1, n_cells * n_parts):
        claim = grid_point(i, n_cells * n_parts)
        if not is_rejected(values, weights, claim, delta * (1.0 - _COARSE)):
            break
        bound = claim
    return bound


@scalar
def grid_point(j: int, n_cells: int) -> float:
    """Return a point of a grid that is finer near 0 and 1, as deviations of coins are."""
    u = j / n_cells
    squared = u * u
    return squared / (squared + (1.0 - u) * (1.0 - u))


@brief_kernel
def is_rejected(values: FloatArray, weights: FloatArray, claim: float, delta: float) -> bool:
    """Whether a bettor against a mean of at most ``claim`` makes 1/delta before the deadline.

    Its wealth is the price of an option that pays 1/delta at the deadline if the values are high
    enough, if they are normal: with the chance q of success it bets ``phi(z)/(q deviation)`` with
    ``z = Phi^-1(q)``. The deviation of what is left begins with that of a coin.
    """
    n, spread = values.size, claim * (1.0 - claim)
    squares = inner = 0.0
    wealth = 1.0
    for t in range(n):
        q = delta * wealth / _BEYOND
        if q * _BEYOND >= 1.0:
            return True
        if q <= _BANKRUPT:
            return False
        z = normal_quantile(q)
        # X of mean m has the variance m(1 - m) - E X(1 - X), and a coin has no X(1 - X)
        like_a_coin = max(1.0 - inner / (spread * (0.3 + t)), 0.0)
        known = 1.0 + 3.0 / spread * like_a_coin
        variance = (known * spread * like_a_coin + squares) / (known + t)
        bet = exp(-0.5 * z * z) / (_ROOT_2_PI * q * math.sqrt(variance * (n - t)))
        # no more than there is, and no more than the best value needs
        bet = min(bet, 1.0 / claim, (1.0 / q - 1.0) / (1.0 - claim))
        gain = weights[t] * (values[t] - claim)
        wealth *= max(1.0 + bet * gain, 0.0)
        squares += gain * gain
        inner += values[t] * (1.0 - values[t])
    return delta * wealth >= 1.0


@scalar
def normal_quantile(q: float) -> float:
    """Return the quantile of the standard normal distribution, to about three digits.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23.
    """
    lower = min(q, 1.0 - q)
    t = math.sqrt(-2.0 * log(max(lower, 1e-300)))
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    z = t - above / below
    return -z if q < 0.5 else z


# -------------------------------------------------------------------- coins


@brief_kernel
def coin_upper_bound(successes: int, trials: int, delta: float) -> float:
    """Return a chance p at which ``successes`` or fewer have a probability of at most delta."""
    if successes >= trials:
        return 1.0
    low, high = successes / trials, 1.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if lower_tail(successes, trials, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


@brief_kernel
def coins_upper_bound(successes: IntArray, trials: IntArray, budget: float) -> float:
    r"""Return the largest mean of the chances of several coins within a budget of surprise.

    .. math:: \max \sum_k w_k p_k \quad\text{with}\quad
              \sum_k w_k \ln \frac{1}{\Pr_{p_k}[S_k \le s_k]} \le \text{budget}, \qquad
              w_k = \frac{n_k}{\sum n_k}

    Every multiplier of the constraint gives a bound that is at least that large; the least of them
    is found by golden sections.
    """
    low, high = -40.0, 5.0
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_left = _penalised(successes, trials, budget, exp(left))
    of_right = _penalised(successes, trials, budget, exp(right))
    for _ in range(60):
        if of_left <= of_right:
            high, right, of_right = right, left, of_left
            left = high - _GOLDEN * (high - low)
            of_left = _penalised(successes, trials, budget, exp(left))
        else:
            low, left, of_left = left, right, of_right
            right = low + _GOLDEN * (high - low)
            of_right = _penalised(successes, trials, budget, exp(right))
    return min(of_left, of_right)


@brief_kernel
def _penalised(successes: IntArray, trials: IntArray, budget: float, price: float) -> float:
    """Return the largest mean of chances less ``price`` times the surprise beyond the budget."""
    total = 0
    found = 0.0
    for k in range(trials.size):
        total += trials[k]
        found += trials[k] * _most(successes[k], trials[k], price)
    return price * budget + found / total


@scalar
def _most(successes: int, trials: int, price: float) -> float:
    """Return the largest p less ``price`` times the surprise; it is concave in p.

    A chance below the share of successes is taken as this share, without any surprise.
    """
    if successes >= trials:
        return 1.0
    low, high = successes / trials, 1.0
    best = low
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_left = left - price * surprise(successes, trials, left)
    of_right = right - price * surprise(successes, trials, right)
    for _ in range(60):
        best = max(best, of_left, of_right)
        if of_left >= of_right:
            high, right, of_right = right, left, of_left
            left = high - _GOLDEN * (high - low)
            of_left = left - price * surprise(successes, trials, left)
        else:
            low, left, of_left = left, right, of_right
            right = low + _GOLDEN * (high - low)
            of_right = right - price * surprise(successes, trials, right)
    return best


@scalar
def surprise(successes: int, trials: int, p: float) -> float:
    """Return the surprise of ``successes`` or fewer, ``ln(1 / Pr)``, for ``p`` in (0, 1)."""
    if not 0.0 < p < 1.0:
        return 0.0 if p <= 0.0 else math.inf
    return -log_chance(successes, trials, p) - log(tail_over_last(successes, trials, p))


@brief_kernel
def lower_tail(successes: int, trials: int, p: float) -> float:
    """Return the probability of ``successes`` or fewer, which must be at most ``p trials``."""
    return exp(log_chance(successes, trials, p)) * tail_over_last(successes, trials, p)


@scalar
def tail_over_last(successes: int, trials: int, p: float) -> float:
    """Return the probability of ``successes`` or fewer, over that of exactly ``successes``."""
    term = sum_of_terms = 1.0
    odds = (1.0 - p) / p
    for k in range(successes, 0, -1):
        term *= k * odds / (trials - k + 1.0)
        sum_of_terms += term
        if term <= _TINY * sum_of_terms:
            break
    return sum_of_terms


@scalar
def log_chance(k: int, n: int, p: float) -> float:
    """Return the logarithm of the binomial probability, without cancellation for large n.

    C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
    """
    if k == 0:
        return n * log1p(-p)
    if k == n:
        return n * log(p)
    rest = n - k
    errors = stirling_error(n) - stirling_error(k) - stirling_error(rest)
    distance = deviance(k, n * p) + deviance(rest, n * (1.0 - p))
    return (
        errors - distance - _HALF_LOG_2_PI + 0.5 * (log(1.0 * n) - log(1.0 * k) - log(1.0 * rest))
    )


@scalar
def deviance(k: float, expected: float) -> float:
    """Return ``k log(k / expected) + expected - k``."""
    away = expected - k
    return away - k * log1p(away / k)


@scalar
def stirling_error(n: int) -> float:
    """Return the logarithm of n! less that of Stirling's formula."""
    if n < 16:
        x = 1.0 * n
        log_factorial = 0.0
        for i in range(2, n + 1):
            log_factorial += log(1.0 * i)
        return log_factorial - (x + 0.5) * log(x) + x - _HALF_LOG_2_PI
    x = 1.0 / n
    y = x * x
    return x * (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0))))
