r"""A race of sizes: examples held out choose the leaves of the trees and the number of rounds.

Every size plays on the same folds. After 25, 50, 100 rounds and so on the votes on the examples
held out become probabilities by the best sigmoid, and the log-loss of each example is kept. The
trial of the least mean log-loss is chosen; of equal ones that of fewer leaves, then rounds.

Not all trials are played. Let :math:`\ell(s)` be the mean log-loss of a size after stage ``s``, and
:math:`b` its best stage so far.

- A size has *ended* when it is worse than at its best by more than a standard error of the
  difference, or when two stages in a row were no better. One flat stage says nothing: held-out
  log-loss is no smooth curve over rounds. Below `MANY` examples one stage that is no better ends a
  size: there more trials would only fit the noise of the examples held out.
- A size is *dropped* from its second stage on if it is behind the best trial so far by more than
  two standard errors of the difference, and by more than the next stages would bring if each gained
  as much as the last one: :math:`r\,(\ell(s-1) - \ell(s))` for ``r`` stages, three at the most.

Sums are rounded once, and folds are made of the contents of rows. So the choice does not depend on
the order of the examples, on threads or on batches.

Many examples can be *scouted*: the first fold races alone. Then its best sizes play on all folds,
each up to its best stage, and the least mean log-loss on all of them chooses the size.

`mean.Mean` tells which boosters the model is made of.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from driftgames.boosting.data.pairs import ColumnPairs
from driftgames.boosting.engine.game import Round
from driftgames.boosting.fit.folds import FoldFit, Folds
from driftgames.boosting.fit.job import GoesOn
from driftgames.boosting.fit.source import LocalRows
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import CHOSEN, DROPPED, PLAYED, Choice, PairTrial, Trial
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import HeldOut
from driftgames.core.typing import FloatArray

STAGES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
"""The numbers of rounds to choose from, as far as the examples allow: see `stages_for`."""

PATIENCE = 2
"""Of many examples, this many stages in a row that are no better than the best end a size."""

MANY = 10_000
"""From this number of examples on, one flat stage says nothing, and more rounds are tried."""

MOST_SIZES = 3
"""The largest number of sizes in a mean, and of those that go on after a fold or a sample."""

_LEAST_EXAMPLES = 10  # for each leaf
_MORE_EXAMPLES = 100  # for each leaf of larger trees
_MANY_CLASSES = 10  # beyond them a trial is slow
_BEHIND = 2.0  # standard errors by which a size that is dropped is behind
_FORESEEN = 3  # stages whose gains are foreseen
_USUAL_BINS = 10_000  # of all features; more of them make a round slower
_BUDGETS = ((MANY, 1600, 51_200), (0, 400, math.inf))
"""From a number of examples on, the most rounds, and the most rounds times leaves."""
_THRESHOLD_BUDGETS = ((50_000, 800, 102_400), (MANY, 800, 51_200), _BUDGETS[-1])
"""The same where the outcome is a number."""


def sizes_for(n_classes: int, n_examples: int) -> list[int]:
    """Return the numbers of leaves to choose from: at most one leaf for every ten examples.

    A tree of K classes needs K leaves to vote for each. The more classes there are, the more a
    trial costs, and the fewer trials there are. Many examples also try larger trees, with at least
    100 examples for each leaf.

    >>> sizes_for(2, 1000), sizes_for(3, 1000), sizes_for(7, 1000), sizes_for(12, 1000)
    ([2, 4, 8, 16, 32], [2, 5, 12, 24], [2, 9, 28], [2, 14])
    >>> sizes_for(2, 80), sizes_for(2, 15_000)
    ([2, 4, 8], [2, 4, 8, 16, 32, 64, 128])
    """
    if n_classes == 2:
        usual, large = [2, 4, 8, 16, 32], [64, 128, 256]
    elif n_classes <= 4:
        usual, large = [2, n_classes + 2, 4 * n_classes, 8 * n_classes], [16 * n_classes]
    elif n_classes <= _MANY_CLASSES:
        usual, large = [2, n_classes + 2, 4 * n_classes], [8 * n_classes]
    else:
        usual, large = [2, n_classes + 2], []
    sizes = [size for size in usual if size == 2 or _LEAST_EXAMPLES * size <= n_examples]
    if n_examples >= MANY:
        sizes += [size for size in large if _MORE_EXAMPLES * size <= n_examples]
    return sorted(set(sizes))


def stages_for(n_classes: int, n_examples: int, *, thresholds: bool = False) -> list[int]:
    """Return the numbers of rounds to choose from: the more examples, the more rounds.

    >>> stages_for(2, 1000)
    [25, 50, 100, 200, 400]
    >>> stages_for(2, 20_000)[-1], stages_for(11, 1000)[-1]
    (1600, 200)
    """
    most = _budget(n_examples, thresholds)[0]
    return [n for n in STAGES if n <= (most if n_classes <= _MANY_CLASSES else most // 2)]


def most_rounds(
    max_leaves: int, cost: int, n_examples: int, n_bins: int, *, thresholds: bool = False
) -> float:
    """Return the most rounds of a size: the larger the trees, and the more bins, the fewer.

    A round takes ``cost`` times as long as for two classes.

    >>> [most_rounds(leaves, 1, 100_000, 2_000) for leaves in (8, 32, 128)]
    [6400.0, 1600.0, 400.0]
    >>> most_rounds(32, 1, 100_000, 80_000)
    200.0
    """
    budget = _budget(n_examples, thresholds)[1] / max(1.0, n_bins / _USUAL_BINS)
    return budget / max(max_leaves, 1) / cost


def _budget(n_examples: int, thresholds: bool) -> tuple[int, float]:
    budgets = _THRESHOLD_BUDGETS if thresholds else _BUDGETS
    return next((most, budget) for least, most, budget in budgets if n_examples >= least)


class Entrant:
    """A size in the race: its fits without the rows of each fold, and what they reached.

    ``encoders`` are those of the fits. A size plays at most ``most_rounds`` rounds, and the first
    stage in any case.
    """

    def __init__(
        self,
        max_leaves: int,
        fits: Sequence[FoldFit],
        folds: Folds,
        encoders: Sequence[CategoryEncoder | None] = (),
        most_rounds: float = math.inf,
    ) -> None:
        self.max_leaves = max_leaves
        self.most_rounds = most_rounds
        self.fits = list(fits)
        self.encoders = list(encoders)
        self.folds = folds
        self.stages: list[int] = []
        self.means: list[float] = []
        self.losses: list[FloatArray] = []
        self.calibrations: list[Calibration] = []
        self.held_out_votes: list[FloatArray] = []
        """After each stage the votes on the examples held out, each by the fold that holds it."""
        self.mean_votes: FloatArray = np.empty(0)
        """After the best stage the votes of all fits on every example, weighed by their rounds."""
        self.dropped = False

    def fresh(self, n_folds: int | None = None) -> Entrant:
        """Return a copy without measurements, of the first folds; all by default."""
        fits, encoders = self.fits[:n_folds], self.encoders[:n_folds]
        folds = self.folds.first(n_folds)
        return Entrant(self.max_leaves, fits, folds, encoders, self.most_rounds)

    def measure(self, stage: int, votes: list[FloatArray]) -> None:
        """Measure the votes of all fits after a stage on the examples that each holds out."""
        folds, outcomes = self.folds, self.folds.held_out_outcomes
        numbered = zip(folds.numbers, votes, strict=True)
        held_out = folds.join([each[folds.fold_of == number] for number, each in numbered])
        calibration = outcomes.calibrate(held_out)
        losses = outcomes.losses(held_out, calibration)
        self.stages.append(stage)
        self.calibrations.append(calibration)
        self.losses.append(losses)
        self.held_out_votes.append(held_out)
        self.means.append(outcomes.mean(losses))
        if self.best == len(self.means) - 1:
            self.mean_votes = _weighted_mean(self._counts(), votes)

    def played(self) -> list[list[Round]]:
        """Return the rounds of each fit up to the best stage."""
        return [fit.rounds(self.stages[self.best]) for fit in self.fits]

    def _counts(self) -> list[int]:
        """Return how many rounds each fit has played up to the best stage."""
        return [fit.count(self.stages[self.best]) for fit in self.fits]

    @property
    def n_votes(self) -> int:
        """The number of rounds of all fits up to the best stage."""
        return sum(self._counts())

    @property
    def best(self) -> int:
        """The number of the stage of the least log-loss, one of the last."""
        return int(np.argmin(self.means))

    @property
    def ended(self) -> bool:
        """Whether the last stages, of few examples the last one, were no better than the best."""
        behind = len(self.means) - 1 - self.best
        if behind == 0 or len(self.means) < 2:
            return False
        if self.folds.fold_of.size < MANY or behind >= PATIENCE:
            return True
        away, error = self._lag(self)
        return away > error

    def is_behind(self, leader: Entrant, n_left: int) -> bool:
        """Return whether the size can be dropped; ``n_left`` stages are left."""
        if len(self.means) < 2 or self is leader:
            return False
        away, error = self._lag(leader)
        gain = self.means[-2] - self.means[-1]
        return away > _BEHIND * error and away > min(n_left, _FORESEEN) * gain

    def _lag(self, leader: Entrant) -> tuple[float, float]:
        """Return how far the last stage is behind the best of another, and its standard error."""
        return self.folds.held_out_outcomes.difference(self.losses[-1], leader.losses[leader.best])


class Audition(NamedTuple):
    """What became of pairs of columns."""

    pairs: ColumnPairs | None
    """Those that joined; None if they did not."""
    trial: PairTrial

    def widen(self, rows: LocalRows) -> LocalRows:
        """Return rows with the pairs that joined."""
        return rows if self.pairs is None else rows.with_pairs(self.pairs)


@dataclass(frozen=True)
class Race:
    """How a race ended."""

    ranked: tuple[Entrant, ...]
    """The sizes by their least log-loss; of equal ones, that of fewer leaves first."""
    choice: Choice
    audition: Audition | None = None
    """What became of pairs of columns; None if they had no part."""
    repeats: tuple[Callable[[], Race | None], ...] = ()
    """Calls that let the sizes race on other folds; see `choosing.N_REPEATS`."""
    on_sample: bool = False
    """Whether a sample raced whose votes say nothing of a fit to all examples."""

    def with_pairs(self, audition: Audition) -> Race:
        """Return the race with what became of pairs of columns."""
        choice = replace(self.choice, pairs=audition.trial)
        return replace(self, audition=audition, choice=choice)

    def asks(self, goes_on: GoesOn) -> bool:
        """Ask whether other folds play, by the votes of the winner on the examples held out."""
        winner = self.winner
        votes = winner.held_out_votes[winner.best]
        return goes_on(votes, winner.folds.held_out_rows, self.calibration)

    @property
    def winner(self) -> Entrant:
        """The size of the least log-loss."""
        return self.ranked[0]

    @property
    def calibration(self) -> Calibration:
        """The sigmoid of the votes of the winner."""
        return self.winner.calibrations[self.winner.best]

    @property
    def held_out(self) -> HeldOut | None:
        """What the votes of the winner got wrong."""
        winner = self.winner
        return winner.folds.count(winner.held_out_votes[winner.best], self.calibration)

    def is_of(self, model: FittedModel) -> bool:
        """Whether the winner's votes calibrate a model: it has as many rounds as they."""
        return not self.on_sample and model.n_rounds == self.choice.n_estimators


