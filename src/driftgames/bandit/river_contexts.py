"""SquareCB as a contextual bandit policy of river.

Needs the extra: ``pip install 'driftgames[river]'``.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from driftgames.bandit.contexts.square_cb import SquareCB
from driftgames.bandit.river import MOST_WAITING
from driftgames.core.checks import needs_extra, shown

with needs_extra(__name__, "river"):
    from river.bandit.base import ArmID, ContextualPolicy

__all__ = ["RiverSquareCB"]

Context = dict[Any, float]


class RiverSquareCB(ContextualPolicy):  # type: ignore[misc]
    """`SquareCB` behind river's ``pull(arm_ids, context)`` and ``update(arm_id, context, reward)``.

    Parameters
    ----------
    model
        The regression: "ridge" or "logistic".
    reward_range
        ``(low, high)``: the range of rewards.
    greed, optimism, ridge
        As for `SquareCB`.
    reward_obj, reward_scaler, burn_in
        As in river. A scaler must map rewards into ``reward_range``.
    seed
        Draws the arms.

    Notes
    -----
    The features are those of the first context; a feature that is missing later is 0, and another
    one is an error. An ``update`` answers the latest waiting pull of its arm; if more than
    `MOST_WAITING` pulls of an arm wait, the oldest is discarded. Pulls of a burn-in are not
    drawn, and the policy learns nothing from them.

    Examples
    --------
    >>> policy = RiverSquareCB(seed=1)
    >>> for t in range(500):
    ...     context = {"sun": t % 2, "rain": 1 - t % 2}
    ...     arm = policy.pull(["hat", "umbrella"], context)
    ...     policy.update(arm, context, 1.0 if (arm == "hat") == (t % 2 == 1) else 0.0)
    >>> bool(policy.distribution({"rain": 1})["umbrella"] > 0.95)
    True
    """

    def __init__(
        self,
        model: str = "ridge",
        reward_range: tuple[float, float] = (0.0, 1.0),
        greed: float = 100.0,
        optimism: float = 1.0,
        ridge: float = 1.0,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.model, self.reward_range, self.seed = model, reward_range, seed
        self.greed, self.optimism, self.ridge = greed, optimism, ridge
        self._make(1, None)  # settings are checked at once
        self._policy: SquareCB | None = None
        self._features: tuple[Any, ...] = ()
        self._waiting: dict[ArmID, deque[tuple[float, list[float]]]] = {}

    def distribution(self, context: Context) -> dict[ArmID, float]:
        """Return the probabilities of the arms for this context; empty before the first pull."""
        if self._policy is None:
            return {}
        p = self._policy.distribution(self._numbers(context))
        return dict(zip(self._policy.arms, p.tolist(), strict=True))

    def update(self, arm_id: ArmID, context: Context, *rewards: Any, **settings: Any) -> None:
        """Take the reward of the latest waiting pull of ``arm_id``."""
        if self.reward_scaler is None:
            self._learn(arm_id, *rewards)  # first, so that a bad reward is not counted
            super().update(arm_id, context, *rewards, **settings)
        else:
            super().update(arm_id, context, *rewards, **settings)
            self._learn(arm_id, self.reward_scaler.func(*rewards))

    def _learn(self, arm_id: ArmID, reward: float) -> None:
        waiting = self._waiting.get(arm_id)
        if waiting:
            assert self._policy is not None
            prob, numbers = waiting[-1]
            self._policy.update(arm_id, reward, prob, numbers)
            waiting.pop()

    def _pull(self, arm_ids: list[ArmID], context: Context | None) -> ArmID:
        if not context:
            raise ValueError(f"SquareCB needs a context with features; got {shown(context)}")
        if self._policy is None:
            self._features = tuple(context)
            self._policy = self._make(len(context), list(arm_ids))
        elif set(arm_ids) != set(self._policy.arms):
            raise ValueError(
                f"the arms of SquareCB cannot change from {shown(list(self._policy.arms))}; "
                f"got {shown(list(arm_ids))}"
            )
        numbers = self._numbers(context)
        arm, prob = self._policy.pull(numbers)
        waiting = self._waiting.setdefault(arm, deque())
        waiting.append((prob, numbers))
        if len(waiting) > MOST_WAITING:
            self._policy.discard(arm, waiting.popleft()[0])
        found: ArmID = arm
        return found

    def _numbers(self, context: Context) -> list[float]:
        if unknown := [name for name in context if name not in self._features]:
            raise ValueError(
                f"a context must have the features of the first, {shown(list(self._features))}; "
                f"got {shown(unknown[0])}"
            )
        return [float(context.get(name, 0.0)) for name in self._features]

    def _make(self, n_features: int, arms: list[ArmID] | None) -> SquareCB:
        return SquareCB(
            2 if arms is None else None,
            names=arms,
            n_features=n_features,
            model=self.model,
            greed=self.greed,
            optimism=self.optimism,
            ridge=self.ridge,
            loss_range=self.reward_range,
            gains=True,
            random_state=self.seed,
        )

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}
        yield {"model": "logistic"}
