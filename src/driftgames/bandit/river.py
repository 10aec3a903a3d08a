"""The policies as bandit policies of river.

Needs the extra: ``pip install 'driftgames[river]'``.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import numpy as np

from driftgames.bandit.exp3_ix import Exp3IX
from driftgames.bandit.policy import BanditPolicy
from driftgames.bandit.potential_bandit import PotentialBandit
from driftgames.bandit.tsallis_inf import TsallisINF

try:
    from river.bandit.base import ArmID, Policy
except ImportError as error:
    raise ImportError(
        "driftgames.bandit.river needs river: pip install 'driftgames[river]'"
    ) from error

__all__ = ["MOST_WAITING", "RiverBandit"]

MOST_WAITING = 1000
"""How many pulls of one arm may wait for feedback."""

_KINDS: dict[str, type[PotentialBandit] | type[Exp3IX] | type[TsallisINF]] = {
    "exp3": PotentialBandit,
    "exp3-ix": Exp3IX,
    "tsallis-inf": TsallisINF,
}


class RiverBandit(Policy):  # type: ignore[misc]
    """A policy of this library behind river's ``pull(arm_ids)`` and ``update(arm_id, reward)``.

    Parameters
    ----------
    algorithm
        "exp3", "exp3-ix" or "tsallis-inf".
    horizon
        To which EXP3 and EXP3-IX are tuned; any horizon unless given.
    reward_range
        ``(low, high)``: where rewards lie; one outside it is an error.
    reward_obj, reward_scaler, burn_in
        As in river. A scaler must map rewards into ``reward_range``.
    seed
        Draws the arms.

    Notes
    -----
    River's ``update`` names the arm alone, so it is taken for the latest pull of that arm which
    waits; of more than `MOST_WAITING` pulls of an arm the oldest is given up. Pulls of a burn-in
    were not drawn, and nothing is learnt from them. With EXP3 the list of arms may change
    between pulls: a new arm joins, one left out is forgotten.

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
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        if algorithm not in _KINDS:
            raise ValueError(f"algorithm must be one of {', '.join(_KINDS)}; got {algorithm!r}")
        if horizon is not None and algorithm == "tsallis-inf":
            raise ValueError("Tsallis-INF takes no horizon; it needs none")
        self.algorithm = algorithm
        self.horizon = horizon
        self.reward_range = reward_range
        self.seed = seed
        self._policy: BanditPolicy | None = None
        self._waiting: defaultdict[ArmID, deque[float]] = defaultdict(deque)

    def distribution(self) -> dict[ArmID, float]:
        """Return the probabilities of the next pull; empty before the first."""
        if self._policy is None:
            return {}
        return dict(zip(self._policy.arms, self._policy.distribution().tolist(), strict=True))

    def update(self, arm_id: ArmID, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Take the reward of the latest pull of ``arm_id`` that waits for one."""
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
            self._policy.update(arm_id, reward, waiting[-1])
            waiting.pop()

    def _pull(self, arm_ids: list[ArmID]) -> ArmID:
        arms = list(arm_ids)
        if self._policy is None:
            self._policy = self._make(arms)
        elif set(arms) != set(self._policy.arms):
            self._adjust(self._policy, arms)
        arm, prob = self._policy.pull()
        waiting = self._waiting[arm]
        waiting.append(prob)
        if len(waiting) > MOST_WAITING:
            self._policy.discard(arm, waiting.popleft())
        return arm

    def _make(self, arms: list[ArmID]) -> BanditPolicy:
        tuned: Any = {} if self.algorithm == "tsallis-inf" else {"horizon": self.horizon}
        return _KINDS[self.algorithm](
            names=arms,
            loss_range=self.reward_range,
            rewards=True,
            random_state=np.random.default_rng(self.seed),
            **tuned,
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
        for algorithm in _KINDS:
            yield {"algorithm": algorithm}
