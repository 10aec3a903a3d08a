r"""One booster after another: each learns what the last one's mean leaves.

The first stage learns the distribution of the outcome, and chooses the leaves of the trees. Its
mean :math:`m(x)` on examples held out is subtracted from the outcomes and becomes a column more;
the next stage learns the distribution of :math:`y - m(x)`. So thresholds follow the outcomes.
Stages go on while the held-out CRPS falls by `GAIN`. The quantiles of the best stage are averaged
with those of others where that lowers it.

Everything is computed on what outcomes are above the least one, times a power of two, from 0 to 1.
So no difference overflows, and neither the unit nor the origin of the outcomes matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy.sparse

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import directions
from driftgames.boosting.data.frames import Categories, code_columns
from driftgames.boosting.data.sample_weights import PAIR_BITS, SampleWeights
from driftgames.boosting.fit.fit_booster import fit_booster
from driftgames.boosting.fit.job import Columns, Job
from driftgames.boosting.fit.race import NotWorthwhileError
from driftgames.boosting.fit.source import MemorySource
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.sigmoids import Sigmoids
from driftgames.boosting.model.training_record import Fitted, TrainingRecord
from driftgames.boosting.regression.conformal import Places
from driftgames.boosting.regression.distribution import LEVELS, PredictedDistribution
from driftgames.boosting.regression.outcome_thresholds import Thresholds
from driftgames.certificates.new_numbers import NewNumbers
from driftgames.core.caching import cached_property
from driftgames.core.typing import FloatArray, IntArray

GAIN = 0.02
"""Stages go on while each lowers the held-out CRPS by this share."""

LEAST_GAIN = 0.003
"""A stage plays other folds if its first fold lowers the CRPS by this share.

