"""The general booster: any potential makes one."""

from __future__ import annotations

from typing import Any

from driftgames.boosting.base import BaseBooster, Run
from driftgames.boosting.chips import Chips
from driftgames.boosting.examples import Examples
from driftgames.boosting.rules import PotentialRule
from driftgames.certificates.margins import MarginCertificate
from driftgames.potentials import NormalHedgeDT, Potential


class PotentialBoostClassifier(BaseBooster):
    r"""The booster of any potential: examples are chips, and weights are its differences.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i} - 1) - \Phi_t(s_{t-1,i} + 1), \qquad
              s_{t,i} = s_{t-1,i} + \tfrac12 y_i h_t(x_i) - \gamma_t

    Every Hedge algorithm gives a booster in this way: examples are actions, and an action
    suffers where its example is got right. A bound on the epsilon-regret becomes one on the
    margins. [LS14, Alg. 3, Alg. 6, Thm. 3]

    Parameters
    ----------
    n_estimators : int
        Rounds, at most: the number of weak hypotheses that vote.
    potential : Potential, optional
        What the examples weigh; `NormalHedgeDT` unless given, which is NH-Boost.DT.
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
    The constants of the paper's experiments:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from driftgames.potentials import NormalHedgeDT
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = PotentialBoostClassifier(NormalHedgeDT(d=4, lag=1)).fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.394, 0.272])
    >>> booster.score(X, y)
    1.0
    >>> booster.certificate_.verdict
    'nothing is promised'
    """

    def __init__(
        self,
        potential: Potential | None = None,
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
        self.potential = potential
        self.estimator = estimator
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _start(self, examples: Examples) -> Chips:
        return examples.counted(PotentialRule(self._potential()))

    def _certify(self, run: Run) -> MarginCertificate:
        potential = self._potential()
        return MarginCertificate.of_regret(
            type(potential).__name__,
            run.edges.size,
            run.margins,
            run.training_error,
            float(run.edges.mean()),
            potential.bound,
        )

    def _potential(self) -> Potential:
        if self.potential is None:
            return NormalHedgeDT()
        if not isinstance(self.potential, Potential):
            raise ValueError(f"potential must be a Potential; got {self.potential!r}")
        return self.potential
