"""Online boosting of scikit-learn's classifiers with ``partial_fit``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from driftgames.certificates.certificate import MistakeCertificate
from driftgames.core.checks import check_integer, shown, unmask
from driftgames.core.generators import seed_of
from driftgames.core.typing import FloatArray
from driftgames.online_boosting.adapters import drawn_times, make_booster, takes_weights
from driftgames.online_boosting.online_booster import OnlineBooster

__all__ = ["PartialFitBoostingClassifier"]


class PartialFitBoostingClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A majority of copies of a classifier with ``partial_fit``, for two classes.

    Parameters
    ----------
    estimator : classifier
        The weak learner. It needs ``partial_fit`` and ``predict``.
    algorithm : str
        "bbm" (`OnlineBBM`) or "adaboost.ol" (`AdaBoostOL`).
    n_estimators : int
        The number of copies. An odd number has no ties.
    edge : float
        How much better than chance the copies are expected to be, for "bbm".
    batch_size : int
        The copies predict this many examples before they learn them. The certificate holds for
        every size, as edges are those of predictions made before learning; 1 learns fastest per
        example and slowest per second.
    weighting : {"auto", "weight", "draw"}
        "weight" passes ``sample_weight``. "draw" repeats an example as often as its weight says on
        average. "auto" draws for estimators that take no weights.
    random_state : int, optional
        For the drawing.

    Attributes
    ----------
    classes_ : array of two labels
    estimators_ : list of classifiers
    booster_ : OnlineBooster
        It can be saved; the estimators of others cannot, without pickle.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> weak = SGDClassifier(random_state=0)
    >>> model = PartialFitBoostingClassifier(weak, "adaboost.ol").fit(scale(X), y)
    >>> model.certificate().holds
    True
    >>> model.score(scale(X), y) > 0.95
    True
    """

    booster_: OnlineBooster
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        estimator: Any,
        algorithm: str = "bbm",
        n_estimators: int = 11,
        edge: float = 0.1,
        batch_size: int = 10,
        weighting: str = "auto",
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.n_estimators = n_estimators
        self.edge = edge
        self.batch_size = batch_size
        self.weighting = weighting
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Begin anew and pass over these examples once."""
        if hasattr(self, "booster_"):
            del self.booster_
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: npt.ArrayLike | None = None) -> Self:
        """Learn further examples; the first call has both labels in ``y`` or in ``classes``."""
        first = not hasattr(self, "booster_")
        size = check_integer("batch_size", self.batch_size, least=1)
        X, y = unmask("X", X), unmask("y", y)
        X, y = validate_data(self, X, y, reset=first, dtype=np.float64)
        check_classification_targets(y)
        both = np.unique(y if classes is None else classes) if first else self.classes_
        if both.size != 2:
            raise ValueError(
                "Only binary classification is supported: y must have two classes; got "
                f"{both.size} class{'es' * (both.size != 1)}, {both[:5].tolist()}"
            )
        if not np.isin(y, both).all():
            raise ValueError(
                f"y must hold {both.tolist()} alone; got {shown(y[~np.isin(y, both)][0])}"
            )
        if first:
            booster = make_booster(self.algorithm, self.n_estimators, self.edge)
            learn = getattr(self.estimator, "partial_fit", None)
            if learn is None or isinstance(self.estimator, type):
                raise ValueError(
                    f"estimator must be a classifier with partial_fit; got {shown(self.estimator)}"
                )
            seed = None if self.random_state is None else seed_of(self.random_state)
            self._weighs = takes_weights(self.weighting, learn, "sample_weight")
            self._draws = np.random.default_rng(seed)
            self.estimators_ = [clone(self.estimator) for _ in range(self.n_estimators)]
            self._begun, self.classes_ = [False] * self.n_estimators, both
            self.booster_ = booster
        for start in range(0, len(y), size):
            self._learn(X[start : start + size], y[start : start + size])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the vote for each example, in [-1, 1]; positive for the second class."""
        check_is_fitted(self, "booster_")
        X = validate_data(self, unmask("X", X), reset=False, dtype=np.float64)
        return np.array([self.booster_.vote(row) for row in self._predictions(X)])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label that has most of the vote."""
        chosen = (self.decision_function(X) >= 0).astype(np.intp)
        return np.asarray(self.classes_[chosen])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of the vote that each label has; it is not calibrated."""
        vote = self.decision_function(X)
        return np.column_stack([1.0 - vote, 1.0 + vote]) / 2.0

    def certificate(self) -> MistakeCertificate:
        """Return the number of mistakes beside its bound."""
        check_is_fitted(self, "booster_")
        return self.booster_.certificate()

    def _predictions(self, X: FloatArray) -> FloatArray:
        """Return the predictions of the copies as signs, a row per example."""
        signs = np.ones((len(X), self.n_estimators))
        for k, (weak, begun) in enumerate(zip(self.estimators_, self._begun, strict=True)):
            if begun:
                signs[weak.predict(X) == self.classes_[0], k] = -1.0
        return signs

    def _learn(self, X: FloatArray, y: npt.NDArray[Any]) -> None:
        signs = np.where(y == self.classes_[1], 1, -1).tolist()
        rows = zip(self._predictions(X), signs, strict=True)
        weights = np.array([self.booster_.update(row, sign) for row, sign in rows])
        for k, weak in enumerate(self.estimators_):
            mine, given = weights[:, k], {}
            if self._weighs:
                kept = np.flatnonzero(mine > 0)
                given = {"sample_weight": mine[kept]}
            else:
                kept = np.repeat(np.arange(len(y)), drawn_times(mine, self._draws))
            if kept.size:
                weak.partial_fit(X[kept], y[kept], classes=self.classes_, **given)
                self._begun[k] = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
