"""The rounds of a fit: those of an earlier fit are replayed, and new ones follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftgames.boosting.chips import Chips
from driftgames.core.typing import FloatArray

History = dict[str, FloatArray]

COLUMNS = ("edge", "zero_fraction", "training_error")
"""What a history holds of each round."""

_ROUNDING = 1e-9  # of an edge that is added up in another order


class Rounds:
    """What the rounds so far leave behind.

    Parameters
    ----------
    chips : Chips
        The examples, before the first round.
    advance : callable
        Is told of every round, for a progress bar.
    """

    def __init__(self, chips: Chips, advance: Callable[[int], None]) -> None:
        self.chips = chips
        self.hypotheses: list[Any] = []
        self.ended_early = False
        self._advance = advance
        self._vote_weights: list[float] = []
        self._records: list[tuple[float, float, float]] = []

    def replay(self, hypotheses: Sequence[Any], history: History) -> None:
        """Play the rounds of an earlier fit again, and say so where they come out otherwise.

        The chips end where they stood, so that the next round is what it would have been. On
        other examples edges or errors are others, and the certificate would be of nobody.
        """
        for t, hypothesis in enumerate(hypotheses):
            edge = float(history["edge"][t])
            vote, found = self.chips.accept_again(hypothesis, edge)
            self._keep(hypothesis, vote, edge)
            for name, now in zip(COLUMNS, (found, *self._records[t][1:]), strict=True):
                was = float(history[name][t])
                if abs(now - was) > (_ROUNDING if name == "edge" else 0.0):
                    raise ValueError(
                        "warm_start goes on with the examples of the earlier fit: after round "
                        f"{t + 1} the {name} was {was:g} there and is {now:g} here"
                    )

    def play(self, n_rounds: int) -> None:
        """Play until there are so many rounds, another is of no use, or none has an edge."""
        while self.chips.n_rounds < n_rounds and not self.chips.finished:
            edge, hypothesis = self.chips.propose()
            if edge <= 0:
                self.ended_early = True
                return
            self._keep(hypothesis, self.chips.accept(hypothesis, edge), edge)

    @property
    def vote_weights(self) -> FloatArray:
        """The weight of each vote."""
        return np.array(self._vote_weights)

    @property
    def history(self) -> History:
        """The edge of each round, and the shares of weightless and misclassified after it."""
        columns = np.array(self._records).reshape(-1, len(COLUMNS)).T
        return {n: np.ascontiguousarray(c) for n, c in zip(COLUMNS, columns, strict=True)}

    def _keep(self, hypothesis: Any, vote: float, edge: float) -> None:
        self.hypotheses.append(hypothesis)
        self._vote_weights.append(vote)
        self._records.append((edge, self.chips.zero_share, self.chips.training_error))
        self._advance(1)
