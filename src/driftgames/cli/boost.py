"""``driftgames boost``: fit, predict and inspect boosted stumps and trees from the command line."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Sequence
from copy import copy
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer

from driftgames.cli._boost_options import ExampleReading, Settings, Training
from driftgames.cli._options import (
    READING,
    CommandGroup,
    Count,
    ImportedFile,
    JsonFile,
    Natural,
    described,
    running,
)
from driftgames.cli._output import console, fail, say
from driftgames.cli._quick_import import import_boosting
from driftgames.tables import as_records, draw_table, visible, write_json


class _Commands(CommandGroup):
    """The commands; a file in the place of one gets an answer that says what to type."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and (Path(name).exists() or PurePath(name).suffix):
            shown = shlex.quote(name)
            if PurePath(name).suffix == ".json":
                fail(f"{name} is no command; type: driftgames boost inspect {shown}")
            words = f"driftgames boost fit {shown} --label NAME --model m.json"
            fail(f"{name} is no command; type: {words}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    help="Boost decision stumps or trees on tables or LIBSVM text.\n\n"
    "Example: driftgames boost fit breast_cancer.train.csv --label class --model m.json",
)


class Output(StrEnum):
    """What a prediction is."""

    LABEL = "label"
    SCORE = "score"
    PROBABILITY = "probability"


_OF_NUMBERS = "--html draws its features and distributions"

Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Threads; -1: all processors.")]
Model = Annotated[
    Path,
    typer.Option("--model", metavar="M.json", help="The model file.", rich_help_panel="Files"),
]


@app.command(epilog=READING)
@described
def fit(
    data: Annotated[str, typer.Argument()],
    model: Model,
    *,
    settings: Settings,
    training: Training,
    reading: ExampleReading,
    valid: str | None = None,
    jobs: Jobs = 1,
) -> None:
    """Fit a booster and write it to a file.

    There is nothing to tune: nh-boost.dt chooses the leaves of its trees and its rounds on rows
    that are held out, and says what it chose. --leaves, --rounds and --depth set them.
    '--leaves 2 --rounds 200' is the booster of the paper, whose votes --plot of inspect draws.

    A column with cells that are neither numbers, truth values nor dates holds categories. Rows
    without a label are left out. The label column, its classes and the other columns are named
    before the fit. A label of many numbers is a regression, which --regression asks for too.

    Example: driftgames boost fit breast_cancer.train.csv --label class --model m.json

    Example: driftgames boost fit breast_cancer.train.csv --leaves 2 --model m2.json

    Example: driftgames boost fit breast_cancer.train.csv --patience 9 --model m.json

    Options:
        data (TRAIN): LIBSVM text, a table, or a pattern of tables such as 'data/*.csv'. Large
            .parquet files of numbers need not fit in memory.

    Stopping:
        valid (FILE): Examples that score the model; it is not fitted to them. With early stopping
            they tell when to stop.
    """
    import_boosting()
    from driftgames.cli import _boost_model as models
    from driftgames.cli import _boost_regression as numbers
    from driftgames.cli._boost_report import say_best_round, say_scores

    with running(settings.imported, locked=model, model=model):
        booster = settings.begin().set_params(n_jobs=jobs)
        if models.is_large(data):
            if valid is not None:
                fail(f"{data}: is fitted in batches, which --valid does not go with")
            models.fit_batches(booster, data, reading.label, training, settings)
            models.write_booster(booster, None, model)
        else:
            examples = models.read_labelled(data, reading, booster, training)
            held_out = None if valid is None else models.read_valid(valid, reading, examples)
            if models.is_regression(examples, training):
                regressor = numbers.make_regressor(settings, jobs)
                numbers.fit_regressor(regressor, data, examples, model)
                _print_lines(str(regressor.certificate_))
                if valid is not None and held_out is not None:
                    y = numbers.numbers_of(valid, held_out)
                    numbers.say_scores(f"{valid}: ", regressor, held_out.X, y)
                return
            settings.weigh(booster, examples.y)
            try:
                models.fit_at_once(booster, examples, held_out, model)
            except MemoryError as lack:
                rows, columns = examples.X.shape
                fail(f"{data}: {rows:,} rows of {columns:,} features do not fit in memory ({lack})")
        models.say_fitted(model, booster)
        if booster.certificate_ is not None:
            _print_lines(str(booster.certificate_.new_examples))
        if valid is not None and held_out is not None:
            say_scores(f"{valid}: ", booster, held_out.X, held_out.y)
            say_best_round(valid, booster)


