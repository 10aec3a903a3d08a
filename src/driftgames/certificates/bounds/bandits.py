"""Bounds for bandit policies beyond the paper, each with its reference."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._support.checks import (
    FloatArray,
    check_fraction,
    check_fractions,
    check_horizons,
    check_integer,
    check_vector,
)


def exp3_scheduled(
    horizon: npt.ArrayLike, epsilon: npt.ArrayLike, n_arms: int, rates: npt.ArrayLike
) -> FloatArray:
    r"""Return the expected epsilon-regret of EXP3 with learning rates that never rise.

    .. math:: \frac{\ln(1/\epsilon)}{\eta_T} + \frac N2 \sum_{t=1}^T \eta_t

    ``rates`` are those of the rounds 1, 2, ..., at least as many as the horizon. It is Thm. 3.1
    of Bubeck and Cesa-Bianchi, "Regret analysis of stochastic and nonstochastic multi-armed
    bandit problems" (2012), where ``epsilon = 1/N``. Their last step compares the mean of
    :math:`e^{-\eta \hat L_i}` with the best arm; comparing it with the epsilon fraction of arms
    that are at least as good as the one meant gives any epsilon.

    >>> rates = np.sqrt(np.log(10) / (10 * np.arange(1, 1001)))
    >>> float(exp3_scheduled(1000, 0.1, 10, rates).round(1))
    300.0
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    n, (last, total) = check_integer("n_arms", n_arms, least=1), _of_rounds(rates, rounds)
    return np.asarray(np.log(1 / epsilons) / last + n * total / 2)


def exp3_ix(horizon: npt.ArrayLike, n_arms: int, delta: float, rates: npt.ArrayLike) -> FloatArray:
    r"""Return what the regret of EXP3-IX exceeds with probability at most delta.

    .. math:: \frac{2\ln N + \ln(2/\delta)}{\eta_T} + N\sum_{t=1}^T \eta_t + \ln(2/\delta)

    for learning rates that never rise and :math:`\gamma_t = \eta_t/2`: what the proof of Neu,
    "Explore no more" (NIPS 2015), Thm. 1 has before the rates are chosen.

    >>> rates = np.full(10_000, np.sqrt(2 * np.log(10) / (10 * 10_000)))
    >>> float(exp3_ix(10_000, 10, 0.05, rates).round(1))
    1904.5
    """
    rounds, n = check_horizons(horizon), check_integer("n_arms", n_arms, least=1)
    (last, total), doubt = _of_rounds(rates, rounds), math.log(2 / check_fraction("delta", delta))
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


def _of_rounds(
    rates: npt.ArrayLike, rounds: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Return the last rate and the sum of all, up to each of these rounds."""
    each = check_vector("rates", rates)
    if (each <= 0).any() or (np.diff(each) > 0).any():
        raise ValueError("rates must be above 0 and never rise")
    if rounds.max() > each.size:
        raise ValueError(f"rates must cover {rounds.max()} rounds; got {each.size}")
    return np.asarray(each[rounds - 1]), np.asarray(np.cumsum(each)[rounds - 1])
