"""The examples during a fit as chips: what a round asks of them, and the record of a round.

Weights are integers in fixed point. The binary point is chosen in each round so that their sum is
just below 2**62. Sums of them are exact, and so is every comparison between hypotheses: neither the
order of the examples nor the number of threads changes a bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from driftgames.certificates.margins import Margins
from driftgames.core.typing import FloatArray


class ExampleChips(ABC):
    """The examples during a fit: their positions, their weights and the next hypotheses."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would change nothing."""

    def play(self, n_rounds: int) -> list[Round]:
        """Play rounds and return them; see `advance`."""
        begin = self.n_rounds
        self.advance(n_rounds)
        return self.rounds(begin, self.n_rounds)

    @abstractmethod
    def advance(self, n_rounds: int) -> None:
        """Play rounds; fewer if no hypothesis has an edge, or if the fit is finished.

        A round chooses a hypothesis and moves the chips by it. [LS14, Alg. 6]
        """

    @abstractmethod
    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""

    @abstractmethod
    def replay(self, hypothesis: Any, edge: float) -> tuple[Round, float]:
        """Play a round of an earlier fit again; return it, and its edge found anew."""

    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""
        raise TypeError("only examples in memory have votes of their own")

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""


class Round(NamedTuple):
    """One round: the hypothesis, its edge and vote, and the state of the examples after it."""

    hypothesis: Any
    edge: float
    vote_weight: float
    zero_fraction: float
    training_error: float
