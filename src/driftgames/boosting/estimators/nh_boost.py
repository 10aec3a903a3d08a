"""NH-Boost: the booster that NormalHedge gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._kernels.normal_hedge import weigh_normal_hedge
from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.estimators.potential_boost import CountedChips, MistakeWeights
from driftgames.boosting.growth.training_set import TrainingSet
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import NoBoundError


@dataclass(eq=False, repr=False)
class NHBoostClassifier(BaseBooster):
    r"""NH-Boost: no learning rate either, but a scale to solve for in every round.

    .. math:: p_{t,i} \propto -[s_{t-1,i}]_- e^{[s_{t-1,i}]_-^2/c_t}, \qquad
              \sum_i e^{[s_{t-1,i}]_-^2/c_t} = N e

    uniform in round 1; positions and vote are those of `NHBoostDTClassifier`. [LS14, Alg. 7]

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = NHBoostClassifier(50).fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.5  , 0.426])
    >>> booster.score(X, y)
    1.0
    """

    n_estimators: int = 200

    def _start(self, training_set: TrainingSet) -> ExampleChips:
        return CountedChips(NormalHedgeWeights(), training_set)

    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        return self._certify_regret("NH-Boost", _no_bound, margins, error)


def _no_bound(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> npt.ArrayLike:
    raise NoBoundError("Theorem 3 is about NH-Boost.DT; NormalHedge has no potential here")


@dataclass(frozen=True)
class NormalHedgeWeights(MistakeWeights):
    r"""The weights of NormalHedge, whose scale ``c`` is solved for in every round.

    .. math:: -[s]_- e^{[s]_-^2/c}, \qquad \sum_i e^{[s_i]_-^2/c} = N e

    Uniform if no example is below 0, as in round 1. [LS14, Alg. 7]
    """

    looks_at_masses = True

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return NormalHedge's weights relative to the largest exponent of an example."""
        regrets = np.maximum(mistakes - ((t - 1) / 2 - edge_sum), 0.0)
        largest = regrets[np.flatnonzero(masses)[-1]]  # of an example; they ascend
        if largest == 0.0:
            return np.zeros(mistakes.size)
        weights = regrets / largest
        weigh_normal_hedge(weights, masses.astype(np.float64), np.inf)
        return np.asarray(weights * largest)
