"""Rounds of forecasts and outcomes, their scores, and a state that survives a kill.

The document (``driftgames.mix-stream``) is that of ``driftgames hedge --state`` with a mixture in
the place of the learner: ``target`` and ``experts`` (the names of the columns), ``rounds``,
``digest``, ``mixture``, and ``scores``: sums of errors by forecast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from driftgames.cli._hedge_stream import START, mark_of, replace_document
from driftgames.cli._numbers import NumberBlock, NumberFile
from driftgames.core.checks import check_finite
from driftgames.core.description import UNREADABLE, decode, encode, explain
from driftgames.core.documents import DocumentError, read_document
from driftgames.core.schema import (
    DIGEST,
    LIST,
    OBJECT,
    STRING,
    array_of,
    check_members,
    integer,
    list_of,
)
from driftgames.core.state import LAST_ROUND
from driftgames.core.typing import FloatArray
from driftgames.hedge.losses.loss_base import Loss
from driftgames.hedge.mixture.expert_mixture import ExpertMixture

KIND, VERSION = "driftgames.mix-stream", 3
_SCHEMA = {
    "target": STRING,
    "experts": LIST,
    "rounds": integer(1, LAST_ROUND),
    "digest": DIGEST,
    "mixture": OBJECT,
    "scores": OBJECT,
}


@dataclass
class Scores:
    """Sums over the rounds so far of the mixture, the plain mean, and each expert, in this order.

    Parameters
    ----------
    rounds : array of shape (N + 2,)
        The number of rounds with a forecast.
    sums : array of shape (3, N + 2)
        Squared errors, absolute errors, and losses.
    products : array of shape (N, N)
        Products of the errors of two experts; one that sleeps has the error of the mixture.
    """

    rounds: FloatArray
    sums: FloatArray
    products: FloatArray

    @classmethod
    def empty(cls, n: int) -> Scores:
        """Return the scores of no rounds of ``n`` experts."""
        return cls(np.zeros(n + 2), np.zeros((3, n + 2)), np.zeros((n, n)))

    def add(self, loss: Loss, mixed: FloatArray, X: FloatArray, y: FloatArray) -> None:
        """Add rounds in which the mixture predicted ``mixed``."""
        given = np.column_stack([mixed, np.nanmean(X, axis=1), X])
        known = ~np.isnan(given)
        filled = np.where(known, given, mixed[:, None])
        errors = filled - y[:, None]
        self.rounds += known.sum(axis=0)
        losses = loss.evaluate(loss.nearest(filled), y[:, None])
        for sums, values in zip(self.sums, (errors**2, np.abs(errors), losses), strict=True):
            sums += np.where(known, values, 0.0).sum(axis=0)
        self.products += errors[:, 2:].T @ errors[:, 2:]


@dataclass
class MixState:
    """A mixture, the columns it reads, its scores, and the digest of the rounds it has counted."""

    target: str
    experts: tuple[str, ...]
    mixture: ExpertMixture
    scores: Scores
    digest: bytes = START
    _seen: tuple[int, int] | None = field(default=None, repr=False, compare=False)

    @property
    def t(self) -> int:
        """The number of rounds counted."""
        return int(self.scores.rounds[0])

    def save(self, path: Path) -> None:
        """Replace the document at ``path`` by this state, unless another process wrote there."""
        content = {
            "target": self.target,
            "experts": list(self.experts),
            "rounds": self.t,
            "digest": self.digest.hex(),
            "mixture": self.mixture.content(),
            "scores": encode(vars(self.scores)),
        }
        self._seen = replace_document(path, KIND, VERSION, content, self._seen)

    @classmethod
    def load(cls, path: Path) -> MixState:
        """Return the state at ``path``."""
        seen = mark_of(path)
        content = read_document(path, KIND, VERSION)
        try:
            check_members(content, _SCHEMA)
            mixture = ExpertMixture.from_content(content["mixture"])
            n, scores = mixture.game_.n_experts, decode(content["scores"])
            list_of(n, STRING).check("experts", content["experts"])
            sizes = {"rounds": (n + 2,), "sums": (3, n + 2), "products": (n, n)}
            check_members(scores, {name: array_of(*size) for name, size in sizes.items()})
            for name, array in scores.items():
                check_finite(name, array)
            state = cls(
                content["target"],
                tuple(content["experts"]),
                mixture,
                Scores(**scores),
                bytes.fromhex(content["digest"]),
                seen,
            )
        except UNREADABLE as error:
            raise DocumentError(
                f"{path}: not a whole state of a mixture: {explain(error)}"
            ) from error
        if not content["rounds"] == state.t == mixture.learner_.t:
            raise DocumentError(
                f"{path}: {content['rounds']} rounds, but the mixture has {state.t}"
            )
        return state


@dataclass
class Rounds:
    """The rounds of a file: columns of experts and the column ``at`` of the outcome.

    A row without an outcome is no round. ``waiting`` holds such rows after the last round.
    """

    source: NumberFile
    at: int
    waiting: list[tuple[str, FloatArray]] = field(default_factory=list)
    left_out: int = 0

    def blocks(self) -> Iterator[NumberBlock]:
        """Yield the rounds, the outcome in the last column."""
        for block in self.source.blocks:
            outcomes = block.numbers[:, self.at]
            X = np.delete(block.numbers, self.at, axis=1)
            asleep = np.isnan(X).all(axis=1)
            if asleep.any():
                row = block.places[int(np.argmax(asleep))]
                raise ValueError(f"{row}: a round needs at least one forecast; it has none")
            known = np.flatnonzero(~np.isnan(outcomes))
            if known.size:
                self.left_out += len(self.waiting) + int(np.isnan(outcomes[: known[-1]]).sum())
                self.waiting.clear()
                places = [block.places[i] for i in known]
                yield NumberBlock(np.column_stack([X[known], outcomes[known]]), places, [])
            after = known[-1] + 1 if known.size else 0
            self.waiting += zip(block.places[after:], X[after:], strict=True)
