"""Binned rows: what a booster sees of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import inner_scalar
from driftgames._kernels.structs import Struct
from driftgames.core.typing import IntArray

Array = npt.NDArray[Any]
"""What a kernel takes; its docstring names the type."""

BitArray = npt.NDArray[np.uint8]
"""Votes: 1 for +1 and 0 for -1."""


@dataclass(frozen=True, eq=False)
class FeatureBins(Struct):
    """What the loops know of the bins of each feature; bins are numbered over all features."""

    offsets: IntArray
    """Where the bins of each feature begin, and their end."""
    implicit: IntArray
    """The bin of each feature that rows do not list, or -1."""
    missing: npt.NDArray[np.bool_]
    """Whether the last bin of a feature holds missing values."""
    monotonic: IntArray
    """The sign of the step that the vote may take on each feature, 0 for any."""


@dataclass(frozen=True, eq=False)
class DenseBins:
    """A bin of every feature for every row, by rows and by columns."""

    codes: BitArray
    columns: BitArray


@dataclass(frozen=True, eq=False)
class SparseBins:
    """The bins other than their feature's commonest, by rows and by columns.

    Row ``i`` lists ``codes[starts[i]:starts[i + 1]]``, numbers of bins over all features without
    the commonest ones. Feature ``j`` lists the rows ``listed[list_starts[j]:list_starts[j + 1]]``,
    ascending, and their bins.
    """

    starts: IntArray
    codes: Array
    list_starts: IntArray
    listed: npt.NDArray[np.uint32]
    listed_bins: BitArray


@inner_scalar
def first_from(values: Array, begin: Any, end: Any, x: Any) -> Any:
    """Return the first index from ``begin`` on whose value is not below ``x``, or ``end``."""
    left = end - begin
    while left > 0:
        half = (left + 1) >> 1
        begin += half if values[begin + half - 1] < x else 0
        left -= half
    return begin
