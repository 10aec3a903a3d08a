"""The mean of the boosters of folds as one model.

The mean is made of the folds of the winner of a race. Where other sizes have played on all folds,
the folds of the size of the second least log-loss join them, and those of the third, if that lowers
the log-loss on the examples held out.
Few examples race on several choices of folds: then the means of all races are averaged.

The mean of boosters is one booster: that of all their hypotheses, with a weight for each vote. The
boosters take turns, round by round, so that the first hypotheses are a mean too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from driftgames.boosting.engine.binned_trees import to_trees
from driftgames.boosting.engine.game import Round
from driftgames.boosting.fit.folds import FoldFit
from driftgames.boosting.fit.race import MOST_SIZES, Entrant, Race
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import (
    COLUMNS,
    Fitted,
    Member,
    TrainingRecord,
    take_turns,
)
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray, IntArray

_UNITS = 2**20  # weights of votes are multiples of the inverse


@dataclass(frozen=True)
class Mean:
    """The mean of the boosters of several entrants: sizes, on one choice of folds or more.

    ``weights`` are those of one vote of each entrant. ``votes`` are on all examples: the mean of
    the boosters. The ``held_out_votes``, their ``calibration`` and their ``loss`` are of the mean
    of those boosters that hold an example out.
    """

    entrants: tuple[Entrant, ...]
    weights: tuple[float, ...]
    votes: FloatArray
    held_out_votes: FloatArray
    calibration: Any
    loss: float

    @classmethod
    def weigh(cls, entrants: Sequence[Entrant], weights: Sequence[float]) -> Mean:
        """Return the mean of entrants with these weights."""
        totals = [w * each.n_votes for w, each in zip(weights, entrants, strict=True)]
        held_out = _combine(totals, [each.held_out_votes[each.best] for each in entrants])
        votes = _combine(totals, [each.mean_votes for each in entrants])
        outcomes = entrants[0].folds.held_out_outcomes
        calibration = outcomes.calibrate(held_out)
        loss = outcomes.mean(outcomes.losses(held_out, calibration))
        return cls(tuple(entrants), tuple(weights), votes, held_out, calibration, loss)

    @classmethod
    def of(cls, parts: Sequence[Mean]) -> Mean | None:
        """Return the mean of means, each weighed by the slope of its sigmoid.

        So the logarithms of the odds are averaged. Weights are rounded to multiples of ``2**-20``:
        votes then add up exactly. None if one has no slope.
        """
        if len(parts) == 1:
            return parts[0]
        slopes = [each.calibration.slope for each in parts]
        if min(slopes) <= 0.0:
            return None
        factors = [slope / part.total_weight for slope, part in zip(slopes, parts, strict=True)]
        weighted = [
            (entrant, weight * factor)
            for part, factor in zip(parts, factors, strict=True)
            for entrant, weight in zip(part.entrants, part.weights, strict=True)
        ]
        largest = max(weight for _, weight in weighted)
        weights = [max(round(weight / largest * _UNITS), 1) / _UNITS for _, weight in weighted]
        return cls.weigh([entrant for entrant, _ in weighted], weights)

    @property
    def encoder(self) -> CategoryEncoder | None:
        """The encoder of one of the fits."""
        return self.entrants[0].encoders[0]

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all votes."""
        return sum(w * each.n_votes for w, each in zip(self.weights, self.entrants, strict=True))


def mean_of(race: Race) -> Mean | None:
    """Return the mean of boosters of the least log-loss, by a race and its repeats.

    None if no fit has a hypothesis.
    """
    mean = best_mean(race.ranked)
    if mean is None:
        return None
    others = (best_mean(each.ranked) for repeat in race.repeats if (each := repeat()) is not None)
    return Mean.of([mean, *(each for each in others if each is not None)]) or mean


def best_mean(ranked: Sequence[Entrant]) -> Mean | None:
    """Return the mean of the boosters of the winner, and of one size or two more if better.

    ``ranked`` are the sizes, the winner first. None if the winner has no hypothesis.
    """
    best: Mean | None = None
    parts: list[Mean] = []
    for entrant in ranked[:MOST_SIZES]:
        if entrant.n_votes == 0:
            break
        parts.append(Mean.weigh([entrant], [1.0]))
        mean = Mean.of(parts)
        if mean is not None and (best is None or mean.loss < best.loss):
            best = mean
    return best