@app.command(epilog=READING)
@described
def cv(
    data: Annotated[str, typer.Argument()],
    folds: Annotated[int, typer.Option(min=2)] = 5,
    seed: Natural = 0,
    *,
    settings: Settings,
    training: Training,
    reading: ExampleReading,
    json: JsonFile = None,
    jobs: Jobs = 1,
) -> None:
    """Cross-validate: fit on all parts but one, and score on that one.

    Prints the leaves and rounds of each part, which are chosen anew for each, its error, AUC and
    log-loss, their means and their standard deviations. Then it says what these examples promise
    about the error and the log-loss on new ones. Of a regression it prints R2, the mean absolute
    error, the CRPS and the share within intervals of 90 %, and promises nothing.

    Example: driftgames boost cv breast_cancer.train.csv --label class --folds 3

    Example: driftgames boost cv breast_cancer.train.csv --leaves 2 --rounds 200

    Options:
        data (TRAIN): LIBSVM text, or tables.
        folds: How many parts.
        seed: Of the deal of the examples.
    """
    import_boosting()
    from driftgames.cli import _boost_model as models
    from driftgames.cli import _boost_regression as numbers
    from driftgames.cli._boost_report import cross_validate

    with running(settings.imported, json=json):
        booster = settings.begin().set_params(n_jobs=jobs)
        examples = models.read_labelled(data, reading, booster, training)
        found: dict[str, Any] = {}
        if models.is_regression(examples, training):
            regressor = numbers.make_regressor(settings, jobs)
            table = numbers.cross_validate(regressor, data, examples, folds, seed)
            console().print(draw_table(table))
        else:
            settings.weigh(booster, examples.y)
            table, promise = cross_validate(booster, examples, folds, seed, data)
            console().print(draw_table(table))
            _print_lines(str(promise))
            found = {"new_examples": promise.to_json()}
        if json is not None:
            *parts, mean, spread = as_records(table)
            write_json(
                {"data": data, "parts": parts, "mean": mean, "spread": spread, **found}, json
            )


@app.command(short_help="Predict: one line per example.", epilog=READING)
@described
def predict(
    data: Annotated[str, typer.Argument()],
    model: Model,
    *,
    reading: ExampleReading,
    what: Output = Output.LABEL,
    output: Path | None = None,
    json: Path | None = None,
    imported: ImportedFile = None,
    jobs: Jobs = 1,
) -> None:
    """Predict, one line per example; print scores to standard error if labels are known.

    Example: driftgames boost predict breast_cancer.test.csv --model m.json

    Options:
        data (TEST): LIBSVM text, or a table.
        what (WHAT): label, score (the vote in [-1, 1]) or probability (of the second class). With
            more than two classes scores and probabilities have a column for each.

    Files:
        output (FILE): The file. Default: standard output.
        json (FILE): Write labels, votes and probabilities to this file.
    """
    import_boosting()
    from driftgames.boosting import NHBoostDTRegressor
    from driftgames.cli import _boost_model as models
    from driftgames.cli import _boost_regression as numbers
    from driftgames.cli._boost_report import line_of, predictions_of, say_scores
    from driftgames.core.cells import as_numbers

    with running(imported, output=output, json=json):
        booster = models.read_model(model).set_params(n_jobs=jobs)
        examples = reading.read(data, **models.columns_of(booster))
        X = examples.X
        if isinstance(booster, NHBoostDTRegressor):
            if what is not Output.LABEL:
                fail(f"--what {what} is for classes; {model} predicts numbers and their intervals")
            predicted = numbers.predict_rows(booster, X)
            _write_lines(numbers.text_of(predicted), output)
            if json is not None:
                write_json({"predictions": numbers.records_of(predicted)}, json)
            if examples.y is not None and (y := as_numbers(examples.y.tolist())) is not None:
                numbers.say_scores("", booster, X[examples.known], y)
            return
        if what is Output.SCORE:
            answers = booster.decision_function(X)
        elif what is Output.PROBABILITY:
            answers = booster.predict_proba(X)
            answers = answers[:, 1] if booster.classes_.size == 2 else answers
        else:
            answers = booster.predict(X)
        _write_lines("".join(f"{line_of(answer)}\n" for answer in answers.tolist()), output)
        if json is not None:
            write_json(predictions_of(booster, X), json)
        if examples.y is not None and set(examples.y.tolist()) <= set(booster.classes_.tolist()):
            say_scores("", booster, X[examples.known], examples.y)


