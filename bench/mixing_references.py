"""Published ways to mix forecasts, written from their formulas, for gaps and for any slope.

Losses are linearised at the mixture's own prediction: ``r_t = g_t (yhat_t - x_t)`` are the regrets
of a round, R their sums and V the sums of their squares. An expert that sleeps has no weight and no
regret. The weights of those awake are divided by their sum.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from driftgames.core.typing import BoolArray, FloatArray

SlopeOf = Callable[[float, float], float]

RATES = tuple(2.0**k for k in range(-80, 21))
"""The learning rates that EWA is tuned over, for losses of any size."""


class Reference(ABC):
    """Weights that follow from past rounds."""

    def __init__(self, n: int) -> None:
        self.n = n

    @abstractmethod
    def _weigh(self) -> FloatArray:
        """Return nonnegative weights; those of experts that sleep are not used."""

    @abstractmethod
    def _learn(self, regrets: FloatArray, errors: FloatArray, awake: BoolArray) -> None:
        """Learn a round; both are 0 where an expert sleeps."""

    def play(self, X: FloatArray, y: FloatArray, slope: SlopeOf) -> FloatArray:
        """Return the predictions, each made before its outcome is learnt."""
        found = np.empty(len(y))
        for t, (row, outcome) in enumerate(zip(X, y.tolist(), strict=True)):
            found[t] = self.step(row, outcome, slope)
        return found

    def step(self, row: FloatArray, outcome: float, slope: SlopeOf) -> float:
        """Predict one round, learn its outcome, and return the prediction."""
        awake = ~np.isnan(row)
        w = np.where(awake, self._weigh(), 0.0)
        total = w.sum()
        p = w / total if total > 0 else awake / awake.sum()
        heard = np.where(awake, row, 0.0)
        mean = float(p @ heard)
        regrets = np.where(awake, slope(mean, outcome) * (mean - heard), 0.0)
        self._learn(regrets, np.where(awake, heard - outcome, 0.0), awake)
        return mean


class MLPoly(Reference):
    r"""ML-Poly with learning rates that follow the scale of the regrets.

    .. math:: p_i \propto \eta_i [R_i]_+, \qquad \eta_i = 1 / (B + V_i), \quad B = \max r^2

    P. Gaillard, G. Stoltz and T. van Erven, "A second-order bound with excess losses", COLT 2014;
    with B as in the package opera.
    """

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.R, self.V, self.B = np.zeros(n), np.zeros(n), 0.0

    def _weigh(self) -> FloatArray:
        scale = self.B + self.V
        return np.asarray(np.maximum(self.R, 0.0) / np.where(scale > 0, scale, 1.0))

    def _learn(self, regrets: FloatArray, errors: FloatArray, awake: BoolArray) -> None:
        self.R, self.V = self.R + regrets, self.V + regrets**2
        self.B = max(self.B, float((regrets**2).max()))


class BOA(Reference):
    r"""Bernstein online aggregation with one learning rate per expert.

    .. math:: p_i \propto \eta_i e^{\eta_i \sum_t (r_{t,i} - \eta_{t,i} r_{t,i}^2)}, \qquad
              \eta_{t,i} = \min\Bigl\{\frac1{2\max_s |r_{s,i}|}, \sqrt{\ln N / V_i}\Bigr\}

    O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning 106,
    2017. An expert whose regrets were all 0 has no learning rate yet, and the weight of the mean.
    """

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.charged, self.V, self.largest = np.zeros(n), np.zeros(n), np.zeros(n)
        self.seen, self.eta = np.zeros(n, dtype=bool), np.ones(n)

    def _weigh(self) -> FloatArray:
        if not self.seen.any():
            return np.ones(self.n)
        exponent = np.where(self.seen, np.log(self.eta) + self.eta * self.charged, -np.inf)
        w = np.exp(exponent - exponent.max())
        return np.asarray(np.where(self.seen, w, w[self.seen].mean()))

    def _learn(self, regrets: FloatArray, errors: FloatArray, awake: BoolArray) -> None:
        self.V = self.V + regrets**2
        self.largest = np.maximum(self.largest, np.abs(regrets))
        self.seen = self.V > 0
        root = np.sqrt(np.where(self.seen, self.V, 1.0) / math.log(self.n))
        self.eta = 1.0 / np.maximum(2.0 * np.where(self.seen, self.largest, 1.0), root)
        self.charged = self.charged + regrets - self.eta * regrets**2


class InverseError(Reference):
    """Weights proportional to one over the mean squared error so far."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.sums, self.rounds = np.zeros(n), np.zeros(n)

    def _weigh(self) -> FloatArray:
        known = self.rounds > 0
        if not known.any():
            return np.ones(self.n)
        mean = self.sums / np.maximum(self.rounds, 1.0)
        mean = np.where(known, mean, mean[known].mean())
        return np.asarray(1.0 / np.maximum(mean, 1e-300))

    def _learn(self, regrets: FloatArray, errors: FloatArray, awake: BoolArray) -> None:
        self.sums, self.rounds = self.sums + errors**2, self.rounds + awake


class EWA(Reference):
    r"""Exponential weights, :math:`p_i \propto e^{\eta R_i}`, at one learning rate."""

    def __init__(self, n: int, rate: float) -> None:
        super().__init__(n)
        self.R, self.rate = np.zeros(n), rate

    def _weigh(self) -> FloatArray:
        return np.asarray(np.exp(self.rate * (self.R - self.R.max())))

    def _learn(self, regrets: FloatArray, errors: FloatArray, awake: BoolArray) -> None:
        self.R = self.R + regrets


def square_slope(x: float, y: float) -> float:
    """Return the slope of square loss."""
    return 2.0 * (x - y)


def pinball_slope(q: float) -> SlopeOf:
    """Return the slope of pinball loss."""
    return lambda x, y: (1.0 - q) * (x > y) - q * (x < y)


def tuned_ewa(
    X: FloatArray,
    y: FloatArray,
    slope: SlopeOf,
    score: Callable[[FloatArray], float],
    rates: Sequence[float] = RATES,
) -> FloatArray:
    """Return the predictions of EWA at the learning rate that is best in hindsight."""
    return min((EWA(X.shape[1], rate).play(X, y, slope) for rate in rates), key=score)
