"""``driftgames game``: play a drifting game and watch the potential fall."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from driftgames.cli._options import ImportedFile, JsonFile, described, one_of, running
from driftgames.cli._output import console
from driftgames.tables import Column, Table, as_records, counted, draw_table, write_json


class Foe(StrEnum):
    """Who moves the chips."""

    RANDOM = "random"
    STOCHASTIC = "stochastic"
    GREEDY = "greedy"


@described
def game(
    potential: Annotated[
        str, one_of(("exp", "2-norm", "normalhedge.dt", "backward-heat"))
    ] = "normalhedge.dt",
    imported: ImportedFile = None,
    adversary: Foe = Foe.GREEDY,
    chips: int = 10,
    rounds: int = 200,
    seed: int = 0,
    plot: Path | None = None,
    json: JsonFile = None,
) -> None:
    """Play a drifting game and print where the regret stands beside its bound.

    Chips are actions. A chip far to the left is an action that the player should have trusted.
    Against any adversary the average potential never rises, if the potential meets Algorithm 3:
    that is the guarantee. A potential of your own is checked.

    Example: driftgames game --potential 2-norm --adversary stochastic

    Game:
        potential (NAME): What weighs the chips: {0}.
        adversary (NAME): What moves the chips: random, stochastic, greedy.
        chips (N): The number of chips.
        rounds (T): The number of rounds.
        seed (N): The same seed gives the same game.

    Files:
        plot (FILE): Draw regret over the rounds to this .svg, .pdf or .png.
    """
    import numpy as np

    from driftgames.certificates import Certificate
    from driftgames.certificates.bounds import theorem_2
    from driftgames.core.registry import choose
    from driftgames.games import (
        Adversary,
        GreedyAdversary,
        PotentialPlayer,
        RandomAdversary,
        StochasticAdversary,
        play,
        positions,
        potential_sum,
        rounds_that_rise,
    )
    from driftgames.potentials import POTENTIALS, check_potential

    with running(imported, plot=plot, json=json):
        phi = choose("potential", potential, POTENTIALS)(rounds, 1 / max(chips, 2))
        foes: dict[Foe, Adversary] = {
            Foe.RANDOM: RandomAdversary(),
            Foe.STOCHASTIC: StochasticAdversary(),
            Foe.GREEDY: GreedyAdversary(phi),
        }
        record = play(
            PotentialPlayer(phi),
            foes[adversary],
            n_chips=chips,
            horizon=rounds,
            observers={"sum": potential_sum(phi, rounds), "positions": positions},
            rng=seed,
        )
        # against chips that the learner's loss moves along, a chip's total is its position
        certificate = Certificate.of_run(
            f"{potential} against {adversary.value}",
            rounds,
            record.chips.positions,
            0.0,
            lambda horizon, epsilons: theorem_2(phi, horizon, epsilons),
        )
        if plot is not None:
            from driftgames.plots import plot_regret_over_time, save_figure
            from driftgames.plots.style import caption

            regret = {potential: -record.seen["positions"].min(axis=1)}
            played = np.arange(1, rounds + 1)
            last = np.where(played < rounds, np.nan, certificate.promised[0])
            known = phi.adaptive and check_potential(phi, rounds).holds
            bound = phi.bound(played, 1 / chips) if known else last
            figure = plot_regret_over_time(played.astype(float), regret, {potential: bound})
            caption(figure.axes[0], f"Against {adversary.value}: regret, and its bound (thin)")
            save_figure(figure, plot)
        start = float(phi.value(np.zeros(1), 0, horizon=rounds)[0])
        marks = sorted({1, rounds // 4, rounds // 2, 3 * rounds // 4, rounds} - {0})
        falling = ((0, start), *((t, float(record.seen["sum"][t - 1])) for t in marks))
        columns = (Column("round"), Column("potential", ".6g"))
        rises = rounds_that_rise([start, *record.seen["sum"].tolist()])
        headline = (
            f"The average potential rises in {counted(len(rises), 'round')}, first in {rises[0]}"
            if rises
            else "The average potential never rises"
        )
        table = Table(headline, columns, falling)
        if json is not None:
            played_by = {"potential": potential, "adversary": adversary.value}
            sizes = {"chips": chips, "rounds": rounds, "seed": seed}
            regret_rows = [row._asdict() for row in certificate.rows()]
            found = {
                "average_potential": as_records(table),
                "potential_rises_in": rises,
                "epsilon_regret": regret_rows,
            }
            write_json({**played_by, **sizes, **found, "verdict": certificate.verdict}, json)
    out = console()
    out.print(draw_table(table))
    out.print(str(certificate))
