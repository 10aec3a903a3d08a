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
from driftgames.dask.partitions import Part, PartitionPlan, PartSummary
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
        joined = join([(plan.columns(part), part.y, plan.masses(part)) for part in self._unseen])
        assert joined is not None
        return Unseen(*joined)

    def select(self, taken: BoolArray) -> ClusterSource:
        """Return some of the examples; they share weights and cuts if nothing else differs."""
        take = dask.delayed(partitions.Part.take, pure=False)
        rest = [take(self._parts[k], some) for k, some in self._survey.by_part(taken).items()]
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
        weights = np.concatenate([self.plan.masses(part) for part in parts])
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
            exchange.make_holders(survey.release())
            begun = time.perf_counter()
            learner = RemoteLearner(
                found.cuts, shape, found.classes.size, found.integer_weights, constraints
            )
            yield Opened(RemoteGame(job.rule, exchange, learner, n_rounds), model)
            seconds = time.perf_counter() - begun
            waited = max(exchange.seconds - exchange.busiest_seconds(), 0.0)
            self.report = ExchangeReport(seconds, waited, exchange.n_asked, exchange.n_lost)


class _ClusterRows(Rows):
    """The examples to train on, on the workers."""

    def __init__(self, source: ClusterSource, survey: Survey, job: Job, plan: Plan) -> None:
        self._source, self._job, self._plan = source, job, plan
        self._n_rows = survey.n_training
        self._kept: IntArray | None = survey.kept

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return self._n_rows

    def take(self, rows: IntArray) -> MemoryRows:
        """Return some of the examples, in memory."""
        if self._kept is not None:
            rows = self._kept[rows]
        return self._source.sample(rows, self._job, self._plan)

    def open(self, job: Job, shape: TreeShape, n_rounds: int, threads: Threads) -> Any:
        """Begin a game of these examples."""
        return self._source.open(job, self._plan, shape, n_rounds)


_FAN_IN = 8  # summaries that are merged at a time


