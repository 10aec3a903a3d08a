"""The rounds of boosting: bin the examples, then weigh them, choose a hypothesis and move them.

Weights are integers in fixed point. The binary point is chosen in each round so that their sum is
just below 2**62. Sums of them are exact, and so is every comparison between hypotheses: neither the
order of the examples nor the number of threads changes a bit.
"""

from __future__ import annotations

import numbers
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_X_y, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from driftgames._kernels.sums import dot
from driftgames.boosting.additive import AdditiveModel
from driftgames.boosting.binned_training_set import BinnedTrainingSet, bin_examples
from driftgames.boosting.bins import Array
from driftgames.boosting.categories import CategoryEncoder
from driftgames.boosting.cuts import MOST_BINS
from driftgames.boosting.frames import Categories, check_types, code_columns, find_categories
from driftgames.boosting.history import COLUMNS, History, Round
from driftgames.boosting.pair_model import PairModel
from driftgames.boosting.pair_training_set import (
    EstimatorPairs,
    PairCounts,
    TreePairs,
)
from driftgames.boosting.parameters import SharedParameters
from driftgames.boosting.sample_weights import SampleWeights, weigh_examples
from driftgames.boosting.sparse_input import check_sparse
from driftgames.boosting.stump_kernels import scale_weights
from driftgames.boosting.stumps import Stumps
from driftgames.boosting.training_set import EstimatorTrainingSet, TrainingSet, draw_seeds
from driftgames.boosting.tree_growth import DEFAULTS, TreeShape
from driftgames.boosting.tree_model import TreeModel
from driftgames.boosting.tree_training_set import TreeTrainingSet
from driftgames.boosting.trees import NO_TREES, Trees
from driftgames.boosting.warm_start import (
    check_categories,
    check_continuation,
    check_names,
    replay,
)
from driftgames.certificates.margins import Margins
from driftgames.core.checks import check_integer, float_errors
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

BATCH_ROWS = 65_536
"""The number of rows that `fit_batches` works on at a time."""

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


