"""How often error and log-loss exceed what a booster promises, on known distributions.

``python -m bench new_examples``. Every draw is a new training set. The true error and log-loss of
each booster that held examples out are found from the chance of each label at 10,000 points. Tables
of binary columns have many equal rows, some with opposite labels; their error is exact.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bench.harness import Tell, silent
from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.promises import promise_of
from driftgames.certificates import NewExamples, coin_interval
from driftgames.certificates.new_log_loss import CLIP
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

DRAWS, N_EXAMPLES, N_FOR_LOSS, SIDE = 1_000, 200, 5_000, 100
DISCRETE_DRAWS = 100


class Way(NamedTuple):
    """How labels are drawn, and what the examples held out choose.

    Examples are points of the square, or rows of binary columns if their number is given.
    """

    labels: str
    name: str
    settings: dict[str, Any]
    n_examples: int = N_EXAMPLES
    n_binary: int = 0

    def draw(self, rng: np.random.Generator, n_examples: int) -> tuple[FloatArray, FloatArray]:
        """Return examples and the chance of label 1 for each."""
        if self.n_binary:
            X = rng.integers(0, 2, (n_examples, self.n_binary)).astype(np.float64)
        else:
            X = rng.random((n_examples, 2))
        return X, CHANCES[self.labels](X)

    @property
    def points(self) -> FloatArray:
        """Points that stand for all examples: every row of binary columns, or a grid."""
        if not self.n_binary:
            return POINTS
        codes = np.arange(2**self.n_binary)[:, None] >> np.arange(self.n_binary)
        return (codes & 1).astype(np.float64)


FIXED = {"n_estimators": 10, "max_leaves": 2, "ensemble": True}
CHOSEN = {"max_leaves": 2}
WAYS = (
    Way("diagonal", "five folds", FIXED),
    Way("diagonal", "five folds, chosen", CHOSEN),
    Way("coin", "five folds, chosen", CHOSEN),
)
DISCRETE = (
    Way("coin", "default", {}, 2_000, 7),
    Way("coin", "default", {}, 2_000, 10),
    Way("coin", "32 leaves", {"n_estimators": 100, "max_leaves": 32}, 2_000, 10),
    Way("coin", "default", {}, 8_000, 9),
    Way("weak logit", "default", {}, 2_000, 9),
    Way("weak logit", "default", {}, 8_000, 9),
)
"""Ways with tables of binary columns."""


def diagonal(X: FloatArray) -> FloatArray:
    """Return the chance of label 1: 0.9 above the diagonal, 0.1 below."""
    return np.where(X.sum(axis=1) > 1.0, 0.9, 0.1)


def coin(X: FloatArray) -> FloatArray:
    """Return the chance of label 1: 1/2 everywhere."""
    return np.full(X.shape[0], 0.5)


def weak_logit(X: FloatArray) -> FloatArray:
    """Return the chance of label 1: a logit of all columns with small weights of both signs."""
    weights = 0.4 * (-1.0) ** np.arange(X.shape[1])
    return np.asarray(1.0 / (1.0 + np.exp(-(X - 0.5) @ weights)))


CHANCES = {"diagonal": diagonal, "coin": coin, "weak logit": weak_logit}

_ENDS = (np.arange(SIDE) + 0.5) / SIDE
POINTS = np.stack([each.ravel() for each in np.meshgrid(_ENDS, _ENDS)], axis=1)


def parts_of(booster: NHBoostDTClassifier) -> list[FittedModel]:
    """Return the boosters of the folds whose mean a model is."""
    model, members = booster.model_, booster.record_.members
    part = np.repeat(np.arange(len(members)), [each.n_rounds for each in members])
    turn = np.concatenate([np.arange(each.n_rounds) for each in members])
    fold = np.array([each.fold for each in members])[part[np.lexsort((part, turn))]]
    return [
        replace(
            model,
            hypotheses=model.hypotheses.take(np.flatnonzero(fold == k)),
            vote_weights=model.vote_weights[fold == k],
        )
        for k in range(1 + max(each.fold for each in members))
    ]


def true_error(model: FittedModel, points: FloatArray, chance: FloatArray) -> float:
    """Return the chance that a model errs on a new example."""
    ones = model.winners(model.votes(points)) == 1
    return float(np.where(ones, 1.0 - chance, chance).mean())


def true_log_loss(model: FittedModel, chance: FloatArray) -> float:
    """Return the mean log-loss of a model on a new example, with clipped probabilities."""
    assert model.calibration is not None
    p = np.clip(model.calibration.probabilities(model.votes(POINTS)), CLIP, 1.0 - CLIP)
    return float(-((1.0 - chance) * np.log(p[:, 0]) + chance * np.log(p[:, 1])).mean())


def added_up(promise: NewExamples) -> float:
    """Return the mean of one bound for each part, with an equal share of delta each."""
    doubt = promise.delta / promise.n_candidates / len(promise.n_examples)
    pairs = zip(promise.n_errors, promise.n_examples, strict=True)
    bounds = [n * coin_interval(wrong, n, doubt, side="upper").high for wrong, n in pairs]
    return sum(bounds) / sum(promise.n_examples)


def fitted(
    way: Way, rng: np.random.Generator, n_examples: int
) -> tuple[NHBoostDTClassifier, NewExamples | None]:
    """Return a booster of one draw, and its promise."""
    X, chance = way.draw(rng, n_examples)
    y = (rng.random(n_examples) < chance).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster = NHBoostDTClassifier(n_jobs=1, **way.settings).fit(X, y)
    # what `certificate_` begins with; Theorem 3, which follows there, takes ten times as long
    return booster, promise_of(booster.record_) if booster.n_iter_ else None


def draw_loss(way: Way, rng: np.random.Generator) -> tuple[float, ...] | None:
    """Return true log-loss, estimate and bound of one draw; None if they cannot be compared."""
    booster, promise = fitted(way, rng, N_FOR_LOSS)
    loss = None if promise is None else promise.log_loss
    if promise is None or loss is None or loss.estimate is None or not booster.record_.members:
        return None
    chance = CHANCES[way.labels](POINTS)
    losses = [true_log_loss(part, chance) for part in parts_of(booster)]
    truth = float(np.average(losses, weights=promise.n_examples))
    return truth, loss.estimate, loss.high


def draw(way: Way, rng: np.random.Generator) -> tuple[float, ...] | None:
    """Return true error, estimate and bounds of one draw; None if they cannot be compared.

    The boosters of folds are known if the model is their mean. A coin has one error for all.
    """
    booster, promise = fitted(way, rng, way.n_examples)
    if promise is None or promise.caveat:
        return None
    assert promise.estimate is not None
    truth = 0.5
    if way.labels != "coin":
        if not booster.record_.members:  # the votes held out had no slope: one more fit was made
            return None
        chance = CHANCES[way.labels](way.points)
        errors = [true_error(part, way.points, chance) for part in parts_of(booster)]
        truth = float(np.average(errors, weights=promise.n_examples))
    total = coin_interval(sum(promise.n_errors), sum(promise.n_examples), side="upper").high
    return truth, promise.estimate, promise.high, added_up(promise), total


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return widths and misses of the bounds on the error, beside two others, and on log-loss."""
    n_draws = 20 if quick else DRAWS
    n_discrete = 3 if quick else DISCRETE_DRAWS
    return [
        errors_table(n_draws, tell),
        losses_table(n_draws, tell),
        discrete_table(n_discrete, tell),
    ]


