"""What a race chose: the size of the trees and the number of rounds, and from which table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from driftgames.core.display import PREVIEW, Displayed, Fields, Sketch
from driftgames.core.text import listed
from driftgames.core.typing import Axes, Figure
from driftgames.tables import counted

CHOSEN, PLAYED, DROPPED = "chosen", "played", "dropped"
"""What became of a trial: it won, it was measured, or its size was dropped after it."""


OUTCOMES = (CHOSEN, PLAYED, DROPPED)
"""All of them."""

CHOSEN_NUMBERS = ("max_leaves", "n_estimators", "n_folds", "n_examples")
"""The members of a `Choice` that are integers."""


class Trial(NamedTuple):
    """One line of the table: a size and a number of rounds.

    ``log_loss`` is the mean on examples held out, and ``standard_error`` that of its difference
    from the chosen trial.
    """

    max_leaves: int
    n_estimators: int
    log_loss: float
    standard_error: float
    outcome: str


class PairTrial(NamedTuple):
    """What pairs of columns brought on examples held out.

    ``gain`` is by how much the log-loss fell, with its ``standard_error``; 0 if they were not
    tried. ``n_candidates`` counts what could have been chosen: without pairs it is 2, with them
    twice the number of sets of columns that they can be made of.
    """

    gain: float
    standard_error: float
    n_candidates: int


@dataclass(frozen=True)
class Choice(Displayed):
    """The size that a booster chose by the log-loss on examples held out.

    Parameters
    ----------
    max_leaves, n_estimators : int
        The leaves of a tree and the number of rounds. The choice is of the least log-loss.
    n_folds : int
        How many fits of each size were compared.
    n_examples : int
        How many examples were held out in all.
    trials : tuple of Trial
        The table, by leaves, then by rounds.
    seconds : float, optional
        How long the race took; a file does not tell.
    n_played : int, optional
        The rounds of the model, where they are not those of the choice: those of all boosters of a
        mean, or those that an evaluation set, a callback or early stopping has set.
    n_boosters : int
        The number of boosters whose mean the model is. Default: 1.
    pairs : PairTrial, optional
        What pairs of columns brought; None if they could not join.
    pair_names : tuple of str
        The pairs that joined, those of the largest share of the edges first.
    """

    max_leaves: int
    n_estimators: int
    n_folds: int
    n_examples: int
    trials: tuple[Trial, ...]
    seconds: float | None = field(default=None, compare=False)
    n_played: int | None = field(default=None, compare=False)
    n_boosters: int = field(default=1, compare=False)
    pairs: PairTrial | None = None
    pair_names: tuple[str, ...] = field(default=(), compare=False)

    def after(self, earlier: Choice) -> Choice:
        """Return the choice with the table of an earlier one, on a sample, above its own."""
        before = (
            each._replace(outcome=PLAYED if each.outcome == CHOSEN else each.outcome)
            for each in earlier.trials
        )
        seconds = (self.seconds or 0.0) + (earlier.seconds or 0.0)
        return replace(self, trials=(*before, *self.trials), seconds=seconds)

    def of_model(
        self, n_played: int, n_boosters: int = 1, pair_names: Sequence[str] = ()
    ) -> Choice:
        """Return the choice with the rounds of the model, one booster or a mean, and its pairs."""
        choice = replace(self, pair_names=tuple(pair_names))
        if n_played == self.n_estimators and n_boosters == 1:
            return choice
        return replace(choice, n_played=n_played, n_boosters=n_boosters)

    @property
    def size(self) -> str:
        """What was chosen, with the pairs that joined; and what was played if it is another."""
        leaves = f"{self.max_leaves} leaves, " if self.max_leaves else ""  # 0: see max_depth
        one = self.n_boosters == 1
        instead = f" ({self.n_played} were played)" if one and self.n_played is not None else ""
        pairs = f" with {listed(self.pair_names, 3)}" if self.pair_names else ""
        return f"{leaves}{counted(self.n_estimators, 'round')}{instead}{pairs}"

    def _headline(self) -> str:
        took = "" if self.seconds is None else f", {self.seconds:.2f} s"
        mean = ""
        if self.n_boosters > 1 and self.n_played is not None:
            rounds = counted(self.n_played, "round")
            mean = f"; mean of {self.n_boosters} boosters of the best sizes, {rounds}"
        return (
            f"{self.size}, of {counted(len(self.trials), 'trial')}, "
            f"{counted(self.n_folds, 'fold')}{took}{mean}"
        )

    def _facts(self) -> Mapping[str, Any]:
        best = next(each for each in self.trials if each.outcome == CHOSEN)
        played = {} if self.n_played is None else {"rounds played": self.n_played}
        return {
            "max_leaves": self.max_leaves,
            "n_estimators": self.n_estimators,
            **played,
            "held-out log-loss": best.log_loss,
            "examples held out": self.n_examples,
            **({} if self.pairs is None else {"pairs of columns": self._pairs(self.pairs)}),
        }

    def _pairs(self, trial: PairTrial) -> str:
        """Return which pairs of columns joined, or why none did."""
        if self.pair_names:
            return f"{listed(self.pair_names, 6)}: log-loss fell by {trial.gain:.4f}"
        if not trial.standard_error:
            return "none joined"
        return f"none joined: they gained {trial.gain:.4f} +- {trial.standard_error:.4f}"

    def _columns(self) -> Fields:
        names = Trial._fields
        return {name: [each[k] for each in self.trials] for k, name in enumerate(names)}

    def _preview(self) -> Fields:
        """Return the chosen trial and others, evenly spaced; "..." stands for those left out."""
        n, won = len(self.trials), [each.outcome for each in self.trials].index(CHOSEN)
        shown = list(range(n))
        if n > PREVIEW:
            shown = sorted({won, *(round(k * (n - 1) / (PREVIEW - 2)) for k in range(PREVIEW - 1))})
        rows: list[tuple[Any, ...]] = []
        for before, at in zip([-1, *shown], shown, strict=False):
            if at > before + 1:
                rows.append(("...",) * len(Trial._fields))
            # a difference from itself has no error
            leaves, rounds, loss, error, outcome = self.trials[at]
            rows.append((leaves, rounds, loss, None if at == won else error, outcome))
        return {name: [row[k] for row in rows] for k, name in enumerate(Trial._fields)}

    def _sketch(self) -> Sketch:
        best: dict[int, float] = {}
        for each in self.trials:
            best[each.max_leaves] = min(each.log_loss, best.get(each.max_leaves, each.log_loss))
        bars = {f"{leaves} leaves": loss for leaves, loss in best.items()}
        return Sketch(bars=bars, label="least held-out log-loss")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the held-out log-loss of each size over the rounds, with standard errors."""
        from driftgames.plots.race import plot_race

        return plot_race(self.trials, ax=ax)
