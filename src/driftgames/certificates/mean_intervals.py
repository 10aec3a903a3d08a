r"""Intervals for a mean from a sample whose size is fixed: a bettor with a deadline.

`mean_interval` takes any values of a bounded range, `coin_interval` the counts of a coin.

References
----------
.. [WSR24] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
   betting", Journal of the Royal Statistical Society B 86 (2024).
.. [VO25] V. Voracek and F. Orabona, "STaR-Bets: sequential target-recalculating bets for tighter
   confidence intervals", 2025.
.. [CP34] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
   the case of the binomial", Biometrika 26 (1934).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames._kernels.sums import dot, total
from driftgames.certificates import sample_kernels as kernels
from driftgames.certificates.betting import SIDES, ConfidenceSequence, check_weights
from driftgames.core.checks import (
    check_choice,
    check_flag,
    check_fraction,
    check_integer,
    check_interval,
    check_range,
    check_vector,
    shown,
)
from driftgames.core.display import Displayed, Sketch

_ROUNDED = 1.0 - 1e-9  # tails of coins are right to this; delta is made smaller by it


class _Interval(NamedTuple):
    mean: float
    low: float
    high: float
    delta: float
    n: int


class MeanInterval(Displayed, _Interval):
    """An interval for a mean: the estimate, the bounds, the chance of a miss, the sample's size."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"mean {self.mean:.4f}, in [{self.low:.4f}, {self.high:.4f}] with confidence "
            f"{1 - self.delta:g}; {self.n:,} values"
        )

    def _sketch(self) -> Sketch:
        return Sketch(intervals={"mean": (self.low, self.mean, self.high)})


def mean_interval(
    values: npt.ArrayLike,
    delta: float = 0.05,
    *,
    weights: npt.ArrayLike | None = None,
    value_range: tuple[float, float] = (0.0, 1.0),
    side: str = "both",
    any_order: bool = False,
) -> MeanInterval:
    r"""Return an interval for the mean of a sample whose size was fixed beforehand.

    .. math:: \lambda_t = \frac{\varphi(z_t)}{\delta W_{t-1}\,\hat\sigma_t\sqrt{n - t + 1}},
              \qquad z_t = \Phi^{-1}(\delta W_{t-1}), \qquad
              W_t = W_{t-1}(1 + \lambda_t(X_t - m))

    A claimed mean m is rejected if the wealth :math:`W_t` reaches :math:`1/\delta`. The wealth of
    this bettor is a potential of its position: the price of an option that pays :math:`1/\delta`
    if the values are high enough at the end. For normal values no bettor reaches its goal more
    often, and for coins the interval is nearly that of Clopper and Pearson. [WSR24]_, [VO25]_

    Parameters
    ----------
    values : array
        The sample, in the order in which it was drawn, or any order that does not depend on the
        values.
    delta : float
        The chance of a miss, over both sides. Default: 0.05.
    weights : array, optional
        One weight in (0, 1] per value: the mean is then that of ``w X`` over that of ``w``.
    value_range : (float, float)
        The range of the values. Default: (0, 1).
    side : {"both", "lower", "upper"}
        Which bounds to find; the other one is then the end of the range.
    any_order : bool
        Whether the interval must be the same, to the bit, for every order of the sample. It is
        then that of `ConfidenceSequence` after n values, and wider. For zeros and ones
        `coin_interval` needs no order. Default: False.

    Notes
    -----
    Claims are tested in rising order on a grid that does not depend on the values. A bettor who
    bets on high values alone does not win on average against a claim above the true mean. So the
    lower bound exceeds the true mean only if the first point of the grid above it is rejected,
    which has probability at most ``delta``. For speed there are two grids, which share ``delta`` as
    1 to 39: a coarse one that skips claims far away, and a fine one near the bound. The upper bound
    is this for ``1 - X``, with half of ``delta`` each. It needs values with one mean, given the
    past; independent ones are a case of it.

    Examples
    --------
    >>> x = np.random.default_rng(0).beta(10, 30, size=200)
    >>> print(mean_interval(x))
    mean 0.2568, in [0.2365, 0.2752] with confidence 0.95; 200 values
    """
    low, high = check_interval("value_range", value_range)
    doubt = check_fraction("delta", delta) / (
        2.0 if check_choice("side", side, SIDES) == "both" else 1.0
    )
    x = check_vector("values", values)
    if not x.size:
        raise ValueError("values must hold at least one value; got none")
    check_range("values", x, low, high)
    w = check_weights(weights, x.size)
    if check_flag("any_order", any_order):
        return _any_order(x, w, delta, (low, high), side)
    unit, ends = (x - low) / (high - low), [0.0, 1.0]
    root = math.sqrt(x.size)
    grid = 10 + math.ceil(4.0 * root), 10 + math.ceil(min(0.8 * root, 60.0))
    if side != "upper":
        ends[0] = kernels.lower_bound(unit, w, doubt, *grid)
    if side != "lower":
        ends[1] = 1.0 - kernels.lower_bound(1.0 - unit, w, doubt, *grid)
    least, most = (low + (high - low) * end for end in ends)
    return MeanInterval(dot(w, x) / total(w), least, most, float(delta), x.size)


