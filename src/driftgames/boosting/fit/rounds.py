"""The rounds of boosting: bin the examples, then weigh them, choose a hypothesis and move them."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.data.sample_weights import (
    SampleWeights,
    check_weights,
    weigh_classes,
    weigh_examples,
)
from driftgames.boosting.face.booster_input import BoosterInput, Settings, find_classes
from driftgames.boosting.face.input_checks import (
    check_examples,
    check_labels,
    check_rows,
    count_threads,
    encode_rows,
    open_threads,
)
from driftgames.boosting.fit import calibration
from driftgames.boosting.fit.averaging import average
from driftgames.boosting.fit.calibration import (
    CrossFit,
    RowKeys,
    cross_fit_here,
    deal_folds,
    judge_votes,
    stages_of,
)
from driftgames.boosting.fit.choosing import SizeRace, choose_size
from driftgames.boosting.fit.folds import play_folds
from driftgames.boosting.fit.monitoring import Callback, EvaluationSet, Stopping, Watch, name_sets
from driftgames.boosting.fit.race import STAGES
from driftgames.boosting.fit.training_rows import FoldRows, TrainingRows
from driftgames.boosting.fit.warm_start import check_categories, check_continuation, replay
from driftgames.boosting.growth.estimator_training_set import (
    EstimatorPairs,
    EstimatorTrainingSet,
    draw_seeds,
)
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.growth.tree_training_set import grow_on
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel, expand_for
from driftgames.boosting.model.training_record import (
    COLUMNS,
    Fitted,
    TrainingRecord,
    vote_by_mass,
)
from driftgames.boosting.model.trees import Trees
from driftgames.boosting.weights.example_chips import ExampleChips, Round
from driftgames.certificates.margins import Margins
from driftgames.core.checks import check_flag, float_errors, shown, unmask
from driftgames.core.progress import progress
from driftgames.core.typing import FloatArray, IntArray

_FEW_CODES = 4_000_000  # the least number of bins listed by rows for which a second thread helps
_SECONDS = 0.05  # how long a compiled call plays rounds before it looks at the keyboard


FEW_BINS = 64
"""The number of bins for few examples where a size is chosen: a trial is faster then."""

USUAL_ROUNDS = 200
"""The number of rounds where none can be chosen."""


class Plan(NamedTuple):
    """What a fit chooses and what it plays."""

    n_rounds: int | None
    """The number of rounds; None if it is chosen."""
    shape: TreeShape
    chooses: bool
    """Whether folds race: they choose a size, or their mean is the model."""
    averages: bool
    """Whether the model is the mean of the boosters of the folds."""
    is_watched: bool
    """Whether something follows the rounds, and may stop them."""
    goes_on: bool

    def usual_bins(self, n_examples: int) -> int:
        """Return the number of bins where none is given."""
        return FEW_BINS if self.chooses and n_examples < calibration.SMALL else MOST_BINS


class NoEdgeWarning(UserWarning):
    """A fit ended early because no weak hypothesis had a positive edge."""


class BoostingRounds(BoosterInput):
    """A classifier that is fitted in rounds; `BaseBooster` adds its predictions."""

    @abstractmethod
    def _start(self, training_set: TrainingSet, n_rounds: int) -> ExampleChips:
        """Return the examples as chips before the first of up to ``n_rounds`` rounds."""

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
        settings = self._check_settings()
        goes_on = settings.goes_on
        pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
        noted = self._twin(self._fitted if goes_on else None)
        X, y, categories = check_examples(noted, X, y, reset=not goes_on)
        classes = find_classes(y)
        if goes_on:
            check_continuation(self, classes, settings.n_estimators)
        given: tuple[Any, Array, FloatArray | None] = X, y, None
        weights = SampleWeights(np.ones(y.size, dtype=np.int64), integer_weights=True)
        if sample_weight is not None or self.class_weight is not None:
            with float_errors("sample_weight"):
                given = X, y, check_weights(sample_weight, X, y, classes)
            weighed = weigh_classes(self.class_weight, y, classes, given[2])
            X, y, weights = weigh_examples(X, y, weighed)
        prior = None if given[2] is None else given[2][given[2] > 0]
        # hold out the examples that tell when to stop
        stopping = Stopping.of(self, y.size) if self.early_stopping else None
        unseen = None
        if stopping is not None and not pairs and stopping.validation_fraction is not None:
            held = stopping.hold_out(hash_rows(X), y, weights.of_each, classes)
            unseen = X[held], y[held], weights.of_each[held]
            X, y = X[~held], y[~held]
            weights = weights._replace(of_each=weights.of_each[~held])
            prior = None if prior is None else prior[~held]
        labels = np.searchsorted(classes, y)

        def watch_with(encoder: CategoryEncoder | None) -> tuple[FittedModel, Watch | None]:
            if goes_on:
                check_categories(self, encoder)
            outline, rest = outline_of(noted, classes, encoder), unseen
            if encoder is not None:
                assert categories is not None
                rows = X if rest is None else rest[0]
                columns = self._expand(encoder, encoder.recode(rows, categories))
                rest = columns, *((y, weights.of_each) if rest is None else rest[1:])
            elif rest is None:
                rest = X, y, weights.of_each
            return outline, self._watch(noted, outline, pairs, callbacks, stopping, rest)

        with open_threads(self.n_jobs) as (pool, n_threads):
            if self.estimator is None:
                plan = self._plan(
                    settings, watched=bool(pairs or callbacks) or stopping is not None
                )
                rows = TrainingRows(
                    X,
                    labels,
                    weights,
                    categories,
                    classes.size,
                    settings.max_bins or plan.usual_bins(y.size),
                    lambda encoder: self._directions(outline_of(noted, classes, encoder)),
                    pool,
                    n_threads,
                )
                keys = None
                if plan.chooses or (self._cross_fits and categories is None and stopping is None):
                    keys = RowKeys(hash_rows(X), labels, prior)
                fitted, settled = self._fit_rows(
                    rows, labels, weights.of_each, plan, watch_with, keys, pool
                )
            else:
                settled = False
                encoder, columns = None, X
                if categories is not None:
                    encoder, X = CategoryEncoder.learn(X, categories, labels, weights, ranked=False)
                    columns = self._expand(encoder, X)
                outline, watch = watch_with(encoder)
                self._directions(outline)  # refused beside an estimator
                seeds = draw_seeds(self.random_state, used=self.n_iter_ if goes_on else 0)
                training_set: TrainingSet
                if classes.size == 2:
                    training_set = EstimatorTrainingSet(
                        self.estimator, columns, y, classes, *weights, seeds
                    )
                else:
                    training_set = EstimatorPairs(
                        self.estimator, columns, labels, classes.size, *weights, seeds
                    )
                n_rounds = settings.n_estimators or USUAL_ROUNDS
                fitted = self._boost(training_set, outline, n_rounds, watch, goes_on=goes_on)
        if self._cross_fits and not settled:
            found = cross_fit_here(self._twin(fitted), *given, categories, fitted.stages)
            fitted = self._settle(fitted, found)
        return self.adopt(*fitted)

    def _plan(self, settings: Settings, *, watched: bool) -> Plan:
        """Return what a fit chooses, and what it plays."""
        n_rounds, shape = settings.n_estimators, settings.shape
        chooses = (shape.is_open or n_rounds is None) and not settings.goes_on
        if n_rounds is None and (watched or self.early_stopping):
            n_rounds = STAGES[-1]
            chooses = shape.is_open
        averages = self.ensemble is True or (self.ensemble == "auto" and chooses)
        if watched or self.early_stopping or self.warm_start:
            if self.ensemble is True:
                raise ValueError(
                    "ensemble=True takes no eval_set, callbacks or early_stopping: the mean of "
                    "several boosters has no order of rounds"
                )
            averages = False
        return Plan(n_rounds, shape, chooses or averages, averages, watched, settings.goes_on)

    def _fit_rows(
        self,
        rows: FoldRows,
        labels: IntArray | None,
        masses: IntArray,
        plan: Plan,
        watch_with: Callable[[CategoryEncoder | None], tuple[FittedModel, Watch | None]],
        keys: RowKeys | None,
        pool: ThreadPoolExecutor | None,
    ) -> tuple[Fitted, bool]:
        """Fit trees to rows: choose their size if the plan says so, then boost, and calibrate.

        Return also whether that was done: no fold can be made where a class has one example.
        ``labels`` number the classes of the examples; they are needed for more than two.
        """
        race = None
        shape, n_rounds = plan.shape, plan.n_rounds
        if plan.chooses and keys is not None:
            race = self._race(rows, keys, plan, pool)
        if race is not None:
            shape, n_rounds = race.shape, plan.n_rounds or race.choice.n_estimators
            mean = race.mean() if plan.averages else None
            if mean is not None:
                outline, _ = watch_with(mean.entrants[0].encoders[0])
                given = race.dealt, masses, self.binding_settings(), race.choice
                fitted = average(mean, outline, *given)
                sigmoid = mean.calibration if self.calibrate else None
                return fitted.settled(fitted.model.n_rounds, sigmoid, race.held_out), True
        n_rounds = n_rounds or USUAL_ROUNDS
        encoder, binned = rows.coded(None, ranked=not shape.is_stump)
        outline, watch = watch_with(encoder)
        n_classes = outline.classes.size
        shape = shape.fitted_to(n_classes, binned.n_rows)
        several = None if labels is None or n_classes == 2 else labels
        start = partial(self._start, n_rounds=n_rounds)
        settings: dict[str, Any] = {"labels": several, "n_classes": n_classes, "pool": pool}
        dealt, waiting = None, []
        stages = stages_of(n_rounds) if self.early_stopping == "cv" else [n_rounds]
        calibrates = race is not None and not plan.is_watched  # the race has votes held out
        stops = watch is not None and watch.stopping is not None
        if not (calibrates or stops) and keys is not None and encoder is None and self._cross_fits:
            dealt = deal_folds(keys)
            if dealt.folds and watch is None:
                waiting = play_folds(binned, shape, dealt, start, stages, **settings)
        n_threads = 1 if pool is None else count_threads(self.n_jobs)
        if waiting or binned.bins.codes.size < _FEW_CODES:
            n_threads = 1
        training_set = grow_on(
            binned,
            shape,
            binned.sample_weights,
            labels=None if several is None else several[binned.order],
            n_classes=n_classes,
            n_threads=n_threads,
        )
        choice = self.record_.choice if plan.goes_on else None if race is None else race.choice
        fitted = self._boost(
            training_set, outline, n_rounds, watch, goes_on=plan.goes_on, choice=choice
        )
        known = fitted.stages
        if calibrates and race is not None and known == [race.choice.n_estimators]:
            found = CrossFit(race.calibration, race.held_out, n_rounds)
            return self._settle(fitted, found), True
        if dealt is None or not dealt.folds or fitted.model.n_rounds == 0:
            return fitted, False
        if not waiting or not set(known) <= set(stages):  # the fit ended before its last round
            stages = known
            waiting = play_folds(binned, shape, dealt, start, stages, **settings)
        taken = [k for k, stage in enumerate(stages) if stage in known]
        votes = [wait()[taken] for wait in waiting]
        return self._settle(fitted, judge_votes(dealt, votes, known)), True

    def _race(
        self, rows: FoldRows, keys: RowKeys, plan: Plan, pool: ThreadPoolExecutor | None
    ) -> SizeRace | None:
        """Let sizes race on folds; None where a class has one example, so that none is held out."""
        bar = progress("choosing a size", None) if self.verbose else nullcontext(_no_progress)
        with bar as advance:
            n_threads = 1 if pool is None else count_threads(self.n_jobs)
            stages = None if plan.is_watched else plan.n_rounds
            given = plan.shape, stages, self._start, pool, n_threads
            return choose_size(rows, keys, *given, advance)

    def _expand(self, encoder: CategoryEncoder, codes: FloatArray) -> Any:
        """Return the columns of codes that the weak learner is given."""
        return expand_for(None if self.estimator is None else [self.estimator], encoder, codes)

    @property
    def _cross_fits(self) -> bool:
        """Whether votes on examples held out calibrate the booster or choose its rounds."""
        return check_flag("calibrate", self.calibrate) or self.early_stopping == "cv"

    def _settle(self, fitted: Fitted, found: CrossFit) -> Fitted:
        """Return the rounds that cross-fitting chose, calibrated."""
        sigmoid = found.calibration if self.calibrate else None
        return fitted.settled(found.n_rounds, sigmoid, found.held_out)

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

    def _boost(
        self,
        training_set: TrainingSet,
        outline: FittedModel,
        n_estimators: int,
        watch: Watch | None = None,
        *,
        goes_on: bool = False,
        choice: Choice | None = None,
    ) -> Fitted:
        """Weigh the examples, choose a hypothesis, move them; and again.

        The model that comes out has the classes and the columns of the ``outline``.
        """
        earlier: list[Any] = []
        if goes_on and self.n_iter_:
            before = self.model_.estimators
            earlier = training_set.to_bins(self.model_.hypotheses if before is None else [*before])
        default_vote = vote_by_mass(training_set.masses)
        settings = self.binding_settings()
        chips = self._start(training_set, n_estimators)

        def fitted_to(rounds: list[Round], **results: Any) -> Fitted:
            chosen = training_set.to_values([each.hypothesis for each in rounds])
            model = replace(
                outline,
                hypotheses=tuple(chosen) if isinstance(chosen, list) else chosen,
                vote_weights=_column(rounds, "vote_weight"),
                default_vote=np.zeros_like(default_vote) if rounds else default_vote,
            )
            history = {name: _column(rounds, name) for name in COLUMNS}
            margins = chips.margins() if rounds else None
            record = TrainingRecord(history, margins, settings, choice=choice, **results)
            return Fitted(model, record)

        def stage(rounds: list[Round]) -> BoostingRounds:
            return self._twin(fitted_to(rounds))

        rounds, margins_after = self._play(chips, earlier, n_estimators, training_set, watch, stage)
        model, record = fitted_to(rounds)
        trees = model.hypotheses
        if rounds and isinstance(trees, Trees) and not trees.left.any():
            rounds = []  # constant votes for one class and the other
            model, record = fitted_to(rounds)
        stopped = chips.finished or (watch is not None and watch.stopped)
        ended_early = len(rounds) < n_estimators and not stopped
        if ended_early:
            message = (
                f"no weak hypothesis had a positive edge in round {len(rounds) + 1}: the fit ended "
                f"after {len(rounds)} of {n_estimators} rounds"
            )
            if not rounds:
                heavier = outline.classes.tolist()[heaviest(default_vote)]
                message += f", and {heavier!r}, the class of most weight, is predicted everywhere"
            warnings.warn(message, NoEdgeWarning, stacklevel=3)
        record = replace(record, ended_early=ended_early, margins_after=margins_after)
        if watch is not None:
            record = watch.complete(record)
        return Fitted(model, record)

    def _watch(
        self,
        noted: BoosterInput,
        outline: FittedModel,
        pairs: dict[str, tuple[Any, Any]],
        callbacks: Sequence[Callback],
        stopping: Stopping | None,
        unseen: tuple[Any, Array, IntArray] | None,
    ) -> Watch | None:
        """Return what follows a fit: the evaluation sets, checked, and when it stops.

        The columns of evaluation sets are compared with those that are ``noted``. ``unseen`` are
        the examples that decide on it if there is no evaluation set. None if a fit has no
        evaluation set, no callback and no rule to stop.
        """
        if not (pairs or callbacks or stopping is not None):
            return None
        sets, classes = {}, outline.classes
        for name, (X, y) in pairs.items():
            rows = check_rows(noted, X, outline.encoder)
            try:
                y = unmask("y", y)
                check_labels(y)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
            labels = np.asarray(y)
            if outline.encoder is not None:
                rows = encode_rows(outline, rows, self.estimator)
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
    ) -> tuple[list[Round], dict[int, Margins]]:
        """Replay the earlier rounds, then play until no hypothesis has an edge.

        Return the rounds, and the margins after the numbers of them to choose from.
        """
        bar = progress("boosting", n_rounds) if self.verbose else nullcontext(_no_progress)
        rounds: list[Round] = []
        stages: set[int] = set()
        if self.early_stopping == "cv":
            stages = set(stages_of(n_rounds)) - set(range(len(earlier)))  # those of before stay
        margins_after: dict[int, Margins] = {}

        def see(played: Round, *, told: bool) -> None:
            rounds.append(played)
            if len(rounds) in stages:
                margins_after[len(rounds)] = chips.margins()
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
            chunk, ended = 1, False
            while len(rounds) < n_rounds and not (chips.finished or ended):
                if watch is not None and watch.stopped:
                    break
                following = min((s for s in stages if s > len(rounds)), default=n_rounds)
                n_asked = 1 if watch is not None else min(chunk, following - len(rounds))
                begun = time.perf_counter()
                found = chips.play(n_asked)
                if time.perf_counter() - begun < _SECONDS:
                    chunk *= 2
                else:
                    chunk = max(chunk // 2, 1)
                ended = len(found) < n_asked
                for played in found:
                    see(played, told=True)
                advance(len(found))
        return rounds, margins_after


def outline_of(
    noted: BoosterInput, classes: Array, encoder: CategoryEncoder | None = None
) -> FittedModel:
    """Return a model of no rounds, with the columns that the checks noted on a booster."""
    names = getattr(noted, "feature_names_in_", None)
    return FittedModel(classes, noted.n_features_in_, feature_names=names, encoder=encoder)


def heaviest(vote: FloatArray) -> int:
    """Return the number of the class that `vote_by_mass` votes for."""
    return int(vote[0] > 0) if vote.size == 1 else int(vote.argmax())


def _column(rounds: list[Round], name: str) -> FloatArray:
    """Return one number of every round."""
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)


def _no_progress(steps: int) -> None:
    """Show nothing."""
