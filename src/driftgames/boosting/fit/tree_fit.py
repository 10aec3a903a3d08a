"""A fit of trees to binned rows: choose their size if that is planned, boost, and calibrate."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.input_checks import count_threads
from driftgames.boosting.fit.averaging import average
from driftgames.boosting.fit.calibration import (
    CrossFit,
    RowKeys,
    deal_folds,
    judge_votes,
    stages_of,
)
from driftgames.boosting.fit.choosing import SizeRace, choose_size
from driftgames.boosting.fit.folds import play_folds
from driftgames.boosting.fit.means import Mean
from driftgames.boosting.fit.monitoring import Watch
from driftgames.boosting.fit.plan import USUAL_ROUNDS, Plan
from driftgames.boosting.fit.rounds import boost
from driftgames.boosting.fit.training_rows import FoldRows
from driftgames.boosting.growth.tree_training_set import grow_on
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.progress import progress

_FEW_CODES = 100_000  # from this number of bins that rows list on, a second thread helps
_FEW_PAIR_CODES = 4_000_000  # the same for several classes, whose sums are read from memory

WatchWith = Callable[[CategoryEncoder | None], tuple[FittedModel, Watch | None]]
"""It returns a model of no rounds for an encoder, and what follows the fit."""


def fit_trees(
    booster: BoosterInput,
    rows: FoldRows,
    plan: Plan,
    watch_with: WatchWith,
    keys: RowKeys | None,
    pool: ThreadPoolExecutor | None,
) -> tuple[Fitted, bool]:
    """Fit trees to rows: choose their size if the plan says so, then boost, and calibrate.

    Return also whether it is calibrated: no fold can be made where a class has one example.
    """
    race = None
    shape, n_rounds = plan.shape, plan.n_rounds
    if plan.chooses and keys is not None:
        race = _race(booster, rows, keys, plan, pool)
    if race is not None:
        shape, n_rounds = race.shape, plan.n_rounds or race.choice.n_estimators
        if plan.averages and (mean := race.mean()) is not None:
            return _average(booster, race, mean, rows, watch_with), True
    n_rounds = n_rounds or USUAL_ROUNDS
    encoder, binned = rows.coded(None, ranked=not shape.is_stump)
    outline, watch = watch_with(encoder)
    n_classes = outline.classes.size
    shape = shape.fitted_to(n_classes, binned.n_rows)
    several = None if n_classes == 2 else rows.labels
    start = partial(booster.place_chips, n_rounds=n_rounds)
    settings: dict[str, Any] = {"labels": several, "n_classes": n_classes, "pool": pool}
    dealt, waiting = None, []
    stages = stages_of(n_rounds) if booster.early_stopping == "cv" else [n_rounds]
    calibrates = race is not None and not plan.is_watched  # the race has votes held out
    stops = watch is not None and watch.stopping is not None
    if not (calibrates or stops) and keys is not None and encoder is None and plan.cross_fits:
        dealt = deal_folds(keys)
        if dealt.folds and watch is None:
            waiting = play_folds(binned, shape, dealt, start, stages, **settings)
    n_threads = 1 if pool is None else count_threads(booster.n_jobs)
    if waiting or binned.bins.codes.size < (_FEW_CODES if several is None else _FEW_PAIR_CODES):
        n_threads = 1
    training_set = grow_on(
        binned,
        shape,
        binned.sample_weights,
        labels=None if several is None else several[binned.order],
        n_classes=n_classes,
        n_threads=n_threads,
    )
    choice = booster.record_.choice if plan.goes_on else None if race is None else race.choice
    fitted = boost(
        booster, training_set, outline, watch, n_rounds, goes_on=plan.goes_on, choice=choice
    )
    known = fitted.stages
    if calibrates and race is not None and known == [race.choice.n_estimators]:
        judged = CrossFit(race.calibration, race.held_out, n_rounds)
        return settle(booster, fitted, judged), True
    if dealt is None or not dealt.folds or fitted.model.n_rounds == 0:
        return fitted, False
    if not waiting or not set(known) <= set(stages):  # the fit ended before its last round
        stages = known
        waiting = play_folds(binned, shape, dealt, start, stages, **settings)
    taken = [k for k, stage in enumerate(stages) if stage in known]
    votes = [wait()[taken] for wait in waiting]
    return settle(booster, fitted, judge_votes(dealt, votes, known)), True


def _average(
    booster: BoosterInput, race: SizeRace, mean: Mean, rows: FoldRows, watch_with: WatchWith
) -> Fitted:
    """Return the mean of the boosters of the folds as one model, calibrated."""
    outline, _ = watch_with(mean.entrants[0].encoders[0])
    settings = booster.binding_settings()
    fitted = average(mean, outline, race.dealt, rows.masses, settings, race.choice)
    return settle(booster, fitted, CrossFit(mean.calibration, race.held_out, fitted.model.n_rounds))


def _race(
    booster: BoosterInput,
    rows: FoldRows,
    keys: RowKeys,
    plan: Plan,
    pool: ThreadPoolExecutor | None,
) -> SizeRace | None:
    """Let sizes race on folds; None where a class has one example, so that none is held out."""
    bar = progress("choosing a size", None) if booster.verbose else nullcontext(lambda steps: None)
    with bar as advance:
        n_threads = 1 if pool is None else count_threads(booster.n_jobs)
        stages = None if plan.is_watched else plan.n_rounds
        return choose_size(
            rows, keys, plan.shape, stages, booster.place_chips, pool, n_threads, advance
        )


def settle(booster: BoosterInput, fitted: Fitted, judged: CrossFit) -> Fitted:
    """Return the rounds that cross-fitting chose, calibrated."""
    sigmoid = judged.calibration if booster.calibrate else None
    return fitted.settled(judged.n_rounds, sigmoid, judged.held_out)
