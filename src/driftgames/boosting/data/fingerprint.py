"""A fingerprint of examples: whether a source yields the same rows each time it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.core.typing import BoolArray, IntArray

OTHER_ROWS = "source must yield the same rows each time it is read"


class Fingerprint:
    """The number of rows of each label, and the sum of their hashes, in any order.

    Examples
    --------
    >>> seen, again = Fingerprint(), Fingerprint()
    >>> for part in (seen, again):
    ...     part.add(np.array(["a", "b"]), np.ones(2, dtype=np.int64), np.array([3, 5], np.uint64))
    >>> again.compare(seen)
    >>> again.add(np.array(["b"]), np.ones(1, dtype=np.int64), np.array([5], np.uint64))
    >>> again.compare(seen)
    Traceback (most recent call last):
    ...
    ValueError: source must yield the same rows each time it is read; there are more rows of class \
'b' now
    """

    def __init__(self) -> None:
        self.seen: dict[Any, tuple[int, int]] = {}

    @property
    def n_rows(self) -> int:
        """The number of rows of all labels."""
        return sum(n for n, _ in self.seen.values())

    def add(
        self, y: Array, weights: IntArray, hashes: Array, held_out: BoolArray | None = None
    ) -> None:
        """Add rows; ``held_out`` marks some of them, which then count as other ones."""
        factors = weights if held_out is None else weights + (held_out.astype(np.int64) << 54)
        mixed = hashes * factors.astype(np.uint64)  # modulo 2**64
        for label in np.unique(y).tolist():
            of_label = y == label
            n, total = self.seen.get(label, (0, 0))
            total += int(mixed[of_label].sum())
            self.seen[label] = n + int(np.count_nonzero(of_label)), total % 2**64

    def compare(self, earlier: Fingerprint, *, ended: bool = True) -> None:
        """Raise ValueError for rows that were not there before, or that are gone in the end."""
        for label, (n, _) in self.seen.items():
            if n > earlier.seen.get(label, (0, 0))[0]:
                raise ValueError(f"{OTHER_ROWS}; there are more rows of class {label!r} now")
        for label, before in earlier.seen.items() if ended else ():
            if before != self.seen.get(label):
                n, now = before[0], self.seen.get(label, (0, 0))[0]
                what = "other values" if n == now else f"{now:,} rows instead of {n:,}"
                raise ValueError(f"{OTHER_ROWS}; class {label!r} has {what} the second time")
