"""Bounds for bandit policies beyond the paper, each with its reference."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._support.checks import (
    FloatArray,
    as_floats,
    check_fraction,
    check_fractions,
    check_horizons,
    check_integer,
)


def exp3_scheduled(
    epsilon: npt.ArrayLike, n_arms: int, last_rate: npt.ArrayLike, total_rate: npt.ArrayLike
) -> FloatArray:
    r"""Return the expected epsilon-regret of EXP3 with learning rates that never rise.

    .. math:: \frac{\ln(1/\epsilon)}{\eta_T} + \frac N2 \sum_{t=1}^T \eta_t

    ``last_rate`` is the rate of round T and ``total_rate`` the sum of all until then. It is
    Thm. 3.1 of Bubeck and Cesa-Bianchi, "Regret analysis of stochastic and nonstochastic
    multi-armed bandit problems" (2012), where ``epsilon = 1/N``. Their last step compares the
    mean of :math:`e^{-\eta \hat L_i}` with the best arm; comparing it with the epsilon fraction
    of arms that are at least as good as the one meant gives any epsilon.

    >>> rates = np.sqrt(np.log(10) / (10 * np.arange(1, 1001)))
    >>> float(exp3_scheduled(0.1, 10, rates[-1], rates.sum()).round(1))
    300.0
    """
    epsilons, n = check_fractions("epsilon", epsilon), check_integer("n_arms", n_arms, least=1)
    last, total = _check_rates(last_rate, total_rate)
    return np.asarray(np.log(1 / epsilons) / last + n * total / 2)


def exp3_ix(
    n_arms: int, delta: float, last_rate: npt.ArrayLike, total_rate: npt.ArrayLike
) -> FloatArray:
    r"""Return what the regret of EXP3-IX exceeds with probability at most delta.

    .. math:: \frac{2\ln N + \ln(2/\delta)}{\eta_T} + N\sum_{t=1}^T \eta_t + \ln(2/\delta)

    for learning rates that never rise and :math:`\gamma_t = \eta_t/2`: what the proof of Neu,
    "Explore no more" (NIPS 2015), Thm. 1 has before the rates are chosen. ``last_rate`` is the
    rate of round T and ``total_rate`` the sum of all until then.

    The rates do not depend on delta, so it holds for all of them, and integrating it over delta
    bounds the mean of the regret: by the value at ``delta = 1/e``, as
    :math:`\int_0^1 \ln(2/\delta)\,d\delta = \ln(2e)`. For a smaller delta the value is larger,
    and bounds the mean too.

    >>> rate = np.sqrt(2 * np.log(10) / (10 * 10_000))
    >>> float(exp3_ix(10, 0.05, rate, 10_000 * rate).round(1))
    1904.5
    """
    n, (last, total) = check_integer("n_arms", n_arms, least=1), _check_rates(last_rate, total_rate)
    doubt = math.log(2 / check_fraction("delta", delta))
    return np.asarray((2 * math.log(n) + doubt) / last + n * total + doubt)


def tsallis_inf(horizon: npt.ArrayLike, n_arms: int) -> FloatArray:
    r"""Return :math:`4\sqrt{NT} + 1`, the expected regret of Tsallis-INF, any adversary.

    For :math:`\eta_t = 2/\sqrt t` and importance-weighted losses: Zimmert and Seldin,
    "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR 22 (2021),
    Thm. 1.

    >>> float(tsallis_inf(1000, 10))
    401.0
    """
    rounds, n = check_horizons(horizon), check_integer("n_arms", n_arms, least=1)
    return np.asarray(4 * np.sqrt(n * rounds) + 1)


def _check_rates(last: npt.ArrayLike, total: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the last rate and the sum of all, or say why they cannot be that."""
    rate, sums = as_floats("last_rate", last), as_floats("total_rate", total)
    if not ((rate > 0) & (rate <= sums) & np.isfinite(sums)).all():
        raise ValueError(f"rates must be above 0 and among their sum; got {last!r} of {total!r}")
    return rate, sums
