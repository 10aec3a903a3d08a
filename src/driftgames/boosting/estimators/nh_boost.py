"""NH-Boost: the booster that NormalHedge gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.weights.by_mistakes import count_chips
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.boosting.weights.normal_hedge import NormalHedgeWeights
from driftgames.certificates.margins import MarginCertificate, Margins
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

    n_estimators: int | str = 200

    def place_chips(self, training_set: TrainingSet, n_rounds: int) -> ExampleChips:
        """Return the examples as chips before the first of up to ``n_rounds`` rounds."""
        return count_chips(NormalHedgeWeights(), training_set, n_rounds)

    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        return self._certify_regret("NH-Boost", _no_bound, margins, error)


def _no_bound(horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> npt.ArrayLike:
    raise NoBoundError("Theorem 3 is about NH-Boost.DT; NormalHedge has no potential here")
