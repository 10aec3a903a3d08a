"""Folds: fits that hold rows out. Votes on these rows calibrate a booster and choose its size.

Votes on the training examples are too good to calibrate with. Where a size is given, each of
ten parts is held out in turn below `SMALL` examples, below `LARGE` each of five, and from there on
one part of five. `choosing` tells how many folds a race has.

The rows of a fold that are held out keep their place among the binned rows with a sample weight of
zero. They go through every tree, and their mistakes are counted: that is their vote. So a fold
needs no predictions of its own, and its votes can be read between two rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.row_sample import mix_hashes, rank_rows
from driftgames.boosting.data.sample_weights import PAIR_BITS, WEIGHT_BITS, SampleWeights
from driftgames.boosting.engine.binned_trees import TreeLearner
from driftgames.boosting.engine.game import GameRule, LocalGame, Round
from driftgames.boosting.fit.outcomes import ClassOutcomes, Outcomes, ThresholdOutcomes
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import HeldOut
from driftgames.boosting.model.trees import Trees
from driftgames.core.caching import cached_property
from driftgames.core.typing import BoolArray, FloatArray, IntArray

SMALL = 10_000
"""Below this number of examples there are ten parts."""

LARGE = 50_000
"""From this number of examples on, one of five parts calibrates a given size."""


@dataclass(frozen=True, eq=False)
class RowKeys:
    """The examples of positive weight by what folds are made of.

    ``hashes`` are of their contents, categories as codes; ``labels`` number the classes, and
    ``sample_weight`` is None if all count the same. ``class_weighted`` tells whether classes are
    weighted beside it. With ``gaps``, the masses of pairs with thresholds, ``labels`` count the
    thresholds below an outcome.
    """

    hashes: Array
    labels: Array
    sample_weight: FloatArray | None
    class_weighted: bool = False
    gaps: IntArray | None = None

    def take(self, rows: Array) -> RowKeys:
        """Return the keys of some rows: their numbers, or a mask."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return replace(
            self, hashes=self.hashes[rows], labels=self.labels[rows], sample_weight=weights
        )

    def repeat(self, number: int) -> RowKeys:
        """Return keys that make other folds of the same rows: their hashes are in another order."""
        return replace(self, hashes=mix_hashes(self.hashes, number))


@dataclass(frozen=True, eq=False)
class Folds:
    """Which fold holds each example out, and what votes are judged by.

    ``numbers`` are the folds that are played: none if a class has one example only.
    """

    fold_of: IntArray
    numbers: tuple[int, ...]
    outcomes: Outcomes

    @cached_property
    def held_out_rows(self) -> IntArray:
        """The numbers of the examples that the folds hold out, ascending."""
        return np.flatnonzero(np.isin(self.fold_of, self.numbers))

    @cached_property
    def held_out_outcomes(self) -> Outcomes:
        """The outcomes of these examples: what the votes on them are judged by."""
        return self.outcomes.take(self.held_out_rows)

    def first(self, n_folds: int | None) -> Folds:
        """Return the first of the folds; all with None."""
        return replace(self, numbers=self.numbers[:n_folds])

    def join(self, votes: Sequence[FloatArray]) -> FloatArray:
        """Return the votes on `held_out_rows`, from those of each fold on its own of them."""
        joined = np.empty((self.fold_of.size, *votes[0].shape[1:]))
        for number, of_fold in zip(self.numbers, votes, strict=True):
            joined[self.fold_of == number] = of_fold
        return joined[self.held_out_rows]

    def count(self, votes: FloatArray, calibration: Any) -> HeldOut | None:
        """Return what the votes on `held_out_rows` got wrong, fold by fold."""
        fold_of = self.fold_of[self.held_out_rows]
        parts = [fold_of == number for number in self.numbers]
        return self.held_out_outcomes.count(votes, parts, calibration)


def is_small(n_examples: int) -> bool:
    """Whether there are few examples: ten folds hold them out, and bins are few in a race."""
    return n_examples < SMALL


def is_large(n_examples: int) -> bool:
    """Whether there are many examples."""
    return n_examples >= LARGE


