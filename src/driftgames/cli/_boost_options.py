"""The options of ``driftgames boost`` that make a booster, and those that read examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from driftgames.boosting.estimators.registry import BOOSTERS
from driftgames.cli._options import Count, ImportedFile, OptionalCount, Reading, one_of
from driftgames.cli._output import fail
from driftgames.core.registry import choose

if TYPE_CHECKING:
    from driftgames.cli._examples import Examples

ALGORITHMS = tuple(name for name in BOOSTERS if name != "potential boost")
"""The boosters that need no potential."""


class Settings(NamedTuple):
    """The booster that the options ask for; None where they leave it open.

    Options:
        algorithm (NAME): The booster: {0}, or the name of a potential that --import defines.
            Default: {1}.
        rounds: How many stumps or trees vote.
        d: The constant of nh-boost.dt. Default: 3.
        edge: The edge that boost-by-majority counts on.
        bins: Most bins per numeric feature. Default: 255.
        depth: Most questions on the way to a vote. Default: 1, for stumps.
    """

    algorithm: Annotated[str | None, one_of(ALGORITHMS)] = None
    imported: ImportedFile = None
    rounds: Count = 200
    d: float | None = None
    edge: float | None = None
    bins: Annotated[int | None, typer.Option(min=2, max=255)] = None
    depth: OptionalCount = None

    def _given(self) -> dict[str, Any]:
        """Return the parameters of the booster that are not left open."""
        named = {"d": self.d, "edge": self.edge, "max_bins": self.bins, "max_depth": self.depth}
        return {name: value for name, value in named.items() if value is not None}

    def begin(self) -> Any:
        """Return a new booster."""
        from driftgames.potentials import POTENTIALS

        algorithm = ALGORITHMS[0] if self.algorithm is None else self.algorithm
        given = {"n_estimators": self.rounds, **self._given()}
        if algorithm in POTENTIALS and algorithm not in ALGORITHMS:
            kind = BOOSTERS["potential boost"]
            given["potential"] = POTENTIALS[algorithm](self.rounds, 0.5)  # half of the votes
        else:
            kind = choose("--algorithm", algorithm, {name: BOOSTERS[name] for name in ALGORITHMS})
        if "d" in given and algorithm != "nh-boost.dt":
            fail(f"--d belongs to nh-boost.dt; got {algorithm}")
        if ("edge" in given) != (algorithm == "boost-by-majority"):
            fail("--edge belongs to boost-by-majority, which needs it")
        if "edge" in given:
            given["horizon"] = self.rounds
        return kind(**given)

    def go_on(self, path: Path) -> Any:
        """Return the booster of a file; refuse other settings, and more rounds than asked for."""
        from driftgames.boosting.estimators.persistence import load_model

        booster = load_model(path)
        name = next(name for name, kind in BOOSTERS.items() if type(booster) is kind)
        if name == "potential boost":
            name = str(type(booster.potential).registry_name)
        if self.algorithm not in (None, name):
            fail(f"--algorithm is {self.algorithm}, but {path} was made with {name}")
        made = booster.get_params()
        for parameter, asked in self._given().items():
            option = f"--{parameter.removeprefix('max_')}"
            if parameter not in made:
                fail(f"{option} is {asked}, but {path} was made with {name}, which has no {option}")
            if asked != made[parameter]:
                fail(f"{option} is {asked}, but {path} was made with {made[parameter]}")
        if self.rounds < booster.n_iter_:
            fail(f"--rounds is {self.rounds}, but {path} has {booster.n_iter_} rounds already")
        return booster.set_params(n_estimators=self.rounds)


class Training(NamedTuple):
    """How the columns of a table to be fitted are taken.

    Options:
        categories (NAME,NAME): Columns that hold categories though their cells look like numbers or
            dates: names, or numbers from 1.
        many_classes: Fit a label of more than 30 different numbers. Default: refuse it, because it
            is likely a quantity and not a class.
    """

    categories: str | None = None
    many_classes: bool = False


class ExampleReading(NamedTuple):
    """The options that say how tables are read.

    Options:
        label (COLUMN): The label column: its name, or its number from 1. Default: the last column.
    """

    label: str | None = None
    table: Reading = Reading()

    def read(self, data: str, **columns: Any) -> Examples:
        """Read examples; ``columns`` are those that `read_examples` must find."""
        from driftgames.cli._examples import read_examples

        return read_examples(data, label=self.label, **self.table._asdict(), **columns)
