"""Bounds of learners from expert advice beyond [LS14], for losses in [0, 1].

All but the first also come in a form that knows how easy the run was; without that knowledge
they assume the worst.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import (
    as_floats,
    check_between,
    check_fraction,
    check_fractions,
    check_horizons,
    check_integer,
    check_number,
    check_positive,
)
from driftgames.core.typing import FloatArray


def normal_hedge(horizon: npt.ArrayLike, epsilon: npt.ArrayLike, n_actions: int) -> FloatArray:
    r"""Return the epsilon-regret of NormalHedge, at the best of its free :math:`\delta`.

    .. math:: \min_{0 < \delta \le 1/2} \sqrt{\Bigl(1 + \ln\frac1\epsilon\Bigr)
              \Bigl(3(1 + 50\delta)T + \frac{16\ln^2 N}{\delta}
              \Bigl(\frac{10.2}{\delta^2} + \ln N\Bigr)\Bigr)}

    The best :math:`\delta` shrinks with T, so that the leading term is that of
    :math:`\sqrt{3T(1 + \ln(1/\epsilon))}` and the price of N does not grow with T as fast.
    K. Chaudhuri, Y. Freund and D. Hsu, "A parameter-free hedging algorithm", NeurIPS 2009,
    Theorem 1; quoted in [LS14, Tab. 1].

    >>> float(normal_hedge(10**6, 0.1, 10)) > float(normal_hedge(10**6, 0.1, 2))
    True
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    log_n = math.log(check_integer("n_actions", n_actions, least=1))
    if log_n == 0.0:
        return np.zeros(np.broadcast_shapes(rounds.shape, epsilons.shape))
    # where the derivative in delta is zero, x = 1 / delta^2 solves a x^2 + ln(N) x = c
    a, c = 30.6, 150 * rounds / (16 * log_n**2)
    x = np.maximum((np.sqrt(log_n**2 + 4 * a * c) - log_n) / (2 * a), 4.0)
    delta = 1 / np.sqrt(x)
    price = 16 * log_n**2 / delta * (10.2 * x + log_n)
    spent = 3 * (1 + 50 * delta) * rounds + price
    return np.asarray(np.sqrt((1 + np.log(1 / epsilons)) * spent))


