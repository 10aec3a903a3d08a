"""``driftgames bandit``: policies against an adversary or a matrix of losses, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgames.cli._options import check_outputs, fractions, pair
from driftgames.cli._output import clear_errors, console, make_table

if TYPE_CHECKING:
    from rich.console import Console

    from driftgames.bandit import Environment, GameSeries
    from driftgames.bandit.comparison import Maker
    from driftgames.core.typing import FloatArray

POLICIES = ("exp3", "exp3-anytime", "exp3-ix", "exp3-ix-anytime", "tsallis-inf")
ADVERSARIES = ("stochastic", "moody", "switching", "spiteful", "lure")
"""The names in `driftgames.bandit`, written out so that --help need not load it."""

REACTING = ("spiteful", "lure")
"""The adversaries that answer what a policy does."""


def bandit(
    losses: Annotated[
        str | None,
        typer.Argument(
            metavar="[LOSSES]",
            help="CSV (.gz, .xz and .bz2 too), .parquet or .npy: a row per round, a column per "
            "arm; or - for standard input. Left out, an adversary makes the losses.",
        ),
    ] = None,
    adversary: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Who makes the losses: {', '.join(ADVERSARIES)}; the first unless given.",
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME", help=f"Who plays: {', '.join(POLICIES)}; all unless given."
        ),
    ] = None,
    arms: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="How many arms an adversary has; 10 unless given."),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="T", help="How many rounds against an adversary; 20000 unless given."
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.5,
            metavar="D",
            help="How much less the best arm loses on average (stochastic, moody, switching); "
            "0.1 unless given.",
        ),
    ] = None,
    delay: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="A loss comes after N further pulls (not with spiteful and lure).",
        ),
    ] = 0,
    games: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many games with other draws are averaged.")
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same games.")] = 0,
    loss_range: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH", help="Where the cells of LOSSES lie, as in 0,100; 0,1 unless given."
        ),
    ] = None,
    rewards: Annotated[
        bool, typer.Option("--rewards", help="The cells of LOSSES are rewards, not losses.")
    ] = False,
    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="E,E",
            help="Show the regret to all but the best fraction E of the arms too, as in 0.1,0.5.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw regret over time to this .svg, .pdf or .png."),
    ] = None,
) -> None:
    """Let bandit policies play, and compare what they lose.

    Every policy sees the loss of the arm it draws and nothing else, and is
    shown beside its bound. All meet the same losses in the same games, but
    for spiteful and lure, which answer each policy by what it does. The
    regret is to the arm that was best in each game; the pseudo-regret counts
    what the pulls cost on average.

    stochastic: coins, one better than the others. moody: as before, but good
    and bad times change. switching: the better coin changes every 1,000
    rounds. spiteful: the favourite arm of the player loses. lure: an arm
    loses as soon as it is trusted.

    Example: driftgames bandit --games 5

    Example: driftgames bandit --adversary lure --policies exp3,tsallis-inf

    Example: driftgames bandit clicks.csv --rewards --plot regret.svg

    Example: driftgames bandit --policies exp3,tsallis-inf --delay 100
    """
    with clear_errors():
        check_outputs(plot=plot)
        ends = pair("--loss-range", loss_range) or (0.0, 1.0)
        makers = _makers(policies, ends, rewards)
        epsilons = fractions("--epsilon", epsilon)
        if losses is None:
            if rewards or loss_range is not None:
                raise ValueError("--rewards and --loss-range are for LOSSES; there are none")
            chosen = adversary or ADVERSARIES[0]
            if delay and chosen in REACTING:
                raise ValueError(f"--delay is for losses that do not react; {chosen} reacts")
            source: Any = _adversary(chosen, arms or 10, 0.1 if gap is None else gap)
            rounds, title = horizon or 20_000, chosen
        else:
            made = {"--adversary": adversary, "--arms": arms, "--horizon": horizon, "--gap": gap}
            for option, value in made.items():
                if value is not None:
                    raise ValueError(f"{option} is for games without LOSSES")
            source = _read(losses, ends)
            title = "standard input" if losses == "-" else Path(losses).name
            rounds = len(source)
        _play(source, title, rounds, delay, makers, games, seed, epsilons, plot)


def _play(
    source: Environment | FloatArray,
    title: str,
    rounds: int,
    delay: int,
    makers: dict[str, Maker],
    games: int,
    seed: int,
    epsilons: list[float],
    plot: Path | None,
) -> None:
    from driftgames.bandit import Environment, compare

    horizon = rounds if isinstance(source, Environment) else None
    series = compare(source, horizon, policies=makers, n_games=games, seed=seed, delays=delay)
    out = console()
    _show_regret(series, title, out)
    if epsilons:
        _show_epsilons(series, epsilons, out)
    if plot is not None:
        _draw(series, plot)


def _show_regret(series: dict[str, GameSeries], title: str, out: Console) -> None:
    import math

    first = next(iter(series.values()))
    games, n_arms = first.arm_losses.shape
    rows = []
    for name, each in series.items():
        spread = each.regret.std(ddof=1) / math.sqrt(games) if games > 1 else math.nan
        pseudo = "-" if each.pseudo_regret is None else f"{each.pseudo_regret.mean():,.1f}"
        error = "-" if math.isnan(spread) else f"{spread:,.1f}"
        bound = kept = "-"
        if math.isfinite(each.promised):
            bound = f"{each.promised:,.1f}"
            kept = f"{int((each.regret <= each.promised).sum())}/{games}"
        rows.append((name, f"{each.regret.mean():,.1f}", error, pseudo, bound, kept))
    many = f"{games:,} game{'s' * (games != 1)}"
    out.print(f"{title}: {n_arms:,} arms, {first.horizon:,} rounds, {many}", style="bold")
    out.print()
    headers = ["policy", "regret", "std error", "pseudo-regret", "bound", "games within"]
    out.print(make_table("regret to the best arm", headers, rows))
    for each in series.values():
        certificate = each.certificate
        why = certificate.caveat if math.isinf(each.promised) else each.caveat
        out.print(f"{each.title}: {certificate.verdict} ({why})")


def _show_epsilons(series: dict[str, GameSeries], epsilons: list[float], out: Console) -> None:
    rows = []
    for name, each in series.items():
        certificate = each.certificate
        lines = [certificate.at(epsilon) for epsilon in epsilons]
        rows.append((name, *(f"{row.realised:,.1f} / {row.promised:,.1f}" for row in lines)))
    headers = ["policy", *(f"epsilon {epsilon:g}" for epsilon in epsilons)]
    out.print()
    title = "mean regret / bound, to all but the best epsilon of the arms"
    out.print(make_table(title, headers, rows))


def _draw(series: dict[str, GameSeries], path: Path) -> None:
    from driftgames.plots import save_figure
    from driftgames.plots.bandit import plot_regret_bands

    first = next(iter(series.values()))
    curves = {name: each.regret_over_time for name, each in series.items()}
    bounds = {name: each.promised_over_time for name, each in series.items()}
    save_figure(plot_regret_bands(first.checkpoints, curves, bounds), path)


def _makers(policies: str | None, ends: tuple[float, float], rewards: bool) -> dict[str, Maker]:
    from functools import partial

    from driftgames.bandit import POLICIES as BY_NAME

    chosen = list(POLICIES) if policies is None else [name.strip() for name in policies.split(",")]
    for name in chosen:
        if name not in BY_NAME:
            raise ValueError(f"there is no policy {name!r}; there are {', '.join(BY_NAME)}")
    return {name: partial(BY_NAME[name], loss_range=ends, rewards=rewards) for name in chosen}


def _adversary(name: str, n_arms: int, gap: float) -> Environment:
    from driftgames.bandit import ENVIRONMENTS

    if name not in ENVIRONMENTS:
        raise ValueError(f"there is no adversary {name!r}; there are {', '.join(ENVIRONMENTS)}")
    return ENVIRONMENTS[name](n_arms, gap)


def _read(source: str, ends: tuple[float, float]) -> FloatArray:
    import numpy as np

    from driftgames.cli._loss_files import open_losses

    with open_losses(source) as file:
        blocks = [block.losses for block in file.checked(*ends)]
    if not blocks:
        raise ValueError("no losses came: the input has a header and no rounds")
    return np.concatenate(blocks)