It does so alone, or as the mean with the stage before.
"""

MOST_STAGES = 4
"""The most stages where their number is open."""

BLOCK = 8192
"""The rows whose distributions are computed at a time."""

CodedCategories = tuple[Categories | None, ...] | None


@dataclass(frozen=True, eq=False)
class NumberStage:
    """One booster: votes for thresholds of what the stages before it leave.

    From the second stage on, the last column of its examples is the mean of the stage before.
    """

    model: FittedModel
    record: TrainingRecord
    thresholds: Thresholds

    @property
    def sigmoids(self) -> Sigmoids:
        """What makes probabilities of votes."""
        return cast(Sigmoids, self.model.calibration)

    def columns(
        self, X: Matrix, offset: FloatArray | None, categories: CodedCategories = None
    ) -> Matrix:
        """Return the columns that the trees ask about, of rows or of codes among ``categories``."""
        encoder = self.model.encoder
        if encoder is None:
            return _beside(X, offset)
        if categories is not None:
            more = () if offset is None else (None,)
            return self.model.expand(_beside(X, offset), (*categories, *more))
        n_features = len(encoder.categories) - (offset is not None)
        codes, _ = code_columns(X, encoder.categories[:n_features])
        return encoder.expand(_beside(np.asarray(codes, dtype=np.float64), offset))


def _beside(X: Matrix, offset: FloatArray | None) -> Matrix:
    """Return columns with one more."""
    if offset is None:
        return X
    if scipy.sparse.issparse(X):
        return scipy.sparse.hstack([X, offset[:, None]], format="csr")
    return np.column_stack([X, offset])


@dataclass(frozen=True, eq=False)
class StagedModel:
    """All that predictions need: stages, which of them are averaged, and the unit of the outcome.

    Parameters
    ----------
    stages : tuple of NumberStage
        In order; each needs the means of the one before.
    averaged : tuple of int
        The stages whose quantiles are averaged.
    exponent : int
        Outcomes are learnt times ``2**-exponent``.
    origin : float
        The least outcome in that unit. It is all that is predicted where there is no stage, because
        all outcomes are equal.
    """

    stages: tuple[NumberStage, ...]
    averaged: tuple[int, ...]
    exponent: int
    origin: float

    def means(
        self, X: Matrix, *, n_threads: int = 1, categories: CodedCategories = None
    ) -> FloatArray:
        """Return the mean outcome of each row, or of codes among ``categories``."""
        played = self._play(X, n_threads, lambda stage, above: None, categories)
        parts = [means for means, _ in played]
        return self._average(parts or [np.zeros(X.shape[0])])

    def distribution(
        self, X: Matrix, *, n_threads: int = 1, categories: CodedCategories = None
    ) -> PredictedDistribution:
        """Return the distribution of the outcome of each row, or of codes among ``categories``."""

        def quantiles(stage: NumberStage, above: FloatArray) -> FloatArray:
            return stage.thresholds.quantiles(above, LEVELS)

        nothing = np.zeros(X.shape[0]), np.zeros((X.shape[0], LEVELS.size))
        means, parts = zip(
            *(self._play(X, n_threads, quantiles, categories) or [nothing]), strict=True
        )
        return PredictedDistribution(LEVELS, self._average(parts), self._average(means))

    def crps_of_stages(self, X: Matrix, y: FloatArray, *, n_threads: int = 1) -> FloatArray:
        """Return the mean CRPS of the distributions of each stage alone, then of all together."""
        alone = [
            replace(self, stages=self.stages[: number + 1], averaged=(number,))
            for number in range(len(self.stages))
        ]
        ones = np.ones(y.size, dtype=np.int64)
        return np.array(
            [
                _mean_crps(each.distribution(X, n_threads=n_threads), y, ones)
                for each in [*alone, self]
            ]
        )

    def _play(
        self,
        X: Matrix,
        n_threads: int,
        ask: Callable[[NumberStage, FloatArray], Any],
        categories: CodedCategories = None,
    ) -> list[tuple[FloatArray, Any]]:
        """Return the means of each stage on rows, and what ``ask`` returns beside them, scaled.

        Both are moved by the means of the stage before.
        """
        played: list[tuple[FloatArray, Any]] = []
        offset: FloatArray | None = None
        for stage in self.stages:
            votes = stage.model.votes(stage.columns(X, offset, categories), n_threads=n_threads)
            above = stage.sigmoids.probabilities(votes)
            means, asked = stage.thresholds.expectations(above), ask(stage, above)
            if offset is not None:
                means = means + offset
                asked = None if asked is None else asked + offset[:, None]
            played.append((means, asked))
            offset = means
        return played

    def _average(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return the mean of the averaged stages in the unit of the outcome."""
        chosen = [parts[number] for number in self.averaged or (0,)]
        mean = sum(chosen[1:], start=chosen[0]) / len(chosen)
        return np.ldexp(mean + self.origin, self.exponent)


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """What the distributions of examples were worth, each by boosters that held it out."""

    crps: tuple[float, ...]
    """The mean CRPS of each stage that was tried, then that of the average."""
    mae: float
    """The mean absolute error of the medians."""
    n_examples: int
    places: Places
    """Where outcomes lay: of these examples, or of those that were held out of everything."""
    new_examples: NewNumbers | None = None
    """What examples held out of everything promise."""


@dataclass(frozen=True, eq=False)
class NumberExamples:
    """Examples of positive weight with numbers as outcomes.

    ``X`` are columns of numbers, or codes among the ``categories``; ``names`` are those of the
    columns.
    """

    X: Matrix
    y: FloatArray
    categories: CodedCategories = None
    sample_weight: FloatArray | None = None
    names: Array | None = None

    def take(self, rows: Array) -> NumberExamples:
        """Return some of the examples: their numbers, or a mask."""
        weights = self.sample_weight
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            sample_weight=None if weights is None else weights[rows],
        )

    @cached_property
    def masses(self) -> IntArray:
        """The sample weights as integers."""
        if self.sample_weight is None:
            return np.ones(self.y.size, dtype=np.int64)
        return SampleWeights.of(self.sample_weight, PAIR_BITS).of_each

    def less(self, means: FloatArray) -> NumberExamples:
        """Return what means leave of the outcomes; the means are a column more."""
        return replace(
            self,
            X=_beside(self.X, means),
            y=self.y - means,
            categories=None if self.categories is None else (*self.categories, None),
            names=None if self.names is None else np.append(self.names, "mean of the stage before"),
        )


