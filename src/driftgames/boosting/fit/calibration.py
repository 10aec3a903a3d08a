"""Cross-fitting: votes on examples held out calibrate a booster and choose its rounds.

The votes on the training examples are too good to calibrate with. So boosters are fitted again to a
part of the examples, and vote on the
rest: below `SMALL` examples on each of ten parts in turn, below `LARGE` on each of five, and from
there on one part of five. That costs nine, four and 0.8 fits more.

The same votes tell how many rounds are enough: ``early_stopping="cv"`` keeps the largest number of
rounds whose log-loss is within two standard errors of the least.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.folds import deal_ranks
from driftgames.boosting.data.frames import Categories
from driftgames.boosting.data.monotonic import directions
from driftgames.boosting.data.row_sample import hash_rows, mix_hashes
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.input_checks import count_threads
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.training_record import HeldOut
from driftgames.core.typing import BoolArray, FloatArray, IntArray

SMALL = 10_000
"""Below this number of examples there are ten parts."""

LARGE = 50_000
"""From this number of examples on, only one of five parts is held out."""

_QUARTERS = (1.0, 0.841, 0.707, 0.595)  # powers of the fourth root of 1/2


class RowKeys(NamedTuple):
    """The examples of positive weight by what folds are made of.

    ``hashes`` are of their contents, categories as codes; ``labels`` number the classes, and
    ``sample_weight`` is None if all count the same.
    """

    hashes: Array
    labels: Array
    sample_weight: FloatArray | None

    def take(self, rows: IntArray) -> RowKeys:
        """Return the keys of some rows."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return RowKeys(self.hashes[rows], self.labels[rows], weights)

    def dealt_again(self, number: int) -> RowKeys:
        """Return the keys of another deal: the rows in another order of hashes."""
        return self._replace(hashes=mix_hashes(self.hashes, number))


Refit = Callable[[BoosterInput, BoolArray, Sequence[int]], FloatArray]
"""``refit(fresh, held, stages)`` fits a booster to the examples that are not held.

It returns its votes on the held examples: a row for each of the ``stages``, numbers of rounds.
"""


class CrossFit(NamedTuple):
    """What votes on examples held out say about a booster."""

    calibration: Calibration
    held_out: HeldOut | None
    n_rounds: int
    """The largest number of rounds whose log-loss is within two standard errors of the least."""


def stages_of(n_rounds: int) -> list[int]:
    """Return the numbers of rounds that are tried: four between one and its double.

    >>> stages_of(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20]
    """
    halves = range(n_rounds.bit_length())
    return sorted({round(n_rounds * f * 0.5**k) for k in halves for f in _QUARTERS} - {0})


class FoldKeys(NamedTuple):
    """How examples are dealt to folds, and what their votes are compared with.

    ``part`` is the fold that holds an example out. ``scale`` times the integer ``masses`` are the
    numbers of examples that the prior of a calibration sees.
    """

    part: IntArray
    labels: IntArray
    masses: IntArray
    scale: float
    folds: tuple[int, ...]
    """The folds that are played; none if a class has one example only."""


def deal_folds(keys: RowKeys, n_parts: int | None = None) -> FoldKeys:
    """Deal examples to folds by their contents.

    Default: ten parts below `SMALL` examples, else five. From `LARGE` on only one is held out.
    """
    labels, given = keys.labels, keys.sample_weight
    weights = SampleWeights(np.ones(labels.size, np.int64), True)
    if given is not None:
        weights = SampleWeights.of(given)
    scale = 1.0 if weights.integer_weights else labels.size / int(weights.of_each.sum())
    ranks = deal_ranks(keys.hashes, labels, None if given is None else weights.of_each)
    if n_parts is None:
        n_parts = 10 if labels.size < SMALL else 5
    part = ranks % n_parts
    folds: tuple[int, ...] = ()
    if np.unique(labels, return_counts=True)[1].min() >= 2:  # else none could be held out
        played = range(n_parts if labels.size < LARGE else 1)
        folds = tuple(k for k in played if (part == k).any())
    return FoldKeys(part, labels, weights.of_each, scale, folds)


