"""Online boosting: errors on streams that come with river, beside river's own boosting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from bench.harness import Tell, silent, why_absent
from driftgames.tables import Column, Row, Table

EXAMPLES, MODELS, SEED = 5_000, 11, 1
"""The length of synthetic streams, the size of ensembles, and the seed of both."""

Example = tuple[dict[Any, Any], bool]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the error of every ensemble on every stream, and what ours had promised."""
    if (absent := why_absent(("river",))) is not None:
        return [Table("online boosting", (Column("skipped"),), ((absent,),))]
    return list(tables(300 if quick else EXAMPLES, tell))


def tables(examples: int, tell: Tell = silent) -> Iterator[Table]:
    """Yield a table of errors for each weak learner, and a table of certificates."""
    sources = streams(examples)
    rows: list[Row] = []
    for weak_name, weak in weak_learners().items():
        models = ensembles(weak)
        lines: list[tuple[float, ...]] = []
        for source, make_stream in sources.items():
            errors = []
            for name, make in models.items():
                tell(f"{weak_name}, {source}: {name}")
                model = make()
                mistakes, count = progressive(model, make_stream())
                errors.append(mistakes / count)
                if hasattr(model, "certificate"):
                    found = model.certificate()
                    assert found.holds, found
                    shares = (mistakes, found.realised, found.promised)
                    rows.append((weak_name, source, name, *(share / count for share in shares)))
            lines.append(tuple(errors))
        lines.append(tuple(sum(each) / len(each) for each in zip(*lines, strict=True)))
        columns = (Column("stream"), *(Column(name, "%") for name in models))
        names = (*sources, "mean")
        named: tuple[Row, ...] = tuple((a, *line) for a, line in zip(names, lines, strict=True))
        yield Table(f"errors, {MODELS} copies of a {weak_name}", columns, named)
    texts, shown = ("weak learner", "stream", "model"), ("error", "certified mistakes", "promised")
    columns = (*map(Column, texts), *(Column(name, "%") for name in shown))
    yield Table("what was promised, as shares of the examples", columns, tuple(rows))


def streams(examples: int) -> dict[str, Callable[[], Iterator[Example]]]:
    """Return streams with two labels: two real sets, and synthetic ones with and without drift."""
    from river import datasets
    from river.datasets import synth

    def first(source: Any) -> Iterator[Example]:
        return ((x, bool(y)) for x, y in islice(source, examples))

    def sea() -> Any:
        before, after = (synth.SEA(variant=v, noise=0.1, seed=SEED + v) for v in (0, 3))
        return synth.ConceptDriftStream(before, after, examples // 2, width=50, seed=SEED)

    return {
        "Phishing": lambda: first(datasets.Phishing()),
        "Bananas": lambda: first(datasets.Bananas()),
        "Agrawal": lambda: first(synth.Agrawal(classification_function=4, seed=SEED)),
        "Sine": lambda: first(synth.Sine(classification_function=2, seed=SEED)),
        "SEA, drift": lambda: first(sea()),
        "Hyperplane, drift": lambda: first(
            synth.Hyperplane(seed=SEED, n_drift_features=5, mag_change=0.001)
        ),
        "RBF, drift": lambda: first(
            synth.RandomRBFDrift(SEED, SEED, n_classes=2, change_speed=0.001, n_drift_centroids=10)
        ),
    }


def weak_learners() -> dict[str, Callable[[], Any]]:
    """Return the weak learners of the comparison."""
    from river import tree

    return {
        "Hoeffding tree": lambda: tree.HoeffdingTreeClassifier(grace_period=50),
        "Hoeffding stump": lambda: tree.HoeffdingTreeClassifier(grace_period=50, max_depth=1),
    }


def ensembles(weak: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """Return the weak learner alone, river's three boosters, and ours."""
    from river import ensemble

    from driftgames.online_boosting.river import OnlineBoostingClassifier

    theirs = {
        f"river, {kind.__name__.removesuffix('Classifier')}": kind
        for kind in (
            ensemble.AdaBoostClassifier,
            ensemble.ADWINBoostingClassifier,
            ensemble.BOLEClassifier,
        )
    }
    found: dict[str, Callable[[], Any]] = {"one alone": weak}
    for name, kind in theirs.items():
        found[name] = partial(_wrapped, kind, weak, seed=SEED)
    for name, algorithm in (("Online BBM", "bbm"), ("AdaBoost.OL", "adaboost.ol")):
        found[name] = partial(_wrapped, OnlineBoostingClassifier, weak, algorithm=algorithm)
    return found


def _wrapped(kind: Any, weak: Callable[[], Any], **settings: Any) -> Any:
    return kind(weak(), n_models=MODELS, **settings)


def progressive(model: Any, stream: Iterator[Example]) -> tuple[int, int]:
    """Return the number of mistakes of a model that predicts before it learns, and of examples."""
    mistakes = count = 0
    for x, y in stream:
        mistakes += model.predict_one(x) != y
        count += 1
        model.learn_one(x, y)
    return mistakes, count
