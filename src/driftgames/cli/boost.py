"""``driftgames boost``: fit, predict and inspect boosted stumps and trees from the command line."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from copy import copy
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from driftgames.cli import INTERRUPTED
from driftgames.cli._import import ImportedFile, import_file
from driftgames.cli._options import READING, Header, LeftOut, Separator, check_outputs
from driftgames.cli._output import clear_errors, console, fail, make_table, say
from driftgames.core.registry import choose

if TYPE_CHECKING:
    from rich.console import RenderableType

    from driftgames.cli._examples import Examples


class _Commands(TyperGroup):
    """The commands; a file in the place of one gets an answer that says what to type."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and (Path(name).exists() or PurePath(name).suffix):
            shown = shlex.quote(name)
            if PurePath(name).suffix == ".json":
                fail(f"{name} is no command; type: driftgames boost inspect {shown}")
            fail(f"{name} is no command; type: driftgames boost fit {shown} --model m.json")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    help="Boost decision stumps or trees on tables or LIBSVM text.\n\n"
    "Example: driftgames boost fit train.svm --rounds 200 --model m.json",
)


ALGORITHMS = ("nh-boost.dt", "nh-boost", "adaboost", "boost-by-majority")
"""The names of `BOOSTERS` that need no potential, written out to keep --help quick."""


MOST_CELLS = 2**26
"""Parquet files with more cells than that are fitted in batches: half a GiB of numbers."""


class Output(StrEnum):
    """What a prediction is."""

    LABEL = "label"
    SCORE = "score"
    PROBABILITY = "probability"


Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="The label column: its name, or its number from 1. Default: the last column.",
    ),
]
Algorithm = Annotated[
    str | None,
    typer.Option(
        "--algorithm",
        metavar="NAME",
        help=f"The booster: {', '.join(ALGORITHMS)}, or the name of a potential that --import "
        f"defines. Default: {ALGORITHMS[0]}.",
    ),
]
Rounds = Annotated[int, typer.Option("--rounds", min=1, help="How many stumps or trees vote.")]
Constant = Annotated[
    float | None, typer.Option("--d", help="The constant of nh-boost.dt. Default: 3.")
]
Edge = Annotated[
    float | None, typer.Option("--edge", help="The edge that boost-by-majority counts on.")
]
Bins = Annotated[
    int | None,
    typer.Option("--bins", min=2, max=255, help="Most bins per numeric feature. Default: 255."),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", min=1, help="Most questions on the way to a vote. Default: 1, for stumps."
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads; -1 takes all processors.")]
Model = Annotated[Path, typer.Option("--model", metavar="M.json", help="The model file.")]


@app.command(epilog=READING)
def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN",
            help="LIBSVM text, a table, or a pattern of tables such as 'data/*.csv'. Large "
            ".parquet files of numbers need not fit in memory.",
        ),
    ],
    model: Model,
    algorithm: Algorithm = None,
    imported: ImportedFile = None,
    rounds: Rounds = 200,
    d: Constant = None,
    edge: Edge = None,
    bins: Bins = None,
    depth: Depth = None,
    label: Label = None,
    sep: Separator = None,
    header: Header = None,
    leave_out: LeftOut = None,
    valid: Annotated[
        str | None,
        typer.Option(
            "--valid",
            metavar="FILE",
            help="Examples that score the model after each round; it is not fitted to them.",
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            "--patience",
            min=1,
            metavar="ROUNDS",
            help="With --valid: stop when the log-loss has not fallen for so many rounds.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the model file, with its settings, up to --rounds. Other settings and "
            "fewer rounds are refused. Without a file, begin a new one.",
        ),
    ] = False,
    save_every: Annotated[
        int,
        typer.Option(
            "--save-every",
            min=1,
            metavar="ROUNDS",
            help="Write the model after so many rounds, or after a quarter of the rounds done if "
            "that is more.",
        ),
    ] = 100,
    jobs: Jobs = 1,
) -> None:
    """Fit a booster and write it to a file.

    A column with cells that are neither numbers nor dates holds categories. Rows without a
    label are left out.

    A fit that was stopped goes on with --resume and ends in the same model as a fit without
    a stop.

    Example: driftgames boost fit train.svm --rounds 200 --model m.json

    Example: driftgames boost fit a.csv --valid b.csv --model m.json

    Example: driftgames boost fit 'data/*.parquet' --label sold --model m.json
    """
    from driftgames.boosting.persistence import load_model
    from driftgames.core.locks import sole_writer

    with clear_errors(), ExitStack() as held:
        import_file(imported)
        check_outputs(model=model)
        if patience is not None and valid is None:
            fail("--patience needs --valid, the examples that tell when to stop")
        held.enter_context(sole_writer(model))
        settings = {"d": d, "edge": edge, "max_bins": bins, "max_depth": depth}
        reading: dict[str, Any] = {
            "label": label,
            "sep": sep,
            "header": header,
            "leave_out": leave_out,
        }
        goes_on = resume and model.exists()
        booster = load_model(model) if goes_on else _new_booster(algorithm, rounds, settings)
        if goes_on:
            _check_settings(model, booster, algorithm, rounds, settings)
        booster.set_params(n_jobs=jobs)
        if patience is not None:
            booster.set_params(early_stopping=True, n_iter_no_change=patience)
        if _is_large(data):
            if valid is not None:
                fail(f"{data}: is fitted in batches, which --valid does not go with")
            titles = _take_names(booster) if goes_on else None
            booster.set_params(calibrate=False)
            _fit_batches(booster, data, label, titles, rounds)
            _write(booster, None, model)
        else:
            examples = _read_labelled(data, reading, booster)
            held_out = None if valid is None else _read_valid(valid, reading, examples)
            try:
                _fit_with_checkpoints(booster, examples, held_out, rounds, save_every, model)
            except MemoryError as lack:
                rows, columns = examples.X.shape
                fail(f"{data}: {rows:,} rows of {columns:,} features do not fit in memory ({lack})")
        _say_error(model, booster)
        if valid is not None and held_out is not None:
            _say_scores(f"{valid}: ", booster, held_out.X, held_out.y)
            _say_best_round(valid, booster)