def ada_normal_hedge(
    horizon: npt.ArrayLike, epsilon: npt.ArrayLike, *, spread: npt.ArrayLike | None = None
) -> FloatArray:
    r"""Return the epsilon-regret of AdaNormalHedge.

    .. math:: \sqrt{3 C \ln(B/\epsilon)}, \qquad B = 1 + \tfrac32\bigl(1 + \ln(1 + T)\bigr)

    where C is the mean of :math:`C_i = \sum_t |r_{t,i}|` over the actions that make up epsilon:
    ``spread``, or T without it. H. Luo and R. E. Schapire, "Achieving all with no parameters:
    AdaNormalHedge", COLT 2015, Theorem 1. Derived from their potential: the prior mean of
    :math:`e^{[R_i]_+^2/3C_i}` is at most B. So its mean over the best epsilon is at most
    :math:`B/\epsilon`, Jensen's inequality gives the mean of :math:`R_i^2/C_i` at most
    :math:`3\ln(B/\epsilon)`, and the inequality of Cauchy and Schwarz the mean of the regrets.

    >>> round(float(ada_normal_hedge(1000, 0.01)), 1)
    146.6
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    mean = rounds if spread is None else as_floats("spread", spread)
    log_b = np.log(1 + 1.5 * (1 + np.log1p(rounds)))
    return np.asarray(np.sqrt(3 * mean * (log_b + np.log(1 / epsilons))))


def ada_normal_hedge_scaled(
    epsilon: npt.ArrayLike,
    *,
    scale: float,
    first_scale: float,
    spread: npt.ArrayLike,
    log_growth: float,
) -> FloatArray:
    r"""Return the epsilon-regret of AdaNormalHedge on losses of any size.

    .. math:: S - S_1 + \sqrt{3 S C \ln(B/\epsilon)}, \qquad
              B = 1 + 3\sum_i q_i \ln\Bigl(1 + \frac{C_i}{S_1}\Bigr)

    S is the largest :math:`|r_{t,i}|` of the run and :math:`S_1` its first positive value,
    :math:`C_i` is the sum of the clipped :math:`|\bar r_{t,i}|`, and C is their mean over the
    actions that make up epsilon. ``scale`` is S, ``first_scale`` is :math:`S_1`, ``spread`` is C,
    and ``log_growth`` is the sum in B.

    Derived: at a fixed scale the potential is :math:`e^{[R_i]_+^2/3SC_i}`, and a round adds at most
    :math:`\frac32|\bar r|/(C_i + S)` to its mean (`ada_normal_hedge`). A larger scale lowers it.
    The additions sum to at most :math:`3\ln(1 + C_i/S_1)`, because
    :math:`x/(c+S) \le 2\ln\frac{c+x+S_1}{c+S_1}` for :math:`x \le S`. Clipping costs at most
    :math:`S - S_1`.

    >>> run = {"scale": 2.0, "first_scale": 0.5, "spread": 50.0, "log_growth": 4.0}
    >>> round(float(ada_normal_hedge_scaled(0.1, **run)), 2)
    39.71
    """
    epsilons, mean = check_fractions("epsilon", epsilon), as_floats("spread", spread)
    scale = check_between("scale", scale, 0.0, math.inf)
    first_scale = check_between("first_scale", first_scale, 0.0, scale)
    log_b = math.log1p(3 * check_between("log_growth", log_growth, 0.0, math.inf))
    # a product of two sizes under the root would leave the range of floats
    ratio = mean / scale if scale > 0 else np.zeros_like(mean)
    root = scale * np.sqrt(3 * ratio * (log_b + np.log(1 / epsilons)))
    return np.asarray(scale - first_scale + root)


def ada_hedge(
    horizon: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    n_actions: int,
    *,
    gap: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Return the epsilon-regret of AdaHedge.

    .. math:: \Bigl(1 + \frac{\ln(1/\epsilon)}{\ln N}\Bigr)\Delta, \qquad
              \Delta \le \tfrac12\sqrt{T\ln N} + \tfrac23\ln N + 1

    with the cumulative mixability gap :math:`\Delta` of the run where it is given. At
    :math:`\epsilon = 1/N` this is the published :math:`2\Delta`; for other epsilon the same
    proof gives it. S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the
    leader if you can, hedge if you must", JMLR 15, 2014, Lemma 3 and Theorem 6.

    >>> round(float(ada_hedge(1000, 0.01, 100)), 1)
    76.0
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    log_n = math.log(check_integer("n_actions", n_actions, least=1))
    if log_n == 0.0:
        return np.zeros(np.broadcast_shapes(rounds.shape, epsilons.shape))
    worst = np.sqrt(rounds * log_n) / 2 + 2 * log_n / 3 + 1
    cost = worst if gap is None else as_floats("gap", gap)
    return np.asarray((1 + np.log(1 / epsilons) / log_n) * cost)


def squint(
    horizon: npt.ArrayLike, epsilon: npt.ArrayLike, *, variance: npt.ArrayLike | None = None
) -> FloatArray:
    r"""Return the epsilon-regret of Squint with the improper prior on learning rates.

    .. math:: \sqrt{2V}\Bigl(1 + \sqrt{2\ln\frac{\frac12 + \ln(T+1)}\epsilon}\Bigr)
              + 5\ln\Bigl(1 + \frac{1 + 2\ln(T+1)}\epsilon\Bigr)

    where V is the mean of :math:`\sum_t r_{t,i}^2` over the actions that make up epsilon:
    ``variance``, or T without it. W. M. Koolen and T. van Erven, "Second-order quantile
    methods for experts and combinatorial games", COLT 2015, Theorem 4.

    >>> round(float(squint(1000, 0.01)), 1)
    243.8
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    mean = rounds if variance is None else as_floats("variance", variance)
    log_rounds = np.log1p(rounds)
    root = 1 + np.sqrt(2 * (np.log(0.5 + log_rounds) - np.log(epsilons)))
    return np.asarray(np.sqrt(2 * mean) * root + 5 * np.log1p((1 + 2 * log_rounds) / epsilons))


