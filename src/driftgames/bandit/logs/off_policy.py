r"""Off-policy evaluation: what another policy would have lost, from a log with propensities.

In round t the logging policy drew arm :math:`a_t` with probability :math:`p_t` and saw the loss
:math:`\ell_t(a_t)`. A target that plays :math:`\pi_t` loses
:math:`v_t = \sum_a \pi_t(a)\,\ell_t(a)` on average, and

.. math:: Z_t = \frac{\pi_t(a_t)}{p_t}\,\ell_t(a_t)

has mean :math:`v_t`, given the past. Losses are in [0, 1] here.

References
----------
.. [WWRKM24] I. Waudby-Smith, L. Wu, A. Ramdas, N. Karampatziakis and P. Mineiro, "Anytime-valid
   off-policy inference for contextual bandits", ACM/IMS Journal of Data Science 1 (2024).
.. [KMR21] N. Karampatziakis, P. Mineiro and A. Ramdas, "Off-policy confidence sequences", ICML
   2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.sums import dot, total
from driftgames.bandit.contexts.context_policy import ContextPolicy
from driftgames.bandit.logs.log import PullLog
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.pulls.arms import check_names, shorten
from driftgames.bandit.pulls.logged import Columns, columns_of
from driftgames.certificates import ConfidenceSequence
from driftgames.core.checks import (
    check_distribution,
    check_fraction,
    check_fractions,
    check_interval,
    check_range,
    check_vector,
    shown,
)
from driftgames.core.display import Displayed, Sketch
from driftgames.core.typing import FloatArray

Target = Mapping[Any, float] | Callable[..., Mapping[Any, float]] | BanditPolicy | ContextPolicy

TUNED_FOR = 20_000
"""The rounds for which the bettor's rates are chosen; the interval holds for any number."""


