"""What ``driftgames mix`` shows: the table of forecasts, the same as JSON, and the figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from driftgames.cli._hedge_report import KeptMoments
from driftgames.cli._mix_stream import MixState
from driftgames.core.typing import Console, FloatArray
from driftgames.hedge.losses.interval_losses import PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss
from driftgames.hedge.mixture.hindsight import best_combination, least_squares_weights
from driftgames.tables import Cell, Column, Row, Table, as_plain, as_records, draw_table

BEST = "best convex combination in hindsight"
Played = list[tuple[FloatArray, FloatArray, FloatArray]]
"""The rounds of this run if all are at hand: forecasts with gaps filled, outcomes, predictions."""


def make_table(state: MixState, played: Played | None, most: int) -> Table:
    """Return the scores of the mixture, the plain mean, the best combination and the experts."""
    loss, scores = state.mixture.loss_, state.scores
    own = {PinballLoss: "pinball", LogLoss: "log loss"}.get(type(loss))
    weights = state.mixture.weights_
    means = scores.sums / np.maximum(scores.rounds, 1.0)
    order = np.argsort(means[2, 2:], kind="stable")

    def row(name: str, at: int, weight: Cell) -> Row:
        square, absolute, charged = map(float, means[:, at])
        cells = (name, int(scores.rounds[at]), math.sqrt(square), absolute, charged, weight)
        return cells if own else (*cells[:4], weight)

    rows = [row("mixture", 0, None), *_best_rows(state, played, own is not None)]
    rows.append(row("mean of the experts", 1, None))
    rows += [row(state.experts[i], int(i) + 2, float(weights[i])) for i in order[:most]]
    columns = [Column("forecast"), Column("rounds", ","), Column("RMSE", ",.6g")]
    columns += [Column("MAE", ",.6g"), *([Column(own, ",.6g")] if own else [])]
    columns.append(Column("weight", ".4f"))
    notes = (f"and {order.size - most} others",) if order.size > most else ()
    return Table(f"{state.t:,} rounds of {state.target}", tuple(columns), tuple(rows), notes)


def _best_rows(state: MixState, played: Played | None, has_own: bool) -> list[Row]:
    """Return the row of the best combination, as far as the rounds at hand allow."""
    loss, scores = state.mixture.loss_, state.scores
    if played is None:
        if not isinstance(loss, SquareLoss):
            return []
        q = least_squares_weights(scores.products)
        square = max(float(q @ scores.products @ q), 0.0) / state.t
        return [(BEST, state.t, math.sqrt(square), None, None)]
    heard, outcomes, _ = (np.concatenate(parts) for parts in zip(*played, strict=True))
    best = best_combination(loss.nearest(heard), outcomes, loss)
    errors = heard @ best.weights - outcomes
    cells = (BEST, state.t, float(np.sqrt(np.mean(errors**2))), float(np.abs(errors).mean()))
    return [(*cells, best.total_loss / state.t, None) if has_own else (*cells, None)]


def show(state: MixState, table: Table, console: Console) -> None:
    """Print the table and the regrets with their bound."""
    console.print(draw_table(table))
    console.print(_outcome(state))
    for line in _regrets(state):
        console.print(line)


def _outcome(state: MixState) -> str:
    """Return a sentence on the mixture beside the experts that forecast every round."""
    scores = state.scores
    means = scores.sums[2] / np.maximum(scores.rounds, 1.0)
    names = ("the mixture", "the mean of the experts", *state.experts)
    whole = [at for at in range(1, means.size) if scores.rounds[at] == scores.rounds[0]]
    best = min(whole, key=means.__getitem__, default=0)
    if means[0] <= means[best]:
        return "The mixture has the lowest mean loss."
    lower = 100.0 * (1.0 - float(means[best] / means[0]))
    return f"The mixture did not win: the mean loss of {names[best]} is {lower:.1f} % lower."


def _regrets(state: MixState) -> list[str]:
    mixture, certificate = state.mixture, state.mixture.certificate()
    best = state.experts[int(np.argmin(mixture.expert_losses_))]
    first = certificate.at(mixture.learner_.smallest_epsilon)
    lines = [certificate.words, f"regret to {best}: {as_plain(mixture.regret_)} (total loss)"]
    if mixture.linearised_:
        lines.append(f"regret to every convex combination: at most {as_plain(first.realised)}")
    lines.append(f"bound: {as_plain(first.promised)}; {certificate.verdict}")
    return lines


def as_json(state: MixState, table: Table, waiting: list[tuple[str, float]]) -> dict[str, Any]:
    """Return the table, the weights, the regrets and the predictions of rows without outcome."""
    mixture = state.mixture
    first = mixture.certificate().at(mixture.learner_.smallest_epsilon)
    return {
        "target": state.target,
        "rounds": state.t,
        "loss": repr(mixture.loss_),
        "forecasts": as_records(table),
        "weights": dict(zip(state.experts, mixture.weights_.tolist(), strict=True)),
        "total_loss": mixture.total_loss_,
        "regret_to_best_expert": mixture.regret_,
        "linearised_regret": first.realised,
        "bound": first.promised,
        "predictions": dict(waiting),
    }


def draw(state: MixState, history: KeptMoments, path: Path) -> None:
    """Write a figure of the weights over time."""
    from driftgames.plots import plot_weights, save_figure
    from driftgames.plots.style import caption

    if history.rounds[-1] != state.t:
        history.keep(state.mixture.learner_)
    rounds = np.array(history.rounds, dtype=np.float64)
    names = (*state.experts, *state.mixture.learner_.names[len(state.experts) :])
    figure = plot_weights(rounds, np.array(history.played), names)
    caption(figure.axes[0], f"What each forecast of {state.target} weighs in the mixture")
    save_figure(figure, path)
