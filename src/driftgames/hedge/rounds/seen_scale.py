r"""The scale of the regrets seen so far, and regrets clipped to it.

.. math:: S_t = \max_{\tau\le t, i} |r_{\tau,i}|, \qquad
          \bar r_t = r_t \min\Bigl\{1, \frac{S_{t-1}}{\max_i |r_{t,i}|}\Bigr\}

The clipped regrets of a round are at most :math:`S_{t-1}`, which is known before the round, and
their mean under :math:`p_t` is still 0. The first regrets that are not all 0 are not clipped:
before them all positions are 0, and the weights are the same for every scale. All clipping
together changes a sum of regrets by at most :math:`\sum_{t>1} (S_t - S_{t-1}) = S_T - S_1`, where
:math:`S_1` is the first positive scale. Z. Mhammedi, W. M. Koolen and T. van Erven, "Lipschitz
adaptivity with multiple learning rates in online learning", COLT 2019, clip in this way.
"""

from __future__ import annotations

from driftgames._kernels.arithmetic import choose, greater, size
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.lanes import LANES, fold_lesser, load, spread
from driftgames.core.typing import FloatArray

SCALE, FIRST_SCALE = 0, 1
"""Places of :math:`S_t` and of its first positive value at the beginning of a memory."""

HEADER = 2
"""The number of these places."""


@inner_kernel
def clip_to_scale(
    memory: FloatArray, prior: FloatArray | None, losses: FloatArray, learner_loss: float
) -> float:
    """Update the scale by the regrets of a round, and return the factor that clips them."""
    most = spread(0.0)
    for i in range(0, losses.size, LANES):
        regret = size(learner_loss - load(losses, i, learner_loss))
        if prior is not None:
            regret = choose(load(prior, i, 0.0) > 0.0, regret, 0.0)
        most = greater(regret, most)
    largest, before = -fold_lesser(-most), memory[SCALE]
    if largest <= before:
        return 1.0
    memory[SCALE] = largest
    if before == 0.0:
        memory[FIRST_SCALE] = largest
        return 1.0
    return before / largest