@app.command(epilog=READING)
def cv(
    data: Annotated[str, typer.Argument(metavar="TRAIN", help="LIBSVM text, or tables.")],
    folds: Annotated[int, typer.Option("--folds", min=2, help="How many parts.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the deal of the examples.")] = 0,
    algorithm: Algorithm = None,
    imported: ImportedFile = None,
    rounds: Rounds = 200,
    d: Constant = None,
    edge: Edge = None,
    bins: Bins = None,
    depth: Depth = None,
    label: Label = None,
    sep: Separator = None,
    header: Header = None,
    leave_out: LeftOut = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the raw numbers here.")
    ] = None,
    jobs: Jobs = 1,
) -> None:
    """Cross-validate: fit on all parts but one, and score on that one.

    Prints error, AUC and log-loss of each part, their means and their
    standard deviations.

    Example: driftgames boost cv train.csv --folds 10 --json cv.json
    """
    from driftgames.cli._boost_scores import cross_validate
    from driftgames.tables import draw_table, write_json

    with clear_errors():
        import_file(imported)
        check_outputs(json=json)
        settings = {"d": d, "edge": edge, "max_bins": bins, "max_depth": depth}
        booster = _new_booster(algorithm, rounds, settings)
        booster.set_params(n_estimators=rounds, n_jobs=jobs)
        reading = {"label": label, "sep": sep, "header": header, "leave_out": leave_out}
        examples = _read_labelled(data, reading, booster)
        table = cross_validate(booster, examples, folds, seed, data)
        console().print(draw_table(table))
        if json is not None:
            names = [column.name for column in table.columns]
            rows = [dict(zip(names, row, strict=True)) for row in table.rows]
            *parts, mean, spread = rows
            write_json({"data": data, "parts": parts, "mean": mean, "spread": spread}, json)


