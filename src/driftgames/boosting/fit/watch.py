"""What is watched while a booster is fitted: evaluation sets, early stopping and callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import check_labels
from driftgames.boosting.engine.game import Round
from driftgames.boosting.fit.job import Stopping
from driftgames.boosting.fit.outcomes import ClassOutcomes
from driftgames.boosting.fit.source import Unseen
from driftgames.boosting.model.fitted_model import FittedModel, cast_votes
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import Fitted, TrainingRecord
from driftgames.boosting.model.trees import Trees
from driftgames.core.checks import shown, unmask
from driftgames.core.typing import IntArray

Callback = Callable[[int, "Stage"], Any]

EvaluationPairs = dict[str, tuple[Any, Any]]
"""The examples and labels of evaluation sets, by name."""


Wrap = Callable[[Fitted], Any]
"""Makes an estimator of a model and its record."""


class EvaluationSet:
    """Examples on which the vote is followed round by round.

    The ``log_loss`` of a round is that of the best sigmoid of the vote on these examples, and
    ``error`` is the share that the vote gets wrong.
    """

    def __init__(self, X: Matrix, y: Array, classes: Array, masses: IntArray | None = None) -> None:
        self.X, self.y, self._classes = X, y, classes
        self.masses = np.ones(y.size, dtype=np.int64) if masses is None else masses
        scale = y.size / int(self.masses.sum())
        self._outcomes = ClassOutcomes(np.searchsorted(classes, y), self.masses, scale)
        self._columns = X.tocsc() if scipy.sparse.issparse(X) else X  # a stump reads one column
        self._votes = np.zeros(y.size if classes.size == 2 else (y.size, classes.size))
        self._total = 0.0
        self.result: dict[str, list[float]] = {"log_loss": [], "error": []}

    def add(self, hypothesis: Stumps | Trees, weight: float) -> None:
        """Add the votes of a round."""
        rows = self._columns if isinstance(hypothesis, Stumps) else self.X
        self._votes += weight * cast_votes(hypothesis, rows, self._classes)
        self._total += weight
        self.result["log_loss"].append(self.log_loss())
        self.result["error"].append(self._outcomes.error(self._votes))

    def log_loss(self) -> float:
        """Return the log-loss after the rounds so far."""
        return self._outcomes.least_loss(self._votes / (self._total or 1.0))

    def score(self, scoring: object, fitted: Callable[[], Fitted], wrap: Wrap) -> float:
        """Return the score after the rounds so far: the higher, the better."""
        if isinstance(scoring, str) and scoring == "loss":
            return -self.log_loss()
        now = fitted()
        # the examples are columns without names here, and categories are encoded
        bare = replace(now.model, encoder=None, feature_names=None, n_features=self.X.shape[1])
        booster = wrap(now._replace(model=bare))
        weights = {"sample_weight": self.masses} if np.ptp(self.masses) else {}
        from sklearn.metrics import check_scoring  # slow to import, and seldom needed

        return float(check_scoring(booster, scoring)(booster, self.X, self.y, **weights))


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
    model: Callable[[], Any]


@dataclass(frozen=True)
class Watch:
    """What the caller wants to see of a fit.

    ``check(X, categorical)`` checks the rows of an evaluation set, as
    `ExampleChecks.check_rows` does, and ``wrap`` makes an estimator of a model and its record:
    callbacks and scorers see one.
    """

    pairs: EvaluationPairs
    callbacks: Sequence[Callback]
    check: Callable[[Any, Sequence[bool] | None], Any]
    wrap: Wrap

    def follow(
        self, model: FittedModel, stopping: Stopping | None, unseen: Callable[[], Unseen]
    ) -> Follower:
        """Begin to follow a fit, whose ``model`` has no rounds yet.

        ``unseen`` returns the examples that tell when to stop if there is no evaluation set.
        """
        sets = {name: self._evaluate(name, *pair, model) for name, pair in self.pairs.items()}
        validation = None
        if stopping is not None:
            validation = next(iter(sets.values()), None)
            if validation is None:
                examples = unseen()
                validation = EvaluationSet(examples.X, examples.y, model.classes, examples.masses)
        return Follower(self, sets, stopping, validation)

    def _evaluate(self, name: str, X: object, y: Any, model: FittedModel) -> EvaluationSet:
        """Return an evaluation set, checked."""
        rows = self.check(X, model.categorical)
        try:
            y = unmask("y", y)
            check_labels(y)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        labels, classes = np.asarray(y), model.classes
        if model.encoder is not None:
            rows = model.encode(rows)
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
        return EvaluationSet(rows, labels, classes)


@dataclass
class Follower:
    """Follows one fit and says when it stops.

    Callbacks are called with the number of the round and a `Stage`; a fit stops where one returns
    True. The set ``validation`` decides on early stopping.
    """

    watch: Watch
    sets: Mapping[str, EvaluationSet]
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

    def score(self, fitted: Callable[[], Fitted]) -> None:
        """Score the vote after the rounds so far, if that may stop the fit."""
        if self.stopping is not None and self.validation is not None:
            scoring, wrap = self.stopping.scoring, self.watch.wrap
            self.scores.append(self.validation.score(scoring, fitted, wrap))

    def see(
        self,
        t: int,
        n_rounds: int,
        played: Round,
        hypothesis: Callable[[], Stumps | Trees],
        fitted: Callable[[], Fitted],
    ) -> None:
        """Follow round ``t`` of up to ``n_rounds``."""
        sets = list(self.sets.values())
        if self.validation is not None and self.validation not in sets:
            sets.append(self.validation)
        if sets:
            cast = hypothesis()
            for each in sets:
                each.add(cast, played.vote_weight)
        self.score(fitted)
        if self.stopping is not None:
            self.stopped |= self.stopping.is_over(self.scores)
        numbers = played.edge, played.zero_fraction, played.training_error
        for callback in self.watch.callbacks:
            stage = Stage(n_rounds, *numbers, self.evals_result, lambda: self.watch.wrap(fitted()))
            self.stopped |= bool(callback(t, stage) is True)


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


NO_WATCH = Watch({}, (), lambda X, categorical: X, lambda fitted: fitted)
"""Nothing is watched."""
