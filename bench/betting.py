"""Intervals for a mean by betting beside those that people use: how wide, and how often they miss.

``python -m bench betting``. Each sample is drawn anew; all intervals see the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bench.harness import Tell, silent
from driftgames.certificates import coin_interval, confidence_sequence, mean_interval
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

SIZES, SAMPLES, DELTA = (20, 100, 500), 2_000, 0.05

Draw = Callable[[np.random.Generator, int], FloatArray]
Ends = tuple[float, float]


def coin(p: float) -> Draw:
    """Return how coins are drawn that show 1 with chance ``p``."""
    return lambda rng, n: np.asarray(rng.random(n) < p, dtype=np.float64)


def rare(rng: np.random.Generator, n: int) -> FloatArray:
    """Return small values, of which one in fifty is 1."""
    return np.where(rng.random(n) < 0.02, 1.0, 0.1 * rng.random(n))


DISTRIBUTIONS: dict[str, tuple[Draw, float]] = {
    "coin, 1/2": (coin(0.5), 0.5),
    "coin, 1/10": (coin(0.1), 0.1),
    "coin, 1/100": (coin(0.01), 0.01),
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "Beta(10, 30)": (lambda rng, n: rng.beta(10, 30, size=n), 0.25),
    "Beta(0.1, 2)": (lambda rng, n: rng.beta(0.1, 2.0, size=n), 0.1 / 2.1),
    "rare ones": (rare, 0.02 + 0.98 * 0.05),
}
"""How values are drawn, and their mean."""


# -------------------------------------------------------------------- the intervals


def betting(x: FloatArray) -> Ends:
    """Return the interval of a bettor who knows the size of the sample."""
    found = mean_interval(x, DELTA)
    return found.low, found.high


def hoeffding(x: FloatArray) -> Ends:
    """Return the interval of Hoeffding (1963)."""
    return _around(x, math.sqrt(math.log(2 / DELTA) / (2 * x.size)))


def empirical_bernstein(x: FloatArray) -> Ends:
    """Return the interval of Maurer and Pontil (2009)."""
    doubt = math.log(4 / DELTA)
    spread = math.sqrt(2 * float(x.var(ddof=1)) * doubt / x.size)
    return _around(x, spread + 7 * doubt / (3 * (x.size - 1)))


def clopper_pearson(x: FloatArray) -> Ends:
    """Return the exact interval of coins; NaN for other values."""
    if not np.isin(x, (0.0, 1.0)).all():
        return math.nan, math.nan
    found = coin_interval(int(x.sum()), x.size, DELTA)
    return found.low, found.high


def normal(x: FloatArray) -> Ends:
    """Return the mean and 1.96 standard errors, which is only roughly right."""
    return _around(x, 1.959964 * float(x.std(ddof=1)) / math.sqrt(x.size))


def _around(x: FloatArray, half: float) -> Ends:
    mean = float(x.mean())
    return max(mean - half, 0.0), min(mean + half, 1.0)


FIXED: dict[str, Callable[[FloatArray], Ends]] = {
    "betting": betting,
    "Clopper-Pearson": clopper_pearson,
    "emp. Bernstein": empirical_bernstein,
    "Hoeffding": hoeffding,
    "normal": normal,
}


def betting_sequence(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of a bettor who may be asked at any time."""
    run = confidence_sequence(x, DELTA, tuned_for=100)
    return run.low, run.high


