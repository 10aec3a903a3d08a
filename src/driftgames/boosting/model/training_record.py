"""What a fit tells beside its model: the numbers of every round, the margins and the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.held_out_losses import VOTE_RULES, count_losses, count_rules
from driftgames.boosting.model.votes import winners
from driftgames.certificates.margins import Margins
from driftgames.certificates.new_log_loss import LossCounts
from driftgames.core.display import Displayed, Fields
from driftgames.core.typing import FloatArray, IntArray

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

    def calibrated(self, calibration: Calibration | None, held_out: HeldOut | None) -> Fitted:
        """Return the same with a sigmoid, and what was wrong on examples held out."""
        model = replace(self.model, calibration=calibration)
        if calibration is None and held_out is not None:
            held_out = held_out.without_sigmoid()
        return Fitted(model, replace(self.record, held_out=held_out))


def vote_by_mass(masses: Sequence[int]) -> FloatArray:
    """Return the vote where no hypothesis votes, from the mass of each class.

    For two classes it is the share of class 1 less that of class 0, for more twice the share of
    each class less 1.
    """
    if len(masses) == 2:
        return np.array([(masses[1] - masses[0]) / sum(masses)])
    return np.array([2 * each / sum(masses) - 1 for each in masses])


def take_turns(sizes: Sequence[int]) -> IntArray:
    """Return an order of entries that stand part behind part: the parts take turns.

    >>> take_turns([3, 1, 2]).tolist()
    [0, 3, 4, 1, 5, 2]
    """
    part = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.concatenate([np.arange(size) for size in sizes])
    return np.lexsort((part, turn))
