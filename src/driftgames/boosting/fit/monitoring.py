"""What is watched while a booster is fitted: evaluation sets, early stopping and callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.folds import deal_ranks, hold_out
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.input_checks import check_labels, check_rows, encode_rows
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.sigmoids import fit_sigmoid
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import TrainingRecord
from driftgames.boosting.model.votes import cast_votes, winners
from driftgames.boosting.weights.example_chips import Round
from driftgames.core.checks import shown, unmask
from driftgames.core.typing import BoolArray, IntArray

MANY = 10_000
"""Above this number of examples ``early_stopping="auto"`` stops early, as in scikit-learn."""

Callback = Callable[[int, "Stage"], Any]

EvaluationPairs = dict[str, tuple[Any, Any]]
"""The examples and labels of evaluation sets, by name."""

Unseen = tuple[Any, Array, IntArray] | None
"""The columns, labels and weights of examples that tell when to stop."""


@dataclass(frozen=True)
class Stopping:
    """When a fit stops early: the meanings are those of HistGradientBoostingClassifier."""

    validation_fraction: float | int | None
    n_iter_no_change: int
    scoring: Any
    tol: float

    @classmethod
    def of(cls, booster: BoosterInput, count: Callable[[], int]) -> Stopping | None:
        """Return when the fit of a booster stops; None if it plays all rounds.

        ``count`` returns the number of examples. It is called if this number matters.
        """
        early = booster.early_stopping
        if not early or early == "cv" or (early == "auto" and count() <= MANY):
            return None
        return cls(
            booster.validation_fraction, booster.n_iter_no_change, booster.scoring, booster.tol
        )

    def hold_out(self, hashes: Array, y: Array, masses: IntArray, classes: Array) -> BoolArray:
        """Return which examples are held out; every class keeps examples to train on."""
        share = self.validation_fraction or 0.0
        share = share if share < 1 else share / y.size  # a number of examples
        held_out = hold_out(deal_ranks(hashes, y, masses), share)
        if not np.array_equal(np.unique(y[~held_out]), classes) or not held_out.any():
            raise ValueError(
                f"validation_fraction={shown(self.validation_fraction)} of {y.size} examples must "
                "leave examples of each class to train on, and one to hold out"
            )
        return held_out

    def require_fraction(self) -> None:
        """Raise ValueError if the training examples are to be scored: they are not in memory."""
        if self.validation_fraction is None:
            raise ValueError(
                "validation_fraction must be a number, or there must be an eval_set, to stop early "
                "where the examples are not in memory; got None"
            )

    def is_over(self, scores: Sequence[float]) -> bool:
        """Whether none of the last scores is better than the one before them, beyond ``tol``."""
        n = self.n_iter_no_change
        return len(scores) > n and max(scores[-n:]) <= scores[-n - 1] + self.tol


class EvaluationSet:
    """Examples on which the vote is followed round by round.

    The ``log_loss`` of a round is that of the best sigmoid of the vote on these examples, and
    ``error`` is the share that the vote gets wrong.
    """

    def __init__(self, X: Any, y: Array, classes: Array, masses: IntArray | None = None) -> None:
        self.X, self.y, self._classes = X, y, classes
        self.masses = np.ones(y.size, dtype=np.int64) if masses is None else masses
        self._labels = np.searchsorted(classes, y)
        self._columns = X.tocsc() if scipy.sparse.issparse(X) else X  # a stump reads one column
        self._votes = np.zeros(y.size if classes.size == 2 else (y.size, classes.size))
        self._total = 0.0
        self._scale = y.size / int(self.masses.sum())
        self.result: dict[str, list[float]] = {"log_loss": [], "error": []}

    def add(self, hypothesis: Any, weight: float) -> None:
        """Add the votes of a round."""
        rows = self._columns if isinstance(hypothesis, Stumps) else self.X
        self._votes += weight * cast_votes(hypothesis, rows, self._classes)
        self._total += weight
        self.result["log_loss"].append(self.log_loss())
        wrong = self.masses[winners(self._votes) != self._labels].sum()
        self.result["error"].append(int(wrong) / int(self.masses.sum()))

    def log_loss(self) -> float:
        """Return the log-loss after the rounds so far."""
        votes = self._votes / (self._total or 1.0)
        if votes.ndim == 1:
            return fit_sigmoid(votes, self._labels == 1, self.masses, self._scale)[2]
        best = Calibration.fit(votes, self._labels, self.masses, self._scale)
        return best.log_loss(votes, self._labels, self.masses)

    def score(self, scoring: Any, model: Callable[[], BoosterInput]) -> float:
        """Return the score after the rounds so far: the higher, the better."""
        if isinstance(scoring, str) and scoring == "loss":
            return -self.log_loss()
        fitted = model()
        # the examples are columns without names here, and categories are encoded
        bare = replace(fitted.model_, encoder=None, feature_names=None, n_features=self.X.shape[1])
        fitted.adopt(bare, fitted.record_)
        weights = {"sample_weight": self.masses} if np.ptp(self.masses) else {}
        from sklearn.metrics import check_scoring  # slow to import, and seldom needed

        return float(check_scoring(fitted, scoring)(fitted, self.X, self.y, **weights))


@dataclass(frozen=True)
class Stage:
    """What a callback sees of a fit after a round.

    Parameters
    ----------
    n_estimators : int
        The number of rounds planned.
    edge, zero_fraction, training_error : float
        The numbers of the round, as in ``history_``.
    evals_result : dict
        The numbers of each evaluation set up to this round, as in ``evals_result_``.
    model : callable
        Returns a booster of the rounds so far, to predict with or to save. It is not calibrated.
    """

    n_estimators: int
    edge: float
    zero_fraction: float
    training_error: float
    evals_result: dict[str, dict[str, list[float]]]
    model: Callable[[], BoosterInput]


@dataclass
class Watch:
    """Follows a fit and says when it stops.

    Callbacks are called with the number of the round and a `Stage`; a fit stops where one returns
    True. The set ``validation`` decides on early stopping.
    """

    sets: dict[str, EvaluationSet]
    callbacks: Sequence[Callback]
    stopping: Stopping | None = None
    validation: EvaluationSet | None = None
    scores: list[float] = field(default_factory=list)
    stopped: bool = False

    @property
    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """The numbers of each evaluation set, one for each round."""
        return {name: each.result for name, each in self.sets.items()}

    def complete(self, record: TrainingRecord) -> TrainingRecord:
        """Return the record of a fit with what was seen of it."""
        results = {
            name: {part: np.array(values) for part, values in result.items()}
            for name, result in self.evals_result.items()
        }
        return replace(
            record,
            evals_result=results or None,
            validation_score=None if self.stopping is None else np.array(self.scores),
        )

    def begin(self, model: Callable[[], BoosterInput]) -> None:
        """Score the vote before the first round."""
        if self.stopping is not None and self.validation is not None:
            self.scores.append(self.validation.score(self.stopping.scoring, model))

    def see(
        self,
        hypothesis: Callable[[], Any],
        played: Round,
        model: Callable[[], BoosterInput],
        *,
        told: tuple[int, int] | None,
    ) -> None:
        """Follow a round; ``told`` is its number and that of all rounds for the callbacks."""
        sets = list(self.sets.values())
        if self.validation is not None and self.validation not in sets:
            sets.append(self.validation)
        if sets:
            kept = hypothesis()
            cast = kept[0] if isinstance(kept, list) else kept
            for each in sets:
                each.add(cast, played.vote_weight)
        if self.stopping is not None and self.validation is not None:
            self.scores.append(self.validation.score(self.stopping.scoring, model))
            self.stopped |= self.stopping.is_over(self.scores)
        if told is not None and self.callbacks:
            numbers_of_round = played.edge, played.zero_fraction, played.training_error
            stage = Stage(told[1], *numbers_of_round, self.evals_result, model)
            for callback in self.callbacks:
                self.stopped |= bool(callback(told[0], stage) is True)


def watch_fit(
    booster: BoosterInput,
    noted: BoosterInput,
    outline: FittedModel,
    pairs: EvaluationPairs,
    callbacks: Sequence[Callback],
    stopping: Stopping | None,
    unseen: Unseen,
) -> Watch | None:
    """Return what follows a fit: the evaluation sets, checked, and when it stops.

    The columns of evaluation sets are compared with those that are ``noted``. ``unseen`` are the
    examples that decide on it if there is no evaluation set. None if a fit has no evaluation set,
    no callback and no rule to stop.
    """
    if not (pairs or callbacks or stopping is not None):
        return None
    sets, classes = {}, outline.classes
    for name, (X, y) in pairs.items():
        rows = check_rows(noted, X, outline.encoder)
        try:
            y = unmask("y", y)
            check_labels(y)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        labels = np.asarray(y)
        if outline.encoder is not None:
            rows = encode_rows(outline, rows, booster.estimator)
        if labels.shape != (rows.shape[0],):
            raise ValueError(
                f"{name} must have one label for each of its {rows.shape[0]} rows; got labels "
                f"of shape {labels.shape}"
            )
        if not np.isin(labels, classes).all():
            strange = labels[~np.isin(labels, classes)].tolist()[0]
            raise ValueError(
                f"{name} must hold the classes {classes.tolist()}; got {shown(strange)}"
            )
        sets[name] = EvaluationSet(rows, labels, classes)
    validation = None
    if stopping is not None:
        validation = next(iter(sets.values()), None)
        if validation is None and unseen is not None:
            X, y, masses = unseen
            validation = EvaluationSet(X, y, classes, masses)
    return Watch(sets, callbacks, stopping, validation)


def name_sets(eval_set: Any, eval_names: Sequence[str] | None) -> EvaluationPairs:
    """Return the pairs of an ``eval_set`` by name: one pair, or a sequence of them."""
    pairs = [eval_set] if isinstance(eval_set, tuple) and len(eval_set) == 2 else list(eval_set)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise ValueError("eval_set must be a pair (X, y) or a list of such pairs")
    names = [f"valid_{k}" for k in range(len(pairs))] if eval_names is None else list(eval_names)
    if len(names) != len(pairs) or len(set(names)) != len(names):
        raise ValueError(
            f"eval_names must be {len(pairs)} different names, one for each set; got {shown(names)}"
        )
    return dict(zip(names, pairs, strict=True))
