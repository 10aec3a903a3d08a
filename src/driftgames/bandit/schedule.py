r"""Learning rates that fall over time, a little at a time.

.. math:: \eta_t = c / \sqrt{\lfloor t\rfloor_5}

The floor keeps the five leading bits of ``t``, so that eta changes sixteen times while the clock
doubles, and a sum over all rounds is one over few stretches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import FloatArray


def rate_at(t: npt.ArrayLike, decay: float) -> FloatArray:
    """Return eta of the rounds ``t``; ``decay`` is c.

    >>> (1 / rate_at([1, 2, 31, 32, 33, 34], 1.0) ** 2).round(6)
    array([ 1.,  2., 31., 32., 32., 34.])
    """
    rounds = np.asarray(t, dtype=np.float64)
    step = np.ldexp(1.0, np.maximum(np.frexp(rounds)[1] - 5, 0))
    return np.asarray(decay / np.sqrt(step * np.floor(rounds / step)))


def sum_until(horizon: npt.NDArray[np.int64], decay: float) -> FloatArray:
    """Return the sum of eta over the rounds 1, ..., T.

    >>> bool(np.isclose(sum_until(np.array(100), 0.3), rate_at(np.arange(1, 101), 0.3).sum()))
    True
    """
    starts = _stretches(int(horizon.max()))
    rates = rate_at(starts, decay)
    before = np.concatenate([[0.0], np.cumsum(np.diff(starts) * rates[:-1])])
    at = np.searchsorted(starts, horizon, side="right") - 1
    return np.asarray(before[at] + (horizon - starts[at] + 1) * rates[at])


def _stretches(horizon: int) -> npt.NDArray[np.int64]:
    """Return the first round of every stretch with one eta, up to the horizon or beyond."""
    doublings = max(horizon.bit_length() - 5, 0)
    later = (np.arange(16, 32) << k for k in range(1, doublings + 1))
    return np.concatenate([np.arange(1, 32), *later])
