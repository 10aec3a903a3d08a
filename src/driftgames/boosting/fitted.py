"""A fitted booster: its attributes, its predictions, and what it shows of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import INPUT, ExampleChecks, check_kind, check_labels, is_plain
from driftgames.boosting.data.frames import code_columns, find_dates
from driftgames.boosting.model.additive import CHUNK
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.explanation import Explanation, draw_shapes
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import Fitted, History, TrainingRecord
from driftgames.boosting.model.trees import Trees
from driftgames.boosting.parameters import BoosterParameters
from driftgames.certificates.margins import MarginCertificate
from driftgames.core.checks import check_flag, check_integer, float_errors, shown
from driftgames.core.threads import count_threads
from driftgames.core.typing import Figure, FloatArray
from driftgames.plots.style import shown_name
from driftgames.tables import Table

if TYPE_CHECKING:
    from driftgames.plots.explanation_page import ExplanationPage


class FittedBooster(BoosterParameters, ABC):
    """A booster that has a fitted model, or none yet. Its attributes cannot be assigned to."""

    n_features_in_: int
    feature_names_in_: Array
    _fitted: Fitted | None = None

    def adopt(self, fitted: Fitted) -> Self:
        """Take over a fitted model and the record of its fit; the settings stay."""
        # they are large, and the stages of a regressor alone read them
        fitted = fitted._replace(held_out_votes=None)
        model, names = fitted.model, fitted.model.feature_names
        stale = names is None and hasattr(self, "feature_names_in_")
        # no call stands between these, so that no interruption comes between them
        self._fitted = fitted
        self.n_features_in_ = model.n_features
        if names is not None:
            self.feature_names_in_ = names
        elif stale:
            del self.feature_names_in_
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def _get_fitted(self) -> Fitted:
        if self._fitted is None:
            check_is_fitted(self)  # raises NotFittedError, which is an AttributeError too
            raise AssertionError
        return self._fitted

    def _only_if(self, name: str, value: Any) -> Any:
        """Return a value; if it is None, `hasattr` is false for this name."""
        if value is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return value

    @property
    def model_(self) -> FittedModel:
        """The fitted model, which is never changed: a fit makes another one."""
        return self._get_fitted().model

    @property
    def record_(self) -> TrainingRecord:
        """How the model was fitted."""
        return self._get_fitted().record

    @property
    def classes_(self) -> Array:
        """The labels in order."""
        return self.model_.classes

    @property
    def stumps_(self) -> Stumps:
        """The weak hypotheses in order, if they are stumps of two classes."""
        return self.model_.stumps

    @property
    def trees_(self) -> Trees:
        """The weak hypotheses in order, if they are trees or of several classes."""
        return self.model_.trees

    @property
    def estimator_weights_(self) -> FloatArray:
        """The weight of each vote."""
        return self.model_.vote_weights

    @property
    def encoder_(self) -> CategoryEncoder | None:
        """The columns that stumps and trees ask about, if there are categories."""
        return None if self._fitted is None else self._fitted.model.encoder

    @property
    def calibration_(self) -> Calibration | None:
        """The sigmoid from votes to probabilities, if there is one."""
        return self.model_.calibration

    @property
    def chosen_(self) -> Choice:
        """What the examples held out chose, if anything was left to them."""
        choice: Choice = self._only_if("chosen_", self.record_.choice)
        names = self.model_.pair_names(self.history_["edge"])
        return choice.of_model(self.n_iter_, max(len(self.record_.members), 1), names)

    @property
    def n_iter_(self) -> int:
        """How many weak hypotheses vote."""
        return self.model_.n_rounds

    @property
    def history_(self) -> History:
        """The numbers of each round."""
        return self.record_.history

    @property
    def ended_early_(self) -> bool:
        """Whether the fit ended because no weak hypothesis had an edge."""
        return self.record_.ended_early

    @property
    def evals_result_(self) -> dict[str, dict[str, FloatArray]]:
        """The numbers of each evaluation set, if there was one."""
        results: dict[str, dict[str, FloatArray]]
        results = self._only_if("evals_result_", self.record_.evals_result)
        return results

    @property
    def validation_score_(self) -> FloatArray:
        """The scores of early stopping, if it was asked for."""
        scores: FloatArray = self._only_if("validation_score_", self.record_.validation_score)
        return scores

    @property
    @abstractmethod
    def certificate_(self) -> MarginCertificate | None:
        """The margins beside what the edges promise; None after no round."""

    # ------------------------------------------------------------------- predictions

    def _columns(self, X: object, *, finite: bool = True) -> Matrix:
        """Return examples to predict, as the columns that the hypotheses ask about.

        Without ``finite``, a plain array is not searched for infinities.
        """
        model = self.model_
        rows = ExampleChecks(self).check_rows(X, model.categorical, finite=finite)
        return model.encode(rows)

    def _encode_bare(self, X: object) -> Matrix:
        """Return the columns of rows without names, in the order of the fit."""
        model = self.model_
        check_kind(X, model.encoder is not None)
        return model.encode(check_array(X, **INPUT) if model.encoder is None else X)

    def decision_function(self, X: object) -> FloatArray:
        """Return the normalised vote in [-1, 1]; above 0 it is for ``classes_[1]``.

        `predict` of a calibrated model has a threshold of its own, where both are equally likely.
        With more than two classes there is a column of votes for each class.
        """
        model = self.model_
        # the loop over the rows of a plain array looks for infinities itself
        searches = model.searches_infinities and is_plain(X)
        columns = self._columns(X, finite=not searches)
        return model.votes(columns, n_threads=self._count_threads(columns), finite=searches)

    def _count_threads(self, columns: Matrix) -> int:
        """Return the number of threads for these rows; few rows are one task."""
        few = self.n_jobs is None and columns.shape[0] <= CHUNK
        return 1 if few else count_threads(self.n_jobs)

    def staged_decision_function(self, X: object) -> Iterator[FloatArray]:
        """Yield the normalised vote after 1, 2, ... rounds."""
        model, columns = self.model_, self._columns(X)
        yield from model.staged_votes(columns, n_threads=self._count_threads(columns))

    def predict(self, X: object) -> Array:
        """Return the label of the largest calibrated probability.

        With ``calibrate=False`` it is the label of most votes, as in the paper, and so it is with a
        ``class_weight``, which moves the votes and not the probabilities. A tie is for the first of
        the tied labels.
        """
        votes = self.decision_function(X)
        return np.asarray(self.classes_[self.model_.winners(votes)])

    def staged_predict(self, X: object) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds, all by the sigmoid of the whole model."""
        for votes in self.staged_decision_function(X):
            yield np.asarray(self.classes_[self.model_.winners(votes)])

    def predict_proba(self, X: object) -> FloatArray:
        """Return the probability of each class: the sigmoid of the vote in ``calibration_``.

        `predict` returns the class of the largest one, but with a ``class_weight`` that of most
        votes: probabilities stay those of the examples as they are. With ``calibrate=False`` this
        is the share of the vote, which orders examples well and is no probability: for more than
        two classes the share of all votes of +1, and equal if there are none.
        """
        return self.model_.probabilities(self.decision_function(X))

    def margins(self, X: object, y: object) -> FloatArray:
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

    # ------------------------------------------------------------------- explanations

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of all edges, times their votes, that each feature's stumps had.

        The questions of a tree share its edge in proportion to their gains.
        """
        return self.model_.importances(self.history_["edge"])

    @property
    def shape_functions_(self) -> dict[Any, Any]:
        """The vote of each feature, as a function of its value, by the feature's index or name.

        It is a step function, or a `CategoryVotes` for a feature of categories. With more than two
        classes there is one such `dict` for each class, by its label. The functions of a class and
        the ``base`` of `explain` add up to the decision.
        """
        shapes = self.model_.shape_functions()
        if self.classes_.size == 2:
            return shapes[0]
        return dict(zip(self.classes_.tolist(), shapes, strict=True))

    def scorecard(self) -> Table:
        """Return the votes of stumps as a table of points for each interval of each feature.

        The points of an example add up to the score: ``decision_function`` times the sum of the
        vote weights. ``scorecard().to_frame()`` is a data frame.
        """
        from driftgames.boosting.export.scorecard import make_scorecard

        return make_scorecard(self.model_)

    def plot_shapes(
        self,
        X: object = None,
        *,
        label: object = None,
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
        number = None if label is None else self._number_of(label)
        if self.classes_.size > 2:
            shapes = shapes[label] if label is not None else self.model_.additive.shape_functions
        elif number == 0:
            shapes = {j: -shape for j, shape in shapes.items()}
        values_of = None if X is None else self._values_of(X)
        if show_missing is not None:
            check_flag("show_missing", show_missing)
        else:
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

    def _number_of(self, label: object) -> int:
        """Return the number of a class; raise ValueError if there is no such label."""
        labels = self.classes_.tolist()
        try:
            return {each: k for k, each in enumerate(labels)}[label]
        except (KeyError, TypeError) as error:  # a list or a frame cannot be looked up
            raise ValueError(f"label must be one of {labels}; got {shown(label)}") from error

    def _values_of(self, X: object) -> Callable[[int], FloatArray]:
        """Return a function that gives the values of a feature, categories as codes.

        A bare array has no names and is in the order of the fit.
        """
        rows = self._encode(X)
        if self.encoder_ is not None:
            rows, _ = code_columns(X, self.encoder_.categories)
        columns: Any = rows.tocsc() if scipy.sparse.issparse(rows) else rows

        def values(feature: int) -> FloatArray:
            column = columns[:, [feature]]
            dense = column.toarray() if scipy.sparse.issparse(column) else column
            return np.asarray(dense, dtype=np.float64)[:, 0]

        return values

    def _encode(self, X: Any) -> Matrix:
        """Return `_columns`; here an array has no names, whatever the fit had, and their order."""
        if not (isinstance(X, np.ndarray) or scipy.sparse.issparse(X)):
            return self._columns(X)
        if X.shape[1:] != (self.n_features_in_,):
            raise ValueError(f"X must have {self.n_features_in_} columns; got shape {X.shape}")
        return self._encode_bare(X)

    def plot_importances(self, *, n_features: int = 20) -> Figure:
        """Draw ``feature_importances_``, the largest first."""
        from driftgames.plots.boosting import plot_importances

        shares = self.feature_importances_
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(shares.size)])
        return plot_importances(shares, names, n_features=n_features)

    def plot_calibration(
        self, X: object, y: object, *, label: object = None, n_bins: int = 10
    ) -> Figure:
        """Draw how often a class comes true where it is given a probability.

        ``label`` is the class. Default: the last of ``classes_``. The examples should be new ones:
        probabilities of training examples are too sure.
        """
        from driftgames.plots.boosting import plot_calibration

        self.margins(X, y)  # checks the labels
        number = self.classes_.size - 1 if label is None else self._number_of(label)
        of_class, probabilities = self.classes_[number], self.predict_proba(X)[:, number]
        hits = np.asarray(y) == of_class
        return plot_calibration(probabilities, hits, n_bins=n_bins, label=str(of_class))

    def explain(self, x: Any, label: object = None) -> Explanation:
        """Return the vote of each feature on one example, for one class.

        The votes add up to the decision. For stumps they are the step functions of
        ``shape_functions_``; `TreeModel.explain` says what they are for trees.

        ``x`` is one row of what `predict` takes, with the same checks, or a vector. The index of
        a pandas Series holds the names of its features. A bare vector has no names and is in the
        order of the fit. ``label`` is the class whose votes are explained. Default: of two
        classes the second, of more the predicted one.
        """
        model = self.model_
        if hasattr(x, "iloc") and x.ndim == 1:
            x = x.to_frame().T
        try:
            is_vector = np.ndim(x) == 1
        except (RecursionError, ValueError) as error:
            raise ValueError(f"x must be one row; got {shown(x)}") from error
        if is_vector and len(x) != model.n_features:
            raise ValueError(
                f"x must be one row of {model.n_features} values; got a vector of {len(x):,}"
            )
        with float_errors("x"):
            if is_vector:
                row = self._encode_bare(np.array([x], None if model.encoder is None else object))
            else:
                row = self._columns(x)
        if row.shape[0] != 1:
            raise ValueError(
                f"x must be one row; got {row.shape[0]:,} rows: explain them one by one"
            )
        return model.explain(row, None if label is None else self._number_of(label))

    def explain_model(
        self,
        X: object = None,
        *,
        label: object = None,
        n_examples: int = 10,
        title: str | None = None,
        dates: Sequence[int] | None = None,
    ) -> ExplanationPage:
        """Return the model as a page to click through; its ``save`` writes one HTML file.

        Its tabs are the importance and the shape of each feature, the reasons for the first
        ``n_examples`` examples of ``X``, what was fitted and what is guaranteed, and for stumps
        the scorecard. With ``X`` the shapes show the density of the data. The features of a tree
        vote together: their shapes are mean votes over up to 200 rows of ``X``. A band shows how
        far the boosters of a mean differ. ``label`` is the class that votes are for at first.
        Default: the last of ``classes_``; among several classes the reasons of an example are for
        the class that was predicted. With three to twelve classes a switch shows each of them.
        ``dates`` are the positions of the features of ``X`` that are days since 1970. Default: the
        columns of dates of a data frame.
        """
        from driftgames.boosting.export.model_page import ExplainedModel, ExplainedRows, make_page

        most = check_integer("n_examples", n_examples, least=0)
        if not (title is None or isinstance(title, str)):
            raise ValueError(f"title must be a string or None; got {shown(title)}")
        names = getattr(self, "feature_names_in_", [""] * self.n_features_in_)
        dates = find_dates(X, names, dates)
        examples = None
        if X is not None:
            examples = ExplainedRows(self._encode(X), self._values_of(X), most, dates)
        importances = self.feature_importances_
        facts: dict[str, object] = {
            "algorithm": type(self).__name__,
            "classes": ", ".join(map(str, self.classes_.tolist())),
            "rounds": self.n_iter_,
            "features": self.n_features_in_,
            "features that vote": int(np.count_nonzero(importances)),
        }
        if (error := self.record_.training_error) is not None:
            facts["training error of the vote"] = f"{error:.2%}"
        return make_page(
            ExplainedModel(self.model_, importances, self.record_.members, examples),
            type(self).__name__ if title is None else title,
            None if label is None else self._number_of(label),
            facts,
            "" if self.certificate_ is None else str(self.certificate_),
        )
