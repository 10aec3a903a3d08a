"""Games whose losses come late: each a number of pulls after the pull it belongs to."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from driftgames._kernels.bandit_exponential import IntArray
from driftgames.bandit.engines import Engine, Source
from driftgames.core.typing import FloatArray

Delays = npt.NDArray[np.int64]


def check_delays(delays: npt.ArrayLike, rounds: int) -> Delays | None:
    """Return one delay per round, or None where all are 0.

    >>> check_delays(2, 3)
    array([2, 2, 2])
    """
    given = np.asarray(delays)
    if given.dtype.kind not in "iu" or given.shape not in ((), (rounds,)):
        raise ValueError(
            f"delays must be an integer or {rounds} integers; got {given.dtype} of shape "
            f"{given.shape}"
        )
    if given.size and given.min() < 0:
        raise ValueError(f"delays must be nonnegative; got {given.min()}")
    return np.broadcast_to(given.astype(np.int64), rounds) if given.any() else None


class LateReplay:
    """Plays rows of losses; the loss of pull t comes right after pull ``t + delays[t]``.

    Losses that come at the same time come in the order of their pulls. Those that are due after
    the last row never come.
    """

    def __init__(self, engine: Engine, delays: Delays) -> None:
        self._engine, self._delays = engine, delays
        self._under_way: list[tuple[int, int, int, float, float]] = []
        self._t = 0

    def __call__(
        self, losses: FloatArray, source: Source, drawn: IntArray, paid: FloatArray
    ) -> None:
        """Play the rows, as `Engine.replay` does without delays."""
        engine, under_way = self._engine, self._under_way
        for row in range(losses.shape[0]):
            arm, prob = engine.draw(*source)
            loss, t = float(losses[row, arm]), self._t
            due = t + int(self._delays[t])
            heapq.heappush(under_way, (due, t, arm, loss, prob + engine.gamma))
            while under_way and under_way[0][0] <= t:
                engine.learn(*heapq.heappop(under_way)[2:])
            drawn[row], paid[row] = arm, loss
            self._t += 1
