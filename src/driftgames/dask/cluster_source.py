"""Examples on a cluster: the source of a fit whose rows stay on the workers.

A `Survey` maps steps over the partitions: labels, features, weights and cuts. A size is chosen by a
sample that the workers send here, and folds that calibrate are fits of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from distributed import Client

import dask
from driftgames.boosting.data.binned_data import join
from driftgames.boosting.data.checks import find_classes, warn_of_identifiers
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.data.row_sample import stack_rows
from driftgames.boosting.data.sample_weights import SampleWeights, WeightScale, class_factors
from driftgames.boosting.engine.game import MistakeRule
from driftgames.boosting.engine.remote_game import RemoteGame, RemoteLearner
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.fit.job import Columns, Job, Plan
from driftgames.boosting.fit.source import MemoryRows, Opened, Rows, Source, Threads, Unseen
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.dask import partitions
from driftgames.dask.exchange import ActorExchange, ClusterWatch
from driftgames.dask.partitions import Partition, PartitionSetup, PartSummary
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
    """Examples in partitions, delayed `Partition` objects.

    ``weighted`` tells whether they have sample weights. A fold that shares the weights and the cuts
    of the fit to all rows is given their ``shared`` setup.
    """

    race_on_sample = True
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
        shared: PartitionSetup | None = None,
    ) -> None:
        self.client, self._parts, self.timeout = client, parts, timeout
        self._weighted, self._class_weight = weighted, class_weight
        self._is_shared = shared is not None
        self.survey = Survey(client, parts, timeout)
        surveyed = self.survey.check(class_weight, weighted=weighted)
        self.setup = surveyed if shared is None else shared
        first = self.survey.first
        names = None if first.names is None else np.array(first.names, dtype=object)
        self.columns = Columns(self.setup.classes, first.n_features, names)
        self._known_keys: tuple[RowKeys, IntArray] | None = None
        self._unseen: list[partitions.Partition] = []

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        return self.survey.n_rows

    def _keys_and_masses(self) -> tuple[RowKeys, IntArray]:
        if self._known_keys is None:
            keys, masses = self.survey.keys(self.setup)
            self._known_keys = replace(keys, class_weighted=self._class_weight is not None), masses
        return self._known_keys

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
            self._unseen = self.survey.hold_out(held_out)
        return _ClusterRows(self, job, plan)

    def unseen(self, held_out: BoolArray | None, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples held out."""
        setup = replace(self.setup, encoder=encoder)
        joined = join([(setup.columns(part), part.y, setup.masses(part)) for part in self._unseen])
        assert joined is not None
        return Unseen(*joined)

    def select(self, taken: BoolArray) -> ClusterSource:
        """Return some of the examples; they share weights and cuts if nothing else differs."""
        take = dask.delayed(partitions.Partition.take, pure=False)
        rest = [take(self._parts[k], some) for k, some in self.survey.by_part(taken).items()]
        # an encoder knows labels that a fold must not see; early stopping has cuts of fewer rows
        alike = self.setup.encoder is None and not self._unseen
        return ClusterSource(
            self.client,
            rest,
            self.timeout,
            weighted=self._weighted,
            class_weight=self._class_weight,
            shared=self.setup if alike else None,
        )

    def votes(self, model: FittedModel, taken: BoolArray, n_threads: int) -> FloatArray:
        """Return the votes of a model on some of the examples."""
        return self.survey.vote(self._parts, taken, model)

    def complete_setup(self, shape: TreeShape, plan: Plan) -> PartitionSetup:
        """Return all that makes shares of the partitions, encoder and cuts too."""
        setup = self.setup
        if not self._is_shared:
            encoder = self.survey.encoder(setup, ranked=not shape.is_stump)
            setup = replace(setup, encoder=encoder)
        setup = replace(setup, shape=shape)
        if setup.cuts is None:
            max_bins = plan.bins_for(lambda: self.survey.n_training)
            setup = replace(setup, cuts=self.survey.cuts(setup, max_bins))
        self.setup = setup
        return setup


