"""What a booster shows of itself: importances, shapes, explanations and drawings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from driftgames.boosting.data.frames import code_columns
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.input_checks import check_columns, encode_rows
from driftgames.boosting.model.explanation import Explanation, draw_shapes
from driftgames.certificates.margins import MarginCertificate
from driftgames.core.checks import check_integer, shown
from driftgames.core.typing import Figure, FloatArray
from driftgames.plots.style import shown_name
from driftgames.tables import Table

if TYPE_CHECKING:
    from driftgames.plots.explanation_page import ExplanationPage


class Explaining(BoosterInput):
    """A fitted booster that tells why it decides as it does."""

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class."""

    @abstractmethod
    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return how clearly each example is right; raise ValueError for unknown labels."""

    @property
    @abstractmethod
    def certificate_(self) -> MarginCertificate | None:
        """The margins beside what the edges promise; None after no round."""

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of all edges, times their votes, that each feature's stumps had.

        The questions of a tree share its edge in proportion to their gains. The classifiers of
        several classes have equal shares.
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
        from driftgames.boosting.model.scorecard import make_scorecard

        return make_scorecard(self.model_)

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
            shapes = (
                shapes[label] if label is not None else self.model_.tables.additive.shape_functions
            )
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
        rows = self._encode(X)
        if self.encoder_ is not None:
            rows, _ = code_columns(X, self.encoder_.categories)
        columns: Any = rows.tocsc() if scipy.sparse.issparse(rows) else rows

        def values(feature: int) -> FloatArray:
            column = columns[:, [feature]]
            dense = column.toarray() if scipy.sparse.issparse(column) else column
            return np.asarray(dense, dtype=np.float64)[:, 0]

        return values

    def _encode(self, X: Any) -> Any:
        """Return the columns that the hypotheses ask about; those of a bare array in order."""
        if not (isinstance(X, np.ndarray) or scipy.sparse.issparse(X)):
            return check_columns(self, X)
        if X.shape[1:] != (self.n_features_in_,):
            raise ValueError(f"X must have {self.n_features_in_} columns; got shape {X.shape}")
        return encode_rows(self.model_, X)

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
        model = self.model_
        if hasattr(x, "iloc") and x.ndim == 1:
            x = x.to_frame().T
        if np.ndim(x) == 1:
            row = encode_rows(model, np.array([x], None if model.encoder is None else object))
        else:
            row = check_columns(self, x)
        return model.explain(row, None if label is None else self._number_of(label))

    def explain_model(
        self, X: Any = None, *, label: Any = None, n_examples: int = 10, title: str | None = None
    ) -> ExplanationPage:
        """Return the model as a page to click through; its ``save`` writes one HTML file.

        Its tabs are the importance and the shape of each feature, the reasons for the first
        ``n_examples`` examples of ``X``, what was fitted and what is guaranteed, and for stumps
        the scorecard. With ``X`` the shapes show the density of the data. The features of a tree
        vote together: their shapes are mean votes over up to 200 rows of ``X``. ``label`` is the
        class that votes are for. Default: the last of ``classes_``; among several classes the
        reasons of an example are for the class that was predicted.
        """
        from driftgames.boosting.model.model_page import make_page

        most = check_integer("n_examples", n_examples, least=0)
        examples = None if X is None else (self._encode(X), self._values_of(X), most)
        importances = self.feature_importances_
        facts: dict[str, object] = {
            "algorithm": type(self).__name__,
            "classes": ", ".join(map(str, self.classes_.tolist())),
            "rounds": self.n_iter_,
            "features": self.n_features_in_,
            "features that vote": int(np.count_nonzero(importances)),
        }
        if (error := self.record_.training_error) is not None:
            facts["training error"] = f"{error:.2%}"
        return make_page(
            self.model_,
            importances,
            type(self).__name__ if title is None else title,
            None if label is None else self._number_of(label),
            facts,
            "" if self.certificate_ is None else str(self.certificate_),
            examples,
        )
