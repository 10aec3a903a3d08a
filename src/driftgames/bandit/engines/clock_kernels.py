"""The clock of a bandit policy: the number of pulls, and how late their losses came.

Every policy keeps its scalars in one array, which begins with the numbers below. A pull waits
until its loss comes. A discarded pull waits until the end. The delay of a game is

    D = sum over the pulls t of the number of earlier pulls that wait when pull t is made.

It equals the sum of all delays, each counted in pulls until the end of the game. The drift is
the same sum with each term multiplied by the learning rate of its pull.
"""

from __future__ import annotations

from driftgames._kernels.jit import scalar
from driftgames.core.typing import FloatArray

ROUND = 0  # the number of pulls
LEARNER_LOSS = 1  # the sum of the losses that came
ANSWERED = 2  # the number of losses that came
DELAY = 3  # D
DRIFT = 4  # the sum over the pulls of the learning rate times the number of waiting pulls
CLOCK_SIZE = 5


@scalar
def waiting(numbers: FloatArray) -> float:
    """Return the number of pulls that wait for their loss."""
    return float(numbers[ROUND] - numbers[ANSWERED])


@scalar
def count_pull(numbers: FloatArray, rate: float) -> None:
    """Count a pull with this learning rate, and the pulls that wait while it is made."""
    numbers[DELAY] += waiting(numbers)
    numbers[DRIFT] += rate * waiting(numbers)
    numbers[ROUND] += 1.0


@scalar
def count_loss(numbers: FloatArray, loss: float) -> None:
    """Count a loss."""
    numbers[ANSWERED] += 1.0
    numbers[LEARNER_LOSS] += loss