@app.command(epilog=READING)
def predict(
    data: Annotated[str, typer.Argument(metavar="TEST", help="LIBSVM text, or a table.")],
    model: Model,
    label: Label = None,
    sep: Separator = None,
    header: Header = None,
    leave_out: LeftOut = None,
    what: Annotated[
        Output,
        typer.Option(
            "--what",
            help="The label, the vote in [-1, 1], or the probability of the second class. With "
            "more than two classes votes and probabilities have a column for each.",
        ),
    ] = Output.LABEL,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="The file. Default: standard output."),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="FILE", help="Write labels, votes and probabilities to this file."
        ),
    ] = None,
    imported: ImportedFile = None,
    jobs: Jobs = 1,
) -> None:
    """Predict, one line per example; print scores to standard error if labels are known.

    Example: driftgames boost predict test.svm --model m.json --output labels.txt

    Example: driftgames boost predict new.csv --model m.json --what probability
    """
    from driftgames.boosting.persistence import load_model
    from driftgames.cli._examples import read_examples
    from driftgames.core.documents import atomic_write
    from driftgames.tables import visible

    with clear_errors():
        import_file(imported)
        check_outputs(output=output, json=json)
        booster = load_model(model).set_params(n_jobs=jobs)
        reading: dict[str, Any] = {
            "label": label,
            "sep": sep,
            "header": header,
            "leave_out": leave_out,
        }
        examples = read_examples(data, **reading, **_columns_of(booster))
        X = examples.X
        if what is Output.SCORE:
            answers = booster.decision_function(X)
        elif what is Output.PROBABILITY:
            answers = booster.predict_proba(X)
            answers = answers[:, 1] if booster.classes_.size == 2 else answers
        else:
            answers = booster.predict(X)
        text = "".join(f"{_line(answer)}\n" for answer in answers.tolist())
        if output is None:
            # a file or a pipe gets the labels as they are; typer would remove colours
            sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
            sys.stdout.flush()
        else:
            with atomic_write(output) as stream:
                stream.write(text.encode())
        if json is not None:
            from driftgames.tables import write_json

            write_json(_predictions(booster, X), json)
        if examples.y is not None and set(examples.y.tolist()) <= set(booster.classes_.tolist()):
            _say_scores("", booster, X[examples.known], examples.y)


@app.command(epilog=READING)
def inspect(
    model: Annotated[Path, typer.Argument(metavar="M.json", help="The model file.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Examples whose margins are shown, and whose density --plot draws.",
        ),
    ] = None,
    label: Label = None,
    sep: Separator = None,
    header: Header = None,
    leave_out: LeftOut = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many features to show.")] = 10,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="OUT.svg", help="Draw what the features vote (svg, pdf or png)."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="OUT.html", help="Write the scorecard of stumps as a page."),
    ] = None,
    imported: ImportedFile = None,
) -> None:
    """Show what a model is made of: rounds, features, margins and its certificate.

    Example: driftgames boost inspect m.json --data test.svm --plot shapes.svg
    """
    from driftgames.boosting.persistence import load_model
    from driftgames.cli._scorecard_page import render_scorecard
    from driftgames.core.documents import atomic_write
    from driftgames.plots.style import save_figure

    with clear_errors():
        import_file(imported)
        check_outputs(plot=plot, html=html)
        booster = load_model(model)
        if html is not None:
            if not hasattr(booster, "shape_functions_"):
                fail("--html writes the points of stumps; the features of trees vote together")
            with atomic_write(html) as stream:
                stream.write(render_scorecard(model.name, booster).encode())
            say(f"{html}: the scorecard")
        if plot is not None and booster.classes_.size > 2:
            fail("--plot draws the votes of stumps for two classes; this model has more")
        if plot is not None and len(booster.trees_):
            fail("--plot draws the votes of stumps; the features of trees vote together")
        examples, nameless = None, copy(booster)
        if data is not None:
            reading: dict[str, Any] = {
                "label": label,
                "sep": sep,
                "header": header,
                "leave_out": leave_out,
            }
            examples = _read_labelled(data, reading, nameless)
        out = console()
        out.print(_summary(model, booster))
        out.print(_features(booster, top))
        if plot is not None:
            rows = None if examples is None else examples.X
            save_figure(booster.plot_shapes(rows, n_features=top), plot)
            say(f"{plot}: what the features vote")
        if booster.certificate_ is not None:
            typer.echo(str(booster.certificate_))
        if examples is not None:
            out.print(_margins(str(data), nameless.margins(examples.X, examples.y)))


