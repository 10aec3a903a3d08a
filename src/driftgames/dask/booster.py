"""Boosters on Dask collections: the local fit with its training set on the workers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import dask.array as da
import numpy as np
from distributed import Client, default_client

import dask
from driftgames.boosting import BOOSTERS
from driftgames.boosting.booster import BaseBooster
from driftgames.boosting.data.checks import ExampleChecks
from driftgames.boosting.fit.fit_booster import fit_booster
from driftgames.boosting.fit.watch import Callback, EvaluationPairs, name_sets
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.checks import is_real, shown
from driftgames.core.typing import Path
from driftgames.dask import partitions
from driftgames.dask.cluster_source import ClusterSource
from driftgames.dask.exchange import ClusterWatch


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

    Attributes
    ----------
    exchange_ : ExchangeReport
        Where the time of the rounds went.
    """

    _: KW_ONLY
    client: Any = None
    timeout: float = 300.0

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] = (),
        **unknown: Any,
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
            A failed or interrupted call does not change the booster, and leaves nothing on the
            workers.
        """
        self._refuse(unknown)
        if not (is_real(self.timeout) and 0 < self.timeout < math.inf):
            raise ValueError(f"timeout must be a positive number; got {shown(self.timeout)}")
        client = self._find_client()
        split = partitions.split(X, y, sample_weight)
        with client.as_current():  # actors and `wait` ask for the current client
            pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
            return self._fit(client, split, pairs, callbacks)

    def _fit(
        self,
        client: Client,
        split: list[tuple[Any, ...]],
        evaluated: EvaluationPairs,
        callbacks: Sequence[Callback],
    ) -> Self:
        """Fit the booster to delayed parts of examples, labels and sample weights."""
        local = self._new_local()
        job = local.make_job()
        pairs = {name: tuple(self._bring(client, each)) for name, each in evaluated.items()}
        prepare = dask.delayed(partitions.prepare, pure=False)
        # the checks of a partition depend on this setting alone
        checks = ExampleChecks(type(local)(categorical_features=self.categorical_features))
        parts = [prepare(k, checks, *part) for k, part in enumerate(split)]
        source = ClusterSource(
            client,
            parts,
            self.timeout,
            weighted=len(split[0]) == 3,
            class_weight=self.class_weight,
        )
        columns = source.columns
        # the workers' checks know the columns; here those of evaluation sets are compared with them
        checks = ExampleChecks(local.unfitted_copy(), columns.names, columns.n_features)
        fitted = fit_booster(job, source, local.make_watch(checks, pairs, callbacks))
        self.exchange_ = source.report
        return self.adopt(fitted)

    def _bring(self, client: Client, pair: tuple[Any, Any]) -> Iterator[Any]:
        """Yield the examples and the labels of a pair, in memory."""
        for each in pair:
            if partitions.is_collection(each):
                futures = client.compute(partitions.parts_of("eval_set", each))
                ClusterWatch(client, self.timeout).wait(futures)
                each = partitions.stack(client.gather(futures))
            yield each

    def to_local(self) -> BaseBooster:
        """Return the ordinary classifier of this fit."""
        return self._new_local().adopt(Fitted(self.model_, self.record_))

    def decision_function(self, X: Any) -> Any:
        """Return the normalised vote; lazily, as a dask array, for a collection."""
        return self._lazily("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Return the label of the largest calibrated probability; lazily for a collection."""
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

    def _new_local(self) -> BaseBooster:
        """Return the ordinary classifier with these settings."""
        kinds = BOOSTERS.values()
        kind: type[BaseBooster] = next(kind for kind in type(self).__mro__ if kind in kinds)
        names = kind().get_params(deep=False)
        return kind(**{name: getattr(self, name) for name in names})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # it belongs to this process


def _predict(local: BaseBooster, method: str, part: Any, dtype: Any, width: tuple[int, ...]) -> Any:
    if part.shape[0] == 0:  # the checks of a prediction refuse no rows
        return np.empty((0, *width), dtype)
    return getattr(local, method)(part)
