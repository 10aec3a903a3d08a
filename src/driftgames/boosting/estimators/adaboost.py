"""AdaBoost: the booster that exponential weights give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.elementary import log_all
from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.growth.training_set import Standing, TrainingSet
from driftgames.boosting.weights.example_chips import SUM_BITS, ExampleChips
from driftgames.certificates.margins import MarginCertificate, Margins

_VOTE_UNIT = 2.0**-32  # votes that are multiples of it add up exactly, in any order


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

    n_estimators: int = 200

    def _start(self, training_set: TrainingSet) -> ExampleChips:
        return ExponentialChips(training_set)

    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        return MarginCertificate.of_product(
            "AdaBoost", margins, error, self.history_["edge"], self.estimator_weights_
        )

    def _errors_per_pair(self, n_classes: int) -> float:
        return math.sqrt(n_classes - 1)


class ExponentialChips(ExampleChips):
    r"""Examples that weigh :math:`e^{-F_i}`, where each vote adds to or takes from ``F_i``.

    .. math:: F_i = \sum_t \alpha_t y_i h_t(x_i), \qquad
              \alpha_t = \tfrac12 \ln \frac{1/2 + \gamma_t}{1/2 - \gamma_t}

    This is discrete AdaBoost, the booster that the exponential potential gives. [LS14, Sec. 4]

    Notes
    -----
    In fixed point every example weighs at least one unit, the last bit of their sum. An edge is
    rounded down to a multiple of ``2**-54``. So an edge of 1/2 means a hypothesis without a
    mistake, whose :math:`\alpha` would be infinite: it gets one vote more than all before it
    together, and ends the fit. The largest other :math:`\alpha` is ``atanh(1 - 2**-53)``, about
    18.7.

    Each :math:`\alpha_t` is rounded to a multiple of ``2**-32``: votes then add up exactly in
    any order. An edge whose vote rounds to zero counts as no edge.
    """

    def __init__(self, training_set: TrainingSet) -> None:
        self._totals = training_set.add_votes()
        self._n_copies, self._mass = self._totals.masses()
        self._standing = Standing(0.0, 0)  # before the first vote; errors count after it
        self._all_votes = 0.0

    def choose(self) -> tuple[float, Any]:
        """Return the best hypothesis for the exponential weights."""
        value, norm, hypothesis = self._totals.best(*self._weigh())
        edge = math.ldexp((value << 53) // norm, -54)
        return (edge if edge > 0 and _vote_weight(edge) > 0 else 0.0), hypothesis

    def move(self, hypothesis: Any, edge: float) -> float:
        """Add the votes of a hypothesis and return how much they weigh."""
        self.finished = edge == 0.5
        alpha = self._all_votes + 1.0 if self.finished else _vote_weight(edge)
        self._standing = self._totals.add(hypothesis, alpha)
        self._all_votes += alpha
        self.n_rounds += 1
        return alpha

    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Find the edge from the weights before the move."""
        value, norm = self._totals.value(*self._weigh(), hypothesis)
        return self.move(hypothesis, edge), value / (2 * norm)

    @property
    def zero_fraction(self) -> float:
        """Zero: every example weighs at least one unit."""
        return 0.0

    @property
    def training_error(self) -> float:
        """The share of mass on the wrong side."""
        return self._standing.wrong / self._mass

    def margins(self) -> Margins:
        """Return the margins, rounded up to hundredths: the certificate needs no more."""
        return self._totals.margins(self._all_votes)

    def _weigh(self) -> tuple[float, float]:
        """Weigh the examples; return the largest weight and the unit of fixed point.

        In units, each weight is at least 1, and their sum has `SUM_BITS` bits.
        """
        heaviest = self._totals.heaviest(self._standing.lowest)
        unit = 2.0 ** (self._n_copies.bit_length() - SUM_BITS)
        # a first sum, of integers so that no order matters, tells how many bits are free
        total = self._totals.measure(heaviest, unit)
        return heaviest, unit * 2.0 ** (total.bit_length() - SUM_BITS)


def _vote_weight(edge: float) -> float:
    if edge >= 0.5:
        return math.inf
    alpha = 0.5 * float(log_all(np.array([(0.5 + edge) / (0.5 - edge)]))[0])
    return round(alpha / _VOTE_UNIT) * _VOTE_UNIT
