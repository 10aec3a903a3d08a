"""SquareCB and EXP4 as contextual bandit policies of river.

Needs the extra: ``pip install 'driftgames[river]'``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from typing import Any, ClassVar

from driftgames.bandit.contexts.context_policy import ContextPolicy
from driftgames.bandit.contexts.exp4 import Exp4
from driftgames.bandit.contexts.square_cb import SquareCB
from driftgames.bandit.river import MOST_WAITING
from driftgames.core.checks import needs_extra, shown

with needs_extra(__name__, "river"):
    from river.bandit.base import ArmID, ContextualPolicy

__all__ = ["RiverExp4", "RiverSquareCB"]

Context = dict[Any, Any]


class RiverContextPolicy(ContextualPolicy):  # type: ignore[misc]
    """A `ContextPolicy` behind river's protocol; the first pull tells its arms and its keys.

    The keys are the names in a context. An update answers the latest waiting pull of its arm.
    """

    noun: ClassVar[str]
    """What the keys are called."""

    title: ClassVar[str]
    """The name of the policy in errors."""

    def __init__(
        self,
        reward_range: tuple[float, float],
        reward_obj: Any,
        reward_scaler: Any,
        burn_in: int,
        seed: int | None,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.reward_range, self.seed = reward_range, seed
        self._policy: ContextPolicy | None = None
        self._keys: tuple[Any, ...] = ()
        self._waiting: dict[ArmID, deque[tuple[float, Any]]] = {}

    @abstractmethod
    def _make(self, keys: tuple[Any, ...], arms: list[ArmID]) -> ContextPolicy:
        """Return the policy for contexts with these keys."""

    @abstractmethod
    def _numbers(self, context: Context, keys: tuple[Any, ...], arms: tuple[ArmID, ...]) -> Any:
        """Return a context as the policy takes it."""

    def distribution(self, context: Context) -> dict[ArmID, float]:
        """Return the probabilities of the arms for this context; empty before the first pull."""
        if self._policy is None:
            return {}
        p = self._policy.distribution(self._seen(context, self._keys, self._policy.arms))
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
            raise ValueError(f"{self.title} needs a context with {self.noun}; got {shown(context)}")
        if self._policy is not None and set(arm_ids) != set(self._policy.arms):
            raise ValueError(
                f"the arms of {self.title} cannot change from {shown(list(self._policy.arms))}; "
                f"got {shown(list(arm_ids))}"
            )
        keys = self._keys or tuple(context)
        policy = self._policy or self._make(keys, list(arm_ids))
        numbers = self._seen(context, keys, policy.arms)
        arm, prob = policy.pull(numbers)
        self._policy, self._keys = policy, keys  # now: a bad first context settles nothing
        waiting = self._waiting.setdefault(arm, deque())
        waiting.append((prob, numbers))
        if len(waiting) > MOST_WAITING:
            policy.discard(arm, waiting.popleft()[0])
        found: ArmID = arm
        return found

    def _seen(self, context: Context, keys: tuple[Any, ...], arms: tuple[ArmID, ...]) -> Any:
        if unknown := [name for name in context if name not in keys]:
            raise ValueError(
                f"a context must have the {self.noun} of the first, {shown(list(keys))}; "
                f"got {shown(unknown[0])}"
            )
        return self._numbers(context, keys, arms)


class RiverSquareCB(RiverContextPolicy):
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

    noun = "features"
    title = "SquareCB"

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
        super().__init__(reward_range, reward_obj, reward_scaler, burn_in, seed)
        self.model = model
        self.greed, self.optimism, self.ridge = greed, optimism, ridge
        self._make(("feature",), ["a", "b"])  # settings are checked at once

    def _numbers(self, context: Context, keys: tuple[Any, ...], arms: tuple[ArmID, ...]) -> Any:
        return [float(context.get(name, 0.0)) for name in keys]

    def _make(self, keys: tuple[Any, ...], arms: list[ArmID]) -> SquareCB:
        return SquareCB(
            names=arms,
            n_features=len(keys),
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


class RiverExp4(RiverContextPolicy):
    """`Exp4` behind river's ``pull(arm_ids, context)`` and ``update(arm_id, context, reward)``.

    Parameters
    ----------
    reward_range
        ``(low, high)``: the range of rewards.
    reward_obj, reward_scaler, burn_in
        As in river. A scaler must map rewards into ``reward_range``.
    seed
        Draws the arms.

    Notes
    -----
    A context is the advice of each expert by its name: an arm, or a dict of probabilities, such as
    the ``distribution(features)`` of `RiverSquareCB`. The experts are those of the first context;
    one that is missing later, or whose dict is empty, advises all arms alike. Feedback is matched
    with pulls as in `RiverSquareCB`.

    Examples
    --------
    >>> policy = RiverExp4(seed=1)
    >>> for t in range(500):
    ...     advice = {"forecast": "hat" if t % 2 else "umbrella", "habit": {"hat": 1.0}}
    ...     arm = policy.pull(["hat", "umbrella"], advice)
    ...     policy.update(arm, advice, 1.0 if (arm == "hat") == (t % 2 == 1) else 0.0)
    >>> bool(policy.distribution({"forecast": "umbrella", "habit": "hat"})["umbrella"] > 0.95)
    True
    """

    noun = "experts"
    title = "EXP4"

    def __init__(
        self,
        reward_range: tuple[float, float] = (0.0, 1.0),
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_range, reward_obj, reward_scaler, burn_in, seed)
        self._make(("expert",), ["a", "b"])  # settings are checked at once

    def _numbers(self, context: Context, keys: tuple[Any, ...], arms: tuple[ArmID, ...]) -> Any:
        rows = []
        for name in keys:
            advice = context.get(name, {})
            shares = advice if isinstance(advice, dict) else {advice: 1.0}
            if unknown := [arm for arm in shares if arm not in arms]:
                raise ValueError(
                    f"expert {shown(name)} must advise arms, {shown(list(arms))}; "
                    f"got {shown(unknown[0])}"
                )
            alike = 0.0 if shares else 1.0 / len(arms)
            rows.append([float(shares.get(arm, alike)) for arm in arms])
        return rows

    def _make(self, keys: tuple[Any, ...], arms: list[ArmID]) -> Exp4:
        return Exp4(
            names=arms,
            experts=list(keys),
            loss_range=self.reward_range,
            gains=True,
            random_state=self.seed,
        )

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}
