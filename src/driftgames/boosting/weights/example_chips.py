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

SUM_BITS = 61
"""The number of bits in the sum of the weights of all examples."""


class ExampleChips(ABC):
    """The examples during a fit: their positions, their weights and the next hypothesis."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would change nothing."""

    @abstractmethod
    def choose(self) -> tuple[float, Any]:
        """Return the edge of the next hypothesis, and the hypothesis. [LS14, Alg. 6]"""

    @abstractmethod
    def move(self, hypothesis: Any, edge: float) -> float:
        """Move the chips by a hypothesis and return the weight of its vote."""

    @abstractmethod
    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Move by a hypothesis of an earlier fit; return its vote, and its edge found anew."""

    @property
    @abstractmethod
    def zero_fraction(self) -> float:
        """The share of examples that weigh zero in the next round."""

    @property
    @abstractmethod
    def training_error(self) -> float:
        """The share of examples that the vote so far gets wrong; a tie is a vote for -1."""

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""


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
