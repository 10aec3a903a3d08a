"""Pulls and feedback, one at a time: arms, units, waiting pulls, the generator, the state."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from driftgames.bandit.engines.clock_kernels import ROUND, waiting
from driftgames.bandit.engines.engine import PolicyEngine
from driftgames.bandit.engines.uniform_kernels import addresses_of
from driftgames.bandit.pulls.arms import check_names, shorten, slot_from, slots_of
from driftgames.bandit.pulls.pending import Gammas, Pending, pending_from, pending_rows, put, take
from driftgames.bandit.types import Arm
from driftgames.core.checks import check_between, check_flag, check_integer, is_real, shown
from driftgames.core.generators import KNOWN, RandomState, check_generator, own_generator, put_back
from driftgames.core.schema import (
    FLAG,
    LIST,
    OBJECT,
    PAIR,
    Requirement,
    Schema,
    array_of,
    integer,
    list_of,
)
from driftgames.core.state import LAST_ROUND, Stateful
from driftgames.core.typing import Content, FloatArray
from driftgames.core.units import Units


class ArmPuller(Stateful):
    """Draws arms with an engine, and gives their losses to it; see `BanditPolicy`."""

    VERSION: ClassVar[int] = 3
    _engine: PolicyEngine

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self._names = check_names(names, n_arms)
        arms = n_arms if self._names is None else len(self._names)
        self._n_arms = check_integer("n_arms", arms, least=1)
        self._units = Units.of(loss_range, gains)
        # attributes that a stream reads in every round
        self._low, self._high, self._plain = self._units.low, self._units.high, self._units.plain
        self.rng = own_generator(random_state)
        self._n_ever, self._arms_changed = self._n_arms, False
        self._watched = 0
        self._pending: Pending = {}
        self._gammas: Gammas = {}
        self._slots = slots_of(self._names)

    def _play_with(self, engine: PolicyEngine) -> None:
        """Take an engine; the last step of every constructor."""
        self._engine, self._learn = engine, engine.learn
        varies = engine.largest_gamma(engine.numbers) is not None
        self._gamma = None if varies else engine.gamma
        self._attach(self.rng)

    # ---------------------------------------------------------------- playing

    def distribution(self) -> FloatArray:
        """Return the probabilities of the arms in the next round; reading changes nothing."""
        with self._lock:
            return self._engine.distribution()

    def pull(self, rng: np.random.Generator | None = None) -> tuple[Any, float]:
        """Draw an arm; return it and its probability, which `update` needs."""
        if rng is None:
            rng = self.rng
        lock = self._lock
        lock.acquire()  # in half the time of a with block
        try:
            if rng is not self._generator:
                self._attach(rng)
            pull: tuple[Any, float] = self._draw()
            if self._names is not None:
                pull = (self._names[pull[0]], pull[1])
            pending = self._pending
            pending[pull] = pending.get(pull, 0) + 1
            if self._gamma is None:
                put(self._gammas, pull, self._engine.gamma)
            return pull
        finally:
            lock.release()

    def update(self, arm: Arm, loss: float, prob: float) -> None:
        """Take the loss (or the gain) of a pull of ``arm`` that had probability ``prob``."""
        lock = self._lock
        lock.acquire()
        try:
            pull = (arm, prob)
            pending = self._pending
            try:
                count = pending[pull]
            except (KeyError, TypeError):
                self._refuse(arm, prob)
            try:
                inside = self._low <= loss <= self._high
            except (TypeError, ValueError):
                inside = False
            if not inside:
                range_ = f"[{self._low:g}, {self._high:g}]"
                raise ValueError(f"a {self._units.word} must lie in {range_}; got {shown(loss)}")
            slot: Any = arm
            if self._slots is not None:
                slot = self._slots[arm]
            elif arm.__class__ is not int:
                slot = slot_from(arm)
            # the kernel was compiled for floats
            if loss.__class__ is not float or prob.__class__ is not float:
                loss, prob = _real(self._units.word, loss), float(prob)
            if not self._plain:
                loss = self._units.to_game(loss)
            gamma = self._gamma
            if gamma is None:
                gamma = take(self._gammas, pull)
            self._learn(slot, loss, prob + gamma)
            if count == 1:
                del pending[pull]
            else:
                pending[pull] = count - 1
        finally:
            lock.release()

    def discard(self, arm: Arm, prob: float) -> None:
        """Remove a pull whose feedback will never come; the policy learns nothing from it."""
        with self._lock:
            pull = (arm, prob)
            try:
                count = self._pending.pop(pull)
            except (KeyError, TypeError):
                self._refuse(arm, prob)
            if count > 1:
                self._pending[pull] = count - 1
            if self._gamma is None:
                take(self._gammas, pull)

    def watch(self, arm: Arm, loss: float, prob: float) -> None:
        """Learn from a pull of another policy, which drew ``arm`` with probability ``prob``.

        It counts as a pull of this policy, and its generator moves on as for a pull. From then on
        nothing is promised: bounds are for a policy that draws its own arms.
        """
        with self._lock:
            if not self._has(arm) or not (is_real(prob) and 0 < prob <= 1):
                self._refuse(arm, prob)
            number = check_between(f"a {self._units.word}", loss, self._low, self._high)
            self._attach(self.rng)
            self._draw()
            chance = float(prob) + self._engine.gamma
            self._learn(self.arms.index(arm), float(self._units.to_game(number)), chance)
            self._watched += 1

    # ---------------------------------------------------------------- what it knows

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return self._n_arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms, in the order of `distribution`."""
        return tuple(range(self._n_arms)) if self._names is None else tuple(self._names)

    @property
    def pending(self) -> int:
        """The number of pulls that wait for feedback."""
        return sum(self._pending.values())

    @property
    def t(self) -> int:
        """The number of pulls."""
        return self._engine.t

    @property
    def watched(self) -> int:
        """The number of pulls that another player made; see `watch`."""
        return self._watched

    @property
    def total_delay(self) -> int:
        """The sum over all pulls of the number of earlier pulls without feedback at that time.

        A discarded pull never has feedback.
        """
        return self._engine.delay

    @property
    def estimates(self) -> FloatArray:
        """The estimated total loss of each arm, for losses in [0, 1]."""
        return self._engine.estimates.copy()

    @property
    def positions(self) -> FloatArray:
        """The positions of the chips: `estimates` less the learner's loss, both in [0, 1]."""
        return np.asarray(self._engine.estimates - self._engine.learner_loss)

    @property
    def units(self) -> Units:
        """The range of losses, and whether the numbers are losses or gains."""
        return self._units

    @property
    def width(self) -> float:
        """The width of the range of losses: one loss of the game on [0, 1]."""
        return self._units.width

    # ---------------------------------------------------------------- state

    def content(self) -> Content:
        """Return arguments and state as JSON."""
        if self._names is not None and not all(isinstance(n, (str, int)) for n in self._names):
            raise ValueError("only arms named by strings or integers can be saved")
        kind = self.rng.bit_generator.state["bit_generator"]
        if kind not in KNOWN:
            raise ValueError(f"only {', '.join(KNOWN)} can be saved; got {kind}")
        return super().content()

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        n = arguments.get("n_arms")
        name = Requirement("a string or an integer", lambda v: type(v) in (int, str))
        return {
            "n_arms": integer(1),
            "names": list_of(n, name).or_null,
            "loss_range": PAIR,
            "gains": FLAG,
            **cls._named_arguments,
        }, {
            "estimates": array_of(n),
            "numbers": array_of(None),
            "n_ever": integer(1, LAST_ROUND),
            "memory": array_of(None),
            "pending": LIST,
            "generator": OBJECT,
        }

    def _arguments(self) -> Content:
        return {
            "n_arms": self._n_arms,
            "names": self._names,
            "loss_range": (self._low, self._high),
            "gains": self._units.gains,
            **super()._arguments(),
        }

    def _get_state(self) -> Content:
        memory = self._engine.memory
        return {
            "estimates": self._engine.estimates,
            "numbers": self._engine.numbers,
            **({} if memory is None else {"memory": memory}),
            "n_ever": self._n_ever,
            "arms_changed": self._arms_changed,
            "watched": self._watched,
            "pending": pending_rows(self._pending, self._gammas, self._slots),
            "generator": self.rng.bit_generator.state,
        }

    def _set_state(self, state: Content) -> None:
        estimates, numbers = state["estimates"], self._engine.upgraded(state["numbers"])
        self._engine.check_state(estimates, numbers)
        memory = None if self._engine.memory is None else state["memory"]
        if memory is not None or "memory" in state:
            self._engine.check_memory(state["memory"])
        n_ever = check_integer("n_ever", state["n_ever"], least=self._n_arms)
        arms_changed = check_flag("arms_changed", state["arms_changed"])
        watched = check_integer("watched", state.get("watched", 0), least=0)  # older files: none
        if watched > numbers[ROUND]:
            raise ValueError(f"{watched} pulls were watched, of {int(numbers[ROUND])}")
        largest_gamma = self._engine.largest_gamma(numbers)
        pending, gammas = pending_from(state["pending"], self.arms, largest_gamma)
        count, unanswered = sum(pending.values()), int(waiting(numbers))
        if count > unanswered:
            raise ValueError(f"{count} pulls wait, and {unanswered} have no loss yet")
        self.rng = put_back(self.rng, state["generator"])
        self._engine.set_state(estimates, numbers, memory)
        self._n_ever, self._arms_changed, self._watched = n_ever, arms_changed, watched
        self._pending, self._gammas = pending, gammas
        self._play_with(self._engine)  # gamma follows from the numbers

    def __reduce__(self) -> tuple[Any, ...]:
        # kernels are bound to the arrays and the generator of one object
        return type(self)._restored, (self._arguments(), self._get_state())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._restored(self._arguments(), copy.deepcopy(self._get_state(), memo))

    @classmethod
    def _restored(cls, arguments: Content, state: Content) -> Self:
        policy = cls(**arguments)
        policy._set_state(state)
        return policy

    # ---------------------------------------------------------------- helpers

    @contextlib.contextmanager
    def _drawing_from(self, rng: np.random.Generator | None) -> Iterator[None]:
        """Draw from this generator inside the block; None stands for the policy's own."""
        own = self.rng
        self._attach(own if rng is None else rng)
        self.rng = self._generator
        try:
            yield
        finally:
            self.rng = own

    def _attach(self, rng: np.random.Generator) -> None:
        self._addresses = addresses_of(check_generator("rng", rng))
        self._draw = partial(self._engine.draw, *self._addresses)
        self._generator = rng  # keep it alive: its state lies at the address

    def _has(self, arm: Any) -> bool:
        """Whether this is one of the arms; True is not the arm 1, and NaN is none."""
        try:
            if self._slots is not None:
                return arm in self._slots
            return not isinstance(arm, bool | np.bool_) and arm in range(self._n_arms)
        except (TypeError, ValueError):
            return False

    def _refuse(self, arm: Arm, prob: float) -> NoReturn:
        """Say why there is no pull of this arm with this probability."""
        if not self._has(arm):
            raise ValueError(f"there is no arm {shown(arm)}; the arms are {shorten(self.arms)}")
        if not (is_real(prob) and 0 < prob <= 1):
            raise ValueError(f"prob must lie in (0, 1]; got {shown(prob)}")
        raise ValueError(
            f"no pull of arm {shown(arm)} with probability {shown(prob)} waits for feedback: it "
            "was given already, or prob is not what pull returned"
        )


for _method in (ArmPuller.pull, ArmPuller.update, ArmPuller.discard, ArmPuller.watch):
    _method.__qualname__ = f"BanditPolicy.{_method.__name__}"  # what Python's errors name


def _real(word: str, value: Any) -> float:
    """Return a number or a truth value as a float; a complex number is neither."""
    if isinstance(value, complex | np.complexfloating):
        raise ValueError(f"a {word} must be a real number; got {shown(value)}")
    return float(value)