def boa(
    horizon: npt.ArrayLike, epsilon: npt.ArrayLike, smallest_share: float, largest_share: float
) -> FloatArray:
    r"""Return the epsilon-regret of `BOA`, whose actions have shares of the prior in a range.

    .. math:: 2\sqrt{(\lambda + \tfrac14)T} + 2\lambda + \tfrac12
              + \max\Bigl\{2, \sqrt{T/\lambda'}\Bigr\}\ln\frac{1 + \frac15
              \bigl[\ln\frac T{4\lambda'}\bigr]_+}\epsilon

    with :math:`\lambda = \ln(1/q)`, at least :math:`\ln 2`, of the smallest share q, and
    :math:`\lambda'` of the largest. O. Wintenberger, "Optimal learning with Bernstein online
    aggregation", Machine Learning 106, 2017, in the form of `boa_of_run`. Derived: while
    :math:`V \le 4\lambda` the rate is 1/2 and the rounds cost at most :math:`2\lambda + \frac12`.
    Later :math:`V_t \le V_{t-1}(1 + \frac1{4\lambda})`, so a cost is at most
    :math:`2\sqrt{\lambda + \frac14}\,(\sqrt{V_t} - \sqrt{V_{t-1}})`, and a rate falls by a factor
    of at most 1.17 in a round, where a factor less 1 is at most 1.082 times its logarithm.

    >>> round(float(boa(1000, 0.1, 0.1, 0.1)), 1)
    167.9
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    most = max(-math.log(check_fraction("smallest_share", smallest_share)), math.log(2))
    least = max(-math.log(check_fraction("largest_share", largest_share)), math.log(2))
    spent = 2 * np.sqrt((most + 0.25) * rounds) + 2 * most + 0.5
    log_weight = np.log1p(0.2 * np.maximum(np.log(rounds / (4 * least)), 0.0))
    width = np.maximum(2.0, np.sqrt(rounds / least))
    return np.asarray(spent + width * (log_weight - np.log(epsilons)))


def boa_of_run(
    epsilon: npt.ArrayLike,
    *,
    shares: FloatArray,
    costs: FloatArray,
    widths: FloatArray,
    log_weight: float,
) -> FloatArray:
    r"""Return the epsilon-regret of `BOA` after a run; actions are ordered, the best first.

    .. math:: \min\Bigl\{\min_i C_i + \frac1{\eta_i}\ln\frac W{q_i},\;
              \max_i C_i + \frac1{\eta_i}\ln\frac W\epsilon\Bigr\}

    over the best actions i that make up epsilon. ``costs`` are C, ``widths`` one over the last
    rates :math:`\eta_i`, and ``log_weight`` is :math:`\ln W`.

    Derived: W bounds :math:`\sum_i q_i e^{\eta_{t,i}L_{t,i}}`. A round does not increase the sum,
    because :math:`e^{x-x^2} \le 1 + x` for :math:`x \ge -\frac12` and
    :math:`\sum_i q_i\eta_i e^{\eta_i L_i} r_i = 0`; where losses are clipped, what is left of this
    sum adds to W. A rate that falls by a factor f adds at most
    :math:`q_i\min\{1, (f-1)/e\}`, because :math:`x^a \le x + (\frac1a - 1)/e`. An action's first
    regret sets its rate, and adds at most :math:`q_i(\sqrt e - 1)`. So
    :math:`\eta_i L_i \le \ln(W/q_i)` for every action, and :math:`\ln(W/\epsilon)` for one of
    those that make up epsilon; and the regret is at most :math:`L_i + C_i`.

    >>> run = {"shares": np.full(2, 0.5), "costs": np.array([3.0, 5.0]), "widths": np.full(2, 4.0)}
    >>> boa_of_run([0.5, 1.0], **run, log_weight=0.5).round(2)
    array([7.77, 7.  ])
    """
    epsilons, shares = check_fractions("epsilon", epsilon), check_fractions("shares", shares)
    costs, widths = as_floats("costs", costs), as_floats("widths", widths)
    log_weight = check_number("log_weight", log_weight)
    single = np.minimum.accumulate(costs + widths * (log_weight - np.log(shares)))
    spent = np.maximum.accumulate(costs + widths * log_weight)
    several = spent - np.maximum.accumulate(widths) * np.log(epsilons)
    return np.asarray(np.minimum(single, several))


def exponential_hoeffding(horizon: npt.ArrayLike, epsilon: npt.ArrayLike, eta: float) -> FloatArray:
    r"""Return :math:`\ln(1/\epsilon)/\eta + \eta T/8`: EXP on losses in [0, 1].

    The game of the paper allows moves in [-1, 1] and has :math:`T\ln\cosh(\eta)/\eta` in the
    place of :math:`\eta T/8`. Losses in [0, 1] move chips by less: the logarithm of the mean of
    :math:`e^{-\eta s}` grows by at most :math:`\eta^2/8` per round, by Hoeffding's lemma. Y. Freund
    and R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
    application to boosting", JCSS 55, 1997, in the form of N. Cesa-Bianchi and G. Lugosi,
    *Prediction, Learning, and Games*, 2006, Theorem 2.2, for every epsilon.

    >>> round(float(exponential_hoeffding(1000, 0.1, 0.1)), 2)
    35.53
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    rate = check_positive("eta", eta)
    return np.asarray(np.log(1 / epsilons) / rate + rate * rounds / 8)


