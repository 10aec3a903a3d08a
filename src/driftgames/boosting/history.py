"""The history of a fit: one record for each round."""

from __future__ import annotations

from typing import Any, NamedTuple

from driftgames.core.typing import FloatArray

History = dict[str, FloatArray]

COLUMNS = ("edge", "zero_fraction", "training_error")
"""The columns of a history."""


class Round(NamedTuple):
    """One round: the hypothesis, its edge and vote, and the state of the examples after it."""

    hypothesis: Any
    edge: float
    vote_weight: float
    zero_fraction: float
    training_error: float
