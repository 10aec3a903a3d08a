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

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from driftgames._kernels.sums import dot, total
from driftgames.bandit.contexts.context_policy import ContextPolicy
from driftgames.bandit.logs.log import PullLog
from driftgames.bandit.logs.weighted_bets import lower_end
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.pulls.arms import check_names, shorten
from driftgames.bandit.pulls.logged import Columns, columns_of
from driftgames.core.checks import (
    check_distribution,
    check_fraction,
    check_fractions,
    check_interval,
    check_range,
    check_vector,
    first_index,
    shown,
)
from driftgames.core.display import Displayed, Sketch
from driftgames.core.typing import FloatArray

Player = TypeVar("Player", BanditPolicy, ContextPolicy)
Target = Mapping[Any, float] | Callable[..., Mapping[Any, float]] | BanditPolicy | ContextPolicy


@dataclass(frozen=True)
class OffPolicyValue(Displayed):
    """The mean loss per round of a target, estimated from a log.

    Parameters
    ----------
    value : float
        The mean of the losses, weighed by ``w = pi/p``: the self-normalised estimate. It lies in
        the interval: a mean outside of it is moved to the nearer end.
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
        return Sketch(intervals={"value": (self.low, self.value, self.high)})

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

    .. math:: \hat v = \frac{\sum_t w_t\,\ell_t(a_t)}{\sum_t w_t}, \qquad
              \sum_j \pi_j \prod_t \frac{1 + \lambda_j Z_t - \mu_{t,j}(w_t - 1)}{1 + \lambda_j
              \bar v} < \frac2\delta, \qquad \bar v = \frac1T\sum_t v_t, \quad
              w_t = \frac{\pi_t(a_t)}{p_t}

    The lower end is the least :math:`\bar v` that meets the inequality, and the upper end is the
    same for :math:`1 - \ell`. It is the wealth of a bettor who buys Z at the price
    :math:`\bar v`, at many rates, as in `driftgames.certificates.ConfidenceSequence`. The weight w
    has the mean 1, so that the product of :math:`(1 + \lambda Z_t - \mu_t(w_t - 1)) /
    (1 + \lambda v_t)` is a martingale for any :math:`\mu_t` that is known before round t, and by
    the concavity of the logarithm the wealth is below it. So the interval holds for all lengths of
    the log at once, for losses that drift, for targets and logging policies that learn, and for
    late losses. [WWRKM24]_

    To sell :math:`w - 1` cancels the noise of the draws: what is bought less what is sold is about
    :math:`\lambda (w(\ell - \hat v) + \hat v)`. A seller must know how large w can be before the
    draw. This is known if the log has the probabilities of all arms
    (``PullLog(policy, distributions=True)``), or from ``least_propensity``. Otherwise nothing is
    sold, and nothing is asked of the size of :math:`1/p_t`. [KMR21]_ sells in the same sense, for
    targets that stay the same.

    Parameters
    ----------
    log : PullLog, or data frame with the columns arm, propensity and loss
        All rounds must have their losses. The logging policy may have learnt: propensities may
        depend on the past in any way. A column ``distribution`` holds the probabilities of all
        arms, in the order of the log's policy or of ``arms``. It makes the interval narrower.
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
        The logging policy gave at least this probability to every arm that the target may play,
        in every round. It is known of uniform draws, and of a policy that explores with a fixed
        share. The interval is then narrower. A log with distributions does not need it.

    Notes
    -----
    The value is of the losses that the logging policy met. If losses react to the arms drawn, the
    target would have met others. The interval also holds if the logging policy never draws an arm
    of the target; then the estimate says nothing of this arm. If it draws none of them, the value
    is the middle of the interval.

    The mean of Z is right on average, but it moves with the mean of w, which is 1 on average only:
    it may even lie outside of the range of losses. The weighted mean of the losses does not, and
    its error is smaller (``python -m bench off_policy``). It is what the seller of
    :math:`w - 1` bets around, so that it seldom leaves the interval.

    If no value agrees with the log, a `RuntimeWarning` says so, and the interval is the whole
    range of losses. Right propensities do so with probability at most ``delta``.

    Examples
    --------
    >>> from driftgames.bandit import PullLog, TsallisINF
    >>> losses = np.random.default_rng(0).random((5000, 2)) < (0.4, 0.5)
    >>> log = PullLog(TsallisINF(2, random_state=0))
    >>> _ = log.run(losses)
    >>> print(off_policy_value(log, {1: 1.0}))
    0.4789 per round, in [0.3474, 0.6620] with confidence 0.95; 5,000 rounds worth 78
    >>> log = PullLog(TsallisINF(2, random_state=0), distributions=True)
    >>> _ = log.run(losses)
    >>> print(off_policy_value(log, {1: 1.0}))
    0.4789 per round, in [0.3569, 0.6487] with confidence 0.95; 5,000 rounds worth 78
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
    slots = [known[arm] for arm in columns["arm"]]
    chances = np.empty((rounds, len(known)))
    for t, row in enumerate(_chances(columns, target, known)):
        chances[t] = row
    w = chances[np.arange(rounds), slots] / p
    largest = _largest_weights(columns, chances, known, slots, p, least_propensity)
    losses = (x - low) / (high - low)
    least, most = _interval(w, losses, largest, doubt)
    squares, weight = dot(w, w), total(w)
    middle = dot(w, losses) / weight if weight > 0 else (least + most) / 2
    return OffPolicyValue(
        value=low + (high - low) * min(max(middle, least), most),
        low=low + (high - low) * least,
        high=low + (high - low) * most,
        delta=doubt,
        rounds=rounds,
        effective_rounds=weight**2 / squares if squares > 0 else 0.0,
    )


def _interval(
    w: FloatArray, losses: FloatArray, largest: FloatArray, delta: float
) -> tuple[float, float]:
    """Return the ends of the interval; the whole range if no value agrees with the log."""
    least = lower_end(w, losses, largest, delta / 2)
    most = 1.0 - lower_end(w, 1.0 - losses, largest, delta / 2)
    if least <= most:
        return least, most
    warnings.warn(
        "no value agrees with this log, so its propensities are probably wrong: the mean of pi/p "
        f"should be near 1 and is {total(w) / w.size:.3g}",
        RuntimeWarning,
        stacklevel=3,
    )
    return 0.0, 1.0


def _largest_weights(
    columns: Columns,
    chances: FloatArray,
    known: Mapping[Any, int],
    slots: Sequence[int],
    p: FloatArray,
    least: float | None,
) -> FloatArray:
    """Return the largest weight that each pull could have had; infinity if it is not known."""
    largest = np.full(p.size, np.inf)
    drawn = np.full(chances.shape, np.nan)  # the probabilities that are known
    drawn[np.arange(p.size), slots] = p
    if "distribution" in columns:
        drawn = _check_distributions(columns["distribution"], known, slots, p)
        ratios = np.full(chances.shape, np.inf)
        np.divide(chances, drawn, out=ratios, where=drawn > 0)
        ratios[chances == 0] = 0.0
        largest = np.minimum(largest, ratios.max(axis=1))
    if least is not None:
        largest = np.minimum(largest, chances.max(axis=1) / _check_least(least, chances, drawn))
    return largest


def _check_least(least: float, chances: FloatArray, drawn: FloatArray) -> float:
    """Return the least propensity, or name an arm of the target that had less in a round."""
    share = check_fraction("least_propensity", least)
    below = (chances > 0) & (drawn < share)
    if below.any():
        where = first_index(below)
        raise ValueError(
            f"least_propensity is {share:g}, and row {where[0]} of the log gives an arm of the "
            f"target the probability {drawn[where]:g}"
        )
    return share


def _check_distributions(
    rows: Sequence[Any], known: Mapping[Any, int], slots: Sequence[int], p: FloatArray
) -> FloatArray:
    """Return the probabilities of all arms in each round, or say which row is wrong."""
    whole = np.empty((p.size, len(known)))
    for t, row in enumerate(rows):
        whole[t] = check_distribution(f"distribution of row {t}", list(row), len(known))
        if abs(whole[t, slots[t]] - p[t]) > 1e-9 * p[t]:
            raise ValueError(
                f"row {t} has the propensity {p[t]:g}, and its distribution has "
                f"{whole[t, slots[t]]:g} for the drawn arm; distributions are in the order of the "
                f"arms {shorten(tuple(known))}"
            )
    return whole


def _chances(columns: Columns, target: Target, known: Mapping[Any, int]) -> Iterator[FloatArray]:
    """Yield the probabilities that the target gives to the arms of the log in each round."""
    arms = columns["arm"]
    if isinstance(target, BanditPolicy):
        policy, order = _replayed(target, arms, known)
        for arm, loss, prob in zip(arms, columns["loss"], columns["propensity"], strict=True):
            yield _in_order(policy.distribution(), order, known)
            policy.watch(arm, loss, prob)
    elif isinstance(target, ContextPolicy):
        if "context" not in columns:
            raise ValueError(f"{target.title} needs a log with contexts; this one has none")
        reader, order = _replayed(target, arms, known)
        names = ("arm", "loss", "propensity", "context")
        for arm, loss, prob, context in zip(*(columns[name] for name in names), strict=True):
            yield _in_order(reader.distribution(context), order, known)
            reader.watch(arm, loss, prob, context)
    elif isinstance(target, Mapping):
        fixed = _check_target(target, known)
        yield from (fixed for _ in arms)
    elif callable(target):
        past: Columns = {name: [] for name in columns}
        contexts = columns.get("context")
        for t in range(len(arms)):
            seen = (past,) if contexts is None else (past, contexts[t])
            yield _check_target(target(*seen), known)
            for name, column in columns.items():
                past[name].append(column[t])
    else:
        raise ValueError(
            f"target must be a mapping, a function or a BanditPolicy; got {shown(target)}"
        )


def _replayed(
    target: Player, arms: Sequence[Any], known: Mapping[Any, int]
) -> tuple[Player, list[int]]:
    """Return a copy of a policy, and the place of each of its arms among those of the log."""
    order = [_check_known(arm, known) for arm in target.arms]
    own = set(target.arms)
    for arm in arms:
        if arm not in own:
            raise ValueError(f"the log has the arm {shown(arm)}, which the policy has not")
    return target.copy(), order


def _in_order(shares: FloatArray, order: list[int], known: Mapping[Any, int]) -> FloatArray:
    row = np.zeros(len(known))
    row[order] = shares
    return row


def _check_target(target: Any, known: Mapping[Any, int]) -> FloatArray:
    """Return the target of a round; a probability above 0 is for arms of the log alone."""
    if not isinstance(target, Mapping):
        raise ValueError(f"a target must return a mapping; got {shown(target)}")
    check_distribution("target", list(target.values()), len(target))
    row = np.zeros(len(known))
    for arm, share in target.items():
        if share > 0:
            row[_check_known(arm, known)] = share
    return row


def _check_known(arm: Any, known: Mapping[Any, int]) -> int:
    """Return the place of an arm among those of the log, or say that it has none."""
    if arm not in known:
        raise ValueError(
            f"the target plays the arm {shown(arm)}, which is not in the log; its arms are "
            f"{shorten(tuple(known))}"
        )
    return known[arm]


def _arms_of(log: Any, columns: Columns, arms: Sequence[Any] | None) -> dict[Any, int]:
    """Return the place of each arm that the logging policy had."""
    own: Sequence[Any] = log.policy.arms if isinstance(log, PullLog) else ()
    if arms is not None:
        own = check_names(arms, None) or ()
    if "distribution" in columns and not own:
        raise ValueError("arms must be given, in the order of the column distribution")
    named = dict.fromkeys([*own, *columns["arm"]])
    return {arm: place for place, arm in enumerate(named)}