def fit_stages(
    job: Job, examples: NumberExamples, *, n_thresholds: int, n_stages: int | None
) -> tuple[StagedModel, HeldOutScores]:
    """Fit stages to examples; with None as many as gain."""
    y, origin, exponent = _scaled(examples.y)
    examples = replace(examples, y=y)
    masses = examples.masses
    if not y.any():
        certain = PredictedDistribution(LEVELS, np.zeros((y.size, LEVELS.size)), y)
        scores_of_all = _scores(certain, [0.0, 0.0], y, masses, exponent)
        return StagedModel((), (), exponent, origin), scores_of_all
    stages, found, scores = [], [], []
    for stage, distribution in _play_stages(job, examples, n_thresholds, scouts=n_stages is None):
        stages.append(stage)
        found.append(distribution)
        scores.append(_mean_crps(distribution, y, masses))
        gains = len(scores) == 1 or scores[-1] <= (1.0 - GAIN) * scores[-2]
        if len(stages) == n_stages or (n_stages is None and not gains):
            break
        if n_stages is None and len(stages) == MOST_STAGES:
            break
    averaged, best, crps = _average_best(found, scores, y, masses)
    model = StagedModel(tuple(stages[: 1 + max(averaged)]), averaged, exponent, origin)
    return model, _scores(best, [*scores, crps], y, masses, exponent)


def _play_stages(
    job: Job, examples: NumberExamples, n_thresholds: int, *, scouts: bool
) -> Iterator[tuple[NumberStage, PredictedDistribution]]:
    """Yield one stage after another, and its distributions of the examples, each held out.

    It ends where nothing is left to learn; if it ``scouts``, also where the first fold of a stage
    does not gain `LEAST_GAIN`. The first stage chooses the leaves for all.
    """
    stage, distribution = _fit_one(job, examples, n_thresholds)
    yield stage, distribution
    if job.shape.is_open and (choice := stage.record.choice) is not None:
        job = replace(job, shape=replace(job.shape, max_leaves=choice.max_leaves))
    if job.monotonic_cst is not None:  # an outcome rises with the mean of the stage before
        signs = directions(job.monotonic_cst, examples.X.shape[1], examples.names)
        job = replace(job, monotonic_cst=[*signs.tolist(), 1])
    while np.ptp(examples.y - distribution.mean()) > 0:
        before = distribution
        try:
            stage, distribution = _fit_one(job, examples, n_thresholds, before, scouts=scouts)
        except NotWorthwhileError:
            return
        yield stage, distribution


def _scaled(y: FloatArray) -> tuple[FloatArray, float, int]:
    """Return outcomes from 0 to 1: all less the least, times a power of two; and both of these."""
    first = int(np.frexp(np.abs(y).max())[1])
    y = np.ldexp(y, -first)  # no difference overflows
    least = float(y.min())
    y = y - least
    exponent = int(np.frexp(y.max())[1])
    return np.ldexp(y, -exponent), math.ldexp(least, -exponent), first + exponent


def _scores(
    best: PredictedDistribution,
    crps: Sequence[float],
    y: FloatArray,
    masses: IntArray,
    exponent: int,
) -> HeldOutScores:
    """Return what the distributions of examples were worth."""
    errors = np.abs(y - best.median()) * masses
    mae = math.fsum(errors.tolist()) / int(masses.sum())
    places = replace(Places.of(best, y, 0, promised=False), exponent=exponent)
    unit = [math.ldexp(each, exponent) for each in (*crps, mae)]
    return HeldOutScores(tuple(unit[:-1]), unit[-1], y.size, places)


