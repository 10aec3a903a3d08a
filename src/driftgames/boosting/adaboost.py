"""AdaBoost: the booster that exponential weights give."""

from __future__ import annotations

from typing import Any

from driftgames.boosting.base import BaseBooster, Run
from driftgames.boosting.chips import Chips, ExponentialChips
from driftgames.boosting.examples import Examples
from driftgames.certificates.margins import MarginCertificate


class AdaBoostClassifier(BaseBooster):
    r"""Discrete AdaBoost, the baseline of the experiments.

    .. math:: p_{t,i} \propto e^{-\sum_{\tau<t} \alpha_\tau y_i h_\tau(x_i)}, \qquad
              \alpha_t = \tfrac12 \ln \frac{1/2 + \gamma_t}{1/2 - \gamma_t}

    The vote is :math:`\sum_t \alpha_t h_t(x)`. No example ever weighs zero.
    [LS14, Sec. 4, Tab. 3]

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

    Notes
    -----
    A weak hypothesis without a mistake gets one vote more than all before it and ends the fit.
    Votes are rounded to multiples of ``2**-32``, so that they add up exactly in any order.
    Weights are whole numbers with a sum of about ``2**61``: an example whose weight would round
    to zero keeps 1, and no vote but that of a hypothesis without a mistake weighs more than 18.72.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = AdaBoostClassifier().fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.383, 0.345])
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
        return ExponentialChips(examples.learner(), whole=examples.whole)

    def _certify(self, run: Run) -> MarginCertificate:
        return MarginCertificate.of_product(
            "AdaBoost", run.margins, run.training_error, run.edges, run.vote_weights
        )