def losses_table(n_draws: int, tell: Tell) -> Table:
    """Return width and misses of the bound on the log-loss."""
    rows: list[Row] = []
    for number, way in enumerate(way for way in WAYS if way.labels != "coin"):
        tell(f"log-loss: {way.labels}, {way.name}")
        rng = np.random.default_rng(number)
        found = [draw_loss(way, rng) for _ in range(n_draws)]
        kept = np.array([each for each in found if each is not None])
        truth, estimate, bound = kept.T
        figures = truth, np.abs(estimate - truth), bound - truth, bound < truth
        rows.append((way.labels, way.name, len(kept), *(float(each.mean()) for each in figures)))
    columns = (
        Column("labels"),
        Column("held out"),
        Column("checked", ",d"),
        Column("true log-loss", ".3f"),
        Column("off by", ".3f"),
        Column("width", ".3f"),
        Column("misses", ".1%"),
    )
    title = f"Log-loss on new examples, {n_draws:,} draws of {N_FOR_LOSS:,} examples, delta 0.05"
    notes = ("Probabilities are clipped to [0.01, 0.99].",)
    return Table(title, columns, tuple(rows), notes)


def discrete_table(n_draws: int, tell: Tell) -> Table:
    """Return width and misses of the bound on the error where many rows are equal."""
    rows: list[Row] = []
    for number, way in enumerate(DISCRETE):
        tell(f"{way.labels}, {way.n_binary} binary columns, {way.n_examples:,} rows")
        rng = np.random.default_rng(number)
        found = [draw(way, rng) for _ in range(n_draws)]
        kept = np.array([each[:3] for each in found if each is not None])
        case = way.labels, way.n_binary, way.n_examples, way.name, len(kept)
        if not len(kept):
            rows.append((*case, *[None] * 5))
            continue
        truth, estimate, bound = kept.T
        figures = truth, estimate, estimate - truth, bound - truth
        means = [float(each.mean()) for each in figures]
        rows.append((*case, *means, float((bound < truth).sum()) / n_draws))
    columns = (
        Column("labels"),
        Column("binary columns", ",d"),
        Column("rows", ",d"),
        Column("size"),
        Column("checked", ",d"),
        Column("true error", ".3f"),
        Column("estimate", ".3f"),
        Column("too high by", ".3f"),
        Column("width", ".3f"),
        Column("misses", ".1%"),
    )
    title = f"Error on new examples, tables of equal rows, {n_draws:,} draws, delta 0.05"
    notes = (
        "A draw that promises nothing, or whose boosters of folds are not known, is not checked.",
    )
    return Table(title, columns, tuple(rows), notes)


