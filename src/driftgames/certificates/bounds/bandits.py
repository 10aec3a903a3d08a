"""Bounds for bandit policies beyond the paper, each with its reference."""

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
    check_range,
    check_vector,
    shown,
)
from driftgames.core.typing import FloatArray


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


def exp3_delayed(
    epsilon: npt.ArrayLike,
    n_arms: int,
    last_rate: npt.ArrayLike,
    total_rate: npt.ArrayLike,
    drift: float,
) -> FloatArray:
    r"""Return the expected epsilon-regret of EXP3 where losses come late.

    .. math:: \frac{\ln(1/\epsilon)}{\eta_T} + \sum_{t=1}^T \eta_t (N + \mathfrak d_t)

    for learning rates that never rise; :math:`\mathfrak d_t` is the number of earlier pulls
    that still wait for their loss when pull t is made, and ``drift`` is
    :math:`\sum_t \eta_t \mathfrak d_t`. Neither losses nor delays may depend on the arms drawn.

    It is the bound by cheating regret and drift of Gyorgy and Joulani, "Adapting to delays and
    data in adversarial multi-armed bandits" (ICML 2021). Let q be the weights of a player who
    knows the estimates of all rounds, the present one included. The regret of q to the best
    epsilon of the arms is at most :math:`\ln(1/\epsilon)/\eta_T`. The estimates that the
    learner lacks, :math:`m_i \ge 0`, lower its weights by at most
    :math:`p_{t,i} - q_{t,i} \le \eta_t p_{t,i} m_i`. In expectation the present round has
    :math:`\sum_i p_i \hat\ell_i^2 \le N`, and each round that is waited for has
    :math:`\sum_i p_{t,i} \hat\ell_{s,i} \ell_{t,i} \le 1`: its arm was drawn independently of
    :math:`p_t`, which does not know the estimate.

    >>> float(exp3_delayed(0.1, 10, 0.01, 10.0, 0.01 * 5000).round(1))
    380.3
    """
    epsilons, n = check_fractions("epsilon", epsilon), check_integer("n_arms", n_arms, least=1)
    last, total = _check_rates(last_rate, total_rate)
    late = check_between("drift", drift, 0.0, np.inf)
    return np.asarray(np.log(1 / epsilons) / last + n * total + late)


def tsallis_inf_delayed(horizon: npt.ArrayLike, n_arms: int, drift: float) -> FloatArray:
    r"""Return the expected regret of Tsallis-INF where losses come late.

    .. math:: \bigl(6\sqrt N - 2\bigr) \sqrt T + \sum_{t=1}^T \eta_t \mathfrak d_t, \qquad
              \eta_t = 2/\sqrt t

    :math:`\mathfrak d_t` is the number of earlier pulls that wait when pull t is made, and
    ``drift`` the last sum. Neither losses nor delays may depend on the arms drawn. The argument
    is that of `exp3_delayed`, with two other lines. The regulariser
    :math:`-4\sum_i \sqrt{p_i}` has the range :math:`4(\sqrt N - 1)`. More losses raise the
    normaliser x, so :math:`p_{t,i} - q_{t,i} \le \eta_t p_{t,i}^{3/2} m_i`, which costs at most
    :math:`\eta_t(\sqrt N + \mathfrak d_t)` in expectation.

    >>> float(tsallis_inf_delayed(1000, 4, 50.0).round(1))
    366.2
    """
    rounds, n = check_horizons(horizon), check_integer("n_arms", n_arms, least=1)
    late = check_between("drift", drift, 0.0, np.inf)
    return np.asarray((6 * math.sqrt(n) - 2) * np.sqrt(rounds) + late)


def tsallis_inf_adaptive(horizon: npt.ArrayLike, n_arms: int, delay: float) -> FloatArray:
    r"""Return the expected regret of Tsallis-INF with a learning rate that falls with delays.

    .. math:: \bigl(6\sqrt N - 2\bigr) \sqrt{T + D_T/\sqrt N}, \qquad
              D_t = \sum_{s \le t} \mathfrak d_s, \qquad \eta_t = 2/\sqrt{t + D_t/\sqrt N}

    ``delay`` is :math:`D_T`. With :math:`w_t = t + D_t/\sqrt N` the cost of the rounds in
    `tsallis_inf_delayed` is
    :math:`\sqrt N \sum_t \eta_t (w_t - w_{t-1}) \le 4\sqrt{N w_T}`.

    The learner knows :math:`D_t` when it needs it: the rate is that of Zimmert and Seldin, "An
    optimal algorithm for adversarial bandits with arbitrary delays" (AISTATS 2020), up to the
    factor of the delays. Their regulariser has a second part, which this policy lacks, and
    their regret is of order :math:`\sqrt{NT} + \sqrt{D \ln N}`.

    >>> float(tsallis_inf_adaptive(1000, 4, 5000).round(1))
    591.6
    """
    rounds, n = check_horizons(horizon), check_integer("n_arms", n_arms, least=1)
    late = check_between("delay", delay, 0.0, np.inf)
    return np.asarray((6 * math.sqrt(n) - 2) * np.sqrt(rounds + late / math.sqrt(n)))


