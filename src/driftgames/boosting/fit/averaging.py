"""The mean of the boosters of several folds as one model.

All votes weigh the same, so the mean of boosters of equally many rounds is one booster: that of all
their hypotheses. Rounds of the folds take turns, so that the first hypotheses are a mean too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from driftgames.boosting.data.categories import CategoryEncoder
from driftgames.boosting.fit.calibration import FoldKeys
from driftgames.boosting.fit.race import Race
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import COLUMNS, Fitted, TrainingRecord
from driftgames.boosting.model.votes import winners
from driftgames.boosting.weights.example_chips import Round
from driftgames.certificates.margins import Margins
from driftgames.core.typing import FloatArray, IntArray


def average(
    race: Race,
    encoders: Sequence[CategoryEncoder | None],
    outline: FittedModel,
    dealt: FoldKeys,
    masses: IntArray,
    settings: Mapping[str, Any],
) -> Fitted:
    """Return the mean of the boosters of the folds that won a race.

    ``encoders`` are those of the folds, and ``masses`` the sample weights of the examples.
    """
    n_rounds, folds = race.choice.n_estimators, race.winner.folds
    played = [fold.rounds(n_rounds) for fold in folds]
    union = CategoryEncoder.union([each for each in encoders if each is not None])
    parts = []
    for number, (fold, rounds) in enumerate(zip(folds, played, strict=True)):
        hypotheses = fold.training_set.to_values([each.hypothesis for each in rounds])
        if union is not None:
            hypotheses = _renumber(hypotheses, union.columns_of(encoders, number))
        parts.append(hypotheses)
    turns = _turns([len(each) for each in played])
    everything = [each for rounds in played for each in rounds]
    rounds = [everything[k] for k in turns]
    model = replace(
        outline,
        hypotheses=_join([part for part in parts if len(part)]).take(turns),
        vote_weights=_column(rounds, "vote_weight"),
        encoder=union,
        calibration=race.calibration,
    )
    votes, labels, trained = race.mean_votes(), dealt.labels, np.ones(masses.size, dtype=bool)
    if len(folds) == 1:  # the promise of one booster is about the examples that it has seen
        trained = dealt.part != dealt.folds[0]
    wrong = winners(votes[trained]) != labels[trained]
    record = TrainingRecord(
        dict(zip(COLUMNS, [_column(rounds, name) for name in COLUMNS], strict=True)),
        _margins(votes[trained], labels[trained], masses[trained]),
        settings,
        choice=race.choice,
        member_rounds=tuple(map(len, played)),
        mean_error=int(masses[trained][wrong].sum()) / int(masses[trained].sum()),
    )
    return Fitted(model, record)


def _turns(sizes: Sequence[int]) -> IntArray:
    """Return an order of entries that stand part behind part: the parts take turns.

    >>> _turns([3, 1, 2]).tolist()
    [0, 3, 4, 1, 5, 2]
    """
    part = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.concatenate([np.arange(size) for size in sizes])
    return np.lexsort((part, turn))


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


def _column(rounds: Sequence[Round], name: str) -> FloatArray:
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)


def _margins(votes: FloatArray, labels: IntArray, masses: IntArray) -> Margins:
    """Return the margins of examples; of several classes, those of all pairs with a label."""
    if votes.ndim == 1:
        return Margins.on_grid(np.where(labels == 1, votes, -votes), masses)
    own = labels[:, None] == np.arange(votes.shape[1])
    copies = np.where(own, votes.shape[1] - 1, 1) * masses[:, None]
    return Margins.on_grid(np.where(own, votes, -votes).ravel(), copies.ravel())
