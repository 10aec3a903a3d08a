"""The base class of learners from expert advice: positions, a clock, and totals."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames.certificates import Certificate
from driftgames.core.checks import (
    as_floats,
    check_flag,
    check_integer,
    check_range,
    check_text,
    shown,
    unmask,
)
from driftgames.core.data_frames import by_name, column_names, labels_of
from driftgames.core.generators import check_generator
from driftgames.core.progress import progress as progress_bar
from driftgames.core.schema import FLAG, PAIR, STRING, Schema, array_of, integer, list_of, one_of
from driftgames.core.state import LAST_ROUND, Stateful, check_arrays
from driftgames.core.typing import BoolArray, Content, FloatArray, read_only
from driftgames.hedge.rounds.expert_run import ExpertRun
from driftgames.hedge.rounds.learner_checks import (
    check_dtype,
    check_names,
    check_prior,
    check_units,
    largest_loss,
)
from driftgames.hedge.rounds.totals import CLOCK, FLOOR, LEARNER

Floats = npt.NDArray[np.floating[Any]]
Rows = tuple[Floats, BoolArray | None, FloatArray, FloatArray, FloatArray]
"""Losses, who is awake, and arrays for the learner's losses, the regret and the distributions."""

_CHUNK = 1 << 21  # entries of a loss matrix between two steps of the progress bar