class _ClusterRows(Rows):
    """The examples to train on, on the workers."""

    def __init__(self, source: ClusterSource, job: Job, plan: Plan) -> None:
        self._source, self._job, self._plan = source, job, plan

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return self._source.survey.n_training

    def take(self, rows: IntArray) -> MemoryRows:
        """Return some of the examples, in memory here."""
        source, setup, keys = self._source, self._source.setup, self._source.keys()
        if source.survey.kept is not None:
            rows = source.survey.kept[rows]
        wanted = np.zeros(keys.labels.size, dtype=bool)
        wanted[rows] = True
        parts = source.survey.take(wanted)
        weights = np.concatenate([setup.masses(part) for part in parts])
        return MemoryRows(
            source.columns,
            stack_rows([setup.codes(part) for part in parts]),
            keys.labels[rows],
            SampleWeights(weights, setup.integer_weights),
            setup.categories,
            self._plan.bins_for(lambda: int(rows.size)),
            self._job.monotonic_cst,
        )

    @contextmanager
    def open(self, job: Job, shape: TreeShape, n_rounds: int, threads: Threads) -> Iterator[Opened]:
        """Bin the partitions where they are, and begin a game of them."""
        if not isinstance(job.rule, MistakeRule):
            raise ValueError("a cluster weighs examples by their number of mistakes")
        source, survey = self._source, self._source.survey
        setup = source.complete_setup(shape, self._plan)
        constraints = source.columns.constraints(job.monotonic_cst, setup.encoder)
        assert setup.cuts is not None
        learner = RemoteLearner(
            setup.cuts, shape, setup.classes.size, setup.integer_weights, constraints
        )
        with ActorExchange(source.client, survey.parts, setup, source.timeout) as exchange:
            exchange.make_holders(survey.release())
            begun = time.perf_counter()
            game = RemoteGame(job.rule, exchange, learner, n_rounds)
            yield Opened(game, source.columns.empty_model(setup.encoder))
            seconds = time.perf_counter() - begun
            waited = max(exchange.seconds - exchange.busiest_seconds(), 0.0)
            source.report = ExchangeReport(seconds, waited, exchange.n_asked, exchange.n_lost)


_FAN_IN = 8  # summaries that are merged at a time