def bernstein_sequence(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the empirical Bernstein bounds of Waudby-Smith and Ramdas (2024), Theorem 2."""
    t = np.arange(1, x.size + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    before = np.concatenate([[0.5], means[:-1]])
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    known = np.concatenate([[0.25], variances[:-1]])
    rate = np.minimum(np.sqrt(2 * math.log(2 / DELTA) / (known * t * np.log(t + 1))), 0.5)
    psi = -np.log1p(-rate) - rate
    half = (math.log(2 / DELTA) + np.cumsum((x - before) ** 2 * psi)) / np.cumsum(rate)
    centre = np.cumsum(rate * x) / np.cumsum(rate)
    low, high = np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
    return np.maximum.accumulate(low), np.minimum.accumulate(high)


def hoeffding_sequence(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of a normal mixture for values in [0, 1] (Robbins 1970), best at 100."""
    t = np.arange(1, x.size + 1) / 4
    extra = 100 / 4 / (2 * math.log(2 / DELTA))
    radius = np.sqrt((t + extra) * (2 * math.log(2 / DELTA) + np.log1p(t / extra))) / (4 * t)
    means = np.cumsum(x) / (4 * t)
    low, high = np.maximum(means - radius, 0.0), np.minimum(means + radius, 1.0)
    return np.maximum.accumulate(low), np.minimum.accumulate(high)


SEQUENCES: dict[str, Callable[[FloatArray], tuple[FloatArray, FloatArray]]] = {
    "betting": betting_sequence,
    "emp. Bernstein": bernstein_sequence,
    "Hoeffding": hoeffding_sequence,
}


# -------------------------------------------------------------------- the tables


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return widths and misses for samples of a fixed size, and at all times at once."""
    samples = 50 if quick else SAMPLES
    widths, misses, always = list[Row](), list[Row](), list[Row]()
    for name in DISTRIBUTIONS:
        for n in SIZES:
            tell(f"{name}, {n} values")
            wide, missed = fixed_size(name, n, samples)
            widths.append((name, n, *wide, _ratio(wide, 1), _ratio(wide, 2)))
            misses.append((name, n, *missed))
        tell(f"{name}, at all times")
        always.append((name, *all_times(name, max(SIZES), samples)))
    begin = Column("distribution"), Column("n", ",d")
    title = f"{samples:,} samples each, delta {DELTA:g}"
    figures = tuple(Column(name, ".4f") for name in FIXED)
    shares = tuple(Column(name, ".1%") for name in FIXED)
    ratios = Column("betting / C.-P.", ".3f"), Column("betting / Bernstein", ".3f")
    ends = tuple(
        Column(f"{name}, {what}", form)
        for name in SEQUENCES
        for what, form in (("width", ".4f"), ("misses", ".1%"))
    )
    rules = f"a miss is one at any time up to {max(SIZES)}; widths are those at the end"
    return [
        Table(f"Mean width, {title}", (*begin, *figures, *ratios), tuple(widths)),
        Table(f"Misses, {title}", (*begin, *shares), tuple(misses)),
        Table(f"At all times at once, {title}", (begin[0], *ends), tuple(always), (rules,)),
    ]


def fixed_size(name: str, n: int, samples: int) -> tuple[list[float], list[float]]:
    """Return the mean width of each interval, and how often it misses."""
    draw, mean = DISTRIBUTIONS[name]
    rng = np.random.default_rng(n)
    found = np.empty((samples, len(FIXED), 2))
    for i in range(samples):
        x = draw(rng, n)
        found[i] = [interval(x) for interval in FIXED.values()]
    low, high = found[..., 0], found[..., 1]
    missed = np.where(np.isnan(low), np.nan, (low > mean) | (high < mean))
    return (high - low).mean(axis=0).tolist(), missed.mean(axis=0).tolist()


def all_times(name: str, n: int, samples: int) -> list[float]:
    """Return width at the end and share of samples that ever miss, for each sequence."""
    draw, mean = DISTRIBUTIONS[name]
    rng = np.random.default_rng(n)
    found = np.empty((samples, len(SEQUENCES), 2))
    for i in range(samples):
        x = draw(rng, n)
        for j, sequence in enumerate(SEQUENCES.values()):
            low, high = sequence(x)
            found[i, j] = high[-1] - low[-1], ((low > mean) | (high < mean)).any()
    return [float(value) for value in found.mean(axis=0).ravel()]


def _ratio(widths: list[float], other: int) -> float:
    return widths[0] / widths[other]
