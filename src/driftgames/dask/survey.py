"""The survey before a fit: labels, features, weights and cuts, from all partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from distributed import Client

import dask
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.data.sample_weights import WeightScale, class_factors
from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.face.input_checks import find_classes
from driftgames.boosting.fit.calibration import RowKeys
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.dask import partitions
from driftgames.dask.exchange import ClusterWatch
from driftgames.dask.partitions import Part, Plan

_FAN_IN = 8  # summaries that are merged at a time


class Survey:
    """Computes the partitions, delayed `Part` objects, and what one place must know of them.

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
        self._n_held_out = 0

    @property
    def n_rows(self) -> int:
        """The number of examples of positive weight."""
        return sum(head.n_rows for head in self._heads.values())

    @property
    def n_training(self) -> int:
        """The number of examples to train on: those that are not held out."""
        return self.n_rows - self._n_held_out

    def check(self, booster: BaseBooster, *, weighted: bool) -> Plan:
        """Return the classes, weights and categories; note the features on the booster."""
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
        if booster.__sklearn_is_fitted__() and (
            booster.n_features_in_ != one.n_features or _names(booster) != one.names
        ):
            raise ValueError(f"the fit goes on with the same features; got {_features(one)}")
        booster.n_features_in_ = one.n_features
        if one.names is not None:
            booster.feature_names_in_ = np.array(one.names, dtype=object)
        heads = list(self._heads.values())
        plan = Plan(find_classes(np.concatenate([head.labels for head in heads])))
        seen = [head.seen for head in heads if head.seen is not None]
        if seen:
            plan = replace(plan, categories=reduce(add, seen).categories)
        if weighted or booster.class_weight is not None:
            plan = self._weigh(plan, booster.class_weight)
        return plan

    def _weigh(self, plan: Plan, class_weight: Any) -> Plan:
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

    def keys(self, plan: Plan) -> tuple[RowKeys, IntArray]:
        """Return what folds are made of, for all partitions in order, and the weights."""
        keys, masses = zip(*self._map(partitions.find_keys, self._present, plan), strict=True)
        hashes, labels, weights = zip(*keys, strict=True)
        joined_weights = None if weights[0] is None else np.concatenate(weights)
        joined = RowKeys(np.concatenate(hashes), np.concatenate(labels), joined_weights)
        return joined, np.concatenate(masses)

    def cut(self, of_all: BoolArray) -> dict[int, BoolArray]:
        """Return an array over all examples by the numbers of their partitions."""
        sizes = {k: head.n_rows for k, head in self._heads.items() if head.n_rows}
        ends = np.cumsum(list(sizes.values()))[:-1]
        return dict(zip(sizes, np.split(of_all, ends), strict=True))

    def take(self, wanted: BoolArray) -> list[Part]:
        """Return some of the examples, by partition; they stay on the workers too."""
        by_part = {k: some for k, some in self.cut(wanted).items() if some.any()}
        return self._gather(list(self._taken(by_part).values()))

    def hold_out(self, held_out: BoolArray) -> list[Part]:
        """Keep the other examples from now on; return these, by partition."""
        unseen, self._n_held_out = self.take(held_out), int(np.count_nonzero(held_out))
        rest = {k: ~some for k, some in self.cut(held_out).items() if not some.all()}
        take = dask.delayed(partitions.Part.take, pure=False)
        self.parts = {k: take(self.parts[k], some) for k, some in rest.items()}
        self._futures = self._taken(rest)
        return unseen

    def _taken(self, by_part: dict[int, BoolArray]) -> dict[int, Any]:
        """Take some rows of each partition on its worker."""
        take, submit = partitions.Part.take, self._client.submit
        return {k: submit(take, self._futures[k], some, pure=False) for k, some in by_part.items()}

    def encoder(self, plan: Plan, *, ranked: bool) -> CategoryEncoder | None:
        """Return the encoder of the categories, if there are any."""
        if plan.categories is None:
            return None
        counts = reduce(add, self._map(partitions.count_categories, self._present, plan))
        exact = plan.integer_weights
        return CategoryEncoder.of_counts(
            plan.categories, counts, integer_weights=exact, ranked=ranked
        )

    def cuts(self, plan: Plan, max_bins: int) -> Cuts:
        """Return the cuts, from summaries that the workers merge."""
        cuts = self._find_cuts(plan, max_bins, self.n_training)
        if cuts is None:  # rows have many copies
            cuts = self._find_cuts(plan, max_bins, None)
        assert cuts is not None
        return cuts

    def _find_cuts(self, plan: Plan, max_bins: int, n_expected: int | None) -> Cuts | None:
        client = self._client
        task, settings = partitions.summarise, {"max_bins": max_bins, "n_expected": n_expected}
        level = client.map(task, self._present, plan=plan, **settings, pure=False)
        while len(level) > 1:
            groups = [level[k : k + _FAN_IN] for k in range(0, len(level), _FAN_IN)]
            level = [client.submit(partitions.merge, group, pure=False) for group in groups]
        cuts: Cuts | None = self._map(partitions.choose_cuts, level)[0]
        return cuts

    @property
    def _present(self) -> list[Any]:
        return list(self._futures.values())

    def release(self) -> dict[int, Any]:
        """Return the partitions in memory by their numbers, and forget them."""
        futures, self._futures = self._futures, {}
        return futures

    def vote(
        self, parts: Sequence[Any], held_out: BoolArray, booster: BaseBooster, stages: Sequence[int]
    ) -> FloatArray:
        """Return the votes of a booster on the examples ``held_out``, in their order.

        There is a row of votes for each of the ``stages``, which are numbers of rounds.
        """
        task, model = dask.delayed(partitions.vote, pure=False), dask.delayed(booster)
        by_part = {k: some for k, some in self.cut(held_out).items() if some.any()}
        futures = self._client.compute(
            [task(parts[k], some, model, stages) for k, some in by_part.items()]
        )
        return np.concatenate(self._gather(futures), axis=1)

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


def _names(booster: BaseBooster) -> tuple[str, ...] | None:
    names = getattr(booster, "feature_names_in_", None)
    return None if names is None else tuple(names.tolist())


def _features(head: partitions.Head) -> str:
    return f"{head.n_features}" if head.names is None else f"{list(head.names)}"
