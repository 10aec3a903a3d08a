"""What is promised of a regressor on new examples, by examples held out of everything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftgames.core.checks import check_fraction, check_integer, check_interval
from driftgames.core.display import Displayed

ASKED = 0.9
"""The coverage of the intervals that a certificate is about."""


@dataclass(frozen=True)
class NewNumbers(Displayed):
    r"""Coverage, CRPS and mean absolute error of a regressor on new examples.

    .. math:: \Pr[y \in C(x)] \ge 1 - \frac{2 \lfloor (n + 1) \alpha / 2 \rfloor}{n + 1}, \qquad
              \mathrm{E} \int_a^b (F_x(z) - 1\{z \ge y\})^2 \, dz \le h

    for n examples held out of everything, intervals C of :math:`1 - \alpha`, the predicted
    distribution function :math:`F_x`, the range [a, b] of the training outcomes, and the upper
    bound h of `mean_interval`. The absolute error is that of medians and outcomes clipped to the
    range. Both are bounded then, as a bound on a mean needs. Outcomes in the range are not changed.

    Parameters
    ----------
    n_examples : int
        The examples held out.
    low, high : float
        The range of the training outcomes.
    crps, mae : float
        The means on the examples held out.
    crps_high, mae_high : float
        Their upper bounds.
    coverage : float
        The probability that an interval of 90 % holds a new outcome, at least.
    delta : float
        The chance that a bound is wrong; each of both has its own. Default: 0.05.

    Notes
    -----
    The examples held out are drawn by pseudo-random keys of their contents. The keys count as
    random numbers, so that the examples held out, those to train on and new ones are exchangeable.
    Each counts once, whatever its sample weight.

    *Coverage* is a probability over the draw of all examples, the new one included: split conformal
    prediction (Vovk, Gammerman and Shafer, 2005). Ties only raise it. The intervals of one fit may
    cover more or less: for n examples the standard deviation over fits is about
    :math:`\sqrt{\alpha (1 - \alpha) / n}`.

    *Bounds* hold given the model: its scores on the examples held out are independent then.

    Examples
    --------
    >>> print(NewNumbers(200, 0.0, 50.0, 1.25, 1.7, 1.512, 2.003, 0.9004))
    intervals of 90 % hold a new outcome with a probability of at least 90.0 %
    CRPS on new examples at most 1.512 with confidence 95 %, between 0 and 50; it was 1.25
    mean absolute error at most 2.003 with confidence 95 %, clipped to this range; it was 1.7
    promised by 200 examples held out of everything; 0 and 50 are the ends of the training outcomes
    """

    n_examples: int
    low: float
    high: float
    crps: float
    mae: float
    crps_high: float
    mae_high: float
    coverage: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        check_integer("n_examples", self.n_examples, least=1)
        check_fraction("delta", self.delta)
        if self.low != self.high:
            check_interval("the range", (self.low, self.high))

    @property
    def promise(self) -> str:
        """What is promised of intervals, on one line."""
        asked = f"intervals of {100 * ASKED:g} %"
        if self.coverage >= 1.0:
            needed = math.ceil(2.0 / (1.0 - ASKED) - 1e-9) - 1
            return f"{asked} are infinite: they need {needed} examples held out; got " + str(
                self.n_examples
            )
        least = math.floor(1000 * self.coverage + 1e-9) / 10
        return f"{asked} hold a new outcome with a probability of at least {least:.1f} %"

    def __str__(self) -> str:
        ends = f"{self.low:.6g} and {self.high:.6g}"
        return "\n".join(
            [
                self.promise,
                self._bound("CRPS on new examples", self.crps, self.crps_high, f"between {ends}"),
                self._bound(
                    "mean absolute error", self.mae, self.mae_high, "clipped to this range"
                ),
                f"promised by {self.n_examples:,} examples held out of everything; {ends} are the "
                "ends of the training outcomes",
            ]
        )

    def _bound(self, name: str, mean: float, high: float, where: str) -> str:
        """Return a bound in words; half the range is promised by a guess of its middle."""
        if not high < self.high / 2.0 - self.low / 2.0:
            return f"{name}: nothing is promised, too few were held out; it was {mean:.4g}"
        sure = f"with confidence {100 * (1 - self.delta):g} %"
        return f"{name} at most {_rounded_up(high)} {sure}, {where}; it was {mean:.4g}"

    def to_json(self) -> dict[str, Any]:
        """Return what is promised as plain data."""
        return {**vars(self), "promise": self.promise}

    def _headline(self) -> str:
        return self.promise

    def _facts(self) -> Mapping[str, Any]:
        return {
            "CRPS at most": self.crps_high,
            "mean absolute error at most": self.mae_high,
            "examples held out": self.n_examples,
        }


def _rounded_up(value: float) -> str:
    """Return a positive number with four digits, not below it.

    >>> _rounded_up(1.00001), _rounded_up(2.5), _rounded_up(123456.0)
    ('1.001', '2.5', '1.235e+05')
    """
    shown = f"{value:.4g}"
    if float(shown) < value:
        shown = f"{value + 0.5 * 10.0 ** (math.floor(math.log10(value)) - 3):.4g}"
    return shown
