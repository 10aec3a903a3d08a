"""What an online booster is: votes, weights, realised edges, and its state."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames.certificates.certificate import MistakeCertificate
from driftgames.core.checks import (
    check_between,
    check_integer,
    check_range,
    check_vector,
    is_real,
    shown,
    unmask,
)
from driftgames.core.display import Fields, Sketch
from driftgames.core.run import Run
from driftgames.core.schema import NUMBER, Schema, array_of, integer
from driftgames.core.state import Stateful, check_arrays, check_clock
from driftgames.core.typing import BoolArray, Content, FloatArray

MOST_LEARNERS = 1000
"""The largest number of weak learners; a table of the game has its square."""

WEIGHTS, MOVES, POSITIVE = range(3)
"""The rows of the sums: weights, weights times moves, examples of positive weight."""


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteRun(Run[MistakeCertificate]):
    """The examples of one call of `OnlineBooster.run`.

    ``votes`` are in [-1, 1], each made before its label was learnt. ``learner`` may play on, and
    then its certificate is no longer that of this run.
    """

    learner: OnlineBooster
    votes: FloatArray
    labels: npt.NDArray[Any]

    @property
    def n_rounds(self) -> int:
        """The number of examples."""
        return self.votes.size

    def _facts(self) -> Fields:
        return {**super()._facts(), "mistakes": int(self.wrong.sum())}

    def _columns(self) -> Fields:
        votes = {"vote": self.votes, "label": self.labels, "wrong": self.wrong}
        return {"round": self.rounds, **votes}

    def _sketch(self) -> Sketch:
        return Sketch(self.rounds, {"mistakes": np.cumsum(self.wrong)}, label="example")

    @property
    def wrong(self) -> BoolArray:
        """Which votes had the wrong sign; a vote of 0 counts as +1."""
        return np.asarray((self.votes >= 0) != (self.labels > 0))

    def certificate(self) -> MistakeCertificate:
        """Return the certificate of the learner, as long as it has not played on."""
        self._check_current(self.learner.t)
        return self.learner.certificate()


class OnlineBooster(Stateful):
    """Turns predictions of weak learners into a vote, and labels into weights for them.

    It knows the predictions alone. `driftgames.online_boosting.river` and
    `driftgames.online_boosting.partial_fit` hold the weak learners.

    Parameters
    ----------
    n_learners : int
        The number of weak learners, at most 1,000.

    Notes
    -----
    A weak learner's weights may be multiplied by any factor. `update` divides them by their mean
    so far, over the examples of positive weight, so that learners that count examples see as many
    as there are. The certificate uses the weights of the theory.
    """

    title: str
    """The name of the algorithm."""

    def __init__(self, n_learners: int) -> None:
        self._n_learners = check_integer("n_learners", n_learners, least=1)
        check_between("n_learners", n_learners, 1, MOST_LEARNERS)
        self._t, self._mistakes = 0, 0.0
        self._sums = np.zeros((3, self._n_learners))

    @abstractmethod
    def _vote(self, predictions: FloatArray) -> float:
        """Return the vote, in [-1, 1]."""

    @abstractmethod
    def _move(self, moves: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights of an example that moves so, and its mistake; learn from it."""

    @abstractmethod
    def _promised(self) -> float:
        """Return the bound on the number of mistakes so far."""

    # ---------------------------------------------------------------- playing

    def vote(self, predictions: npt.ArrayLike) -> float:
        """Return the vote of the weak learners' predictions, -1 or +1 each; its sign is the label.

        A vote of 0 counts as +1.
        """
        with self._lock:
            return min(1.0, max(-1.0, self._vote(self._check(predictions))))

    def update(self, predictions: npt.ArrayLike, label: int) -> FloatArray:
        """Take the label of an example, -1 or +1; return its weight for each weak learner.

        ``predictions`` are those that the weak learners made before they saw the label.
        """
        h = self._check(predictions)
        if not is_real(label) or label not in (-1, 1):
            raise ValueError(f"label must be -1 or 1; got {shown(label)}")
        with self._lock:
            moves = h * float(label)
            weights, mistake = self._move(moves)
            self._sums += np.stack([weights, weights * moves, weights > 0])
            self._t, self._mistakes = self._t + 1, self._mistakes + mistake
            total, count = self._sums[WEIGHTS], self._sums[POSITIVE]
            return np.asarray(weights * count / np.where(total > 0, total, 1.0))

    def run(self, predictions: npt.ArrayLike, labels: npt.ArrayLike) -> VoteRun:
        """Vote on many examples in order, each before its label is learnt.

        A row of ``predictions`` is one prediction per weak learner. A bad row leaves the booster as
        it was.
        """
        H = np.asarray(unmask("predictions", predictions))
        y = np.asarray(unmask("labels", labels))
        if H.ndim != 2 or y.shape != H.shape[:1]:
            raise ValueError(
                "predictions must be a row per example and labels one number each; "
                f"got shapes {H.shape} and {y.shape}"
            )
        votes = np.empty(y.size)
        with self._all_or_nothing():
            first = self._t + 1
            for i, (h, label) in enumerate(zip(H, y.tolist(), strict=True)):
                votes[i] = self.vote(h)
                self.update(h, label)
        return VoteRun(title=self.title, first_round=first, learner=self, votes=votes, labels=y)

    # ---------------------------------------------------------------- what it knows

    @property
    def t(self) -> int:
        """The number of examples."""
        return self._t

    @property
    def n_learners(self) -> int:
        """The number of weak learners."""
        return self._n_learners

    @property
    def mistakes(self) -> float:
        """The number of mistakes, as the certificate counts them."""
        return self._mistakes

    @property
    def edges(self) -> FloatArray:
        """The weighted share of right predictions of each weak learner, less 1/2."""
        total = self._sums[WEIGHTS]
        return np.asarray(0.5 * self._sums[MOVES] / np.where(total > 0, total, 1.0))

    def certificate(self) -> MistakeCertificate:
        """Return the number of mistakes beside its bound."""
        with self._lock:
            if self._t == 0:
                raise ValueError("no example was seen, so there is nothing to certify")
            return MistakeCertificate(
                self.title, self._t, self._mistakes, self._promised(), self.edges, self._caveat
            )

    _caveat = ""
    _named_arguments: ClassVar[Schema] = {"n_learners": integer(1, MOST_LEARNERS)}

    def __repr__(self) -> str:
        return f"<{self.title}: {self._n_learners} weak learners, {self._t} examples>"

    # ---------------------------------------------------------------- state

    def _check(self, predictions: npt.ArrayLike) -> FloatArray:
        h = check_vector("predictions", predictions, self._n_learners)
        if not (np.abs(h) == 1.0).all():
            raise ValueError(f"predictions must be -1 or 1; got {h[np.abs(h) != 1.0][0]:g}")
        return h

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        n = arguments.get("n_learners")
        return cls._named_arguments, {"sums": array_of(3, n), "mistakes": NUMBER}

    def _get_state(self) -> Content:
        return {"t": self._t, "mistakes": self._mistakes, "sums": self._sums}

    def _set_state(self, state: Content) -> None:
        check_arrays(state, self._get_state())
        t, sums = check_clock("t", state["t"]), state["sums"]
        mistakes = check_between("mistakes", state["mistakes"], 0.0, t)
        check_range("the sums of weights", sums[WEIGHTS], 0.0, t)
        check_range("the numbers of positive weights", sums[POSITIVE], 0.0, t)
        if (np.abs(sums[MOVES]) > sums[WEIGHTS] * (1 + 1e-9)).any():
            raise ValueError("weighted moves must be at most the sums of weights")
        self._t, self._mistakes, self._sums = t, mistakes, sums
