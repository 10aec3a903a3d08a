"""Where examples are: in memory, in batches or on a cluster. `fit_booster` asks them step by step.

A `Source` holds checked examples, and `Rows` are those to train on. They differ in what they can
do: folds need rows in memory, and a cluster lends a sample of its rows to the race.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine.game import Game
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.fit.job import Columns, Job, Plan
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class Threads(NamedTuple):
    """The threads of a fit; the pool is None if there is one."""

    pool: ThreadPoolExecutor | None
    n_threads: int


ONE_THREAD = Threads(None, 1)


@dataclass(frozen=True)
class Unseen:
    """Examples that are not trained on, as the columns that hypotheses ask about."""

    X: Any
    y: Array
    masses: IntArray


class Opened(NamedTuple):
    """A game before its first round, and a model of no rounds for its examples."""

    game: Game
    model: FittedModel


class Rows(ABC):
    """The examples to train on."""

    n_rows: int
    masses: IntArray
    """Their sample weights, in their order."""

    @abstractmethod
    def take(self, rows: IntArray) -> LocalRows:
        """Return some of the examples, in memory."""

    @abstractmethod
    def open(
        self, job: Job, shape: TreeShape, n_rounds: int, threads: Threads
    ) -> AbstractContextManager[Opened]:
        """Begin a game of these examples."""


class LocalRows(Rows):
    """Examples in memory, which folds can be made of."""

    n_columns: int
    """The number of columns, one for each of categories."""
    labels: IntArray | None
    """The numbers of their classes; None if they are two, and the bins know them."""

    @abstractmethod
    def coded(
        self, held_out: BoolArray | None, *, ranked: bool
    ) -> tuple[CategoryEncoder | None, BinnedData]:
        """Return all rows in bins, coded without the labels of those ``held_out``."""


class Source(ABC):
    """All examples of a fit, checked."""

    columns: Columns
    races: bool = True
    """Whether sizes can race on folds of these examples, or of a sample."""
    race_on_sample: bool = False
    """Whether a sample races, because the rows are not in memory."""
    makes_means: bool = True
    """Whether the model can be a mean of fold boosters."""
    no_means: str = ""
    """Why it cannot."""
    folds_share_bins: bool = True
    """Whether folds can be fits on the same bins; see `Plan`."""
    in_memory: bool = False
    """Whether the training examples can be scored in every round."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of examples of positive weight."""

    @abstractmethod
    def keys(self) -> RowKeys:
        """Return what folds are made of, for all examples of positive weight."""

    @abstractmethod
    def masses(self) -> IntArray:
        """Return the sample weights of these examples as integers, times class weights."""

    @abstractmethod
    def rows(self, job: Job, plan: Plan, held_out: BoolArray | None, threads: Threads) -> Rows:
        """Return the examples to train on: all but those ``held_out``."""

    @abstractmethod
    def unseen(self, held_out: BoolArray | None, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples ``held_out``, or all."""

    @abstractmethod
    def select(self, taken: BoolArray) -> Source:
        """Return some of the examples, for a fold that is a fit of its own."""

    @abstractmethod
    def votes(self, model: FittedModel, taken: BoolArray, n_threads: int) -> FloatArray:
        """Return the votes of a model on some of the examples, in their order."""