class ExpertLearner(Stateful):
    """A player of the Hedge game: distributions out, losses in. [LS14, Sec. 3.1]

    Parameters
    ----------
    n_actions : int, optional
        N, at least 1. Default: the number of ``names``.
    prior : array, optional
        The share of each action in the population. Default: uniform. The regret to an action
        grows with the logarithm of one over its share.
    loss_range : (float, float) or None
        The range of the losses. Arguments and results are in these units. None: losses of any
        size, for learners that are ``scale_free``.
    gains : bool
        Whether the numbers are gains. A loss is then minus a gain, also in totals.
    dtype : float64 or float32
        The type of losses, distributions and positions. Totals are always float64, because the
        regret is a small difference of totals.
    names : sequence of str, optional
        The names of the actions. Default: their numbers, or the names in the first losses that
        have them.

    Notes
    -----
    The state is one cumulative loss per action, the learner's own total and the clock. Some
    learners hold one more number per action. Weights are never state: they follow from the
    positions, so an underflow does not last, and a saved learner continues to the same bits.
    """

    sleeps: ClassVar[bool] = False
    """Whether the theory allows sleeping actions (``awake=``)."""

    scale_free: ClassVar[bool] = False
    """Whether the theory needs no range of the losses (``loss_range=None``)."""

    takes_prior: ClassVar[bool] = True
    """Whether the theory has a prior."""

    def __init__(
        self,
        n_actions: int | None = None,
        *,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        self._names = check_names(names, n_actions)
        if n_actions is None and self._names is None:
            raise ValueError("n_actions or names must be given; got neither")
        count = len(self._names or ()) if n_actions is None else n_actions
        self._n_actions = check_integer("n_actions", count, least=1)
        self._dtype = check_dtype(dtype)
        if prior is not None and not self.takes_prior:
            raise ValueError(f"the theory of {type(self).__name__} has no prior; leave it out")
        self._prior = check_prior(prior, self._n_actions)
        if loss_range is None and not self.scale_free:
            raise ValueError(
                f"loss_range must be (low, high), because the theory of {type(self).__name__} "
                "needs it; AdaHedge's does not; got None"
            )
        # without a range 0 is the best number, so that a gain x is the loss -x to the bit
        any_range = (-1.0, 0.0) if check_flag("gains", gains) else (0.0, 1.0)
        units = self._units = check_units(
            any_range if loss_range is None else loss_range, gains, self._dtype
        )
        self._width, self._least = units.width, units.least
        self._is_bounded = loss_range is not None
        most = largest_loss(self._dtype)
        low, high = (units.low, units.high) if self._is_bounded else (-most, most)
        # an entry x is the loss (x - offset) * factor of the game, which is on [0, 1] if bounded
        self._scale = (low, high, units.best, 1.0 / units.span)
        self._cumulative = np.zeros(self._n_actions)
        self._totals = np.zeros(4)
        self._memory = np.zeros(self._memory_size)
        self._allocate_scratch()

    # ---------------------------------------------------------------- what a learner must give

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the learner in tables and figures."""

    @abstractmethod
    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound on the epsilon-regret after ``horizon`` rounds, in units of loss."""

    @property
    @abstractmethod
    def _memory_size(self) -> int:
        """The number of statistics that the learner keeps beside its totals; all start at 0."""

    @abstractmethod
    def _replay(self, *rows: *Rows) -> int:
        """Play the rows and return their number; stop at a row out of range.

        The distributions are written if there are rows for them. Without room for the learner's
        losses the next distribution is written, the state does not change, and the one row of
        losses is not used.
        """

    # ---------------------------------------------------------------- playing

    def distribution(self, *, awake: npt.ArrayLike | None = None) -> Floats:
        """Return the distribution of the next round; the state does not change."""
        return self._next_distribution(awake).astype(self._dtype, copy=False)

    def sample(self, rng: np.random.Generator, *, awake: npt.ArrayLike | None = None) -> int:
        """Return an action drawn from `distribution`."""
        generator = check_generator("rng", rng)
        heights = np.cumsum(self._next_distribution(awake))
        return int(np.searchsorted(heights, generator.random() * heights[-1], side="right"))

    def _next_distribution(self, awake: npt.ArrayLike | None = None) -> FloatArray:
        """Return the next distribution in float64."""
        mask = None if awake is None else self._check_awake(awake, (self._n_actions,))[None]
        played, empty = np.empty((1, self._n_actions)), np.empty(0)
        with self._lock:
            self._replay(self._no_round, mask, empty, empty, played)
        return played.reshape(self._n_actions)

    def update(self, losses: npt.ArrayLike, *, awake: npt.ArrayLike | None = None) -> float:
        """Learn the losses of a round and return the learner's own loss.

        A mapping or a Series is read by the names of the actions; a learner without names takes
        those of the first. ``awake`` marks the actions that take part in the round, for learners
        with ``sleeps``; the entries of the other actions are ignored.
        """
        named = None if type(losses) is np.ndarray else labels_of(losses)
        row = self._as_floats(
            losses if named is None else by_name(self._units.plural, losses, self._names)
        )
        if row.shape != (self._n_actions,):
            raise ValueError(
                f"{self._units.plural} must be of shape ({self._n_actions},); got shape {row.shape}"
            )
        mask = None
        if awake is not None:
            mask = self._check_awake(awake, row.shape)[None]
            row = self._ignore_sleepers(row, mask[0])
        lock = self._lock
        lock.acquire()  # in half the time of a with block
        try:
            learner_loss, regret = self._round
            if not self._replay(row[None], mask, learner_loss, regret, self._no_distributions):
                check_range(self._units.plural, row, *self._scale[:2])
            if named is not None:
                self._names = self._names or named
            return learner_loss.item() * self._width + self._least
        finally:
            lock.release()

    def run(
        self,
        L: npt.ArrayLike,
        *,
        awake: npt.ArrayLike | None = None,
        distributions: bool = False,
        progress: bool = True,
    ) -> ExpertRun:
        """Play a matrix of losses, one row per round, in compiled loops.

        The result has the same bits as one `update` per row. If a row is out of range, the
        learner keeps the state that it had before the first row. A learner without names takes
        those of the columns of a data frame; other names than its own are refused.
        """
        matrix = L if isinstance(L, np.ndarray) else as_floats(self._units.plural, L)
        if matrix.ndim != 2 or matrix.shape[1] != self._n_actions:
            raise ValueError(
                f"{self._units.plural} must be of shape (rounds, {self._n_actions}); "
                f"got shape {matrix.shape}"
            )
        names = self._check_columns(column_names(L))
        mask = None if awake is None else self._check_awake(awake, matrix.shape)
        rounds = matrix.shape[0]
        learner_losses, regret = np.empty(rounds), np.empty(rounds)
        kept_rounds = rounds if check_flag("distributions", distributions) else 0
        played = np.empty((kept_rounds, self._n_actions), self._dtype)
        step = max(1, _CHUNK // self._n_actions)
        with (
            self._all_or_nothing(),
            progress_bar("playing", rounds, "rounds", show=progress) as advance,
        ):
            first = self.t + 1
            for start in range(0, rounds, step):
                part = slice(start, min(start + step, rounds))
                losses, awake_now = self._as_floats(matrix[part]), None
                if mask is not None:
                    awake_now = mask[part]
                    losses = self._ignore_sleepers(losses, awake_now)
                kept: npt.NDArray[Any] = played[part]
                p = kept if kept.dtype == np.float64 else np.empty(kept.shape)
                done = self._replay(losses, awake_now, learner_losses[part], regret[part], p)
                if done < losses.shape[0]:
                    name = f"{self._units.plural}[{start + done}]"
                    check_range(name, losses[done], *self._scale[:2])
                if p is not kept:
                    kept[:] = p
                advance(len(losses))
            self._names = names
        return ExpertRun(
            title=self.title,
            first_round=first,
            checkpoints=np.arange(first, first + rounds),
            regret_over_time=(regret * self._width).astype(self._dtype, copy=False),
            bound=self.bound,
            smallest_epsilon=self.smallest_epsilon,
            learner=self,
            names=names,
            learner_losses=(learner_losses * self._width + self._least).astype(
                self._dtype, copy=False
            ),
            distributions=played if distributions else None,
        )

    # ---------------------------------------------------------------- what has happened

    def certificate(self, *, unit: str = "") -> Certificate:
        """Return the realised epsilon-regret beside the bound, for every epsilon.

        Both are in units of loss, whose name ``unit`` may be. [LS14, Thm. 2]
        """
        with self._lock:
            return Certificate.of_run(
                self.title,
                self.t,
                self._positions() * self._width,
                0.0,
                self._promise,
                prior=self._prior,
                caveat=self._caveat,
                unit=check_text("unit", unit),
            )

    @property
    def t(self) -> int:
        """The number of rounds played."""
        return int(self._totals[CLOCK])

    @property
    def positions(self) -> Floats:
        """The loss of each action less the learner's, on [0, 1] per round."""
        return self._positions().astype(self._dtype)

    @property
    def action_losses(self) -> FloatArray:
        """The total loss of each action, in units of loss."""
        totals = self._cumulative + self._totals[FLOOR]
        return np.asarray(totals * self._width + self.t * self._least)

    @property
    def learner_loss(self) -> float:
        """The total loss of the learner, in units of loss."""
        total = float(self._totals[LEARNER] + self._totals[FLOOR])
        return total * self._width + self.t * self._least

    @property
    def n_actions(self) -> int:
        """N."""
        return self._n_actions

    @property
    def prior(self) -> FloatArray | None:
        """The prior, or None for the uniform one."""
        return None if self._prior is None else self._prior.copy()

    @property
    def loss_range(self) -> tuple[float, float]:
        """The range of the losses or gains; infinite if there is none."""
        return (self._units.low, self._units.high) if self._is_bounded else (-math.inf, math.inf)

    @property
    def gains(self) -> bool:
        """Whether the numbers are gains."""
        return self._units.gains

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of positions and distributions."""
        return self._dtype

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the actions. Default: their numbers."""
        return self._names or tuple(map(str, range(self._n_actions)))

    def __repr__(self) -> str:
        return f"<{self.title}: {self._n_actions} actions, {self.t} rounds>"

    # ---------------------------------------------------------------- state

    def _arguments(self) -> Content:
        return {
            "n_actions": self._n_actions,
            "prior": self._prior,
            "loss_range": self.loss_range if self._is_bounded else None,
            "gains": self.gains,
            "dtype": self._dtype.name,
            "names": self._names,
            **super()._arguments(),
        }

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        n = arguments.get("n_actions")
        return {
            "n_actions": integer(1),
            "prior": array_of(n).or_null,
            "loss_range": PAIR.or_null,
            "gains": FLAG,
            "dtype": one_of("float64", "float32"),
            "names": list_of(n, STRING).or_null,
            **cls._named_arguments,
        }, {"cumulative": array_of(n), "totals": array_of(4), "memory": array_of(None)}

    def _get_state(self) -> Content:
        return {"cumulative": self._cumulative, "totals": self._totals, "memory": self._memory}

    def _set_state(self, state: Content) -> None:
        check_arrays(state, {**self._get_state(), "memory": self._memory_like(state)})
        clock, learner, lowest, floor = state["totals"]
        if not 0 <= clock <= LAST_ROUND or clock != np.floor(clock):
            raise ValueError(f"the clock must be an integer >= 0; got {clock:g}")
        if floor < 0 or floor != np.floor(floor) or (self._is_bounded and floor > clock):
            raise ValueError(f"the floor must be an integer in [0, {clock:g}]; got {floor:g}")
        occupied = self._occupied(state["cumulative"])
        if lowest != occupied.min():
            raise ValueError(f"the lowest total must be {occupied.min():g}; got {lowest:g}")
        # an action and the learner differ by at most 1 per round, up to rounding
        if self._is_bounded and np.abs(occupied - learner).max() > clock * (1 + 1e-9):
            raise ValueError(f"{clock:g} rounds cannot bring an action so far from the learner")
        self._check_memory(state["memory"])
        self._cumulative, self._totals = state["cumulative"], state["totals"]
        self._memory = state["memory"]

    def __setstate__(self, state: Content) -> None:
        self.__dict__.update(state)
        # arrays of a pickle may be read-only maps of its file
        self._set_state({name: np.array(each) for name, each in self._get_state().items()})
        self._prior = None if self._prior is None else read_only(self._prior)
        self._allocate_scratch()

    def _allocate_scratch(self) -> None:
        self._round = np.zeros(1), np.zeros(1)  # the learner's loss and the regret of `update`
        self._no_distributions = np.zeros((0, self._n_actions))
        self._no_round: Floats = np.zeros((1, self._n_actions), dtype=self._dtype)
        # a round reads one array and writes the other, so that a bad row changes nothing
        self._spare = np.zeros_like(self._cumulative)

    # ---------------------------------------------------------------- helpers

    def _memory_like(self, state: Content) -> FloatArray:
        """Return an array of the size that the memory has in this state."""
        return self._memory

    def _check_memory(self, memory: FloatArray) -> None:
        """Raise ValueError for a memory that no game leads to."""
        if (memory < 0).any():
            raise ValueError("memory must be nonnegative")

    @property
    def _caveat(self) -> str:
        """The condition under which the bound holds."""
        return ""

    @property
    def smallest_epsilon(self) -> float:
        """The epsilon at which the bound covers the regret to every single action."""
        if self._prior is None:
            return 1.0 / self._n_actions
        return float(self._occupied(self._prior).min())

    def _occupied(self, values: FloatArray) -> FloatArray:
        """Return the values of the actions with a positive prior."""
        return values if self._prior is None else values[self._prior > 0]

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound for this run. Default: the bound for any run."""
        return self.bound(horizon, epsilon)

    def _mean_of_best(self, values: FloatArray) -> FloatArray:
        """Return the mean of a value over the best actions, one mean for each epsilon."""
        best_first = np.argsort(self._positions(), kind="stable")
        shares = np.ones(self._n_actions) if self._prior is None else self._prior[best_first]
        best_first, shares = best_first[shares > 0], shares[shares > 0]
        return np.cumsum(shares * values[best_first]) / np.cumsum(shares)

    def _check_columns(self, columns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names of the actions after losses with these columns."""
        if columns is not None and self._names is not None and columns != self._names:
            raise ValueError(
                f"the columns must be the names of the actions, in their order: "
                f"{shown(list(self._names))}; got {shown(list(columns))}"
            )
        return self._names if columns is None else columns

    def _positions(self) -> FloatArray:
        return np.asarray(self._cumulative - self._totals[LEARNER])

    def _as_floats(self, values: npt.ArrayLike) -> Floats:
        if type(values) is np.ndarray and values.dtype == self._dtype:  # no masked array
            return values if values.flags.c_contiguous else np.asarray(values, order="C")
        return np.asarray(as_floats(self._units.plural, values), dtype=self._dtype, order="C")

    def _ignore_sleepers(self, losses: Floats, awake: BoolArray) -> Floats:
        return np.where(awake, losses, self._dtype.type(self._units.best))

    def _check_awake(self, awake: npt.ArrayLike, shape: tuple[int, ...]) -> BoolArray:
        if not self.sleeps:
            raise ValueError(
                f"the theory of {type(self).__name__} has no sleeping actions; that of "
                "AdaNormalHedge and of AdaHedge has"
            )
        mask = np.asarray(unmask("awake", by_name("awake", awake, self._names)))
        if mask.dtype != np.bool_ or mask.shape != shape:
            raise ValueError(
                f"awake must be truth values of shape {shape}; got {mask.dtype} of {mask.shape}"
            )
        occupied = mask if self._prior is None else mask & (self._prior > 0)
        if not occupied.any(axis=-1).all():
            raise ValueError("awake must leave at least one action awake in every round; got none")
        return np.ascontiguousarray(mask)
