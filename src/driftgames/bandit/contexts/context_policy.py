"""Policies that see something before each pull: features of the round, or advice of experts."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit.contexts.context_run import ContextRun
from driftgames.bandit.engines.engine import PolicyEngine
from driftgames.bandit.pulls.pulling import ArmPuller
from driftgames.bandit.runs.bandit_run import Recorder, nothing_promised
from driftgames.bandit.runs.replay import check_matrix, losses_in
from driftgames.bandit.types import Arm, Rounds
from driftgames.certificates import Certificate
from driftgames.core.checks import (
    as_floats,
    check_finite,
    check_fractions,
    check_horizons,
    shown,
)
from driftgames.core.data_frames import by_name, column_names
from driftgames.core.text import listed
from driftgames.core.typing import FloatArray
from driftgames.potentials import NoBoundError


class ContextEngine(PolicyEngine):
    """An engine whose distribution depends on ``context``, which is set before each call."""

    context: FloatArray

    def look(self, context: FloatArray) -> None:
        """Take the context of the next call."""
        self.context[:] = context


class ContextPolicy(ArmPuller):
    """A player who sees a context before each pull, and the loss of the drawn arm after it.

    A context is an array, or a mapping or a Series with the names of its entries. `pull` takes the
    context and returns an arm with its probability; `update` takes both back, with
    the loss and the same context. Feedback may come late and in any order. Everything else is as in
    `BanditPolicy`.
    """

    _engine: ContextEngine

    # ---------------------------------------------------------------- what a policy must give

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the policy in tables and figures."""

    @property
    @abstractmethod
    def context_shape(self) -> tuple[int, ...]:
        """The shape of a context."""

    @property
    @abstractmethod
    def rivals(self) -> tuple[Any, ...]:
        """What the regret of a run is to."""

    @property
    @abstractmethod
    def caveat(self) -> str:
        """The sense in which the bound holds."""

    @abstractmethod
    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound for losses in [0, 1] that all came at once."""

    @property
    @abstractmethod
    def _best_rival(self) -> str:
        """What the regret is to, in words."""

    @property
    @abstractmethod
    def _row_names(self) -> tuple[Any, ...] | None:
        """The names of the entries of a context; None if it has none."""

    def _rival_losses(self, contexts: FloatArray, losses: FloatArray) -> FloatArray:
        """Return the losses of the rivals in every round. Default: those of the arms."""
        return losses

    def _check_context(self, context: FloatArray) -> None:
        """Raise ValueError for numbers that cannot be a context."""

    # ---------------------------------------------------------------- playing

    def distribution(self, context: Any = None) -> FloatArray:
        """Return the probabilities of the arms for this context; reading changes nothing."""
        seen = self.read_context(context)
        with self._lock:
            self._engine.look(seen)
            return self._engine.distribution()

    def pull(  # type: ignore[override]  # a context comes first
        self, context: Any = None, rng: np.random.Generator | None = None
    ) -> tuple[Any, float]:
        """Draw an arm for this context; return it and its probability, which `update` needs."""
        seen = self.read_context(context)
        with self._lock:
            self._engine.look(seen)
            return super().pull(rng)

    def update(self, arm: Arm, loss: float, prob: float, context: Any = None) -> None:
        """Take the loss (or the gain) of a pull, with the context that it was made for."""
        seen = self.read_context(context)
        with self._lock:
            self._engine.look(seen)
            super().update(arm, loss, prob)

    def watch(self, arm: Arm, loss: float, prob: float, context: Any = None) -> None:
        """Learn from a pull of another policy; from then on nothing is promised."""
        seen = self.read_context(context)
        with self._lock:
            self._engine.look(seen)
            super().watch(arm, loss, prob)

    def run(
        self, contexts: npt.ArrayLike, losses: npt.ArrayLike, *, points: int = 256
    ) -> ContextRun:
        """Play all rounds of a T x K matrix of losses (or gains), with a context for each.

        It equals one `pull` and one `update` per round. An error leaves the policy as it was.
        """
        rows = check_matrix(losses, self._n_arms, None, self._units)
        columns = column_names(contexts)
        if columns is not None and self._row_names not in (None, columns):
            raise ValueError(
                f"the columns of contexts must be {listed(self._row_names or ())}, in this order; "
                f"got {listed(columns)}"
            )
        seen = as_floats("contexts", contexts)
        wanted = (rows.shape[0], *self.context_shape)
        if seen.shape != wanted:
            raise ValueError(f"contexts must be of shape {wanted}; got {seen.shape}")
        check_finite("contexts", seen)
        every = slice(0, rows.shape[0])
        game = losses_in(rows, self._units, every)
        drawn, engine = Recorder(rows.shape[0], self._n_arms, points), self._engine
        with self._all_or_nothing():
            played = self.t
            self._attach(self.rng)
            for t in range(rows.shape[0]):
                self._check_context(seen[t])
                engine.look(seen[t])
                arm, prob = self._draw()
                engine.learn(arm, float(game[t, arm]), prob + engine.gamma)
                drawn.drawn[t], drawn.paid[t] = arm, game[t, arm]
            rivals = Recorder(rows.shape[0], len(self.rivals), points)
            rivals.paid[:] = drawn.paid
            rivals.add(np.ascontiguousarray(self._rival_losses(seen, game)), every)
            bound = self.copy().bound if played == 0 else partial(nothing_promised, played)
        learner_totals, rival_totals = rivals.totals(self._units)
        return ContextRun(
            title=self.title,
            first_round=played + 1,
            checkpoints=rivals.checkpoints,
            bound=bound,
            smallest_epsilon=1.0 / len(self.rivals),
            arms=self.arms,
            drawn=drawn.drawn,
            learner_totals=learner_totals,
            rivals=self.rivals,
            rival_totals=rival_totals,
            caveat=self.caveat,
            best_rival=self._best_rival,
        )

    # ---------------------------------------------------------------- what is promised

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound on the expected regret to the rivals, in units of loss.

        It raises `NoBoundError` if there is none: after late losses or watched pulls.
        """
        both = np.broadcast_arrays(check_horizons(horizon), check_fractions("epsilon", epsilon))
        if self.watched:
            raise NoBoundError(
                f"bounds are for a policy that draws its own arms, and {self.watched:,} of its "
                "pulls were watched"
            )
        if self.total_delay:
            raise NoBoundError(
                f"the bound of {self.title} is for losses that come at once, and they came "
                f"{self.total_delay:,} pulls late in all"
            )
        return np.asarray(self._bound(*both) * self.width)

    def certificate(self) -> Certificate:
        """Return the bound on the regret of all rounds so far, without the regret.

        A policy does not see what its rivals lost; the result of `run` has both.
        """
        with self._lock:
            return Certificate.of_promise(
                self.title,
                self.t,
                len(self.rivals),
                self.bound,
                caveat=self.caveat,
                rival=self._best_rival,
            )

    def __repr__(self) -> str:
        return f"<{self.title}: {self._n_arms} arms, {self.t} pulls>"

    def read_context(self, context: Any) -> FloatArray:
        """Return a context as numbers, or say why it is none."""
        if context is None:
            raise ValueError(f"{self.title} needs a context; got None")
        seen = as_floats("context", by_name("context", context, self._row_names))
        if seen.shape != self.context_shape:
            raise ValueError(f"a context must be of shape {self.context_shape}; got {seen.shape}")
        if not np.isfinite(seen).all():
            raise ValueError(f"a context must be finite; got {shown(context)}")
        self._check_context(seen)
        return seen