def coin_interval(
    successes: int, trials: int, delta: float = 0.05, *, side: str = "both"
) -> MeanInterval:
    r"""Return the interval of Clopper and Pearson for a chance, from counts alone.

    .. math:: \Pr_{p_{high}}[S \le k] = \delta/2, \qquad \Pr_{p_{low}}[S \ge k] = \delta/2

    The bettor with a deadline who may bet on coins only makes exactly
    :math:`1/\Pr_p[S \ge k]` of 1 if k successes or more come, by betting the differences of
    the potential :math:`\Pr_p[S_n \ge k \mid S_t]`: nothing is lost, and no bettor does better.
    The interval depends on the counts alone, takes about 0.1 ms for any counts, and has the same
    bits on every machine. [CP34]_

    Parameters
    ----------
    successes, trials : int
        How often the event happened, and out of how many. Trials must have one chance, given the
        past; independent ones are a case of it.
    delta : float
        The chance of a miss, over both sides. Default: 0.05.
    side : {"both", "lower", "upper"}
        Which bounds to find; the other one is then 0 or 1.

    Examples
    --------
    >>> print(coin_interval(37, 1000))
    mean 0.0370, in [0.0262, 0.0506] with confidence 0.95; 1,000 values
    >>> round(coin_interval(0, 100, side="upper").high, 6)
    0.029513
    """
    n = check_integer("trials", trials, least=1)
    k = check_integer("successes", successes, least=0)
    if k > n:
        raise ValueError(f"successes must be at most trials; got {shown(k)} of {shown(n)}")
    if n > 2**40:
        raise ValueError(f"trials must be at most 2**40; got {n}")
    doubt = check_fraction("delta", delta) / (
        2.0 if check_choice("side", side, SIDES) == "both" else 1.0
    )
    doubt *= _ROUNDED
    low = 0.0 if side == "upper" else 1.0 - kernels.coin_upper_bound(n - k, n, doubt)
    high = 1.0 if side == "lower" else kernels.coin_upper_bound(k, n, doubt)
    return MeanInterval(k / n, low, high, float(delta), n)


def _any_order(
    x: npt.NDArray[np.float64],
    w: npt.NDArray[np.float64],
    delta: float,
    value_range: tuple[float, float],
    side: str,
) -> MeanInterval:
    order = np.lexsort((w, x))
    found = ConfidenceSequence(
        delta, value_range=value_range, side=side, drifting=True, tuned_for=x.size
    )
    found.update(x[order], w[order])
    low, high = value_range
    least, most = max(found.low, low), min(found.high, high)
    return MeanInterval(found.mean, least, most, float(delta), x.size)