@app.command(short_help="Show what a model is made of.", epilog=READING)
@described
def inspect(
    model: Annotated[Path, typer.Argument()],
    data: str | None = None,
    *,
    reading: ExampleReading,
    top: Count = 10,
    plot: Path | None = None,
    plot_race: Path | None = None,
    html: Path | None = None,
    json: JsonFile = None,
    imported: ImportedFile = None,
) -> None:
    """Show what a model is made of: its size and how it was chosen, features and certificate.

    Example: driftgames boost inspect m.json --plot-race race.svg --html page.html

    Example: driftgames boost inspect m2.json --plot shapes.svg

    Options:
        model (M.json): The model file.
        data (FILE): Examples whose margins are shown, whose density --plot and --html draw, and
            the first of which --html explains.
        top: How many features to show.

    Files:
        plot (FILE): Draw what the features of stumps vote to this .svg, .pdf or .png.
        plot_race (FILE): Draw the log-loss of each size over the rounds, by which one was chosen.
        html (OUT.html): Write a page: features, reasons, guarantee and the scorecard of stumps.
    """
    import_boosting()
    from driftgames.boosting import NHBoostDTRegressor
    from driftgames.cli import _boost_model as models
    from driftgames.cli._boost_report import facts_of, features_of, margins_on, race_of, summary_of
    from driftgames.plots.style import save_figure

    with running(imported, plot=plot, plot_race=plot_race, html=html, json=json):
        booster = models.read_model(model)
        if isinstance(booster, NHBoostDTRegressor):
            for option, asked in (("plot", plot), ("plot-race", plot_race)):
                if asked is not None:
                    fail(f"--{option} is for classes; {model} predicts numbers: {_OF_NUMBERS}")
            _inspect_numbers(model, booster, data, reading, top, html, json)
            return
        choice = booster.record_.choice
        if plot_race is not None and choice is None:
            fail(f"--plot-race draws how a size was chosen; that of {model} was given")
        if plot is not None and booster.classes_.size > 2:
            fail("--plot draws the votes of stumps for two classes; this model has more")
        if plot is not None and len(booster.trees_):
            fail(
                "--plot draws the votes of stumps; this model has larger trees too, whose "
                "features vote together: fit with --leaves 2"
            )
        examples, nameless = None, copy(booster)
        if data is not None:
            examples = models.read_labelled(data, reading, nameless)
        out = console()
        facts, features = facts_of(booster), features_of(booster, top)
        out.print(draw_table(summary_of(model, facts)))
        if choice is not None:
            out.print(draw_table(race_of(choice)))
        out.print(draw_table(features))
        if plot_race is not None and choice is not None:
            save_figure(choice.plot(), plot_race)
            say(f"{plot_race}: how the size was chosen")
        if plot is not None:
            rows = None if examples is None else examples.X
            save_figure(booster.plot_shapes(rows, n_features=top), plot)
            say(f"{plot}: what the features vote")
        if html is not None:
            rows, dates = (None, ()) if examples is None else (examples.X, examples.dates)
            booster.explain_model(rows, title=model.name, dates=dates).save(html)
            say(f"{html}: the model as a page")
        if booster.certificate_ is not None:
            _print_lines(str(booster.certificate_))
        found = {"model": str(model), **facts, "votes": as_records(features)}
        if choice is not None:
            found["race"] = as_records(race_of(choice))
        if examples is not None:
            margins = margins_on(str(data), nameless.margins(examples.X, examples.y))
            out.print(draw_table(margins))
            found["margins"] = as_records(margins)
        if json is not None:
            write_json(found, json)


def _write_lines(text: str, output: Path | None) -> None:
    """Write predictions to a file, or to standard output."""
    from driftgames.core.documents import atomic_write

    if output is None:
        # a file or a pipe gets the labels as they are; typer would remove colours
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()
    else:
        with atomic_write(output) as stream:
            stream.write(text.encode())


def _inspect_numbers(
    model: Path,
    booster: Any,
    data: str | None,
    reading: Any,
    top: int,
    html: Path | None,
    json: Path | None,
) -> None:
    """Show a regressor."""
    from driftgames.cli import _boost_model as models
    from driftgames.cli import _boost_regression as numbers

    out = console()
    facts, stages = numbers.facts_of(booster), numbers.stages_of(booster)
    features = numbers.features_of(booster, top)
    out.print(draw_table(numbers.summary_of(model, facts)))
    for table in (stages, features):
        out.print(draw_table(table))
    _print_lines(str(booster.certificate_))
    rows, nameless = None, copy(booster)
    dates: Sequence[int] = ()
    if data is not None:
        examples = models.read_labelled(data, reading, nameless)
        rows, dates, y = examples.X, examples.dates, numbers.numbers_of(data, examples)
        numbers.say_scores(f"{data}: ", nameless, rows, y)
    if html is not None:
        booster.explain_model(rows, title=model.name, dates=dates).save(html)
        say(f"{html}: the model as a page")
    if json is not None:
        found = {"stages": as_records(stages), "features": as_records(features)}
        write_json({"model": str(model), **facts, **found}, json)


def _print_lines(text: str) -> None:
    """Print the lines of a certificate; long ones go on below, indented."""
    for line in text.splitlines():
        narrow = textwrap.wrap(line, 80, subsequent_indent="  ") if len(line) > 80 else [line]
        typer.echo("\n".join(narrow))
