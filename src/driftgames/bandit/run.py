"""What a replay gives back: which arms were drawn, what they cost, and the curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from driftgames._kernels.bandit_exponential import IntArray
from driftgames._kernels.bandit_totals import add_up
from driftgames._kernels.sums import dot
from driftgames.certificates import Certificate
from driftgames.core.checks import check_integer
from driftgames.core.typing import FloatArray
from driftgames.potentials import NoBoundError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Bound = Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]
"""``bound(horizon, epsilon)``; it raises `NoBoundError` where nothing is promised."""


def nothing_promised(played: int, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> NoReturn:
    """Say why a run that is not the first has no bound."""
    raise NoBoundError(
        f"bounds count from a policy's first round, and it had played {played:,} before this run"
    )


@dataclass(frozen=True, eq=False)
class BanditRun:
    """The rounds that one call of `run` played, in units of loss.

    Parameters
    ----------
    title : str
        What was run.
    arms : tuple
        The arms, in the order of all arrays.
    drawn : array of int32, shape (T,)
        The index of the arm that was drawn in each round.
    checkpoints : array of int, shape (C,)
        The rounds at which the totals below were taken; the last is T.
    learner_totals : array of shape (C,)
        What the player had lost by then.
    arm_totals : array of shape (C, K)
        What each arm would have lost by then.
    gaps : array of shape (K,), or None
        What a pull of each arm costs on average, where the environment knows.
    bound : callable
        ``bound(horizon, epsilon)`` of the policy as it was when the run began; epsilon is a
        fraction of the arms above. A policy that had played before has none.
    caveat : str
        In what sense the bound holds.
    """

    title: str
    arms: tuple[Any, ...]
    drawn: IntArray
    checkpoints: npt.NDArray[np.int64]
    learner_totals: FloatArray
    arm_totals: FloatArray
    gaps: FloatArray | None
    bound: Bound
    caveat: str

    @property
    def learner_loss(self) -> float:
        """What the player lost in all rounds."""
        return float(self.learner_totals[-1])

    @property
    def arm_losses(self) -> FloatArray:
        """What each arm would have lost in all rounds."""
        return np.asarray(self.arm_totals[-1])

    @property
    def pulls(self) -> npt.NDArray[np.int64]:
        """How often each arm was drawn."""
        return np.bincount(self.drawn, minlength=len(self.arms))

    @property
    def regret(self) -> float:
        """The player's loss less that of the best arm."""
        return self.learner_loss - float(self.arm_losses.min())

    @property
    def pseudo_regret(self) -> float:
        """What the pulls cost on average, for environments whose averages do not change."""
        if self.gaps is None:
            raise ValueError("no pseudo-regret: the gaps between the arms are not constant here")
        return dot(self.pulls.astype(np.float64), np.ascontiguousarray(self.gaps))

    @property
    def regret_over_time(self) -> FloatArray:
        """At each checkpoint, the player's loss less that of the best arm so far."""
        return np.asarray(self.learner_totals - self.arm_totals.min(axis=1))

    @property
    def certificate(self) -> Certificate:
        """The epsilon-regret of this run beside the bound, which mostly is one on the mean."""
        if not self.drawn.size:
            raise ValueError("there is no certificate of a run without rounds")
        return Certificate.of_run(
            self.title,
            self.drawn.size,
            self.arm_losses,
            self.learner_loss,
            self.bound,
            caveat=self.caveat,
        )

    def promised(self) -> FloatArray:
        """Return the bound on `regret_over_time`; infinite where nothing is promised."""
        try:
            if self.drawn.size:
                return np.asarray(self.bound(self.checkpoints, 1.0 / len(self.arms)))
        except NoBoundError:
            pass
        return np.full(self.checkpoints.size, np.inf)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the regret over time against its bound."""
        from driftgames.plots.regret import plot_regret_over_time

        return plot_regret_over_time(
            self.checkpoints.astype(np.float64),
            {self.title: self.regret_over_time},
            {self.title: self.promised()},
            ax=ax,
        )

    def plot_pulls(self, *, most: int = 6, ax: Axes | None = None) -> Figure:
        """Draw how often each arm had been drawn by each round."""
        from driftgames.plots.bandit import plot_pulls

        return plot_pulls(self.drawn, [str(arm) for arm in self.arms], most=most, ax=ax)


class Recorder:
    """Takes down a run block by block; totals are kept at checkpoints only."""

    def __init__(self, rounds: int, n_arms: int, points: int) -> None:
        kept = min(check_integer("points", points, least=1), max(rounds, 1))
        self.drawn: IntArray = np.empty(rounds, dtype=np.int32)
        self.paid = np.empty(rounds)
        self.checkpoints = np.unique(np.linspace(0, rounds, kept + 1).astype(np.int64)[1:])
        self.learner = np.zeros(self.checkpoints.size)
        self.arms = np.zeros((self.checkpoints.size, n_arms))

    def take(self, losses: FloatArray, part: slice) -> None:
        """Add the rows of a block to the stretch between checkpoints that they lie in."""
        paid = self.paid[part]
        add_up(losses, paid, part.start, self.checkpoints, self.learner, self.arms)

    def report(
        self,
        *,
        title: str,
        arms: tuple[Any, ...],
        width: float,
        least: float,
        gaps: FloatArray | None,
        bound: Bound,
        caveat: str,
    ) -> BanditRun:
        """Return the run, brought from losses in [0, 1] to the units of loss."""
        learner, totals = np.cumsum(self.learner), self.arms
        np.cumsum(totals, axis=0, out=totals)
        if (width, least) != (1.0, 0.0):
            shift = least * self.checkpoints
            learner, totals = learner * width + shift, totals * width + shift[:, np.newaxis]
        return BanditRun(
            title=title,
            arms=arms,
            drawn=self.drawn,
            checkpoints=self.checkpoints,
            learner_totals=learner,
            arm_totals=totals,
            gaps=None if gaps is None else gaps * width,
            bound=bound,
            caveat=caveat,
        )
