r"""Learning rates that fall over time, in steps.

.. math:: \eta_t = c / \sqrt{\lfloor t\rfloor_5}

The floor keeps the five leading bits of ``t``. So eta changes sixteen times while the clock
doubles, and a sum over all rounds is a sum over few stretches of equal eta.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import allocating_kernel, scalar
from driftgames.bandit.types import Rounds
from driftgames.core.typing import FloatArray


@scalar
def stretch_of(t: float) -> tuple[float, float]:
    """Return the first round of the stretch that holds round ``t``, and of the next stretch.

    >>> stretch_of(33.0)
    (32.0, 34.0)
    """
    step = 1.0
    while t >= 32.0 * step:
        step *= 2.0
    first = step * np.floor(t / step)
    return first, first + step


@allocating_kernel
def _rates(rounds: FloatArray, decay: float) -> FloatArray:
    rates = np.empty(rounds.size)
    for i in range(rounds.size):
        rates[i] = decay / np.sqrt(stretch_of(rounds[i])[0])
    return rates


def rate_at(t: npt.ArrayLike, decay: float) -> FloatArray:
    """Return eta of the rounds ``t``; ``decay`` is c.

    >>> (1 / rate_at([1, 2, 31, 32, 33, 34], 1.0) ** 2).round(6)
    array([ 1.,  2., 31., 32., 32., 34.])
    """
    rounds = np.asarray(t, dtype=np.float64)
    return _rates(rounds.ravel(), decay).reshape(rounds.shape)


def sum_until(horizon: Rounds, decay: float) -> FloatArray:
    """Return the sum of eta over the rounds 1, ..., T.

    >>> bool(np.isclose(sum_until(np.array(100), 0.3), rate_at(np.arange(1, 101), 0.3).sum()))
    True
    """
    # the first round of every stretch, up to the horizon or beyond
    doublings = max(int(horizon.max(initial=1)).bit_length() - 5, 0)
    later = (np.arange(16, 32) << k for k in range(1, doublings + 1))
    starts: Rounds = np.concatenate([np.arange(1, 32), *later])
    rates = rate_at(starts, decay)
    before = np.concatenate([[0.0], np.cumsum(np.diff(starts) * rates[:-1])])
    at = np.searchsorted(starts, horizon, side="right") - 1
    return np.asarray(before[at] + (horizon - starts[at] + 1) * rates[at])