def _read_labelled(data: str, reading: dict[str, Any], booster: Any) -> Examples:
    """Read examples for a booster, and say how they were read; all of them have labels."""
    from driftgames.cli._examples import read_examples

    columns = _columns_of(booster) if _is_fitted(booster) else {}
    examples = read_examples(data, **reading, **columns)
    if examples.y is None:
        fail(f"{data}: has no labels, which are needed here")
    if not columns and examples.categories:
        booster.set_params(categorical_features=list(examples.categories))
    for kind, found in (("categories", examples.categories), ("dates", examples.dates)):
        if found and not columns:
            names = ", ".join(_name(examples.names, j) for j in found)
            say(f"{data}: read as {kind}: {names}", err=True)
    n_lost = examples.X.shape[0] - examples.y.size
    if n_lost:
        say(f"{data}: {n_lost:,} rows without a label are left out", err=True)
    return examples.labelled()


def _read_valid(valid: str, reading: dict[str, Any], like: Examples) -> Examples:
    """Read examples with the columns of others; all of them have labels."""
    from driftgames.cli._examples import read_examples

    n_features = like.X.shape[1]
    columns: dict[str, Any] = {"names": like.names, "categories": like.categories}
    examples = read_examples(valid, n_features=n_features, **reading, **columns)
    if examples.y is None:
        fail(f"{valid}: has no labels, which are needed here")
    return examples.labelled()


def _say_scores(before: str, booster: Any, X: Any, y: Any) -> None:
    from driftgames.cli._boost_scores import score

    error, area, loss = score(booster, X, y)
    ranks = "" if area != area else f", AUC {area:.4f}"  # NaN without examples of each class
    line = f"error {error:.2%} on {y.size:,} examples{ranks}, log-loss {loss:.4f}"
    say(before + line, err=True)


def _say_best_round(valid: str, booster: Any) -> None:
    """Say after which round the log-loss of the best sigmoid was lowest, if it was followed."""
    followed = getattr(booster, "evals_result_", {}).get("valid", {}).get("log_loss", [])
    if len(followed):
        best = min(range(len(followed)), key=followed.__getitem__)
        say(f"{valid}: the lowest log-loss was after {best + 1} rounds", err=True)


def _predictions(booster: Any, X: Any) -> dict[str, Any]:
    """Return the labels, votes and probabilities of examples as plain data."""
    votes, p = booster.decision_function(X), booster.predict_proba(X)
    columns = booster.predict(X).tolist(), votes.tolist(), p.tolist()
    rows = zip(*columns, strict=True)
    names = ("label", "score", "probabilities")
    return {
        "classes": booster.classes_.tolist(),
        "predictions": [dict(zip(names, row, strict=True)) for row in rows],
    }


def _is_large(data: str) -> bool:
    """Whether parquet files have too many cells to be held at once."""
    from driftgames.boosting.sources import open_parquet

    if PurePath(data).suffix.lower() not in {".parquet", ".pq"}:
        return False
    try:
        source = open_parquet(data)
    except (ImportError, OSError, ValueError):  # the reader of tables says what is wrong
        return False
    return int(source.count_rows()) * len(source.schema.names) > MOST_CELLS


def _new_booster(algorithm: str | None, rounds: int, settings: dict[str, Any]) -> Any:
    """Return a booster with those settings that are not None."""
    from driftgames.boosting import BOOSTERS
    from driftgames.potentials import POTENTIALS

    algorithm = ALGORITHMS[0] if algorithm is None else algorithm
    given = {name: value for name, value in settings.items() if value is not None}
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


