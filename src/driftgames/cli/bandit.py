"""``driftgames bandit``: policies against an adversary or a matrix of losses, side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgames.bandit.named_policies import ENVIRONMENTS, POLICIES, REACTING
from driftgames.cli._options import (
    Count,
    ImportedFile,
    JsonFile,
    Natural,
    OptionalCount,
    Reading,
    described,
    fractions,
    one_of,
    pair,
    running,
)
from driftgames.cli._output import console
from driftgames.core.registry import choose
from driftgames.tables import Column, Row, Table, as_records, counted, draw_table, write_json

if TYPE_CHECKING:
    from driftgames.bandit import GameSeries
    from driftgames.bandit.named_policies import PolicyFactory
    from driftgames.core.typing import FloatArray


@described
def bandit(
    losses: Annotated[str | None, typer.Argument()] = None,
    adversary: Annotated[str | None, one_of(ENVIRONMENTS)] = None,
    policies: Annotated[str | None, one_of(POLICIES)] = None,
    imported: ImportedFile = None,
    arms: OptionalCount = None,
    horizon: OptionalCount = None,
    gap: Annotated[float | None, typer.Option(min=0.0, max=0.5)] = None,
    delay: Natural = 0,
    games: Count = 20,
    seed: Natural = 0,
    loss_range: str | None = None,
    gains: Annotated[bool, typer.Option("--gains/--losses")] = False,
    contexts: str | None = None,
    advice: str | None = None,
    epsilon: str | None = None,
    warm_start: str | None = None,
    log: str | None = None,
    delta: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.05,
    names: str | None = None,
    every: OptionalCount = None,
    plot: Path | None = None,
    json: JsonFile = None,
) -> None:
    """Let bandit policies play, and compare their losses.

    Every policy sees the loss of its own arm and nothing else. The table
    shows its regret beside its bound. All policies meet the same losses in
    the same games, except with spiteful and lure, which answer each policy.
    The regret is to the best arm of each game. The pseudo-regret is the sum
    of the gaps of the pulled arms.

    stochastic: coins, one better than the others. moody: such coins in good
    and bad times. switching: the better coin changes every 1,000 rounds.
    spiteful: the favourite arm of the player loses. lure: an arm loses as
    soon as its probability exceeds 1/2.

    Example: driftgames bandit --games 5

    Example: driftgames bandit --adversary lure --policies exp3,tsallis-inf

    Example: driftgames bandit stocks.relatives.csv --gains --loss-range 0,2

    Example: driftgames bandit --policies exp3,tsallis-inf --delay 100

    With --contexts some columns of LOSSES are features that are known before
    a pull. SquareCB, which sees them, plays beside the policies, which do
    not; its regret is negative where features tell which arm is the best.

    Example: driftgames bandit visits.csv --contexts age,hour

    With --advice some columns of LOSSES hold the names of arms: what an expert (a rule, a model, a
    person) advises before each pull. EXP4, which follows the experts, plays beside the policies.
    A second table shows its regret to each expert beside the bound.

    Example: driftgames bandit visits.csv --advice rule,model

    With --warm-start every policy learns from a log first: a table of pulls with the columns arm,
    propensity and loss (or gain). Nothing is promised then: bounds are for policies that draw their
    own arms.

    With --log no policy plays: a table of pulls, with the columns arm and loss (or gain), is read,
    and the arms that may still be the best are named. The answer holds at all times at once: look
    as often as you like, and stop when one arm is left. With --every it is told while pulls come.

    Example: driftgames bandit --log pulls.csv --gains

    Example: tail -f log.csv | driftgames bandit --log - --names a,b --every 9

    Options:
        losses ([LOSSES]): A table, with a row per round and a column per arm; or - for standard
            input. Default: an adversary makes the losses.
        adversary (NAME): The adversary that makes the losses: {0}. Default: stochastic.
        policies (NAME,NAME): The policies that play: {0}, or the name of a potential that --import
            defines. Default: all.
        arms (K): The number of arms of an adversary. Default: 10.
        horizon (T): The number of rounds against an adversary. Default: 20000.
        gap (D): The mean loss of the other arms less that of the best arm (stochastic, moody,
            switching). Default: 0.1.
        delay (N): A loss comes after N further pulls (not with spiteful, lure, --contexts
            and --advice).
        games (N): The number of games, with other draws each.
        seed: The same seed gives the same games.
        loss_range (LOW,HIGH): The range of the cells of LOSSES. Default: 0,1.
        gains: Whether the cells are gains or losses.
        contexts (COLUMN,COLUMN): The columns of LOSSES that are features of a round, as numbers
            around 1; the others are the arms.
        advice (COLUMN,COLUMN): The columns of LOSSES that name an arm in each round; the others are
            the arms. An empty cell is advice for all arms alike.
        epsilon (E,E): Show the regret to all but the best fraction E of the arms too, as in
            0.1,0.5.
        warm_start (FILE): A log that the policies learn from before they play. Its arms are the
            columns of LOSSES, or numbers from 0.
        log (FILE): A table of pulls, with the columns arm and loss (or gain); or -.
        delta: With --log, the chance that the best arm is ever left out.
        names (NAME,NAME): With --log, the arms. Default: those of the whole table.
        every (N): With --log, say which arms may be the best after every N pulls, as they come.
            It needs --names.
        plot (FILE): Draw regret over time to this .svg, .pdf or .png.
    """
    from driftgames.bandit import compare

    with running(imported, plot=plot, json=json):
        ends = pair("--loss-range", loss_range) or (0.0, 1.0)
        if log is not None:
            others: dict[str, object] = {"LOSSES": losses, "--adversary": adversary}
            others |= {"--policies": policies, "--arms": arms, "--horizon": horizon}
            others |= {"--gap": gap, "--plot": plot, "--contexts": contexts}
            others |= {"--advice": advice, "--warm-start": warm_start}
            if absurd := [option for option, given in others.items() if given is not None]:
                raise ValueError(f"{absurd[0]} does not go with --log")
            from driftgames.cli._bandit_race import show_race

            asked = None if names is None else [name.strip() for name in names.split(",")]
            show_race(log, ends, gains, delta, asked, every, json)
            return
        if names is not None or every is not None:
            raise ValueError("--names and --every go with --log")
        factories = _factories(policies, ends, gains)
        epsilons, seen, advised = fractions("--epsilon", epsilon), None, None
        columns: tuple[str, ...] | None = None
        if losses is None:
            for option, named in {"--contexts": contexts, "--advice": advice}.items():
                if named is not None:
                    raise ValueError(f"{option} are columns of LOSSES; there are none")
            if gains or loss_range is not None:
                raise ValueError("--gains and --loss-range are for LOSSES; there are none")
            chosen = "stochastic" if adversary is None else adversary
            make = choose("--adversary", chosen, ENVIRONMENTS)
            if delay and chosen in REACTING:
                raise ValueError(f"--delay is for losses that do not react; {chosen} reacts")
            source: Any = make(arms or 10, 0.1 if gap is None else gap)
            horizon, title = horizon or 20_000, chosen
        else:
            made = {"--adversary": adversary, "--arms": arms, "--horizon": horizon, "--gap": gap}
            for option, value in made.items():  # the number of rounds is that of the losses
                if value is not None:
                    raise ValueError(f"{option} is for games without LOSSES")
            if contexts is None and advice is None:
                source, columns = _read(losses, ends)
            else:
                for option, given in {"--warm-start": warm_start, "--delay": delay}.items():
                    if given:
                        raise ValueError(f"{option} does not go with --contexts or --advice")
                from driftgames.cli._bandit_contexts import context_rows, read_contexts

                seen = read_contexts(losses, contexts, advice, ends)
                source = seen.losses
            title = "standard input" if losses == "-" else Path(losses).name
        if warm_start is not None:
            from driftgames.cli._bandit_warm_start import read_log, warmed

            n_arms = source.n_arms if losses is None else source.shape[1]
            pulls = read_log(warm_start, columns or [str(k) for k in range(n_arms)], ends, gains)
            factories = {name: warmed(make, pulls) for name, make in factories.items()}
        series = compare(
            source, horizon, policies=factories, n_games=games, seed=seed, delays=delay
        )
        first, regrets = next(iter(series.values())), _regrets(series)
        if seen is not None:
            rows = context_rows(seen, ends, gains, games, seed)
            if seen.experts:
                from driftgames.cli._bandit_advice import play_advised

                advised = play_advised(seen, ends, gains, games, seed)
                rows.append(advised.row)
            regrets = replace(regrets, rows=(*rows, *regrets.rows))
        n_arms = first.arm_losses.shape[1]
        sizes = counted(n_arms, "arm"), counted(first.horizon, "round"), counted(games, "game")
        out = console()
        out.print(f"{title}: {', '.join(sizes)}", style="bold")
        out.print()
        out.print(draw_table(regrets))
        for each in series.values():
            certificate = each.certificate()
            why = certificate.caveat if math.isinf(each.promised) else each.caveat
            out.print(f"{each.title}: {certificate.verdict} ({why})")
        if advised is not None:
            out.print()
            out.print(draw_table(advised.experts))
            promise = advised.certificate
            out.print(f"{promise.title}: {promise.verdict} ({promise.caveat})")
        if epsilons:
            out.print()
            out.print(draw_table(_epsilon_regrets(series, epsilons)))
        if json is not None:
            content = {"losses": title, "arms": n_arms, "rounds": first.horizon, "games": games}
            if advised is not None:
                content["experts"] = as_records(advised.experts)
            write_json({**content, "policies": as_records(regrets)}, json)
        if plot is not None:
            _draw(series, plot)


def _regrets(series: dict[str, GameSeries]) -> Table:
    """Return the regret of each policy beside its bound."""
    from driftgames.cli._bandit_contexts import mean_and_error

    rows: list[Row] = []
    for name, each in series.items():
        games = each.regret.size
        pseudo = None if each.pseudo_regret is None else float(each.pseudo_regret.mean())
        within = f"{int((each.regret <= each.promised).sum())}/{games}"
        kept = within if math.isfinite(each.promised) else None
        rows.append((name, *mean_and_error(each.regret), pseudo, each.promised, kept))
    names = ("regret", "std error", "pseudo-regret", "bound", "games within")
    columns = (Column("policy"), *(Column(name, ",.1f", flush_right=True) for name in names))
    return Table("regret to the best arm", columns, tuple(rows))


def _epsilon_regrets(series: dict[str, GameSeries], epsilons: list[float]) -> Table:
    """Return the regret of each policy to all but the best arms beside its bound."""
    rows = []
    for name, each in series.items():
        certificate = each.certificate()
        lines = [certificate.at(epsilon) for epsilon in epsilons]
        rows.append((name, *(f"{row.realised:,.1f} / {row.promised:,.1f}" for row in lines)))
    heads = (Column(f"epsilon {epsilon:g}", flush_right=True) for epsilon in epsilons)
    title = "mean regret / bound, to all but the best epsilon of the arms"
    return Table(title, (Column("policy"), *heads), tuple(rows))


def _draw(series: dict[str, GameSeries], path: Path) -> None:
    from driftgames.plots import save_figure
    from driftgames.plots.regret import plot_regret_bands
    from driftgames.plots.style import caption

    first = next(iter(series.values()))
    curves = {name: each.regret_over_time for name, each in series.items()}
    bounds = {name: each.promised_over_time for name, each in series.items()}
    figure = plot_regret_bands(first.checkpoints, curves, bounds)
    games = first.regret.size
    band = ", with a band for all but the highest and lowest tenth" * (games > 1)
    caption(figure.axes[0], f"Mean regret of {counted(games, 'game')}{band}")
    save_figure(figure, path)


def _factories(
    policies: str | None, ends: tuple[float, float], gains: bool
) -> dict[str, PolicyFactory]:
    from functools import partial

    from driftgames.bandit import PotentialBandit
    from driftgames.potentials import POTENTIALS

    def own(name: str, n: int, T: int, rng: Any, **units: Any) -> PotentialBandit:
        potential = POTENTIALS[name](T, 1.0 / n)
        return PotentialBandit(n, horizon=T, potential=potential, random_state=rng, **units)

    known: dict[str, PolicyFactory] = dict(POLICIES)
    known |= {name: partial(own, name) for name in POTENTIALS}
    names = list(POLICIES) if policies is None else [name.strip() for name in policies.split(",")]
    return {
        name: partial(choose("--policies", name, known), loss_range=ends, gains=gains)
        for name in names
    }


def _read(source: str, ends: tuple[float, float]) -> tuple[FloatArray, tuple[str, ...] | None]:
    import numpy as np

    from driftgames.cli._numbers import open_numbers

    with open_numbers(source, Reading()) as file:
        blocks = [block.numbers for block in file.checked(*ends)]
    if not blocks:
        raise ValueError("no losses came: the input has a header and no rounds")
    return np.concatenate(blocks), file.names
