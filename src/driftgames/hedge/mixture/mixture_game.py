"""The game behind an `ExpertMixture`: experts and combiners, one learner, and their totals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftgames._kernels.jit import brief_kernel
from driftgames._kernels.sums import vecmat
from driftgames.core.checks import as_read_only, check_flag, shown
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.hedge.losses.loss_base import LOG, Loss, Slope
from driftgames.hedge.mixture.combiners import COMBINERS, Combiners
from driftgames.hedge.named_learners import LearnerChoice, make_learner
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.hedge.rounds.linearised import (
    charged_range,
    choose_linearised,
    default_learner,
    distribution_of_awake,
    mix,
    play_linearised,
)
from driftgames.hedge.rounds.scale_free import ScaleFreeLearner

NO_DISTRIBUTIONS = np.empty((0, 0))


class MixtureGame:
    """Rounds of forecasts: the combiners join the experts, and the learner mixes them all.

    Parameters
    ----------
    loss : Loss
        The loss in use.
    learner : ExpertLearner
        The learner; its actions are the experts, then the combiners.
    combiners : Combiners or None
        The combiners, if there are any.
    linearised : bool
        Whether the learner is charged linearised losses.

    Attributes
    ----------
    compiled : tuple or None
        The learner and the slope of the loss, if compiled loops play both.
    sums : array
        The total loss of the mixture, then of each action; where it slept, the mixture's own.
    counts : array of int
        The number of rounds in which each action was awake.
    """

    def __init__(
        self, loss: Loss, learner: ExpertLearner, combiners: Combiners | None, linearised: bool
    ) -> None:
        self.loss, self.learner, self.linearised = loss, learner, linearised
        self.combiners = combiners
        self.sums: FloatArray = np.zeros(1 + learner.n_actions)
        self.counts: IntArray = np.zeros(learner.n_actions, dtype=np.int64)
        self.n_experts = learner.n_actions - (0 if combiners is None else len(COMBINERS))
        self._buffers: _Row | None = None
        # found once: in every round they would take longer than the round
        self._limits, slope = loss.prediction_range, loss.compiled_slope
        self.compiled: tuple[ScaleFreeLearner, Slope] | None = None
        if slope is not None and isinstance(learner, ScaleFreeLearner):
            self.compiled = learner, slope

    def copy(self) -> MixtureGame:
        """Return an independent game in the same state."""
        combiners = None if self.combiners is None else self.combiners.copy()
        twin = MixtureGame(self.loss, self.learner.copy(), combiners, self.linearised)
        twin.sums, twin.counts = self.sums.copy(), self.counts.copy()
        return twin

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_buffers": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # arrays of a pickle may be read-only maps of its file
        self.sums, self.counts = np.array(self.sums), np.array(self.counts)

    def play(
        self, forecasts: FloatArray, outcomes: FloatArray, awake: BoolArray | None
    ) -> FloatArray:
        """Play rounds of checked forecasts and return the predictions of the mixture.

        In the place of a missing forecast stands that of an expert awake. An error may leave the
        game between two rounds.
        """
        columns = None
        if self.combiners is not None:
            columns = self.combiners.play(_with_gaps(forecasts, awake), outcomes)
        heard, mask = _join(forecasts, awake, columns)
        if self.compiled is not None:
            learner, slope = self.compiled
            return learner.run_forecasts(
                heard,
                outcomes,
                slope,
                awake=mask,
                sums=self.sums,
                counts=self.counts,
                linearised=self.linearised,
            )[0]
        if self.linearised:
            mixed = play_linearised(self.learner, self.loss, heard, outcomes, mask)
        else:
            with np.errstate(over="ignore"):  # the learner refuses infinite losses
                losses = self.loss.evaluate(heard, outcomes[:, None])
            played = self.learner.run(losses, awake=mask, distributions=True).distributions
            mixed = self.loss.combine(heard, np.asarray(played, dtype=np.float64))
        self._add_up(mixed, heard, outcomes, mask)
        return mixed

    def predict(self, forecasts: FloatArray, awake: BoolArray | None) -> FloatArray:
        """Return the predictions of the mixture under the current weights."""
        columns = None
        if self.combiners is not None:
            columns = self.combiners.combine(_with_gaps(forecasts, awake))
        heard, mask = _join(forecasts, awake, columns)
        p = self.learner.distribution().astype(np.float64, copy=False)
        mixed = self.loss.combine(heard, p)
        if mask is not None:
            for t in np.flatnonzero(~mask.all(axis=1)):
                p = distribution_of_awake(self.learner, mask[t])
                mixed[t] = self.loss.combine(heard[t], p)
        return mixed

    def predict_row(self, x: FloatArray, nearest: bool) -> float | None:
        """Return the prediction of one round of float64; None if it needs a closer look."""
        if self.compiled is None:
            return None
        row = self._buffers = self._buffers or _Row(self)
        asleep = _prepare_row(x, *self._limits, nearest, row.raw, row.heard, row.awake)
        if asleep < 0:
            return None
        if self.combiners is not None:
            self.combiners.combine_into(row.raw_view, row.columns)
            row.heard[0, self.n_experts :] = row.columns[0]
        p = distribution_of_awake(self.learner, row.awake[0] if asleep else None)
        return mix(row.heard[0], p)

    def step(self, x: FloatArray, y: float, nearest: bool) -> float | None:
        """Predict one round of float64, learn its outcome, and return the prediction.

        Return None, and change nothing, where the values need a closer look. An error changes
        nothing either.
        """
        game = self.compiled
        if game is None:
            return None
        (learner, slope), (low, high) = game, self._limits
        outcome_fits = y in (0.0, 1.0) if slope[0] == LOG else low <= y <= high
        if not outcome_fits or not math.isfinite(y):
            return None
        row = self._buffers = self._buffers or _Row(self)
        asleep = _prepare_row(x, low, high, nearest, row.raw, row.heard, row.awake)
        if asleep < 0:
            return None
        row.outcome[0] = y
        mask = row.awake if asleep else None
        combiners = self.combiners
        if combiners is None:
            self._mix(learner, slope, row, mask)
            return row.mixed.item()
        row.before[:] = combiners.state
        try:
            combiners.play_into(row.raw_view, row.outcome_view, row.columns)
            row.heard[0, self.n_experts :] = row.columns[0]
            self._mix(learner, slope, row, mask)
        except BaseException:
            combiners.state[:] = row.before
            raise
        return row.mixed.item()

    def _mix(
        self, learner: ScaleFreeLearner, slope: Slope, row: _Row, mask: BoolArray | None
    ) -> None:
        learner.mix_rounds(
            row.heard_view,
            row.outcome_view,
            slope,
            mask,
            row.mixed,
            NO_DISTRIBUTIONS,
            self.sums,
            self.counts,
            self.linearised,
        )

    def expert_weights(self) -> FloatArray:
        """Return the weight of each expert in the next prediction; they sum to 1."""
        p = self.learner.distribution().astype(np.float64, copy=False)
        if self.combiners is None:
            return p
        n = self.n_experts
        return np.asarray(p[:n] + vecmat(p[n:], self.combiners.expert_weights()))

    def _add_up(
        self, mixed: FloatArray, heard: FloatArray, outcomes: FloatArray, awake: BoolArray | None
    ) -> None:
        """Add the losses of these rounds to the totals, one round after another."""
        spoken = heard if awake is None else np.where(awake, heard, mixed[:, None])
        with np.errstate(over="ignore"):
            own = self.loss.evaluate(mixed, outcomes)[:, None]
            lost = np.hstack([own, self.loss.evaluate(spoken, outcomes[:, None])])
            # batches of any size add in the same order
            totals = np.add.accumulate(np.vstack([self.sums, lost]), axis=0)[-1]
        if not np.isfinite(totals).all():
            raise ValueError("predictions and outcomes are so large that their losses overflow")
        self.sums = totals
        self.counts = self.counts + (len(lost) if awake is None else awake.sum(axis=0))


class _Row:
    """Buffers of one round, with read-only views for the compiled loops."""

    def __init__(self, game: MixtureGame) -> None:
        n, actions = game.n_experts, game.learner.n_actions
        self.raw, self.heard = np.empty((1, n)), np.empty((1, actions))
        self.awake = np.ones((1, actions), dtype=np.bool_)
        self.outcome, self.mixed = np.empty(1), np.empty(1)
        self.columns = np.empty((1, len(COMBINERS)))
        self.raw_view, self.heard_view = as_read_only(self.raw), as_read_only(self.heard)
        self.outcome_view = as_read_only(self.outcome)
        self.before = np.empty(0 if game.combiners is None else game.combiners.state.size)


@brief_kernel
def _prepare_row(
    x: FloatArray,
    low: float,
    high: float,
    nearest: bool,
    raw: FloatArray,
    heard: FloatArray,
    awake: BoolArray,
) -> int:
    """Write the row with gaps and with the gaps filled; return how many experts sleep.

    Return -1 for a row that breaks a rule.
    """
    asleep, least = 0, np.inf
    for i in range(x.size):
        value = x[i]
        awake[0, i] = value == value
        if value == value:
            if abs(value) == np.inf:
                return -1
            if nearest:
                value = min(max(value, low), high)
            if value < low or value > high:
                return -1
            heard[0, i] = value
            least = min(least, value)
        else:
            asleep += 1
        raw[0, i] = value
    if asleep == x.size:
        return -1
    if asleep > 0:
        for i in range(x.size):
            if not awake[0, i]:
                heard[0, i] = least
    return asleep


def _with_gaps(forecasts: FloatArray, awake: BoolArray | None) -> FloatArray:
    return forecasts if awake is None else np.where(awake, forecasts, np.nan)


def _join(
    forecasts: FloatArray, awake: BoolArray | None, columns: FloatArray | None
) -> tuple[FloatArray, BoolArray | None]:
    """Return the forecasts of experts and combiners, and which of them are awake."""
    if columns is None:
        return forecasts, awake
    heard = np.hstack([forecasts, columns])
    if awake is None:
        return heard, None
    return heard, np.hstack([awake, np.ones(columns.shape, dtype=np.bool_)])


EXPERTS_SHARE = 0.5
"""The share of the prior that the experts have; the combiners share the rest."""


def new_game(
    loss: Loss,
    n: int,
    *,
    learner: LearnerChoice,
    linearise: bool | None,
    combiners: bool | None,
    tracking: bool,
    names: Sequence[str] | None,
) -> MixtureGame:
    """Return the game of ``n`` experts before its first round; see `ExpertMixture`."""
    tracking = check_flag("tracking", tracking)
    if tracking and callable(learner):
        raise ValueError(f"tracking needs a learner by name; got {shown(learner)}")
    linearised = choose_linearised(loss, False if tracking and linearise is None else linearise)
    combined = (linearised or (tracking and loss.has_slope)) and learner is None
    if combiners is not None:
        combined = check_flag("combiners", combiners)
        if combined and not loss.has_slope:
            raise ValueError(f"combiners need a loss with a gradient; got {shown(loss)}")
    settings: dict[str, Any] = {"tracking": True} if tracking else {}
    if combined:
        named = names or [str(i) for i in range(n)]
        names = [*named, *(f"combiner: {name}" for name in COMBINERS)]
        settings["prior"] = combined_prior(n)
    player = make_learner(
        default_learner(linearised and not tracking) if learner is None else learner,
        n + (len(COMBINERS) if combined else 0),
        loss_range=None if learner is None else charged_range(loss, linearised),
        names=names,
        **settings,
    )
    joined = Combiners(n, *loss.prediction_range) if combined else None
    return MixtureGame(loss, player, joined, linearised)


def combined_prior(n_experts: int) -> FloatArray:
    """Return the prior of experts and combiners."""
    rest = 1.0 - EXPERTS_SHARE
    shares = [EXPERTS_SHARE / n_experts] * n_experts + [rest / len(COMBINERS)] * len(COMBINERS)
    return np.array(shares)
