"""Algorithm 3 and NormalHedge.DT as the paper prints them: read these first.

`Hedge` plays the same rounds in compiled code that does not overflow, and a test compares the two.
These functions are for reading: the exponentials overflow in long games.
"""

from __future__ import annotations

import numpy as np

from driftgames.core.typing import FloatArray
from driftgames.potentials import Potential


def normal_hedge_dt_weights(positions: FloatArray, t: int, d: float = 3.0) -> FloatArray:
    r"""Return the weights of NormalHedge.DT in round ``t``.

    .. math:: w_i = \tfrac12\Bigl(e^{[s_i - 1]_-^2 / (d t)} - e^{[s_i + 1]_-^2 / (d t)}\Bigr),
              \qquad [s]_- = \min(s, 0)

    The plain twin of the kernels in `driftgames.potentials.normal_hedge_dt`. [LS14, Lem. 2]

    >>> normal_hedge_dt_weights(np.array([-2.0, 0.0, 1.0]), t=4).round(4)
    array([0.515 , 0.0435, 0.    ])
    """

    def phi(s: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.minimum(s, 0.0) ** 2 / (d * t)))

    return (phi(positions - 1) - phi(positions + 1)) / 2


def play_hedge(losses: FloatArray, potential: Potential) -> FloatArray:
    r"""Play Algorithm 3 on the rows of ``losses`` and return the learner's loss in each round.

    .. math:: p_t \propto \Phi_t(s - 1) - \Phi_t(s + 1), \qquad
              s \leftarrow s + \ell_t - p_t\cdot\ell_t

    The plain twin of ``Hedge.run``. [LS14, Alg. 3]

    >>> from driftgames.potentials import NormalHedgeDT
    >>> play_hedge(np.array([[1.0, 0.0], [1.0, 0.0]]), NormalHedgeDT()).round(4)
    array([0.5   , 0.0855])
    """
    rounds, n_actions = losses.shape
    positions, learner_losses = np.zeros(n_actions), np.zeros(rounds)
    for t in range(1, rounds + 1):
        weights = potential.value(positions - 1, t) - potential.value(positions + 1, t)
        total = weights.sum()
        p = weights / total if total > 0 else np.full(n_actions, 1 / n_actions)
        learner_losses[t - 1] = p @ losses[t - 1]
        positions = positions + losses[t - 1] - learner_losses[t - 1]
    return learner_losses