@dataclass(frozen=True)
class OffPolicyValue(Displayed):
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

    def _sketch(self) -> Sketch:
        return Sketch(bars={"low": self.low, "value": self.value, "high": self.high})

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
    least_propensity: float | None = None,
) -> OffPolicyValue:
    r"""Return what ``target`` would have lost per round, with its confidence interval.

    .. math:: \hat v = \frac1T\sum_t Z_t, \qquad
              \sum_j \pi_j \prod_t \frac{1 + \lambda_j Z_t}{1 + \lambda_j \bar v}
              < \frac2\delta, \qquad \bar v = \frac1T\sum_t v_t

    The lower end is the least :math:`\bar v` that meets the inequality, and the upper end is the
    same for :math:`1 - \ell`. It is the wealth of a bettor who buys Z at the price
    :math:`\bar v`, at many rates; see `driftgames.certificates.ConfidenceSequence`. The product of
    :math:`(1 + \lambda Z_t)/(1 + \lambda v_t)` is a martingale, and by the concavity of the
    logarithm the wealth is below it. So the interval holds for all lengths of the log at once, for
    losses that drift, for targets and logging policies that learn, and for late losses. Nothing is
    asked of the size of :math:`1/p_t`. [WWRKM24]_

    With ``least_propensity`` a bettor may also sell, because :math:`w = \pi/p` has an upper end B:

    .. math:: \sum_j \pi_j \prod_t \Bigl(\frac{1 + \lambda_j \ell_t}{1 + \lambda_j \bar v}
              \Bigr)^{w_t/B}

    The mean of a factor is at most :math:`1 + c(v_t - \bar v)` for a constant c, and the product of
    these at most 1. This is narrower, as the noise in w itself cancels. It is for targets that are
    the same in all rounds, and for a log whose length was fixed in advance. [KMR21]_

    Parameters
    ----------
    log : PullLog, or data frame with the columns round, arm, propensity and loss
        All rounds must have their losses. The logging policy may have learnt: propensities may
        depend on the past in any way.
    target : mapping, callable or BanditPolicy
        Either the probability of each arm, the same in all rounds; or a function that takes the
        columns of the earlier pulls and returns such a mapping; or a policy, which is copied and
        replayed: before each round its distribution is read, and then it learns the logged pull.
        If the log has a column ``context``, a function takes the context of the round as its
        second argument, and the policy may be a `ContextPolicy`.
    delta : float
        The chance of a miss.
    loss_range : (float, float)
        The range of the column ``loss``, which may also hold gains.
    arms : sequence, optional
        The arms that the logging policy had. Default: those of the policy of a `PullLog`, or
        those that the frame holds. A target that plays another arm is refused: the log says
        nothing about it.
    least_propensity : float, optional
        The logging policy gave at least this probability to every arm of the target, in every
        round. It is known of uniform draws, and of a policy that explores with a fixed share. The
        interval is then narrower. The target must be a mapping.

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
    0.4618 per round, in [0.3191, 0.6434] with confidence 0.95; 5,000 rounds worth 189
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
    if least_propensity is None:
        least, most = (
            _lower_end(w * losses, doubt / 2),
            1.0 - _lower_end(w * (1.0 - losses), doubt / 2),
        )
    else:
        largest = _check_least(least_propensity, target, w, p)
        least, most = _weighted_ends(w / largest, losses, doubt)
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
    bettor = ConfidenceSequence(
        delta, value_range=(0.0, None), side="lower", drifting=True, tuned_for=TUNED_FOR
    )
    bettor.update(Z)
    return min(max(bettor.low, 0.0), 1.0)


def _weighted_ends(weights: FloatArray, losses: FloatArray, delta: float) -> tuple[float, float]:
    """Return both ends for the mean loss, where every pull has a weight in [0, 1]."""
    played = weights > 0
    if not played.any():
        return 0.0, 1.0
    bettor = ConfidenceSequence(delta, drifting=True, tuned_for=1000)
    bettor.update(losses[played], weights[played])
    return bettor.low, bettor.high


def _check_least(least: float, target: Target, w: FloatArray, p: FloatArray) -> float:
    """Return the largest weight that a pull may have, or say why there is none."""
    share = check_fraction("least_propensity", least)
    if not isinstance(target, Mapping):
        raise ValueError("least_propensity is for a target that is the same in all rounds")
    below = (w > 0) & (p < share)
    if below.any():
        raise ValueError(
            f"least_propensity is {share:g}, and the log has a pull of the target with "
            f"propensity {p[below][0]:g}"
        )
    return max(target.values()) / share


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
    elif isinstance(target, ContextPolicy):
        yield from _context_chances(columns, target, known)
    elif isinstance(target, Mapping):
        fixed = _check_target(target, known)
        yield from (float(fixed.get(arm, 0.0)) for arm in arms)
    elif callable(target):
        past: Columns = {name: [] for name in columns}
        contexts = columns.get("context")
        for t, arm in enumerate(arms):
            seen = (past,) if contexts is None else (past, contexts[t])
            yield float(_check_target(target(*seen), known).get(arm, 0.0))
            for name, column in columns.items():
                past[name].append(column[t])
    else:
        raise ValueError(
            f"target must be a mapping, a function or a BanditPolicy; got {shown(target)}"
        )


def _context_chances(
    columns: Columns, target: ContextPolicy, known: Mapping[Any, None]
) -> Iterator[float]:
    """Replay a policy on the contexts of the log."""
    if "context" not in columns:
        raise ValueError(f"{target.title} needs a log with contexts; this one has none")
    policy = target.copy()
    slots = {arm: slot for slot, arm in enumerate(policy.arms)}
    for arm in slots:
        _check_known(arm, known)
    names = ("arm", "loss", "propensity", "context")
    for arm, loss, prob, context in zip(*(columns[name] for name in names), strict=True):
        if arm not in slots:
            raise ValueError(f"the log has the arm {shown(arm)}, which the policy has not")
        yield float(policy.distribution(context)[slots[arm]])
        policy.watch(arm, loss, prob, context)


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