class NotWorthwhileError(Exception):
    """A fit ends after its first fold, because its caller wants no more of it."""


def run_race(
    entrants: Sequence[Entrant],
    stages: Sequence[int],
    pool: ThreadPoolExecutor | None = None,
    on_progress: Callable[[int], None] = lambda steps: None,
) -> Race:
    """Let sizes race over stages; ``on_progress`` hears how many rounds are played or left out."""
    begun = time.perf_counter()
    running, before = list(entrants), 0
    for k, stage in enumerate(stages):
        waiting = _begin([(each.fits, stage) for each in running], pool, _votes)
        for entrant in reversed(running):
            entrant.measure(stage, [votes() for votes in waiting.pop()])
        on_progress(sum(len(each.fits) for each in entrants) * (stage - before))
        before = stage
        leader = min(entrants, key=_by_loss)
        later = stages[k + 1 :]
        going_on = []
        for entrant in running:
            n_left = sum(each <= entrant.most_rounds for each in later)
            entrant.dropped = entrant.is_behind(leader, n_left) and not entrant.ended
            if n_left and not (entrant.dropped or entrant.ended):
                going_on.append(entrant)
        running = going_on
    return _decide(entrants, begun)


def run_scouted(
    entrants: Sequence[Entrant],
    scouted: Race,
    pool: ThreadPoolExecutor | None = None,
    on_progress: Callable[[int], None] = lambda steps: None,
    *,
    n_sizes: int = MOST_SIZES,
) -> Race:
    """Let the best sizes of the first fold play on all folds, up to their best stages.

    These are at most ``n_sizes``. ``scouted`` is the race of the first fold.
    """
    begun = time.perf_counter()
    scouts = sorted(scouted.ranked[:n_sizes], key=lambda each: each.max_leaves)
    sizes = {each.max_leaves: each for each in entrants}
    tried = [sizes[scout.max_leaves].fresh() for scout in scouts]
    reached = [scout.stages[scout.best] for scout in scouts]
    for entrant, stage in zip(tried, reached, strict=True):
        entrant.fits[0].keep(stage)
    others = [(each.fits[1:], stage) for each, stage in zip(tried, reached, strict=True)]
    waiting = _begin(others, pool, _last_votes)
    for entrant, scout, stage in reversed([*zip(tried, scouts, reached, strict=True)]):
        entrant.measure(stage, [scout.mean_votes, *(votes() for votes in waiting.pop())])
        on_progress((len(entrant.fits) - 1) * stage)
    race = _decide(tried, begun)
    return replace(race, choice=race.choice.after(scouted.choice))


