"""NH-Boost: the booster that NormalHedge gives."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from driftgames.boosting.base import BaseBooster, Run
from driftgames.boosting.chips import Chips
from driftgames.boosting.examples import Examples
from driftgames.boosting.rules import NormalHedgeRule
from driftgames.certificates.margins import MarginCertificate
from driftgames.core.typing import FloatArray
from driftgames.potentials import NoBoundError


class NHBoostClassifier(BaseBooster):
    r"""NH-Boost: no learning rate either, but a scale to solve for in every round.

    .. math:: p_{t,i} \propto -[s_{t-1,i}]_- e^{[s_{t-1,i}]_-^2/c_t}, \qquad
              \sum_i e^{[s_{t-1,i}]_-^2/c_t} = N e

    uniform in round 1; positions and vote are those of `NHBoostDTClassifier`. [LS14, Alg. 7]

    Parameters
    ----------
    n_estimators : int
        Rounds, at most: the number of weak hypotheses that vote.
    estimator : classifier, optional
        The weak learner: any scikit-learn classifier whose ``fit`` takes ``sample_weight``; it
        sees only the examples of nonzero weight. The exhaustive stump unless given.
    max_bins : int
        Bins per feature, from 2 to 255; exact where a feature has no more values than that.
        Missing values have a bin of their own.
    n_jobs : int, optional
        Threads, as joblib counts them. The model does not depend on it.
    random_state : int, Generator or RandomState, optional
        Seeds the weak learners, where they take a seed; stumps draw nothing.
    verbose : int
        Show a progress bar.
    warm_start : bool
        Go on from the rounds played already.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = NHBoostClassifier().fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.5  , 0.426])
    >>> booster.score(X, y)
    1.0
    """

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        estimator: Any = None,
        max_bins: int = 255,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _start(self, examples: Examples) -> Chips:
        return examples.counted(NormalHedgeRule())

    def _certify(self, run: Run) -> MarginCertificate:
        return MarginCertificate.of_regret(
            "NH-Boost",
            run.edges.size,
            run.margins,
            run.training_error,
            float(run.edges.mean()),
            _no_bound,
        )


def _no_bound(horizon: int, epsilon: FloatArray) -> npt.ArrayLike:
    raise NoBoundError("Theorem 3 is about NH-Boost.DT; NormalHedge has no potential here")
