"""The rounds of boosting: bin the examples, then weigh them, choose a hypothesis and move them.

Weights are integers in fixed point. The binary point is chosen in each round so that their sum is
just below 2**62. Sums of them are exact, and so is every comparison between hypotheses: neither the
order of the examples nor the number of threads changes a bit.
"""

from __future__ import annotations

import numbers
import warnings
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from driftgames._kernels.sums import dot
from driftgames.boosting.additive import AdditiveModel
from driftgames.boosting.binned_training_set import BinnedTrainingSet, bin_examples
from driftgames.boosting.bins import Array
from driftgames.boosting.cuts import MOST_BINS
from driftgames.boosting.history import COLUMNS, History, Round
from driftgames.boosting.parameters import SharedParameters
from driftgames.boosting.sample_weights import SampleWeights, weigh_examples
from driftgames.boosting.stump_kernels import scale_weights
from driftgames.boosting.stumps import Stumps
from driftgames.boosting.training_set import EstimatorTrainingSet, TrainingSet, draw_seeds
from driftgames.boosting.tree_growth import DEFAULTS, TreeShape
from driftgames.boosting.tree_model import TreeModel
from driftgames.boosting.tree_training_set import TreeTrainingSet
from driftgames.boosting.trees import NO_TREES, Trees
from driftgames.boosting.warm_start import check_continuation, replay
from driftgames.certificates.margins import Margins
from driftgames.core.checks import check_integer
from driftgames.core.progress import progress
from driftgames.core.threads import count_threads
from driftgames.core.typing import FloatArray, IntArray

SUM_BITS = 61
"""The number of bits in the sum of the weights of all examples."""

INPUT: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}
"""The input that scikit-learn's checks allow."""

_FREE = {"estimator", "n_estimators", "n_jobs", "random_state", "verbose", "warm_start"}
"""Settings that may change when a fit goes on. An `estimator` may be replaced by another one."""


class NoEdgeWarning(UserWarning):
    """A fit ended early because no weak hypothesis had a positive edge."""


class Chips(ABC):
    """The examples during a fit: their positions, their weights and the next hypothesis."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would change nothing."""

    @abstractmethod
    def choose(self) -> tuple[float, Any]:
        """Return the edge of the next hypothesis, and the hypothesis. [LS14, Alg. 6]"""

    @abstractmethod
    def move(self, hypothesis: Any, edge: float) -> float:
        """Move the chips by a hypothesis and return the weight of its vote."""

    @abstractmethod
    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Move by a hypothesis of an earlier fit; return its vote, and its edge found anew."""

    @property
    @abstractmethod
    def zero_fraction(self) -> float:
        """The share of examples that weigh zero in the next round."""

    @property
    @abstractmethod
    def training_error(self) -> float:
        """The share of examples that the vote so far gets wrong; a tie is a vote for -1."""

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""


class MistakeWeights(ABC):
    r"""Weights of examples from their numbers of mistakes alone.

    With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
    :math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, in whichever rounds it erred.
    """

    @abstractmethod
    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights in round ``t``, up to a factor; all zero means all equal.

        ``mistakes`` ascends by ones, ``masses`` tells how many examples have made each of these
        numbers, and ``edge_sum`` is the sum of the edges so far.
        """


