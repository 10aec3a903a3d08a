"""Games with delays: each loss comes a number of pulls after its own pull."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from driftgames.bandit.engine import Engine
from driftgames.bandit.types import Addresses, ArmArray, Rounds
from driftgames.core.typing import FloatArray


def check_delays(delays: npt.ArrayLike, rounds: int) -> Rounds | None:
    """Return one delay per round, or None if all are 0.

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


class DelayedReplay:
    """Plays rows of losses; the loss of pull t comes right after pull ``t + delays[t]``.

    Losses that are due at the same time come in the order of their pulls. Losses that are due
    after the last row never come.
    """

    def __init__(self, engine: Engine, delays: Rounds) -> None:
        self._engine, self._delays = engine, delays
        self._waiting: list[tuple[int, int, int, float, float]] = []
        self._t = 0

    def __call__(
        self, losses: FloatArray, addresses: Addresses, drawn: ArmArray, paid: FloatArray
    ) -> None:
        """Play the rows, as `Engine.replay` does without delays."""
        engine, waiting = self._engine, self._waiting
        for row in range(losses.shape[0]):
            arm, prob = engine.draw(*addresses)
            loss, t = float(losses[row, arm]), self._t
            due = t + int(self._delays[t])
            heapq.heappush(waiting, (due, t, arm, loss, prob + engine.gamma))
            while waiting and waiting[0][0] <= t:
                engine.learn(*heapq.heappop(waiting)[2:])
            drawn[row], paid[row] = arm, loss
            self._t += 1