def _check_settings(
    path: Path, booster: Any, algorithm: str | None, rounds: int, settings: dict[str, Any]
) -> None:
    """End with an error if a model was made with other settings or has more rounds."""
    from driftgames.boosting import BOOSTERS

    name = next(name for name, kind in BOOSTERS.items() if type(booster) is kind)
    if name == "potential boost":
        name = str(type(booster.potential).registry_name)
    if algorithm is not None and algorithm != name:
        fail(f"--algorithm is {algorithm}, but {path} was made with {name}")
    made = booster.get_params()
    for parameter, asked in settings.items():
        option = f"--{parameter.removeprefix('max_')}"
        if asked is None:
            continue
        if parameter not in made:
            fail(f"{option} is {asked}, but {path} was made with {name}, which has no {option}")
        if asked != made[parameter]:
            fail(f"{option} is {asked}, but {path} was made with {made[parameter]}")
    if rounds < booster.n_iter_:
        fail(f"--rounds is {rounds}, but {path} has {booster.n_iter_} rounds already")


def _fit_with_checkpoints(
    booster: Any,
    examples: Examples,
    held_out: Examples | None,
    rounds: int,
    save_every: int,
    path: Path,
) -> None:
    """Fit, and write the model after so many rounds and at the end."""
    import warnings

    from driftgames.boosting import NoEdgeWarning
    from driftgames.boosting.rounds import heaviest
    from driftgames.core.progress import progress

    done = saved = booster.n_iter_ if _is_fitted(booster) else 0
    if done == rounds and (booster.calibration_ is not None or not booster.calibrate):
        return

    def checkpoint(t: int, stage: Any) -> None:
        nonlocal saved
        advance(1)
        # a file holds all rounds so far: growing steps keep the total linear
        if t - saved >= max(save_every, saved // 4) and t < rounds:
            _write(stage.model(), examples.names, path)
            saved = t

    with progress("boosting", total=rounds) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)  # a line below says it
        advance(done)
        booster.set_params(n_estimators=rounds, warm_start=True)
        watched: dict[str, Any] = {}
        if held_out is not None:
            watched = {"eval_set": [(held_out.X, held_out.y)], "eval_names": ["valid"]}
        try:
            booster.fit(examples.X, examples.y, callbacks=[checkpoint], **watched)
        except KeyboardInterrupt:
            _stop(path, saved)
        _write(booster, examples.names, path)
    done = booster.n_iter_
    if done < rounds:
        kind = "stump" if booster.max_depth == 1 else "tree"
        early = booster.ended_early_
        why = f"no {kind} has an edge" if early else f"the last {kind} makes no mistake"
        if booster.early_stopping and not early and done > 1:
            why = f"the log-loss has not fallen for {booster.n_iter_no_change} rounds"
        if done == 0:
            heavier = booster.classes_.tolist()[heaviest(booster._default_vote)]
            why += f"; every prediction is {heavier}, the class of most weight"
        typer.echo(f"the fit ended after {done} of {rounds} rounds: {why}", err=True)


def _fit_batches(
    booster: Any, data: str, label: str | None, names: list[str] | None, rounds: int
) -> None:
    """Fit parquet files in batches; the label is the last column if no other is named."""
    from driftgames.boosting.sources import open_parquet
    from driftgames.datasets.files import DataError

    source = open_parquet(data)
    titles = source.schema.names
    if label is not None and label not in titles:
        raise DataError(f"{data}: there is no column {label!r}; it has {', '.join(titles)}")
    goes_on = _is_fitted(booster)
    if goes_on and names is not None:
        import numpy as np

        booster.feature_names_in_ = np.array(names, dtype=object)
    booster.set_params(n_estimators=rounds, warm_start=goes_on, verbose=1)
    booster.fit_batches(source, label=titles[-1] if label is None else label, columns=names)
    booster.set_params(verbose=0)


