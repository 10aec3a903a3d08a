"""The experiments by name: what work each needs, and how its section is put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from driftgames.core.checks import check_integer
from driftgames.core.typing import Content
from driftgames.datasets import Dataset
from driftgames.paper import extras, figures, hedge, tables
from driftgames.paper.boosting import (
    ALGORITHMS,
    AS_PROVED,
    LEAST_TURNS,
    MOST_TURNS,
    Fit,
    fit,
)
from driftgames.paper.peers import PEERS
from driftgames.paper.published import ROUNDS
from driftgames.paper.results import Figure, Section, listed
from driftgames.paper.sets import Chosen
from driftgames.paper.store import Task
from driftgames.tables import Table

LONG = 2000
"""Rounds of the long table."""

Key = tuple[Any, ...]
Tasks = dict[Key, Task]
Results = dict[Key, Content]
"""The results of tasks, by the keys of the tasks."""

Built = tuple[tuple[Table, ...], tuple[Figure, ...]]


@dataclass(frozen=True)
class Setting:
    """The settings of a run.

    Parameters
    ----------
    chosen : Chosen
        The sets.
    rounds : int
        The rounds of boosting.
    n_actions, horizon : int
        The size of the Hedge games.
    sizes : tuple of int
        Numbers of actions at which a Hedge round is timed.
    seed : int
        The seed of all random numbers.
    """

    chosen: Chosen
    rounds: int = ROUNDS
    n_actions: int = hedge.N_ACTIONS
    horizon: int = hedge.HORIZON
    sizes: tuple[int, ...] = hedge.SIZES
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("rounds", self.rounds, least=1)
        check_integer("n_actions", self.n_actions, least=2)
        check_integer("horizon", self.horizon, least=1)
        check_integer("seed", self.seed, least=0)


@dataclass(frozen=True)
class Experiment:
    """One section of the report.

    Parameters
    ----------
    tasks : callable
        The work that it needs.
    build : callable
        The section, from the results of that work.
    extra : bool
        Whether it goes beyond the paper and takes longer.
    uses : callable
        The sets that it uses. Default: all that were chosen.
    why : str
        The reason why it leaves out the others.
    """

    name: str
    title: str
    text: str
    tasks: Callable[[Setting], Tasks]
    build: Callable[[Setting, Results], Built]
    extra: bool = False
    uses: Callable[[Setting], tuple[Dataset, ...]] = lambda setting: setting.chosen.sets
    why: str = ""

    def section(self, setting: Setting, done: Results, command: str) -> Section:
        """Return the section once all tasks are done."""
        built, drawn = self.build(setting, done)
        used = tuple(data.name for data in self.uses(setting))
        others = [data.name for data in setting.chosen.sets if data.name not in used]
        return Section(
            self.name,
            self.title,
            self.text,
            built,
            drawn,
            command,
            sets=used,
            left_out=tuple(others) if self.why else (),
            why=self.why,
        )


def _fits(sets: Sequence[Dataset], rounds: int, algorithms: Sequence[str] = ALGORITHMS) -> Tasks:
    return {
        (data.name, name): Task.of(fit, data, name, rounds) for data in sets for name in algorithms
    }


def _made(done: Results) -> list[Fit]:
    return [Fit(**each) for each in done.values()]


def _shown(setting: Setting) -> tuple[Dataset, ...]:
    return setting.chosen.named(figures.SHOWN)


_WHY_SHOWN = f"as in the paper, the figures show {listed(figures.SHOWN)}"
_TIMED = hedge.LEARNERS[:4]  # another learning rate takes the same time


def _noisy(setting: Setting) -> tuple[Dataset, ...]:
    return tuple(data for data in setting.chosen.sets if data.name != "w8a")


def _hedge_tasks(setting: Setting) -> Tasks:
    n_actions, horizon, seed = setting.n_actions, setting.horizon, setting.seed
    played: Tasks = {
        (kind, name, draw): Task.of(hedge.hedge_run, kind, name, n_actions, horizon, seed + draw)
        for kind in hedge.KINDS
        for name in hedge.LEARNERS
        for draw in range(1 if kind == "greedy" else hedge.SEEDS)
    }
    timed: Tasks = {
        (name, n): Task.of(hedge.timing, name, n, seed) for name in _TIMED for n in setting.sizes
    }
    return {**played, **timed}


def _noise_tasks(setting: Setting) -> Tasks:
    return {
        (data.name, name, noise, draw): Task.of(
            fit, data, name, setting.rounds, noise=noise, seed=setting.seed + draw
        )
        for data in _noisy(setting)
        for name in ALGORITHMS
        for noise in extras.NOISE
        for draw in range(extras.NOISE_DRAWS if noise else 1)
    }


def _peer_tasks(setting: Setting) -> Tasks:
    sets, rounds = setting.chosen.sets, setting.rounds
    theirs: Tasks = {
        (data.name, peer): extras.peer_task(data, peer, rounds) for data in sets for peer in PEERS
    }
    return {**_fits(sets, rounds, [AS_PROVED]), **theirs}


def _build_table_3(rounds: int, name: str, setting: Setting, done: Results) -> Built:
    return (tables.table_3(setting.chosen.sets, _made(done), rounds, name=name),), ()


def _build_hedge(setting: Setting, done: Results) -> Built:
    runs = [hedge.HedgeRun(**each) for key, each in done.items() if key[0] in hedge.KINDS]
    seconds = {name: [float(done[name, n]["seconds"]) for n in setting.sizes] for name in _TIMED}
    drawn = (
        hedge.regret_figure(runs),
        hedge.epsilon_figure(runs),
        hedge.timing_figure(seconds, setting.sizes),
    )
    size = setting.n_actions, setting.horizon
    return (hedge.table_1(*size), hedge.hedge_table(runs, *size)), drawn


def _build_noise(setting: Setting, done: Results) -> Built:
    fits: dict[Key, list[Fit]] = {}
    for (*key, _), each in done.items():
        fits.setdefault(tuple(key), []).append(Fit(**each))
    return ((extras.noise_table(fits, setting.rounds),) if fits else ()), ()


def _build_peers(setting: Setting, done: Results) -> Built:
    ours = [Fit(**done[data.name, AS_PROVED]) for data in setting.chosen.sets]
    return (extras.peer_table(ours, done, setting.rounds),), ()


_ALL = (
    Experiment(
        "table2",
        "Table 2: the sets",
        "The sizes of the sets as they were loaded here, beside the published ones.",
        lambda setting: {},
        lambda setting, done: ((tables.table_2(setting.chosen.sets),), ()),
    ),
    Experiment(
        "table3",
        "Table 3: the boosting runs",
        "AdaBoost, NH-Boost and NH-Boost.DT with exhaustive stumps. NH-Boost.DT is there in two "
        "readings: with the exponents' denominator 4(t-1), as the published numbers were "
        "evidently made, and with 3t, as the theorem has it. Zeros are the share of examples of "
        "weight zero, averaged over the weights after each round (rounds 2 to T + 1); the last "
        "column has rounds 1 to T.",
        lambda setting: _fits(setting.chosen.sets, setting.rounds),
        lambda setting, done: _build_table_3(setting.rounds, "table3", setting, done),
    ),
    Experiment(
        "figure1",
        "Figure 1: ignored examples",
        "The share of training examples to which each booster gives no weight at all: a weak "
        "learner need not look at them.",
        lambda setting: _fits(_shown(setting), setting.rounds),
        lambda setting, done: ((), (figures.figure_1(_made(done)),)),
        uses=_shown,
        why=_WHY_SHOWN,
    ),
    Experiment(
        "figure2",
        "Figure 2: margins",
        "The margin of an example is the share of hypotheses that are right about it less the "
        "share that are wrong.",
        lambda setting: _fits(_shown(setting), setting.rounds),
        lambda setting, done: ((), (figures.figure_2(_made(done)),)),
        uses=_shown,
        why=_WHY_SHOWN,
    ),
    Experiment(
        "hedge",
        "Table 1 at work: the Hedge algorithms",
        "What Table 1 and Section 3 of the paper state, measured. EXP needs a learning rate, and "
        "to set it the horizon; the 2-norm algorithm, NormalHedge and NormalHedge.DT need neither. "
        "Stochastic losses are coin flips of which a tenth of the actions lose less often, "
        "adversarial ones fair coins, and greedy ones answer what is played.",
        _hedge_tasks,
        _build_hedge,
        uses=lambda setting: (),
    ),
    Experiment(
        "long",
        f"Beyond the paper: {LONG:,} rounds",
        "The boosting table once more, ten times as long.",
        lambda setting: _fits(setting.chosen.sets, LONG),
        partial(_build_table_3, LONG, "long"),
        extra=True,
    ),
    Experiment(
        "noise",
        "Beyond the paper: label noise",
        "A share of the training labels is flipped at random.",
        _noise_tasks,
        _build_noise,
        extra=True,
        uses=_noisy,
        why="its test rows are training rows, of which noise flips the labels",
    ),
    Experiment(
        "peers",
        "Beyond the paper: time against LightGBM and scikit-learn",
        "Fitting alone, data in memory, one thread, the best turn of each: of "
        f"{LEAST_TURNS} where a fit is long, and of up to {MOST_TURNS} where it is short.",
        _peer_tasks,
        _build_peers,
        extra=True,
    ),
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
"""Every experiment by name, in the order of the report."""
