"""Whether numbers lie in their range."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from driftgames._kernels.jit import kernel


@kernel
def all_inside(row: npt.NDArray[Any], low: float, high: float) -> bool:
    """Whether every entry of a row lies in ``[low, high]``; NaN lies outside."""
    outside = 0
    for i in range(row.size):
        outside += not ((row[i] >= low) & (row[i] <= high))
    return outside == 0
