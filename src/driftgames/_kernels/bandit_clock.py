"""The clock of a bandit policy: how many arms were pulled, and how late their losses came.

Every policy keeps its scalars in one array that begins with the numbers below. A pull waits
until its loss comes; one that was given up waits for ever. The delay of a game is

    D = sum over the pulls t of the number of earlier pulls that wait when pull t is made,

which equals the sum of all delays, each counted in pulls until the end of the game. Its drift
is the same sum with each pull's number multiplied by the learning rate of that pull.
"""

from __future__ import annotations

from driftgames._kernels.jit import scalar
from driftgames.core.typing import FloatArray

ROUND = 0  # how many arms were pulled
LEARNER_LOSS = 1  # the sum of the losses that came
ANSWERED = 2  # how many losses came
DELAY = 3  # D
DRIFT = 4  # the sum over the pulls of the learning rate times the number of pulls that waited
CLOCK_SIZE = 5


@scalar
def waiting(numbers: FloatArray) -> float:
    """Return how many pulls wait for their loss."""
    return float(numbers[ROUND] - numbers[ANSWERED])


@scalar
def count_pull(numbers: FloatArray, rate: float) -> None:
    """Count one more pull with this learning rate, and the pulls that wait while it is made."""
    numbers[DELAY] += waiting(numbers)
    numbers[DRIFT] += rate * waiting(numbers)
    numbers[ROUND] += 1.0


@scalar
def count_loss(numbers: FloatArray, loss: float) -> None:
    """Count one more loss."""
    numbers[ANSWERED] += 1.0
    numbers[LEARNER_LOSS] += loss
