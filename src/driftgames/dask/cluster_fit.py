"""The steps of a fit on a cluster: a `Survey` maps them over partitions, then rounds are played.

They are those of `driftgames.boosting.fit.examples`. A size is chosen by a sample on this machine,
and folds that calibrate are fits of their own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from distributed import Client

import dask
from driftgames.boosting.data.row_sample import stack_rows
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.settings import Settings, check_settings, constraints_of
from driftgames.boosting.fit.assembly import join
from driftgames.boosting.fit.calibration import RowKeys, cross_fit
from driftgames.boosting.fit.choosing import SizeRace, choose_size, sample_rows
from driftgames.boosting.fit.examples import outline_of
from driftgames.boosting.fit.memory_fit import noted_by
from driftgames.boosting.fit.monitoring import Callback, EvaluationPairs, Stopping, watch_fit
from driftgames.boosting.fit.plan import USUAL_ROUNDS, usual_bins
from driftgames.boosting.fit.rounds import boost
from driftgames.boosting.fit.training_rows import TrainingRows
from driftgames.boosting.fit.tree_fit import settle
from driftgames.boosting.fit.warm_start import check_categories, check_continuation
from driftgames.boosting.growth.shared_training_set import SharedTrainingSet
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.dask import partitions
from driftgames.dask.exchange import ActorExchange
from driftgames.dask.survey import Survey
from driftgames.tables import counted


@dataclass(frozen=True)
class ExchangeReport(Displayed):
    """Where the time of the rounds went.

    ``seconds`` are those of all rounds. In ``exchange`` of them answers were awaited while even the
    busiest worker did not work: the way there and back, and lost workers. ``n_asked`` counts the
    questions, and ``n_lost`` the workers that were lost.
    """

    seconds: float
    exchange: float
    n_asked: int
    n_lost: int

    def _headline(self) -> str:
        asked, lost = counted(self.n_asked, "question"), counted(self.n_lost, "worker")
        return f"{self.exchange:.3g} of {self.seconds:.3g} s for {asked}; {lost} lost"

    def _columns(self) -> Fields:
        return {name: [value] for name, value in asdict(self).items()}

    def _sketch(self) -> Sketch:
        return Sketch(bars={"seconds": self.seconds, "exchange": self.exchange})


class _Played(NamedTuple):
    """What a fit to parts leaves behind, beside the model of its booster."""

    survey: Survey
    plan: partitions.Plan
    keys: RowKeys | None
    report: ExchangeReport
    holds_out: bool


@dataclass(frozen=True)
class ClusterFit:
    """Fits local boosters to delayed `Part` objects."""

    client: Client
    timeout: float
    weighted: bool
    """Whether the parts have sample weights."""

    def fit(
        self,
        local: BoosterInput,
        parts: list[Any],
        pairs: EvaluationPairs,
        callbacks: Sequence[Callback],
    ) -> ExchangeReport:
        """Fit a booster to the parts, and calibrate it by fits to some of them."""
        cross_fits = check_settings(local).cross_fits
        played = self._play(local, parts, pairs, callbacks, keeps_keys=cross_fits)
        survey, plan, keys, report, holds_out = played
        if not cross_fits or keys is None:
            return report
        shared = None if plan.encoder is not None or holds_out else plan

        def refit(fresh: BoosterInput, held_out: BoolArray, stages: Sequence[int]) -> FloatArray:
            if fresh is not local:
                take = dask.delayed(partitions.Part.take, pure=False)
                rest = [take(parts[k], ~some) for k, some in survey.cut(held_out).items()]
                self._play(fresh, rest, {}, [], plan=shared)
            return survey.vote(parts, held_out, fresh, stages)

        fitted = Fitted(local.model_, local.record_)
        judged = cross_fit(local, keys, refit, fitted.stages)
        local.adopt(*settle(local, fitted, judged))
        return report

    def _play(
        self,
        local: BoosterInput,
        parts: list[Any],
        pairs: EvaluationPairs,
        callbacks: Sequence[Callback],
        *,
        keeps_keys: bool = False,
        plan: partitions.Plan | None = None,
    ) -> _Played:
        """Fit a booster to the parts, but for its calibration.

        A fold shares the ``plan`` of the fit to all rows: its weights and its cuts.
        """
        goes_on = local.__sklearn_is_fitted__()
        settings = check_settings(local)
        shape, is_fold = settings.shape, plan is not None
        survey = Survey(self.client, parts, self.timeout)
        noted = noted_by(local, goes_on=goes_on)
        surveyed = survey.check(noted, weighted=self.weighted)
        plan = surveyed if plan is None else plan
        n_classes = plan.classes.size
        if goes_on:
            check_continuation(local, plan.classes, settings.n_estimators)
        stopping, keys, unseen = Stopping.of(local, lambda: survey.n_rows), None, []
        holds_out = stopping is not None and not pairs
        if stopping is not None and holds_out:
            stopping.require_fraction()
        chooses = not (goes_on or is_fold) and stopping is None
        chooses &= settings.n_estimators is None or shape.is_open
        if keeps_keys or holds_out or chooses:
            keys, masses = survey.keys(plan)
        race = None
        if chooses and keys is not None:
            race = _choose(survey, keys, local, settings, plan, noted)
        choice = local.record_.choice if goes_on else None if race is None else race.choice
        n_rounds = settings.n_estimators or USUAL_ROUNDS
        if choice is not None:
            n_rounds = settings.n_estimators or choice.n_estimators
            if shape.is_open:
                shape = replace(shape, max_leaves=choice.max_leaves)
        max_bins = settings.max_bins or usual_bins(survey.n_rows, chosen=choice is not None)
        if stopping is not None and keys is not None and holds_out:
            held_out = stopping.hold_out(keys.hashes, keys.labels, masses, np.arange(n_classes))
            unseen = survey.hold_out(held_out)
        encoder = None if is_fold else survey.encoder(plan, ranked=not shape.is_stump)
        if goes_on:
            check_categories(local, encoder)
        outline = outline_of(noted, plan.classes, encoder)
        constraints = constraints_of(local, outline)
        shape = shape.fitted_to(n_classes, survey.n_training)
        cuts = plan.cuts if is_fold else None
        plan = replace(plan, encoder=encoder, shape=shape)
        if cuts is None:
            cuts = survey.cuts(plan, max_bins)
        plan = replace(plan, cuts=cuts)
        joined = join([(plan.columns(part), part.y, plan.weigh(part)) for part in unseen])
        watch = watch_fit(local, noted, outline, pairs, callbacks, stopping, joined)
        with ActorExchange(self.client, survey.parts, plan, self.timeout) as exchange:
            exchange.place(survey.release())
            shared = SharedTrainingSet(
                exchange,
                cuts,
                n_classes,
                integer_weights=plan.integer_weights,
                shape=shape,
                monotonic=constraints,
            )
            begun = time.perf_counter()
            local.adopt(
                *boost(local, shared, outline, watch, n_rounds, goes_on=goes_on, choice=choice)
            )
            seconds = time.perf_counter() - begun
            waited = max(exchange.seconds - exchange.busiest(), 0.0)
            report = ExchangeReport(seconds, waited, exchange.n_asked, exchange.n_lost)
        return _Played(survey, plan, keys, report, holds_out)


def _choose(
    survey: Survey,
    keys: RowKeys,
    local: BoosterInput,
    settings: Settings,
    plan: partitions.Plan,
    noted: BoosterInput,
) -> SizeRace | None:
    """Choose leaves and rounds on this machine, by a sample of the examples."""
    at = sample_rows(keys)
    wanted = np.zeros(keys.labels.size, dtype=bool)
    wanted[at] = True
    parts = survey.take(wanted)
    weights = np.concatenate([plan.weigh(part) for part in parts])
    rows = TrainingRows(
        stack_rows([plan.codes(part) for part in parts]),
        keys.labels[at],
        SampleWeights(weights, plan.integer_weights),
        plan.categories,
        plan.classes.size,
        settings.max_bins or usual_bins(at.size, chosen=True),
        lambda encoder: constraints_of(local, outline_of(noted, plan.classes, encoder)),
    )
    return choose_size(
        rows,
        keys.take(at),
        settings.shape,
        settings.n_estimators,
        local.place_chips,
        None,
        1,
        lambda steps: None,
    )
