"""The right-hand side of every theorem, corollary and lemma of [LS14] that states a bound."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import (
    check_fraction,
    check_fractions,
    check_horizons,
    check_integer,
    check_kind,
    check_number,
    check_positive,
    check_vector,
)
from driftgames.core.typing import FloatArray
from driftgames.potentials import Potential, require_potential


def theorem_1(epsilon_regrets: npt.ArrayLike, radius: float) -> float:
    r"""Return the loss that DGv1 can cost a player who hedges with these regrets.

    .. math:: L_T(D_R) \le i/N \quad\text{where}\quad
              \mathbf{R}^{(i+1)/N} < R \le \mathbf{R}^{i/N}

    ``epsilon_regrets`` are those for ``1/N, ..., 1``; ``radius`` is R. [LS14, Thm. 1]
    """
    regrets = check_vector("epsilon_regrets", epsilon_regrets)
    return float(np.count_nonzero(regrets >= radius) / regrets.size)


def theorem_2(potential: Potential, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return R with :math:`\Phi_T(-R) = \Phi_0(0)/\epsilon`: the epsilon-regret of Algorithm 3.

    [LS14, Thm. 2]
    """
    check_kind("potential", potential, Potential)
    require_potential(potential, horizon)
    return potential.bound(horizon, epsilon)


def exponential_weights(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return :math:`\sqrt{2 T \ln(1/\epsilon)}`, for EXP tuned to T and epsilon.

    [LS14, Sec. 3.3]
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    return np.asarray(np.sqrt(2 * rounds * np.log(1 / epsilons)))


def corollary_1(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return :math:`\sqrt{T/\epsilon}`, for the 2-norm algorithm. [LS14, Cor. 1]"""
    return np.sqrt(check_horizons(horizon) / check_fractions("epsilon", epsilon))


def corollary_2(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return the printed bound of NormalHedge.DT with ``d = 3``.

    .. math:: \sqrt{3T \ln\bigl(\tfrac{1}{2\epsilon}(e^{4/3}-1)(\ln T + 1) + 1\bigr)}

    [LS14, Cor. 2]
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    one_less_b = math.expm1(4 / 3) * (np.log(rounds) + 1) / 2
    return np.asarray(np.sqrt(3 * rounds * np.log1p(one_less_b / epsilons)))


def relaxed_game_value(horizon: int, radius: int) -> float:
    r"""Return :math:`2^{-T}\sum_{j=0}^{(T-R)/2}\binom{T+1}{j}`, for ``T - R`` even.

    The value of DGv1 without the rule on differences, which [LS14, Sec. 3.2] quotes from
    Mukherjee and Schapire (2010).

    >>> relaxed_game_value(4, 2)
    0.375
    """
    T = check_integer("horizon", horizon, least=1)
    R = check_integer("radius", radius, least=0)
    if (T - R) % 2 or R > T:
        raise ValueError(f"T - R must be even and nonnegative; got T={T}, R={R}")
    if T < 1000:
        return float(Fraction(sum(math.comb(T + 1, j) for j in range((T - R) // 2 + 1)), 2**T))
    from scipy.special import betainc

    fewest = (T - R) // 2
    return 2 * float(betainc(T + 1 - fewest, fewest + 1, 0.5))  # the tail of a binomial


def relaxed_game_hoeffding(horizon: int, radius: float) -> float:
    r"""Return :math:`2\exp(-(R+1)^2 / (2(T+1)))`, above `relaxed_game_value`. [LS14, Sec. 3.2]"""
    T = check_integer("horizon", horizon, least=1)
    R = check_number("radius", radius)
    return 2 * math.exp(-((R + 1) ** 2) / (2 * (T + 1)))


def high_probability(potential: Potential, horizon: int, n_actions: int, delta: float) -> float:
    r"""Return what the regret of drawn actions exceeds with probability at most delta.

    It is the bound of Theorem 2 at :math:`\epsilon = \delta/N`. [LS14, Sec. 3.4]
    """
    check_kind("potential", potential, Potential)
    n = check_integer("n_actions", n_actions, least=1)
    return float(theorem_2(potential, horizon, check_fraction("delta", delta) / n))


def theorem_5(
    horizon: npt.ArrayLike, epsilon: npt.ArrayLike, n_arms: int, eta: float
) -> FloatArray:
    r"""Return the expected epsilon-regret of EXP3 with learning rate ``eta``.

    .. math:: \frac1\eta\ln\frac1\epsilon
              + \frac T\eta\ln\Bigl(\frac{e^\eta+e^{-\eta}}2 + \frac12 N e^\eta\eta^2\Bigr)

    [LS14, Thm. 5]
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    n, rate = check_integer("n_arms", n_arms, least=1), check_positive("eta", eta)
    return np.asarray((rounds * _exp3_growth(n, rate) - np.log(epsilons)) / rate)


def _exp3_growth(n_arms: int, eta: float) -> float:
    """Return the logarithm in Theorem 5 so that it neither cancels nor overflows."""
    if eta <= 1:
        # cosh(eta) - 1 is 2 sinh(eta/2)**2
        return math.log1p(2 * math.sinh(eta / 2) ** 2 + n_arms * math.exp(eta) * eta**2 / 2)
    rest = (1 + math.exp(-2 * eta)) / eta / eta
    return eta + 2 * math.log(eta) + math.log((rest + n_arms) / 2)


def theorem_5_tuned(horizon: npt.ArrayLike, epsilon: npt.ArrayLike, n_arms: int) -> FloatArray:
    r"""Return :math:`\sqrt{2T(1 + N\sqrt e)\ln(1/\epsilon)}`, for EXP3 with the best eta <= 1.

    [LS14, Thm. 5]
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    n = check_integer("n_arms", n_arms, least=1)
    return np.asarray(np.sqrt(2 * rounds * (1 + n * math.sqrt(math.e)) * np.log(1 / epsilons)))


def theorem_6(
    potential: Potential, horizon: npt.ArrayLike, epsilon: npt.ArrayLike, dimension: int
) -> FloatArray:
    r"""Return :math:`R + T\epsilon^{1/d}`, the regret to the best point of a convex set.

    R is the epsilon-regret of Theorem 2, which holds on the set as it stands; epsilon is free
    and the best one may be chosen afterwards. [LS14, Thm. 6]
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    check_kind("potential", potential, Potential)
    d = check_integer("dimension", dimension, least=1)
    return np.asarray(theorem_2(potential, rounds, epsilons) + rounds * epsilons ** (1 / d))
