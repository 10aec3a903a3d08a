"""Many seeded games: the mean loss of a policy beside the bound on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit.named_policies import POLICIES, PolicyFactory
from driftgames.bandit.runs.bandit_run import BanditRun
from driftgames.bandit.runs.environments import Environment
from driftgames.certificates import Certificate
from driftgames.certificates.certificate import Bound
from driftgames.certificates.regret_run import promised_at
from driftgames.core.checks import as_floats, check_integer, shown
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.progress import progress as progress_bar
from driftgames.core.typing import Axes, Figure, FloatArray, IntArray
from driftgames.tables import counted


@dataclass(frozen=True, eq=False)
class GameSeries(Displayed):
    """Independent games of one policy in one environment.

    Parameters
    ----------
    title : str
        The policy.
    horizon : int
        The rounds of each game.
    learner_losses : array of shape (G,)
        The total loss of the player in each game.
    arm_losses : array of shape (G, K)
        The total loss of each arm in each game.
    pseudo_regret : array of shape (G,), or None
        The sum of the gaps of all pulls of each game, if the environment knows the gaps.
    checkpoints, regret_over_time : arrays of shape (C,) and (G, C)
        The regret of each game to its best arm so far.
    bound, caveat
        As in `BanditRun`.
    """

    title: str
    horizon: int
    learner_losses: FloatArray
    arm_losses: FloatArray
    pseudo_regret: FloatArray | None
    checkpoints: IntArray
    regret_over_time: FloatArray
    bound: Bound
    caveat: str

    @property
    def regret(self) -> FloatArray:
        """The regret of each game to the arm that was best in it."""
        return np.asarray(self.learner_losses - self.arm_losses.min(axis=1))

    def certificate(self) -> Certificate:
        r"""Return the regret of the means beside its bound, for every epsilon.

        .. math:: E\Bigl[\sum_t \ell_{t,i_t}\Bigr] - E\Bigl[\sum_t \ell_{t,i_\epsilon}\Bigr]

        where :math:`i_\epsilon` is ranked by its own mean, and means over the games stand for
        expectations. The bound of `Exp3IX` is for each game, with probability 1 - delta. It
        holds for the mean too if delta is at most 1/e (see
        `driftgames.certificates.bounds.exp3_ix`). [LS14, Thm. 5]
        """
        games = self.learner_losses.size
        return Certificate.of_run(
            self.title,
            self.horizon,
            self.arm_losses.mean(axis=0),
            float(self.learner_losses.mean()),
            self.bound,
            caveat=f"{self.caveat}; mean of {counted(games, 'game')}",
            rival="the best arm",
        )

    @property
    def promised(self) -> float:
        """The bound on the regret to the best arm; infinite if nothing is promised."""
        return float(self.promised_over_time[-1])

    @property
    def promised_over_time(self) -> FloatArray:
        """The bound on `regret_over_time`; infinite where nothing is promised."""
        return promised_at(self.bound, self.checkpoints, 1.0 / self.arm_losses.shape[1])

    def _facts(self) -> Fields:
        return {
            "games": self.learner_losses.size,
            "rounds": self.horizon,
            "mean regret": float(self.regret.mean()),
            "bound": self.promised,
        }

    def _columns(self) -> Fields:
        games = {"game": np.arange(1, self.learner_losses.size + 1)}
        losses = {"learner loss": self.learner_losses, "regret": self.regret}
        known = {} if self.pseudo_regret is None else {"pseudo-regret": self.pseudo_regret}
        return {**games, **losses, **known}

    def _sketch(self) -> Sketch:
        regret = self.regret_over_time.mean(axis=0)
        return Sketch(self.checkpoints, {"mean regret": regret}, label="round")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the mean regret over time with the spread of the games."""
        from driftgames.plots.regret import plot_regret_bands

        return plot_regret_bands(self.checkpoints, {self.title: self.regret_over_time}, ax=ax)


