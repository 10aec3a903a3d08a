"""What all boosters share: a scikit-learn classifier around the rounds of boosting."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from driftgames.boosting.additive import AdditiveModel, Explanation, ShapeFunction, count_threads
from driftgames.boosting.binning import MOST_BINS
from driftgames.boosting.chips import Chips
from driftgames.boosting.examples import EstimatorExamples, Examples, StumpExamples
from driftgames.boosting.learners import EstimatorLearner, draw_seeds, votes_of
from driftgames.boosting.mass import two_classes, weigh
from driftgames.boosting.rounds import History, Rounds
from driftgames.boosting.stumps import Stumps
from driftgames.boosting.table import make_table
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.core.checks import check_integer
from driftgames.core.progress import progress
from driftgames.core.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INPUT: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}

_FREE = {"estimator", "n_estimators", "n_jobs", "random_state", "verbose", "warm_start"}
"""Settings that may change when a fit goes on: the rounds played already stay what they are.

Whether there is an `estimator` may not, but it may be another.
"""


class NoEdgeWarning(UserWarning):
    """A fit ended early because no weak hypothesis had a positive edge."""


@dataclass(frozen=True)
class Run:
    """What a fit leaves behind, for its certificate."""

    margins: Margins
    training_error: float
    edges: FloatArray
    vote_weights: FloatArray


class BaseBooster(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn is untyped
    """A classifier by vote of weak hypotheses; subclasses say what the examples weigh.

    Attributes
    ----------
    classes_ : array of two labels
        A vote of -1 is for the first, +1 for the second; a tied vote is for the first.
    stumps_ : Stumps
        The weak hypotheses in order; none where ``estimator`` was given.
    estimators_ : list
        The fitted weak hypotheses in order, where ``estimator`` was given. A round in which one
        class alone weighs anything has a constant vote for it, of type `ConstantVote`.
    estimator_weights_ : array
        The weight of each vote.
    history_ : dict of arrays
        For each round the ``edge`` of its weak hypothesis and, after it, the ``zero_fraction``
        of examples that weigh nothing and the ``training_error``.
    certificate_ : MarginCertificate or None
        The margins beside what the edges promise; None after no round at all.
    n_iter_ : int
        How many rounds were played.
    ended_early_ : bool
        Whether the fit ended because no weak hypothesis had an edge.
    """

    n_estimators: int
    estimator: Any
    max_bins: int
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool

    history_: History
    certificate_: MarginCertificate | None
    _tables: AdditiveModel | None  # None where `estimator` was given

    @abstractmethod
    def _start(self, examples: Examples) -> Chips:
        """Return the examples as chips before the first round."""

    @abstractmethod
    def _certify(self, run: Run) -> MarginCertificate:
        """Return the certificate of a fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the booster.

        With ``warm_start`` a fitted booster goes on from the rounds played already: they are
        replayed, and refused where other examples give other edges or errors, or with other
        settings than they were played with.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix, shape (n_samples, n_features)
            NaN is a missing value. Sparse matrices stay sparse.
        y : array, shape (n_samples,)
            Labels of any two values.
        sample_weight : array, shape (n_samples,), optional
            A prior over the examples; an example of weight 2 counts as two.

        Returns
        -------
        self
            On an error or an interruption the booster is left as it was.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y, sample_weight)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        n_estimators = check_integer("n_estimators", self.n_estimators, least=1)
        max_bins = check_integer("max_bins", self.max_bins, least=2)
        if max_bins > MOST_BINS:
            raise ValueError(f"max_bins must be at most {MOST_BINS}; got {max_bins}")
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        X, y = self._check_input(X, y, reset=not goes_on)
        classes = two_classes(y)
        if goes_on:
            self._check_goes_on(classes, n_estimators)
        X, y, mass = weigh(X, y, sample_weight, classes)
        threads = count_threads(self.n_jobs)
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        with pool or nullcontext():
            examples: StumpExamples | EstimatorExamples
            earlier: list[Any]
            if self.estimator is None:
                table = make_table(X, y == classes[1], mass.of_each, max_bins)
                examples = StumpExamples(table, whole=mass.whole, pool=pool, n_threads=threads)
                earlier = examples.places(self.stumps_) if goes_on else []
            else:
                earlier = self.estimators_ if goes_on else []
                seeds = draw_seeds(self.random_state, used=len(earlier))
                learner = EstimatorLearner(self.estimator, X, y, classes, mass.of_each, seeds)
                examples = EstimatorExamples(learner, whole=mass.whole)
            self._boost(examples, n_estimators, earlier)
        self.classes_ = classes
        self._settle()

    def _boost(self, examples: Any, n_estimators: int, earlier: list[Any]) -> None:
        with progress("boosting", n_estimators, show=bool(self.verbose)) as advance:
            rounds = Rounds(self._start(examples), advance)
            if earlier:
                rounds.replay(earlier, self.history_)
            rounds.play(n_estimators)
        self.ended_early_ = rounds.ended_early
        self.estimator_weights_ = rounds.vote_weights
        self.history_ = rounds.history
        self.n_iter_ = len(rounds.hypotheses)
        if self.ended_early_:
            _warn_no_edge(self.n_iter_, n_estimators)
        if self.estimator is None:
            self.stumps_ = examples.stumps(rounds.hypotheses)
            self.__dict__.pop("estimators_", None)  # of an earlier fit
        else:
            self.stumps_ = Stumps.none()
            self.estimators_ = rounds.hypotheses
        self.certificate_ = None
        if self.n_iter_:
            chips, edges = rounds.chips, self.history_["edge"]
            run = Run(chips.margins(), chips.training_error, edges, self.estimator_weights_)
            self.certificate_ = self._certify(run)

    def _settle(self) -> None:
        """Keep what predictions and a fit that goes on need of a fit that is done."""
        self._settings = self._binding_settings()
        self._add_up()

    def _add_up(self) -> None:
        of_stumps = not hasattr(self, "estimators_")
        arguments = self.stumps_, self.estimator_weights_, self.n_features_in_
        self._tables = AdditiveModel.from_stumps(*arguments) if of_stumps else None

    def decision_function(self, X: Any) -> FloatArray:
        """Return the normalised vote in [-1, 1]; above 0 it is for ``classes_[1]``."""
        check_is_fitted(self)
        X = self._check_input(X)
        if self._tables is not None:
            votes = self._tables.scores(X, n_jobs=self.n_jobs)
        else:
            votes = np.zeros(X.shape[0])
            for weight, vote in zip(self.estimator_weights_, self._each_vote(X), strict=True):
                votes += weight * vote
        return np.asarray(votes / (self.estimator_weights_.sum() or 1.0))

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
        """Yield what each weak hypothesis votes on every row, in order."""
        if self._tables is None:
            for h in self.estimators_:
                yield np.where(votes_of(h, X, self.classes_), 1.0, -1.0)
        else:
            columns = X.tocsc() if scipy.sparse.issparse(X) else X  # a stump asks about a column
            for t in range(self.n_iter_):
                yield self.stumps_[t : t + 1].votes(columns)[:, 0].astype(np.float64)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label that the vote is for; a tie is for ``classes_[0]``."""
        up = self.decision_function(X) > 0
        return np.asarray(self.classes_[up.astype(np.intp)])

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Yield the predictions after 1, 2, ... rounds."""
        for votes in self.staged_decision_function(X):
            yield self.classes_[(votes > 0).astype(np.intp)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of the vote that each class has.

        It orders examples well and is not calibrated; `sklearn.calibration` does that.
        """
        for_second = (1.0 + self.decision_function(X)) / 2.0
        return np.column_stack([1.0 - for_second, for_second])

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return ``y`` times the normalised vote: how surely each example is got right."""
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
        """The share of all edges, times their votes, that each feature's stumps had."""
        check_is_fitted(self)
        gains = self.estimator_weights_ * self.history_["edge"]
        importances = np.zeros(self.n_features_in_)
        if self._tables is not None:
            np.add.at(importances, self.stumps_.feature, gains)
        else:
            for gain, h in zip(gains, self.estimators_, strict=True):
                importances += gain * h.feature_importances_
        return np.asarray(importances / (importances.sum() or 1.0))

    @property
    def shape_functions_(self) -> dict[int, ShapeFunction]:
        """What each feature votes, as a step function of its value, by the feature's index."""
        return self._additive.shape_functions

    def plot_shapes(self, *, n_features: int = 12, show_missing: bool = False) -> Figure:
        """Draw the step functions of the features that move the decision most."""
        names = getattr(self, "feature_names_in_", None)
        return self._additive.plot(names, n_features=n_features, show_missing=show_missing)

    def explain(self, x: Any) -> Explanation:
        """Return what each feature voted on one example.

        ``x`` is whatever `predict` takes, of one row, and is checked alike; or a vector. The
        index of a pandas Series holds the names of its features; a bare vector has no names,
        and is in the order of the fit.
        """
        additive = self._additive
        if hasattr(x, "iloc") and x.ndim == 1:
            x = x.to_frame().T
        elif np.ndim(x) == 1:
            return additive.explain(check_array(np.reshape(x, (1, -1)), **_INPUT))
        return additive.explain(self._check_input(x))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all."""
        from driftgames.boosting.persistence import save_model

        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model that `save` wrote; with ``warm_start`` it can go on fitting."""
        from driftgames.boosting.persistence import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}")
        return model

    @property
    def _additive(self) -> AdditiveModel:
        check_is_fitted(self)
        if self._tables is None:  # an AttributeError, so that hasattr finds no shape functions
            raise AttributeError(
                "only a booster of the built-in stump is an additive model; "
                "this one was fitted with another estimator"
            )
        return self._tables

    def _check_input(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        return validate_data(self, X, y, reset=reset, **_INPUT)

    def _check_goes_on(self, classes: npt.NDArray[Any], n_estimators: int) -> None:
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()}; "
                f"got {classes.tolist()}"
            )
        if n_estimators < self.n_iter_:
            raise ValueError(
                f"n_estimators must be at least {self.n_iter_}, the rounds played already, "
                f"with warm_start; got {n_estimators}"
            )
        if (self._tables is None) == (self.estimator is None):
            began = "an estimator" if self._tables is None else "the built-in stump"
            raise ValueError(
                f"warm_start goes on with {began}, as it began; got estimator={self.estimator!r}"
            )
        self._check_settings()

    def _binding_settings(self) -> dict[str, Any]:
        """Return the settings that say what the rounds played were."""
        settings = self.get_params(deep=False)
        return {name: value for name, value in settings.items() if name not in _FREE}

    def _check_settings(self) -> None:
        """Say so where the rounds played already were played with other settings."""
        for name, now in self._binding_settings().items():
            was = self._settings[name]
            if not (now is was or now == was):
                raise ValueError(
                    f"{name} was {was!r} in the rounds played already, and they depend on it; "
                    f"got {now!r}"
                )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_tables", None)  # the stumps say it all
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            self._add_up()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        if self.estimator is not None:
            own = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


def _warn_no_edge(played: int, wanted: int) -> None:
    warnings.warn(
        f"no weak hypothesis had a positive edge in round {played + 1}: the fit ended after "
        f"{played} of {wanted} rounds",
        NoEdgeWarning,
        stacklevel=5,
    )
