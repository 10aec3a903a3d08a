"""What all boosters share: predictions by vote, certificates and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.estimators.explaining import Explaining
from driftgames.boosting.estimators.mean_certificate import mean_certificate
from driftgames.boosting.estimators.new_examples import promise_of
from driftgames.boosting.face.input_checks import (
    check_columns,
    check_labels,
    count_threads,
    is_plain,
)
from driftgames.boosting.fit.batch_fit import BatchFit
from driftgames.boosting.model.row_scores import CHUNK
from driftgames.boosting.model.votes import winners
from driftgames.certificates.certificate import Bound
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.certificates.pairs import PairCertificate
from driftgames.core.checks import shown
from driftgames.core.documents import atomic_write
from driftgames.core.typing import FloatArray, Path


class BaseBooster(BatchFit, Explaining):
    """A classifier by vote of weak hypotheses; subclasses say how the examples are weighed.

    Attributes
    ----------
    classes_ : array of labels
        Of two, a vote of -1 is for the first, +1 for the second; a tied vote is for the first. Of
        more, every hypothesis votes -1 or +1 for each of them (docs/classes.md).
    stumps_ : Stumps
        The weak hypotheses in order; empty if they are trees, if there are more than two classes
        or if ``estimator`` was given.
    trees_ : Trees
        The weak hypotheses in order if they are trees, or if there are more than two classes;
        else empty.
    encoder_ : CategoryEncoder or None
        The columns that stumps and trees ask about, if there are categories: the features of
        ``stumps_`` and ``trees_`` are then columns of ``encoder_``.
    estimators_ : list
        The fitted weak hypotheses in order, if ``estimator`` was given. A round in which only one
        class has weight has a constant vote for it, of type `ConstantVote`. With more than two
        classes each entry is a list of one classifier for each class.
    estimator_weights_ : array
        The weight of each vote.
    history_ : dict of arrays
        For each round the ``edge`` of its weak hypothesis and, after it, the ``zero_fraction``
        of examples that weigh zero and the ``training_error``. The boosters of a mean take turns,
        and each number is that of its own booster.
    certificate_ : MarginCertificate or None
        What is promised about new examples, and the margins beside what the edges promise; None
        after no round.
    chosen_ : Choice
        The size that the examples held out chose, if a size was left to them, with the table that
        it was chosen from (docs/choosing.md).
    n_iter_ : int
        How many weak hypotheses vote: the rounds, of all boosters if the model is their mean.
    ended_early_ : bool
        Whether the fit ended because no weak hypothesis had an edge. After no round every
        prediction is the class of more weight.
    evals_result_ : dict of dicts of arrays
        The ``log_loss`` and the ``error`` on each ``eval_set`` of `fit` after each round.
    validation_score_ : array
        With early stopping, the score before the first round and after each.
    calibration_ : Calibration or None
        The sigmoid from votes to probabilities; None with ``calibrate=False``.
    model_ : FittedModel
        All that predictions need, in one object that is never changed.
    record_ : TrainingRecord
        All else that is known of the fit.
    """

    @abstractmethod
    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        """Return the certificate of the fit in ``record_``."""

    def _certify_regret(
        self, title: str, bound: Bound, margins: Margins, error: float
    ) -> MarginCertificate:
        """Return the certificate that a bound on the epsilon-regret gives."""
        edges, members = self.history_["edge"], self.record_.members
        if len(members) > 1:
            return mean_certificate(title, self.model_, self.record_, bound)
        mean = float(edges.mean())
        return MarginCertificate.of_regret(title, edges.size, margins, error, mean, bound)

    @property
    def certificate_(self) -> MarginCertificate | None:
        """What is promised about new examples, then about the margins; None after no round."""
        margins = self.record_.margins
        if margins is None:
            return None
        error = float(self.history_["training_error"][-1])
        if len(self.record_.members) > 1:
            error = float(self.record_.mean_error or 0.0)
        certificate = self._certify(margins, error)
        certificate = replace(
            certificate, new_examples=promise_of(self.record_, self.classes_.size)
        )
        n_classes = self.classes_.size
        if n_classes == 2:
            return certificate
        return PairCertificate.of(certificate, n_classes, self._errors_per_pair(n_classes))

    def _errors_per_pair(self, n_classes: int) -> float:
        """Return how many times the bound on pairs bounds the errors; see `PairCertificate`."""
        return 2.0 * (n_classes - 1)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the normalised vote in [-1, 1]; above 0 it is for ``classes_[1]``.

        With more than two classes there is a column of votes for each class.
        """
        model = self.model_
        # the loop over the rows of a plain array looks for infinities itself
        searches = model.searches_infinities and is_plain(X)
        columns = check_columns(self, X, finite=not searches)
        return model.votes(columns, n_threads=self._count_threads(columns), finite=searches)

    def _count_threads(self, columns: Any) -> int:
        """Return the number of threads for these rows; few rows are one task."""
        few = self.n_jobs is None and columns.shape[0] <= CHUNK
        return 1 if few else count_threads(self.n_jobs)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the normalised vote after 1, 2, ... rounds."""
        model, columns = self.model_, check_columns(self, X)
        yield from model.staged_votes(columns, n_threads=self._count_threads(columns))

    def predict(self, X: Any) -> Array:
        """Return the label that the vote is for; a tie is for the first of the tied labels."""
        votes = self.decision_function(X)
        return np.asarray(self.classes_[winners(votes)])

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds."""
        for votes in self.staged_decision_function(X):
            yield np.asarray(self.classes_[winners(votes)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class: the sigmoid of the vote in ``calibration_``.

        `predict` follows the vote. Where the examples say clearly that classes of a tied vote are
        not equally likely, as with a ``class_weight``, `predict` may return a less likely class.
        With ``calibrate=False`` this is the share of the vote, which orders examples well and is no
        probability: for more than two classes the share of all votes of +1, and equal if there
        are none.
        """
        return self.model_.probabilities(self.decision_function(X))

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return ``y`` times the normalised vote: how clearly each example is right.

        With more than two classes it is half of the vote for the right class less the largest vote
        for another one.
        """
        votes = self.decision_function(X)
        check_labels(y)
        labels = np.asarray(y)
        if labels.shape != votes.shape[:1]:
            raise ValueError(
                f"y must be one label per example, {votes.shape[:1]}; got {labels.shape}"
            )
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise ValueError(
                f"y must hold the classes {self.classes_.tolist()}; got {shown(labels[~known][0])}"
            )
        if votes.ndim == 1:
            return np.asarray(np.where(labels == self.classes_[1], votes, -votes))
        own = labels[:, None] == self.classes_
        return np.asarray((votes[own] - np.where(own, -np.inf, votes).max(axis=1)) / 2.0)

    def save(self, path: Path) -> None:
        """Write the model to a JSON file, atomically; docs/model_format.md describes it."""
        from driftgames.boosting.estimators.persistence import save_model

        save_model(self, path)

    def to_onnx(self, path: Path, *, dtype: str = "float32") -> None:
        """Write the model as an ONNX file, which other languages run; needs the extra ``onnx``.

        Its outputs are ``label``, ``votes`` and ``probabilities``. Its input is ``X``, a matrix of
        type ``dtype``. After a fit with categories there is one input of shape (n, 1) for each
        feature, by its name; a category that is a string may be missing, which is ``""``.
        On numbers of that type the graph gives the same labels. Votes and probabilities are
        rounded to float32, or with ``dtype="float64"`` to float64 where all votes are integers.
        """
        from driftgames.boosting.model.onnx_export import onnx_model

        model = onnx_model(self.model_, dtype=dtype, name=type(self).__name__)
        content = model.SerializeToString()
        with atomic_write(path) as stream:
            stream.write(content)

    def to_treelite(self) -> Any:
        """Return the model as a `treelite.Model`, for columns of numbers and two classes.

        It predicts the probability of the second class, or without calibration the vote.
        """
        from driftgames.boosting.model.treelite_export import treelite_model

        return treelite_model(self.model_)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the model that `save` wrote; with ``warm_start`` it can go on fitting."""
        from driftgames.boosting.estimators.persistence import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}")
        return model