TWO_EXPERTS_GAMMA = 1.3069297277192810
r"""Where :math:`M(-\tfrac12, \tfrac12, \gamma^2/2)` is 0, for Kummer's function M."""


def two_experts(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return the regret of `TwoExperts`, :math:`\gamma\sqrt T/2`, for every epsilon.

    N. J. A. Harvey, C. Liaw, E. Perkins and S. Randhawa, "Optimal anytime regret with two
    experts", FOCS 2020, Theorem 2.3.

    >>> round(float(two_experts(100, 0.5)), 4)
    6.5346
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    return np.asarray(0.5 * TWO_EXPERTS_GAMMA * np.sqrt(rounds) * np.ones_like(epsilons))


def fixed_share(
    horizon: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    rate: float,
    share: float,
    *,
    switches: int = 0,
) -> FloatArray:
    r"""Return the regret of Fixed Share to sequences of actions that switch m times.

    .. math:: \frac1\eta\Bigl((m+1)\ln\frac1\epsilon + m\ln\frac1\alpha
              + (T - 1 - m)\ln\frac1{1-\alpha}\Bigr) + \frac{\eta T}8

    Derived: a sequence has at least the weight
    :math:`\epsilon^{m+1}\alpha^m(1-\alpha)^{T-1-m}`, if each of its actions has a prior of at
    least epsilon, so this bounds the mix loss. The learner's loss exceeds the mix loss by at
    most :math:`\eta/8` per round. M. Herbster and M. K. Warmuth, "Tracking the best expert",
    Machine Learning 32, 1998.

    >>> round(float(fixed_share(1000, 0.1, 0.1, 0.01, switches=2)), 1)
    273.9
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    rate = check_positive("rate", rate)
    share = check_fraction("share", share)
    m = check_integer("switches", switches, least=0)
    stays = np.maximum(rounds - 1 - m, 0)
    with np.errstate(invalid="ignore"):
        staying = np.where(stays > 0, -stays * np.log1p(-share) if share < 1 else np.inf, 0.0)
    paid = (m + 1) * np.log(1 / epsilons) - m * math.log(share) + staying
    return np.asarray(paid / rate + rate * rounds / 8)


def ada_fixed_share(
    horizon: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    n_actions: int,
    share: float,
    *,
    switches: int = 0,
) -> FloatArray:
    r"""Return the regret of `AdaFixedShare` to sequences of actions that switch m times.

    .. math:: \tfrac12\sqrt{TC} + \tfrac23 C + 1 + U\Bigl((m+1)\ln\frac1\epsilon
              + m\ln\frac1\alpha + T\ln\frac1{1-\alpha}\Bigr), \qquad
              C = \ln N + T\ln\frac1{1-\alpha}, \quad
              U = \tfrac12\sqrt{T/C} + \tfrac23 + \tfrac1{\ln N}

    Derived from `ada_fixed_share_of_run`: the gap is at most that of `ada_hedge` with C for
    :math:`\ln N`, because no rate is larger than :math:`C/\Delta`. One over the rate is the
    largest :math:`\Delta_{s-1}/C_s` so far, and so at most U.

    >>> round(float(ada_fixed_share(1000, 0.1, 10, 0.01, switches=2)), 1)
    211.3
    """
    rounds, epsilons = check_horizons(horizon), check_fractions("epsilon", epsilon)
    log_n = math.log(check_integer("n_actions", n_actions, least=1))
    share = check_fraction("share", share)
    if log_n == 0.0:
        return np.zeros(np.broadcast_shapes(rounds.shape, epsilons.shape))
    staying = rounds * (-math.log1p(-share) if share < 1 else math.inf)
    complexity = log_n + staying
    gap = np.sqrt(rounds * complexity) / 2 + 2 * complexity / 3 + 1
    width = np.sqrt(rounds / complexity) / 2 + 2 / 3 + 1 / log_n
    return ada_fixed_share_of_run(
        epsilons, share, switches=switches, gap=gap, width=width, paid=width * staying
    )


def ada_fixed_share_of_run(
    epsilon: npt.ArrayLike,
    share: float,
    *,
    switches: int = 0,
    gap: npt.ArrayLike,
    width: npt.ArrayLike,
    paid: npt.ArrayLike,
) -> FloatArray:
    r"""Return the regret of `AdaFixedShare` to sequences that switch m times, after a run.

    .. math:: \Delta + \frac1\eta\Bigl((m+1)\ln\frac1\epsilon + m\ln\frac1\alpha\Bigr)
              + \sum_{t \le T} \frac1{\eta_{t+1}}\ln\frac1{1-\alpha}

    with the cumulative mixability gap :math:`\Delta`, ``gap``, one over the last rate, ``width``,
    and the sum, ``paid``.

    Derived: a round costs its gap and :math:`\frac1{\eta_t}(\ln\frac1{p_{t,i}} -
    \ln\frac1{v_i})` for the action i of the sequence. The next distribution has
    :math:`\frac1{\eta_{t+1}}\ln\frac1{p_{t+1,i}} \le \frac1{\eta_t}\ln\frac1{v_i} +
    (\frac1{\eta_{t+1}} - \frac1{\eta_t})\ln\frac1{q_i} +
    \frac1{\eta_{t+1}}\ln\frac1{1-\alpha}`, and after a switch to j
    :math:`\frac1{\eta_{t+1}}\ln\frac1{p_{t+1,j}} \le
    \frac1{\eta_{t+1}}\ln\frac1{\alpha q_j}`. The sum over rounds is the bound.

    >>> float(ada_fixed_share_of_run(0.5, 0.5, switches=1, gap=1.0, width=0.0, paid=2.0))
    3.0
    """
    epsilons, share = check_fractions("epsilon", epsilon), check_fraction("share", share)
    m = check_integer("switches", switches, least=0)
    charge = (m + 1) * np.log(1 / epsilons) - m * math.log(share)
    fixed = as_floats("gap", gap) + as_floats("paid", paid)
    return np.asarray(fixed + as_floats("width", width) * charge)


def tracking(first: npt.ArrayLike, last: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
    r"""Return the epsilon-regret of AdaNormalHedge.TV from round ``first`` to round ``last``.

    .. math:: \sum_J \sqrt{3 |J| \ln\frac{B c s_J^2}{\epsilon}}, \qquad
              B = 1 + \tfrac32\bigl(1 + \ln(1 + T)\bigr), \quad c = \frac{2\pi^2}9

    J runs over the intervals of the cover that begin where the one before ends: the longest that
    begins at round s has the length of the largest power of 2 that divides s, and the last one
    is cut at ``last``. So their lengths at least double. A copy of an action that begins at
    round s has the share :math:`1/(c s^2)` of the action's prior, because all copies then sum to
    1: :math:`\sum_j\sum_k 1/(k 2^j)^2 = c`. The bound of a copy is that of `ada_normal_hedge`;
    the sum over J is the regret of the interval.

    >>> round(float(tracking(1, 1000, 0.1)), 1), round(float(tracking(900, 1000, 0.1)), 1)
    (498.8, 159.0)
    """
    end = check_horizons(last)
    return _sum_over_cover(first, end, epsilon, np.log(1 + 1.5 * (1 + np.log1p(end))))


def tracking_scaled(
    first: npt.ArrayLike,
    last: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    *,
    scale: float,
    first_scale: float,
) -> FloatArray:
    r"""Return the epsilon-regret of AdaNormalHedge.TV on an interval, for losses of any size.

    .. math:: S - S_1 + S\sum_J \sqrt{3 |J| \ln\frac{B c s_J^2}{\epsilon}}, \qquad
              B = 1 + 3\ln\Bigl(1 + \frac{TS}{S_1}\Bigr)

    with J and c as in `tracking` and S as in `ada_normal_hedge_scaled`: a copy with an interval
    of length :math:`|J|` has a spread of at most :math:`|J| S`, and clipping costs :math:`S - S_1`.

    >>> found = tracking_scaled(900, 1000, 0.1, scale=2.0, first_scale=0.5)
    >>> round(float(found), 1)
    325.2
    """
    end = check_horizons(last)
    # in logarithms, because the ratio of the scales may overflow
    log_growth = math.log(scale) - math.log(first_scale) if first_scale > 0 else 0.0
    log_b = np.log(1 + 3 * np.logaddexp(0.0, np.log(end) + log_growth))
    return scale - first_scale + scale * _sum_over_cover(first, end, epsilon, log_b)


def _sum_over_cover(
    first: npt.ArrayLike, last: npt.ArrayLike, epsilon: npt.ArrayLike, log_b: FloatArray
) -> FloatArray:
    """Return the sum of the bounds of the pieces of the geometric cover."""
    start, end = np.atleast_1d(check_horizons(first), check_horizons(last))
    epsilons = check_fractions("epsilon", epsilon)
    found: FloatArray = np.zeros(np.broadcast_shapes(start.shape, end.shape, epsilons.shape))
    s = np.broadcast_to(start, np.broadcast_shapes(start.shape, end.shape)).copy()
    while (s <= end).any():
        length = np.clip(end + 1 - s, 0, s & -s)
        charge = log_b + math.log(2 * math.pi**2 / 9) + 2 * np.log(s) + np.log(1 / epsilons)
        found = found + np.sqrt(3 * length * charge)
        s += s & -s
    return found.reshape(np.broadcast_shapes(np.shape(first), np.shape(last), epsilons.shape))