class Survey:
    """Computes the partitions, delayed `Partition` objects, and what the client must know of them.

    What does not answer for ``timeout`` seconds counts as gone.
    """

    def __init__(self, client: Client, parts: Sequence[Any], timeout: float) -> None:
        self._client = client
        self._watch = ClusterWatch(client, timeout)
        self.parts = dict(enumerate(parts))
        futures = client.compute(list(parts))
        summaries = self._map(partitions.summarise_partition, futures)
        self._summaries = {k: summary for k, summary in enumerate(summaries) if summary is not None}
        self._futures = {k: futures[k] for k, summary in self._summaries.items() if summary.n_rows}
        self.kept: IntArray | None = None
        """The numbers of the examples to train on; None if nothing is held out."""

    @property
    def n_rows(self) -> int:
        """The number of examples of positive weight."""
        return sum(summary.n_rows for summary in self._summaries.values())

    @property
    def n_training(self) -> int:
        """The number of examples to train on: those that are not held out."""
        return self.n_rows if self.kept is None else int(self.kept.size)

    @property
    def first(self) -> PartSummary:
        """What is known of the first partition: all have the same features."""
        summary: PartSummary = next(iter(self._summaries.values()))
        return summary

    def check(self, class_weight: Any, *, weighted: bool) -> PartitionSetup:
        """Return the classes, weights and categories; all partitions must have the same columns."""
        if not self._summaries:
            raise ValueError("X must have examples; all partitions are empty")
        first, one = next(iter(self._summaries.items()))
        for k, summary in self._summaries.items():
            if (summary.n_features, summary.names) != (one.n_features, one.names):
                raise ValueError(
                    f"all partitions must have the same features; partition {first} has "
                    f"{_features(one)}, partition {k} has {_features(summary)}"
                )
            if (summary.seen is None) != (one.seen is None):
                some, none = (first, k) if summary.seen is None else (k, first)
                raise ValueError(
                    f"all partitions must have categories or none; partition {some} has some, "
                    f"partition {none} has none"
                )
        summaries = list(self._summaries.values())
        setup = PartitionSetup(
            find_classes(np.concatenate([summary.labels for summary in summaries]))
        )
        seen = [summary.seen for summary in summaries if summary.seen is not None]
        if seen:
            setup = replace(setup, categories=reduce(add, seen).categories)
            warn_of_identifiers(setup.categories, [self.n_rows] * one.n_features, one.names)
        if weighted or class_weight is not None:
            setup = self._weigh(setup, class_weight)
        return setup

    def _weigh(self, setup: PartitionSetup, class_weight: Any) -> PartitionSetup:
        """Find the weights of the classes, and the scale of all weights."""
        summaries, classes = self._summaries.values(), setup.classes.tolist()
        present = {label for summary in summaries for label in summary.spans}
        if len(present) < 2:
            raise ValueError(
                "sample_weight must not be zero for all of one class; positive weights have "
                f"the classes {sorted(present)} of {classes}"
            )
        factors = np.ones(len(classes))
        if class_weight is not None:
            masses = [
                sum((each.masses.get(c, 0) for each in summaries), Fraction(0)) for c in classes
            ]
            factors = class_factors(class_weight, setup.classes, masses)
            setup = replace(setup, factors=factors)
        spans = [
            (low * factor, high * factor)
            for label, factor in zip(classes, factors.tolist(), strict=True)
            for low, high in (
                summary.spans[label] for summary in summaries if label in summary.spans
            )
        ]
        span = min(low for low, _ in spans), max(high for _, high in spans)
        totals = self._map(partitions.weight_totals, self._present, setup, span)
        return replace(setup, scale=WeightScale.of(span, reduce(add, totals)))

    def keys(self, setup: PartitionSetup) -> tuple[RowKeys, IntArray]:
        """Return what folds are made of, for all partitions in order, and the weights."""
        keys, masses = zip(*self._map(partitions.find_keys, self._present, setup), strict=True)
        hashes, labels = ([getattr(each, name) for each in keys] for name in ("hashes", "labels"))
        weights = [each.sample_weight for each in keys if each.sample_weight is not None]
        sample_weight = np.concatenate(weights) if weights else None
        joined = RowKeys(np.concatenate(hashes), np.concatenate(labels), sample_weight)
        return joined, np.concatenate(masses)

    def by_part(self, of_all: BoolArray) -> dict[int, BoolArray]:
        """Return an array over all examples by the numbers of their partitions."""
        sizes = {k: summary.n_rows for k, summary in self._summaries.items() if summary.n_rows}
        ends = np.cumsum(list(sizes.values()))[:-1]
        return dict(zip(sizes, np.split(of_all, ends), strict=True))

    def take(self, wanted: BoolArray) -> list[Partition]:
        """Return some of the examples, by partition; they stay on the workers too."""
        by_part = {k: some for k, some in self.by_part(wanted).items() if some.any()}
        if self.kept is not None:  # the partitions have the other examples only
            is_kept = np.zeros(wanted.size, dtype=bool)
            is_kept[self.kept] = True
            kept = self.by_part(is_kept)
            by_part = {k: some[kept[k]] for k, some in by_part.items()}
        return self._gather(list(self._taken(by_part).values()))

    def hold_out(self, held_out: BoolArray) -> list[Partition]:
        """Keep the other examples from now on; return these, by partition."""
        unseen, self.kept = self.take(held_out), np.flatnonzero(~held_out)
        rest = {k: ~some for k, some in self.by_part(held_out).items() if not some.all()}
        take = dask.delayed(partitions.Partition.take, pure=False)
        self.parts = {k: take(self.parts[k], some) for k, some in rest.items()}
        self._futures = self._taken(rest)
        return unseen

    def _taken(self, by_part: dict[int, BoolArray]) -> dict[int, Any]:
        """Take some rows of each partition on its worker."""
        take, submit = partitions.Partition.take, self._client.submit
        return {k: submit(take, self._futures[k], some, pure=False) for k, some in by_part.items()}

    def encoder(self, setup: PartitionSetup, *, ranked: bool) -> CategoryEncoder | None:
        """Return the encoder of the categories, if there are any."""
        if setup.categories is None:
            return None
        counts = reduce(add, self._map(partitions.count_categories, self._present, setup))
        exact = setup.integer_weights
        return CategoryEncoder.of_counts(
            setup.categories, counts, integer_weights=exact, ranked=ranked
        )

    def cuts(self, setup: PartitionSetup, max_bins: int) -> Cuts:
        """Return the cuts, from summaries that the workers merge."""
        cuts = self._find_cuts(setup, max_bins, self.n_training)
        if cuts is None:
            cuts = self._find_cuts(setup, max_bins, None)
        assert cuts is not None
        return cuts

    def _find_cuts(
        self, setup: PartitionSetup, max_bins: int, n_expected: int | None
    ) -> Cuts | None:
        """Return the cuts; None if rows have so many copies that ``n_expected`` kept too few."""
        client = self._client
        level = client.map(
            partitions.summarise_values,
            self._present,
            setup=setup,
            max_bins=max_bins,
            n_expected=n_expected,
            pure=False,
        )
        while len(level) > 1:
            groups = [level[k : k + _FAN_IN] for k in range(0, len(level), _FAN_IN)]
            level = [
                client.submit(partitions.merge_summaries, group, pure=False) for group in groups
            ]
        cuts: Cuts | None = self._map(partitions.choose_cuts, level)[0]
        return cuts

    @property
    def _present(self) -> list[Any]:
        return list(self._futures.values())

    def release(self) -> dict[int, Any]:
        """Return the partitions in memory by their numbers, and forget them."""
        futures, self._futures = self._futures, {}
        return futures

    def vote(self, parts: Sequence[Any], taken: BoolArray, model: FittedModel) -> FloatArray:
        """Return the votes of a model on the examples ``taken``, in their order."""
        task, sent = dask.delayed(partitions.vote, pure=False), dask.delayed(model)
        by_part = {k: some for k, some in self.by_part(taken).items() if some.any()}
        futures = self._client.compute([task(parts[k], some, sent) for k, some in by_part.items()])
        return np.concatenate(self._gather(futures))

    def _map(self, task: Callable[..., Any], futures: list[Any], *arguments: Any) -> list[Any]:
        """Return the results of a task for each partition."""
        answers = [self._client.submit(task, each, *arguments, pure=False) for each in futures]
        results = self._gather(answers)
        for answer in answers:
            answer.release()
        return results

    def _gather(self, futures: list[Any]) -> list[Any]:
        self._watch.wait(futures)
        results: list[Any] = self._client.gather(futures)
        return results


def _features(summary: partitions.PartSummary) -> str:
    return f"{summary.n_features}" if summary.names is None else f"{list(summary.names)}"
