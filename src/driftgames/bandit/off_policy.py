r"""Off-policy evaluation: what another policy would have lost, from a log with propensities.

In round t the logging policy drew arm :math:`a_t` with probability :math:`p_t` and saw the loss
:math:`\ell_t(a_t)`. A target that plays :math:`\pi_t` loses
:math:`v_t = \sum_a \pi_t(a)\,\ell_t(a)` on average, and

.. math:: Z_t = \frac{\pi_t(a_t)}{p_t}\,\ell_t(a_t)

has mean :math:`v_t`, given the past. Losses are in [0, 1] here.

References
----------
.. [FGL15] X. Fan, I. Grama and Q. Liu, "Exponential inequalities for martingales with
   applications", Electronic Journal of Probability 20 (2015).
.. [WWRKM24] I. Waudby-Smith, L. Wu, A. Ramdas, N. Karampatziakis and P. Mineiro, "Anytime-valid
   off-policy inference for contextual bandits", ACM/IMS Journal of Data Science 1 (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.sums import dot, total
from driftgames.bandit.arms import check_names, shorten
from driftgames.bandit.log import Columns, PullLog, columns_of
from driftgames.bandit.policy import BanditPolicy
from driftgames.core.checks import (
    check_distribution,
    check_fraction,
    check_fractions,
    check_interval,
    check_range,
    check_vector,
    shown,
)
from driftgames.core.typing import FloatArray

Target = Mapping[Any, float] | Callable[[Columns], Mapping[Any, float]] | BanditPolicy

FINEST = 60
"""The smallest rate of the bound is ``2**-FINEST``."""


@dataclass(frozen=True)
class OffPolicyValue:
    """The mean loss per round of a target, estimated from a log.

    Parameters
    ----------
    value : float
        The inverse-propensity estimate, which is right on average.
    low, high : float
        The confidence interval; it misses with probability at most ``delta``.
    delta : float
        The chance of a miss.
    rounds : int
        The number of rounds of the log.
    effective_rounds : float
        ``(sum w)**2 / sum w**2`` for the weights ``w = pi/p``: how many pulls of the target's own
        this log is worth, roughly.
    """

    value: float
    low: float
    high: float
    delta: float
    rounds: int
    effective_rounds: float

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} per round, in [{self.low:.4f}, {self.high:.4f}] with confidence "
            f"{1 - self.delta:g}; {self.rounds:,} rounds worth {self.effective_rounds:,.0f}"
        )


def off_policy_value(
    log: Any,
    target: Target,
    *,
    delta: float = 0.05,
    loss_range: tuple[float, float] = (0.0, 1.0),
    arms: Sequence[Any] | None = None,
) -> OffPolicyValue:
    r"""Return what ``target`` would have lost per round, with its confidence interval.

    .. math:: \hat v = \frac1T\sum_t Z_t, \qquad
              \bar v \ge \hat v - \min_k \frac{\ln(2k(k+1)/\delta)
              + \psi(\lambda_k) \sum_t (Z_t - c_t)^2}{\lambda_k T}, \qquad
              \psi(\lambda) = -\ln(1-\lambda) - \lambda, \quad \lambda_k = 2^{-k}

    with :math:`\bar v = \frac1T\sum_t v_t` and any :math:`c_t \in [0, 1]` that is known before
    round t; here the mean of the earlier Z. The upper end is this for :math:`1 - \ell`.

    The form follows from :math:`e^{\lambda\xi - \psi(\lambda)\xi^2} \le 1 + \lambda\xi` for
    :math:`\xi \ge -1` [FGL15]_. With :math:`\xi = Z_t - c_t` its mean is at most
    :math:`e^{\lambda(v_t - c_t)}`, so the product of
    :math:`e^{\lambda(Z_t - v_t) - \psi(\lambda)(Z_t - c_t)^2}` is a supermartingale, and Ville's
    inequality holds for all T at once. The rates share delta by :math:`1/(k(k+1))`. Nothing is
    asked of the size of :math:`1/p_t`. This is the bound of [WWRKM24]_ for a constant rate, which
    also holds if losses drift.

    Parameters
    ----------
    log : PullLog, or data frame with the columns round, arm, propensity and loss
        All rounds must have their losses. The logging policy may have learnt: propensities may
        depend on the past in any way.
    target : mapping, callable or BanditPolicy
        Either the probability of each arm, the same in all rounds; or a function that takes the
        columns of the earlier pulls and returns such a mapping; or a policy, which is copied and
        replayed: before each round its distribution is read, and then it learns the logged pull.
    delta : float
        The chance of a miss.
    loss_range : (float, float)
        The range of the column ``loss``, which may also hold gains.
    arms : sequence, optional
        The arms that the logging policy had. Default: those of the policy of a `PullLog`, or
        those that the frame holds. A target that plays another arm is refused: the log says
        nothing about it.

    Notes
    -----
    The value is of the losses that the logging policy met. If losses react to the arms drawn, the
    target would have met others. The interval also holds if the logging policy never draws an arm
    of the target; then the estimate itself is too low.

    Examples
    --------
    >>> from driftgames.bandit import PullLog, TsallisINF
    >>> losses = np.random.default_rng(0).random((5000, 2)) < (0.4, 0.5)
    >>> log = PullLog(TsallisINF(2, random_state=0))
    >>> _ = log.run(losses)
    >>> print(off_policy_value(log, {1: 1.0}))
    0.4618 per round, in [0.2773, 0.6875] with confidence 0.95; 5,000 rounds worth 189
    """
    columns = columns_of(log)
    low, high = check_interval("loss_range", loss_range)
    doubt = check_fraction("delta", delta)
    rounds = len(columns["round"])
    p, x = (check_vector(name, columns[name], rounds) for name in ("propensity", "loss"))
    if rounds == 0:
        raise ValueError("a log without pulls has no estimate")
    check_range("loss", x, low, high)
    check_fractions("propensity", p)
    known = _arms_of(log, columns, arms)
    w = np.fromiter(_chances(columns, target, known), dtype=np.float64, count=rounds) / p
    losses = (x - low) / (high - low)
    least, most = _lower_end(w * losses, doubt / 2), 1.0 - _lower_end(w * (1.0 - losses), doubt / 2)
    squares = dot(w, w)
    return OffPolicyValue(
        value=low + (high - low) * dot(w, losses) / rounds,
        low=low + (high - low) * least,
        high=low + (high - low) * most,
        delta=doubt,
        rounds=rounds,
        effective_rounds=total(w) ** 2 / squares if squares > 0 else 0.0,
    )


def _lower_end(Z: FloatArray, delta: float) -> float:
    """Return the lower end of a one-sided interval for the mean of ``v_t``, at least 0."""
    rounds = Z.size
    before = np.concatenate([[0.0], np.cumsum(Z)[:-1]])
    centre = np.minimum((before + 0.5) / np.arange(1, rounds + 1), 1.0)
    spread = float(dot(Z - centre, Z - centre))
    k = np.arange(1, FINEST + 1)
    rate = 0.5**k
    # -log1p(-x) - x cancels for small x; its series does not
    psi = np.where(rate < 1e-4, rate**2 / 2 + rate**3 / 3, -np.log1p(-rate) - rate)
    doubt = np.log(k * (k + 1)) - math.log(delta)
    return max(0.0, (total(Z) - float(((doubt + psi * spread) / rate).min())) / rounds)


def _chances(columns: Columns, target: Target, known: Mapping[Any, None]) -> Iterator[float]:
    """Yield the probability that the target gives to each logged arm."""
    arms = columns["arm"]
    if isinstance(target, BanditPolicy):
        policy = target.copy()
        slots = {arm: slot for slot, arm in enumerate(policy.arms)}
        for arm in slots:
            _check_known(arm, known)
        for arm, loss, prob in zip(arms, columns["loss"], columns["propensity"], strict=True):
            if arm not in slots:
                raise ValueError(f"the log has the arm {shown(arm)}, which the policy has not")
            yield float(policy.distribution()[slots[arm]])
            policy.watch(arm, loss, prob)
    elif isinstance(target, Mapping):
        fixed = _check_target(target, known)
        yield from (float(fixed.get(arm, 0.0)) for arm in arms)
    elif callable(target):
        past: Columns = {name: [] for name in columns}
        for t, arm in enumerate(arms):
            yield float(_check_target(target(past), known).get(arm, 0.0))
            for name, column in columns.items():
                past[name].append(column[t])
    else:
        raise ValueError(
            f"target must be a mapping, a function or a BanditPolicy; got {shown(target)}"
        )


def _check_target(target: Any, known: Mapping[Any, None]) -> Mapping[Any, float]:
    """Return the target of a round; a probability above 0 is for arms of the log alone."""
    if not isinstance(target, Mapping):
        raise ValueError(f"a target must return a mapping; got {shown(target)}")
    check_distribution("target", list(target.values()), len(target))
    for arm, share in target.items():
        if share > 0:
            _check_known(arm, known)
    return target


def _check_known(arm: Any, known: Mapping[Any, None]) -> None:
    if arm not in known:
        raise ValueError(
            f"the target plays the arm {shown(arm)}, which is not in the log; its arms are "
            f"{shorten(tuple(known))}"
        )


def _arms_of(log: Any, columns: Columns, arms: Sequence[Any] | None) -> dict[Any, None]:
    """Return the arms that the logging policy had, in order."""
    if arms is not None:
        return dict.fromkeys(check_names(arms, None) or ())
    own = log.policy.arms if isinstance(log, PullLog) else ()
    return dict.fromkeys([*own, *columns["arm"]])
