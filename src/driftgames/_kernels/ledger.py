"""The ledger of a game: clock, the learner's total and the best action's, and row checks.

Cumulative losses are float64 whatever the losses are, so that they count what the learner's
own total counts. They are kept above a floor that rises with them, so that they stay small
numbers however long the game. The floor is a whole number: taking it off rounds nothing.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from driftgames._kernels.jit import kernel
from driftgames.core.typing import FloatArray

CLOCK, LEAD, LOWEST, FLOOR = 0, 1, 2, 3
"""Rounds played; the learner's total and the lowest, both above the floor; the floor."""

_RISE = 256.0  # rare enough to cost nothing, low enough to keep 44 binary places

ROUNDING = _RISE * 2.0**-52
"""What one addition may round a total by, as long as it is not far above the floor."""


@kernel
def settle(cumulative: FloatArray, ledger: FloatArray) -> None:
    """Raise the floor when all actions have left it far below."""
    if ledger[LOWEST] >= _RISE:
        rise = float(int(ledger[LOWEST]))
        for i in range(cumulative.size):
            cumulative[i] -= rise
        ledger[LEAD] -= rise
        ledger[LOWEST] -= rise
        ledger[FLOOR] += rise


@kernel
def all_inside(row: npt.NDArray[Any], low: float, high: float) -> bool:
    """Whether every entry lies in ``[low, high]``; NaN does not."""
    strays = 0
    for i in range(row.size):
        strays += not ((row[i] >= low) & (row[i] <= high))
    return strays == 0
