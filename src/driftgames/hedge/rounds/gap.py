"""Learners whose regret is bounded by their mixability gap, up to the rounding of totals.

In a very easy game the gap is no larger than the rounding errors of the totals. Totals of losses
in [0, 1] stay near the floor. Those of losses without a range may be large in between and small at
the end, so the largest one is remembered: it is the last number of the memory.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from driftgames._kernels.arithmetic import choose, greater, size
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.lanes import LANES, fold_lesser, load, spread
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.rounds.scale_free import ScaleFreeLearner
from driftgames.hedge.rounds.totals import LEARNER, ROUNDING_ERROR
from driftgames.hedge.rounds.two_pass import State

_RELATIVE_ERROR = 16 * 2.0**-53
"""The rounding error of a round without a range, relative to the largest total so far.

In units of 2**-53: 2 for adding to two totals, 3 for lowering them with the floor, 4 for the
distances between totals, 2 for the growth of the lowest total, and 4 for its distance from the
learner's loss. That loss is a rounded sum, but the gap and the regret both contain it as it is.
"""


class GapLearner(ScaleFreeLearner):
    """A learner that measures its mixability gap."""

    _gap_at: ClassVar[int]
    """The place of the gap in the memory."""

    @property
    def gap(self) -> float:
        """The cumulative mixability gap, on losses in [0, 1], or in units of loss without range."""
        return float(self._memory[self._gap_at])

    @property
    def _rounded_gap(self) -> float:
        """The gap and the largest rounding error of the regret."""
        error = ROUNDING_ERROR
        if not self._is_bounded:
            error = float(self._memory[-1]) * _RELATIVE_ERROR
        return self.gap + self.t * error

    def _set_state(self, state: Content) -> None:
        super()._set_state(state)
        largest = float(np.abs(self._occupied(self._cumulative)).max())
        if not self._is_bounded and self._memory[-1] < largest:
            raise ValueError(
                f"the memory must end with a total of at least {largest:g}; "
                f"got {self._memory[-1]:g}"
            )


@inner_kernel
def remember_largest(
    state: State, prior: FloatArray | None, losses: FloatArray, learner_loss: float
) -> None:
    """Update the largest total by those after a round, the learner's included.

    Actions of prior 0 do not count.
    """
    cumulative, totals, memory = state
    most = spread(abs(totals[LEARNER] + learner_loss))
    for i in range(0, losses.size, LANES):
        after = size(load(cumulative, i, 0.0) + load(losses, i, 0.0))
        if prior is not None:
            after = choose(load(prior, i, 0.0) > 0.0, after, 0.0)
        most = greater(after, most)
    last = memory.size - 1
    memory[last] = max(memory[last], -fold_lesser(-most))
