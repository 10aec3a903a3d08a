"""What every bandit policy shares: arms, pulls that wait for feedback, ranges, replays."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from driftgames._kernels.bandit_uniforms import addresses_of
from driftgames.bandit.arms import Arm, check_names, few, slot_from, slots_of
from driftgames.bandit.engines import Engine
from driftgames.bandit.environments import Adaptive, Environment
from driftgames.bandit.generators import child_of, generator_from, generator_state
from driftgames.bandit.late import LateReplay, check_delays
from driftgames.bandit.pending import Gammas, Pending, note, pending_from, recall, rows_of
from driftgames.bandit.replay import (
    all_or_nothing,
    check_environment,
    check_matrix,
    play_environment,
    play_matrix,
)
from driftgames.bandit.run import BanditRun, Bound, nothing_promised
from driftgames.bandit.units import Units
from driftgames.certificates import Certificate
from driftgames.core.checks import (
    check_flag,
    check_fractions,
    check_horizons,
    check_integer,
    is_real,
)
from driftgames.core.documents import (
    DocumentError,
    decode_array,
    encode_array,
    read_document,
    write_document,
)
from driftgames.core.typing import Content, FloatArray
from driftgames.potentials import NoBoundError

VERSION = 2
"""Of the file format. Files of version 1 do not say how late losses came."""

Rounds = npt.NDArray[np.int64]


class BanditPolicy(ABC):
    r"""A player who draws one arm a round and sees the loss of that arm alone.

    .. math:: \hat\ell_{t,i} = \mathbf 1\{i = i_t\}\, \ell_{t,i_t} / p_{t,i_t}

    is what a pull says of all arms, without bias. The probability with which the arm was drawn
    comes out of `pull` and goes back into `update`, so that feedback may come late and in any
    order. [LS14, Sec. 4]

    Parameters
    ----------
    n_arms : int, optional
        K; may be left out where ``names`` are given.
    names : sequence, optional
        What the arms are called, in `pull` and `update`; 0, 1, ... unless given.
    loss_range : (float, float)
        Where losses (or rewards) lie.
    rewards : bool
        Whether rewards come in instead of losses; a loss is then minus a reward.
    random_state : int or np.random.Generator, optional
        Draws the arms where `pull` is not handed a generator; saved with the state.

    Notes
    -----
    A pull waits for its feedback under its arm and probability; of pulls that agree in both, the
    oldest is meant. Feedback for which no pull waits is an error, and so is feedback twice for
    one pull. Feedback that will never come is given up with `discard`.

    A policy counts how late feedback comes, and its bound pays for it: see `total_delay` and
    `bound`. Where the bound is known for feedback at once only, nothing is promised as soon as
    one pull is made while another one waits.

    Numbers are taken from the generator one per pull, as ``rng.random()`` would. A policy is
    not safe to be used by two threads at once.
    """

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        rewards: bool = False,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self._names = check_names(names, n_arms)
        arms = n_arms if self._names is None else len(self._names)
        self._n_arms = check_integer("n_arms", arms, least=1)
        self._units = Units.of(loss_range, rewards)
        # what a stream reads in every round
        self._low, self._high, self._plain = self._units.low, self._units.high, self._units.plain
        self.rng = self._generator = np.random.default_rng(random_state)
        self._n_ever, self._arms_changed = self._n_arms, False
        self._pending: Pending = {}
        self._gammas: Gammas = {}
        self._slots = slots_of(self._names)

    # ---------------------------------------------------------------- what a policy must give

    _not_in_files: ClassVar[tuple[str, ...]] = ()
    """The arguments that `load` takes."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the policy is called in tables and figures."""

    @property
    def caveat(self) -> str:
        """In what sense the bound holds."""
        late = ", if neither losses nor delays depend on the arms drawn"
        return f"in expectation{late * (self.total_delay > 0)}"

    @abstractmethod
    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound of losses in [0, 1] that all came at once."""

    def _late_bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound of losses in [0, 1] that came as late as they did."""
        raise NoBoundError(
            f"the bound of {self.title} is for losses that come at once, and they came "
            f"{self.total_delay:,} pulls late in all"
        )

    @property
    @abstractmethod
    def _own_arguments(self) -> Content:
        """What this policy's constructor takes beyond what all take, as JSON."""

    @classmethod
    @abstractmethod
    def _arguments(cls, saved: Content, given: dict[str, Any]) -> dict[str, Any]:
        """Return the constructor's arguments from those saved and those given to `load`."""

    def _take(self, engine: Engine) -> None:
        """Play with this engine from now on; the last act of every constructor."""
        self._engine, self._learn = engine, engine.learn
        self._gamma = engine.gamma if engine.most_gamma is None else None
        self._attach(self._generator)

    # ---------------------------------------------------------------- playing

    def distribution(self) -> FloatArray:
        """Return the probabilities of the arms in the next round; reading changes nothing."""
        return self._engine.distribution()

    def pull(self, rng: np.random.Generator | None = None) -> tuple[Any, float]:
        """Draw an arm; return it and the probability that it had, to be given back."""
        if rng is None:
            rng = self.rng
        if rng is not self._generator:
            self._attach(rng)
        pull: tuple[Any, float] = self._draw()
        if self._names is not None:
            pull = (self._names[pull[0]], pull[1])
        pending = self._pending
        pending[pull] = pending.get(pull, 0) + 1
        if self._gamma is None:
            note(self._gammas, pull, self._engine.gamma)
        return pull

    def update(self, arm: Arm, loss: float, prob: float) -> None:
        """Take the loss (or the reward) of a pull of ``arm`` that had probability ``prob``."""
        pull = (arm, prob)
        pending = self._pending
        try:
            waiting = pending[pull]
        except (KeyError, TypeError):
            self._refuse(arm, prob)
        try:
            inside = self._low <= loss <= self._high
        except TypeError:
            inside = False
        if not inside:
            raise ValueError(
                f"a {self._units.word} must lie in [{self._low:g}, {self._high:g}]; got {loss!r}"
            )
        slot: Any = arm
        if self._slots is not None:
            slot = self._slots[arm]
        elif arm.__class__ is not int:
            slot = slot_from(arm)
        # a float is what the kernel was compiled for
        if loss.__class__ is not float or prob.__class__ is not float:
            loss, prob = float(loss), float(prob)
        if not self._plain:
            loss = self._units.to_game(loss)
        gamma = self._gamma
        if gamma is None:
            gamma = recall(self._gammas, pull)
        self._learn(slot, loss, prob + gamma)
        if waiting == 1:
            del pending[pull]
        else:
            pending[pull] = waiting - 1

    def discard(self, arm: Arm, prob: float) -> None:
        """Give up a pull whose feedback will never come; nothing is learnt from it."""
        pull = (arm, prob)
        try:
            waiting = self._pending.pop(pull)
        except (KeyError, TypeError):
            self._refuse(arm, prob)
        if waiting > 1:
            self._pending[pull] = waiting - 1
        if self._gamma is None:
            recall(self._gammas, pull)

    def run(
        self,
        source: npt.ArrayLike | Environment,
        horizon: int | None = None,
        *,
        rng: np.random.Generator | None = None,
        environment_rng: np.random.Generator | None = None,
        delays: npt.ArrayLike = 0,
        points: int = 256,
    ) -> BanditRun:
        """Play a T x K matrix, or ``horizon`` rounds of an environment, in compiled loops.

        It equals one `pull` and one `update` per round, bit for bit. Matrices are in the
        policy's own units; environments speak of losses in [0, 1], which are brought to them.
        A bad matrix leaves the policy as it was.

        The bound of the run is that of the policy as it is now, with the delays of the run. It
        is known for a policy that begins with this run: bounds count from the first round, and
        what the arms lost before the run is not known here.

        Parameters
        ----------
        source : array of shape (T, K), or Environment
            All losses (or rewards) in advance, or who makes them.
        horizon : int
            How many rounds of an environment; a matrix says so itself.
        rng : np.random.Generator, optional
            Draws the arms; the policy's own unless given.
        environment_rng : np.random.Generator, optional
            Draws the losses of an environment; seeded by numbers of ``rng`` unless given.
        delays : int, or array of int of shape (T,)
            How many further pulls are made before the loss of a pull comes. A loss that is due
            after the last round never comes. Games with delays are not compiled, and not for
            environments that react to the player.
        points : int
            At how many rounds the totals are kept for the curves.
        """
        self._attach(self.rng if rng is None else rng)
        bound, gaps = self._promise(), None
        if isinstance(source, Environment):
            rounds = check_environment(source, self._n_arms, horizon)
        else:
            matrix = check_matrix(source, self._n_arms, horizon, self._units)
            rounds = matrix.shape[0]
        late = check_delays(delays, rounds)
        if late is not None and isinstance(source, Adaptive):
            raise ValueError("delays are for losses that do not react to the player")
        replay = self._engine.replay if late is None else LateReplay(self._engine, late)
        with all_or_nothing(self._engine, self._generator):
            if isinstance(source, Environment):
                draws = environment_rng or child_of(self._generator)
                recorder = play_environment(
                    self._engine, replay, self._source, source, rounds, draws, points
                )
                gaps = source.gaps
            else:
                recorder = play_matrix(replay, self._source, matrix, self._units, points)
        if self.total_delay > 0 and self.t == rounds:  # the run began with the first pull
            bound = self.copy().bound
        return recorder.report(
            title=self.title,
            arms=self.arms,
            width=self._units.width,
            least=self._units.least,
            gaps=gaps,
            bound=bound,
            caveat=self.caveat,
        )

    # ---------------------------------------------------------------- what is promised

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound on the epsilon-regret after ``horizon`` rounds, in units of loss.

        It counts the delays of all pulls so far and takes later feedback to come at once. It
        raises `NoBoundError` where nothing is promised.
        """
        return self._bound_in_units(horizon, epsilon, late=self.total_delay > 0)

    def certificate(self, arm_losses: npt.ArrayLike, learner_loss: float) -> Certificate:
        """Return the epsilon-regret of all rounds so far beside the bound.

        It is for a stream: `run` returns a run with a certificate of its own. The bound counts
        the delays that happened, or the certificate says that nothing is promised.

        Parameters
        ----------
        arm_losses : array of shape (K,)
            What each arm lost in all rounds, in units of loss.
        learner_loss : float
            What the drawn arms lost in all rounds, those included whose feedback has not come.
        """
        return Certificate.of_run(
            self.title, self.t, arm_losses, learner_loss, self.bound, caveat=self.caveat
        )

    def _bound_in_units(
        self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike, *, late: bool
    ) -> FloatArray:
        rounds, fractions = check_horizons(horizon), check_fractions("epsilon", epsilon)
        both = np.broadcast_arrays(rounds, fractions)
        # a loss is at most 1, and so is the regret of a round; delays may cost more in a bound
        bound = np.minimum(self._late_bound(*both), both[0]) if late else self._bound(*both)
        return np.asarray(bound * self.width)

    # ---------------------------------------------------------------- what it knows

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return self._n_arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms, in the order of `distribution`."""
        return tuple(range(self._n_arms)) if self._names is None else tuple(self._names)

    @property
    def pending(self) -> int:
        """How many pulls wait for feedback."""
        return sum(self._pending.values())

    @property
    def t(self) -> int:
        """How many arms were pulled."""
        return self._engine.t

    @property
    def total_delay(self) -> int:
        """The sum over all pulls of how many earlier ones had no feedback yet.

        A pull that was given up has none for ever.
        """
        return self._engine.delay

    @property
    def estimates(self) -> FloatArray:
        """The estimated total loss of each arm, of losses in [0, 1]."""
        return self._engine.estimates.copy()

    @property
    def positions(self) -> FloatArray:
        """Where the chips stand: `estimates` less what the player lost, of losses in [0, 1]."""
        return np.asarray(self._engine.estimates - self._engine.learner_loss)

    @property
    def width(self) -> float:
        """How wide the range of losses is: one loss of the game on [0, 1]."""
        return self._units.width

    def __repr__(self) -> str:
        return f"<{self.title}: {self._n_arms} arms, {self.t} pulls>"

    # ---------------------------------------------------------------- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state, the waiting pulls and the generator included, to a file."""
        write_document(path, _kind(type(self)), VERSION, self._content())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **arguments: Any) -> Self:
        """Return the policy that `save` wrote; it goes on to the same bits.

        ``arguments`` are for what a file cannot hold, such as a potential of your own.
        """
        for name in arguments.keys() - set(cls._not_in_files):
            raise TypeError(f"{cls.__name__}.load takes no {name}: the file says what it was")
        content = read_document(path, _kind(cls), VERSION)
        try:
            saved, state = content["arguments"], content["state"]
            estimates, numbers = (decode_array(state[name]) for name in ("estimates", "numbers"))
            if estimates.shape != (saved["n_arms"],):  # before room is made for the arms
                raise ValueError(f"{estimates.size} estimates for {saved['n_arms']} arms")
            policy = cls(
                **cls._arguments(saved, arguments),
                random_state=generator_from(content["generator"]),
            )
            policy._engine.restore(estimates, numbers)
            policy._restore(state["n_ever"], state["arms_changed"], content["pending"])
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise DocumentError(f"{path}: not a whole {cls.__name__}: {error}") from error
        return policy

    def _content(self) -> Content:
        if self._names is not None and not all(isinstance(n, (str, int)) for n in self._names):
            raise ValueError("only arms named by strings or integers can be saved")
        return {
            "arguments": {
                "n_arms": self._n_arms,
                "names": None if self._names is None else list(self._names),
                "loss_range": [self._low, self._high],
                "rewards": self._units.rewards,
                **self._own_arguments,
            },
            "state": {
                "estimates": encode_array(self._engine.estimates),
                "numbers": encode_array(self._engine.numbers),
                "n_ever": self._n_ever,
                "arms_changed": self._arms_changed,
            },
            "pending": rows_of(self._pending, self._gammas),
            "generator": generator_state(self.rng),
        }

    def _restore(self, n_ever: int, arms_changed: bool, rows: list[list[Any]]) -> None:
        self._take(self._engine)  # gamma follows from the numbers that were restored
        self._n_ever = check_integer("n_ever", n_ever, least=self._n_arms)
        self._arms_changed = check_flag("arms_changed", arms_changed)
        self._pending, self._gammas = pending_from(rows, self.arms, self._engine.most_gamma)
        unanswered = self.t - self._engine.answered
        if self.pending > unanswered:
            raise ValueError(f"{self.pending} pulls wait, and {unanswered} have no loss yet")

    def copy(self) -> Self:
        """Return a policy of its own in the same state, generator included."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        # addresses and bound kernels belong to this object alone
        left_out = {"_draw", "_generator", "_learn", "_source"}
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._generator = self.rng
        self._take(self._engine)

    # ---------------------------------------------------------------- helpers

    def _replace_arms(self, names: list[Arm], estimates: FloatArray, n_ever: int) -> None:
        self._n_arms, self._n_ever = len(names), n_ever
        self._arms_changed |= self.t > 0  # before the first pull it makes no difference
        self._names = None if names == list(range(len(names))) else names
        self._slots = slots_of(self._names)
        self._pending = {pull: each for pull, each in self._pending.items() if pull[0] in names}
        self._engine.estimates = estimates
        self._engine.bind()
        self._take(self._engine)

    def _promise(self) -> Bound:
        """Return the bound of a run that begins now, whatever becomes of the policy later."""
        if self.t:
            return partial(nothing_promised, self.t)
        return partial(copy.copy(self)._bound_in_units, late=False)

    def _attach(self, rng: np.random.Generator) -> None:
        if not isinstance(rng, np.random.Generator):
            raise ValueError(f"rng must be a np.random.Generator; got {rng!r}")
        self._source = addresses_of(rng)
        self._draw = partial(self._engine.draw, *self._source)
        self._generator = rng  # kept alive: its state lies at the address

    def _refuse(self, arm: Arm, prob: float) -> NoReturn:
        """Say why there is no pull of this arm with this probability."""
        if arm not in self.arms:
            raise ValueError(f"there is no arm {arm!r}; the arms are {few(self.arms)}")
        if not (is_real(prob) and 0 < prob <= 1):
            raise ValueError(f"prob must lie in (0, 1]; got {prob!r}")
        raise ValueError(
            f"no pull of arm {arm!r} with probability {prob!r} waits for feedback: it was given "
            "already, or prob is not what pull returned"
        )


def _kind(policy: type[BanditPolicy]) -> str:
    return f"driftgames.{policy.__name__}"