class Survey:
    """Computes the partitions, delayed `Part` objects, and what the client must know of them.

    What does not answer for ``timeout`` seconds counts as gone.
    """

    def __init__(self, client: Client, parts: Sequence[Any], timeout: float) -> None:
        self._client = client
        self._watch = ClusterWatch(client, timeout)
        self.parts = dict(enumerate(parts))
        futures = client.compute(list(parts))
        heads = self._map(partitions.summarise_partition, futures)
        self._heads = {k: head for k, head in enumerate(heads) if head is not None}
        self._futures = {k: futures[k] for k, head in self._heads.items() if head.n_rows}
        self.kept: IntArray | None = None
        """The numbers of the examples to train on; None if nothing is held out."""

    @property
    def n_rows(self) -> int:
        """The number of examples of positive weight."""
        return sum(head.n_rows for head in self._heads.values())

    @property
    def n_training(self) -> int:
        """The number of examples to train on: those that are not held out."""
        return self.n_rows if self.kept is None else int(self.kept.size)

    @property
    def first(self) -> PartSummary:
        """What is known of the first partition: all have the same features."""
        head: PartSummary = next(iter(self._heads.values()))
        return head

    def check(self, class_weight: Any, *, weighted: bool) -> PartitionPlan:
        """Return the classes, weights and categories; all partitions must have the same columns."""
        if not self._heads:
            raise ValueError("X must have examples; all partitions are empty")
        first, one = next(iter(self._heads.items()))
        for k, head in self._heads.items():
            if (head.n_features, head.names) != (one.n_features, one.names):
                raise ValueError(
                    f"all partitions must have the same features; partition {first} has "
                    f"{_features(one)}, partition {k} has {_features(head)}"
                )
            if (head.seen is None) != (one.seen is None):
                some, none = (first, k) if head.seen is None else (k, first)
                raise ValueError(
                    f"all partitions must have categories or none; partition {some} has some, "
                    f"partition {none} has none"
                )
        heads = list(self._heads.values())
        plan = PartitionPlan(find_classes(np.concatenate([head.labels for head in heads])))
        seen = [head.seen for head in heads if head.seen is not None]
        if seen:
            plan = replace(plan, categories=reduce(add, seen).categories)
            warn_of_identifiers(plan.categories, [self.n_rows] * one.n_features, one.names)
        if weighted or class_weight is not None:
            plan = self._weigh(plan, class_weight)
        return plan

    def _weigh(self, plan: PartitionPlan, class_weight: Any) -> PartitionPlan:
        """Find the weights of the classes, and the scale of all weights."""
        heads, classes = self._heads.values(), plan.classes.tolist()
        present = {label for head in heads for label in head.spans}
        if len(present) < 2:
            raise ValueError(
                "sample_weight must not be zero for all of one class; positive weights have "
                f"the classes {sorted(present)} of {classes}"
            )
        factors = np.ones(len(classes))
        if class_weight is not None:
            masses = [sum((h.masses.get(c, 0) for h in heads), Fraction(0)) for c in classes]
            factors = class_factors(class_weight, plan.classes, masses)
            plan = replace(plan, factors=factors)
        spans = [
            (low * factor, high * factor)
            for label, factor in zip(classes, factors.tolist(), strict=True)
            for low, high in (head.spans[label] for head in heads if label in head.spans)
        ]
        span = min(low for low, _ in spans), max(high for _, high in spans)
        totals = self._map(partitions.weight_totals, self._present, plan, span)
        return replace(plan, scale=WeightScale.of(span, reduce(add, totals)))

    def keys(self, plan: PartitionPlan) -> tuple[RowKeys, IntArray]:
        """Return what folds are made of, for all partitions in order, and the weights."""
        keys, masses = zip(*self._map(partitions.find_keys, self._present, plan), strict=True)
        hashes, labels = ([getattr(each, name) for each in keys] for name in ("hashes", "labels"))
        weights = [each.sample_weight for each in keys if each.sample_weight is not None]
        sample_weight = np.concatenate(weights) if weights else None
        joined = RowKeys(np.concatenate(hashes), np.concatenate(labels), sample_weight)
        return joined, np.concatenate(masses)

    def by_part(self, of_all: BoolArray) -> dict[int, BoolArray]:
        """Return an array over all examples by the numbers of their partitions."""
        sizes = {k: head.n_rows for k, head in self._heads.items() if head.n_rows}
        ends = np.cumsum(list(sizes.values()))[:-1]
        return dict(zip(sizes, np.split(of_all, ends), strict=True))

    def take(self, wanted: BoolArray) -> list[Part]:
        """Return some of the examples, by partition; they stay on the workers too."""
        by_part = {k: some for k, some in self.by_part(wanted).items() if some.any()}
        if self.kept is not None:  # the partitions have the other examples only
            is_kept = np.zeros(wanted.size, dtype=bool)
            is_kept[self.kept] = True
            kept = self.by_part(is_kept)
            by_part = {k: some[kept[k]] for k, some in by_part.items()}
        return self._gather(list(self._taken(by_part).values()))

    def hold_out(self, held_out: BoolArray) -> list[Part]:
        """Keep the other examples from now on; return these, by partition."""
        unseen, self.kept = self.take(held_out), np.flatnonzero(~held_out)
        rest = {k: ~some for k, some in self.by_part(held_out).items() if not some.all()}
        take = dask.delayed(partitions.Part.take, pure=False)
        self.parts = {k: take(self.parts[k], some) for k, some in rest.items()}
        self._futures = self._taken(rest)
        return unseen

    def _taken(self, by_part: dict[int, BoolArray]) -> dict[int, Any]:
        """Take some rows of each partition on its worker."""
        take, submit = partitions.Part.take, self._client.submit
        return {k: submit(take, self._futures[k], some, pure=False) for k, some in by_part.items()}

    def encoder(self, plan: PartitionPlan, *, ranked: bool) -> CategoryEncoder | None:
        """Return the encoder of the categories, if there are any."""
        if plan.categories is None:
            return None
        counts = reduce(add, self._map(partitions.count_categories, self._present, plan))
        exact = plan.integer_weights
        return CategoryEncoder.of_counts(
            plan.categories, counts, integer_weights=exact, ranked=ranked
        )

    def cuts(self, plan: PartitionPlan, max_bins: int) -> Cuts:
        """Return the cuts, from summaries that the workers merge."""
        cuts = self._find_cuts(plan, max_bins, self.n_training)
        if cuts is None:  # rows have many copies
            cuts = self._find_cuts(plan, max_bins, None)
        assert cuts is not None
        return cuts

    def _find_cuts(self, plan: PartitionPlan, max_bins: int, n_expected: int | None) -> Cuts | None:
        client = self._client
        task, settings = (
            partitions.summarise_values,
            {"max_bins": max_bins, "n_expected": n_expected},
        )
        level = client.map(task, self._present, plan=plan, **settings, pure=False)
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


def _features(head: partitions.PartSummary) -> str:
    return f"{head.n_features}" if head.names is None else f"{list(head.names)}"
