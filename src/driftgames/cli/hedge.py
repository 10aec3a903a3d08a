"""``driftgames hedge``: learn from a table or a stream of losses, and say how far behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from driftgames.cli._options import (
    Count,
    ImportedFile,
    JsonFile,
    OptionalCount,
    Reading,
    check_kept,
    described,
    first_round_of,
    fractions,
    numbers,
    one_of,
    pair,
    running,
)
from driftgames.cli._output import console
from driftgames.hedge.named_learners import LEARNERS, make_learner
from driftgames.tables import write_json

if TYPE_CHECKING:
    from driftgames.cli._hedge_stream import StreamState
    from driftgames.cli._numbers import NumberFile

DEFAULT = next(iter(LEARNERS))


class _Asked(NamedTuple):
    """The learner that the options ask for; None where they leave it open.

    Learner:
        algorithm (NAME): Which learner plays: {0}, or the name of a potential that --import
            defines. Default: {1}.
        horizon (T): For exp: the number of rounds it is tuned to.
        prior (P,P): The share of each action, as in 0.5,0.3,0.2. Default: equal.
        loss_range (LOW,HIGH): Where losses lie, as in 0,100. Default: 0,1.
        gains: Whether the cells are gains or losses.
    """

    algorithm: Annotated[str | None, one_of(LEARNERS)] = None
    imported: ImportedFile = None
    horizon: OptionalCount = None
    prior: str | None = None
    loss_range: str | None = None
    gains: Annotated[bool | None, typer.Option("--gains/--losses")] = None

    def start(
        self,
        source: NumberFile,
        ends: tuple[float, float] | None,
        shares: list[float] | None,
        saved: StreamState | None,
    ) -> StreamState:
        """Return a new learner, or the saved one; name the option that differs from it."""
        from driftgames.cli._hedge_stream import StreamState

        if saved is None:
            name = self.algorithm or DEFAULT
            if name == "exp" and self.horizon is None:
                raise ValueError("exp is tuned to the number of rounds: give it as --horizon")
            learner = make_learner(
                name,
                len(source.columns),
                horizon=self.horizon,
                prior=shares,
                loss_range=ends or (0.0, 1.0),
                gains=bool(self.gains),
                names=source.names,
            )
            return StreamState(name, learner, self.horizon)
        learner = saved.learner
        check_kept(
            ("--algorithm", self.algorithm, saved.algorithm),
            ("--horizon", self.horizon, saved.horizon),
            ("--loss-range", ends, learner.loss_range),
            ("--gains", self.gains, learner.gains),
            ("--prior", shares, None if learner.prior is None else learner.prior.tolist()),
            ("the number of actions", len(source.columns), learner.n_actions),
            ("the header", source.names, learner.names),
        )
        return saved


@described
def hedge(
    losses: Annotated[str, typer.Argument()],
    *,
    asked: _Asked,
    reading: Reading,
    epsilon: str | None = None,
    top: Count = 10,
    plot: Path | None = None,
    json: JsonFile = None,
    state: Path | None = None,
    first_round: str = "1",
    every: OptionalCount = None,
    live: bool = False,
) -> None:
    """Learn from losses, round by round; show how far behind the best it is.

    A header names the actions. Prints the distribution of the next round,
    the learner's loss, the best action, and the regret to all but the best
    epsilon of the actions beside its bound.

    With --state, rounds are written before they are acknowledged by a line
    such as "round=1200 learner_loss=341.25" (on standard input). A run that
    was killed goes on from there, none lost and none counted twice: feed it
    the whole input again, or say which round the input begins with. The
    first line it prints then says how many rounds are counted. A last line
    of standard input without an end of line may be cut short: it is not
    counted, and a message says so. A state is for one process at a time: a
    second one stops at once and says so.

    Example: driftgames hedge stocks.relatives.csv --gains --loss-range 0,2

    Example: driftgames hedge visits.csv --leave-out age,hour --plot regret.svg

    Example: tail -n +1 -f losses.csv | driftgames hedge - --state s.json

    Options:
        losses: A table, with a row per round and a column per action; or - for lines from
            standard input.

    Output:
        epsilon (E,E): The lines of the regret table, as in 0.01,0.1.
        top (N): How many actions are shown.

    Files:
        plot (FILE): Draw regret and weights over time to this .svg, .pdf or .png.

    State:
        state (FILE): Keep the learner in this file, and go on from it when it exists.
        first_round (ROUND): With --state: the number of the round that the input begins with. 1:
            the input is the whole one; counted rounds are skipped and must be the same. next: the
            input goes on where the state ends. Another number: rounds before the end of the state
            are skipped.
        every (N): With --state or --live: how many rounds are taken between two writes of the
            state. Default: 1 on standard input.
        live: Add the next distribution to every acknowledgement (p=...).
    """
    from driftgames.cli._hedge_report import KeptMoments, as_json, draw, show
    from driftgames.cli._hedge_stream import StreamState, chain, new_rounds
    from driftgames.cli._numbers import open_numbers, say_columns

    with running(asked.imported, locked=state, plot=plot, state=state, json=json):
        epsilons, begin = fractions("--epsilon", epsilon), first_round_of(first_round)
        shares = None if asked.prior is None else numbers("--prior", asked.prior)
        ends = pair("--loss-range", asked.loss_range)
        streaming = losses == "-"
        saved = StreamState.load(state) if state is not None and state.exists() else None
        if streaming and saved is not None:
            _acknowledge(saved, live)  # before any input is read: the sender may wait for it
        answering = streaming and (state is not None or live)
        size = every or (1 if answering else None)
        whole = state is not None
        with open_numbers(losses, reading, rows=size, whole_lines=whole) as source:
            say_columns(source, "action", quiet=answering)
            current = asked.start(source, ends, shares, saved)
            learner = current.learner
            history = None if plot is None else KeptMoments()
            blocks = source.checked(*learner.loss_range)
            for rounds in new_rounds(blocks, begin, learner.t, current.digest):
                if history is None:
                    learner.run(rounds, progress=not streaming)
                else:
                    history.run(learner, rounds)
                if state is not None:
                    current.digest = chain(current.digest, rounds)
                    current.save(state)
                if answering:
                    _acknowledge(current, live)
        if learner.t == 0:
            raise ValueError("no losses came: the input has a header and no rounds")
        show(learner, console(), epsilons, top)
        if json is not None:
            write_json(as_json(learner, epsilons), json)
        if plot is not None and history is not None:
            draw(learner, history, plot)


def _acknowledge(current: StreamState, live: bool) -> None:
    learner = current.learner
    line = f"round={learner.t} learner_loss={learner.learner_loss!r}"
    if live:
        line += f" p={','.join(map(repr, learner.distribution().tolist()))}"
    typer.echo(line)  # which flushes
