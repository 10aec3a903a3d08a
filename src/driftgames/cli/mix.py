"""``driftgames mix``: combine forecasts online, and say how good the mixture is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgames.cli._options import (
    Count,
    JsonFile,
    Reading,
    check_kept,
    described,
    first_round_of,
    one_of,
    running,
)
from driftgames.cli._output import console
from driftgames.cli._quick_import import import_sklearn
from driftgames.core.text import shown
from driftgames.tables import write_json

if TYPE_CHECKING:
    from driftgames.cli._mix_stream import MixState
    from driftgames.cli._numbers import NumberFile
    from driftgames.hedge.losses.loss_base import Loss

LOSSES = ("square", "absolute", "pinball", "log")


@described
def mix(
    forecasts: Annotated[str, typer.Argument()],
    target: str,
    loss: Annotated[str | None, one_of(LOSSES)] = None,
    quantile: float | None = None,
    linearise: Annotated[bool | None, typer.Option("--linearise/--best-expert")] = None,
    combiners: Annotated[bool | None, typer.Option("--combiners/--no-combiners")] = None,
    tracking: bool = False,
    *,
    reading: Reading,
    top: Count = 10,
    plot: Path | None = None,
    json: JsonFile = None,
    state: Path | None = None,
    first_round: str = "1",
    live: bool = False,
) -> None:
    """Mix forecasts, each round's before its outcome is seen; show how good.

    Prints RMSE and MAE of the mixture, of the best convex combination in
    hindsight, of the plain mean and of each expert, the final weights, and
    the regret with its bound. An empty cell is an expert that sleeps. Rows
    without an outcome at the end are predicted.

    With --state, rounds are written before they are acknowledged by a line
    such as "round=1200 prediction=61.25" (on standard input). A run that was
    killed goes on from there: feed it the whole input again, or say which
    round the input begins with.

    Example: driftgames mix stocks.forecasts.csv --target 'S&P 500' --plot w.svg

    Example: driftgames mix new.csv --target y --state s.json --first-round next

    Options:
        forecasts: A table, with a row per round, a column per expert, and one of outcomes; or -
            for lines from standard input.

    Mixture:
        target (NAME): The column of the outcomes: name, or number.
        loss (NAME): {0}. Default: square.
        quantile (Q): For pinball: which quantile. Default: 0.5.
        linearise: Compete with the best convex combination (the default), or with the best expert.
        combiners: Let combiners of the forecasts, such as ridge regression, join them (the
            default), or not.
        tracking: Follow experts that change: compete with the best sequence of experts.

    Output:
        top (N): How many experts are shown.

    Files:
        plot (FILE): Draw the weights over time to this .svg, .pdf or .png.

    State:
        state (FILE): Keep the mixture in this file, and go on from it when it exists.
        first_round (ROUND): With --state: the number of the round that the input begins with, or
            next. Rounds that are counted are skipped.
        live: On standard input: print each prediction as it is made.
    """
    import numpy as np

    import_sklearn()
    from driftgames.cli._hedge_report import KeptMoments
    from driftgames.cli._hedge_stream import chain, new_rounds
    from driftgames.cli._mix_report import Played, as_json, draw, make_table, show
    from driftgames.cli._mix_stream import MixState, Rounds
    from driftgames.cli._numbers import open_numbers, say_columns, say_indexes

    with running(locked=state, plot=plot, state=state, json=json):
        begin = first_round_of(first_round)
        asked = None if loss is None and quantile is None else _loss(loss, quantile)
        saved = MixState.load(state) if state is not None and state.exists() else None
        answering = forecasts == "-" and (state is not None or live)
        with open_numbers(
            forecasts,
            reading,
            "a forecast or an outcome",
            may_be_missing=True,
            rows=1 if answering else None,
            whole_lines=state is not None,
        ) as source:
            at = _target(source, target)
            say_columns(source, "expert", at, quiet=answering)
            current = _begin(source, at, asked, linearise, combiners, tracking, saved)
            mixture, rounds = current.mixture, Rounds(source, at)
            history = None if plot is None else KeptMoments()
            played: Played | None = [] if state is None else None
            for block in new_rounds(rounds.blocks(), begin, current.t, current.digest):
                X, y = block[:, :-1], block[:, -1]
                if current.t == 0:
                    say_indexes(source, current.experts, X)
                steps = [slice(None)] if history is None else history.parts(current.t, len(y))
                for part in steps:
                    mixed = mixture.predict_then_fit(X[part], y[part])
                    current.scores.add(mixture.loss_, mixed, X[part], y[part])
                    if played is not None:
                        heard = np.where(np.isnan(X[part]), mixed[:, None], X[part])
                        played.append((heard, y[part], mixed))
                    if history is not None:
                        history.keep_if_due(mixture.learner_)
                if state is not None:
                    current.digest = chain(current.digest, block)
                    current.save(state)
                if answering:
                    typer.echo(f"round={current.t} prediction={mixed[-1].item()!r}")
        if current.t == 0:
            raise ValueError("no outcomes came: the input has no rounds")
        waiting = [(place, float(mixture.predict(row[None])[0])) for place, row in rounds.waiting]
        table, out = make_table(current, played, top), console()
        show(current, table, out)
        if rounds.left_out:
            out.print(f"{rounds.left_out:,} rows without an outcome were left out")
        for place, prediction in waiting:
            out.print(f"{place}: prediction {prediction:.6g}")
        if json is not None:
            write_json(as_json(current, table, waiting), json)
        if plot is not None and history is not None:
            if not history.rounds:
                history.keep(mixture.learner_)
            draw(current, history, plot)


def _loss(name: str | None, quantile: float | None) -> Loss:
    from driftgames.core.registry import choose
    from driftgames.hedge.losses.make_loss import make_loss

    chosen = name or ("square" if quantile is None else "pinball")
    choose("--loss", chosen, dict.fromkeys(LOSSES))
    if quantile is not None and chosen != "pinball":
        raise ValueError(f"--quantile goes with --loss pinball; got --loss {chosen}")
    settings: dict[str, Any] = {} if quantile is None else {"q": quantile}
    return make_loss(chosen, any_size=True, **settings)


def _target(source: NumberFile, target: str) -> int:
    """Return the column of the outcomes, by name or by number from 1."""
    column = source.table.column("--target", target)
    if column not in source.columns:
        raise ValueError(f"--target: column {shown(target)} is left out, as an index or dates are")
    if len(source.columns) < 2:
        raise ValueError("the input has no expert beside the outcomes")
    return source.columns.index(column)


def _begin(
    source: NumberFile,
    at: int,
    asked: Loss | None,
    linearise: bool | None,
    combiners: bool | None,
    tracking: bool,
    saved: MixState | None,
) -> MixState:
    """Return a new state, or the saved one; name the option that differs from it."""
    from driftgames.cli._mix_stream import MixState, Scores
    from driftgames.hedge import ExpertMixture

    names = source.names or tuple(f"column {j + 1}" for j in source.columns)
    target, experts = names[at], (*names[:at], *names[at + 1 :])
    if saved is None:
        mixture = ExpertMixture(
            asked or _loss(None, None),
            outside="nearest",
            linearise=linearise,
            combiners=combiners,
            tracking=tracking,
        )
        return MixState(target, experts, mixture, Scores.empty(len(experts)))
    check_kept(
        ("--target", target, saved.target),
        ("the header", experts, saved.experts),
        ("--loss", asked, saved.mixture.loss_),
        ("--linearise", linearise, saved.mixture.linearised_),
        ("--combiners", combiners, saved.mixture.game_.combiners is not None),
        ("--tracking", tracking or None, saved.mixture.tracking),
    )
    return saved