class Comparison(Displayed, dict[str, GameSeries]):
    """The games of several policies by name: a dict that shows itself as a table."""

    __str__ = Displayed.__str__

    def _headline(self) -> str:
        games = sum(each.learner_losses.size for each in self.values())
        return f"policies {', '.join(self)}; {counted(games, 'game')} in all"

    def _columns(self) -> Fields:
        series = list(self.values())
        return {
            "policy": list(self),
            "mean regret": [float(each.regret.mean()) for each in series],
            "highest": [float(each.regret.max()) for each in series],
            "bound": [each.promised for each in series],
        }

    def _sketch(self) -> Sketch:
        curves = {name: each.regret_over_time.mean(axis=0) for name, each in self.items()}
        rounds = next(iter(self.values())).checkpoints if self else ()
        return Sketch(rounds, curves, label="round")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the mean regret of each policy over time, the spread of the games, and the bound.

        A policy to which nothing is promised has no bound.
        """
        from driftgames.plots.regret import plot_regret_bands
        from driftgames.plots.style import caption

        if not self:
            raise ValueError("there is nothing to draw: no policy has played")
        first = next(iter(self.values()))
        curves = {name: each.regret_over_time for name, each in self.items()}
        bounds = {name: each.promised_over_time for name, each in self.items()}
        figure = plot_regret_bands(first.checkpoints, curves, bounds, ax=ax)
        games = first.regret.size
        band = ", with a band for all but the highest and lowest tenth" * (games > 1)
        caption(
            figure.axes[0] if ax is None else ax, f"Mean regret of {counted(games, 'game')}{band}"
        )
        return figure


def play_games(
    make: PolicyFactory,
    environment: Environment | npt.NDArray[Any],
    horizon: int | None = None,
    *,
    n_games: int = 20,
    seed: int = 0,
    delays: npt.ArrayLike = 0,
    points: int = 128,
    progress: bool = True,
) -> GameSeries:
    """Play ``n_games`` independent games and return their totals.

    Every game of a matrix has other draws of the arms. The losses of an `Oblivious` environment
    in game g depend on ``seed`` and g alone, so that all policies meet the same losses. An
    `Adaptive` environment answers each player with other losses. ``delays`` are those of
    `BanditPolicy.run`.

    >>> from driftgames.bandit import Spiteful
    >>> games = play_games(POLICIES["exp3"], Spiteful(4), 1000, n_games=5)
    >>> games.certificate().holds
    True
    """
    games = check_integer("n_games", n_games, least=1)
    if not callable(make):
        raise ValueError(f"make must be a function that returns a policy; got {shown(make)}")
    if isinstance(environment, Environment):
        rounds, n_arms = check_integer("horizon", horizon, least=1), environment.n_arms
    else:
        environment = as_floats("losses", environment)
        if environment.ndim != 2 or not environment.size:
            raise ValueError(f"losses must be a T x K matrix; got shape {environment.shape}")
        rounds, n_arms = environment.shape
        if horizon is not None and check_integer("horizon", horizon, least=1) != rounds:
            raise ValueError(f"the losses have {rounds:,} rounds; got horizon={shown(horizon)}")
    runs: list[BanditRun] = []
    with progress_bar("playing", games, "games", show=progress) as advance:
        for sequence in np.random.SeedSequence(seed).spawn(games):
            arms_rng, losses_rng = (np.random.default_rng(each) for each in sequence.spawn(2))
            policy = make(n_arms, rounds, arms_rng)
            run = policy.run(
                environment, rounds, environment_rng=losses_rng, delays=delays, points=points
            )
            runs.append(run)
            advance(1)
    first = runs[0]
    return GameSeries(
        title=first.title,
        horizon=rounds,
        learner_losses=np.array([run.learner_loss for run in runs]),
        arm_losses=np.array([run.arm_losses for run in runs]),
        pseudo_regret=(
            None if first.gaps is None else np.array([run.pseudo_regret for run in runs])
        ),
        checkpoints=first.checkpoints,
        regret_over_time=np.array([run.regret_over_time for run in runs]),
        bound=first.bound,
        caveat=first.caveat,
    )


def compare(
    environment: Environment | npt.NDArray[Any],
    horizon: int | None = None,
    *,
    policies: Mapping[str, PolicyFactory] = POLICIES,
    n_games: int = 20,
    seed: int = 0,
    delays: npt.ArrayLike = 0,
    progress: bool = True,
) -> Comparison:
    """Let every policy play against the same environment, or the same matrix of losses.

    The losses are the same for all policies, except those of an environment that reacts to the
    player; see `play_games`.
    """
    return Comparison(
        {
            name: play_games(
                make,
                environment,
                horizon,
                n_games=n_games,
                seed=seed,
                delays=delays,
                progress=progress,
            )
            for name, make in policies.items()
        }
    )