def _say_error(path: Path, booster: Any) -> None:
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


def _write(booster: Any, names: list[str] | None, path: Path) -> None:
    """Write the model as if it had been fitted at once, on columns with these names."""
    import numpy as np

    from driftgames.boosting.persistence import save_model

    booster.set_params(warm_start=False)
    if names is not None:
        booster.feature_names_in_ = np.array(names, dtype=object)
    save_model(booster, path)
    _take_names(booster)


def _take_names(booster: Any) -> list[str] | None:
    """Remove the feature names from a booster and return them: columns are matched here."""
    names = vars(booster).pop("feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _columns_of(booster: Any) -> dict[str, Any]:
    """Return what `read_examples` must know of a booster; take its names."""
    categories = () if booster.encoder_ is None else booster.encoder_.categories
    return {
        "names": _take_names(booster),
        "n_features": booster.n_features_in_,
        "categories": [j for j, each in enumerate(categories) if each and isinstance(each[0], str)],
    }


def _summary(path: Path, booster: Any) -> RenderableType:
    import numpy as np

    history = booster.history_
    rows = [
        ["algorithm", type(booster).__name__],
        ["classes", ", ".join(str(name) for name in booster.classes_.tolist())],
        ["rounds", f"{booster.n_iter_:,}"],
        ["features", f"{booster.n_features_in_:,}"],
        ["features that vote", f"{np.unique(_asked(booster)).size:,}"],
    ]
    if booster.n_iter_:
        rows += [
            ["smallest edge", f"{min(history['edge']):.4f}"],
            ["mean share of zero weights", f"{np.mean(history['zero_fraction']):.1%}"],
            ["training error", f"{history['training_error'][-1]:.2%}"],
        ]
    return make_table(str(path), ["model", ""], rows)


def _features(booster: Any, top: int) -> RenderableType:
    import numpy as np

    from driftgames.tables import Column, Table, draw_table

    names = getattr(booster, "feature_names_in_", None)
    if len(booster.trees_):
        importances, asked = booster.feature_importances_, _asked(booster)
        used = sorted(set(asked.tolist()), key=lambda j: (-importances[j], j))[:top]
        counted = tuple(
            (_name(names, j), int((asked == j).sum()), float(importances[j])) for j in used
        )
        heads = (Column("feature"), Column("questions"), Column("importance", ".4f"))
        return draw_table(Table("The features that have most of the edges", heads, counted))
    shapes = booster.shape_functions_
    order = sorted(shapes, key=lambda j: -float(np.ptp(shapes[j].values)))[:top]
    rows = tuple(
        (
            _name(names, j),
            int((_asked(booster) == j).sum()),
            float(shapes[j].values.min()),
            float(shapes[j].values.max()),
        )
        for j in order
    )
    votes = (Column(name, "+.4f") for name in ("lowest vote", "highest vote"))
    columns = (Column("feature"), Column("stumps"), *votes)
    return draw_table(Table("The features that move the decision most", columns, rows))


def _asked(booster: Any) -> Any:
    """Return the feature of every question of a model."""
    trees = booster.trees_
    asked = trees.feature[trees.left > 0] if len(trees) else booster.stumps_.feature
    return asked if booster.encoder_ is None else booster.encoder_.feature[asked]


def _line(answer: Any) -> str:
    """Return a prediction as text: one value, or a column for each class."""
    return " ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def _name(names: Any, feature: int) -> str:
    return f"x{feature}" if names is None else str(names[feature])


def _margins(name: str, margins: Any) -> RenderableType:
    import numpy as np

    from driftgames.tables import Column, Table, draw_table

    shares = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
    rows = tuple((f"{share:.0%}", float(np.quantile(margins, share))) for share in shares)
    columns = (Column("share of examples"), Column("margin at most", "+.4f"))
    return draw_table(Table(f"Margins on {name}", columns, rows))


def _is_fitted(booster: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(booster)
    except NotFittedError:
        return False
    return True
