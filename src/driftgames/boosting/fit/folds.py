"""Folds: fits that hold rows out. Votes on these rows calibrate a booster and choose its size.

Votes on the training examples are too good to calibrate with. Below `SMALL` examples each of ten
parts is held out in turn, below `LARGE` each of five, and from there on one part of five.

The rows of a fold that are held out keep their place among the binned rows with a sample weight of
zero. They go through every tree, and their mistakes are counted: that is their vote. So a fold
needs no predictions of its own, and its votes can be read between two rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.row_sample import deal_ranks, mix_hashes
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.engine.game import GameRule, LocalGame, Round, TreeLearner
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import HeldOut, vote_by_mass
from driftgames.boosting.model.trees import Trees
from driftgames.core.caching import cached_property
from driftgames.core.typing import BoolArray, FloatArray, IntArray

SMALL = 10_000
"""Below this number of examples there are ten parts."""

LARGE = 50_000
"""From this number of examples on, only one of five parts is held out."""


@dataclass(frozen=True, eq=False)
class RowKeys:
    """The examples of positive weight by what folds are made of.

    ``hashes`` are of their contents, categories as codes; ``labels`` number the classes, and
    ``sample_weight`` is None if all count the same. ``class_weighted`` tells whether classes are
    weighted beside it. It unpacks to the three arrays.
    """

    hashes: Array
    labels: Array
    sample_weight: FloatArray | None
    class_weighted: bool = False

    def __iter__(self) -> Iterator[Any]:
        return iter((self.hashes, self.labels, self.sample_weight))

    def take(self, rows: Array) -> RowKeys:
        """Return the keys of some rows: their numbers, or a mask."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return RowKeys(self.hashes[rows], self.labels[rows], weights, self.class_weighted)

    def dealt_again(self, number: int) -> RowKeys:
        """Return the keys of another deal: the rows in another order of hashes."""
        return replace(self, hashes=mix_hashes(self.hashes, number))


class FoldKeys(NamedTuple):
    """How examples are dealt to folds, and what their votes are compared with.

    ``part`` is the fold that holds an example out. ``scale`` times the integer ``masses`` are the
    numbers of examples that the prior of a calibration sees.
    """

    part: IntArray
    labels: IntArray
    masses: IntArray
    scale: float
    folds: tuple[int, ...]
    """The folds that are played; none if a class has one example only."""
    class_weighted: bool = False
    """Whether class weights move the votes; the masses are without them."""

    def calibrate(self, votes: FloatArray, at: Array) -> Calibration:
        """Return the best sigmoid of votes on the examples ``at``."""
        labels, masses = self.labels[at], self.masses[at]
        return Calibration.fit(
            votes, labels, masses, self.scale, class_weighted=self.class_weighted
        )

    def judge(self, votes_of_folds: Sequence[FloatArray]) -> tuple[Calibration, HeldOut]:
        """Return the sigmoid and the errors of votes.

        The votes of a fold are on the examples that it holds out, in their order.
        """
        parts = [np.flatnonzero(self.part == fold) for fold in self.folds]
        fitted = self.calibrate(np.concatenate(votes_of_folds), np.concatenate(parts))
        return fitted, HeldOut.of(votes_of_folds, [self.labels[each] for each in parts], fitted)


def deal_folds(keys: RowKeys, n_parts: int | None = None) -> FoldKeys:
    """Deal examples to folds by their contents.

    Default: ten parts below `SMALL` examples, else five. From `LARGE` on only one is held out.
    """
    labels, given = keys.labels, keys.sample_weight
    weights = SampleWeights(np.ones(labels.size, np.int64), True)
    if given is not None:
        weights = SampleWeights.of(given)
    scale = 1.0 if weights.integer_weights else labels.size / int(weights.of_each.sum())
    ranks = deal_ranks(keys.hashes, labels, None if given is None else weights.of_each)
    if n_parts is None:
        n_parts = 10 if labels.size < SMALL else 5
    part = ranks % n_parts
    folds: tuple[int, ...] = ()
    if np.unique(labels, return_counts=True)[1].min() >= 2:  # else none could be held out
        played = range(n_parts if labels.size < LARGE else 1)
        folds = tuple(k for k in played if (part == k).any())
    return FoldKeys(part, labels, weights.of_each, scale, folds, keys.class_weighted)


class Fold:
    """A fit without the rows that it holds out: ``held_out`` tells which examples these are.

    There are at most ``most_rounds`` rounds.

    A race has many folds, and few of them play at a time: the game begins with the first round, and
    rests between two calls of `votes`.
    """

    def __init__(
        self, learner: TreeLearner, held_out: BoolArray, rule: GameRule, most_rounds: int
    ) -> None:
        data, shape = learner.data, learner.shape
        self._order = np.arange(data.n_rows) if data.order is None else data.order
        weights = np.where(held_out[self._order], 0, learner.sample_weights)
        least = max(1, min(shape.min_samples_leaf, int(np.count_nonzero(weights)) // 2))
        shape = replace(shape, min_samples_leaf=least)
        self.learner = replace(learner, shape=shape, sample_weights=weights)
        self._rule, self._most_rounds = rule, most_rounds
        self._default = vote_by_mass(self.learner.masses)
        self._ended = False

    @cached_property
    def _game(self) -> LocalGame:
        return self._rule.begin(self.learner, self._most_rounds)

    def votes(self, n_rounds: int) -> FloatArray:
        """Play until there are ``n_rounds`` rounds; return the votes on all examples."""
        if not self._ended:
            self._ended = not self._game.play_until(n_rounds)
            self._game.rest()
        n_votes = self._default.size
        votes = np.empty((self._order.size, n_votes) if n_votes > 1 else self._order.size)
        played = self._game.n_rounds > 0
        votes[self._order] = self._game.votes() if played else self._default.reshape(-1)
        return votes

    def rounds(self, n_rounds: int) -> list[Round]:
        """Return the first rounds."""
        return self._game.rounds(0, self.count(n_rounds))

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return self._game.to_values(rounds)

    def count(self, n_rounds: int) -> int:
        """Return how many of the first rounds were played: fewer if no tree had an edge."""
        return min(n_rounds, self._game.n_rounds)


def play_folds(
    make: Callable[[BoolArray], Fold],
    dealt: FoldKeys,
    n_rounds: int,
    pool: ThreadPoolExecutor | None,
) -> list[Callable[[], FloatArray]]:
    """Begin to play all folds; return what waits for the votes of each.

    The votes of a fold are on the examples that it holds out, in their order.
    """

    def play(number: int) -> FloatArray:
        held_out = dealt.part == number
        return np.asarray(make(held_out).votes(n_rounds)[held_out])

    if pool is None:
        return [lambda number=number: play(number) for number in dealt.folds]  # type: ignore[misc]
    return [pool.submit(play, number).result for number in dealt.folds]


def exact_mean(values: FloatArray, masses: IntArray) -> float:
    """Return the mean of values by their masses, rounded once: their order does not matter."""
    return math.fsum((masses * values).tolist()) / int(masses.sum())


def difference(one: FloatArray, other: FloatArray, masses: IntArray) -> tuple[float, float]:
    """Return the mean of ``one - other`` and its standard error."""
    more = one - other
    away = exact_mean(more, masses)
    return away, math.sqrt(exact_mean((more - away) ** 2, masses) / more.size)
