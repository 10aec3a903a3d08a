"""What all boosters share: predictions by vote, explanations, certificates and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.frames import code_columns
from driftgames.boosting.estimators.booster_input import count_threads, is_plain
from driftgames.boosting.fit.batch_fit import BatchFit
from driftgames.boosting.fit.monitoring import cast_votes, winners
from driftgames.boosting.model.additive import (
    AdditiveModel,
    ByFeature,
    Explanation,
    ShapeFunction,
    draw_shapes,
)
from driftgames.boosting.model.tree_model import PairModel, TreeModel
from driftgames.certificates.certificate import Bound
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.certificates.pairs import PairCertificate
from driftgames.core.checks import shown
from driftgames.core.documents import atomic_write
from driftgames.core.typing import Figure, FloatArray, Path
from driftgames.plots.style import shown_name
from driftgames.tables import Table


class BaseBooster(BatchFit):
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
        of examples that weigh zero and the ``training_error``.
    certificate_ : MarginCertificate or None
        The margins beside what the edges promise; None after no round.
    n_iter_ : int
        How many rounds were played.
    ended_early_ : bool
        Whether the fit ended because no weak hypothesis had an edge. After no round every
        prediction is the class of more weight.
    evals_result_ : dict of dicts of arrays
        The ``log_loss`` and the ``error`` on each ``eval_set`` of `fit` after each round.
    validation_score_ : array
        With early stopping, the score before the first round and after each.
    calibration_ : Calibration or None
        The sigmoid from votes to probabilities; None with ``calibrate=False``.
    """

    @abstractmethod
    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        """Return the certificate of a fit with the settings ``self._settings``."""

    def _certify_regret(
        self, title: str, bound: Bound, margins: Margins, error: float
    ) -> MarginCertificate:
        """Return the certificate that a bound on the epsilon-regret gives."""
        edges = self.history_["edge"]
        mean = float(edges.mean())
        return MarginCertificate.of_regret(title, edges.size, margins, error, mean, bound)

    @property
    def certificate_(self) -> MarginCertificate | None:
        """The margins beside what the edges promise; None after no round."""
        check_is_fitted(self)
        if self._margins is None:
            return None
        certificate = self._certify(self._margins, float(self.history_["training_error"][-1]))
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
        check_is_fitted(self)
        if not (isinstance(self._tables, AdditiveModel) and self.n_iter_ and is_plain(X)):
            return self._votes(self._check_input(X))
        # the loop over the rows looks for infinities
        return self._votes(self._check_input(X, finite=False), finite=True)

    def _votes(self, X: Any, **settings: Any) -> FloatArray:
        """Return the decision function of columns that the weak hypotheses ask about."""
        if self.n_iter_ == 0:
            return np.broadcast_to(self._default_vote, self._shape_of_votes(X)).copy()
        return self._scores(X, divisor=float(self.estimator_weights_.sum()), **settings)

    def _scores(self, X: Any, *, divisor: float | None = None, **settings: Any) -> Array:
        """Return the sum of the votes; the keywords are those of `AdditiveModel.scores`."""
        if self._tables is not None:
            n_threads = count_threads(self.n_jobs)
            return self._tables.scores(X, n_threads=n_threads, divisor=divisor, **settings)
        scores = np.zeros(self._shape_of_votes(X))
        for weight, vote in zip(self.estimator_weights_, self._each_vote(X), strict=True):
            scores += weight * vote
        return np.asarray(scores / (divisor or 1.0))

    def _votes_after(self, X: Any, stages: Sequence[int]) -> FloatArray:
        """Return `_votes` after so many rounds as each of the ascending ``stages`` says."""
        if self.n_iter_ == 0:
            return np.stack([self._votes(X)] * len(stages))
        scores, answer, begin = np.zeros(self._shape_of_votes(X)), [], 0
        for stage in stages:
            end = min(stage, self.n_iter_)
            if end > begin:
                scores = scores + self._part(begin, end)._scores(X)
            begin = end
            answer.append(scores / self.estimator_weights_[:end].sum())
        return np.stack(answer)

    def _part(self, begin: int, end: int) -> Self:
        """Return a booster that votes with the rounds from ``begin`` to ``end``."""
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        part.n_iter_ = end - begin
        part.estimator_weights_ = self.estimator_weights_[begin:end]
        part.stumps_, part.trees_ = self.stumps_[begin:end], self.trees_[begin:end]
        if hasattr(self, "estimators_"):
            part.estimators_ = self.estimators_[begin:end]
        part._add_up()
        return part

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the normalised vote after 1, 2, ... rounds."""
        check_is_fitted(self)
        X = self._check_input(X)
        votes, total = np.zeros(self._shape_of_votes(X)), 0.0
        for weight, vote in zip(self.estimator_weights_, self._each_vote(X), strict=True):
            votes += weight * vote
            total += weight
            yield votes / total

    def _shape_of_votes(self, X: Any) -> tuple[int, ...]:
        n_classes = self.classes_.size
        return (X.shape[0],) if n_classes == 2 else (X.shape[0], n_classes)

    def _each_vote(self, X: Any) -> Iterator[FloatArray]:
        """Yield the vote of each weak hypothesis on every row, in order."""
        if self._tables is None:
            hypotheses: Any = self.estimators_
        else:
            kept: Any = self.stumps_ if isinstance(self._tables, AdditiveModel) else self.trees_
            hypotheses = (kept[t : t + 1] for t in range(self.n_iter_))
            if kept is self.stumps_ and scipy.sparse.issparse(X):
                X = X.tocsc()  # a stump reads one column
        for hypothesis in hypotheses:
            yield cast_votes(hypothesis, X, self.classes_, n_threads=count_threads(self.n_jobs))

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
        votes = self.decision_function(X)
        if self.calibration_ is not None:
            return self.calibration_.probabilities(votes)
        shares = (1.0 + votes) / 2.0
        if votes.ndim == 1:
            return np.column_stack([1.0 - shares, shares])
        shares[~shares.any(axis=1)] = 1.0
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return ``y`` times the normalised vote: how clearly each example is right.

        With more than two classes it is half of the vote for the right class less the largest vote
        for another one.
        """
        votes = self.decision_function(X)
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

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of all edges, times their votes, that each feature's stumps had.

        The questions of a tree share its edge in proportion to their gains. The classifiers of
        several classes have equal shares.
        """
        check_is_fitted(self)
        gains = self.estimator_weights_ * self.history_["edge"]
        importances = np.zeros(self._n_columns)
        if isinstance(self._tables, TreeModel | PairModel):
            trees = self.trees_
            asks = trees.left > 0
            of_tree = np.repeat(np.arange(len(trees)), trees.n_nodes)
            sums = np.bincount(of_tree, weights=trees.gain, minlength=len(trees))
            shares = (trees.gain / np.where(sums > 0, sums, 1.0)[of_tree])[asks]
            np.add.at(importances, trees.feature[asks], gains[of_tree[asks]] * shares)
        elif self._tables is not None:
            np.add.at(importances, self.stumps_.feature, gains)
        else:
            for gain, h in zip(gains, self.estimators_, strict=True):
                for each in h if isinstance(h, list) else [h]:
                    importances += gain * each.feature_importances_
        if self.encoder_ is not None:
            importances = np.add.reduceat(importances, self.encoder_.starts[:-1])
        return np.asarray(importances / (importances.sum() or 1.0))

    @property
    def shape_functions_(self) -> dict[Any, Any]:
        """The vote of each feature, as a function of its value, by the feature's index or name.

        It is a step function, or a `CategoryVotes` for a feature of categories. With more than two
        classes there is one such `dict` for each class, by its label. The functions of a class and
        the ``base`` of `explain` add up to the decision.
        """
        check_is_fitted(self)
        if isinstance(self._tables, PairModel) and (self.trees_.n_nodes <= 3).all():
            return {
                label: self._of_features(self._tables.shape_functions(k))
                for k, label in enumerate(self.classes_.tolist())
            }
        return self._of_features(self._additive.shape_functions)

    def _of_features(self, columns: dict[int, ShapeFunction]) -> ByFeature[Any]:
        found: Any = columns if self.encoder_ is None else self.encoder_.shape_functions(columns)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            found = {j: replace(shape, name=str(names[j])) for j, shape in found.items()}
        return ByFeature(found, names)

    def scorecard(self) -> Table:
        """Return the votes of stumps as a table of points for each interval of each feature.

        The points of an example add up to the score: ``decision_function`` times the sum of the
        vote weights. ``scorecard().to_frame()`` is a data frame.
        """
        from driftgames.boosting.model.scorecard import make_scorecard

        return make_scorecard(self)

    def plot_shapes(
        self,
        X: Any = None,
        *,
        label: Any = None,
        n_features: int = 12,
        show_missing: bool | None = None,
    ) -> Figure:
        """Draw the votes of the features that move the decision most, as functions of the value.

        With examples ``X`` the drawings have the range of the data and show its density. ``label``
        is the class whose votes are drawn. Default: the second of two classes. ``show_missing``
        adds the votes on missing values. Default: only if ``X`` has missing values.
        """
        names = getattr(self, "feature_names_in_", None)
        shapes: Any = self.shape_functions_
        at = None if label is None else self._number_of(label)
        if self.classes_.size > 2:
            shapes = shapes[label] if label is not None else self._additive.shape_functions
        elif at == 0:
            shapes = {j: -shape for j, shape in shapes.items()}
        values_of = None if X is None else self._values_of(X)
        if show_missing is None:
            show_missing = values_of is not None and any(
                np.isnan(values_of(j)).any() for j in shapes
            )
        return draw_shapes(
            shapes.values(),
            names,
            n_features=n_features,
            show_missing=show_missing,
            values_of=values_of,
            label=f"vote for {shown_name(str(self.classes_[1] if label is None else label))}",
        )

    def _number_of(self, label: Any) -> int:
        """Return the number of a class; raise ValueError if there is no such label."""
        labels = self.classes_.tolist()
        if label not in labels:
            raise ValueError(f"label must be one of {labels}; got {shown(label)}")
        return int(labels.index(label))

    def _values_of(self, X: Any) -> Callable[[int], FloatArray]:
        """Return a function that gives the values of a feature, categories as codes.

        A bare array has no names and is in the order of the fit.
        """
        bare = isinstance(X, np.ndarray) or scipy.sparse.issparse(X)
        if bare and X.shape[1:] != (self.n_features_in_,):
            raise ValueError(f"X must have {self.n_features_in_} columns; got shape {X.shape}")
        rows = self._encode(X) if bare else self._check_input(X)
        if self.encoder_ is not None:
            rows, _ = code_columns(X, self.encoder_.categories)
        columns: Any = rows.tocsc() if scipy.sparse.issparse(rows) else rows

        def values(feature: int) -> FloatArray:
            column = columns[:, [feature]]
            dense = column.toarray() if scipy.sparse.issparse(column) else column
            return np.asarray(dense, dtype=np.float64)[:, 0]

        return values

    def plot_importances(self, *, n_features: int = 20) -> Figure:
        """Draw ``feature_importances_``, the largest first."""
        from driftgames.plots.boosting import plot_importances

        shares = self.feature_importances_
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(shares.size)])
        return plot_importances(shares, names, n_features=n_features)

    def plot_calibration(self, X: Any, y: Any, *, label: Any = None, n_bins: int = 10) -> Figure:
        """Draw how often a class comes true where it is given a probability.

        ``label`` is the class. Default: the last of ``classes_``. The examples should be new ones:
        probabilities of training examples are too sure.
        """
        from driftgames.plots.boosting import plot_calibration

        self.margins(X, y)  # checks the labels
        at = self.classes_.size - 1 if label is None else self._number_of(label)
        probabilities, hits = self.predict_proba(X)[:, at], np.asarray(y) == self.classes_[at]
        return plot_calibration(probabilities, hits, n_bins=n_bins, label=str(self.classes_[at]))

    def explain(self, x: Any, label: Any = None) -> Explanation:
        """Return the vote of each feature on one example, for one class.

        The votes add up to the decision. For stumps they are the step functions of
        ``shape_functions_``; `TreeModel.explain` says what they are for trees.

        ``x`` is one row of what `predict` takes, with the same checks, or a vector. The index of
        a pandas Series holds the names of its features. A bare vector has no names and is in the
        order of the fit. ``label`` is the class whose votes are explained. Default: of two
        classes the second, of more the predicted one.
        """
        check_is_fitted(self)
        if hasattr(x, "iloc") and x.ndim == 1:
            x = x.to_frame().T
        if np.ndim(x) == 1:
            row = self._encode(np.array([x], dtype=None if self.encoder_ is None else object))
        else:
            row = self._check_input(x)
        at = None if label is None else self._number_of(label)
        if isinstance(self._tables, PairModel):
            if at is None:
                at = int(self._tables.scores(row)[0].argmax())
            found = self._tables.of_class(at).explain(row)
        else:
            tables = self._tables if isinstance(self._tables, TreeModel) else self._additive
            found = tables.explain(row)
            if at == 0:
                found = replace(found, votes=-found.votes, base=-found.base)
        if self.encoder_ is not None:
            found = self.encoder_.explain(found)
        return replace(found, names=getattr(self, "feature_names_in_", None))

    def save(self, path: Path) -> None:
        """Write the model to a JSON file, atomically; docs/model_format.md describes it."""
        from driftgames.boosting.model.persistence import save_model

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

        content = onnx_model(self, dtype=dtype).SerializeToString()
        with atomic_write(path) as stream:
            stream.write(content)

    def to_treelite(self) -> Any:
        """Return the model as a `treelite.Model`, for columns of numbers and two classes.

        It predicts the probability of the second class, or without calibration the vote.
        """
        from driftgames.boosting.model.treelite_export import treelite_model

        return treelite_model(self)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the model that `save` wrote; with ``warm_start`` it can go on fitting."""
        from driftgames.boosting.model.persistence import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}")
        return model

    @property
    def _additive(self) -> AdditiveModel:
        check_is_fitted(self)
        if self._tables is None:  # AttributeError makes hasattr(model, "shape_functions_") false
            raise AttributeError(
                "only a booster of the built-in stump is an additive model; "
                "this one was fitted with another estimator"
            )
        if isinstance(self._tables, PairModel) and (self.trees_.n_nodes <= 3).all():
            raise AttributeError(
                f"there is one additive model for each of {self.classes_.size} classes: "
                "shape_functions_ has their step functions"
            )
        if not isinstance(self._tables, AdditiveModel):
            raise AttributeError(
                "only a booster of the built-in stump is an additive model (max_depth=1); "
                "this one was fitted with trees, whose questions interact"
            )
        return self._tables

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_tables", None)  # they follow from the stumps
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            self._add_up()