def tsallis_inf_rv(horizon: npt.ArrayLike, n_arms: int) -> FloatArray:
    r"""Return :math:`2\sqrt{NT} + 14 N\ln T + 16`: Tsallis-INF with reduced variance.

    The expected regret against any adversary, for :math:`\eta_t = 4/\sqrt t`: the form of Zimmert
    and Seldin (2021), Thm. 1, with the constants that follow from their Lem. 11 and 12. A round
    from the 17th on costs at most :math:`\tfrac78 N\eta_t^2 + \tfrac18 \eta_t \sqrt N`, which sums
    to :math:`14 N\ln T + \sqrt{NT}`. The first 16 rounds cost at most 1 each, and the
    regulariser at most :math:`4(\sqrt N - 1)/\eta_T + 1`.

    >>> float(tsallis_inf_rv(10_000, 10).round(1))
    1937.9
    """
    rounds, n = check_horizons(horizon), check_integer("n_arms", n_arms, least=1)
    return np.asarray(2 * np.sqrt(n * rounds) + 14 * n * np.log(rounds) + 16)


def square_cb(
    horizon: int,
    n_arms: int,
    *,
    total_inverse: float,
    last_gamma: float,
    largest_gamma: float,
    regression: float,
    bonuses: float = 0.0,
) -> FloatArray:
    r"""Return the expected regret of SquareCB with gammas that never fall.

    .. math:: 2N\sum_{t=1}^T \frac1{\gamma_t} + \frac{\gamma_T}4
              \Bigl(\sqrt{2R_T + 4\ln T} + \sqrt{\textstyle\sum_t b_t^2}\Bigr)^2 + \frac G{4T}

    ``total_inverse`` is the sum of :math:`1/\gamma_t`, ``last_gamma`` is :math:`\gamma_T`,
    ``largest_gamma`` is a number G that no run of T rounds exceeds, ``regression`` is :math:`R_T`,
    which bounds the regret of the regression in squared loss, and ``bonuses`` is the sum of the
    squares of what is taken off its forecasts at the drawn arms. Derived, for losses in [0, 1] with
    means :math:`f^*` in the class of the regression, from Lem. 3 of D. Foster and A. Rakhlin,
    "Beyond UCB" (ICML 2020):

    1. The expected regret of a round is at most :math:`2N/\gamma_t` and :math:`\gamma_t/4` times
       the expected squared error of the forecasts at the drawn arm. Gamma is known before the
       draw, so that it may depend on earlier rounds, and it never falls. So the expected regret is
       at most that of :math:`2N\sum_t 1/\gamma_t + \frac{\gamma_T}4 E`, where E is the sum of the
       squared errors.
    2. Let :math:`e_t` be the errors of the regression and :math:`z_t` the noise of the losses. Then
       :math:`\sum_t e_t^2 \le R_T + 2\sum_t e_t z_t`. The noise lies in an interval of length 1, so
       :math:`\exp\sum_t (2 e_t z_t - \frac12 e_t^2)` is a supermartingale by Hoeffding's lemma, and
       by Ville's inequality :math:`\sum_t e_t^2 \le 2R_T + 4\ln T`, but for a probability of
       :math:`1/T^2`. In that case E is at most T, because forecasts and means are in [0, 1].
    3. What is taken off adds to the root of E at most the root of its squares (Minkowski).

    :math:`\gamma_T` depends on the drawn arms, so the expectation of :math:`\gamma_T E` is not that
    of :math:`\gamma_T R_T`: this is the reason for the second step. For the forecaster of Vovk
    (2001), and Azoury and Warmuth (2001), one for each arm, with losses within 1/2 of their centre,
    :math:`R_T = \sum_a \lambda\|\theta_a\|^2
    + \frac14\ln\det(I + \frac1\lambda\sum_t x_t x_t^\top)`.

    >>> gammas = {"total_inverse": 25.0, "last_gamma": 400.0, "largest_gamma": 800.0}
    >>> float(square_cb(10_000, 10, **gammas, regression=2.0).round(2))
    4584.16
    """
    rounds = check_integer("horizon", horizon, least=1)
    n = check_integer("n_arms", n_arms, least=1)
    inverse = check_between("total_inverse", total_inverse, 0.0, np.inf)
    gamma = check_between("last_gamma", last_gamma, 0.0, np.inf)
    most = check_between("largest_gamma", largest_gamma, gamma, np.inf)
    regret = check_between("regression", regression, 0.0, np.inf)
    taken = check_between("bonuses", bonuses, 0.0, np.inf)
    root = math.sqrt(2.0 * regret + 4.0 * math.log(rounds)) + math.sqrt(taken)
    return np.asarray(2.0 * n * inverse + gamma / 4.0 * root**2 + most / (4.0 * rounds))


