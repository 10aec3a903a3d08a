"""What all boosters share: predictions by vote, explanations, certificates and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from driftgames.boosting.additive import AdditiveModel, Explanation, ShapeFunction
from driftgames.boosting.bins import Array
from driftgames.boosting.monitoring import cast_votes
from driftgames.boosting.rounds import INPUT, BoostingRounds
from driftgames.boosting.tree_model import TreeModel
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.core.typing import FloatArray, Path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Run:
    """The numbers of a fit from which its certificate follows."""

    margins: Margins
    training_error: float
    edges: FloatArray
    vote_weights: FloatArray


class BaseBooster(BoostingRounds):
    """A classifier by vote of weak hypotheses; subclasses say how the examples are weighed.

    Attributes
    ----------
    classes_ : array of two labels
        A vote of -1 is for the first, +1 for the second; a tied vote is for the first.
    stumps_ : Stumps
        The weak hypotheses in order; empty if they are trees or ``estimator`` was given.
    trees_ : Trees
        The weak hypotheses in order if they are trees; else empty.
    estimators_ : list
        The fitted weak hypotheses in order, if ``estimator`` was given. A round in which only one
        class has weight has a constant vote for it, of type `ConstantVote`.
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
    def _certify(self, run: Run) -> MarginCertificate:
        """Return the certificate of a fit with the settings ``self._settings``."""

    @property
    def certificate_(self) -> MarginCertificate | None:
        """The margins beside what the edges promise; None after no round."""
        check_is_fitted(self)
        if self._margins is None:
            return None
        error = float(self.history_["training_error"][-1])
        return self._certify(
            Run(self._margins, error, self.history_["edge"], self.estimator_weights_)
        )

    def decision_function(self, X: Any) -> FloatArray:
        """Return the normalised vote in [-1, 1]; above 0 it is for ``classes_[1]``."""
        check_is_fitted(self)
        X = self._check_input(X)
        if self.n_iter_ == 0:
            return np.full(X.shape[0], self._default_vote)
        if self._tables is not None:
            votes = self._tables.scores(X, n_threads=self._count_threads())
        else:
            votes = np.zeros(X.shape[0])
            for weight, vote in zip(self.estimator_weights_, self._each_vote(X), strict=True):
                votes += weight * vote
        return np.asarray(votes / self.estimator_weights_.sum())

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the normalised vote after 1, 2, ... rounds."""
        check_is_fitted(self)
        X = self._check_input(X)
        votes, total = np.zeros(X.shape[0]), 0.0
        for weight, vote in zip(self.estimator_weights_, self._each_vote(X), strict=True):
            votes += weight * vote
            total += weight
            yield votes / total

    def _each_vote(self, X: Any) -> Iterator[FloatArray]:
        """Yield the vote of each weak hypothesis on every row, in order."""
        if self._tables is None:
            hypotheses: Any = self.estimators_
        else:
            kept: Any = self.trees_ if isinstance(self._tables, TreeModel) else self.stumps_
            hypotheses = (kept[t : t + 1] for t in range(self.n_iter_))
            if kept is self.stumps_ and scipy.sparse.issparse(X):
                X = X.tocsc()  # a stump reads one column
        for hypothesis in hypotheses:
            yield cast_votes(hypothesis, X, self.classes_, n_threads=self._count_threads())

    def predict(self, X: Any) -> Array:
        """Return the label that the vote is for; a tie is for ``classes_[0]``."""
        up = self.decision_function(X) > 0
        return np.asarray(self.classes_[up.astype(np.intp)])

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds."""
        for votes in self.staged_decision_function(X):
            yield self.classes_[(votes > 0).astype(np.intp)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class: the sigmoid of the vote in ``calibration_``.

        The class that `predict` returns is the likelier one; where the sigmoid says otherwise, both
        have 1/2 up to rounding. A ``class_weight`` moves the vote alone: then `predict` may return
        the less likely class. With ``calibrate=False`` this is the share of the vote, which
        orders examples well and is no probability.
        """
        votes = self.decision_function(X)
        if self.calibration_ is not None:
            follow = self._settings["class_weight"] is None
            return self.calibration_.probabilities(votes, follow=follow)
        for_second = (1.0 + votes) / 2.0
        return np.column_stack([1.0 - for_second, for_second])

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return ``y`` times the normalised vote: how clearly each example is right."""
        votes = self.decision_function(X)
        labels = np.asarray(y)
        if labels.shape != votes.shape:
            raise ValueError(f"y must be one label per example, {votes.shape}; got {labels.shape}")
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise ValueError(
                f"y must hold the classes {self.classes_.tolist()}; got {labels[~known][0]!r}"
            )
        return np.asarray(np.where(labels == self.classes_[1], votes, -votes))

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of all edges, times their votes, that each feature's stumps had.

        The questions of a tree share its edge in proportion to their gains.
        """
        check_is_fitted(self)
        gains = self.estimator_weights_ * self.history_["edge"]
        importances = np.zeros(self.n_features_in_)
        if isinstance(self._tables, TreeModel):
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
                importances += gain * h.feature_importances_
        return np.asarray(importances / (importances.sum() or 1.0))

    @property
    def shape_functions_(self) -> dict[int, ShapeFunction]:
        """The vote of each feature, as a step function of its value, by the feature's index."""
        return self._additive.shape_functions

    def plot_shapes(self, *, n_features: int = 12, show_missing: bool = False) -> Figure:
        """Draw the step functions of the features that move the decision most."""
        names = getattr(self, "feature_names_in_", None)
        return self._additive.plot(names, n_features=n_features, show_missing=show_missing)

    def plot_calibration(self, X: Any, y: Any, *, n_bins: int = 10) -> Figure:
        """Draw how often ``classes_[1]`` comes true where it is given a probability.

        The examples should be new ones: probabilities of training examples are too sure.
        """
        from driftgames.plots.calibration import plot_calibration

        self.margins(X, y)  # checks the labels
        probabilities, hits = self.predict_proba(X)[:, 1], np.asarray(y) == self.classes_[1]
        label = str(self.classes_[1])
        return plot_calibration(probabilities, hits, n_bins=n_bins, label=label)

    def explain(self, x: Any) -> Explanation:
        """Return the vote of each feature on one example.

        The votes add up to the decision. For stumps they are the step functions of
        ``shape_functions_``; `TreeModel.explain` says what they are for trees.

        ``x`` is one row of what `predict` takes, with the same checks, or a vector. The index of
        a pandas Series holds the names of its features. A bare vector has no names and is in the
        order of the fit.
        """
        check_is_fitted(self)
        tables = self._tables if isinstance(self._tables, TreeModel) else self._additive
        if hasattr(x, "iloc") and x.ndim == 1:
            x = x.to_frame().T
        elif np.ndim(x) == 1:
            return tables.explain(check_array(np.reshape(x, (1, -1)), **INPUT))
        return tables.explain(self._check_input(x))

    def save(self, path: Path) -> None:
        """Write the model to a JSON file, atomically; docs/model_format.md describes it."""
        from driftgames.boosting.persistence import save_model

        save_model(self, path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the model that `save` wrote; with ``warm_start`` it can go on fitting."""
        from driftgames.boosting.persistence import load_model

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
        if isinstance(self._tables, TreeModel):
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
