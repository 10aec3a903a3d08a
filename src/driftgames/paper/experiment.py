"""The experiments by name: what work each needs, and how its section is put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    fit_task,
)
from driftgames.paper.peers import PEERS
from driftgames.paper.published import ROUNDS
from driftgames.paper.results import Figure, Section, listed
from driftgames.paper.sets import Chosen
from driftgames.paper.store import Task
from driftgames.tables import Table

LONG = 2000
"""Rounds of the long table."""

Result = Callable[[Task], Content]
"""Gives the result of a task that is done."""

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
    tasks: Callable[[Setting], list[Task]]
    build: Callable[[Setting, Result], Built]
    extra: bool = False
    uses: Callable[[Setting], tuple[Dataset, ...]] = lambda setting: setting.chosen.sets
    why: str = ""

    def section(self, setting: Setting, result: Result, command: str) -> Section:
        """Return the section once all tasks are done."""
        built, drawn = self.build(setting, result)
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


def _fits(
    sets: Sequence[Dataset], rounds: int, algorithms: Sequence[str] = ALGORITHMS
) -> list[Task]:
    return [fit_task(data, name, rounds) for data in sets for name in algorithms]


def _done(tasks: Sequence[Task], result: Result) -> list[Fit]:
    return [Fit(**result(task)) for task in tasks]


def _shown(setting: Setting) -> tuple[Dataset, ...]:
    return setting.chosen.named(figures.SHOWN)


def _shown_fits(setting: Setting, result: Result) -> list[Fit]:
    return _done(_fits(_shown(setting), setting.rounds), result)


_WHY_SHOWN = f"as in the paper, the figures show {listed(figures.SHOWN)}"


def _noisy(setting: Setting) -> tuple[Dataset, ...]:
    return tuple(data for data in setting.chosen.sets if data.name != "w8a")


def _hedge_tasks(setting: Setting) -> list[Task]:
    return [
        hedge.hedge_task(kind, name, setting.n_actions, setting.horizon, setting.seed)
        for kind in hedge.KINDS
        for name in hedge.LEARNERS
    ]


def _timing_tasks(setting: Setting) -> dict[str, list[Task]]:
    return {
        name: [hedge.timing_task(name, n, setting.seed) for n in setting.sizes]
        for name in hedge.LEARNERS[:4]  # another learning rate takes the same time
    }


def _noise_tasks(setting: Setting) -> dict[tuple[str, str, float], list[Task]]:
    return {
        (data.name, name, noise): [
            fit_task(data, name, setting.rounds, noise=noise, seed=setting.seed + draw)
            for draw in range(extras.NOISE_DRAWS if noise else 1)
        ]
        for data in _noisy(setting)
        for name in ALGORITHMS
        for noise in extras.NOISE
    }


def _peer_tasks(setting: Setting) -> dict[tuple[str, str], Task]:
    return {
        (data.name, peer): extras.peer_task(data, peer, setting.rounds)
        for data in setting.chosen.sets
        for peer in PEERS
    }


def _build_table_3(rounds: int, name: str, setting: Setting, result: Result) -> Table:
    sets = setting.chosen.sets
    return tables.table_3(sets, _done(_fits(sets, rounds), result), rounds, name=name)


def _build_hedge(setting: Setting, result: Result) -> Built:
    runs = [hedge.HedgeRun(**result(task)) for task in _hedge_tasks(setting)]
    seconds = {
        name: [float(result(task)["seconds"]) for task in tasks]
        for name, tasks in _timing_tasks(setting).items()
    }
    drawn = (
        hedge.regret_figure(runs),
        hedge.epsilon_figure(runs),
        hedge.timing_figure(seconds, setting.sizes),
    )
    return (hedge.hedge_table(runs, setting.n_actions, setting.horizon),), drawn


def _build_noise(setting: Setting, result: Result) -> Built:
    fits = {key: _done(tasks, result) for key, tasks in _noise_tasks(setting).items()}
    return ((extras.noise_table(fits, setting.rounds),) if fits else ()), ()


def _build_peers(setting: Setting, result: Result) -> Built:
    ours = _done(_fits(setting.chosen.sets, setting.rounds, [AS_PROVED]), result)
    peers = {key: result(task) for key, task in _peer_tasks(setting).items()}
    return (extras.peer_table(ours, peers, setting.rounds),), ()


_ALL = (
    Experiment(
        "table2",
        "Table 2: the sets",
        "The sizes of the sets as they were loaded here, beside the published ones.",
        lambda setting: [],
        lambda setting, result: ((tables.table_2(setting.chosen.sets),), ()),
    ),
    Experiment(
        "table3",
        "Table 3: the boosting runs",
        "AdaBoost, NH-Boost and NH-Boost.DT with exhaustive stumps. NH-Boost.DT is there in two "
        "readings: with the exponents' denominator 4(t-1), as the published numbers were "
        "evidently made, and with 3t, as the theorem has it. Zeros are the share of examples of "
        "weight zero, averaged over the rounds.",
        lambda setting: _fits(setting.chosen.sets, setting.rounds),
        lambda setting, result: (
            (_build_table_3(setting.rounds, "table3", setting, result),),
            (),
        ),
    ),
    Experiment(
        "figure1",
        "Figure 1: ignored examples",
        "The share of training examples to which each booster gives no weight at all: a weak "
        "learner need not look at them.",
        lambda setting: _fits(_shown(setting), setting.rounds),
        lambda setting, result: ((), (figures.figure_1(_shown_fits(setting, result)),)),
        uses=_shown,
        why=_WHY_SHOWN,
    ),
    Experiment(
        "figure2",
        "Figure 2: margins",
        "The margin of an example is the share of hypotheses that are right about it less the "
        "share that are wrong.",
        lambda setting: _fits(_shown(setting), setting.rounds),
        lambda setting, result: ((), (figures.figure_2(_shown_fits(setting, result)),)),
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
        lambda setting: [
            *_hedge_tasks(setting),
            *(task for tasks in _timing_tasks(setting).values() for task in tasks),
        ],
        _build_hedge,
        uses=lambda setting: (),
    ),
    Experiment(
        "long",
        f"Beyond the paper: {LONG:,} rounds",
        "The boosting table once more, ten times as long.",
        lambda setting: _fits(setting.chosen.sets, LONG),
        lambda setting, result: ((_build_table_3(LONG, "long", setting, result),), ()),
        extra=True,
    ),
    Experiment(
        "noise",
        "Beyond the paper: label noise",
        "A share of the training labels is flipped at random.",
        lambda setting: [task for tasks in _noise_tasks(setting).values() for task in tasks],
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
        lambda setting: [
            *_fits(setting.chosen.sets, setting.rounds, [AS_PROVED]),
            *_peer_tasks(setting).values(),
        ],
        _build_peers,
        extra=True,
    ),
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
"""Every experiment by name, in the order of the report."""
