"""The record of a game: what observers saw, and its table, picture and animation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_integer
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import Figure, FloatArray
from driftgames.games.chips import Chips, average_loss
from driftgames.potentials import Potential
from driftgames.potentials.minimax import ChipLoss

if TYPE_CHECKING:
    from driftgames.plots.animation import Animation
    from driftgames.tables import Table


@dataclass(frozen=True)
class History(Displayed):
    """All rounds of a game.

    Parameters
    ----------
    positions : array of shape (T + 1, N)
        The chips before the first round and after each.
    p, moves : arrays of shape (T, N)
        The distribution of the player and the moves of the adversary.
    weights : array of shape (T, N), or None
        The weights that ``p`` is proportional to, if the player has a potential.
    potential_means : array of shape (T + 1,), or None
        The average potential before the first round and after each, if the player has one.
    """

    positions: FloatArray
    p: FloatArray
    moves: FloatArray
    weights: FloatArray | None
    potential_means: FloatArray | None

    def _headline(self) -> str:
        rounds, chips = self.p.shape
        return f"{rounds:,} rounds of {chips:,} chips"

    def _columns(self) -> Fields:
        ends = {"lowest": self.positions.min(axis=1), "highest": self.positions.max(axis=1)}
        known = {} if self.potential_means is None else {"potential": self.potential_means}
        return {"round": range(self.positions.shape[0]), **ends, **known}

    @classmethod
    def of_rounds(cls, p: FloatArray, moves: FloatArray, potential: Potential | None) -> History:
        """Return the history of chips that began at 0."""
        rounds, n_chips = p.shape
        positions = np.vstack([np.zeros(n_chips), np.cumsum(moves, axis=0)])
        weights = means = None
        if potential is not None:
            rows = [potential.weights(s, t) for t, s in enumerate(positions[:-1], start=1)]
            weights = np.array(rows)
            means = np.array(
                [
                    float(np.mean(potential.value(s, t, horizon=rounds)))
                    for t, s in enumerate(positions)
                ]
            )
        return cls(positions, p, moves, weights, means)


@dataclass(frozen=True)
class GameRecord(Displayed):
    """The chips at the end of a game, what each observer saw, and all rounds if asked for.

    Parameters
    ----------
    chips : Chips
        The chips at the end.
    seen : mapping
        The results of each observer, one per round.
    history : History or None
        All rounds, if the game was played with ``record=True``. `table`, `plot` and `animate`
        need it.
    """

    chips: Chips
    seen: Mapping[str, npt.NDArray[Any]]
    history: History | None = None

    def loss(self, loss: ChipLoss) -> float:
        """Return the average loss of the chips at the end."""
        return average_loss(loss, self.chips)

    def table(self, *, first: int = 1, last: int | None = None) -> Table:
        """Return the game round by round, a row for each chip.

        ``s`` is the position before the round, ``w`` the weight, ``p`` the probability, ``z`` the
        move. ``change`` is that of the average potential over the round, and never positive
        [LS14, Eq. (2)]. Weights are known up to a factor of the round. ``first`` and ``last`` are
        rounds.

        >>> from driftgames.games import DGv1, GreedyAdversary, PotentialPlayer, play
        >>> from driftgames.potentials import TwoNorm
        >>> phi = TwoNorm()
        >>> game = play(PotentialPlayer(phi), GreedyAdversary(phi), n_chips=2, horizon=2,
        ...             record=True)
        >>> print(game.table())
        Table: The game, rounds 1 to 2, 4 x 7
        round  chip     s      w    p     z  change
            1     0     0    0.5  0.5  -0.5  -0.875
            1     1     0    0.5  0.5   0.5  -0.875
            2     0  -0.5  1.125  0.9  -0.1  -0.945
            2     1   0.5  0.125  0.1   0.9  -0.945
        """
        from driftgames.tables import Column, Table

        history = self._history()
        rounds = history.p.shape[0]
        first = check_integer("first", first, least=0)
        end = rounds if last is None else min(check_integer("last", last, least=0), rounds)
        means = history.potential_means
        columns = [Column("round"), Column("chip"), Column("s"), Column("p"), Column("z")]
        cells = [history.positions[:-1], history.p, history.moves]
        if history.weights is not None and means is not None:
            columns.insert(3, Column("w"))
            cells.insert(1, history.weights)
            columns.append(Column("change", ".3f"))
            changes = np.diff(means)[:, np.newaxis] + np.zeros(history.p.shape)
            cells.append(changes)
        rows = tuple(
            (t, i, *(float(each[t - 1, i]) for each in cells))
            for t in range(max(first, 1), end + 1)
            for i in range(history.p.shape[1])
        )
        return Table(f"The game, rounds {max(first, 1)} to {end}", tuple(columns), rows)

    def plot(self) -> Figure:
        """Draw the chips, the weights and the average potential over the rounds."""
        from driftgames.plots.games import plot_game

        history = self._history()
        return plot_game(history.positions, history.p, history.potential_means)

    def animate(self, *, seconds: float = 10.0) -> Animation:
        """Return the game as an animation, which a notebook shows and ``save`` writes.

        A chip moves along the line, and its area is its probability in the round to come.
        ``save`` writes HTML, which has no script, or a GIF.
        """
        from driftgames.plots.animation import Animation

        history = self._history()
        return Animation(history.positions, history.p, history.potential_means, seconds)

    def _history(self) -> History:
        if self.history is None:
            raise ValueError("the rounds of this game were not kept; play with record=True")
        return self.history

    def _headline(self) -> str:
        kept = f", saw {', '.join(self.seen)}" if self.seen else ""
        rounds = ", all rounds kept" if self.history is not None else ""
        return f"{self.chips._headline()}{kept}{rounds}"

    def _facts(self) -> Fields:
        lowest = float(self.chips.positions.min())
        return {"rounds": self.chips.t, "chips": self.chips.positions.size, "furthest left": lowest}

    def _columns(self) -> Fields:
        return self.chips._columns() if self.history is None else self.table()._columns()

    def _preview(self) -> Fields:
        return {} if self.history is None else super()._preview()

    def _sketch(self) -> Sketch | None:
        if self.history is None:
            return self.chips._sketch()
        rounds = range(self.history.positions.shape[0])
        ends = {"lowest": self.history.positions.min(axis=1)}
        ends["highest"] = self.history.positions.max(axis=1)
        return Sketch(rounds, {f"{name} position": s for name, s in ends.items()}, label="round")
