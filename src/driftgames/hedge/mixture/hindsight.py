r"""The best convex combination of forecasts in hindsight, which a mixture is measured against.

.. math:: q^* = \arg\min_{q} \sum_t \ell(q\cdot x_t, y_t) \quad\text{over the simplex}

With the gradient G of the sum at q, convexity bounds what q lacks by
:math:`q\cdot G - \min_i G_i`, the gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._kernels.simplex import lowest_on_simplex, most_log_wealth
from driftgames.core.checks import check_finite, shown
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import FloatArray
from driftgames.hedge.losses.interval_losses import AbsoluteLoss, PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss
from driftgames.hedge.losses.loss_base import Loss
from driftgames.hedge.losses.make_loss import make_loss

_RIDGE = 1e-12  # relative to the trace, so that equal experts leave the matrix definite


@dataclass(frozen=True, eq=False)
class BestCombination(Displayed):
    """The best fixed convex combination of some forecasts.

    Parameters
    ----------
    weights : array
        The weight of each expert.
    total_loss : float
        What this combination loses in all rounds.
    gap : float
        How much less the very best combination could lose, at most.
    """

    weights: FloatArray
    total_loss: float
    gap: float

    def _columns(self) -> Fields:
        return {"expert": range(self.weights.size), "weight": self.weights}

    def _sketch(self) -> Sketch:
        return Sketch(bars={str(k): float(w) for k, w in enumerate(self.weights)})


@dataclass(frozen=True, eq=False)
class CombinationCertificate(Displayed):
    r"""The regret of a mixture to the best convex combination, beside what is promised of it.

    .. math:: \sum_t \ell(\hat y_t, y_t) - \min_q \sum_t \ell(q\cdot x_t, y_t)
              \le \mathrm{linearised} \le \mathrm{promised}

    Parameters
    ----------
    best : BestCombination
        The best convex combination in hindsight.
    total_loss : float
        The loss of the mixture.
    linearised : float
        The regret of the learner on linearised losses.
    promised : float
        The learner's bound on it.
    horizon : int
        The number of rounds.
    """

    best: BestCombination
    total_loss: float
    linearised: float
    promised: float
    horizon: int

    @property
    def regret(self) -> float:
        """The mixture's loss less that of the best combination; exact up to ``best.gap``."""
        return self.total_loss - self.best.total_loss

    @property
    def holds(self) -> bool:
        """Whether the regret keeps below both; one rounding error per round is allowed for."""
        rounding = self.horizon * 2.0**-52 * max(abs(self.total_loss), abs(self.promised))
        return self.regret <= self.linearised + rounding <= self.promised + 2 * rounding

    def _sketch(self) -> Sketch:
        bars = {"regret": self.regret, "linearised": self.linearised, "promised": self.promised}
        return Sketch(bars=bars)

    def __str__(self) -> str:
        verdict = "the bound holds" if self.holds else "THE BOUND IS BROKEN"
        return (
            f"regret to the best convex combination after {self.horizon:,} rounds: {verdict}\n"
            f"realised {self.regret:.6g}, promised at most {self.promised:.6g}\n"
            f"on linearised losses {self.linearised:.6g}; the best combination is found up to "
            f"{self.best.gap:.2g}"
        )


def best_combination(
    X: npt.ArrayLike, y: npt.ArrayLike, loss: str | Loss = "square"
) -> BestCombination:
    """Return the convex combination of the columns of ``X`` that loses least on ``y``.

    Square loss is solved as a quadratic program, absolute and pinball loss as linear programs,
    log loss as a log-optimal portfolio, and a loss of your own by sequential quadratic programs.

    >>> best = best_combination([[0.0, 1.0], [0.0, 1.0]], [0.25, 0.75])
    >>> best.weights, best.total_loss
    (array([0.5, 0.5]), 0.125)
    """
    chosen = make_loss(loss, any_size=True)
    if not chosen.has_slope:
        raise ValueError(f"the loss must be convex and have a slope; got {shown(chosen)}")
    outcomes = chosen.check_outcomes(y)
    forecasts = chosen.check_predictions(X)
    check_finite("forecasts", forecasts)
    if forecasts.ndim != 2 or outcomes.shape != forecasts.shape[:1] or 0 in forecasts.shape:
        raise ValueError(
            "forecasts must be of shape (rounds, experts) and outcomes of shape (rounds,); "
            f"got {forecasts.shape} and {outcomes.shape}"
        )
    weights, slopes = _search(chosen, forecasts, outcomes)
    mixed = forecasts @ weights
    total = float(chosen.evaluate(mixed, outcomes).sum())
    if slopes is None:
        gradient, bend = chosen.slope(mixed, outcomes) @ forecasts, 0.0
    else:  # at a kink the search knows the slope; its line through 0 lies below the loss
        gradient, bend = slopes @ forecasts, total - float(slopes @ (mixed - outcomes))
    gap = float(weights @ gradient - gradient.min()) + bend
    return BestCombination(weights, total, max(gap, 0.0))


