"""A stream of losses that survives a kill: one document holds the learner and its position.

The document (``driftgames.hedge-stream``) is replaced in one atomic step after every batch of
rounds. The batch is acknowledged after that. Whenever the process dies, the document is that of
the last batch or of the one before, complete. A round that was not acknowledged may have been
counted or not: if it was counted, it is skipped when it comes again, otherwise it is counted then.

Its content is ``algorithm`` (the name), ``horizon`` (as it was given, or null), ``rounds``
(how many are counted), ``digest`` (a hash chained over their losses, so that the same input is
known again) and ``learner``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from driftgames.cli._numbers import NumberBlock
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.schema import DIGEST, OBJECT, STRING, check_members, integer
from driftgames.core.state import LAST_ROUND, nested, restore_nested
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge import ExpertLearner

KIND, VERSION = "driftgames.hedge-stream", 2
_SCHEMA = {
    "algorithm": STRING,
    "horizon": integer(1, LAST_ROUND).or_null,
    "rounds": integer(0, LAST_ROUND),
    "digest": DIGEST,
    "learner": OBJECT,
}
START = hashlib.sha256(b"driftgames.hedge-stream").digest()


@dataclass
class StreamState:
    """A learner, the options it was made by, and the digest of the rounds it has counted."""

    algorithm: str
    learner: ExpertLearner
    horizon: int | None = None
    digest: bytes = START
    _seen: tuple[int, int] | None = field(default=None, repr=False, compare=False)

    def save(self, path: Path) -> None:
        """Replace the document at ``path`` by this state, unless another process wrote there."""
        content = {
            "algorithm": self.algorithm,
            "horizon": self.horizon,
            "rounds": self.learner.t,
            "digest": self.digest.hex(),
            "learner": nested(self.learner),
        }
        self._seen = replace_document(path, KIND, VERSION, content, self._seen)

    @classmethod
    def load(cls, path: Path) -> StreamState:
        """Return the state at ``path``."""
        seen = mark_of(path)
        content = read_document(path, KIND, VERSION)
        try:
            check_members(content, _SCHEMA)
            learner = restore_nested(content["learner"], ExpertLearner)
        except ValueError as error:
            raise DocumentError(f"{path}: not a whole stream state: {error}") from error
        if content["rounds"] != learner.t:
            raise DocumentError(
                f"{path}: {content['rounds']} rounds, but the learner has played {learner.t}"
            )
        digest = bytes.fromhex(content["digest"])
        return cls(content["algorithm"], learner, content["horizon"], digest, seen)


def replace_document(
    path: Path, kind: str, version: int, content: Content, seen: tuple[int, int] | None
) -> tuple[int, int] | None:
    """Write a document unless another process has since it was ``seen``; return its new mark."""
    if mark_of(path) != seen:
        raise DocumentError(f"{path}: another process has written to it; this one stops")
    write_document(path, kind, version, content)
    return mark_of(path)


def mark_of(path: Path) -> tuple[int, int] | None:
    """Return a mark that changes when the file is replaced; None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def chain(digest: bytes, losses: FloatArray) -> bytes:
    """Return the digest after these rounds; it does not depend on how they are batched."""
    for row in np.ascontiguousarray(losses, dtype="<f8"):
        digest = hashlib.sha256(digest + row.tobytes()).digest()
    return digest


def new_rounds(
    blocks: Iterator[NumberBlock], first_round: int | None, counted: int, digest: bytes
) -> Iterator[FloatArray]:
    """Yield the losses of the rounds that are not counted yet.

    The input begins with round ``first_round``. Default: the round after the last one counted.
    Counted rounds are skipped. If the input begins with round 1 they must be the same as before.
    """
    begin = counted + 1 if first_round is None else first_round
    if begin > counted + 1:
        raise ValueError(
            f"the input begins with round {begin} and the state ends with round {counted}: "
            f"rounds {counted + 1} to {begin - 1} would be lost"
        )
    skip, seen = counted + 1 - begin, START
    for block in blocks:
        old, new = block.numbers[:skip], block.numbers[skip:]
        if skip > 0 and begin == 1:
            seen = chain(seen, old)
            if len(old) == skip and seen != digest:
                raise ValueError(
                    f"the first {counted} rounds of the input are not those of the state; "
                    "if the input goes on where the state ends, say --first-round next"
                )
        skip -= len(old)
        if len(new):
            yield new
    if skip > 0:
        raise ValueError(
            f"the input ends with round {counted - skip} and the state has {counted}; "
            "if the input goes on where the state ends, say --first-round next"
        )
