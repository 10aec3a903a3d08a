"""``driftgames boost``: fit, predict and inspect boosted stumps from the command line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from driftgames.cli._options import check_outputs
from driftgames.cli._output import INTERRUPTED, clear_errors, console, fail, make_table

if TYPE_CHECKING:
    from rich.table import Table

    from driftgames.cli._examples import Examples

app = typer.Typer(
    no_args_is_help=True,
    help="Boost decision stumps on LIBSVM text or CSV, plain or as .gz, .xz or .bz2.\n\n"
    "Example: driftgames boost fit train.svm --rounds 200 --model m.json",
)


class Algorithm(StrEnum):
    """The boosters by the names of the paper."""

    NH_BOOST_DT = "nh-boost.dt"
    NH_BOOST = "nh-boost"
    ADABOOST = "adaboost"
    BOOST_BY_MAJORITY = "boost-by-majority"


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
        help="The label column of a CSV file: its name, or its number from 1. "
        "The last column unless given.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file names its columns; seen from it unless given. "
        "A column without a name, as pandas writes for its index, is left out.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads; -1 takes all processors.")]
Model = Annotated[Path, typer.Option("--model", metavar="M.json", help="The model file.")]


@app.command()
def fit(
    data: Annotated[str, typer.Argument(metavar="TRAIN", help="LIBSVM text, or a .csv file.")],
    model: Model,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many stumps vote.")] = 200,
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", help="Which booster.")
    ] = Algorithm.NH_BOOST_DT,
    d: Annotated[
        float | None, typer.Option("--d", help="The constant of nh-boost.dt; 3 unless given.")
    ] = None,
    edge: Annotated[
        float | None, typer.Option("--edge", help="The edge that boost-by-majority counts on.")
    ] = None,
    bins: Annotated[
        int, typer.Option("--bins", min=2, max=255, help="Most bins per numeric feature.")
    ] = 255,
    label: Label = None,
    header: Header = None,
    jobs: Jobs = 1,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the model file, with its settings, up to --rounds; "
            "start anew where there is none.",
        ),
    ] = False,
    save_every: Annotated[
        int,
        typer.Option(
            "--save-every",
            min=1,
            metavar="ROUNDS",
            help="Write the model after every so many rounds (a quarter of those done, when "
            "that is more), so that a stop loses little.",
        ),
    ] = 100,
) -> None:
    """Fit a booster and write it to a file.

    A fit that was stopped goes on with --resume and ends in the same model as one that was
    not.

    Example: driftgames boost fit train.svm --rounds 200 --algorithm nh-boost.dt --model m.json
    """
    from driftgames.boosting.persistence import load_model
    from driftgames.cli._examples import read_examples

    with clear_errors():
        check_outputs(model=model)
        if resume and model.exists():
            booster = load_model(model)
            names, n_features = _take_names(booster), booster.n_features_in_
        else:
            booster, names, n_features = _new_booster(algorithm, rounds, d, edge, bins), None, None
        examples = read_examples(
            data, label=label, header=header, n_features=n_features, names=names
        )
        if examples.y is None:
            fail(f"{data}: fitting needs labels, and it has none")
        booster.set_params(n_jobs=jobs)
        try:
            _fit_in_parts(booster, examples, rounds, save_every, model)
        except MemoryError as lack:
            rows, columns = examples.X.shape
            fail(f"{data}: {rows:,} rows of {columns:,} features do not fit in memory ({lack})")
    error = booster.history_["training_error"][-1] if booster.n_iter_ else float("nan")
    typer.echo(f"{model}: {booster.n_iter_} rounds, training error {error:.2%}")


@app.command()
def predict(
    data: Annotated[str, typer.Argument(metavar="TEST", help="LIBSVM text, or a .csv file.")],
    model: Model,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write here rather than to the screen."),
    ] = None,
    what: Annotated[
        Output,
        typer.Option(
            "--what",
            help="The label, the vote in [-1, 1], or the probability of the second class.",
        ),
    ] = Output.LABEL,
    label: Label = None,
    header: Header = None,
    jobs: Jobs = 1,
) -> None:
    """Predict, one line per example; the error goes to standard error where labels are known.

    Example: driftgames boost predict test.svm --model m.json --output predictions.txt
    """
    import numpy as np

    from driftgames.boosting.persistence import load_model
    from driftgames.cli._examples import read_examples
    from driftgames.core.documents import atomic_write

    with clear_errors():
        check_outputs(output=output)
        booster = load_model(model).set_params(n_jobs=jobs)
        names, n_features = _take_names(booster), booster.n_features_in_
        examples = read_examples(
            data, label=label, header=header, n_features=n_features, names=names
        )
        X = examples.X
        if what is Output.SCORE:
            answers = booster.decision_function(X)
        elif what is Output.PROBABILITY:
            answers = booster.predict_proba(X)[:, 1]
        else:
            answers = booster.predict(X)
        text = "".join(f"{answer}\n" for answer in answers.tolist())
        if output is None:
            typer.echo(text, nl=False)
        else:
            with atomic_write(output) as stream:
                stream.write(text.encode())
        if examples.y is not None and set(examples.y.tolist()) <= set(booster.classes_.tolist()):
            predicted = answers if what is Output.LABEL else booster.predict(X)
            error = float(np.mean(predicted != examples.y))
            typer.echo(f"error {error:.2%} on {examples.y.size:,} examples", err=True)


@app.command()
def inspect(
    model: Annotated[Path, typer.Argument(metavar="M.json", help="The model file.")],
    top: Annotated[int, typer.Option("--top", min=1, help="How many features to show.")] = 10,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="Examples whose margins are shown."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="OUT.svg", help="Draw what the features vote (svg, pdf or png)."
        ),
    ] = None,
    label: Label = None,
    header: Header = None,
) -> None:
    """Show what a model is made of: rounds, features, margins and its certificate.

    Example: driftgames boost inspect m.json --data test.svm --plot shapes.svg
    """
    from driftgames.boosting.persistence import load_model
    from driftgames.cli._examples import read_examples
    from driftgames.plots.style import save_figure

    with clear_errors():
        check_outputs(plot=plot)
        booster = load_model(model)
        out = console()
        out.print(_summary(model, booster))
        out.print(_features(booster, top))
        if plot is not None:
            save_figure(booster.plot_shapes(n_features=top), plot)
            typer.echo(f"{plot}: what the features vote")
        if booster.certificate_ is not None:
            typer.echo(str(booster.certificate_))
        if data is not None:
            names, n_features = _take_names(booster), booster.n_features_in_
            examples = read_examples(
                data, label=label, header=header, n_features=n_features, names=names
            )
            if examples.y is None:
                fail(f"{data}: margins need labels, and it has none")
            out.print(_margins(data, booster.margins(examples.X, examples.y)))


def _new_booster(
    algorithm: Algorithm, rounds: int, d: float | None, edge: float | None, bins: int
) -> Any:
    from driftgames import boosting

    if d is not None and algorithm is not Algorithm.NH_BOOST_DT:
        fail(f"--d belongs to nh-boost.dt; got {algorithm.value}")
    if (edge is None) == (algorithm is Algorithm.BOOST_BY_MAJORITY):
        fail("--edge belongs to boost-by-majority, which needs it")
    classes = {
        Algorithm.NH_BOOST_DT: boosting.NHBoostDTClassifier,
        Algorithm.NH_BOOST: boosting.NHBoostClassifier,
        Algorithm.ADABOOST: boosting.AdaBoostClassifier,
        Algorithm.BOOST_BY_MAJORITY: boosting.BoostByMajorityClassifier,
    }
    settings: dict[str, Any] = {"max_bins": bins}
    if d is not None:
        settings["d"] = d
    if edge is not None:
        settings |= {"edge": edge, "horizon": rounds}
    return classes[algorithm](**settings)


def _fit_in_parts(
    booster: Any, examples: Examples, rounds: int, save_every: int, path: Path
) -> None:
    """Fit so many rounds at a time, and write the model after each part."""
    import warnings

    from driftgames.boosting import NoEdgeWarning
    from driftgames.core.progress import progress

    done = booster.n_iter_ if _is_fitted(booster) else 0
    with progress("boosting", total=rounds) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)  # it is said below, in a line of its own
        advance(done)
        while done < rounds:
            # a part begins by replaying the stumps so far: growing parts keep that linear
            part = min(done + max(save_every, done // 4), rounds)
            try:
                booster.set_params(n_estimators=part, warm_start=True).fit(examples.X, examples.y)
                _write(booster, examples.names, path)
            except KeyboardInterrupt:
                _stop(path, done)
            advance(booster.n_iter_ - done)
            done = booster.n_iter_
            if done < part:
                break
    if done < rounds:
        why = "no stump has an edge" if booster.ended_early_ else "the last stump makes no mistake"
        typer.echo(f"the fit ended after {done} of {rounds} rounds: {why}", err=True)


def _stop(path: Path, done: int) -> NoReturn:
    """End a fit that was interrupted; say what the model file holds of it."""
    if done:
        typer.echo(f"stopped; {path} holds {done} rounds; --resume goes on", err=True)
    else:
        typer.echo(f"stopped before a round was kept; nothing was written to {path}", err=True)
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
    """Take the feature names off a booster: columns are matched here, before they are arrays."""
    names = vars(booster).pop("feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _summary(path: Path, booster: Any) -> Table:
    import numpy as np

    history = booster.history_
    rows = [
        ["algorithm", type(booster).__name__],
        ["classes", ", ".join(str(name) for name in booster.classes_.tolist())],
        ["rounds", f"{booster.n_iter_:,}"],
        ["features", f"{booster.n_features_in_:,}"],
        ["features that vote", f"{len(booster.shape_functions_):,}"],
    ]
    if booster.n_iter_:
        rows += [
            ["smallest edge", f"{min(history['edge']):.4f}"],
            ["mean share of zero weights", f"{np.mean(history['zero_fraction']):.1%}"],
            ["training error", f"{history['training_error'][-1]:.2%}"],
        ]
    return make_table(str(path), ["model", ""], rows)


def _features(booster: Any, top: int) -> Table:
    import numpy as np

    shapes = booster.shape_functions_
    names = getattr(booster, "feature_names_in_", None)
    order = sorted(shapes, key=lambda j: -float(np.ptp(shapes[j].values)))[:top]
    rows = [
        [
            f"x{j}" if names is None else str(names[j]),
            f"{int((booster.stumps_.feature == j).sum()):,}",
            f"{shapes[j].values.min():+.4f}",
            f"{shapes[j].values.max():+.4f}",
        ]
        for j in order
    ]
    headers = ["feature", "stumps", "lowest vote", "highest vote"]
    return make_table("The features that move the decision most", headers, rows)


def _margins(name: str, margins: Any) -> Table:
    import numpy as np

    shares = [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
    rows = [[f"{share:.0%}", f"{np.quantile(margins, share):+.4f}"] for share in shares]
    return make_table(f"Margins on {name}", ["share of examples", "margin at most"], rows)


def _is_fitted(booster: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(booster)
    except NotFittedError:
        return False
    return True
