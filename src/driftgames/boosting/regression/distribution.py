"""Predicted distributions: what a regressor says of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import (
    as_floats,
    check_choice,
    check_finite,
    check_fraction,
    check_integer,
    shown,
)
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.generators import RandomState, own_generator
from driftgames.core.typing import Axes, Figure, FloatArray

LEVELS: FloatArray = np.array(
    [
        *(0.0, 0.0005, 0.001, 0.0025, 0.005),
        *(k / 100 for k in range(1, 100)),
        *(0.995, 0.9975, 0.999, 0.9995, 1.0),
    ]
)
"""The levels at which a distribution keeps its quantiles; it is linear between them."""


@dataclass(frozen=True, eq=False)
class PredictedDistribution(Displayed):
    """The predicted distribution of the outcome of each row.

    Between ``levels`` the quantiles are linear. The first and the last column of ``quantiles`` are
    the ends of the range that the distribution allows.

    Parameters
    ----------
    levels : array
        Ascending levels, from 0 to 1.
    quantiles : array, shape (n_rows, n_levels)
        The outcomes at these levels.
    means : array
        The mean of each row.

    Examples
    --------
    >>> levels = np.array([0.0, 0.5, 1.0])
    >>> rows = PredictedDistribution(levels, np.array([[0.0, 1.0, 4.0], [2.0, 2.0, 2.0]]))
    >>> rows.median(), rows.mean()
    (array([1., 2.]), array([1.5, 2. ]))
    >>> rows.cdf(1.0), rows.ppf(0.75)
    (array([0.5, 0. ]), array([2.5, 2. ]))
    >>> rows.interval(0.5)
    array([[0.5, 2.5],
           [2. , 2. ]])
    >>> rows.crps([1.0, 3.0]).round(4)
    array([0.3333, 1.    ])
    """

    levels: FloatArray
    quantiles: FloatArray
    means: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.quantiles)

    def __getitem__(self, rows: Any) -> PredictedDistribution:
        """Return the distributions of some rows: a number, a slice, numbers or a mask."""
        if isinstance(rows, int | np.integer):
            rows = [range(len(self))[rows]]  # which raises IndexError
        means = None if self.means is None else self.means[rows]
        return PredictedDistribution(self.levels, self.quantiles[rows], means)

    def _headline(self) -> str:
        return f"{len(self):,} rows"

    def _columns(self) -> Fields:
        ends = self.interval(0.9)
        return {
            "mean": self.mean(),
            "median": self.median(),
            "std": self.std(),
            "low_90": ends[:, 0],
            "high_90": ends[:, 1],
        }

    def _sketch(self) -> Sketch | None:
        return None

    def mean(self) -> FloatArray:
        """Return the mean of each row."""
        if self.means is not None:
            return self.means
        return self._integrate((self.quantiles[:, :-1] + self.quantiles[:, 1:]) / 2.0)

    def median(self) -> FloatArray:
        """Return the median of each row."""
        return self.ppf(0.5)

    def std(self) -> FloatArray:
        """Return the standard deviation of each row, about the mean of its quantiles."""
        middles = (self.quantiles[:, :-1] + self.quantiles[:, 1:]) / 2.0
        away = self.quantiles - self._integrate(middles)[:, None]
        _, exponents = np.frexp(np.abs(away).max(axis=1))
        away = np.ldexp(away, -exponents[:, None])  # squares of huge and tiny outcomes are finite
        a, b = away[:, :-1], away[:, 1:]
        return np.ldexp(np.sqrt(self._integrate((a * a + a * b + b * b) / 3.0)), exponents)

    def ppf(self, q: npt.ArrayLike) -> FloatArray:
        """Return the quantiles at a level, or a column for each of several.

        At 0 and 1 they are the ends of the range.
        """
        levels = check_levels(q)
        at = np.clip(np.searchsorted(self.levels, levels, side="right") - 1, 0, self._n_steps - 1)
        low, high = self.quantiles[:, at], self.quantiles[:, at + 1]
        share = (levels - self.levels[at]) / (self.levels[at + 1] - self.levels[at])
        with np.errstate(over="ignore", invalid="ignore"):
            between = low + share * (high - low)
        if not np.isfinite(between).all():  # a step wider than the largest float
            between = 2.0 * (low / 2.0 + share * (high / 2.0 - low / 2.0))
        return np.asarray(np.where(share == 1.0, high, between))

    def interval(self, coverage: float = 0.9) -> FloatArray:
        """Return the ends of central intervals: as much lies below them as above."""
        check_fraction("coverage", coverage)
        return self.ppf([(1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0])

    def cdf(self, y: npt.ArrayLike, *, side: Literal["left", "right"] = "right") -> FloatArray:
        """Return the probability of each row to be at most ``y``: a number, or one for each row.

        With ``side="left"`` it is that of being less than ``y``.
        """
        check_choice("side", side, ("left", "right"))
        outcomes = self._outcomes(y)
        out = np.empty(len(self))
        for i, (row, outcome) in enumerate(zip(self.quantiles, outcomes, strict=True)):
            k = int(np.searchsorted(row, outcome, side=side))
            if k == 0 or k > self._n_steps:
                out[i] = self.levels[0] if k == 0 else self.levels[-1]
            else:
                share = (outcome - row[k - 1]) / (row[k] - row[k - 1])
                out[i] = self.levels[k - 1] + share * (self.levels[k] - self.levels[k - 1])
        return out

    def crps(self, y: npt.ArrayLike) -> FloatArray:
        r"""Return the continuous ranked probability score of each row at its outcome.

        .. math:: \int (F(z) - 1\{z \ge y\})^2 \, dz = 2 \int_0^1 (1\{y < q_u\} - u)(q_u - y) \, du

        In the unit of the outcome; a distribution that is certain has its absolute error (Gneiting
        and Raftery, JASA 102, 2007).
        """
        y = self._outcomes(y)[:, None]
        a, b = self.quantiles[:, :-1], self.quantiles[:, 1:]
        met = np.clip(y, a, b)  # the outcome, or the end of the step that is nearer to it
        width = np.where(b > a, b - a, 1.0)
        share = np.where(b > a, (met - a) / width, y > a)
        u, after = self.levels[:-1], self.levels[1:]
        at = u + share * (after - u)
        below = _integrate_product(u, y - a, at, y - met)
        above = _integrate_product(1.0 - after, b - y, 1.0 - at, met - y)
        return np.asarray(2.0 * (below + above).sum(axis=1))

    def sample(self, n_samples: int, random_state: RandomState = None) -> FloatArray:
        """Draw outcomes of each row: a column for each of ``n_samples``."""
        n_samples = check_integer("n_samples", n_samples, least=1)
        levels = own_generator(random_state).random((len(self), n_samples))
        rows = zip(levels, self.quantiles, strict=True)
        return np.array([np.interp(each, self.levels, row) for each, row in rows])

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw the density of one row, or medians and intervals of several."""
        from driftgames.plots.distributions import plot_density, plot_intervals

        if len(self) == 1:
            return plot_density(self.levels, self.quantiles[0], ax=ax)
        return plot_intervals(self.median(), self.interval(0.5), self.interval(0.9), ax=ax)

    @property
    def _n_steps(self) -> int:
        return self.levels.size - 1

    def _integrate(self, values: FloatArray) -> FloatArray:
        """Return the sum of the values of all steps by their widths."""
        return np.asarray((values * np.diff(self.levels)).sum(axis=1))

    def _outcomes(self, y: npt.ArrayLike) -> FloatArray:
        outcomes = as_floats("y", y)
        check_finite("y", np.atleast_1d(outcomes))
        if outcomes.ndim == 0:
            return np.full(len(self), float(outcomes))
        if outcomes.shape != (len(self),):
            raise ValueError(
                f"y must be a number, or one for each of {len(self)} rows; got shape "
                f"{outcomes.shape}"
            )
        return outcomes


def check_levels(q: npt.ArrayLike) -> FloatArray:
    """Return one level or several as floats; raise ValueError for others."""
    levels = as_floats("q", q)
    if levels.ndim > 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"q must be levels in [0, 1]; got {shown(q)}")
    return levels


def _integrate_product(
    u: FloatArray, first: FloatArray, after: FloatArray, last: FloatArray
) -> FloatArray:
    """Return the integral from ``u`` to ``after`` of ``v`` times a linear function of ``v``.

    Its ends are ``first`` and ``last``. Simpson's rule is exact for a quadratic function.
    """
    middle = (u + after) * (first + last)
    return (after - u) / 6.0 * (u * first + middle + after * last)
