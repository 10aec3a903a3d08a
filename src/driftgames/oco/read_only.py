"""Arrays that sets and losses keep: a copy of the caller's, which nobody can write to."""

from __future__ import annotations

import numpy as np

from driftgames.core.typing import FloatArray


def read_only(values: FloatArray) -> FloatArray:
    """Return a contiguous copy that cannot be written to.

    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    kept = np.array(values, order="C")
    kept.flags.writeable = False
    return kept
