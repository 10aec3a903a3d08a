"""Boosters on Dask collections: the local fit with its training set on the workers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path as FilePath
from typing import Any, Self

import dask.array as da
import numpy as np
from distributed import Client, default_client
from sklearn.base import clone

import dask
from driftgames.boosting import BOOSTERS
from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.data.row_sample import stack_rows
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.estimators.persistence import load_model
from driftgames.boosting.face.booster_input import Settings
from driftgames.boosting.fit.assembly import join
from driftgames.boosting.fit.calibration import SMALL, RowKeys, cross_fit
from driftgames.boosting.fit.choosing import SizeRace, choose_size, sample_rows
from driftgames.boosting.fit.monitoring import Callback, Stage, name_sets
from driftgames.boosting.fit.rounds import FEW_BINS, USUAL_ROUNDS, outline_of
from driftgames.boosting.fit.training_rows import TrainingRows
from driftgames.boosting.fit.warm_start import check_categories, check_continuation
from driftgames.boosting.growth.shared_training_set import SharedTrainingSet
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.checks import check_integer, is_real, shown
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import BoolArray, FloatArray, Path
from driftgames.dask import partitions
from driftgames.dask.exchange import ActorExchange, ClusterWatch
from driftgames.dask.survey import Survey
from driftgames.tables import counted


@dataclass(eq=False, repr=False)
class DaskBooster(BaseBooster):
    """A booster whose examples are on the workers of a Dask cluster.

    It is fitted on dask arrays of dense or sparse chunks, dask data frames, or lists of delayed
    parts; labels and sample weights lie on the same partitions. The model is that of a fit in
    memory on the same rows, byte for byte, for any number of workers and partitions, if its size is
    given. Otherwise a sample of 25,000 examples chooses it on this machine, and one booster is then
    fitted to all of them: there is no mean of boosters on a cluster. A worker that
    dies costs time: its partitions are computed again elsewhere, and the rounds are replayed on
    them. docs/scale.md has the costs.

    Other Parameters
    ----------------
    client : distributed.Client, optional
        The cluster. Default: the client made last.
    timeout : float
        Seconds after which a worker, or the scheduler, that does not answer counts as lost. The
        clock of an answer starts when the worker has compiled, or after 600 s. Default: 300.
    checkpoint : path, optional
        A file that holds the model of the rounds so far. A fit that finds it goes on from there.
        It is removed when the fit has ended. Default: none.
    checkpoint_every : int
        The number of rounds between two checkpoints. Default: 50.

    Attributes
    ----------
    exchange_ : ExchangeReport
        Where the time of the rounds went.
    """

    _: KW_ONLY
    client: Any = None
    timeout: float = 300.0
    checkpoint: Path | None = None
    checkpoint_every: int = 50

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

        Parameters
        ----------
        X : dask array, dask data frame or list of delayed parts
            The examples. Chunk sizes must be known; empty partitions are skipped.
        y, sample_weight : collections
            Labels, and weights, on the partitions of ``X``.
        eval_set, eval_names, callbacks
            As in the local `fit`; pairs may be collections, which are brought to the client.

        Returns
        -------
        self
            An error or an interruption leaves the booster as it was, and nothing on the workers.
        """
        check_integer("checkpoint_every", self.checkpoint_every, least=1)
        if not (is_real(self.timeout) and 0 < self.timeout < math.inf):
            raise ValueError(f"timeout must be a positive number; got {shown(self.timeout)}")
        self._check_built_in("a fit on a cluster")
        client = self._find_client()
        given = partitions.split(X, y, sample_weight)
        with client.as_current():  # actors and `wait` ask for the current client
            return self._fit(client, given, name_sets(eval_set, eval_names), callbacks)

    def _fit(
        self,
        client: Client,
        given: list[tuple[Any, ...]],
        evaluated: dict[str, tuple[Any, Any]],
        callbacks: Sequence[Callback],
    ) -> Self:
        """Fit the booster to delayed parts of examples, labels and sample weights."""
        local, weighted = self._begin(), len(given[0]) == 3
        pairs = {name: tuple(self._bring(client, each)) for name, each in evaluated.items()}
        prepare = dask.delayed(partitions.prepare, pure=False)
        checker = self._local_class()(categorical_features=self.categorical_features)
        parts = [prepare(k, checker, *part) for k, part in enumerate(given)]

        def save(t: int, stage: Stage) -> None:
            if self.checkpoint is not None and t % self.checkpoint_every == 0:
                stage.model().save(self.checkpoint)

        cross_fits = local._cross_fits
        survey, plan, keys, report = self._fit_parts(
            client,
            local,
            parts,
            pairs,
            [save, *callbacks],
            weighted=weighted,
            keeps_keys=cross_fits,
        )
        if cross_fits and keys is not None:
            holds_out = local._stops(pairs, survey.n_rows) is not None
            shared = None if plan.encoder is not None or holds_out else plan

            def refit(fresh: BaseBooster, held: BoolArray, stages: Sequence[int]) -> FloatArray:
                if fresh is not local:
                    take = dask.delayed(partitions.Part.take, pure=False)
                    rest = [take(parts[k], ~some) for k, some in survey.cut(held).items()]
                    self._fit_parts(client, fresh, rest, {}, [], weighted=weighted, plan=shared)
                return survey.vote(parts, held, fresh, stages)

            fitted = Fitted(local.model_, local.record_)
            fitted = local._settle(fitted, cross_fit(local, keys, refit, fitted.stages))
            local.adopt(*fitted)
        self.adopt(local.model_, local.record_)
        self.exchange_ = report
        if self.checkpoint is not None:
            FilePath(self.checkpoint).unlink(missing_ok=True)
        return self

    def _fit_parts(
        self,
        client: Client,
        local: BaseBooster,
        parts: list[Any],
        pairs: dict[str, tuple[Any, Any]],
        callbacks: list[Callback],
        *,
        weighted: bool,
        keeps_keys: bool = False,
        plan: partitions.Plan | None = None,
    ) -> tuple[Survey, partitions.Plan, RowKeys | None, ExchangeReport]:
        """Fit a local booster to delayed `Part` objects, but for its calibration.

        A fold shares the ``plan`` of the fit to all rows: its weights and its cuts.
        """
        goes_on = local.__sklearn_is_fitted__()
        settings = local._check_settings()
        shape = settings.shape
        survey = Survey(client, parts, self.timeout)
        noted = clone(local)
        if goes_on:
            noted.adopt(local.model_, local.record_)
        found = survey.check(noted, weighted=weighted)
        given, plan = plan, found if plan is None else plan
        n_classes = plan.classes.size
        if goes_on:
            check_continuation(local, plan.classes, settings.n_estimators)
        stopping, keys, unseen = local._stops(pairs, survey.n_rows), None, []
        holds_out = stopping is not None and not pairs
        chooses = not goes_on and stopping is None and given is None
        chooses &= settings.n_estimators is None or shape.is_open
        if keeps_keys or holds_out or chooses:
            keys, masses = survey.keys(plan)
        race = None
        if chooses and keys is not None:
            race = self._choose(survey, keys, local, settings, plan, noted)
        n_estimators = settings.n_estimators or USUAL_ROUNDS
        max_bins = settings.max_bins or MOST_BINS
        if race is not None:
            shape, n_estimators = race.shape, race.choice.n_estimators
            max_bins = settings.max_bins or _usual_bins(survey.n_rows)
        if stopping is not None and keys is not None and holds_out:
            held = stopping.hold_out(keys.hashes, keys.labels, masses, np.arange(n_classes))
            unseen = survey.hold_out(held)
        encoder = None if given is not None else survey.encoder(plan, ranked=not shape.is_stump)
        if goes_on:
            check_categories(local, encoder)
        outline = outline_of(noted, plan.classes, encoder)
        monotonic = local._directions(outline)
        shape = shape.fitted_to(n_classes, survey.n_training)
        plan = replace(plan, encoder=encoder, shape=shape)
        cuts = survey.cuts(plan, max_bins) if given is None else given.cuts
        assert cuts is not None
        plan = replace(plan, cuts=cuts)
        held_out = join([(plan.columns(part), part.y, plan.weigh(part)) for part in unseen])
        watch = local._watch(noted, outline, pairs, callbacks, stopping, held_out)
        with ActorExchange(client, survey.parts, plan, self.timeout) as exchange:
            exchange.place(survey.release())
            shared = SharedTrainingSet(
                exchange,
                cuts,
                n_classes,
                integer_weights=plan.integer_weights,
                shape=shape,
                monotonic=monotonic,
            )
            begun = time.perf_counter()
            fitted = local._boost(shared, outline, n_estimators, watch, goes_on=goes_on)
            if race is not None:
                fitted = fitted._replace(record=replace(fitted.record, choice=race.choice))
            local.adopt(*fitted)
            seconds = time.perf_counter() - begun
            waited = max(exchange.seconds - exchange.busiest(), 0.0)
            report = ExchangeReport(seconds, waited, exchange.n_asked, exchange.n_lost)
        return survey, plan, keys, report

    def _choose(
        self,
        survey: Survey,
        keys: RowKeys,
        local: BaseBooster,
        settings: Settings,
        plan: partitions.Plan,
        noted: BaseBooster,
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
            settings.max_bins or _usual_bins(at.size),
            lambda encoder: local._directions(outline_of(noted, plan.classes, encoder)),
        )
        rounds = settings.n_estimators
        given = settings.shape, rounds, local._start, None, 1, lambda steps: None
        return choose_size(rows, keys.take(at), *given)

    def _bring(self, client: Client, pair: tuple[Any, Any]) -> Iterator[Any]:
        """Yield the two of a pair in memory."""
        for each in pair:
            if partitions.is_collection(each):
                futures = client.compute(partitions.parts_of("eval_set", each))
                ClusterWatch(client, self.timeout).wait(futures)
                each = partitions.stack(client.gather(futures))
            yield each

    def to_local(self) -> BaseBooster:
        """Return the ordinary classifier of this fit."""
        return self._new_local().adopt(self.model_, self.record_)

    def decision_function(self, X: Any) -> Any:
        """Return the normalised vote; lazily, as a dask array, for a collection."""
        return self._lazily("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Return the label that the vote is for; lazily for a collection."""
        return self._lazily("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class; lazily for a collection."""
        return self._lazily("predict_proba", X)

    def save(self, path: Path) -> None:
        """Write the model of `to_local` to a JSON file, atomically."""
        self.to_local().save(path)

    def _lazily(self, method: str, X: Any) -> Any:
        """Return a prediction of the local classifier, part by part if there are parts."""
        local = self.to_local()
        if not partitions.is_collection(X):
            return getattr(local, method)(X)
        n_classes, labels = local.classes_.size, method == "predict"
        one = labels or (method == "decision_function" and n_classes == 2)
        width, dtype = (() if one else (n_classes,)), local.classes_.dtype if labels else float
        parts = partitions.parts_of("X", X)
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
        predict, model = dask.delayed(_predict), dask.delayed(local)
        arrays = [
            da.from_delayed(predict(model, method, part, dtype, width), (n, *width), dtype)
            for part, n in zip(parts, sizes, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)

    def _find_client(self) -> Client:
        """Return the client; raise ValueError if there is none, or a closed one."""
        try:
            client = default_client() if self.client is None else self.client
        except ValueError:
            raise ValueError(
                "a fit needs a cluster: make a distributed.Client first, or give client="
            ) from None
        if not isinstance(client, Client):
            raise ValueError(f"client must be a distributed.Client; got {shown(client)}")
        if client.status != "running":
            raise ValueError(f"client must be running; it is {client.status}")
        return client

    def _begin(self) -> BaseBooster:
        """Return a local booster: new, fitted before (``warm_start``), or of the checkpoint."""
        local = self._new_local()
        if self.checkpoint is not None and FilePath(self.checkpoint).exists():
            saved = load_model(self.checkpoint)
            if type(saved) is not type(local) or saved.get_params() != local.get_params():
                raise ValueError(
                    f"{self.checkpoint} is of a fit with other settings: {shown(saved)}"
                )
            return saved
        if self.warm_start and self.__sklearn_is_fitted__():
            local.adopt(self.model_, self.record_)
        return local

    def _new_local(self) -> BaseBooster:
        """Return the ordinary classifier with these settings."""
        kind = self._local_class()
        names = kind().get_params(deep=False)
        return kind(**{name: getattr(self, name) for name in names})

    def _local_class(self) -> type[BaseBooster]:
        return next(kind for kind in type(self).__mro__ if kind in BOOSTERS.values())

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # it belongs to this process


def _usual_bins(n_examples: int) -> int:
    return FEW_BINS if n_examples < SMALL else MOST_BINS


def _predict(local: BaseBooster, method: str, part: Any, dtype: Any, width: tuple[int, ...]) -> Any:
    if part.shape[0] == 0:  # the checks of a prediction refuse no rows
        return np.empty((0, *width), dtype)
    return getattr(local, method)(part)


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
