"""The types of arrays and of JSON that every module speaks of, and arrays that stay as they are."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
"""One float64 per chip (or per round); what every formula of the library takes and gives."""

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

Content = dict[str, Any]
"""A JSON object."""

Path = str | os.PathLike[str]


def read_only(values: FloatArray) -> FloatArray:
    """Return a contiguous copy that cannot be written to.

    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    kept = np.array(values, order="C")
    kept.flags.writeable = False
    return kept
