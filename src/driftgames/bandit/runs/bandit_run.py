"""The result of a run: the drawn arms, the totals of all arms, and the curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel
from driftgames._kernels.sums import dot
from driftgames.bandit.runs.pull_run import PullRun
from driftgames.bandit.types import ArmArray
from driftgames.core.checks import check_integer
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.core.units import Units
from driftgames.potentials import NoBoundError


def nothing_promised(played: int, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> NoReturn:
    """Say why a run that is not the first has no bound."""
    raise NoBoundError(
        f"bounds count from a policy's first round, and it had played {played:,} before this run"
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class BanditRun(PullRun):
    """The rounds of one call of `run`, in units of loss.

    Parameters
    ----------
    title : str
        The name of the policy.
    first_round : int
        The 1-based number of the first round. It is above 1 if the policy had played before.
    checkpoints : array of int, shape (C,)
        The rounds of the curves and totals, counted from the start of the run; the last is T.
    bound : callable
        ``bound(horizon, epsilon)`` of the policy after the run; epsilon is a fraction of the
        arms. A policy that had played before has none.
    smallest_epsilon : float
        ``1 / K``.
    arms : tuple
        The arms, in the order of all arrays.
    drawn : array of int32, shape (T,)
        The index of the arm that was drawn in each round.
    learner_totals : array of shape (C,)
        The total loss of the player at each checkpoint.
    arm_totals : array of shape (C, K)
        The total loss of each arm at each checkpoint.
    gaps : array of shape (K,), or None
        The mean loss of each arm less that of the best arm, if the environment knows it.
    caveat : str
        The sense in which the bound holds.
    """

    arm_totals: FloatArray
    gaps: FloatArray | None

    @property
    def _rival_totals(self) -> FloatArray:
        return self.arm_totals

    @property
    def arm_losses(self) -> FloatArray:
        """The total loss of each arm."""
        return np.asarray(self.arm_totals[-1])

    @property
    def pseudo_regret(self) -> float:
        """The sum of the gaps of all pulls, for environments with constant gaps."""
        if self.gaps is None:
            raise ValueError("no pseudo-regret: the gaps between the arms are not constant here")
        return dot(self.pulls.astype(np.float64), np.ascontiguousarray(self.gaps))

    def plot_pulls(self, *, most: int = 6, ax: Axes | None = None) -> Figure:
        """Draw the number of pulls of each arm over time."""
        from driftgames.plots.regret import plot_pulls

        return plot_pulls(self.drawn, [str(arm) for arm in self.arms], most=most, ax=ax)


class Recorder:
    """Records a run block by block; it keeps totals at checkpoints only."""

    def __init__(self, rounds: int, n_arms: int, points: int) -> None:
        kept = min(check_integer("points", points, least=1), max(rounds, 1))
        self.drawn: ArmArray = np.empty(rounds, dtype=np.int32)
        self.paid = np.empty(rounds)
        self.checkpoints = np.unique(np.linspace(0, rounds, kept + 1).astype(np.int64)[1:])
        self.learner = np.zeros(self.checkpoints.size)
        self.arms = np.zeros((self.checkpoints.size, n_arms))

    def add(self, losses: FloatArray, block: slice) -> None:
        """Add each row of a block to the stretch between two checkpoints that holds it."""
        paid = self.paid[block]
        add_up(losses, paid, block.start, self.checkpoints, self.learner, self.arms)

    def totals(self, units: Units) -> tuple[FloatArray, FloatArray]:
        """Return the totals of the player and of the arms at the checkpoints, in units of loss.

        They are added up in place, once: another array would double the time of a run.
        """
        learner, arms = np.cumsum(self.learner), np.cumsum(self.arms, axis=0, out=self.arms)
        if units.plain:
            return learner, arms
        shift = units.least * self.checkpoints
        return learner * units.width + shift, arms * units.width + shift[:, np.newaxis]


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
