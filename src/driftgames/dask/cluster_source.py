"""Examples on a cluster: the source of a fit whose rows stay on the workers.

A `Survey` maps the steps of a fit over partitions. A size is chosen by a sample that the workers
send here, and folds that calibrate are fits of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from distributed import Client

import dask
from driftgames.boosting.data.binned_data import join
from driftgames.boosting.data.row_sample import stack_rows
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.engine.game import MistakeRule
from driftgames.boosting.engine.remote_game import RemoteGame
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.fit.job import Columns, Job, Plan
from driftgames.boosting.fit.memory import MemoryRows
from driftgames.boosting.fit.source import Opened, Rows, Source, Threads, Unseen
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.dask import partitions
from driftgames.dask.exchange import ActorExchange
from driftgames.dask.partitions import PartitionPlan
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


class ClusterSource(Source):
    """Examples in partitions, delayed `Part` objects.

    ``weighted`` tells whether they have sample weights. A fold that shares the weights and the cuts
    of the fit to all rows is given their ``shared`` plan.
    """

    race_on_sample = True
    makes_means = False
    no_means = "a cluster fits one booster to all rows"
    folds_share_bins = False
    report: ExchangeReport

    def __init__(
        self,
        client: Client,
        parts: list[Any],
        timeout: float,
        *,
        weighted: bool,
        class_weight: Any,
        shared: PartitionPlan | None = None,
    ) -> None:
        self._client, self._parts, self._timeout = client, parts, timeout
        self._weighted, self._class_weight = weighted, class_weight
        self._shared = shared
        self._survey = Survey(client, parts, timeout)
        surveyed = self._survey.check(class_weight, weighted=weighted)
        self.plan = surveyed if shared is None else shared
        head = self._survey.first
        names = None if head.names is None else np.array(head.names, dtype=object)
        self.columns = Columns(self.plan.classes, head.n_features, names)
        self._found: tuple[RowKeys, IntArray] | None = None
        self._unseen: list[partitions.Part] = []

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        return self._survey.n_rows

    def _keys_and_masses(self) -> tuple[RowKeys, IntArray]:
        if self._found is None:
            keys, masses = self._survey.keys(self.plan)
            self._found = replace(keys, class_weighted=self._class_weight is not None), masses
        return self._found

    def keys(self) -> RowKeys:
        """Return what folds are made of, for all partitions in order."""
        return self._keys_and_masses()[0]

    def masses(self) -> IntArray:
        """Return the sample weights as integers, times class weights."""
        return self._keys_and_masses()[1]

    def rows(self, job: Job, plan: Plan, held_out: BoolArray | None, threads: Threads) -> Rows:
        """Return the examples to train on."""
        if job.makes_folds:
            self.keys()  # before the partitions are released
        if held_out is not None:
            self._unseen = self._survey.hold_out(held_out)
        return _ClusterRows(self, self._survey, job, plan)

    def unseen(self, held_out: BoolArray | None, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples held out."""
        plan = replace(self.plan, encoder=encoder)
        joined = join([(plan.columns(part), part.y, plan.weigh(part)) for part in self._unseen])
        assert joined is not None
        return Unseen(*joined)

    def select(self, taken: BoolArray) -> ClusterSource:
        """Return some of the examples; they share weights and cuts if nothing else differs."""
        take = dask.delayed(partitions.Part.take, pure=False)
        rest = [take(self._parts[k], some) for k, some in self._survey.cut(taken).items()]
        alike = self.plan.encoder is None and not self._unseen
        return ClusterSource(
            self._client,
            rest,
            self._timeout,
            weighted=self._weighted,
            class_weight=self._class_weight,
            shared=self.plan if alike else None,
        )

    def votes(self, model: FittedModel, taken: BoolArray, n_threads: int) -> FloatArray:
        """Return the votes of a model on some of the examples."""
        return self._survey.vote(self._parts, taken, model)

    def sample(self, rows: IntArray, job: Job, plan: Plan) -> MemoryRows:
        """Return some of the examples in memory here."""
        keys = self.keys()
        wanted = np.zeros(keys.labels.size, dtype=bool)
        wanted[rows] = True
        parts = self._survey.take(wanted)
        weights = np.concatenate([self.plan.weigh(part) for part in parts])
        return MemoryRows(
            self.columns,
            stack_rows([self.plan.codes(part) for part in parts]),
            keys.labels[rows],
            SampleWeights(weights, self.plan.integer_weights),
            self.plan.categories,
            plan.bins_for(lambda: int(rows.size)),
            job.monotonic_cst,
        )

    @contextmanager
    def open(self, job: Job, plan: Plan, shape: TreeShape, n_rounds: int) -> Iterator[Opened]:
        """Bin the partitions where they are, and begin a game of them."""
        if not isinstance(job.rule, MistakeRule):
            raise ValueError("a cluster weighs examples by their number of mistakes")
        survey, found = self._survey, self.plan
        if self._shared is None:
            found = replace(found, encoder=survey.encoder(found, ranked=not shape.is_stump))
        model = self.columns.empty_model(found.encoder)
        constraints = self.columns.constraints(job.monotonic_cst, found.encoder)
        found = replace(found, shape=shape)
        if found.cuts is None:
            found = replace(
                found, cuts=survey.cuts(found, plan.bins_for(lambda: survey.n_training))
            )
        assert found.cuts is not None
        self.plan = found
        with ActorExchange(self._client, survey.parts, found, self._timeout) as exchange:
            exchange.place(survey.release())
            begun = time.perf_counter()
            game = RemoteGame(
                job.rule,
                exchange,
                found.cuts,
                found.classes.size,
                shape,
                n_rounds,
                integer_weights=found.integer_weights,
                monotonic=constraints,
            )
            yield Opened(game, model)
            seconds = time.perf_counter() - begun
            waited = max(exchange.seconds - exchange.busiest(), 0.0)
            self.report = ExchangeReport(seconds, waited, exchange.n_asked, exchange.n_lost)


class _ClusterRows(Rows):
    """The examples to train on, on the workers."""

    def __init__(self, source: ClusterSource, survey: Survey, job: Job, plan: Plan) -> None:
        self._source, self._job, self._plan = source, job, plan
        self.n_rows = survey.n_training
        self._kept: IntArray | None = survey.kept

    def take(self, rows: IntArray) -> MemoryRows:
        """Return some of the examples, in memory."""
        if self._kept is not None:
            rows = self._kept[rows]
        return self._source.sample(rows, self._job, self._plan)

    def open(self, job: Job, shape: TreeShape, n_rounds: int, threads: Threads) -> Any:
        """Begin a game of these examples."""
        return self._source.open(job, self._plan, shape, n_rounds)