class CountedChips(Chips):
    """Examples that weigh by their number of mistakes; every vote weighs 1."""

    def __init__(self, rule: MistakeWeights, training_set: TrainingSet) -> None:
        self._rule = rule
        self._integer_weights = training_set.integer_weights
        self._counts = training_set.count_mistakes()
        self._edge_sum = 0.0
        self._total = int(self._counts.masses()[1].sum())
        self._weigh()

    def _weigh(self) -> None:
        """Weigh the examples for the next round."""
        self._first, masses = self._counts.masses()
        self._held = masses[0] + masses[1]
        mistakes = np.arange(self._first, self._first + self._held.size)
        weights = self._rule.weights(mistakes, self.n_rounds + 1, self._edge_sum, self._held)
        self._weights = np.empty(weights.size)
        self._zeros, self._wrong = scale_weights(
            weights, masses, self._first, self.n_rounds, SUM_BITS, self._weights
        )

    def choose(self) -> tuple[float, Any]:
        """Return the best hypothesis for the rule's weights."""
        integers = self._integer_weights
        weights = np.rint(self._weights).astype(np.int64) if integers else self._weights
        value, norm, hypothesis = self._counts.best(self._first, weights)
        return value / (2 * norm), hypothesis

    def move(self, hypothesis: Any, edge: float) -> float:
        """Count the mistakes of a hypothesis."""
        self._counts = self._counts.move(hypothesis)
        self._edge_sum += edge
        self.n_rounds += 1
        self._weigh()
        return 1.0

    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Find the edge from the mass that moved."""
        first, held, weights = self._first, self._held, self._weights
        vote = self.move(hypothesis, edge)
        after = np.zeros(held.size + 1, dtype=np.int64)
        begin = self._first - first
        after[begin : begin + self._held.size] = self._held
        erred = np.cumsum(held - after[:-1])  # an error moves an example to the next number
        value = dot(weights, (held - 2 * erred).astype(np.float64))
        return vote, value / (2 * dot(weights, held.astype(np.float64)))

    @property
    def zero_fraction(self) -> float:
        """The share of mass at numbers of mistakes that weigh zero."""
        return self._zeros / self._total

    @property
    def training_error(self) -> float:
        """The share of mass that the vote gets wrong."""
        return self._wrong / self._total

    def margins(self) -> Margins:
        """Return a margin for each number of mistakes."""
        mistakes = np.arange(self._first, self._first + self._held.size)[::-1]
        held = self._held[::-1]
        margins = (self.n_rounds - 2 * mistakes) / self.n_rounds
        return Margins(margins[held > 0], held[held > 0])


class BoostingRounds(SharedParameters, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn is untyped
    """A classifier that is fitted in rounds; `BaseBooster` adds its predictions."""

    n_estimators: int

    stumps_: Stumps
    trees_: Trees
    estimators_: list[Any]
    history_: History
    _margins: Margins | None  # None after no round
    _tables: AdditiveModel | TreeModel | None  # None after a fit with an `estimator`

    @abstractmethod
    def _start(self, training_set: TrainingSet) -> Chips:
        """Return the examples as chips before the first round."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the booster.

        With ``warm_start`` a fitted booster goes on from the rounds played already. They are
        replayed. Other settings, or examples that give other edges or errors, are refused.

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
            An error or an interruption leaves the booster as it was.
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
        shape = self._tree_shape()
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        X, y = self._check_input(X, y, reset=not goes_on)
        classes = _two_classes(y)
        if goes_on:
            check_continuation(self, classes, n_estimators)
        self._settings = self._binding_settings()
        weights = SampleWeights(np.ones(y.size, dtype=np.int64), integer_weights=True)
        if sample_weight is not None:
            X, y, weights = weigh_examples(X, y, sample_weight, classes)
        n_threads = self._count_threads()
        with ThreadPoolExecutor(n_threads) if n_threads > 1 else nullcontext() as pool:
            # bin the examples
            training_set: BinnedTrainingSet | TreeTrainingSet | EstimatorTrainingSet
            earlier: list[Any] = []
            if self.estimator is None:
                if shape is not None:
                    shape.check_examples(y.size)
                binned = bin_examples(
                    X,
                    y == classes[1],
                    weights.of_each,
                    max_bins,
                    integer_weights=weights.integer_weights,
                    pool=pool,
                    n_shares=n_threads,
                )
                if shape is None or shape.is_stump:
                    training_set = binned
                    earlier = binned.to_bins(self.stumps_) if goes_on else []
                else:
                    training_set = TreeTrainingSet(binned, shape)
                    earlier = training_set.to_bins(self.trees_) if goes_on else []
            else:
                if goes_on:
                    earlier = self.estimators_
                seeds = draw_seeds(self.random_state, used=len(earlier))
                training_set = EstimatorTrainingSet(self.estimator, X, y, classes, *weights, seeds)
            # weigh them, choose a hypothesis, move them; and again
            chips = self._start(training_set)
            rounds = self._play(chips, earlier, n_estimators)
        self.ended_early_ = len(rounds) < n_estimators and not chips.finished
        if self.ended_early_:
            warnings.warn(
                f"no weak hypothesis had a positive edge in round {len(rounds) + 1}: the fit ended "
                f"after {len(rounds)} of {n_estimators} rounds",
                NoEdgeWarning,
                stacklevel=3,
            )
        # keep what predictions and certificates need
        self.classes_ = classes
        self.n_iter_ = len(rounds)
        self.estimator_weights_ = _column(rounds, "vote_weight")
        self.history_ = {name: _column(rounds, name) for name in COLUMNS}
        self._margins = chips.margins() if rounds else None
        hypotheses = [each.hypothesis for each in rounds]
        self.stumps_, self.trees_ = Stumps.none(), NO_TREES
        self.__dict__.pop("estimators_", None)  # of an earlier fit
        if isinstance(training_set, BinnedTrainingSet):
            self.stumps_ = training_set.to_values(hypotheses)
        elif isinstance(training_set, TreeTrainingSet):
            self.trees_ = training_set.to_values(hypotheses)
        else:
            self.estimators_ = hypotheses
        self._add_up()

    def _play(self, chips: Chips, earlier: list[Any], n_rounds: int) -> list[Round]:
        """Replay the earlier rounds, then play until no hypothesis has an edge."""
        bar = progress("boosting", n_rounds) if self.verbose else nullcontext(_no_progress)
        with bar as advance:
            rounds = replay(chips, earlier, self.history_) if earlier else []
            advance(len(rounds))
            while len(rounds) < n_rounds and not chips.finished:
                edge, hypothesis = chips.choose()
                if edge <= 0:
                    break
                vote = chips.move(hypothesis, edge)
                rounds.append(
                    Round(hypothesis, edge, vote, chips.zero_fraction, chips.training_error)
                )
                advance(1)
        return rounds

    def _add_up(self) -> None:
        """Build the tables that predictions read."""
        self._tables = None
        if self.trees_.n_nodes.size:
            self._tables = TreeModel(self.trees_, self.estimator_weights_, self.n_features_in_)
        elif not hasattr(self, "estimators_"):
            self._tables = self.stumps_.add_up(
                self.estimator_weights_, n_features=self.n_features_in_
            )

    def _tree_shape(self) -> TreeShape | None:
        """Return the shape of the weak hypotheses, checked; None for that of the default stump."""
        settings = {name: getattr(self, name) for name in DEFAULTS}
        if repr(settings) == repr(DEFAULTS):  # True, 1 and 1.0 differ
            return None
        shape = TreeShape(**settings)
        if self.estimator is not None:
            raise ValueError(
                "max_depth, max_leaves, min_samples_leaf and criterion are for the built-in trees; "
                f"got {shape} beside estimator={self.estimator!r}"
            )
        return shape

    def _binding_settings(self) -> dict[str, Any]:
        """Return the settings that the rounds played depend on."""
        settings = self.get_params(deep=False)
        return {name: value for name, value in settings.items() if name not in _FREE}

    def _check_input(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        return validate_data(self, X, y, reset=reset, **INPUT)

    def _count_threads(self) -> int:
        """Return the number of threads, checked."""
        n_jobs: Any = self.n_jobs
        if n_jobs is not None and not isinstance(n_jobs, numbers.Integral):
            raise ValueError(f"n_jobs must be an integer or None; got {n_jobs!r}")
        return count_threads(None if n_jobs is None else int(n_jobs))

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


def _two_classes(y: Array) -> Array:
    """Return the two labels in order; raise ValueError if there are fewer or more."""
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y must hold two classes; got one class only: {classes.tolist()}")
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y holds {classes.size} classes. sklearn.multiclass.OneVsRestClassifier makes one "
            "booster for each."
        )
    return classes


def _column(rounds: list[Round], name: str) -> FloatArray:
    """Return one number of every round."""
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)


def _no_progress(steps: int) -> None:
    """Show nothing."""
