"""What ``driftgames hedge`` shows: the summary at the end, and the figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from driftgames.core.typing import Console, FloatArray
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.tables import Column, Row, Table, as_records, counted, draw_table

MOST = 512
"""How many moments of a run a figure shows at most."""


def label(learner: ExpertLearner, action: int) -> str:
    """Return what an action is called: its name in the header, else its column."""
    name = learner.names[action]
    return f"column {action + 1}" if name == str(action) else name


def show(learner: ExpertLearner, console: Console, epsilons: Sequence[float], most: int) -> None:
    """Print the totals, the distribution of the next round and the epsilon-regret table."""
    totals, best = learner.action_losses, _best(learner)
    word, sign = _word(learner)
    rounds = counted(learner.t, "round")
    actions = counted(learner.n_actions, "action")
    console.print(f"{learner.title}: {rounds}, {actions}", style="bold")
    for name, value in (
        (f"learner's {word}", f"{sign * learner.learner_loss:,.4f}"),
        ("best action", f"{label(learner, best)}, {word} {sign * totals[best]:,.4f}"),
        ("regret", f"{learner.learner_loss - totals[best]:,.4f}"),
    ):
        console.print(f"  {name:15} {value}")
    console.print()
    certificate = learner.certificate()
    console.print(draw_table(_actions(learner, most)))
    if certificate.words:
        console.print(certificate.words)
        console.print()
    console.print(draw_table(_regrets(learner, epsilons)))
    caveat = f" ({certificate.caveat})" if certificate.caveat else ""
    console.print(f"{certificate.verdict}{caveat}")


def as_json(learner: ExpertLearner, epsilons: Sequence[float]) -> dict[str, Any]:
    """Return what `show` prints as plain data, with all actions."""
    word, sign = _word(learner)
    best = _best(learner)
    return {
        "algorithm": learner.title,
        "rounds": learner.t,
        f"learner_{word}": sign * learner.learner_loss,
        "best_action": label(learner, best),
        "regret": learner.learner_loss - float(learner.action_losses[best]),
        "actions": as_records(_actions(learner, learner.n_actions)),
        "epsilon_regret": as_records(_regrets(learner, epsilons)),
        "verdict": learner.certificate().verdict,
    }


def _word(learner: ExpertLearner) -> tuple[str, float]:
    """Return what a number is called, and its sign as a loss."""
    return ("gain", -1.0) if learner.gains else ("loss", 1.0)


def _actions(learner: ExpertLearner, most: int) -> Table:
    """Return the next distribution, the ``most`` probable actions first."""
    p, totals = learner.distribution(), learner.action_losses
    word, sign = _word(learner)
    order = np.lexsort((totals, -p))[:most]
    rows: list[Row] = [(label(learner, i), float(p[i]), float(sign * totals[i])) for i in order]
    if learner.n_actions > most:
        rest = max(0.0, 1.0 - float(p[order].sum()))
        rows.append((f"the other {learner.n_actions - most:,}", rest, ""))
    columns = (Column("action"), Column("probability", ".4f"), Column(f"total {word}", ",.4f"))
    return Table(f"distribution of round {learner.t + 1:,}", columns, tuple(rows))


def _best(learner: ExpertLearner) -> int:
    """Return the action with the least loss among those that the prior allows."""
    totals = learner.action_losses
    return int(
        np.argmin(totals if learner.prior is None else np.where(learner.prior > 0, totals, np.inf))
    )


def _regrets(learner: ExpertLearner, epsilons: Sequence[float]) -> Table:
    """Return the regret beside its bound, for these epsilons or the usual ones."""
    certificate = learner.certificate()
    rows = [certificate.at(e) for e in epsilons] if epsilons else list(certificate.rows())
    numbers = (Column(name, ",.3f") for name in ("regret", "bound", "slack"))
    columns = (Column("epsilon", ".3g"), *numbers)
    return Table("regret to all but the best epsilon of the actions", columns, tuple(rows))


@dataclass
class KeptMoments:
    """A run at up to `MOST` moments, evenly spread however long it becomes."""

    rounds: list[int] = field(default_factory=list)
    regret: list[float] = field(default_factory=list)
    promised: list[float] = field(default_factory=list)
    played: list[FloatArray] = field(default_factory=list)
    _step: int = 1

    def run(self, learner: ExpertLearner, losses: FloatArray) -> None:
        """Play these rounds and keep what a figure needs."""
        if not self.rounds:
            self.keep(learner)
        for part in self.parts(learner.t, len(losses)):
            learner.run(losses[part], progress=False)
            self.keep_if_due(learner)

    def parts(self, t: int, rounds: int) -> Iterator[slice]:
        """Yield the parts of the rounds after round ``t`` that end at moments to be kept."""
        begin = 0
        while begin < rounds:
            end = min(begin + self._step - (t + begin) % self._step, rounds)
            yield slice(begin, end)
            begin = end

    def keep_if_due(self, learner: ExpertLearner) -> None:
        """Keep this moment if it is one of those that are spread evenly."""
        if learner.t % self._step == 0:
            self.keep(learner)

    def keep(self, learner: ExpertLearner) -> None:
        """Keep this moment; of too many, every other one is dropped."""
        best = learner.action_losses[_best(learner)]
        played = learner.t > 0
        self.rounds.append(learner.t)
        self.regret.append(learner.learner_loss - float(best) if played else 0.0)
        self.promised.append(float(learner.certificate().promised[0]) if played else 0.0)
        self.played.append(learner.distribution().astype(np.float64))
        if len(self.rounds) > MOST:
            for kept in (self.rounds, self.regret, self.promised, self.played):
                del kept[1::2]
            self._step *= 2


def draw(learner: ExpertLearner, history: KeptMoments, path: Path) -> None:
    """Write a figure: regret over time, weights over time, regret over epsilon.

    The bound is that of the certificate, for this run, in both panels of regret.
    """
    from matplotlib.figure import Figure

    from driftgames.plots import plot_regret_over_time, plot_weights, save_figure
    from driftgames.plots.style import caption

    figure = Figure(figsize=(7.2, 10.5), layout="constrained")
    over_time, weights, over_epsilon = figure.subplots(3)
    if history.rounds[-1] != learner.t:
        history.keep(learner)
    rounds = np.array(history.rounds, dtype=np.float64)
    title, finest = learner.title, f"ε = {learner.smallest_epsilon:.3g}"
    regret, promised = {title: np.array(history.regret)}, {title: np.array(history.promised)}
    plot_regret_over_time(rounds, regret, promised, ax=over_time)
    names = [label(learner, action) for action in range(learner.n_actions)]
    plot_weights(rounds, np.array(history.played), names, ax=weights)
    learner.certificate().plot(ax=over_epsilon)
    for ax, text in (
        (over_time, f"Regret to the best action, and its bound ({finest})"),
        (weights, "Weight moves to the better actions"),
        (over_epsilon, f"After {learner.t:,} rounds: regret to all but the best ε of the actions"),
    ):
        caption(ax, text)
    save_figure(figure, path)
