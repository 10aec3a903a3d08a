"""An adversary that looks to the end of the game: it keeps the best chip hard to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames._kernels.sums import matvec
from driftgames.core.checks import check_integer
from driftgames.core.typing import FloatArray
from driftgames.games.adversaries import zero_one_losses
from driftgames.games.chips import Chips
from driftgames.games.rules import DGv1

_NODES = np.arange(-40, 61) / 10.0
_SLOPE = 1.702  # of the logistic function that is nearest to the normal distribution


@dataclass(frozen=True)
class LookaheadAdversary:
    r"""Maximises the regret that coins would end with, one round after another.

    .. math:: \ell_t \in \arg\max_{\ell \in \{0, 1\}^N}
              E \max_i \Bigl(-s_i - z_i + \tfrac12 \sqrt{T - t}\; g_i\Bigr),
              \qquad z_i = \ell_i - p\cdot\ell

    The expectation is the regret at the end of the game if all later losses were fair coins,
    whose sums are nearly normal: the :math:`g_i` are independent logistic variables of about
    unit variance. No player can prevent that such an expectation keeps its value or rises, since
    the average over coins keeps it. So the regret at the end is about the regret on coins or more,
    without luck. `GreedyAdversary` sees only the next round and is much weaker.

    If there are more than `ENUMERATED` losses of 0 and 1, the losses split the chips in the
    order of their positions or of their probabilities.

    Parameters
    ----------
    horizon : int
        The number of rounds of the game.

    Examples
    --------
    >>> from driftgames.games import GreedyAdversary, PotentialPlayer, play
    >>> from driftgames.potentials import Exponential
    >>> phi = Exponential.for_game(100, 1 / 4)
    >>> for foe in (GreedyAdversary(phi), LookaheadAdversary(100)):
    ...     game = play(PotentialPlayer(phi), foe, n_chips=4, horizon=100)
    ...     print(f"regret {-game.chips.positions.min():.2f}")
    regret 3.04
    regret 8.82
    >>> print(f"bound {phi.hedge_bound(100, 1 / 4):.2f}")
    bound 10.41
    """

    horizon: int

    game: ClassVar[DGv1] = DGv1()

    def __post_init__(self) -> None:
        check_integer("horizon", self.horizon, least=1)

    def moves(self, chips: Chips, p: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the candidate moves with the largest regret to be expected."""
        losses = zero_one_losses(chips, p)
        candidates = losses - matvec(losses, p)[:, np.newaxis]
        regrets = -(chips.positions + candidates)
        ahead = expected_maximum(regrets, max(self.horizon - chips.t - 1, 0))
        return np.asarray(candidates[int(np.argmax(ahead))])


def expected_maximum(regrets: FloatArray, n_left: int) -> FloatArray:
    """Return, for each row, about the expected maximum after ``n_left`` rounds of coins.

    The integral of one minus the distribution function, by a sum over a grid.

    >>> expected_maximum(np.array([[1.0, 0.0]]), 0)
    array([1.])
    >>> expected_maximum(np.zeros((1, 2)), 100).round(2)  # 5 / sqrt(pi) = 2.82 for normal ones
    array([2.94])
    """
    top = regrets.max(axis=1)
    if n_left == 0:
        return np.asarray(top)
    sigma = 0.5 * float(np.sqrt(n_left))
    grid = _NODES * sigma
    apart = (top[:, np.newaxis, np.newaxis] + grid[:, np.newaxis] - regrets[:, np.newaxis]) / sigma
    below = 1.0 / (1.0 + exp_all(np.minimum(-_SLOPE * apart, 700.0).ravel()))
    share = np.asarray(below.reshape(apart.shape).prod(axis=2))
    tail = np.heaviside(_NODES, 0.5) - share
    return np.asarray(top + matvec(np.ascontiguousarray(tail), np.full(grid.size, sigma / 10.0)))