def make_folds(keys: RowKeys, n_folds: int | None = None) -> Folds:
    """Deal examples to folds by their contents.

    Default: ten folds below `SMALL` examples, else five, of which one is played from `LARGE` on.
    """
    labels, sample_weight = keys.labels, keys.sample_weight
    weights = SampleWeights(np.ones(labels.size, np.int64), True)
    if sample_weight is not None:
        bits = WEIGHT_BITS if keys.gaps is None else PAIR_BITS
        weights = SampleWeights.of(sample_weight, bits)
    masses, gaps = weights.of_each, keys.gaps
    scale = 1.0 if weights.integer_weights else labels.size / int(masses.sum())
    outcomes: Outcomes = ClassOutcomes(labels, masses, scale, keys.class_weighted)
    if gaps is not None:
        outcomes = ThresholdOutcomes(labels, masses, gaps, scale)
    ranks = rank_rows(keys.hashes, labels, None if sample_weight is None else masses)
    n_parts = n_folds or (10 if is_small(labels.size) else 5)
    fold_of = ranks % n_parts
    numbers: tuple[int, ...] = ()
    if outcomes.can_be_held_out():
        played = range(1 if n_folds is None and is_large(labels.size) else n_parts)
        numbers = tuple(k for k in played if (fold_of == k).any())
    return Folds(fold_of, numbers, outcomes)


class FoldFit:
    """A fit without the rows that a fold holds out: ``held_out`` tells which examples these are.

    There are at most ``most_rounds`` rounds.

    A race has many of them, and few play at a time: the game begins with the first round, rests
    between two calls of `votes`, and ends with `keep`.
    """

    def __init__(
        self, learner: TreeLearner, held_out: BoolArray, rule: GameRule, most_rounds: int
    ) -> None:
        self._held_out, self._rule, self._most_rounds = held_out, rule, most_rounds
        self._order = slice(None) if learner.data.order is None else learner.data.order
        weights = self._weigh(learner)
        least = max(1, min(learner.shape.min_samples_leaf, int(np.count_nonzero(weights)) // 2))
        self.learner = replace(learner, shape=replace(learner.shape, min_samples_leaf=least))
        seen = replace(learner, sample_weights=weights)
        self.mass, self._default = seen.mass, seen.default_vote
        self._ended = False
        self._kept: list[Round] | None = None

    def _weigh(self, learner: TreeLearner) -> IntArray:
        """Return the sample weights, zero for the rows that are held out."""
        return np.where(self._held_out[self._order], 0, learner.sample_weights)

    @cached_property
    def _game(self) -> LocalGame:
        learner = replace(self.learner, sample_weights=self._weigh(self.learner))
        return self._rule.begin(learner, self._most_rounds)

    def votes(self, n_rounds: int) -> FloatArray:
        """Play until there are ``n_rounds`` rounds; return the votes on all examples."""
        if not self._ended:
            self._ended = not self._game.play_until(n_rounds)
            self._game.rest()
        n_rows, n_votes = self.learner.data.n_rows, self._default.size
        votes = np.empty((n_rows, n_votes) if n_votes > 1 else n_rows)
        played = self._game.n_rounds > 0
        votes[self._order] = self._game.votes() if played else self._default.reshape(-1)
        return votes

    def keep(self, n_rounds: int) -> None:
        """Keep the first rounds and free the game: there are no votes after it."""
        self._kept = self.rounds(n_rounds)
        del self._game

    def rounds(self, n_rounds: int) -> list[Round]:
        """Return the first rounds."""
        if self._kept is not None:
            return self._kept[:n_rounds]
        return self._game.rounds(0, self.count(n_rounds))

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return self.learner.to_values([each.tree for each in rounds])

    def count(self, n_rounds: int) -> int:
        """Return how many of the first rounds were played: fewer if no tree had an edge."""
        return min(n_rounds, self._game.n_rounds if self._kept is None else len(self._kept))


def play_folds(
    folds: Folds,
    learner: TreeLearner,
    rule: GameRule,
    n_rounds: int,
    pool: ThreadPoolExecutor | None,
) -> list[Callable[[], FloatArray]]:
    """Begin to play all folds; return a call for each that waits for its votes.

    The votes of a fold are on the examples that it holds out, in their order.
    """

    def play(number: int) -> FloatArray:
        held_out = folds.fold_of == number
        fit = FoldFit(learner, held_out, rule, n_rounds)
        return np.asarray(fit.votes(n_rounds)[held_out])

    if pool is None:
        return [partial(play, number) for number in folds.numbers]
    return [pool.submit(play, number).result for number in folds.numbers]