Watch = Callable[[Chips, list[Round]], None]
"""Is called after every round with the examples and the rounds so far."""


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
        if isinstance(self._counts, PairCounts):
            return self._counts.error
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
    encoder_: CategoryEncoder | None = None  # where there are no categories
    history_: History
    _margins: Margins | None  # None after no round
    _tables: AdditiveModel | TreeModel | PairModel | None  # None after a fit with an `estimator`

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
            NaN is a missing value. Sparse matrices stay sparse. A data frame may have columns
            of categories; see ``categorical_features``.
        y : array, shape (n_samples,)
            Labels of two values or more.
        sample_weight : array, shape (n_samples,), optional
            A prior over the examples; an example of weight 2 counts as two.

        Returns
        -------
        self
            An error or an interruption leaves the booster as it was.
        """
        with self._kept_on_error():
            n_estimators, max_bins, shape, goes_on = self._check_settings()
            X, y, categories = self._check_examples(X, y, reset=not goes_on)
            classes = _find_classes(y)
            if goes_on:
                check_continuation(self, classes, n_estimators)
            weights = SampleWeights(np.ones(y.size, dtype=np.int64), integer_weights=True)
            if sample_weight is not None:
                with float_errors("sample_weight"):
                    X, y, weights = weigh_examples(X, y, sample_weight, classes)
            labels = np.searchsorted(classes, y)
            encoder = None
            if categories is not None:
                grows = self.estimator is None and shape is not None and not shape.is_stump
                encoder, X = CategoryEncoder.learn(X, categories, labels, weights, ranked=grows)
            if goes_on:
                check_categories(self, encoder)
            self.encoder_ = encoder
            X = self._expand(X, self.estimator)
            with self._threads() as (pool, n_threads):
                # bin the examples
                training_set: TrainingSet
                earlier: list[Any] = []
                if self.estimator is None:
                    binned = bin_examples(
                        X,
                        labels == 1 if classes.size == 2 else np.zeros(y.size, dtype=bool),
                        weights.of_each,
                        max_bins,
                        integer_weights=weights.integer_weights,
                        pool=pool,
                        n_shares=n_threads,
                    )
                    training_set, earlier = self._on_bins(
                        binned, shape, labels, classes.size, goes_on=goes_on
                    )
                else:
                    if goes_on:
                        earlier = self.estimators_
                    seeds = draw_seeds(self.random_state, used=len(earlier))
                    if classes.size == 2:
                        training_set = EstimatorTrainingSet(
                            self.estimator, X, y, classes, *weights, seeds
                        )
                    else:
                        training_set = EstimatorPairs(
                            self.estimator, X, labels, classes.size, *weights, seeds
                        )
                self._boost(training_set, classes, earlier, n_estimators)
        return self

    def fit_batches(
        self,
        source: Any,
        *,
        label: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002  # pyarrow's word
        batch_rows: int = BATCH_ROWS,
    ) -> Self:
        """Fit the booster to examples that come in batches, and need not fit in memory.

        The model is that of `fit` on all rows, to the bit, for any size and order of the batches.
        The source is read twice: once for the cuts, once for the bins, two bytes for each value. A
        source with sample weights is read once more before that. docs/scale.md has figures.

        Parameters
        ----------
        source : function, list, str, pyarrow Dataset or polars LazyFrame
            A function that returns an iterator over batches, or a list of batches. A batch is
            ``(X, y)`` or ``(X, y, sample_weight)``, of what `fit` takes, memory maps or names of
            ``.npy`` files. Or parquet files: a name, a pattern such as ``"data/*.parquet"`` or a
            list of names.
        label, weight : str, optional
            The columns of the labels and of the sample weights, in parquet files, a Dataset or a
            LazyFrame.
        columns : list of str, optional
            The columns of the features. Default: all others.
        filter : expression, optional
            The rows to take: an expression of pyarrow, or of polars for a LazyFrame.
        batch_rows : int
            The largest number of rows that are worked on at a time.

        Returns
        -------
        self
            An error or an interruption leaves the booster as it was.
        """
        from driftgames.boosting.batches import BatchReader
        from driftgames.boosting.sources import open_source

        batch_rows = check_integer("batch_rows", batch_rows, least=1)
        with self._kept_on_error():
            n_estimators, max_bins, shape, goes_on = self._check_settings()
            if self.estimator is not None:
                raise ValueError(
                    "fit_batches is for the built-in stumps and trees; "
                    f"got estimator={self.estimator!r}"
                )
            opened = open_source(
                source,
                label=label,
                weight=weight,
                columns=columns,
                filter=filter,
                batch_rows=batch_rows,
            )
            if goes_on:
                check_categories(self, None)
            self.encoder_ = None
            if opened.names is not None and goes_on:
                check_names(self.__dict__.pop("feature_names_in_", None), opened.names)
            reader = BatchReader(
                opened,
                lambda X, y, first: self._check_input(X, y, reset=first and not goes_on),
                two_classes,
                show=bool(self.verbose),
            )
            classes, cuts = reader.summarise(max_bins)
            if goes_on:
                check_continuation(self, classes, n_estimators)
            with self._threads() as (pool, n_threads):
                binned = reader.bin(classes, cuts, pool=pool, n_shares=n_threads)
                training_set, earlier = self._on_bins(binned, shape, goes_on=goes_on)
                self._boost(training_set, classes, earlier, n_estimators)
            if opened.names is not None:
                self.feature_names_in_ = np.array(opened.names, dtype=object)
        return self

    @contextmanager
    def _kept_on_error(self) -> Iterator[None]:
        """Bring the booster back to what it was if there is an error or an interruption."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    @contextmanager
    def _threads(self) -> Iterator[tuple[ThreadPoolExecutor | None, int]]:
        """Give a pool of threads, or None for one thread, and their number."""
        n_threads = self._count_threads()
        with ThreadPoolExecutor(n_threads) if n_threads > 1 else nullcontext() as pool:
            yield pool, n_threads

    def _check_settings(self) -> tuple[int, int, TreeShape | None, bool]:
        """Return the rounds, the bins, the shape of trees, and whether an earlier fit goes on."""
        n_estimators = check_integer("n_estimators", self.n_estimators, least=1)
        max_bins = check_integer("max_bins", self.max_bins, least=2)
        if max_bins > MOST_BINS:
            raise ValueError(f"max_bins must be at most {MOST_BINS}; got {max_bins}")
        goes_on = bool(self.warm_start and self.__sklearn_is_fitted__())
        return n_estimators, max_bins, self._tree_shape(), goes_on

    def _on_bins(
        self,
        binned: BinnedTrainingSet,
        shape: TreeShape | None,
        labels: IntArray | None = None,
        n_classes: int = 2,
        *,
        goes_on: bool,
    ) -> tuple[BinnedTrainingSet | TreeTrainingSet | TreePairs, list[Any]]:
        """Return the training set of stumps or trees, and the hypotheses of an earlier fit.

        ``labels``, which number the classes, are needed for more than two.
        """
        if shape is not None:
            shape.check_examples(binned.n_rows)
        if n_classes > 2:
            assert labels is not None
            pairs = TreePairs(binned, labels, n_classes, shape or TreeShape())
            return pairs, pairs.to_bins(self.trees_) if goes_on else []
        if shape is None or shape.is_stump:
            return binned, binned.to_bins(self.stumps_) if goes_on else []
        of_trees = TreeTrainingSet(binned, shape)
        return of_trees, of_trees.to_bins(self.trees_) if goes_on else []

    def _boost(
        self,
        training_set: TrainingSet,
        classes: Array,
        earlier: list[Any],
        n_estimators: int,
        watch: Watch | None = None,
    ) -> None:
        """Weigh the examples, choose a hypothesis, move them; and again."""
        self._settings = self._binding_settings()
        chips = self._start(training_set)
        rounds = self._play(chips, earlier, n_estimators, watch)
        self.ended_early_ = len(rounds) < n_estimators and not chips.finished
        if self.ended_early_:
            warnings.warn(
                f"no weak hypothesis had a positive edge in round {len(rounds) + 1}: the fit ended "
                f"after {len(rounds)} of {n_estimators} rounds",
                NoEdgeWarning,
                stacklevel=3,
            )
        self._keep(training_set, classes, chips, rounds)

    def _keep(
        self, training_set: TrainingSet, classes: Array, chips: Chips, rounds: list[Round]
    ) -> None:
        """Keep what predictions and certificates need."""
        self.classes_ = classes
        self.n_iter_ = len(rounds)
        self.estimator_weights_ = _column(rounds, "vote_weight")
        self.history_ = {name: _column(rounds, name) for name in COLUMNS}
        self._margins = chips.margins() if rounds else None
        self.stumps_, self.trees_ = Stumps.none(), NO_TREES
        self.__dict__.pop("estimators_", None)  # of an earlier fit
        chosen = training_set.to_values([each.hypothesis for each in rounds])
        if isinstance(chosen, Stumps):
            self.stumps_ = chosen
        elif isinstance(chosen, Trees):
            self.trees_ = chosen
        else:
            self.estimators_ = chosen
        self._add_up()

    def _play(
        self, chips: Chips, earlier: list[Any], n_rounds: int, watch: Watch | None
    ) -> list[Round]:
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
                if watch is not None:
                    watch(chips, rounds)
        return rounds

    def _add_up(self) -> None:
        """Build the tables that predictions read."""
        self._tables = None
        if self.classes_.size > 2 and not hasattr(self, "estimators_"):
            self._tables = PairModel(
                self.trees_, self.estimator_weights_, self._n_columns, self.classes_.size
            )
        elif self.trees_.n_nodes.size:
            self._tables = TreeModel(self.trees_, self.estimator_weights_, self._n_columns)
        elif not hasattr(self, "estimators_"):
            self._tables = self.stumps_.add_up(self.estimator_weights_, n_features=self._n_columns)

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
        if isinstance(settings["categorical_features"], np.ndarray):
            settings["categorical_features"] = settings["categorical_features"].tolist()
        return {name: value for name, value in settings.items() if name not in _FREE}

    def _check_input(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        """Return examples to predict, as the columns that the weak hypotheses ask about."""
        if reset or self.encoder_ is None:
            check_types(X, None)
            return self._validate(X, y, reset=reset)
        validate_data(self, X, reset=False, skip_check_array=True)  # names, number of columns
        check_types(X, [feature is not None for feature in self.encoder_.features])
        return self._encode(X)

    def _validate(self, X: Any, y: Any, *, reset: bool) -> Any:
        if issparse(X):
            check_sparse(X)
        with float_errors("X and y"):
            return validate_data(self, X, y, reset=reset, **INPUT)

    def _encode(self, X: Any) -> Any:
        """Do the same as `_check_input` without a look at the names of columns."""
        if self.encoder_ is not None:
            X, _ = code_columns(X, self.encoder_.categories)
        estimators = getattr(self, "estimators_", None)
        return self._expand(check_array(X, **INPUT), estimators[0] if estimators else None)

    def _check_examples(
        self, X: Any, y: Any, *, reset: bool
    ) -> tuple[Any, Array, tuple[Categories | None, ...] | None]:
        """Return the examples of a fit, categories as codes, and the categories if there are any.

        `frames.code_columns` says what the codes are.
        """
        setting, categorical = self.categorical_features, None
        by_type = isinstance(setting, str) and setting == "from_dtype"
        if not (by_type and isinstance(X, np.ndarray)):  # an array has one type
            categorical = find_categories(X, setting)
            check_types(X, categorical)
        if categorical is None:
            return *self._validate(X, y, reset=reset), None
        validate_data(self, X, reset=reset, skip_check_array=True)  # names, number of columns
        codes, categories = code_columns(X, (None,) * categorical.size, learn=categorical)
        return *check_X_y(codes, y, estimator=self, **INPUT), categories

    def _expand(self, X: Any, estimator: Any) -> Any:
        """Return the columns of the weak hypotheses; an ``estimator`` may want them dense."""
        if self.encoder_ is None:
            return X
        columns = self.encoder_.expand(X)
        sparse = estimator is None or get_tags(estimator).input_tags.sparse
        return columns if sparse or not issparse(columns) else columns.toarray()

    @property
    def _n_columns(self) -> int:
        """The number of columns that the weak hypotheses ask about."""
        return int(self.n_features_in_ if self.encoder_ is None else self.encoder_.n_columns)

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
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        if self.estimator is not None:
            own = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


def _find_classes(y: Array) -> Array:
    """Return the labels in order; raise ValueError if there are fewer than two."""
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y must hold two classes or more; got one class only: {classes.tolist()}")
    return classes


def two_classes(y: Array) -> Array:
    """Return the two labels in order; raise ValueError if there are fewer or more."""
    classes = _find_classes(y)
    if classes.size > 2:
        raise ValueError(f"y must hold two classes in batches; got {classes.size} classes")
    return classes


def _column(rounds: list[Round], name: str) -> FloatArray:
    """Return one number of every round."""
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)


def _no_progress(steps: int) -> None:
    """Show nothing."""
