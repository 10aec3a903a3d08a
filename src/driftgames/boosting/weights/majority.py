"""The weights of boost-by-majority, from binomial probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import total
from driftgames.boosting.weights.by_mistakes import MistakeWeights
from driftgames.core.typing import FloatArray, IntArray


@dataclass(frozen=True)
class MajorityWeights(MistakeWeights):
    r"""The weights of boost-by-majority: the chance that the vote will hang on this round.

    .. math:: w = \binom{T-t}{h} \bigl(\tfrac12 + \gamma\bigr)^h
              \bigl(\tfrac12 - \gamma\bigr)^{T-t-h}, \qquad
              h = \lfloor T/2 \rfloor - (t - 1 - k)

    where ``h`` right votes in the rounds after this one leave the decision to it. This is what
    the potentials of the minimax game with moves ``-1, +1`` come to at :math:`s = (t-1) - 2k`.
    [LS14, Eq. (1)]
    """

    horizon: int
    edge: float

    @property
    def game_value(self) -> float:
        """The largest share of examples that err in the end if every edge is at least `edge`."""
        # from the likeliest number of right votes outwards: the largest terms have the least error
        middle = round(self.horizon * (0.5 + self.edge))
        steps = self._log_steps(self.horizon, np.arange(1, self.horizon + 1))
        below = -np.cumsum(steps[:middle][::-1])[::-1]
        chances = exp_all(np.concatenate([below, [0.0], np.cumsum(steps[middle:])]))
        return total(chances[: self.horizon // 2 + 1]) / total(chances)

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights relative to the largest that an example may have."""
        left = self.horizon - t
        wanted = self.horizon // 2 - (t - 1) + mistakes
        open_still = (wanted >= 0) & (wanted <= left)
        weights = np.zeros(mistakes.size)
        if not masses[open_still].any():
            return weights
        logs = np.append(0.0, np.cumsum(self._log_steps(left, wanted[open_still][1:])))
        highest = logs[masses[open_still] > 0].max()
        # a level without examples may be higher; its weight is not used
        weights[open_still] = exp_all(np.minimum(logs - highest, 0.0))
        return weights

    def _log_steps(self, left: int, h: IntArray) -> FloatArray:
        """Return ``log(w(h) / w(h - 1))`` for ``left`` rounds after this one.

        Neighbours differ by a simple factor, and logarithms stay in the range of floats. NumPy
        computes running sums of them in order, on every machine.
        """
        odds = (0.5 + self.edge) / (0.5 - self.edge)
        return log_all((left - h + 1) / h * odds)
