"""The policies as bandit policies of river.

Needs the extra: ``pip install 'driftgames[river]'``.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from driftgames.bandit.logs.log import PullLog
from driftgames.bandit.named_policies import POLICIES
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.policies.potential_bandit import PotentialBandit
from driftgames.core.checks import check_flag, needs_extra, shown
from driftgames.core.registry import choose

with needs_extra(__name__, "river"):
    from river.bandit.base import ArmID, Policy

__all__ = ["MOST_WAITING", "RiverBandit"]

MOST_WAITING = 1000
"""The number of pulls of one arm that may wait for feedback."""

TUNED = ("exp3", "exp3-ix")
"""The policies that take a horizon."""


class RiverBandit(Policy):  # type: ignore[misc]
    """A policy of this library behind river's ``pull(arm_ids)`` and ``update(arm_id, reward)``.

    Parameters
    ----------
    algorithm
        One of `driftgames.bandit.POLICIES`.
    horizon
        The number of rounds for which "exp3" and "exp3-ix" are tuned. Default: any.
    reward_range
        ``(low, high)``: the range of rewards.
    outside
        A reward outside of the range is an ``"error"``, or it counts as the ``"nearest"`` end.
    reward_obj, reward_scaler, burn_in
        As in river. A scaler must map rewards into ``reward_range``.
    seed
        Draws the arms.
    keep_log
        Whether `log` records every pull with its propensity.

    Attributes
    ----------
    log : PullLog or None
        The pulls as a data frame: ``policy.log.to_frame()``. None before the first pull.

    Notes
    -----
    River's ``update`` names the arm alone, so it answers the latest waiting pull of that arm. If
    more than `MOST_WAITING` pulls of an arm wait, the oldest is discarded. Pulls of a burn-in
    are not drawn, and the policy learns nothing from them. With EXP3 the list of arms may change
    between pulls: new arms are added, and missing arms are removed.

    Examples
    --------
    >>> policy = RiverBandit("tsallis-inf", seed=1)
    >>> for _ in range(1000):
    ...     arm = policy.pull(["red", "green", "blue"])
    ...     policy.update(arm, 1.0 if arm == "green" else 0.0)
    >>> policy.ranking[0]
    'green'
    >>> bool(policy.distribution()["green"] > 0.9)
    True
    """

    def __init__(
        self,
        algorithm: str = "exp3",
        horizon: int | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
        outside: str = "error",
        keep_log: bool = False,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        choose("algorithm", algorithm, POLICIES)
        if horizon is not None and algorithm not in TUNED:
            raise ValueError(f"{algorithm} takes no horizon; it needs none")
        self.algorithm = algorithm
        self.horizon = horizon
        self.reward_range = reward_range
        self.seed = seed
        self.outside = outside
        self.keep_log = check_flag("keep_log", keep_log)
        if outside not in ("error", "nearest"):
            raise ValueError(f"outside must be 'error' or 'nearest'; got {shown(outside)}")
        self._policy: BanditPolicy | None = None
        self.log: PullLog | None = None
        self._waiting: defaultdict[ArmID, deque[float]] = defaultdict(deque)

    def distribution(self) -> dict[ArmID, float]:
        """Return the probabilities of the next pull; empty before the first."""
        if self._policy is None:
            return {}
        return dict(zip(self._policy.arms, self._policy.distribution().tolist(), strict=True))

    def update(self, arm_id: ArmID, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Take the reward of the latest waiting pull of ``arm_id``."""
        if self.reward_scaler is None:
            self._learn(arm_id, *reward_args)  # first, so that a bad reward is not counted
            super().update(arm_id, *reward_args, **reward_kwargs)
        else:
            super().update(arm_id, *reward_args, **reward_kwargs)
            self._learn(arm_id, self.reward_scaler.func(*reward_args))

    def _learn(self, arm_id: ArmID, reward: float) -> None:
        waiting = self._waiting[arm_id]
        if waiting:
            assert self._policy is not None
            if self.outside == "nearest":
                low, high = self.reward_range
                reward = min(max(reward, low), high)
            player = self._policy if self.log is None else self.log
            player.update(arm_id, reward, waiting[-1])
            waiting.pop()

    def _pull(self, arm_ids: list[ArmID]) -> ArmID:
        arms = list(arm_ids)
        if self._policy is None:
            self._policy = self._make(arms)
            self.log = PullLog(self._policy) if self.keep_log else None
        elif set(arms) != set(self._policy.arms):
            self._adjust(self._policy, arms)
        player = self._policy if self.log is None else self.log
        arm, prob = player.pull()
        waiting = self._waiting[arm]
        waiting.append(prob)
        if len(waiting) > MOST_WAITING:
            player.discard(arm, waiting.popleft())
        return arm

    def _make(self, arms: list[ArmID]) -> BanditPolicy:
        return POLICIES[self.algorithm](
            len(arms), self.horizon, self.seed, names=arms, loss_range=self.reward_range, gains=True
        )

    def _adjust(self, policy: BanditPolicy, arms: list[ArmID]) -> None:
        if not isinstance(policy, PotentialBandit):
            raise ValueError(f"the arms of {policy.title} cannot change; those of EXP3 can")
        for arm in arms:
            if arm not in policy.arms:
                policy.add_arm(arm)
        for arm in set(policy.arms) - set(arms):
            policy.remove_arm(arm)
            self._waiting.pop(arm, None)

    @classmethod
    def _unit_test_params(cls) -> Any:
        for algorithm in POLICIES:
            yield {"algorithm": algorithm}
