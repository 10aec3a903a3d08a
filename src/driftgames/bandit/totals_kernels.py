"""The totals of a block of losses: of the learner and of every arm."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel
from driftgames.core.typing import FloatArray


@kernel
def add_up(
    losses: FloatArray,
    paid: FloatArray,
    first: int,
    checkpoints: npt.NDArray[np.int64],
    learner: FloatArray,
    arms: FloatArray,
) -> None:
    """Add every row to the stretch between checkpoints that it lies in.

    ``first`` is the 0-based round of the first row; a stretch ends with its checkpoint.
    """
    row, rows = 0, losses.shape[0]
    stretch = np.searchsorted(checkpoints, first + 1)
    while row < rows:
        end = min(rows, checkpoints[stretch] - first)
        for each in range(row, end):
            learner[stretch] += paid[each]
        total = arms[stretch]
        while row + 4 <= end:  # four rows at a time touch the totals once
            for arm in range(total.size):
                total[arm] += (losses[row, arm] + losses[row + 1, arm]) + (
                    losses[row + 2, arm] + losses[row + 3, arm]
                )
            row += 4
        while row < end:
            for arm in range(total.size):
                total[arm] += losses[row, arm]
            row += 1
        stretch += 1
