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
from driftgames.paper.results import Figure, Panel, listed
from driftgames.plots.regret import frame_of
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
    for run in runs:
        cells: list[Cell] = [run.kind, run.learner]
        for epsilon in epsilons:
            at = math.ceil(round(epsilon * n_actions, 9)) - 1
            cells += [run.epsilon_regret[at], None if run.bound is None else run.bound[at]]
        rows.append((*cells, _verdict(run)))
    return Table(
        f"ε-regret after {horizon:,} rounds with {n_actions} actions",
        tuple(columns),
        tuple(rows),
        (
            "Regret in units of loss, beside its bound; kept says whether the bound holds at "
            "every ε. EXP is tuned to the horizon and to ε = 1/N; x 10 and / 10 "
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


def regret_figure(runs: Sequence[HedgeRun]) -> Figure:
    """Return regret to the best action over time."""
    panels = [
        Panel(
            kind,
            [float(t) for t in own[0].rounds],
            {run.learner: run.regret for run in own},
        )
        for kind, own in _by_kind(runs)
    ]
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
        (f"Lower is better. At the end {'; '.join(ends)}.",),
    )


def epsilon_figure(runs: Sequence[HedgeRun]) -> Figure:
    """Return the epsilon-regret at the end, each curve with its bound."""
    panels = [
        Panel(
            kind,
            own[0].epsilons,
            {run.learner: run.epsilon_regret for run in own},
            {run.learner: run.bound for run in own if run.bound is not None},
        )
        for kind, own in _by_kind(runs)
    ]
    return Figure(
        "epsilon_regret",
        "epsilon_regret",
        "ε-regret at the end (thick) and its bound (thin)",
        tuple(panels),
        (
            "A thin line above the thick line of its colour is a promise kept.",
            *_outside(panels),
        ),
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


def _outside(panels: Sequence[Panel]) -> list[str]:
    """Return a sentence on the bounds that lie above the frame of their panel; none if all fit."""
    found = []
    for panel in panels:
        curves = {name: np.asarray(curve) for name, curve in panel.curves.items()}
        bounds = {name: np.asarray(bound) for name, bound in panel.bounds.items()}
        _, top = frame_of(curves, bounds)
        above = [name for name, bound in bounds.items() if bound.min() > top]
        if above:
            found.append(f"{listed(above)} ({panel.title})")
    return [f"Above the frame are the bounds of {'; '.join(found)}."] if found else []


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


def _verdict(run: HedgeRun) -> str:
    if run.bound is None:
        return "no bound"
    kept = all(r <= b for r, b in zip(run.epsilon_regret, run.bound, strict=True))
    return "yes" if kept else "NO"


def _by_kind(runs: Sequence[HedgeRun]) -> list[tuple[str, list[HedgeRun]]]:
    kinds = dict.fromkeys(run.kind for run in runs)
    return [(kind, [run for run in runs if run.kind == kind]) for kind in kinds]
