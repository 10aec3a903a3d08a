"""In what units losses come: a range, and whether the numbers are losses or rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from driftgames.core.checks import check_flag, check_interval
from driftgames.core.typing import FloatArray

Numbers = TypeVar("Numbers", float, FloatArray)


@dataclass(frozen=True)
class Units:
    """A number x of the user's is the loss ``(x - best) / span`` of the game on [0, 1].

    >>> Units(0.0, 5.0, rewards=True).to_game(4.0)
    0.2
    """

    low: float = 0.0
    high: float = 1.0
    rewards: bool = False

    @classmethod
    def of(cls, loss_range: tuple[float, float], rewards: bool) -> Units:
        """Return the units of this range, or say what is wrong with it."""
        return cls(
            *check_interval("loss_range", loss_range), rewards=check_flag("rewards", rewards)
        )

    @property
    def best(self) -> float:
        """The number that stands for no loss at all."""
        return self.high if self.rewards else self.low

    @property
    def span(self) -> float:
        """From the best number to the worst; negative where they are rewards."""
        return self.low - self.high if self.rewards else self.high - self.low

    @property
    def width(self) -> float:
        """How wide the range is: one loss of the game on [0, 1]."""
        return self.high - self.low

    @property
    def least(self) -> float:
        """The smallest loss; a loss is minus a reward."""
        return -self.high if self.rewards else self.low

    @property
    def plain(self) -> bool:
        """Whether the numbers are losses in [0, 1] already."""
        return not self.rewards and (self.low, self.high) == (0.0, 1.0)

    @property
    def word(self) -> str:
        """What one number is called."""
        return "reward" if self.rewards else "loss"

    @property
    def plural(self) -> str:
        """What many numbers are called."""
        return "rewards" if self.rewards else "losses"

    def to_game(self, numbers: Numbers) -> Numbers:
        """Return losses in [0, 1]."""
        return numbers if self.plain else (numbers - self.best) / self.span
