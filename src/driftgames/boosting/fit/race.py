r"""A race of sizes: examples held out choose the leaves of the trees and the number of rounds.

Every size plays on the same folds. After 25, 50, 100, 200 and 400 rounds the votes on the examples
held out become probabilities by the best sigmoid, and the log-loss of each example is kept. The
trial of the least mean log-loss is chosen; of equal ones that of fewer leaves, then rounds.

Not all trials are played. Let :math:`\ell(s)` be the mean log-loss of a size after stage ``s``.

- A size has *ended* when a stage is no better than the one before: :math:`\ell(s) \ge \ell(s-1)`.
- A size is *dropped* from its second stage on if it is behind the best trial so far by more than
  two standard errors of the difference, and by more than all stages that are left would bring if
  each gained as much as the last one: :math:`r\,(\ell(s-1) - \ell(s))` for ``r`` stages left.

Sums are rounded once, and folds are made of the contents of rows. So the choice does not depend on
the order of the examples, on threads or on batches.

A `Mean` of boosters is made of the folds of the winner. The folds of the size of the second least
log-loss join them, and those of the third, if that lowers the log-loss on the examples held out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from operator import methodcaller

import numpy as np

from driftgames.boosting.fit.calibration import FoldKeys, difference, exact_mean
from driftgames.boosting.fit.folds import Fold
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.choice import CHOSEN, DROPPED, PLAYED, Choice, Trial
from driftgames.boosting.model.training_record import HeldOut
from driftgames.boosting.weights.example_chips import Round
from driftgames.core.typing import FloatArray, IntArray

STAGES = (25, 50, 100, 200, 400)
"""The numbers of rounds to choose from."""

KEPT_VOTES = 2
"""Of how many stages the votes are kept: the best is the last one, or the one before it."""

_MANY_CLASSES = 10  # beyond them a trial is slow
_MOST_SIZES = 3  # in a mean
_UNITS = 2**20  # parts of a vote
_BEHIND = 2.0  # standard errors by which a size that is dropped is behind


def sizes_for(n_classes: int, n_examples: int) -> list[int]:
    """Return the numbers of leaves to choose from: at most one leaf for every two examples.

    A tree of K classes needs K leaves to vote for each. The more classes there are, the more a
    trial costs, and the fewer trials there are.

    >>> sizes_for(2, 1000), sizes_for(3, 1000), sizes_for(7, 1000), sizes_for(12, 1000)
    ([2, 4, 8, 16, 32], [2, 5, 12, 24], [2, 9, 28], [2, 14])
    >>> sizes_for(2, 9)
    [2, 4]
    """
    sizes = {2, 4, 8, 16, 32}
    if n_classes > 2:
        most = 8 if n_classes <= 4 else 4 if n_classes <= _MANY_CLASSES else 0
        sizes = {2, n_classes + 2, *(k * n_classes for k in (4, 8) if k <= most)}
    return sorted(size for size in sizes if size == 2 or 2 * size <= n_examples)


def stages_for(n_classes: int) -> list[int]:
    """Return the numbers of rounds to choose from: up to 400, or 200 for more than ten classes.

    >>> stages_for(2), stages_for(11)
    ([25, 50, 100, 200, 400], [25, 50, 100, 200])
    """
    return list(STAGES if n_classes <= _MANY_CLASSES else STAGES[:-1])


class Entrant:
    """A size in the race: its folds, and what they reached after each stage."""

    def __init__(self, max_leaves: int, folds: Sequence[Fold], dealt: FoldKeys) -> None:
        self.max_leaves = max_leaves
        self.folds = list(folds)
        self._dealt = dealt
        self._at = np.concatenate([np.flatnonzero(dealt.part == k) for k in dealt.folds])
        self.stages: list[int] = []
        self.means: list[float] = []
        self.losses: list[FloatArray] = []
        self.calibrations: list[Calibration] = []
        self.held_out: list[FloatArray] = []
        """After each stage the votes on the examples held out, fold by fold."""
        self._votes: list[list[FloatArray]] = []
        """The votes of every fold on all examples after each of the last stages."""
        self.dropped = False

    def measure(self, stage: int, votes: list[FloatArray]) -> None:
        """Measure the votes of all folds after a stage on the examples that each holds out."""
        dealt = self._dealt
        parts = zip(dealt.folds, votes, strict=True)
        held_out = np.concatenate([each[dealt.part == k] for k, each in parts])
        labels, masses = dealt.labels[self._at], dealt.masses[self._at]
        fitted = Calibration.fit(held_out, labels, masses, dealt.scale)
        losses = fitted.losses(held_out, labels)
        self.stages.append(stage)
        self.calibrations.append(fitted)
        self.losses.append(losses)
        self.held_out.append(held_out)
        self.means.append(exact_mean(losses, masses))
        self._votes = [*self._votes, votes][-KEPT_VOTES:]

    @property
    def masses(self) -> IntArray:
        """The masses of the examples held out."""
        return np.asarray(self._dealt.masses[self._at])

    @property
    def labels(self) -> IntArray:
        """The classes of the examples held out."""
        return np.asarray(self._dealt.labels[self._at])

    @property
    def scale(self) -> float:
        """How many examples a mass of 1 is."""
        return self._dealt.scale

    def played(self) -> list[list[Round]]:
        """Return the rounds of each fold up to the best stage."""
        return [fold.rounds(self.stages[self.best]) for fold in self.folds]

    def count_errors(self) -> HeldOut:
        """Return the errors of the best stage on the examples held out, fold by fold."""
        votes, sigmoid = self.held_out[self.best], self.calibrations[self.best]
        ends = np.cumsum([np.count_nonzero(self._dealt.part == k) for k in self._dealt.folds])
        return HeldOut.of(np.split(votes, ends[:-1]), np.split(self.labels, ends[:-1]), sigmoid)

    @property
    def n_votes(self) -> int:
        """The number of rounds of all folds up to the best stage."""
        return sum(map(len, self.played()))

    def mean_votes(self) -> FloatArray:
        """Return the votes of all folds on every example, weighed by their rounds."""
        votes = self._votes[self.best - len(self.means)]
        counts = list(map(len, self.played()))
        total = sum(n * each for n, each in zip(counts, votes, strict=True))
        return np.asarray(total / sum(counts))

    @property
    def best(self) -> int:
        """The number of the stage of the least log-loss: the last one, or the one before it."""
        return int(np.argmin(self.means))

    @property
    def ended(self) -> bool:
        """Whether the last stage was no better than the one before."""
        return len(self.means) > 1 and self.means[-1] >= self.means[-2]

    def is_behind(self, leader: Entrant, n_left: int) -> bool:
        """Return whether the size can be dropped; ``n_left`` stages are left."""
        if len(self.means) < 2 or self is leader:
            return False
        away, error = difference(self.losses[-1], leader.losses[leader.best], self.masses)
        return away > _BEHIND * error and away > n_left * (self.means[-2] - self.means[-1])


@dataclass(frozen=True)
class Mean:
    """The mean of the boosters of one size or several.

    ``weights`` are those of one vote of each size. ``votes`` are on all examples: the mean of the
    boosters, and of those that hold an example out.
    """

    entrants: tuple[Entrant, ...]
    weights: tuple[float, ...]
    votes: FloatArray
    calibration: Calibration
    log_loss: float

    @classmethod
    def of(cls, entrants: Sequence[Entrant]) -> Mean | None:
        """Return the mean of sizes, each weighed by the slope of its sigmoid.

        So the logarithms of the odds are averaged. Weights are rounded to multiples of ``2**-20``:
        votes then add up exactly. None if a size has no hypothesis, or one of two has no slope.
        """
        slopes = [each.calibrations[each.best].slope for each in entrants]
        if len(slopes) == 1:
            slopes = [1.0]
        n_votes = [each.n_votes for each in entrants]
        if min(slopes) <= 0.0 or min(n_votes) == 0:
            return None
        each_vote = [slope / n for slope, n in zip(slopes, n_votes, strict=True)]
        weights = [max(round(w / max(each_vote) * _UNITS), 1) / _UNITS for w in each_vote]
        shares = [w * n for w, n in zip(weights, n_votes, strict=True)]

        def combine(parts: list[FloatArray]) -> FloatArray:
            total = sum(share * part for share, part in zip(shares, parts, strict=True))
            return np.asarray(total / sum(shares))

        held_out = combine([each.held_out[each.best] for each in entrants])
        labels, masses = entrants[0].labels, entrants[0].masses
        fitted = Calibration.fit(held_out, labels, masses, entrants[0].scale)
        votes = combine([each.mean_votes() for each in entrants])
        loss = exact_mean(fitted.losses(held_out, labels), masses)
        return cls(tuple(entrants), tuple(weights), votes, fitted, loss)


@dataclass(frozen=True)
class Race:
    """How a race ended."""

    ranked: tuple[Entrant, ...]
    """The sizes by their least log-loss; of equal ones, that of fewer leaves first."""
    choice: Choice

    @property
    def winner(self) -> Entrant:
        """The size of the least log-loss."""
        return self.ranked[0]

    @property
    def runner_up(self) -> Entrant | None:
        """The size of the second least log-loss, if there is one."""
        return self.ranked[1] if len(self.ranked) > 1 else None

    @property
    def calibration(self) -> Calibration:
        """The sigmoid of the votes of the winner."""
        return self.winner.calibrations[self.winner.best]

    @property
    def held_out(self) -> HeldOut:
        """What the votes of the winner got wrong."""
        return self.winner.count_errors()

    def mean(self) -> Mean | None:
        """Return the mean of the boosters of the winner, and of one size or two more if better.

        None if no fold has a hypothesis.
        """
        best: Mean | None = None
        for n in range(1, min(_MOST_SIZES, len(self.ranked)) + 1):
            mean = Mean.of(self.ranked[:n])
            if mean is not None and (best is None or mean.log_loss < best.log_loss):
                best = mean
        return best


def run_race(
    entrants: Sequence[Entrant],
    stages: Sequence[int],
    pool: ThreadPoolExecutor | None = None,
    tell: Callable[[int], None] = lambda steps: None,
) -> Race:
    """Let sizes race over stages; ``tell`` hears how many trials are done or left out."""
    begun = time.perf_counter()

    running = list(entrants)
    for k, stage in enumerate(stages):
        # the largest trees first, so that no thread is left with one of them at the end
        folds = [fold for entrant in reversed(running) for fold in entrant.folds]
        play = methodcaller("votes", stage)
        votes = iter(map(play, folds) if pool is None else pool.map(play, folds))
        for entrant in reversed(running):
            entrant.measure(stage, list(islice(votes, len(entrant.folds))))
        tell(len(entrants))
        leader = min(entrants, key=lambda each: (min(each.means), each.max_leaves))
        n_left = len(stages) - k - 1
        for entrant in running:
            entrant.dropped = entrant.is_behind(leader, n_left) and not entrant.ended
        running = [each for each in running if not (each.dropped or each.ended)]
    ranked = sorted(entrants, key=lambda each: (min(each.means), each.max_leaves))
    winner = ranked[0]
    choice = Choice(
        winner.max_leaves,
        winner.stages[winner.best],
        len(winner.folds),
        int(winner.losses[0].size),
        tuple(trial for entrant in entrants for trial in _trials(entrant, winner)),
        time.perf_counter() - begun,
    )
    return Race(tuple(ranked), choice)


def _trials(entrant: Entrant, winner: Entrant) -> list[Trial]:
    trials = []
    for k, stage in enumerate(entrant.stages):
        error = difference(entrant.losses[k], winner.losses[winner.best], entrant.masses)[1]
        outcome = PLAYED
        if entrant is winner and k == winner.best:
            outcome = CHOSEN
        elif entrant.dropped and k == len(entrant.stages) - 1:
            outcome = DROPPED
        trials.append(Trial(entrant.max_leaves, stage, entrant.means[k], error, outcome))
    return trials
