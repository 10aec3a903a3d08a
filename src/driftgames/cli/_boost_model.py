"""How ``driftgames boost`` makes, fits and writes its models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer

from driftgames.boosting.registry import BOOSTERS
from driftgames.cli import INTERRUPTED
from driftgames.cli._options import Count, ImportedFile, OptionalCount, one_of
from driftgames.cli._output import fail, say
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
        from driftgames.boosting.persistence import load_model

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


def fit_with_checkpoints(
    booster: Any,
    examples: Examples,
    held_out: Examples | None,
    save_every: int,
    path: Path,
) -> None:
    """Fit, and write the model after so many rounds and at the end."""
    import warnings

    from driftgames.boosting import NoEdgeWarning
    from driftgames.boosting.rounds import heaviest
    from driftgames.core.progress import progress

    rounds = booster.n_estimators
    done = saved = booster.n_iter_ if is_fitted(booster) else 0
    if done == rounds and (booster.calibration_ is not None or not booster.calibrate):
        return

    def checkpoint(t: int, stage: Any) -> None:
        nonlocal saved
        advance(1)
        # a file holds all rounds so far: growing steps keep the total linear
        if t - saved >= max(save_every, saved // 4) and t < rounds:
            write_booster(stage.model(), examples.names, path)
            saved = t

    with progress("boosting", total=rounds) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)  # a line below says it
        advance(done)
        booster.set_params(warm_start=True)
        watched: dict[str, Any] = {}
        if held_out is not None:
            watched = {"eval_set": [(held_out.X, held_out.y)], "eval_names": ["valid"]}
        try:
            booster.fit(examples.X, examples.y, callbacks=[checkpoint], **watched)
        except KeyboardInterrupt:
            _stop(path, saved)
        write_booster(booster, examples.names, path)
    done = booster.n_iter_
    if done < rounds:
        kind = "stump" if booster.max_depth == 1 else "tree"
        early = booster.ended_early_
        why = f"no {kind} has an edge" if early else f"the last {kind} makes no mistake"
        if booster.early_stopping == "cv" and not early:
            why = "more rounds have a larger log-loss on held-out examples"
        elif booster.early_stopping and not early and done > 1:
            why = f"the log-loss has not fallen for {booster.n_iter_no_change} rounds"
        if done == 0:
            heavier = booster.classes_.tolist()[heaviest(booster._default_vote)]
            why += f"; every prediction is {heavier}, the class of most weight"
        typer.echo(f"the fit ended after {done} of {rounds} rounds: {why}", err=True)


def fit_batches(booster: Any, data: str, label: str | None, names: list[str] | None) -> None:
    """Fit parquet files in batches; the label is the last column if no other is named."""
    from driftgames.boosting.sources import open_parquet
    from driftgames.datasets.files import DataError

    source = open_parquet(data)
    titles = source.schema.names
    if label is not None and label not in titles:
        raise DataError(f"{data}: there is no column {label!r}; it has {', '.join(titles)}")
    goes_on = is_fitted(booster)
    if goes_on and names is not None:
        import numpy as np

        booster.feature_names_in_ = np.array(names, dtype=object)
    booster.set_params(warm_start=goes_on, verbose=1)
    booster.fit_batches(source, label=titles[-1] if label is None else label, columns=names)
    booster.set_params(verbose=0)


def say_error(path: Path, booster: Any) -> None:
    lean = booster._default_vote
    error = (1 - max(abs(lean[0]) if lean.size == 1 else lean.max(), 0.0)) / 2
    if booster.n_iter_:
        error = booster.history_["training_error"][-1]
    typer.echo(f"{path}: {booster.n_iter_} rounds, training error {error:.2%}")


def _stop(path: Path, done: int) -> NoReturn:
    """End a fit that was interrupted; say how many rounds the model file holds."""
    if done:
        say(f"stopped; {path} holds {done} rounds; --resume goes on", err=True)
    else:
        say(f"stopped in the first rounds; nothing was written to {path}", err=True)
    raise typer.Exit(INTERRUPTED)


def write_booster(booster: Any, names: list[str] | None, path: Path) -> None:
    """Write the model as if it had been fitted at once, on columns with these names."""
    import numpy as np

    from driftgames.boosting.persistence import save_model

    booster.set_params(warm_start=False)
    if names is not None:
        booster.feature_names_in_ = np.array(names, dtype=object)
    save_model(booster, path)
    take_names(booster)


def take_names(booster: Any) -> list[str] | None:
    """Remove the feature names from a booster and return them: columns are matched here."""
    names = vars(booster).pop("feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def columns_of(booster: Any) -> dict[str, Any]:
    """Return what `read_examples` must know of a booster; take its names."""
    categories = () if booster.encoder_ is None else booster.encoder_.categories
    return {
        "names": take_names(booster),
        "n_features": booster.n_features_in_,
        "categories": [j for j, each in enumerate(categories) if each and isinstance(each[0], str)],
    }


def is_fitted(booster: Any) -> bool:
    return hasattr(booster, "classes_")
