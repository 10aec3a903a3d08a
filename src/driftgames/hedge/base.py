"""What every learner from expert advice shares: positions, a clock, and totals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.ledger import CLOCK, FLOOR, LEAD
from driftgames.certificates import Certificate
from driftgames.core.checks import as_floats, check_flag, check_integer, check_range
from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.progress import progress as progress_bar
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.run import Run
from driftgames.hedge.settings import (
    check_dtype,
    check_loss_range,
    check_names,
    check_prior,
    read_only,
)
from driftgames.hedge.state import Arrays, Resumable

Floats = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.bool_]

_CHUNK = 1 << 21  # entries of a loss matrix between two moves of the progress bar


class ExpertLearner(Resumable):
    """A player of the Hedge game: distributions out, losses in. [LS14, Sec. 3.1]

    Parameters
    ----------
    n_actions : int
        N, at least 1.
    prior : array, optional
        The share of each action in the population; uniform unless given. Regret to an action
        grows with the logarithm of one over its share.
    loss_range : (float, float)
        Where losses lie. All that goes in and comes out is in these units.
    gains : bool
        Whether gains come in instead of losses; a loss is then minus a gain, here and in
        every total.
    dtype : float64 or float32
        Of the losses that are read and of the distributions, positions and losses given back.
        Totals are counted in float64 always, for the regret is a small difference of them.
    names : sequence of str, optional
        What the actions are called.

    Notes
    -----
    The state is one cumulative loss per action, the learner's own total and the clock (and for
    some learners one more number per action). Weights are never state: they follow from the
    positions, so nothing underflows for ever and a saved learner goes on to the same bits.
    """

    sleeps: ClassVar[bool] = False
    """Whether the theory lets actions abstain (``awake=``)."""

    takes_prior: ClassVar[bool] = True
    """Whether the theory has a prior."""

    _state: ClassVar[tuple[str, ...]] = ("_cumulative", "_ledger", "_memory")

    def __init__(
        self,
        n_actions: int,
        *,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        self._n_actions = check_integer("n_actions", n_actions, least=1)
        self._dtype = check_dtype(dtype)
        if prior is not None and not self.takes_prior:
            raise ValueError(f"the theory of {type(self).__name__} has no prior; leave it out")
        self._prior = check_prior(prior, self._n_actions)
        self._gains = check_flag("gains", gains)
        low, high = self._loss_range = check_loss_range(loss_range, self._dtype)
        self._names = check_names(names, self._n_actions)
        self._cumulative = np.zeros(self._n_actions)
        self._ledger = np.zeros(4)
        self._memory = np.zeros(self._memory_size)
        self._make_room()
        self._width = high - low
        # an entry x is the loss (x - offset) * factor of the game on [0, 1]
        self._scale = (
            (low, high, high, -1.0 / self._width)
            if self._gains
            else (low, high, low, 1.0 / self._width)
        )
        self._least = -high if self._gains else low
        self._nothing = self._dtype.type(self._scale[2])  # an entry that is no loss at all

    # ---------------------------------------------------------------- what a learner must give

    @property
    @abstractmethod
    def title(self) -> str:
        """What the learner is called in tables and figures."""

    @abstractmethod
    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound on the epsilon-regret after ``horizon`` rounds, in units of loss."""

    @property
    @abstractmethod
    def _memory_size(self) -> int:
        """How many numbers the learner remembers beside its totals; they start at 0."""

    @abstractmethod
    def _replay(
        self,
        losses: Floats,
        awake: Mask | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
    ) -> int:
        """Play the rows of ``losses`` and return how many; stop at one out of range.

        ``played`` keeps the distributions if it has rows for them; without losses it gets the
        next one, and nothing changes.
        """

    # ---------------------------------------------------------------- playing

    def distribution(self, *, awake: npt.ArrayLike | None = None) -> Floats:
        """Return what is played in the next round; reading it changes nothing."""
        return self._look(awake).astype(self._dtype, copy=False)

    def sample(self, rng: np.random.Generator, *, awake: npt.ArrayLike | None = None) -> int:
        """Return an action drawn from `distribution`."""
        heights = np.cumsum(self._look(awake))
        return int(np.searchsorted(heights, rng.random() * heights[-1], side="right"))

    def _look(self, awake: npt.ArrayLike | None = None) -> FloatArray:
        """Return the next distribution before it is rounded to the learner's dtype."""
        mask = None if awake is None else self._check_awake(awake, (self._n_actions,))[None]
        looked_at = np.empty((1, self._n_actions))
        nothing = looked_at[:0]
        self._replay(self._unseen, mask, nothing[:, 0], nothing[:, 0], looked_at)
        return looked_at.reshape(self._n_actions)

    def update(self, losses: npt.ArrayLike, *, awake: npt.ArrayLike | None = None) -> float:
        """Take the losses of a round and return the learner's own.

        ``awake`` marks the actions that take part in the round, for learners whose theory has
        it; the entries of the others are ignored.
        """
        row = self._as_floats(losses)
        if row.shape != (self._n_actions,):
            raise ValueError(
                f"{self._what} must be of shape ({self._n_actions},); got shape {row.shape}"
            )
        mask = None
        if awake is not None:
            mask = self._check_awake(awake, row.shape)[None]
            row = np.where(mask[0], row, self._nothing)
        learner_loss, regret = self._outcome
        if not self._replay(row[None], mask, learner_loss, regret, self._unkept):
            check_range(self._what, row, *self._scale[:2])
        return float(self._in_units(learner_loss)[0])

    def run(
        self,
        L: npt.ArrayLike,
        *,
        awake: npt.ArrayLike | None = None,
        distributions: bool = False,
        progress: bool = True,
    ) -> Run:
        """Play a whole matrix of losses, one row per round, and return what happened.

        It equals one `update` per row, bit for bit, in compiled loops. A row out of range
        leaves the learner as it was before the first.
        """
        matrix = L if isinstance(L, np.ndarray) else as_floats(self._what, L)
        if matrix.ndim != 2 or matrix.shape[1] != self._n_actions:
            raise ValueError(
                f"{self._what} must be of shape (rounds, {self._n_actions}); "
                f"got shape {matrix.shape}"
            )
        mask = None if awake is None else self._check_awake(awake, matrix.shape)
        rounds, first = matrix.shape[0], self.t + 1
        learner_losses, regret = np.empty(rounds), np.empty(rounds)
        played = np.empty((rounds if distributions else 0, self._n_actions), self._dtype)
        before = self._snapshot()
        step = max(1, _CHUNK // self._n_actions)
        try:
            with progress_bar("rounds", rounds, show=progress) as advance:
                for start in range(0, rounds, step):
                    part = slice(start, min(start + step, rounds))
                    self._play_part(matrix, mask, learner_losses, regret, played, part)
                    advance(part.stop - part.start)
        except BaseException:
            self._put_back(before)
            raise
        return Run(
            title=self.title,
            names=self._names,
            first_round=first,
            learner_losses=self._in_units(learner_losses).astype(self._dtype, copy=False),
            regret=(regret * self._width).astype(self._dtype, copy=False),
            distributions=played if distributions else None,
            bound=self.bound,
            finest=self.finest,
        )

    def _play_part(
        self,
        matrix: npt.NDArray[Any],
        mask: Mask | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: Floats,
        part: slice,
    ) -> None:
        losses = self._as_floats(matrix[part])
        awake = None if mask is None else mask[part]
        if awake is not None:
            losses = np.where(awake, losses, self._nothing)
        kept: npt.NDArray[Any] = played[part]
        p = kept if kept.dtype == np.float64 else np.empty(kept.shape)
        done = self._replay(losses, awake, learner_losses[part], regret[part], p)
        if done < losses.shape[0]:
            check_range(f"{self._what}[{part.start + done}]", losses[done], *self._scale[:2])
        if p is not kept:
            kept[:] = p

    # ---------------------------------------------------------------- what has happened

    def certificate(self) -> Certificate:
        """Return the realised epsilon-regret beside the bound, for every epsilon.

        Both are in units of loss. [LS14, Thm. 2]
        """
        return Certificate.of_run(
            self.title,
            self.t,
            self._positions() * self._width,
            0.0,
            self._promise,
            prior=self._prior,
            caveat=self._caveat,
        )

    @property
    def t(self) -> int:
        """How many rounds were played."""
        return int(self._ledger[CLOCK])

    @property
    def positions(self) -> Floats:
        """The loss of each action less the learner's, on [0, 1] per round."""
        return self._positions().astype(self._dtype)

    @property
    def action_losses(self) -> FloatArray:
        """The total loss of each action, in units of loss."""
        totals = self._cumulative + self._ledger[FLOOR]
        return np.asarray(totals * self._width + self.t * self._least)

    @property
    def learner_loss(self) -> float:
        """The total loss of the learner, in units of loss."""
        total = float(self._ledger[LEAD] + self._ledger[FLOOR])
        return total * self._width + self.t * self._least

    @property
    def n_actions(self) -> int:
        """N."""
        return self._n_actions

    @property
    def prior(self) -> FloatArray | None:
        """The prior as it was given; none is the uniform one."""
        return None if self._prior is None else self._prior.copy()

    @property
    def loss_range(self) -> tuple[float, float]:
        """Where losses (or gains) lie."""
        return self._loss_range

    @property
    def gains(self) -> bool:
        """Whether gains come in."""
        return self._gains

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of positions and distributions."""
        return self._dtype

    @property
    def names(self) -> tuple[str, ...]:
        """What the actions are called: their numbers, unless names were given."""
        return self._names or tuple(map(str, range(self._n_actions)))

    def _make_room(self) -> None:
        # where `update` has its round written, where distributions go that nobody wants, and
        # the losses of a look at the next one
        self._outcome = np.zeros(1), np.zeros(1)
        self._unkept = np.zeros((0, self._n_actions))
        self._unseen: Floats = np.zeros((0, self._n_actions), dtype=self._dtype)
        # a round is written beside the state that it reads, so that a bad one changes nothing
        self._spare = np.zeros_like(self._cumulative)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # a pickle may come back as read-only maps of its file; the arrays are to be one's own
        self._put_back({name: np.array(array) for name, array in self._arrays().items()})
        self._prior = None if self._prior is None else read_only(np.array(self._prior))
        self._make_room()

    # ---------------------------------------------------------------- what makes it the same

    def _saved_arguments(self) -> Content:
        return {
            "n_actions": self._n_actions,
            "prior": None if self._prior is None else encode_array(self._prior),
            "loss_range": list(self._loss_range),
            "gains": self._gains,
            "dtype": self._dtype.name,
            "names": None if self._names is None else list(self._names),
        }

    @classmethod
    def _arguments(cls, saved: Content, given: dict[str, Any]) -> dict[str, Any]:
        if given:
            raise DocumentError(
                f"only what a file cannot hold is given again; got {', '.join(given)}"
            )
        prior = saved["prior"]
        return {**saved, "prior": None if prior is None else decode_array(prior)}

    def _check_state(self, saved: Arrays) -> None:
        clock, lead, lowest, _ = saved["_ledger"]
        if clock < 0 or clock != np.floor(clock):
            raise ValueError(f"the clock must be a whole number >= 0; got {clock:g}")
        totals = self._occupied(saved["_cumulative"])
        if lowest != totals.min():
            raise ValueError(f"the lowest total must be {totals.min():g}; got {lowest:g}")
        # a round moves no action by more than 1 from the learner, rounding apart
        if np.abs(totals - lead).max() > clock * (1 + 1e-9):
            raise ValueError(f"{clock:g} rounds bring no action so far from the learner")
        if (saved["_memory"] < 0).any():
            raise ValueError("memory must be nonnegative")

    def _identity(self) -> tuple[object, ...]:
        prior = None if self._prior is None else self._prior.tobytes()
        return (self._n_actions, prior, self._loss_range, self._gains, self._dtype, self._names)

    def __repr__(self) -> str:
        return f"<{self.title}: {self._n_actions} actions, {self.t} rounds>"

    # ---------------------------------------------------------------- helpers

    @property
    def _what(self) -> str:
        return "gains" if self._gains else "losses"

    @property
    def _caveat(self) -> str:
        """Under what condition the bound holds."""
        return ""

    @property
    def finest(self) -> float:
        """The epsilon of the best action, whichever it turns out to be."""
        if self._prior is None:
            return 1.0 / self._n_actions
        return float(self._occupied(self._prior).min())

    def _occupied(self, values: FloatArray) -> FloatArray:
        """Return the values of the actions that have mass."""
        return values if self._prior is None else values[self._prior > 0]

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound for this very run: by default the one for any run."""
        return self.bound(horizon, epsilon)

    def _best_first(self) -> npt.NDArray[np.intp]:
        """Return the actions of a certificate in its order, which is the regret curve's."""
        order = np.argsort(self._positions(), kind="stable")
        return order if self._prior is None else order[self._prior[order] > 0]

    def _positions(self) -> FloatArray:
        return np.asarray(self._cumulative - self._ledger[LEAD])

    def _in_units(self, scaled: FloatArray) -> FloatArray:
        """Return losses of the game on [0, 1] in units of loss."""
        if self._width == 1.0 and self._least == 0.0:
            return scaled
        return scaled * self._width + self._least

    def _as_floats(self, values: npt.ArrayLike) -> Floats:
        if type(values) is np.ndarray and values.dtype == self._dtype:  # no masked array
            return np.asarray(values, order="C")
        return np.asarray(as_floats(self._what, values), dtype=self._dtype, order="C")

    def _check_awake(self, awake: npt.ArrayLike, shape: tuple[int, ...]) -> Mask:
        if not self.sleeps:
            raise ValueError(
                f"the theory of {type(self).__name__} has no sleeping actions; AdaNormalHedge's has"
            )
        mask = np.asarray(awake)
        if mask.dtype != np.bool_ or mask.shape != shape:
            raise ValueError(
                f"awake must be truth values of shape {shape}; got {mask.dtype} of {mask.shape}"
            )
        occupied = mask if self._prior is None else mask & (self._prior > 0)
        if not occupied.any(axis=-1).all():
            raise ValueError("awake must leave at least one action awake in every round; got none")
        return np.ascontiguousarray(mask)
