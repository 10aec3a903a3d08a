"""NH-Boost.DT as the paper prints it, and the booster of any weak learner: read this first.

`boost` is the algorithm, and `find_stump` a weak learner. `nh_boost_dt` puts them together:
`NHBoostDTClassifier` plays the same rounds in compiled code, and a test compares the two.
`WeakLearnerBooster` plays them with any classifier of scikit-learn.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from driftgames.boosting import NoEdgeWarning
from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.cuts import midpoints
from driftgames.boosting.data.sample_weights import check_weights, weigh_examples
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.certificates.pairs import PairCertificate
from driftgames.core.checks import check_integer, shown, unmask
from driftgames.core.generators import generator_of
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import NormalHedgeDT, Potential, require_potential

Column = tuple[FloatArray, IntArray]
"""A feature: its thresholds, ascending, and for each row how many of them lie below its value."""
Learn = Callable[[IntArray], tuple[Any, IntArray]]
"""A weak learner: from weights to a hypothesis and its votes, -1 or +1, on the examples."""


class PlainRound(NamedTuple):
    """A round: its hypothesis and edge, the sum of the votes so far, and the next weights."""

    hypothesis: Any
    edge: float
    votes: IntArray
    weights: IntArray


def boost(
    learn: Learn, y: IntArray, masses: IntArray, n_rounds: int, potential: Potential
) -> Iterator[PlainRound]:
    r"""Play Algorithm 6: weigh the examples, ask the weak learner, move the examples; and again.

    .. math:: w_i = \Phi_t(s_i - 1) - \Phi_t(s_i + 1), \qquad
              \gamma_t = \frac{\sum_i w_i y_i h_t(x_i)}{2 \sum_i w_i}, \qquad
              s_i = \tfrac12 y_i \sum_{\tau \le t} h_\tau(x_i) - \sum_{\tau \le t} \gamma_\tau

    Labels are -1 and +1, and an example of mass 2 counts as two. It ends where a hypothesis has no
    positive edge. [LS14, Alg. 6]
    """
    votes, edges = np.zeros_like(y), 0.0
    weights = weigh(potential, votes / 2, 1, masses)
    for t in range(1, n_rounds + 1):
        hypothesis, h = learn(weights)
        value = int((weights * y * h).sum())
        if value <= 0:
            return
        edge = value / (2 * int(weights.sum()))
        votes, edges = votes + h, edges + edge
        weights = weigh(potential, y * votes / 2 - edges, t + 1, masses)
        yield PlainRound(hypothesis, edge, votes, weights)


def weigh(potential: Potential, positions: FloatArray, t: int, masses: IntArray) -> IntArray:
    r"""Return :math:`\Phi_t(s - 1) - \Phi_t(s + 1)` times the masses, as integers.

    Their sum is just below :math:`2^{61}`. Sums of integers are exact, so that two hypotheses of
    one edge are tied whatever the order of the examples. If all weights are zero, or if the game of
    the potential is over, the masses decide.

    >>> weights = weigh(NormalHedgeDT(), np.array([-2.0, 0.0, 1.0]), 4, np.ones(3, dtype=int))
    >>> weights / weights.sum()
    array([0.9221987, 0.0778013, 0.       ])
    """
    weights = np.zeros(positions.shape)
    if t <= potential.last_round:
        weights = masses * potential.weights(positions.ravel(), t).reshape(positions.shape)
    if not weights.any():
        weights = masses.astype(np.float64)
    _, exponent = math.frexp(weights.sum())
    return np.rint(np.ldexp(weights, 61 - exponent)).astype(np.int64)


class Stump(NamedTuple):
    """The vote ``left_vote`` where ``x[feature] <= threshold``, and the other vote elsewhere."""

    feature: int
    threshold: float
    left_vote: int

    def votes(self, X: FloatArray) -> IntArray:
        """Return the vote on each row."""
        left = X[:, self.feature] <= self.threshold
        return np.where(left, self.left_vote, -self.left_vote)


def cut_columns(X: FloatArray) -> list[Column]:
    """Return the thresholds of each feature, which lie between any two of its values, and bins.

    >>> cut_columns(np.array([[1.0], [2.0], [4.0], [2.0]]))
    [(array([1.5, 3. ]), array([0, 1, 2, 1]))]
    """
    thresholds = [midpoints(np.unique(values)) for values in X.T]
    return [(cuts, np.searchsorted(cuts, x)) for cuts, x in zip(thresholds, X.T, strict=True)]


def find_stump(columns: list[Column], signed: IntArray) -> Stump:
    r"""Return the stump of largest :math:`\sum_i w_i y_i h(x_i)`; ``signed`` holds each w y.

    Every threshold of every feature is tried. Of equals the lowest feature wins, then the lowest
    threshold. Without an edge the stump abstains: it votes 0.

    >>> columns = cut_columns(np.array([[5.0, 1.0], [5.0, 2.0], [5.0, 4.0]]))
    >>> find_stump(columns, np.array([-3, -1, 2]))
    Stump(feature=1, threshold=3.0, left_vote=-1)
    """
    best, found = 0, Stump(0, math.inf, 0)
    for feature, (thresholds, bins) in enumerate(columns):
        sums = np.zeros(thresholds.size + 1, dtype=np.int64)
        np.add.at(sums, bins, signed)
        left = np.cumsum(sums)[:-1]
        values = left - (signed.sum() - left)  # with a left vote of +1
        if np.abs(values).max(initial=0) > best:
            cut = int(np.abs(values).argmax())
            best = int(abs(values[cut]))
            found = Stump(feature, float(thresholds[cut]), int(np.sign(values[cut])))
    return found


def nh_boost_dt(
    X: FloatArray, y: IntArray, n_rounds: int, potential: Potential | None = None
) -> list[PlainRound]:
    r"""Play NH-Boost.DT with stumps; the vote is :math:`\sum_t h_t(x)`, and labels are -1 and +1.

    The plain twin of ``NHBoostDTClassifier(n_rounds, max_leaves=2, calibrate=False)``, which
    has the same stumps if no feature has more values than ``max_bins``. [LS14, Alg. 6]

    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> for played in nh_boost_dt(X, y, 3):
    ...     print(played.hypothesis, round(played.edge, 4), played.votes)
    Stump(feature=0, threshold=1.5, left_vote=-1) 0.25 [-1  1  1  1]
    Stump(feature=0, threshold=3.5, left_vote=-1) 0.3977 [-2  0  0  2]
    Stump(feature=0, threshold=2.5, left_vote=1) 0.3807 [-1  1 -1  1]
    """
    columns = cut_columns(X)

    def learn(weights: IntArray) -> tuple[Stump, IntArray]:
        stump = find_stump(columns, weights * y)
        return stump, stump.votes(X)

    return list(boost(learn, y, np.ones_like(y), n_rounds, potential or NormalHedgeDT()))


@dataclass(eq=False, repr=False)
class WeakLearnerBooster(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    r"""The booster of any potential and any weak learner: a vote of its clones.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i} - 1) - \Phi_t(s_{t-1,i} + 1), \qquad
              s_{t,i} = s_{t-1,i} + \tfrac12 y_i h_t(x_i) - \gamma_t

    A clone is fitted in each round, only to the examples of nonzero weight. The bound of the
    potential becomes one on the margins, whatever the weak learner. [LS14, Alg. 6, Thm. 3]

    Parameters
    ----------
    estimator : classifier, optional
        The weak learner. Its ``fit`` takes ``sample_weight``. Default: the stump of `nh_boost_dt`.
    n_estimators : int
        The number of rounds.
    potential : Potential, optional
        It weighs the examples. Default: `NormalHedgeDT`, which makes NH-Boost.DT.
    random_state : int or np.random.Generator, optional
        It draws the ``random_state`` of each clone.

    Attributes
    ----------
    classes_ : array of labels
    estimators_ : list
        The hypothesis of each round; of more than two classes, a list of one for each class.
    history_ : dict of arrays
        For each round the ``edge`` of its hypothesis and, after it, the ``zero_fraction`` of
        examples that weigh zero and the ``training_error``.
    margins_ : Margins
        The margins of the training examples.
    potential_ : Potential
        What weighed them.

    Notes
    -----
    Many classifiers refuse examples of a single class. If only one class has weight, the hypothesis
    is a constant vote for it. After no round every prediction is the class of most weight.

    With ``K > 2`` classes the chips are pairs of an example and a class, and a clone for each class
    votes whether it is the right one. A right pair counts ``K - 1`` times (`PairCertificate`).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> weak = DecisionTreeClassifier(max_depth=2)
    >>> booster = WeakLearnerBooster(weak, 100, random_state=0).fit(X, y)
    >>> round(weak.fit(X, y).score(X, y), 2), booster.score(X, y)
    (0.94, 1.0)
    >>> bool(booster.history_["zero_fraction"][-1] > 0.5)
    True
    >>> booster.certificate_.holds
    True
    """

    estimator: Any = None
    n_estimators: int = 200
    potential: Potential | None = field(default=None, kw_only=True)
    random_state: int | np.random.Generator | None = field(default=None, kw_only=True)

    def fit(self, X: object, y: object, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Play the rounds; a failed fit does not change the state."""
        n_rounds = check_integer("n_estimators", self.n_estimators, least=1)
        potential = NormalHedgeDT() if self.potential is None else self.potential
        if not isinstance(potential, Potential):
            raise ValueError(f"potential must be a Potential; got {shown(potential)}")
        if not (self.estimator is None or hasattr(self.estimator, "fit")):
            raise ValueError(f"estimator must be a classifier; got {shown(self.estimator)}")
        copy = type(self)(**self.get_params(deep=False))  # a failed check leaves self
        rows, labels = _check_rows(copy, X, unmask("y", y))
        check_classification_targets(labels)
        classes = np.unique(labels)
        if classes.size < 2:
            raise ValueError(f"y must hold two classes or more; got one class: {classes.tolist()}")
        prior = check_weights(sample_weight, rows, labels, classes)
        rows, labels, (masses, _) = weigh_examples(rows, labels, prior)
        # a column for each question: which of two classes it is, or whether it is the class
        targets = labels[:, None] if classes.size == 2 else labels[:, None] == classes
        signs = np.where(targets == _answers(classes)[1], 1, -1)
        chips = masses[:, None] * np.where(signs > 0, classes.size - 1, 1)
        learn = self._weak_learner(rows, targets, signs, _answers(classes))

        estimators, numbers, votes = [], [], np.zeros_like(signs)
        for hypothesis, edge, votes, weights in boost(learn, signs, chips, n_rounds, potential):
            estimators.append(hypothesis)
            zeros, wrong = chips[weights == 0], masses[classes[_winners(votes)] != labels]
            numbers.append((edge, zeros.sum() / chips.sum(), wrong.sum() / masses.sum()))
        if len(estimators) < n_rounds:
            message = f"no weak hypothesis had a positive edge in round {len(estimators) + 1}"
            end = f"the fit ended after {len(estimators)} of {n_rounds} rounds"
            warnings.warn(f"{message}: {end}", NoEdgeWarning, stacklevel=2)

        validate_data(self, X, skip_check_array=True)  # names and number of columns
        self.classes_, self.potential_, self.estimators_ = classes, potential, estimators
        columns = np.array(numbers, dtype=np.float64).reshape(-1, 3).T
        self.history_ = dict(zip(("edge", "zero_fraction", "training_error"), columns, strict=True))
        margins = signs * votes / max(len(estimators), 1)
        self.margins_ = Margins.of_examples(margins.ravel(), chips.ravel())
        self._default_vote = masses @ signs / masses.sum()
        return self

    def _weak_learner(self, X: Matrix, targets: Array, signs: IntArray, answers: Array) -> Learn:
        """Return what fits a hypothesis to the weights of each question, and votes with it."""
        weak, rng = self.estimator, generator_of(self.random_state)
        columns = cut_columns(X) if weak is None else []

        def learn(weights: IntArray) -> tuple[Any, IntArray]:
            found: list[Any] = []
            for question, each in enumerate(weights.T):
                if weak is None:
                    found.append(find_stump(columns, each * signs[:, question]))
                else:
                    seed = int(rng.integers(2**31 - 1))
                    found.append(_fit_clone(weak, X, targets[:, question], each, answers, seed))
            hypothesis = found[0] if len(found) == 1 else found
            return hypothesis, _cast_votes(hypothesis, X, answers)

        return learn

    @property
    def certificate_(self) -> MarginCertificate | None:
        """The margins beside what the edges promise; None after no round. [LS14, Thm. 3]"""
        check_is_fitted(self)
        edges, errors = self.history_["edge"], self.history_["training_error"]
        if not edges.size:
            return None

        def bound(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
            require_potential(self.potential_, horizon)
            return self.potential_.bound(horizon, epsilon)

        numbers = self.margins_, float(errors[-1]), float(edges.mean())
        made = MarginCertificate.of_regret(self.potential_.title, edges.size, *numbers, bound)
        n_classes = self.classes_.size
        return made if n_classes == 2 else PairCertificate.of(made, n_classes, 2 * (n_classes - 1))

    def _staged_votes(self, X: object) -> Iterator[FloatArray]:
        """Yield the normalised vote before the first round, and after each."""
        check_is_fitted(self)
        rows, several = _check_rows(self, X, reset=False), self.classes_.size > 2
        votes = np.tile(self._default_vote, (rows.shape[0], 1))
        yield votes if several else votes[:, 0]
        votes = np.zeros_like(votes)
        for t, hypothesis in enumerate(self.estimators_, start=1):
            votes += _cast_votes(hypothesis, rows, _answers(self.classes_))
            yield votes / t if several else votes[:, 0] / t

    def decision_function(self, X: object) -> FloatArray:
        """Return the normalised vote in [-1, 1]; above 0 it is for ``classes_[1]``.

        With more than two classes there is a column of votes for each class.
        """
        return deque(self._staged_votes(X), maxlen=1).pop()

    def predict(self, X: object) -> Array:
        """Return the label that the vote is for; a tie is for the first of the tied labels."""
        votes = self.decision_function(X)
        return np.asarray(self.classes_[_winners(votes)])

    def staged_predict(self, X: object) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds."""
        for votes in islice(self._staged_votes(X), 1, None):
            yield self.classes_[_winners(votes)]

    def predict_proba(self, X: object) -> FloatArray:
        """Return the share of the votes of +1 that each class has; it is not calibrated."""
        votes = self.decision_function(X)
        ups = (1 + (np.column_stack([-votes, votes]) if votes.ndim == 1 else votes)) / 2
        ups[ups.sum(axis=1) == 0] = 1.0
        return np.asarray(ups / ups.sum(axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            own = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


def _check_rows(
    booster: BaseEstimator, X: object, y: object = "no_validation", *, reset: bool = True
) -> Any:
    """Return examples that the weak learner takes, checked by scikit-learn's rules."""
    if booster.estimator is not None and not has_fit_parameter(booster.estimator, "sample_weight"):
        raise ValueError(
            f"estimator must take sample_weight in fit; got {shown(booster.estimator)}"
        )
    tags = get_tags(booster).input_tags
    allowed = {
        "accept_sparse": "csr" if tags.sparse else False,
        "dtype": (np.float64, np.float32),
        "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
    }
    return validate_data(booster, unmask("X", X, missing=True), y, reset=reset, **allowed)


def _answers(classes: Array) -> Array:
    """Return what a hypothesis answers: one of two classes, or whether it is the class."""
    return classes if classes.size == 2 else np.array([False, True])


def _winners(votes: Array) -> IntArray:
    """Return the number of the class that the votes on each row are for; a tie is for the first."""
    several = votes.ndim == 2 and votes.shape[1] > 1
    return votes.argmax(axis=1) if several else (votes.reshape(-1) > 0).astype(np.intp)


def _fit_clone(
    estimator: Any, X: Matrix, y: Array, weights: IntArray, answers: Array, seed: int
) -> Any:
    """Return a clone fitted to the rows of nonzero weight; a constant vote if they agree."""
    heavy = np.flatnonzero(weights)
    present = np.unique(y[heavy]) if heavy.size else answers[:1]
    if present.size == 1:
        return DummyClassifier(strategy="most_frequent").fit(X[:1], present)
    fitted = clone(estimator)
    names = [name for name in fitted.get_params() if name.split("__")[-1] == "random_state"]
    fitted.set_params(**dict.fromkeys(names, seed))
    return fitted.fit(X[heavy], y[heavy], sample_weight=weights[heavy] / weights.sum())


def _cast_votes(hypothesis: Any, X: Matrix, answers: Array) -> IntArray:
    """Return the votes of a round, -1 or +1, with a column for each question."""
    if isinstance(hypothesis, list):
        return np.hstack([_cast_votes(each, X, answers) for each in hypothesis])
    if isinstance(hypothesis, Stump):
        return hypothesis.votes(X)[:, None]
    labels = np.asarray(hypothesis.predict(X))
    unknown = ~np.isin(labels, answers)
    if unknown.any():
        raise ValueError(
            f"estimator must predict one of the classes {answers.tolist()}; "
            f"{type(hypothesis).__name__} predicted {shown(labels[unknown][0])}"
        )
    return np.where(labels == answers[1], 1, -1)[:, None]
