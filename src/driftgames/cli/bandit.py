"""``driftgames bandit``: policies against an adversary or on a table, and logs of pulls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from driftgames.bandit.named_policies import ENVIRONMENTS, POLICIES, REACTING
from driftgames.cli._options import (
    READING,
    CommandGroup,
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
    from driftgames.cli._bandit_contexts import ContextTable
    from driftgames.core.typing import FloatArray


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Let bandit policies play, or read a log of pulls.\n\n"
    "Every policy sees the loss of its own arm and nothing else. Its regret is to the best arm of "
    "each game.\n\n"
    "Example: driftgames bandit simulate --games 5\n\n"
    "Example: driftgames bandit replay visits.csv --contexts age,hour\n\n"
    "Example: driftgames bandit race visits.pulls.csv",
)


class _Games(NamedTuple):
    """Which policies play, and how their games are shown.

    Games:
        policies (NAME,NAME): The policies that play: {0}, or the name of a potential that --import
            defines. Default: all.
        games (N): The number of games, with other draws each.
        seed (N): The same seed gives the same games.
        delay (N): A loss comes after N further pulls (not with spiteful, lure, --contexts
            and --advice).
        epsilon (E,E): Show the regret to all but the best fraction E of the arms too, as in
            0.1,0.5.

    Files:
        warm_start (FILE): A log that the policies learn from before they play, with the columns
            arm, propensity and loss (or gain). The bounds do not hold then: they are for policies
            that draw their own arms.
        plot (FILE): Draw regret over time to this .svg, .pdf or .png.
    """

    policies: Annotated[str | None, one_of(POLICIES)] = None
    games: Count = 20
    seed: Natural = 0
    delay: Natural = 0
    epsilon: str | None = None
    warm_start: str | None = None
    plot: Path | None = None
    imported: ImportedFile = None
    json: JsonFile = None

    def play(
        self,
        title: str,
        source: Any,
        arms: Sequence[str],
        horizon: int | None = None,
        *,
        losses: _Losses | None = None,
        seen: ContextTable | None = None,
    ) -> None:
        """Let the policies play, and show their regrets."""
        from driftgames.bandit import compare

        ends, gains = (losses or _Losses()).units()
        factories = _factories(self.policies, ends, gains)
        epsilons, advised = fractions("--epsilon", self.epsilon), None
        if self.warm_start is not None:
            from driftgames.cli._bandit_warm_start import read_log, warmed

            pulls = read_log(self.warm_start, arms, ends, gains)
            factories = {name: warmed(make, pulls) for name, make in factories.items()}
        series = compare(
            source,
            horizon,
            policies=factories,
            n_games=self.games,
            seed=self.seed,
            delays=self.delay,
        )
        first, regrets = next(iter(series.values())), _regrets(series)
        if seen is not None:
            from driftgames.cli._bandit_contexts import context_rows, play_advised

            rows = context_rows(seen, ends, gains, self.games, self.seed)
            if seen.experts:
                advised = play_advised(seen, ends, gains, self.games, self.seed)
                rows.append(advised.row)
            regrets = replace(regrets, rows=(*rows, *regrets.rows))
        n_arms = first.arm_losses.shape[1]
        sizes = (
            counted(n_arms, "arm"),
            counted(first.horizon, "round"),
            counted(self.games, "game"),
        )
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
        if self.json is not None:
            content = {
                "losses": title,
                "arms": n_arms,
                "rounds": first.horizon,
                "games": self.games,
            }
            if advised is not None:
                content["experts"] = as_records(advised.experts)
            write_json({**content, "policies": as_records(regrets)}, self.json)
        if self.plot is not None:
            from driftgames.plots import save_figure

            save_figure(series.plot(), self.plot)


class _Losses(NamedTuple):
    """What the numbers of a table mean.

    Losses:
        loss_range (LOW,HIGH): The range of the losses or gains. Default: 0,1.
        gains: Whether the cells are gains or losses.
    """

    loss_range: str | None = None
    gains: Annotated[bool, typer.Option("--gains/--losses")] = False

    def units(self) -> tuple[tuple[float, float], bool]:
        """Return the range, and whether the numbers are gains."""
        return pair("--loss-range", self.loss_range) or (0.0, 1.0), self.gains


@app.command(short_help="Let policies play against a simulated adversary.")
@described
def simulate(
    adversary: Annotated[str, one_of(ENVIRONMENTS)] = "stochastic",
    arms: Count = 10,
    horizon: Count = 20_000,
    gap: Annotated[float, typer.Option(min=0.0, max=0.5)] = 0.1,
    *,
    games: _Games,
) -> None:
    """Let bandit policies play against an adversary, and compare their regrets.

    All policies meet the same losses in the same games, except with spiteful
    and lure, which answer each policy. The pseudo-regret is the sum of the
    gaps of the pulled arms.

    stochastic: coins, one better than the others. moody: such coins in good
    and bad times. switching: the better coin changes every 1,000 rounds.
    spiteful: the favourite arm of the player loses. lure: an arm loses as
    soon as its probability exceeds 1/2.

    Example: driftgames bandit simulate --games 5

    Example: driftgames bandit simulate --adversary lure --policies exp3-ix

    Example: driftgames bandit simulate --policies exp3,tsallis-inf --delay 100

    Adversary:
        adversary (NAME): What makes the losses: {0}.
        arms (K): The number of arms.
        horizon (T): The number of rounds.
        gap (D): The mean loss of the other arms less that of the best arm (stochastic, moody,
            switching).
    """
    with running(games.imported, plot=games.plot, json=games.json):
        make = choose("--adversary", adversary, ENVIRONMENTS)
        if games.delay and adversary in REACTING:
            raise ValueError(f"--delay is for losses that do not react; {adversary} reacts")
        games.play(adversary, make(arms, gap), [str(k) for k in range(arms)], horizon)


@app.command(short_help="Let policies play on a table of losses.", epilog=READING)
@described
def replay(
    losses: Annotated[str, typer.Argument()],
    contexts: str | None = None,
    advice: str | None = None,
    *,
    units: _Losses,
    games: _Games,
    reading: Reading,
) -> None:
    """Let bandit policies play on a table of losses, and compare their regrets.

    With --contexts some columns are features that are known before a pull.
    SquareCB, which sees them, plays beside the policies, which do not; its
    regret is negative where features tell which arm is the best.

    With --advice some columns hold the names of arms: what an expert (a rule,
    a model, a person) advises before each pull. EXP4, which follows the
    experts, plays beside the policies. A second table shows its regret to
    each expert beside the bound.

    Example: driftgames bandit replay visits.csv --leave-out age,hour

    Example: driftgames bandit replay visits.csv --contexts age,hour

    Example: driftgames bandit replay visits.advice.csv --advice rule,model

    Options:
        losses: A table, with a row per round and a column per arm; or - for standard input.

    Losses:
        contexts (NAME,NAME): The columns that are features of a round, as numbers around 1; the
            others are the arms.
        advice (NAME,NAME): The columns that name an arm in each round; the others are the arms.
            An empty cell is advice for all arms alike.
    """
    from driftgames.cli._bandit_contexts import read_contexts

    with running(games.imported, plot=games.plot, json=games.json):
        title = "standard input" if losses == "-" else Path(losses).name
        ends, _ = units.units()
        if contexts is None and advice is None:
            source, names = _read(losses, reading, ends)
            arms = names or [str(k) for k in range(source.shape[1])]
            games.play(title, source, arms, losses=units)
            return
        for option, given in {"--warm-start": games.warm_start, "--delay": games.delay}.items():
            if given:
                raise ValueError(f"{option} does not go with --contexts or --advice")
        seen = read_contexts(losses, reading, contexts, advice, ends)
        games.play(title, seen.losses, (), losses=units, seen=seen)


@app.command(short_help="Name the arms of a log of pulls that may be the best.", epilog=READING)
@described
def race(
    pulls: Annotated[str, typer.Argument()],
    delta: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.05,
    names: str | None = None,
    every: OptionalCount = None,
    *,
    units: _Losses,
    reading: Reading,
    json: JsonFile = None,
) -> None:
    """Read a log of pulls, and name the arms that may still be the best.

    The log is a table with the columns arm and loss (or gain, with --gains).
    The answer holds at all times at once: look as often as you like, and stop
    when one arm is left. --every prints it while pulls come.

    Example: driftgames bandit race visits.pulls.csv

    Example: tail -f log.csv | driftgames bandit race - --names a,b --every 9

    Options:
        pulls: A table of pulls; or - for standard input.

    Race:
        delta (P): The probability that the best arm is ever left out.
        names (NAME,NAME): The arms. Default: those of the whole table.
        every (N): Say which arms may be the best after every N pulls, as they come. It needs
            --names.
    """
    from driftgames.cli._bandit_race import show_race

    with running(json=json):
        arms = None if names is None else [name.strip() for name in names.split(",")]
        show_race(pulls, reading, *units.units(), delta, arms, every, json)


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
    table = Table("regret to the best arm", columns, tuple(rows))
    unknown = all(each.pseudo_regret is None for each in series.values())
    return table.without({"pseudo-regret"}) if unknown else table


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


def _read(
    source: str, reading: Reading, ends: tuple[float, float]
) -> tuple[FloatArray, tuple[str, ...] | None]:
    import numpy as np

    from driftgames.cli._numbers import open_numbers

    with open_numbers(source, reading) as file:
        blocks = [block.numbers for block in file.checked(*ends)]
    if not blocks:
        raise ValueError("no losses came: the input has a header and no rounds")
    return np.concatenate(blocks), file.names
