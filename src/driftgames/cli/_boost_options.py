"""The options of ``driftgames boost`` that make a booster, and those that read examples."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from driftgames.boosting.by_name import BOOSTERS
from driftgames.cli._options import PARAMETER_OF, ImportedFile, Reading, numbers, one_of
from driftgames.cli._output import fail
from driftgames.core.registry import choose
from driftgames.core.text import listed, shown

if TYPE_CHECKING:
    from driftgames.cli._examples import Examples

STOPPING: dict[str, Any] = {"off": False, "on": True, "auto": "auto"}
"""What --early-stopping says, and the setting that it is."""

ALGORITHMS = tuple(name for name in BOOSTERS if name != "potential boost")
"""The boosters that need no potential."""

_SAME_NAMES = ("d", "edge", "validation_fraction")  # options with the name of their parameter


class Settings(NamedTuple):
    """The booster that the options ask for; None where they leave it open.

    Algorithm:
        algorithm (NAME): The booster: {0}, or the name of a potential that --import defines.
            Default: {1}.
        d (X): {d} Of nh-boost.dt. Default: 3.
        edge (X): {edge} Of boost-by-majority, which needs it.
        bins (N): {max_bins} Default: auto.
        class_weight (WEIGHTS): {class_weight} A dict is written as yes=3,no=1.

    Size:
        rounds (N): {n_estimators} Default: auto of nh-boost.dt; 200 of the others.
        leaves (N): {max_leaves} Default: auto of nh-boost.dt; the others have stumps.
        depth (N): {max_depth} Default: no limit of nh-boost.dt; 1 of the others.
        ensemble: {ensemble} Default: auto.
        pairs: {pairs} Default: auto.

    Stopping:
        early_stopping (WHEN): {0}. {early_stopping} Default: off.
        patience (N): {n_iter_no_change} Default: 10. It turns early stopping on.

    Regression:
        validation_fraction (SHARE): The share of the rows, from 0 to 1, that are held out of
            everything: then intervals, CRPS and absolute error on new rows are promised.
    """

    algorithm: Annotated[str | None, one_of(ALGORITHMS)] = None
    imported: ImportedFile = None
    rounds: str | None = None
    leaves: str | None = None
    depth: str | None = None
    ensemble: bool | None = None
    pairs: bool | None = None
    d: str | None = None
    edge: str | None = None
    bins: str | None = None
    class_weight: str | None = None
    early_stopping: Annotated[str | None, one_of(STOPPING)] = None
    patience: str | None = None
    validation_fraction: str | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that are numbers, or "auto", and are not left open; checked."""
        texts = {each: getattr(self, each) for each in (*PARAMETER_OF, *_SAME_NAMES)}
        return {
            PARAMETER_OF.get(option, option): _read_parameter(option, text)
            for option, text in texts.items()
            if text is not None
        }

    def _stopping(self) -> dict[str, Any]:
        """Return when to stop early, if that is not left open."""
        given: dict[str, Any] = {}
        if self.patience is not None:
            given["early_stopping"] = True
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
        given = {**self.parameters(), **self._stopping()}
        rounds = given.get("n_estimators", USUAL_ROUNDS)
        if self.leaves is not None and self.depth is None:
            given["max_depth"] = None
        if self.ensemble is not None:
            given["ensemble"] = self.ensemble
        if self.pairs is not None:
            given["pairs"] = "auto" if self.pairs else False
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
        """Give a booster the class weights of the options, for these labels of classes."""
        if self.validation_fraction is not None:
            fail("--validation-fraction goes with regression; folds hold out rows of classes")
        if self.class_weight is None:
            return
        weights: Any = self.class_weight
        if weights != "balanced":
            weights = parse_weights(weights, sorted(set(labels.tolist())))
        booster.set_params(class_weight=weights)


def _read_parameter(option: str, text: str) -> Any:
    """Return the value of an option, by the rule of the parameter."""
    from driftgames.boosting.parameters import PARAMETERS

    value: Any = text
    for kind in (float, int):
        with suppress(ValueError):
            value = kind(text)
    check = PARAMETERS[PARAMETER_OF.get(option, option)].check
    return value if check is None else check(f"--{option}", value) or value


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
