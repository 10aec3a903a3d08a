"""Sums over rows in the form that shares exchange: one for every bin of every feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.core.typing import IntArray


def list_all_bins(data: BinnedTrainingSet, sums: IntArray, total: Any) -> IntArray:
    """Return sums in listed bins with those of the implicit bins, which other shares may list.

    ``total`` is the sum over all rows: an implicit bin has what the others leave. Further axes of
    ``sums`` are those of ``total``.
    """
    if data.n_codes == data.offsets[-1]:
        return sums
    implicit = data.offsets[:-1] + data.implicit
    full = np.zeros((data.offsets[-1], *sums.shape[1:]), dtype=np.int64)
    listed = np.ones(len(full), dtype=bool)
    listed[implicit] = False
    full[listed] = sums
    full[implicit] = total - np.add.reduceat(full, data.offsets[:-1], axis=0)
    return full
