"""The steps of a fit, said once for examples in memory, in batches and on a cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np

from driftgames.boosting.engine.game import Round
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.choosing import choose_size, count_rounds, sample_rows
from driftgames.boosting.fit.folds import Folds, make_folds, play_folds
from driftgames.boosting.fit.job import Job, Plan, Stopping
from driftgames.boosting.fit.mean import average, mean_of
from driftgames.boosting.fit.race import Race
from driftgames.boosting.fit.source import LocalRows, Opened, Rows, Source, Threads
from driftgames.boosting.fit.watch import NO_WATCH, Follower, Watch
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.training_record import (
    COLUMNS,
    Fitted,
    TrainingRecord,
)
from driftgames.boosting.model.trees import Trees
from driftgames.core.progress import progress
from driftgames.core.threads import open_threads
from driftgames.core.typing import BoolArray, FloatArray

USUAL_ROUNDS = 200
"""The number of rounds where none can be chosen."""

MOST_WATCHED = 400
"""The most rounds of a fit that is watched and leaves their number open."""

MANY = 10_000
"""Above this number of examples ``early_stopping="auto"`` stops early, as in scikit-learn."""


class NoEdgeWarning(UserWarning):
    """A fit ended early because no weak hypothesis had a positive edge."""


def fit_booster(job: Job, source: Source, watch: Watch = NO_WATCH) -> Fitted:
    """Fit to examples in memory, in batches or on a cluster: the only order of steps."""
    plan = make_plan(job, source, watch)
    held_out = _choose_held_out(plan, source)
    with open_threads(job.n_jobs) as (pool, n_threads):
        threads = Threads(pool, n_threads)
        rows = source.rows(job, plan, held_out, threads)
        race = _race(job, plan, source, rows, held_out, threads) if plan.races else None
        if race is not None and plan.averages and (mean := mean_of(race)) is not None:
            joined = None if race.audition is None else race.audition.pairs
            empty = replace(source.columns, pairs=joined).empty_model(mean.encoder)
            fitted = average(mean, empty, source.masses(), job.settings, race.choice)
            return fitted.calibrated(mean.calibration if job.calibrate else None, race.held_out)
        shape, n_rounds, choice = job.shape, plan.n_rounds or USUAL_ROUNDS, None
        if race is not None:
            choice = race.choice
            n_rounds = plan.n_rounds or choice.n_estimators
            if shape.is_open:
                shape = replace(shape, max_leaves=choice.max_leaves)
        shape = shape.fitted_to(source.columns.n_leaf_classes, rows.n_rows)
        votes = _FoldVotes(job, plan, source, rows, shape, race, threads)
        with rows.open(job, shape, n_rounds, votes.begin(n_rounds)) as opened:
            follower = None
            if plan.is_watched:
                unseen = partial(source.unseen, held_out, opened.model.encoder)
                follower = watch.follow(opened.model, plan.stopping, unseen)
            fitted = boost(job, opened, n_rounds, follower, choice)
        return votes.calibrate(fitted)


def make_plan(job: Job, source: Source, watch: Watch) -> Plan:
    """Decide what a fit chooses, and what it plays."""
    stopping = job.stopping
    if stopping is not None and stopping.only_if_many and source.count() <= MANY:
        stopping = None
    is_watched = bool(watch.pairs or watch.callbacks) or stopping is not None
    one_booster = is_watched or job.stopping is not None  # its rounds have an order
    n_rounds = MOST_WATCHED if job.n_rounds is None and one_booster else job.n_rounds
    chooses = job.shape.is_open or n_rounds is None
    averages = _averages(job, source, chooses=chooses, one_booster=one_booster)
    return Plan(
        n_rounds=n_rounds,
        races=(chooses or averages) and source.races,
        averages=averages,
        pairs=averages and job.pairs and job.shape.is_open,
        max_bins=job.max_bins,
        stopping=stopping,
        is_watched=is_watched,
        holds_out=_holds_out(stopping, source, watch),
        folds_share_bins=source.folds_share_bins and stopping is None,
    )


def _averages(job: Job, source: Source, *, chooses: bool, one_booster: bool) -> bool:
    """Decide whether the model is the mean of fold boosters; refuse a mean that cannot be made."""
    if job.ensemble is None:
        return chooses and not source.no_means and not one_booster
    if job.ensemble and source.no_means:
        raise ValueError(f"ensemble=True needs folds, and {source.no_means}; got ensemble=True")
    if job.ensemble and one_booster:
        raise ValueError(
            "ensemble=True takes no eval_set, callbacks or early_stopping: the mean of several "
            "boosters has no order of rounds"
        )
    return job.ensemble


def _holds_out(stopping: Stopping | None, source: Source, watch: Watch) -> bool:
    """Decide whether examples are held out that tell when to stop."""
    if stopping is None or watch.pairs:
        return False
    if stopping.validation_fraction is None and not source.in_memory:
        raise ValueError(
            "validation_fraction must be a number, or there must be an eval_set, to stop early "
            "where the examples are not in memory; got None"
        )
    return stopping.validation_fraction is not None


def _choose_held_out(plan: Plan, source: Source) -> BoolArray | None:
    """Return which examples are held out to tell when to stop; None if there are none."""
    if plan.stopping is None or not plan.holds_out:
        return None
    keys = source.keys()
    return plan.stopping.choose_held_out(keys.hashes, keys.labels, source.masses())


def _race(
    job: Job,
    plan: Plan,
    source: Source,
    rows: Rows,
    held_out: BoolArray | None,
    threads: Threads,
) -> Race | None:
    """Let sizes race on folds; None where a class has one example, so that none is held out."""
    keys = source.keys()
    if held_out is not None:
        keys = keys.take(~held_out)
    if source.race_on_sample:
        some = sample_rows(keys)
        rows, keys = rows.take(some), keys.take(some)
    assert isinstance(rows, LocalRows)
    # the rounds of a watched fit end elsewhere: the race chooses leaves at its own best stage
    n_rounds = None if plan.is_watched else plan.n_rounds
    silent = nullcontext(lambda steps: None)
    most = count_rounds(job, rows, n_rounds)
    bar = progress("choosing a size", most, "rounds", at_most=True) if job.verbose else silent
    with bar as on_progress:
        race = choose_size(job, rows, keys, n_rounds, threads, on_progress, pairs=plan.pairs)
    if race is not None and source.race_on_sample:
        return replace(race, on_sample=True)
    return race


class _FoldVotes:
    """Votes of folds, which calibrate a booster that was fitted to all rows.

    They are those of the race, or of folds on the same bins as the fit (see
    `Plan.folds_share_bins`), or of folds that are fits of their own.
    """

    def __init__(
        self,
        job: Job,
        plan: Plan,
        source: Source,
        rows: Rows,
        shape: TreeShape,
        race: Race | None,
        threads: Threads,
    ) -> None:
        self._job, self._plan, self._source, self._rows = job, plan, source, rows
        self._shape, self._threads = shape, threads
        self._race = None if plan.is_watched else race
        self._pending: list[Callable[[], FloatArray]] = []
        self._n_rounds = 0
        self._folds: Folds | None = None
        if job.calibrate and plan.folds_share_bins and self._race is None:
            self._folds = make_folds(source.keys())

    def begin(self, n_rounds: int) -> Threads:
        """Begin to play folds beside the fit, if planned; return the threads left for it."""
        if self._folds is not None and not self._plan.is_watched:
            self._play(self._folds, n_rounds)
        return Threads(self._threads.pool, 1) if self._pending else self._threads

    def calibrate(self, fitted: Fitted) -> Fitted:
        """Return a booster with the sigmoid of these votes, and what they got wrong."""
        race, n_rounds, calibrates = self._race, fitted.model.n_rounds, self._job.calibrate
        if race is not None and race.is_of(fitted.model):
            return fitted.calibrated(race.calibration if calibrates else None, race.held_out)
        if not calibrates:
            return fitted
        if self._folds is not None and self._folds.numbers and n_rounds:
            if n_rounds != self._n_rounds:  # the fit ended before its last round, or was watched
                self._play(self._folds, n_rounds)
            return _calibrate(fitted, self._folds, [result() for result in self._pending])
        return self._refit(fitted)

    def _play(self, folds: Folds, n_rounds: int) -> None:
        """Begin to play folds on the bins of the fit, in other threads if there are any."""
        rows, shape = self._rows, self._shape
        assert isinstance(rows, LocalRows)
        _, binned = rows.coded(None, ranked=not shape.is_stump)
        learner = rows.columns.learner(binned, shape, rows.labels)

        self._n_rounds = n_rounds
        self._pending = play_folds(folds, learner, self._job.rule, n_rounds, self._threads.pool)

    def _refit(self, fitted: Fitted) -> Fitted:
        """Calibrate by folds that are fits of their own.

        Where a class has one example only, none of it can be held out: the votes on the training
        examples and the prior of the sigmoid have to do.
        """
        job, source, n_threads = self._job, self._source, self._threads.n_threads
        folds, model = make_folds(source.keys()), fitted.model
        if not folds.numbers or model.n_rounds == 0:
            every_example = np.ones(folds.fold_of.size, dtype=bool)
            training_votes = source.votes(model, every_example, n_threads)
            return fitted.calibrated(folds.outcomes.calibrate(training_votes), None)
        votes = []
        for fold in folds.numbers:
            held_out = folds.fold_of == fold
            n_examples = int(np.count_nonzero(~held_out))
            fold_job = job.for_fold(model.n_rounds, self._shape, n_examples)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the fit itself has said it
                of_fold = fit_booster(fold_job, source.select(~held_out))
            votes.append(source.votes(of_fold.model, held_out, n_threads))
        return _calibrate(fitted, folds, votes)


def _calibrate(fitted: Fitted, folds: Folds, votes_of_folds: list[FloatArray]) -> Fitted:
    """Return a booster with the sigmoid of the votes of folds, and what they got wrong."""
    votes = folds.join(votes_of_folds)
    calibration = folds.held_out_outcomes.calibrate(votes)
    return fitted.calibrated(calibration, folds.count(votes, calibration))


def boost(
    job: Job, opened: Opened, n_rounds: int, follower: Follower | None, choice: Choice | None
) -> Fitted:
    """Weigh the examples, choose a hypothesis, move them; and again. [LS14, Alg. 6]"""
    game, empty = opened
    default_vote = game.default_vote

    def fitted_to(rounds: list[Round]) -> Fitted:
        model = replace(
            empty,
            hypotheses=game.to_values(rounds),
            vote_weights=_column(rounds, "vote_weight"),
            default_vote=np.zeros_like(default_vote) if rounds else default_vote,
        )
        history = {name: _column(rounds, name) for name in COLUMNS}
        margins = game.margins() if rounds else None
        return Fitted(model, TrainingRecord(history, margins, job.settings, choice=choice))

    silent = nullcontext(lambda steps: None)
    bar = progress("boosting", n_rounds, "rounds") if job.verbose else silent
    with bar as advance:
        if follower is None:
            game.play_until(n_rounds, advance)
            rounds = game.rounds(0, game.n_rounds)
        else:
            rounds = _play_followed(opened, n_rounds, advance, follower, fitted_to)
    fitted = fitted_to(rounds)
    trees = fitted.model.hypotheses
    if rounds and isinstance(trees, Trees) and not trees.left.any():
        rounds = []  # constant votes for one class and the other
        fitted = fitted_to(rounds)
    stopped = game.finished or (follower is not None and follower.stopped)
    ended_early = len(rounds) < n_rounds and not stopped
    if ended_early:
        message = (
            f"no weak hypothesis had a positive edge in round {len(rounds) + 1}: the fit ended "
            f"after {len(rounds)} of {n_rounds} rounds"
        )
        if not rounds:
            heavier = empty.classes.tolist()[heaviest(default_vote)]
            message += f", and {heavier!r}, the class of most weight, is predicted everywhere"
        warnings.warn(message, NoEdgeWarning, stacklevel=4)
    record = replace(fitted.record, ended_early=ended_early)
    return Fitted(fitted.model, record if follower is None else follower.complete(record))


def _play_followed(
    opened: Opened,
    n_rounds: int,
    advance: Callable[[int], None],
    follower: Follower,
    fitted_to: Callable[[list[Round]], Fitted],
) -> list[Round]:
    """Play round by round; each is seen by the evaluation sets and the callbacks."""
    game = opened.game
    rounds: list[Round] = []
    follower.score(lambda: fitted_to([]))
    while len(rounds) < n_rounds and not (game.finished or follower.stopped):
        latest = game.play(1)
        if not latest:
            break
        rounds.extend(latest)
        hypothesis, fitted = partial(game.to_values, latest), partial(fitted_to, rounds)
        follower.see(len(rounds), n_rounds, latest[0], hypothesis, fitted)
        advance(1)
    return rounds


def heaviest(vote: FloatArray) -> int:
    """Return the number of the class that `vote_by_mass` votes for."""
    return int(vote[0] > 0) if vote.size == 1 else int(vote.argmax())


def _column(rounds: list[Round], name: str) -> FloatArray:
    """Return one number of every round."""
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)
