r"""What a fit tells beside its model: rounds, margins, settings, and errors on examples held out.

The errors and log-losses are those of a sigmoid that the same examples chose. A promise must hold
for every sigmoid that they could have chosen. Slopes and intercepts lie in the cells of a grid. In
a cell the loss of an example is largest at a corner, because :math:`-\ln p` is convex in slope and
intercept.

Errors depend on the sigmoid by the vote from which on the second class is the likelier one,
:math:`\tau = -b/a`. It lies in a cell of one of several grids: the coarsest one in which no vote on
an example held out lies inside the cell. All thresholds of the cell then make the same errors on
these examples, and a rule that errs wherever one of them does makes no more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel, winners
from driftgames.certificates.margins import Margins
from driftgames.certificates.new_log_loss import LossCounts
from driftgames.core.display import Displayed, Fields
from driftgames.core.typing import FloatArray, IntArray

_OCTAVE, _LN2 = 32, 0.6931471805599453
SLOPES: FloatArray = np.concatenate(
    [[0.0], exp_all(_LN2 * np.arange(-4 * _OCTAVE, 8 * _OCTAVE + 1) / _OCTAVE)]
)
SLOPES[-1] = 256.0
"""The edges of the cells of slopes: 0, and 32 in each octave from 1/16 to 256."""

INTERCEPTS = np.arange(-128, 129) / 16.0
"""The edges of the cells of intercepts, from -8 to 8."""

GRIDS = (16, 64, 256, 1024, 4096, 2**14, 2**16, 2**18)
"""The numbers of cells of thresholds in [-1, 1]. Two more cells lie beyond."""

VOTE_RULES = 2
"""What `count_rules` returns for the rule of most votes: it has half of the chance of a miss."""

_ROUNDED = 1.0 + 1e-9  # losses at the corners are right to this


def count_sigmoids(n_classes: int) -> int:
    """Return the number of cells: with more than two classes there is no intercept.

    >>> count_sigmoids(2), count_sigmoids(3)
    (98560, 385)
    """
    return (SLOPES.size - 1) * (INTERCEPTS.size - 1 if n_classes == 2 else 1)


def count_rules(calibration: Calibration, votes: Sequence[FloatArray]) -> int:
    """Return the divisor of the chance of a miss for the rule that a sigmoid makes of votes.

    The rule of most votes has half of that chance: its divisor is 2. The thresholds of all `GRIDS`
    share the other half. Of several classes each constant rule has an equal part of that half. 0 if
    a vote is too near to the threshold. With class weights there is the rule of most votes alone.

    >>> votes = [np.array([-0.5, 0.0, 0.5])]
    >>> count_rules(Calibration(4.0, 0.0), votes), count_rules(Calibration(4.0, 1.0), votes)
    (2, 288)
    """
    slope, intercept = calibration.slope, calibration.intercept
    if calibration.class_weighted:
        return 1
    if votes[0].ndim > 1:
        return VOTE_RULES * (votes[0].shape[1] if calibration.class_intercepts else 1)
    if slope and not intercept:
        return VOTE_RULES
    seen = np.unique(np.concatenate(votes))
    first = int(np.count_nonzero(calibration.scores(seen) <= 0.0))  # these are of the first class
    below = float(seen[first - 1]) if first else -np.inf
    above = float(seen[first]) if first < seen.size else np.inf
    threshold = min(max(-intercept / slope if slope else -np.copysign(2.0, intercept), -2.0), 2.0)
    for n_cells in GRIDS:
        low = np.floor((threshold + 1.0) * n_cells / 2.0) * 2.0 / n_cells - 1.0
        if not -1.0 <= threshold < 1.0:  # one of the two cells beyond
            return VOTE_RULES * len(GRIDS) * (n_cells + 2)
        if below <= low and low + 2.0 / n_cells <= above:
            return VOTE_RULES * len(GRIDS) * (n_cells + 2)
    return 0


def count_losses(
    calibration: Calibration, votes: Sequence[FloatArray], labels: Sequence[IntArray]
) -> tuple[LossCounts, ...]:
    """Return the losses of the votes of each fold; none if the sigmoid is beyond the grid.

    There is no grid of intercepts for each class.
    """
    if calibration.class_intercepts:
        return ()
    corners = _corners(calibration, votes[0].ndim == 1)
    if not corners:
        return ()
    found = []
    for each, wanted in zip(votes, labels, strict=True):
        most = np.max([corner.losses(each, wanted) for corner in corners], axis=0)
        found.append(LossCounts.of(calibration.losses(each, wanted), most * _ROUNDED))
    return tuple(found)


def _corners(calibration: Calibration, two_classes: bool) -> list[Calibration]:
    """Return the corners of the cell of a sigmoid."""
    slopes = _edges(SLOPES, calibration.slope)
    intercepts = _edges(INTERCEPTS, calibration.intercept) if two_classes else [0.0]
    return [Calibration(*pair) for pair in itertools.product(slopes, intercepts)]


def _edges(grid: FloatArray, number: float) -> list[float]:
    """Return the edges of the cell of a number; none beyond the grid."""
    if not grid[0] <= number <= grid[-1]:
        return []
    at = min(int(np.searchsorted(grid, number, side="right")), grid.size - 1)
    return [float(grid[at - 1]), float(grid[at])]


History = dict[str, FloatArray]

COLUMNS = ("edge", "zero_fraction", "training_error")
"""The columns of a history."""


class Member(NamedTuple):
    """A booster in a mean: its rounds, the mass of its training examples, and which fold it is."""

    n_rounds: int
    mass: int
    fold: int


class HeldOut(NamedTuple):
    """The examples that each fold held out, and how many of them its booster got wrong.

    Errors are those of what `predict` returns: the class of the largest calibrated probability, or
    of most votes with class weights or without calibration. ``n_rules`` is the number of such rules
    that the same examples could have chosen by their sigmoid, as `count_rules` counts them; 0 if
    they cannot be counted. ``losses`` are the log-losses; none if the sigmoid is beyond all that
    are promised about.
    """

    n_examples: tuple[int, ...]
    n_errors: tuple[int, ...]
    losses: tuple[LossCounts, ...] = ()
    n_rules: int = VOTE_RULES
    n_vote_errors: tuple[int, ...] = ()
    """The errors of the votes; a file does not tell."""

    @classmethod
    def of(
        cls, votes: Sequence[FloatArray], labels: Sequence[IntArray], calibration: Calibration
    ) -> HeldOut:
        """Count the errors and the losses of the probabilities of each fold."""

        def count(scores: Sequence[FloatArray]) -> tuple[int, ...]:
            pairs = zip(scores, labels, strict=True)
            return tuple(int((winners(each) != wanted).sum()) for each, wanted in pairs)

        return cls(
            tuple(each.size for each in labels),
            count([calibration.decide(each) for each in votes]),
            count_losses(calibration, votes, labels),
            count_rules(calibration, votes),
            count(votes),
        )

    def without_sigmoid(self) -> HeldOut:
        """Return the errors of the votes alone, which the sigmoid had no part in."""
        return HeldOut(self.n_examples, self.n_vote_errors, n_rules=1)


@dataclass(frozen=True, eq=False)
class TrainingRecord(Displayed):
    """How a model was fitted; certificates are made of it.

    Parameters
    ----------
    history : dict of arrays
        For each round the ``edge`` of its weak hypothesis and, after it, the ``zero_fraction`` of
        examples that weigh zero and the ``training_error`` of the vote.
    margins : Margins or None
        The margins of the training examples; None after no round.
    settings : dict
        The settings that the rounds depend on.
    ended_early : bool
        Whether the fit ended because no weak hypothesis had an edge.
    evals_result : dict, optional
        The numbers of each evaluation set after each round.
    validation_score : array, optional
        With early stopping, the score before the first round and after each.
    held_out : HeldOut, optional
        What was wrong on examples held out.
    choice : Choice, optional
        What a race chose.
    members : tuple of Member
        The boosters whose mean the model is; none for a single one. Their rounds take turns in the
        history.
    mean_error : float, optional
        The training error of the votes of that mean.
    """

    history: History
    margins: Margins | None
    settings: Mapping[str, Any]
    ended_early: bool = False
    evals_result: dict[str, dict[str, FloatArray]] | None = None
    validation_score: FloatArray | None = None
    held_out: HeldOut | None = None
    choice: Choice | None = None
    members: tuple[Member, ...] = ()
    mean_error: float | None = None

    def _headline(self) -> str:
        return f"{self.history['edge'].size:,} rounds{', ended early' * self.ended_early}"

    def _columns(self) -> Fields:
        return {"round": np.arange(1, self.history["edge"].size + 1), **self.history}

    @property
    def training_error(self) -> float | None:
        """The training error of the vote, by weight; None without rounds.

        The theorem is about the vote. `predict` of a calibrated model may err on other examples.
        """
        if len(self.members) > 1:
            return self.mean_error
        errors = self.history["training_error"]
        return float(errors[-1]) if len(errors) else None


class Fitted(NamedTuple):
    """What a fit gives."""

    model: FittedModel
    record: TrainingRecord
    held_out_votes: FloatArray | None = None
    """Of a mean, the votes on every example by the boosters that held it out."""

    def calibrated(self, calibration: Any, held_out: HeldOut | None) -> Fitted:
        """Return the same with a sigmoid, and what was wrong on examples held out."""
        model = replace(self.model, calibration=calibration)
        if calibration is None and held_out is not None:
            held_out = held_out.without_sigmoid()
        return self._replace(model=model, record=replace(self.record, held_out=held_out))


def take_turns(sizes: Sequence[int]) -> IntArray:
    """Return an order of entries that stand part behind part: the parts take turns.

    >>> take_turns([3, 1, 2]).tolist()
    [0, 3, 4, 1, 5, 2]
    """
    part = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.concatenate([np.arange(size) for size in sizes])
    return np.lexsort((part, turn))