def cross_fit(
    booster: BoosterInput, keys: RowKeys, refit: Refit, stages: Sequence[int]
) -> CrossFit:
    """Return the calibration of a fitted booster from votes on examples held out.

    The ``stages`` are the numbers of rounds to choose from. Where a class has one example only,
    none of it can be held out: the votes on the training examples and the prior have to do. Then
    ``refit`` is called with the fitted booster itself, which only votes, after all its rounds.
    """
    dealt = deal_folds(keys)
    if not dealt.folds or booster.n_iter_ == 0:
        everything = np.ones(dealt.labels.size, dtype=bool)
        votes = refit(booster, everything, [booster.n_iter_])[0]
        fitted = Calibration.fit(votes, dealt.labels, dealt.masses, dealt.scale)
        return CrossFit(fitted, None, booster.n_iter_)
    votes_of_folds = []
    for fold in dealt.folds:
        held = dealt.part == fold
        fresh = _fresh(booster, int(np.count_nonzero(~held)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself has said it
            votes_of_folds.append(refit(fresh, held, stages))
    return judge_votes(dealt, votes_of_folds, stages)


def judge_votes(
    dealt: FoldKeys, votes_of_folds: Sequence[FloatArray], stages: Sequence[int]
) -> CrossFit:
    """Return the calibration and the number of rounds from the votes of each fold, by stages.

    The votes of a fold are on the examples that it holds out, in their order.
    """
    at = np.concatenate([np.flatnonzero(dealt.part == fold) for fold in dealt.folds])
    labels, masses = dealt.labels[at], dealt.masses[at]
    held_out = np.concatenate(votes_of_folds, axis=1)
    fitted = [Calibration.fit(votes, labels, masses, dealt.scale) for votes in held_out]
    chosen = 0
    if len(stages) > 1:
        each = zip(fitted, held_out, strict=True)
        chosen = _choose([one.losses(votes, labels) for one, votes in each], masses)
    parts = [dealt.labels[dealt.part == fold] for fold in dealt.folds]
    errors = HeldOut.of([votes[chosen] for votes in votes_of_folds], parts, fitted[chosen])
    return CrossFit(fitted[chosen], errors, stages[chosen])


def _choose(losses: Sequence[FloatArray], masses: IntArray) -> int:
    """Return the last of these whose mean is within two standard errors of the least.

    Sums are rounded once, so that the order of the examples does not matter.
    """
    means = [exact_mean(each, masses) for each in losses]
    best = means.index(min(means))
    for at in range(len(losses) - 1, best, -1):
        away, error = difference(losses[at], losses[best], masses)
        if away <= 2.0 * error:
            return at
    return best


def exact_mean(values: FloatArray, masses: IntArray) -> float:
    """Return the mean of values by their masses, rounded once: their order does not matter."""
    return math.fsum((masses * values).tolist()) / int(masses.sum())


def difference(one: FloatArray, other: FloatArray, masses: IntArray) -> tuple[float, float]:
    """Return the mean of ``one - other`` and its standard error."""
    more = one - other
    away = exact_mean(more, masses)
    return away, math.sqrt(exact_mean((more - away) ** 2, masses) / more.size)


def votes_after(booster: BoosterInput, columns: Any, stages: Sequence[int]) -> FloatArray:
    """Return the votes of a booster on columns: a row for each of ``stages``, numbers of rounds."""
    n_threads = count_threads(booster.n_jobs)
    return booster.model_.votes_after(columns, stages, n_threads=n_threads)


def cross_fit_here(
    booster: BoosterInput,
    X: Any,
    y: Array,
    sample_weight: FloatArray | None,
    categories: tuple[Categories | None, ...] | None,
    stages: Sequence[int],
) -> CrossFit:
    """Do the same as `cross_fit` for examples in memory, with codes of these categories."""
    if sample_weight is not None:
        heavy = sample_weight > 0
        X, y, sample_weight = X[heavy], y[heavy], sample_weight[heavy]

    def refit(fresh: BoosterInput, held: BoolArray, stages: Sequence[int]) -> FloatArray:
        if fresh is booster:
            return votes_after(booster, booster.model_.expand(X, categories), stages)
        fresh.fit(X[~held], y[~held], None if sample_weight is None else sample_weight[~held])
        return votes_after(fresh, fresh.model_.encode(X[held]), stages)

    labels = np.searchsorted(booster.classes_, y)
    return cross_fit(booster, RowKeys(hash_rows(X), labels, sample_weight), refit, stages)


def _fresh(booster: BoosterInput, n_examples: int) -> BoosterInput:
    """Return an unfitted booster that plays as many rounds on fewer examples."""
    settings = {
        **booster.record_.settings,
        "n_estimators": booster.n_iter_,
        "calibrate": False,
        "early_stopping": False,
        "ensemble": False,
        "verbose": 0,
        "warm_start": False,
    }
    # the examples have no names here
    names = getattr(booster, "feature_names_in_", None)
    if booster.monotonic_cst is not None:
        found = directions(booster.monotonic_cst, booster.n_features_in_, names)
        settings["monotonic_cst"] = found.tolist()
    if booster.encoder_ is not None:
        settings["categorical_features"] = [each is not None for each in booster.encoder_.features]
    fresh: BoosterInput = clone(booster).set_params(**settings)
    if booster.record_.choice is not None and booster.max_depth is None:
        fresh.max_leaves = booster.record_.choice.max_leaves
    if isinstance(fresh.max_leaves, int):
        fresh.max_leaves = min(fresh.max_leaves, n_examples)
    fresh.min_samples_leaf = max(1, min(fresh.min_samples_leaf, n_examples // 2))
    return fresh