Votes = Callable[[], FloatArray]
"""A call that waits for the votes of a fit on all examples."""


def _begin(
    wanted: Sequence[tuple[Sequence[FoldFit], int]],
    pool: ThreadPoolExecutor | None,
    play: Callable[[FoldFit, int], FloatArray],
) -> list[list[Votes]]:
    """Begin to play fits up to a number of rounds each; return a call for the votes of each.

    The last ones, of the largest trees, begin: no thread is left with one of them at the end.
    """

    def begin(fit: FoldFit, stage: int) -> Votes:
        return partial(play, fit, stage) if pool is None else pool.submit(play, fit, stage).result

    return [[begin(fit, stage) for fit in fits] for fits, stage in reversed(wanted)][::-1]


def _votes(fit: FoldFit, stage: int) -> FloatArray:
    return fit.votes(stage)


def _last_votes(fit: FoldFit, stage: int) -> FloatArray:
    votes = fit.votes(stage)
    fit.keep(stage)
    return votes


def _weighted_mean(weights: Sequence[int], votes: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of votes by their weights; those of one fit as they are."""
    if len(votes) == 1 or not any(weights):
        return votes[0]
    total = sum(weight * each for weight, each in zip(weights, votes, strict=True))
    return np.asarray(total / sum(weights))


def _by_loss(entrant: Entrant) -> tuple[float, int]:
    return min(entrant.means), entrant.max_leaves


def _decide(entrants: Sequence[Entrant], begun: float) -> Race:
    ranked = sorted(entrants, key=_by_loss)
    winner = ranked[0]
    choice = Choice(
        winner.max_leaves,
        winner.stages[winner.best],
        len(winner.fits),
        int(winner.losses[0].size),
        tuple(trial for entrant in entrants for trial in _trials(entrant, winner)),
        seconds=time.perf_counter() - begun,
    )
    return Race(tuple(ranked), choice)


def _trials(entrant: Entrant, winner: Entrant) -> list[Trial]:
    trials = []
    for k, stage in enumerate(entrant.stages):
        outcomes = entrant.folds.held_out_outcomes
        error = outcomes.difference(entrant.losses[k], winner.losses[winner.best])[1]
        outcome = PLAYED
        if entrant is winner and k == winner.best:
            outcome = CHOSEN
        elif entrant.dropped and k == len(entrant.stages) - 1:
            outcome = DROPPED
        trials.append(Trial(entrant.max_leaves, stage, entrant.means[k], error, outcome))
    return trials
