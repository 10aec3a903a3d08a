"""AdaBoost: the booster that exponential weights give."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.estimators.mean_certificate import no_certificate
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.boosting.weights.exponential import ExponentialChips
from driftgames.certificates.margins import MarginCertificate, Margins


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(BaseBooster):
    r"""Discrete AdaBoost, the baseline of the experiments.

    .. math:: p_{t,i} \propto e^{-\sum_{\tau<t} \alpha_\tau y_i h_\tau(x_i)}, \qquad
              \alpha_t = \tfrac12 \ln \frac{1/2 + \gamma_t}{1/2 - \gamma_t}

    The vote is :math:`\sum_t \alpha_t h_t(x)`. Every example keeps a positive weight.
    [LS14, Sec. 4, Tab. 3]

    Notes
    -----
    A weak hypothesis without a mistake gets one vote more than all before it and ends the fit.
    Votes are rounded to multiples of ``2**-32``, so that they add up exactly in any order.
    Weights are integers with a sum of about ``2**61``: an example whose weight would round to
    zero keeps 1. Only the vote of a hypothesis without a mistake can weigh more than 18.72.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = AdaBoostClassifier(50).fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.383, 0.345])
    >>> booster.score(X, y)
    1.0
    """

    n_estimators: int | str = 200

    def place_chips(self, training_set: TrainingSet, n_rounds: int) -> ExampleChips:
        """Return the examples as chips before the first of up to ``n_rounds`` rounds."""
        return ExponentialChips(training_set)

    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        if len(self.record_.members) > 1:
            return no_certificate("AdaBoost", self.record_)
        return MarginCertificate.of_product(
            "AdaBoost", margins, error, self.history_["edge"], self.estimator_weights_
        )

    def _errors_per_pair(self, n_classes: int) -> float:
        return math.sqrt(n_classes - 1)
