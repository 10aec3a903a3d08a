"""The mean of several boosters as one model.

The mean of boosters is one booster: that of all their hypotheses, with a weight for each vote. The
boosters take turns, round by round, so that the first hypotheses are a mean too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from driftgames.boosting.fit.calibration import FoldKeys
from driftgames.boosting.fit.means import Mean
from driftgames.boosting.growth.binned_trees import to_trees
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
from driftgames.boosting.model.votes import winners
from driftgames.boosting.weights.example_chips import Round
from driftgames.certificates.margins import Margins
from driftgames.core.typing import FloatArray, IntArray


def average(
    mean: Mean,
    outline: FittedModel,
    dealt: FoldKeys,
    masses: IntArray,
    settings: Mapping[str, Any],
    choice: Choice,
) -> Fitted:
    """Return a mean of boosters as a model; ``masses`` are the sample weights of the examples."""
    folds = [fold for entrant in mean.entrants for fold in entrant.folds]
    played = [rounds for entrant in mean.entrants for rounds in entrant.played()]
    encoders = [each for entrant in mean.entrants for each in entrant.encoders]
    own = [each for each in encoders if each is not None]
    union = CategoryEncoder.union(own)
    parts: list[Any] = []
    several = len({entrant.max_leaves for entrant in mean.entrants}) > 1
    for number, (fold, rounds) in enumerate(zip(folds, played, strict=True)):
        chosen = [each.hypothesis for each in rounds]
        part: Any = fold.training_set.to_values(chosen)
        if isinstance(part, Stumps) and several:  # beside trees
            part = to_trees(chosen, fold.training_set.data.cuts)
        if union is not None:
            part = _renumber(part, union.columns_of(own, number))
        parts.append(part)
    turns = take_turns([len(each) for each in played])
    n_folds = len(mean.entrants[0].folds)
    weights = [_weigh(*each) for each in zip(np.repeat(mean.weights, n_folds), played, strict=True)]
    rounds = [each for part in played for each in part]

    def column(name: str) -> FloatArray:
        return np.array([getattr(each, name) for each in rounds], dtype=np.float64)[turns]

    model = replace(
        outline,
        hypotheses=_join([part for part in parts if len(part)]).take(turns),
        vote_weights=np.concatenate(weights)[turns],
        encoder=union,
        calibration=mean.calibration,
    )
    seen = np.ones(masses.size, dtype=bool)
    if len(folds) == 1:  # the promise of one booster is about the examples that it has seen
        seen = dealt.part != dealt.folds[0]
    votes, labels = mean.votes[seen], dealt.labels[seen]
    wrong = winners(votes) != labels
    counts = zip(played, folds, range(len(folds)), strict=True)
    record = TrainingRecord(
        {name: column(name) for name in COLUMNS},
        _margins(votes, labels, masses[seen]),
        settings,
        choice=choice,
        members=tuple(Member(len(each), fold.mass, k % n_folds) for each, fold, k in counts),
        mean_error=int(masses[seen][wrong].sum()) / int(masses[seen].sum()),
    )
    return Fitted(model, record)


def _weigh(weight: float, rounds: Sequence[Round]) -> FloatArray:
    """Return the weights of a booster's votes: ``weight`` on average, however it weighs them."""
    own = np.array([each.vote_weight for each in rounds], dtype=np.float64)
    return own * (weight * own.size / math.fsum(own.tolist())) if rounds else own


def _join(parts: Sequence[Any]) -> Any:
    """Return the stumps, or the trees, of all parts as one."""
    kind = type(parts[0])
    return kind(
        **{
            each.name: np.concatenate([getattr(part, each.name) for part in parts])
            for each in fields(kind)
        }
    )


def _renumber(hypotheses: Any, columns: IntArray) -> Any:
    """Return hypotheses that ask about other columns; a leaf asks about none."""
    feature = hypotheses.feature
    return replace(hypotheses, feature=np.where(feature >= 0, columns[feature], feature))


def _margins(votes: FloatArray, labels: IntArray, masses: IntArray) -> Margins:
    """Return the margins of examples; of several classes, those of all pairs with a label."""
    if votes.ndim == 1:
        return Margins.on_grid(np.where(labels == 1, votes, -votes), masses)
    own = labels[:, None] == np.arange(votes.shape[1])
    copies = np.where(own, votes.shape[1] - 1, 1) * masses[:, None]
    return Margins.on_grid(np.where(own, votes, -votes).ravel(), copies.ravel())
