"""Boosters on a Dask cluster: one booster of a given size is that of memory, byte for byte.

One actor on each worker holds its partitions in bins. A round is one or two exchanges of integer
vectors, and integers add up to the same sums however the rows are cut. ``pip install
driftgames[dask]`` brings what this needs.
"""

from dataclasses import dataclass, field

from driftgames.boosting import (
    NHBoostClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)
from driftgames.dask.booster import DaskBooster
from driftgames.dask.cluster_source import ExchangeReport
from driftgames.dask.exchange import LostWorkersError

__all__ = [
    "DaskBooster",
    "DaskNHBoostClassifier",
    "DaskNHBoostDTClassifier",
    "DaskPotentialBoostClassifier",
    "ExchangeReport",
    "LostWorkersError",
]


@dataclass(eq=False, repr=False)
class DaskNHBoostDTClassifier(DaskBooster, NHBoostDTClassifier):
    """`NHBoostDTClassifier` on a Dask cluster; `DaskBooster` describes what differs."""

    # the defaults of `NHBoostDTClassifier`, which those that all boosters share would hide
    max_depth: int | None = field(default=None, kw_only=True)
    max_leaves: int | str | None = field(default="auto", kw_only=True)


@dataclass(eq=False, repr=False)
class DaskNHBoostClassifier(DaskBooster, NHBoostClassifier):
    """`NHBoostClassifier` on a Dask cluster; `DaskBooster` describes what differs."""


@dataclass(eq=False, repr=False)
class DaskPotentialBoostClassifier(DaskBooster, PotentialBoostClassifier):
    """`PotentialBoostClassifier` on a Dask cluster; `DaskBooster` describes what differs."""
