"""The survey before a fit: labels, features, weights and cuts, from all partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from distributed import Client

from driftgames.boosting.base import BaseBooster
from driftgames.boosting.bins import Array
from driftgames.boosting.booster_input import two_classes
from driftgames.boosting.cut_summary import CutSummary
from driftgames.boosting.cuts import Cuts
from driftgames.boosting.sample_weights import WeightScale
from driftgames.dask import partitions
from driftgames.dask.exchange import ClusterWatch

_FAN_IN = 8  # summaries that are merged at a time


class Survey:
    """Computes the partitions, and what one place must know of them.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    parts : list of Delayed
        The partitions, `Part` objects.
    timeout : float
        Seconds after which what does not answer counts as gone.
    """

    def __init__(self, client: Client, parts: Sequence[Any], timeout: float) -> None:
        self._client = client
        self._watch = ClusterWatch(client, timeout)
        futures = client.compute(list(parts))
        heads = self._map(partitions.behead, futures)
        self._heads = {k: head for k, head in enumerate(heads) if head is not None}
        self._futures = {k: futures[k] for k, head in self._heads.items() if head.n_rows}
        self.scale: WeightScale | None = None

    @property
    def n_rows(self) -> int:
        """The number of examples of positive weight."""
        return sum(head.n_rows for head in self._heads.values())

    def check(self, booster: BaseBooster, *, weighted: bool) -> Array:
        """Return the classes; note the features on the booster and the scale of the weights."""
        if not self._heads:
            raise ValueError("X must have examples; all partitions are empty")
        first, one = next(iter(self._heads.items()))
        for k, head in self._heads.items():
            if (head.n_features, head.names) != (one.n_features, one.names):
                raise ValueError(
                    f"all partitions must have the same features; partition {first} has "
                    f"{_features(one)}, partition {k} has {_features(head)}"
                )
        if booster.__sklearn_is_fitted__() and (
            booster.n_features_in_ != one.n_features or _names(booster) != one.names
        ):
            raise ValueError(f"the fit goes on with the same features; got {_features(one)}")
        booster.n_features_in_ = one.n_features
        if one.names is not None:
            booster.feature_names_in_ = np.array(one.names, dtype=object)
        classes = two_classes(np.concatenate([head.labels for head in self._heads.values()]))
        if weighted:
            present = np.unique(np.concatenate([head.weighty for head in self._heads.values()]))
            if present.size < 2:
                raise ValueError(
                    "sample_weight must not be zero for all of one class; positive weights have "
                    f"the classes {present.tolist()} of {classes.tolist()}"
                )
            spans = [head.span for head in self._heads.values() if head.span is not None]
            span = min(low for low, _ in spans), max(high for _, high in spans)
            totals = self._map(partitions.weight_totals, list(self._futures.values()), span)
            self.scale = WeightScale.of(span, reduce(add, totals))
        return classes

    def cuts(self, max_bins: int) -> Cuts:
        """Return the cuts, from summaries that the workers merge."""
        client, futures = self._client, list(self._futures.values())
        level = client.map(
            partitions.summarise, futures, scale=self.scale, max_bins=max_bins, pure=False
        )
        while len(level) > 1:
            groups = [level[k : k + _FAN_IN] for k in range(0, len(level), _FAN_IN)]
            level = [client.submit(partitions.merge, group, pure=False) for group in groups]
        found: Cuts = self._map(CutSummary.cuts, level)[0]
        return found

    def release(self) -> dict[int, Any]:
        """Return the partitions in memory by their numbers, and forget them."""
        futures, self._futures = self._futures, {}
        return futures

    def _map(self, task: Callable[..., Any], futures: list[Any], *arguments: Any) -> list[Any]:
        """Return the results of a task for each partition."""
        answers = [self._client.submit(task, each, *arguments, pure=False) for each in futures]
        self._watch.wait(answers)
        found: list[Any] = self._client.gather(answers)
        for answer in answers:
            answer.release()
        return found


def _names(booster: BaseBooster) -> tuple[str, ...] | None:
    names = getattr(booster, "feature_names_in_", None)
    return None if names is None else tuple(names.tolist())


def _features(head: partitions.Head) -> str:
    return f"{head.n_features}" if head.names is None else f"{list(head.names)}"