def tsallis_inf_tracking(
    horizon: npt.ArrayLike, n_arms: int, forget: float, switches: int
) -> FloatArray:
    r"""Return the expected regret of Tsallis-INF that forgets, to arms that switch.

    .. math:: 4(\sqrt N - 1)\Bigl(\frac1\tau\sum_{t=1}^T\frac1{\eta_t} + \frac\beta{\eta_T}\Bigr)
              + \frac{\sqrt N}{2\beta}\sum_{t=1}^T \eta_t + S(\tau - 1), \qquad
              \beta = 1 - \frac1\tau, \quad \eta_t = \frac2{\sqrt{\min(t, \tau)}}

    against every sequence of arms :math:`u_t` with S switches; ``forget`` is :math:`\tau`. Derived:

    1. Estimates that shrink by :math:`\beta` a round are follow the regularised leader on the
       losses :math:`\beta^{-s}\hat\ell_s` with a regulariser that grows as :math:`\beta^{-s}`. Its
       standard bound, times :math:`\beta^\tau`, is one on the discounted regret,
       :math:`\sum_{t\le\tau}\beta^{\tau-t}(p_t - u)\cdot\ell_t \le 4(\sqrt N - 1)/\eta_\tau
       + \frac{\sqrt N}{2\beta}\sum_{t\le\tau}\beta^{\tau-t}\eta_t` in expectation. The last term is
       Lem. 11 of Zimmert and Seldin (2021), :math:`\eta\sqrt N/2` a round.
    2. Take it at every round :math:`\tau \le T`, to :math:`u_\tau`, with the weight
       :math:`1-\beta`, and at T once more with the weight :math:`\beta`. The weights of the loss of
       every round then sum to 1.
    3. Round t is compared with an arm of a later round, :math:`k` rounds later with chance
       :math:`(1-\beta)\beta^k`. That is another arm than :math:`u_t` in at most
       :math:`\sum_{k\ge1}\beta^k = \tau - 1` rounds for each switch, in expectation.

    >>> float(tsallis_inf_tracking(100_000, 2, 1000, 3).round())
    10156.0
    """
    rounds, n = check_horizons(horizon), check_integer("n_arms", n_arms, least=1)
    tau = check_between("forget", forget, 2.0, np.inf)
    count = check_integer("switches", switches, least=0)
    early = np.minimum(rounds, math.floor(tau)).astype(np.float64)
    late = rounds - early
    # sums of sqrt(t) and 1 / sqrt(t) for t <= early are at most these, up to early = 0
    roots = 2.0 / 3.0 * (early + 1.0) ** 1.5 + late * math.sqrt(tau)
    inverse = 2.0 * np.sqrt(early) + late / math.sqrt(tau)
    last = np.sqrt(np.minimum(rounds, tau))
    beta = 1.0 - 1.0 / tau
    regular = 2.0 * (math.sqrt(n) - 1.0) * (roots / tau + beta * last)
    return np.asarray(regular + math.sqrt(n) / beta * inverse + count * (tau - 1.0))


def tsallis_inf_stochastic(horizon: npt.ArrayLike, gaps: npt.ArrayLike) -> FloatArray:
    r"""Return the expected regret of Tsallis-INF with reduced variance, stochastic losses.

    .. math:: \sum_{i \ne i^*} \frac{\ln T + 3}{\Delta_i} + \frac{2}{\Delta_{\min}}
              + 28 N \ln T + \tfrac32 \sqrt N + 32

    ``gaps`` are the differences of the mean losses to the least one; exactly one may be 0.
    Means may change over time as long as the gaps do not. Zimmert and Seldin (2021), Thm. 1.

    >>> gaps = [0.0, 0.01, 0.01]
    >>> tsallis_inf_stochastic([10**6, 10**9], gaps).round()
    array([4758., 6720.])
    """
    rounds, differences = check_horizons(horizon), check_vector("gaps", gaps)
    check_range("gaps", differences, 0.0, 1.0)
    above = differences[differences > 0]
    if above.size != differences.size - 1 or not above.size:
        raise ValueError(f"exactly one gap must be 0 and at least one above it; got {shown(gaps)}")
    n, logs = differences.size, np.log(rounds)
    rest = 28 * n * logs + 1.5 * math.sqrt(n) + 32
    return np.asarray((logs + 3) * (1 / above).sum() + 2 / above.min() + rest)


def _check_rates(last: npt.ArrayLike, total: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the last rate and the sum of all, or say why they cannot be that."""
    rate, sums = as_floats("last_rate", last), as_floats("total_rate", total)
    if not ((rate > 0) & (rate <= sums) & np.isfinite(sums)).all():
        raise ValueError(
            f"rates must be above 0 and among their sum; got {shown(last)} of {shown(total)}"
        )
    return rate, sums