def errors_table(n_draws: int, tell: Tell) -> Table:
    """Return widths and misses of the bound on the error beside two others."""
    rows: list[Row] = []
    for number, way in enumerate(WAYS):
        tell(f"{way.labels}, {way.name}")
        rng = np.random.default_rng(number)
        found = [draw(way, rng) for _ in range(n_draws)]
        kept = np.array([each for each in found if each is not None])
        truth, estimate, *bounds = kept.T
        figures: list[float] = [float(truth.mean()), float(np.abs(estimate - truth).mean())]
        for bound in bounds:
            figures += [float((bound - truth).mean()), float((bound < truth).sum()) / n_draws]
        rows.append((way.labels, way.name, kept.shape[0], *figures))
    heads = tuple(
        Column(what, form, name)
        for name in ("bound", "adding up", "as one sample")
        for what, form in (("width", ".3f"), ("misses", ".1%"))
    )
    columns = (
        Column("labels"),
        Column("held out"),
        Column("checked", ",d"),
        Column("true error", ".3f"),
        Column("off by", ".3f"),
        *heads,
    )
    notes = (
        "Off by: the mean distance of the estimate from the true error, which is that of the "
        "boosters that held examples out. Width: the mean of the bound less the true error. A miss "
        "is a true error above the bound; 5 % are allowed.",
        "Adding up: a bound for each part with its share of delta. As one sample: all examples as "
        "if one booster had held them out without a choice, which is no promise.",
    )
    title = f"Error on new examples, {n_draws:,} draws of {N_EXAMPLES} examples, delta 0.05"
    return Table(title, columns, tuple(rows), notes)
