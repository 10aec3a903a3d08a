"""The Hedge algorithms of Table 1 in one arena. [LS14, Tab. 1, Sec. 3.3]

Three kinds of losses: coin flips with a tenth of the actions better than the rest
(stochastic), fair coins, against which no algorithm can do better than the minimax regret
(adversarial), and losses chosen in each round, after seeing what is played, so as to push the
sum of potentials up (greedy, see `driftgames.games.GreedyAdversary`). With few actions the
greedy losses are the best of all; with many, the best of those that are tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.core.typing import Content, FloatArray
from driftgames.games import GreedyAdversary, HedgeAsPlayer, play
from driftgames.games.adversaries import ENUMERATED
from driftgames.hedge import Hedge, NormalHedge
from driftgames.paper.results import Figure, Panel
from driftgames.potentials import Exponential, NormalHedgeDT, Potential, TwoNorm
from driftgames.tables import Cell, Column, Row, Table

KINDS: tuple[str, ...] = ("stochastic", "adversarial", "greedy")
POTENTIALS: dict[str, Callable[[int, int], Potential]] = {
    "NormalHedge.DT": lambda n, T: NormalHedgeDT(),
    "NormalHedge": lambda n, T: NormalHedgeDT(),  # it has none: the greedy losses need one
    "2-norm": lambda n, T: TwoNorm(),
    "EXP tuned": lambda n, T: Exponential.tuned(T, 1 / n),
    "EXP, eta x 10": lambda n, T: Exponential(10 * Exponential.tuned(T, 1 / n).eta),
    "EXP, eta / 10": lambda n, T: Exponential(Exponential.tuned(T, 1 / n).eta / 10),
}
"""The potential of each learner, for N actions and T rounds.

EXP is tuned to the horizon and to epsilon = 1/N; two more misjudge the horizon by 100.
"""

LEARNERS = tuple(POTENTIALS)

N_ACTIONS = 50
HORIZON = 1000
SEEDS = 10
"""How often losses that are drawn are drawn anew; greedy ones are played once."""

SIZES: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000)
"""Numbers of actions at which a round is timed."""

_GAP = 0.1
_BETTER = 0.1
_POINTS = 200
_SHOWN = (0.1, 0.5)


@dataclass(frozen=True)
class HedgeRun:
    """One learner against one kind of losses.

    Parameters
    ----------
    rounds, regret : list
        Regret to the best action at some of the rounds.
    epsilons, epsilon_regret : list of float
        The curve at the end.
    bound : list of float or None
        The bound at the same epsilons; None if there is none.
    """

    kind: str
    learner: str
    rounds: list[int]
    regret: list[float]
    epsilons: list[float]
    epsilon_regret: list[float]
    bound: list[float] | None


def make_learner(name: str, n_actions: int, horizon: int) -> Any:
    """Return one of `LEARNERS`, new."""
    if name == "NormalHedge":
        return NormalHedge(n_actions)
    return Hedge(n_actions, potential=POTENTIALS[name](n_actions, horizon))


def hedge_run(kind: str, learner: str, n_actions: int, horizon: int, seed: int) -> HedgeRun:
    """Play one learner against one kind of losses and return its regret."""
    player = make_learner(learner, n_actions, horizon)
    if kind == "greedy":
        adversary = GreedyAdversary(POTENTIALS[learner](n_actions, horizon))
        game = play(
            HedgeAsPlayer(player),
            adversary,
            n_chips=n_actions,
            horizon=horizon,
            observers={"regret": lambda _: player.learner_loss - player.action_losses.min()},
            show_progress=False,
        )
        regret = game.seen["regret"]
    else:
        losses = make_losses(kind, n_actions, horizon, seed)
        regret = player.run(losses, progress=False).regret_over_time
    certificate = player.certificate()
    kept = np.unique(np.linspace(1, horizon, min(_POINTS, horizon)).round().astype(int))
    promised = certificate.promised
    return HedgeRun(
        kind=kind,
        learner=learner,
        rounds=kept.tolist(),
        regret=np.asarray(regret)[kept - 1].tolist(),
        epsilons=certificate.epsilons.tolist(),
        epsilon_regret=certificate.realised.tolist(),
        bound=promised.tolist() if np.isfinite(promised).all() else None,
    )


def make_losses(kind: str, n_actions: int, horizon: int, seed: int) -> FloatArray:
    """Return coin flips, fair ones or with a tenth of the actions losing less often.

    >>> make_losses("adversarial", 3, 2, seed=0)
    array([[0., 0., 0.],
           [0., 1., 1.]])
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    chances = np.full(n_actions, 0.5)
    if kind == "stochastic":
        chances[: max(1, round(_BETTER * n_actions))] -= _GAP
    return np.asarray(rng.random((horizon, n_actions)) < chances, dtype=np.float64)


