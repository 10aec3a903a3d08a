"""The units of losses: a range, and whether the numbers are losses or gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from driftgames.core.checks import check_flag, check_interval
from driftgames.core.typing import FloatArray

Numbers = TypeVar("Numbers", float, FloatArray)


@dataclass(frozen=True)
class Units:
    """A number x of the user's is the loss ``(x - best) / span`` of the game on [0, 1].

    >>> Units(0.0, 5.0, gains=True).to_game(4.0)
    0.2
    """

    low: float = 0.0
    high: float = 1.0
    gains: bool = False

    @classmethod
    def of(cls, loss_range: tuple[float, float], gains: bool = False) -> Units:
        """Return the units of this range, or say what is wrong with it."""
        return cls(*check_interval("loss_range", loss_range), gains=check_flag("gains", gains))

    @property
    def best(self) -> float:
        """The number that stands for no loss at all."""
        return self.high if self.gains else self.low

    @property
    def span(self) -> float:
        """From the best number to the worst; negative for gains."""
        return self.low - self.high if self.gains else self.high - self.low

    @property
    def width(self) -> float:
        """The width of the range: one loss of the game on [0, 1]."""
        return self.high - self.low

    @property
    def least(self) -> float:
        """The smallest loss; a loss is minus a gain."""
        return -self.high if self.gains else self.low

    @property
    def plain(self) -> bool:
        """Whether the numbers are losses in [0, 1] already."""
        return not self.gains and (self.low, self.high) == (0.0, 1.0)

    @property
    def word(self) -> str:
        """The name of one number."""
        return "gain" if self.gains else "loss"

    @property
    def plural(self) -> str:
        """The name of many numbers."""
        return "gains" if self.gains else "losses"

    def to_game(self, numbers: Numbers) -> Numbers:
        """Return losses in [0, 1]."""
        return numbers if self.plain else (numbers - self.best) / self.span

    def from_game(self, losses: Numbers) -> Numbers:
        """Return losses of the game on [0, 1] in units of loss."""
        return losses if self.plain else losses * self.width + self.least
