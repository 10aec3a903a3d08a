"""The options of ``driftgames boost`` that make a booster, and those that read examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from driftgames.boosting.by_name import BOOSTERS
from driftgames.cli._options import ImportedFile, OptionalCount, Reading, numbers, one_of
from driftgames.cli._output import fail
from driftgames.core.registry import choose
from driftgames.core.text import listed, shown

if TYPE_CHECKING:
    from driftgames.cli._examples import Examples

STOPPING: dict[str, Any] = {"off": False, "on": True, "auto": "auto"}
"""What --early-stopping says, and the setting that it is."""

ALGORITHMS = tuple(name for name in BOOSTERS if name != "potential boost")
"""The boosters that need no potential."""


class Settings(NamedTuple):
    """The booster that the options ask for; None where they leave it open.

    Algorithm:
        algorithm (NAME): The booster: {0}, or the name of a potential that --import defines.
            Default: {1}.
        d: The constant of nh-boost.dt. Default: 3.
        edge: The edge that boost-by-majority counts on.
        bins: Most bins per numeric feature. Default: 255, or 64 for fewer than 10,000 rows where a
            size is chosen.
        class_weight (WEIGHTS): balanced, which gives all classes the same weight, or a factor for
            each class, such as yes=3,no=1.

    Size:
        rounds: How many stumps or trees vote. Default: nh-boost.dt chooses 25, 50, 100 and so on
            on rows held out, up to 400 below 10,000 rows and 1,600 at the most; the others play
            200.
        leaves: Most leaves of a tree; 2 makes stumps. Default: nh-boost.dt chooses 2, 4, 8, 16 or
            32 on rows held out (for K classes 2, K + 2, 4K or 8K); the others have stumps.
        depth: Most questions on the way to a vote; 1 makes stumps. Leaves are then not chosen.
        ensemble: The model is the mean of the boosters that chose its size, or one booster of this
            size fitted to all rows. Default: the mean where a size is chosen.

    Stopping:
        early_stopping (WHEN): {0}. on: play at most --rounds (default: 400) and stop where the
            log-loss on a tenth of the rows, held out, no longer falls. auto: the same from 10,001
            rows on.
        patience (ROUNDS): Stop after this many rounds without a lower log-loss. Default: 10. It
            turns early stopping on.
    """

    algorithm: Annotated[str | None, one_of(ALGORITHMS)] = None
    imported: ImportedFile = None
    rounds: OptionalCount = None
    leaves: Annotated[int | None, typer.Option(min=2)] = None
    depth: OptionalCount = None
    ensemble: bool | None = None
    d: float | None = None
    edge: float | None = None
    bins: Annotated[int | None, typer.Option(min=2, max=255)] = None
    class_weight: str | None = None
    early_stopping: Annotated[str | None, one_of(STOPPING)] = None
    patience: OptionalCount = None

    def _given(self) -> dict[str, Any]:
        """Return the parameters that the rounds depend on and that are not left open."""
        named = {
            "d": self.d,
            "edge": self.edge,
            "max_bins": self.bins,
            "max_depth": self.depth,
            "max_leaves": self.leaves,
        }
        return {name: value for name, value in named.items() if value is not None}

    def _stopping(self) -> dict[str, Any]:
        """Return the parameters of early stopping that are not left open."""
        given: dict[str, Any] = {}
        if self.patience is not None:
            given |= {"early_stopping": True, "n_iter_no_change": self.patience}
        if self.early_stopping is not None:
            asked = choose("--early-stopping", self.early_stopping, STOPPING)
            if asked is False and self.patience is not None:
                fail(f"--patience needs --early-stopping on or auto; got {self.early_stopping}")
            given["early_stopping"] = asked
        return given

    def begin(self) -> Any:
        """Return a new booster."""
        from driftgames.boosting.fit.fit_booster import USUAL_ROUNDS
        from driftgames.potentials import POTENTIALS

        algorithm = ALGORITHMS[0] if self.algorithm is None else self.algorithm
        given = {**self._given(), **self._stopping()}
        rounds = USUAL_ROUNDS if self.rounds is None else self.rounds
        if self.rounds is not None:
            given["n_estimators"] = rounds
        if self.leaves is not None and self.depth is None:
            given["max_depth"] = None
        if self.ensemble is not None:
            given["ensemble"] = self.ensemble
        if algorithm in POTENTIALS and algorithm not in ALGORITHMS:
            kind = BOOSTERS["potential boost"]
            given["potential"] = POTENTIALS[algorithm](rounds, 0.5)  # half of the votes
        else:
            kind = choose("--algorithm", algorithm, {name: BOOSTERS[name] for name in ALGORITHMS})
        if "d" in given and algorithm != "nh-boost.dt":
            fail(f"--d belongs to nh-boost.dt; got {algorithm}")
        if ("edge" in given) != (algorithm == "boost-by-majority"):
            fail("--edge belongs to boost-by-majority, which needs it")
        if "edge" in given:
            given["horizon"] = rounds
        return kind(**given)

    def weigh(self, booster: Any, labels: Any) -> None:
        """Give a booster the class weights of the options, for these labels."""
        if self.class_weight is None:
            return
        weights: Any = self.class_weight
        if weights != "balanced":
            weights = parse_weights(weights, sorted(set(labels.tolist())))
        booster.set_params(class_weight=weights)


def parse_weights(text: str, classes: Any) -> dict[Any, float]:
    """Return the factor of each class in a text such as ``yes=3,no=1``.

    >>> parse_weights("1=3,a=b=0.5", [1, "a=b", "c"])
    {1: 3.0, 'a=b': 0.5}
    """
    labels = {str(label): label for label in classes}
    found: dict[Any, float] = {}
    for part in text.split(","):
        name, equals, factor = part.rpartition("=")
        if not equals:
            raise ValueError(
                "--class-weight must be balanced, or factors with commas between, such as "
                f"yes=3,no=1; got {text!r}"
            )
        if name not in labels:
            raise ValueError(f"--class-weight: there is no class {shown(name)}; {listed(labels)}")
        found[labels[name]] = numbers("--class-weight", factor)[0]
    return found


class Training(NamedTuple):
    """How the columns of a table to be fitted are taken.

    Table:
        categories (NAME,NAME): Columns that hold categories though their cells look like numbers or
            dates: names, or numbers from 1.
        regression: Predict the label as a number: its mean and an interval. Default: do so for a
            label of more than 30 different numbers.
        many_classes: Fit classes to a label of more than 30 different numbers.
    """

    categories: str | None = None
    regression: bool = False
    many_classes: bool = False


class ExampleReading(NamedTuple):
    """The options that say how tables are read.

    Table:
        label (COLUMN): The label column: its name, or its number from 1. Default: the last column.
    """

    label: str | None = None
    table: Reading = Reading()

    def read(self, data: str, **columns: Any) -> Examples:
        """Read examples; ``columns`` are those that `read_examples` must find."""
        from driftgames.cli._examples import read_examples

        return read_examples(data, label=self.label, **self.table._asdict(), **columns)
