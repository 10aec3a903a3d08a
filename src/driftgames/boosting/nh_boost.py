"""NH-Boost: the booster that NormalHedge gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.normal_hedge import weigh_normal_hedge
from driftgames.boosting.base import BaseBooster, Run
from driftgames.boosting.rounds import Chips, CountedChips, MistakeWeights
from driftgames.boosting.training_set import TrainingSet
from driftgames.certificates.margins import MarginCertificate
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import NoBoundError


class NHBoostClassifier(BaseBooster):
    r"""NH-Boost: no learning rate either, but a scale to solve for in every round.

    .. math:: p_{t,i} \propto -[s_{t-1,i}]_- e^{[s_{t-1,i}]_-^2/c_t}, \qquad
              \sum_i e^{[s_{t-1,i}]_-^2/c_t} = N e

    uniform in round 1; positions and vote are those of `NHBoostDTClassifier`. [LS14, Alg. 7]

    Parameters
    ----------
    n_estimators : int
        The largest number of rounds: one weak hypothesis votes for each.
    estimator : classifier, optional
        The weak learner: any scikit-learn classifier whose ``fit`` takes ``sample_weight``. It
        sees only the examples of nonzero weight. Default: the exhaustive stump.
    max_depth : int, optional
        The most questions on the way to a vote. Default: 1, a stump. With more, the weak
        hypotheses are trees (docs/trees.md). None sets no limit; then give ``max_leaves``.
    max_leaves : int, optional
        The most leaves of a tree: the leaf of the largest gain is split first. Default: no limit.
    min_samples_leaf : int
        The least number of examples of nonzero weight in a leaf of a tree.
    criterion : {"gini", "kearns-mansour"}
        It chooses the questions of a tree; the exhaustive stump needs none.
    max_bins : int
        Bins per feature, from 2 to 255; exact if a feature has no more values than that.
        Missing values have a bin of their own.
    n_jobs : int, optional
        Threads, as joblib counts them. The model does not depend on it.
    random_state : int, Generator or RandomState, optional
        Seeds the weak learners that take a seed; stumps draw nothing.
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
        max_depth: int | None = 1,
        max_leaves: int | None = None,
        min_samples_leaf: int = 1,
        criterion: str = "gini",
        max_bins: int = 255,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.criterion = criterion
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _start(self, training_set: TrainingSet) -> Chips:
        return CountedChips(NormalHedgeWeights(), training_set)

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


@dataclass(frozen=True)
class NormalHedgeWeights(MistakeWeights):
    r"""The weights of NormalHedge, whose scale ``c`` is solved for in every round.

    .. math:: -[s]_- e^{[s]_-^2/c}, \qquad \sum_i e^{[s_i]_-^2/c} = N e

    Uniform if no example is below 0, as in round 1. [LS14, Alg. 7]
    """

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return NormalHedge's weights relative to the largest exponent of an example."""
        regrets = np.maximum(mistakes - ((t - 1) / 2 - edge_sum), 0.0)
        largest = regrets[np.flatnonzero(masses)[-1]]  # of an example; they ascend
        if largest == 0.0:
            return np.zeros(mistakes.size)
        weights = regrets / largest
        weigh_normal_hedge(weights, masses.astype(np.float64), np.inf)
        return np.asarray(weights * largest)