def _fit_one(
    job: Job,
    examples: NumberExamples,
    n_thresholds: int,
    before: PredictedDistribution | None = None,
    *,
    scouts: bool = False,
) -> tuple[NumberStage, PredictedDistribution]:
    """Return a stage for what the mean of the one ``before`` leaves, and its distributions.

    They are of the examples, each held out.
    """
    offset = None if before is None else before.mean()
    left = examples if offset is None else examples.less(offset)
    thresholds = Thresholds.of(left.y, examples.masses, n_thresholds)

    def distribution(votes: FloatArray, sigmoids: Sigmoids) -> PredictedDistribution:
        above = sigmoids.probabilities(votes)
        means, quantiles = thresholds.expectations(above), thresholds.quantiles(above, LEVELS)
        return PredictedDistribution(LEVELS, quantiles, means)

    def goes_on(votes: FloatArray, rows: IntArray, sigmoids: Sigmoids) -> bool:
        assert before is not None
        old, y, masses = before[rows], examples.y[rows], examples.masses[rows]
        new = _moved(distribution(votes, sigmoids), old.mean())
        least = min(_mean_crps(each, y, masses) for each in (new, _mean_of(old, 1, new)))
        return least <= (1.0 - LEAST_GAIN) * _mean_crps(old, y, masses)

    if scouts and before is not None:
        job = replace(job, goes_on=goes_on)
    columns = Columns(thresholds.values, left.X.shape[1], left.names, thresholds.gaps)
    source = MemorySource(columns, left.X, left.y, left.categories, examples.sample_weight)
    fitted: Fitted = fit_booster(job, source)
    stage = NumberStage(fitted.model, fitted.record, thresholds)
    votes = fitted.held_out_votes
    if votes is None:  # no tree has an edge
        votes = np.tile(fitted.model.default_vote, (left.y.size, 1))
    found = distribution(votes, stage.sigmoids)
    if offset is None:
        return stage, found
    return stage, _moved(found, offset)


def _moved(distribution: PredictedDistribution, by: FloatArray) -> PredictedDistribution:
    """Return distributions moved by a number for each row."""
    return PredictedDistribution(
        LEVELS, distribution.quantiles + by[:, None], distribution.mean() + by
    )


def _mean_of(
    first: PredictedDistribution, n: int, another: PredictedDistribution
) -> PredictedDistribution:
    """Return the mean of the quantiles of distributions: the first one counts ``n`` times."""
    quantiles = (n * first.quantiles + another.quantiles) / (n + 1)
    return PredictedDistribution(LEVELS, quantiles, (n * first.mean() + another.mean()) / (n + 1))


def _mean_crps(distribution: PredictedDistribution, y: FloatArray, masses: IntArray) -> float:
    """Return the mean CRPS, rounded once."""
    parts = []
    for start in range(0, y.size, BLOCK):
        some = slice(start, start + BLOCK)
        parts.append(distribution[some].crps(y[some]) * masses[some])
    return math.fsum(np.concatenate(parts).tolist()) / int(masses.sum())


def _average_best(
    found: Sequence[PredictedDistribution], scores: Sequence[float], y: FloatArray, masses: IntArray
) -> tuple[tuple[int, ...], PredictedDistribution, float]:
    """Return which stages are averaged, the best one first; their mean; and its CRPS."""
    order = sorted(range(len(found)), key=lambda number: scores[number])
    averaged, best, crps = [order[0]], found[order[0]], scores[order[0]]
    for number in order[1:]:
        n = len(averaged)
        mean = _mean_of(best, n, found[number])
        if (lower := _mean_crps(mean, y, masses)) < crps:
            averaged, best, crps = [*averaged, number], mean, lower
    return tuple(averaged), best, crps
