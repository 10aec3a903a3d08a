"""The types of arrays and of JSON that every module speaks of."""

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
