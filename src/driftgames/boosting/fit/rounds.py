"""The rounds of boosting: bin the examples, then weigh them, choose a hypothesis and move them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet, bin_examples
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.categories import CategoryEncoder
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.data.sample_weights import (
    SampleWeights,
    check_weights,
    weigh_classes,
    weigh_examples,
)
from driftgames.boosting.estimators.booster_input import BoosterInput, find_classes
from driftgames.boosting.fit.calibration import Calibration, CrossFit, cross_fit_here, stages_of
from driftgames.boosting.fit.monitoring import Callback, EvaluationSet, Stopping, Watch, name_sets
from driftgames.boosting.fit.warm_start import check_categories, check_continuation, replay
from driftgames.boosting.growth.estimator_training_set import (
    EstimatorPairs,
    EstimatorTrainingSet,
    draw_seeds,
)
from driftgames.boosting.growth.pair_training_set import TreePairs
from driftgames.boosting.growth.training_set import TrainingSet
from driftgames.boosting.growth.tree_growth import TreeGrower, TreeShape
from driftgames.boosting.model.additive import AdditiveModel
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.tree_model import PairModel, TreeModel
from driftgames.boosting.model.trees import NO_TREES, Trees
from driftgames.boosting.weights.example_chips import COLUMNS, ExampleChips, History, Round
from driftgames.certificates.margins import Margins
from driftgames.core.checks import check_flag, float_errors, shown
from driftgames.core.progress import progress
from driftgames.core.typing import FloatArray, IntArray


class NoEdgeWarning(UserWarning):
    """A fit ended early because no weak hypothesis had a positive edge."""


class BoostingRounds(BoosterInput):
    """A classifier that is fitted in rounds; `BaseBooster` adds its predictions."""

    stumps_: Stumps
    trees_: Trees
    estimators_: list[Any]
    history_: History
    n_iter_: int
    ended_early_: bool
    estimator_weights_: FloatArray
    evals_result_: dict[str, dict[str, FloatArray]]
    calibration_: Calibration | None
    _default_vote: FloatArray  # one for two classes, else one for each
    _margins: Margins | None  # None after no round
    _margins_after: dict[int, Margins]  # during a fit, after the rounds to choose from
    _tables: AdditiveModel | TreeModel | PairModel | None  # None after a fit with an `estimator`

    @abstractmethod
    def _start(self, training_set: TrainingSet) -> ExampleChips:
        """Return the examples as chips before the first round."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> Self:
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
        eval_set : pair (X, y) or list of such pairs, optional
            Examples on which each round is evaluated: ``evals_result_[name]`` has the
            ``log_loss`` and the ``error`` after each.
        eval_names : list of str, optional
            Their names. Default: ``valid_0``, ``valid_1`` and so on.
        callbacks : list of callables
            Each is called after a round with its number and a `Stage`. The fit stops where one
            returns True.

        Returns
        -------
        self
            An error or an interruption leaves the booster as it was.
        """
        with self._kept_on_error():
            n_estimators, max_bins, shape, goes_on = self._check_settings()
            pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
            X, y, categories = self._check_examples(X, y, reset=not goes_on)
            classes = find_classes(y)
            if goes_on:
                check_continuation(self, classes, n_estimators)
            given: tuple[Any, Array, FloatArray | None] = X, y, None
            weights = SampleWeights(np.ones(y.size, dtype=np.int64), integer_weights=True)
            if sample_weight is not None or self.class_weight is not None:
                with float_errors("sample_weight"):
                    given = X, y, check_weights(sample_weight, X, y, classes)
                weighed = weigh_classes(self.class_weight, y, classes, given[2])
                X, y, weights = weigh_examples(X, y, weighed)
            # hold out the examples that tell when to stop
            stopping = Stopping.of(self, y.size) if self.early_stopping else None
            unseen = None
            if stopping is not None and not pairs and stopping.validation_fraction is not None:
                held = stopping.hold_out(hash_rows(X), y, weights.of_each, classes)
                unseen = X[held], y[held], weights.of_each[held]
                X, y = X[~held], y[~held]
                weights = weights._replace(of_each=weights.of_each[~held])
            labels = np.searchsorted(classes, y)
            encoder = None
            if categories is not None:
                grows = self.estimator is None and shape is not None and not shape.is_stump
                encoder, X = CategoryEncoder.learn(X, categories, labels, weights, ranked=grows)
                if unseen is not None:
                    unseen = encoder.recode(unseen[0], categories), *unseen[1:]
            if goes_on:
                check_categories(self, encoder)
            self.encoder_ = encoder
            X = self._expand(X, self.estimator)
            if unseen is not None:
                unseen = self._expand(unseen[0], self.estimator), *unseen[1:]
            elif stopping is not None:
                unseen = X, y, weights.of_each
            watch = self._watch(pairs, classes, callbacks, stopping, unseen)
            names = getattr(self, "feature_names_in_", None)
            monotonic = self._directions(names, classes.size)
            with self._threads() as (pool, n_threads):
                # bin the examples
                training_set: TrainingSet
                if self.estimator is None:
                    binned = bin_examples(
                        X,
                        labels == 1 if classes.size == 2 else np.zeros(y.size, dtype=bool),
                        weights.of_each,
                        max_bins,
                        integer_weights=weights.integer_weights,
                        monotonic=monotonic,
                        pool=pool,
                        n_shares=n_threads,
                    )
                    training_set = self._on_bins(binned, shape, labels, classes.size)
                else:
                    seeds = draw_seeds(self.random_state, used=self.n_iter_ if goes_on else 0)
                    if classes.size == 2:
                        training_set = EstimatorTrainingSet(
                            self.estimator, X, y, classes, *weights, seeds
                        )
                    else:
                        training_set = EstimatorPairs(
                            self.estimator, X, labels, classes.size, *weights, seeds
                        )
                self._boost(training_set, classes, n_estimators, watch, goes_on=goes_on)
            if self._cross_fits:
                self._settle(cross_fit_here(self, *given, categories, self._stages))
        return self

    @property
    def _cross_fits(self) -> bool:
        """Whether votes on examples held out calibrate the booster or choose its rounds."""
        return check_flag("calibrate", self.calibrate) or self.early_stopping == "cv"

    @property
    def _stages(self) -> list[int]:
        """The numbers of rounds to choose from, after a fit of all."""
        return sorted(getattr(self, "_margins_after", ())) or [self.n_iter_]

    def _settle(self, found: CrossFit) -> None:
        """Keep the calibration, and no more rounds than were chosen."""
        n, margins = found.n_rounds, self.__dict__.pop("_margins_after", {})
        if n < self.n_iter_:
            self.n_iter_ = n
            self.estimator_weights_ = self.estimator_weights_[:n]
            self.history_ = {name: column[:n] for name, column in self.history_.items()}
            self._margins = margins[n]
            self.stumps_, self.trees_ = self.stumps_[:n], self.trees_[:n]
            if hasattr(self, "estimators_"):
                self.estimators_ = self.estimators_[:n]
            if hasattr(self, "evals_result_"):
                self.evals_result_ = {
                    name: {part: values[:n] for part, values in result.items()}
                    for name, result in self.evals_result_.items()
                }
            self.ended_early_ = False
            self._add_up()
        self.calibration_ = found.calibration if self.calibrate else None

    def _stops(self, pairs: dict[str, Any], n_examples: int) -> Stopping | None:
        """Return when a fit stops whose examples are not in memory."""
        stopping = Stopping.of(self, n_examples) if self.early_stopping else None
        if stopping is not None and not pairs and stopping.validation_fraction is None:
            raise ValueError(
                "validation_fraction must be a number, or there must be an eval_set, to stop early "
                "where the examples are not in memory; got None"
            )
        return stopping

    def _check_built_in(self, where: str) -> None:
        """Raise ValueError for another weak learner than stumps and trees."""
        if self.estimator is not None:
            raise ValueError(
                f"{where} is for the built-in stumps and trees; got estimator={self.estimator!r}"
            )

    @contextmanager
    def _kept_on_error(self) -> Iterator[None]:
        """Bring the booster back to what it was if there is an error or an interruption."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _on_bins(
        self,
        binned: BinnedTrainingSet,
        shape: TreeShape | None,
        labels: IntArray | None,
        n_classes: int,
    ) -> TrainingSet:
        """Return the training set of stumps or trees.

        ``labels``, which number the classes, are needed for more than two.
        """
        if shape is not None:
            shape = shape.fitted_to(n_classes, binned.n_rows)
        if n_classes > 2:
            assert labels is not None
            return TreePairs(binned, labels, n_classes, shape or TreeShape())
        return binned if shape is None or shape.is_stump else TreeGrower(binned, shape)

    def _boost(
        self,
        training_set: TrainingSet,
        classes: Array,
        n_estimators: int,
        watch: Watch | None = None,
        *,
        goes_on: bool = False,
    ) -> None:
        """Weigh the examples, choose a hypothesis, move them; and again."""
        earlier, lean = [], lean_of(training_set.masses)  # the vote if there is no round
        if goes_on and self.n_iter_:
            held = getattr(self, "estimators_", None) or self.trees_ or self.stumps_
            earlier = training_set.to_bins(held)
        self._settings = self._binding_settings()
        chips = self._start(training_set)
        self.classes_ = classes

        def model(rounds: list[Round]) -> Any:
            fitted = object.__new__(type(self))
            fitted.__dict__.update(self.__dict__)
            fitted.ended_early_ = False
            fitted._keep(training_set, chips, rounds, lean)
            return fitted

        rounds = self._play(chips, earlier, n_estimators, training_set, watch, model)
        self._keep(training_set, chips, rounds, lean)
        if self.trees_.n_nodes.size and not self.trees_.left.any():
            rounds = []  # constant votes for one class and the other
            self._keep(training_set, chips, rounds, lean)
        stopped = chips.finished or (watch is not None and watch.stopped)
        self.ended_early_ = len(rounds) < n_estimators and not stopped
        if self.ended_early_:
            message = (
                f"no weak hypothesis had a positive edge in round {len(rounds) + 1}: the fit ended "
                f"after {len(rounds)} of {n_estimators} rounds"
            )
            if not rounds:
                heavier = classes.tolist()[heaviest(lean)]
                message += f", and {heavier!r}, the class of most weight, is predicted everywhere"
            warnings.warn(message, NoEdgeWarning, stacklevel=3)
        for name in ("evals_result_", "validation_score_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if watch is not None and watch.sets:
            self.evals_result_ = {
                name: {part: np.array(values) for part, values in result.items()}
                for name, result in watch.evals_result.items()
            }
        if watch is not None and watch.stopping is not None:
            self.validation_score_ = np.array(watch.scores)

    def _keep(
        self, training_set: TrainingSet, chips: ExampleChips, rounds: list[Round], lean: FloatArray
    ) -> None:
        """Keep what predictions and certificates need of these rounds."""
        self.n_iter_ = len(rounds)
        self.estimator_weights_ = _column(rounds, "vote_weight")
        self.history_ = {name: _column(rounds, name) for name in COLUMNS}
        self._margins = chips.margins() if rounds else None
        self._default_vote = np.zeros_like(lean) if rounds else lean
        self.calibration_ = None
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

    def _watch(
        self,
        pairs: dict[str, tuple[Any, Any]],
        classes: Array,
        callbacks: Sequence[Callback],
        stopping: Stopping | None,
        unseen: tuple[Any, Array, IntArray] | None,
    ) -> Watch | None:
        """Return what follows a fit: the evaluation sets, checked, and when it stops.

        ``unseen`` are the examples that decide on it if there is no evaluation set. None if a fit
        has no evaluation set, no callback and no rule to stop.
        """
        if not (pairs or callbacks or stopping is not None):
            return None
        sets = {}
        for name, (X, y) in pairs.items():
            rows, labels = self._check_input(X), np.asarray(y)
            if labels.shape != (rows.shape[0],):
                raise ValueError(
                    f"{name} must have one label for each of its {rows.shape[0]} rows; got labels "
                    f"of shape {labels.shape}"
                )
            if not np.isin(labels, classes).all():
                strange = labels[~np.isin(labels, classes)].tolist()[0]
                raise ValueError(
                    f"{name} must hold the classes {classes.tolist()}; got {shown(strange)}"
                )
            sets[name] = EvaluationSet(rows, labels, classes)
        validation = None
        if stopping is not None:
            validation = next(iter(sets.values()), None)
            if validation is None and unseen is not None:
                X, y, masses = unseen
                validation = EvaluationSet(X, y, classes, masses)
        return Watch(sets, callbacks, stopping, validation)

    def _play(
        self,
        chips: ExampleChips,
        earlier: list[Any],
        n_rounds: int,
        training_set: TrainingSet,
        watch: Watch | None,
        model: Callable[[list[Round]], Any],
    ) -> list[Round]:
        """Replay the earlier rounds, then play until no hypothesis has an edge."""
        bar = progress("boosting", n_rounds) if self.verbose else nullcontext(_no_progress)
        rounds: list[Round] = []
        stages: set[int] = set()
        if self.early_stopping == "cv":
            stages = set(stages_of(n_rounds)) - set(range(len(earlier)))  # those of before stay
            self._margins_after = {}

        def see(played: Round, *, told: bool) -> None:
            rounds.append(played)
            if len(rounds) in stages:
                self._margins_after[len(rounds)] = chips.margins()
            if watch is not None:
                watch.see(
                    lambda: training_set.to_values([played.hypothesis]),
                    played,
                    lambda: model(rounds),
                    told=(len(rounds), n_rounds) if told else None,
                )

        with bar as advance:
            if watch is not None:
                watch.begin(lambda: model([]))
            for played in replay(chips, earlier, self.history_) if earlier else []:
                see(played, told=False)
            advance(len(rounds))
            while len(rounds) < n_rounds and not chips.finished:
                if watch is not None and watch.stopped:
                    break
                edge, hypothesis = chips.choose()
                if edge <= 0:
                    break
                vote = chips.move(hypothesis, edge)
                see(
                    Round(hypothesis, edge, vote, chips.zero_fraction, chips.training_error),
                    told=True,
                )
                advance(1)
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


def lean_of(held: Sequence[int]) -> FloatArray:
    """Return the vote where no hypothesis votes, from the mass of each class.

    For two classes it is the share of class 1 less that of class 0, for more twice the share of
    each class less 1.
    """
    if len(held) == 2:
        return np.array([(held[1] - held[0]) / sum(held)])
    return np.array([2 * each / sum(held) - 1 for each in held])


def heaviest(lean: FloatArray) -> int:
    """Return the number of the class that `lean_of` votes for."""
    return int(lean[0] > 0) if lean.size == 1 else int(lean.argmax())


def _column(rounds: list[Round], name: str) -> FloatArray:
    """Return one number of every round."""
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)


def _no_progress(steps: int) -> None:
    """Show nothing."""