def _search(
    loss: Loss, forecasts: FloatArray, outcomes: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Return the weights and, for a loss with kinks, the slopes that prove them best."""
    if isinstance(loss, SquareLoss):
        errors = forecasts - outcomes[:, None]
        # in units of the largest error, so that no square over- or underflows
        errors /= np.abs(errors).max() or 1.0
        return least_squares_weights(errors.T @ errors), None
    if isinstance(loss, AbsoluteLoss):
        weights, slopes = _quantile(forecasts, outcomes, 0.5)
        return weights, 2.0 * slopes
    if isinstance(loss, PinballLoss):
        return _quantile(forecasts, outcomes, loss.q)
    if isinstance(loss, LogLoss):
        chances = np.where(outcomes[:, None] == 1.0, forecasts, 1.0 - forecasts)
        return most_log_wealth(chances, 1e-12)[0], None
    return _any_slope(loss, forecasts, outcomes), None


def least_squares_weights(products: FloatArray) -> FloatArray:
    r"""Return the point q of the simplex with the lowest :math:`q\cdot Aq`.

    A holds the sums of products of errors, :math:`A_{ij} = \sum_t (x_{t,i} - y_t)(x_{t,j} - y_t)`.
    """
    n = len(products)
    trace = float(np.trace(products))
    A = products / trace if trace > 0 else np.zeros_like(products)
    A[np.diag_indices(n)] += _RIDGE
    q = np.full(n, 1.0 / n)
    lowest_on_simplex(A, np.zeros(n), q)
    return q


def _quantile(
    forecasts: FloatArray, outcomes: FloatArray, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """Minimise the pinball loss: outcome = q.x + over - under, with over and under >= 0."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    rounds, n = forecasts.shape
    scale = max(float(np.abs(forecasts).max()), float(np.abs(outcomes).max()), 1e-300)
    ones = eye_array(rounds)
    rows = hstack([csr_array(forecasts / scale), ones, -ones]).tocsr()
    total = csr_array(np.concatenate([np.ones(n), np.zeros(2 * rounds)])[None])
    cost = np.concatenate([np.zeros(n), np.full(rounds, quantile), np.full(rounds, 1 - quantile)])
    found = linprog(
        cost,
        A_eq=vstack([rows, total]),
        b_eq=np.concatenate([outcomes / scale, [1.0]]),
        method="highs",
    )
    slopes = np.clip(-found.eqlin.marginals[:rounds], -quantile, 1.0 - quantile)
    return _onto_simplex(found.x[:n]), slopes


def _any_slope(loss: Loss, forecasts: FloatArray, outcomes: FloatArray) -> FloatArray:
    from scipy.optimize import minimize

    n = forecasts.shape[1]
    start = np.full(n, 1.0 / n)
    unit = max(abs(float(loss.evaluate(forecasts @ start, outcomes).sum())), 1e-300)
    found = minimize(
        lambda q: float(loss.evaluate(forecasts @ q, outcomes).sum()) / unit,
        start,
        jac=lambda q: loss.slope(forecasts @ q, outcomes) @ forecasts / unit,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1.0, "jac": lambda q: np.ones(n)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return _onto_simplex(found.x)


def _onto_simplex(q: FloatArray) -> FloatArray:
    """Remove what rounding left outside the simplex."""
    weights = np.maximum(q, 0.0)
    return np.asarray(weights / weights.sum())