def timing(learner: str, n_actions: int, seed: int) -> Content:
    """Return the seconds of a round of one learner with ``n_actions`` actions, as a task does."""
    return {"seconds": time_per_round(learner, n_actions, seed=seed)}


def time_per_round(learner: str, n_actions: int, *, seed: int = 0, turns: int = 5) -> float:
    """Return the seconds of one ``update``, the best of several turns of many rounds."""
    rounds = max(5, min(200, 200_000 // n_actions))
    losses = make_losses("stochastic", n_actions, rounds, seed)
    player = make_learner(learner, n_actions, HORIZON)
    player.run(losses[:2], progress=False)  # compiles
    player.update(losses[0])
    best = math.inf
    for _ in range(turns):
        begun = time.perf_counter()
        for row in losses:
            player.update(row)
        best = min(best, (time.perf_counter() - begun) / rounds)
    return best


def hedge_table(runs: Sequence[HedgeRun], n_actions: int, horizon: int) -> Table:
    """Return the epsilon-regret of every learner at the end, beside what is promised."""
    epsilons = (1 / n_actions, *_SHOWN)
    columns = [Column("losses"), Column("algorithm")]
    for epsilon in epsilons:
        group = f"ε = {epsilon:.2g}"
        columns += [
            Column("regret", "z,.1f", group),
            Column("bound", ",.0f", group, in_brackets=True),
        ]
    columns.append(Column("kept"))
    rows: list[Row] = []
    for (kind, learner), own in _by_learner(runs).items():
        regrets, bound = _mean([run.epsilon_regret for run in own]), own[0].bound
        cells: list[Cell] = [kind, learner]
        for epsilon in epsilons:
            at = math.ceil(round(epsilon * n_actions, 9)) - 1
            cells += [regrets[at], None if bound is None else bound[at]]
        rows.append((*cells, _verdict(own)))
    return Table(
        f"ε-regret after {horizon:,} rounds with {n_actions} actions",
        tuple(columns),
        tuple(rows),
        (
            f"Regret in units of loss, the mean of {SEEDS} runs with other losses (greedy: one "
            "run), beside its bound; kept counts the runs in which the bound holds at every ε. "
            "EXP is tuned to the horizon and to ε = 1/N; x 10 and / 10 "
            "are its learning rate as if the horizon were 100 times shorter or longer.",
            _greedy_note(n_actions),
        ),
        name="hedge",
    )


def table_1(n_actions: int, horizon: int) -> Table:
    """Return the table that compares the algorithms, and the bounds of ours. [LS14, Tab. 1]"""
    printed = {
        "EXP tuned": ("e^(-η(s+R))", "e^(-ηs)", "√(T ln(1/ε))", "no"),
        "2-norm": ("a [s]₋²", "[s-1]₋² - [s+1]₋²", "√(T/ε)", "yes"),
        "NormalHedge.DT": (
            "a (e^([s]₋²/3T) - 1)",
            "e^([s-1]₋²/3t) - e^([s+1]₋²/3t)",
            "√(T ln(ln T/ε))",
            "yes",
        ),
        "NormalHedge": ("none", "-[s]₋ e^([s]₋²/c)", "√(T ln(1/ε)) + ln² N (E6)", "yes"),
    }
    columns = [Column("algorithm"), *(Column(x, on_terminal=False) for x in ("Φ_T(s)", "weight"))]
    columns += [Column("order of ε-regret"), Column("adaptive")]
    group = f"our bound, T = {horizon:,}"
    epsilons = (1 / n_actions, *_SHOWN)
    columns += [Column(f"ε = {epsilon:.2g}", ",.1f", group) for epsilon in epsilons]
    rows: list[Row] = []
    for name, cells in printed.items():
        learner = make_learner(name, n_actions, horizon)
        bounds = [float(learner.bound(horizon, epsilon)) for epsilon in epsilons]
        rows.append((name, *cells, *bounds))
    notes = (
        "[s]₋ is min(s, 0), a a constant, c such that the mean of e^([s]₋²/c) is e. EXP is tuned "
        "for the horizon and ε = 1/N. The bounds are for losses in [0, 1].",
    )
    return Table("The algorithms of Table 1", tuple(columns), tuple(rows), notes, name="table1")


def kept_runs(table: Table) -> tuple[int, int]:
    """Return how many runs of `hedge_table` keep their bound, and how many have one."""
    counts = [str(cell).split("/") for cell in table.column("kept") if "/" in str(cell)]
    return sum(int(kept) for kept, _ in counts), sum(int(runs) for _, runs in counts)


def regret_figure(runs: Sequence[HedgeRun]) -> Figure:
    """Return mean regret to the best action over time, with a band from the least to the most."""
    panels = []
    for kind in dict.fromkeys(run.kind for run in runs):
        own = {
            name: [run.regret for run in found]
            for (each, name), found in _by_learner(runs).items()
            if each == kind
        }
        panels.append(
            Panel(
                kind,
                [float(t) for t in runs[0].rounds],
                {name: _mean(curves) for name, curves in own.items()},
                bands={
                    name: [np.min(curves, axis=0).tolist(), np.max(curves, axis=0).tolist()]
                    for name, curves in own.items()
                    if len(curves) > 1
                },
            )
        )
    ends = []
    for panel in panels:
        last = {name: curve[-1] for name, curve in panel.curves.items()}
        least, most = min(last, key=last.__getitem__), max(last, key=last.__getitem__)
        ends.append(f"{least} has the least and {most} the most ({panel.title})")
    return Figure(
        "regret_over_time",
        "regret_over_time",
        "Regret to the best action over time",
        tuple(panels),
        (
            f"Lower is better. Lines are means, and bands reach from the least to the most of "
            f"{SEEDS} runs. At the end {'; '.join(ends)}.",
        ),
    )


def epsilon_figure(runs: Sequence[HedgeRun]) -> Figure:
    """Return the mean epsilon-regret at the end, a panel for each learner, with its bound."""
    panels = []
    for learner in dict.fromkeys(run.learner for run in runs):
        own = {kind: found for (kind, each), found in _by_learner(runs).items() if each == learner}
        curves = {kind: _mean([run.epsilon_regret for run in found]) for kind, found in own.items()}
        first, found = next(iter(own.items()))
        bound = found[0].bound
        panels.append(
            Panel(learner, runs[0].epsilons, curves, {} if bound is None else {first: bound})
        )
    return Figure(
        "epsilon_regret",
        "epsilon_regret",
        "ε-regret at the end, by algorithm, and its bound (thin)",
        tuple(panels),
        ("A bound above all curves of its panel is kept. The bound is the same for all losses.",),
    )


def timing_figure(seconds: dict[str, list[float]], sizes: Sequence[int]) -> Figure:
    """Return the time of a round as the number of actions grows."""
    panel = Panel("", [float(n) for n in sizes], seconds)
    return Figure(
        "time_per_round",
        "time_per_round",
        "Time per round as N grows",
        (panel,),
        (
            "Both axes are logarithmic: a time proportional to N is a line of slope 1. One call of "
            "update, the best of several turns.",
        ),
    )


def _greedy_note(n_actions: int) -> str:
    if 2**n_actions <= ENUMERATED:
        tried = "all losses of 0 and 1"
    else:
        tried = (
            "the losses that split the actions by their position or by their probability, so "
            "that a stronger answer may exist"
        )
    return (
        "The greedy adversary sees each distribution first and takes the losses with the largest "
        "next sum of the learner's own potentials (for NormalHedge, which has none, of "
        f"NormalHedge.DT's). It tries {tried}."
    )


def _verdict(runs: Sequence[HedgeRun]) -> str:
    """Return in how many of the runs the bound holds at every epsilon."""
    if runs[0].bound is None:
        return "no bound"
    kept = sum(
        all(r <= b for r, b in zip(run.epsilon_regret, run.bound or (), strict=True))
        for run in runs
    )
    return f"{kept}/{len(runs)}"


def _by_learner(runs: Sequence[HedgeRun]) -> dict[tuple[str, str], list[HedgeRun]]:
    """Return the runs of each kind and learner: one for each seed."""
    found: dict[tuple[str, str], list[HedgeRun]] = {}
    for run in runs:
        found.setdefault((run.kind, run.learner), []).append(run)
    return found


def _mean(curves: Sequence[Sequence[float]]) -> list[float]:
    return [float(value) for value in np.mean(curves, axis=0)]