def _combine(weights: Sequence[float], parts: Sequence[FloatArray]) -> FloatArray:
    """Return the weighted mean of votes."""
    if len(parts) == 1:
        return parts[0]
    total = sum(weight * part for weight, part in zip(weights, parts, strict=True))
    return np.asarray(total / sum(weights))


def average(
    mean: Mean,
    empty: FittedModel,
    masses: IntArray,
    settings: Mapping[str, Any],
    choice: Choice,
) -> Fitted:
    """Return a mean of boosters as a model; ``masses`` are the sample weights of the examples."""
    fits = [fit for entrant in mean.entrants for fit in entrant.fits]
    played = [rounds for entrant in mean.entrants for rounds in entrant.played()]
    union, parts = _hypotheses(mean, fits, played, empty.n_pairs)
    turns = take_turns([len(each) for each in played])
    n_folds = len(mean.entrants[0].fits)
    weights = [_weigh(*each) for each in zip(np.repeat(mean.weights, n_folds), played, strict=True)]
    rounds = [each for part in played for each in part]

    def column(name: str) -> FloatArray:
        return np.array([getattr(each, name) for each in rounds], dtype=np.float64)[turns]

    model = replace(
        empty,
        hypotheses=_join([part for part in parts if len(part)]).take(turns),
        vote_weights=np.concatenate(weights)[turns],
        encoder=union,
        calibration=mean.calibration,
    )
    outcomes = replace(mean.entrants[0].folds.outcomes, masses=masses)
    members = [
        Member(len(each), fit.mass, k % n_folds)
        for k, (each, fit) in enumerate(zip(played, fits, strict=True))
    ]
    record = TrainingRecord(
        {name: column(name) for name in COLUMNS},
        outcomes.margins(mean.votes),
        settings,
        choice=choice,
        members=tuple(members),
        mean_error=outcomes.error(mean.votes),
    )
    return Fitted(model, record, mean.held_out_votes)


def _hypotheses(
    mean: Mean, fits: Sequence[FoldFit], played: Sequence[Sequence[Round]], n_pairs: int
) -> tuple[CategoryEncoder | None, list[Stumps | Trees]]:
    """Return the hypotheses of each fit, and the encoder of the columns of all of them."""
    encoders = [each for entrant in mean.entrants for each in entrant.encoders]
    known = [each for each in encoders if each is not None]
    union = CategoryEncoder.union(known) if known else None
    several_sizes = len({entrant.max_leaves for entrant in mean.entrants}) > 1
    parts: list[Stumps | Trees] = []
    for number, (fit, rounds) in enumerate(zip(fits, played, strict=True)):
        part = fit.to_values(rounds)
        if isinstance(part, Stumps) and several_sizes:  # beside trees
            part = to_trees([each.tree for each in rounds], fit.learner.data.cuts)
        if union is not None:
            columns = union.columns_of(known, number)
            of_pairs = union.n_columns + np.arange(n_pairs)
            part = _renumber(part, np.append(columns, of_pairs))
        parts.append(part)
    return union, parts


def _weigh(weight: float, rounds: Sequence[Round]) -> FloatArray:
    """Return the weights of a booster's votes: ``weight`` on average, however it weighs them."""
    weights = np.array([each.vote_weight for each in rounds], dtype=np.float64)
    return weights * (weight * weights.size / math.fsum(weights.tolist())) if rounds else weights


def _join(parts: Sequence[Stumps | Trees]) -> Stumps | Trees:
    """Return the stumps, or the trees, of all parts as one."""
    kind = type(parts[0])
    return kind(
        **{
            each.name: np.concatenate([getattr(part, each.name) for part in parts])
            for each in fields(kind)
        }
    )


def _renumber(hypotheses: Stumps | Trees, columns: IntArray) -> Stumps | Trees:
    """Return hypotheses that ask about other columns; a leaf asks about none."""
    feature = hypotheses.feature
    return replace(hypotheses, feature=np.where(feature >= 0, columns[feature], feature))
