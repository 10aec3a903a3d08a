"""What a regressor's examples held out have shown, beside Theorem 3 over pairs."""

from __future__ import annotations

from dataclasses import dataclass

from driftgames.certificates.certificate import Comparable
from driftgames.certificates.margins import MarginCertificate
from driftgames.certificates.new_numbers import NewNumbers
from driftgames.core.display import Displayed


@dataclass(frozen=True, eq=False)
class NumberCertificate(Displayed, Comparable):
    """What is promised of predicted distributions, and what was measured.

    Parameters
    ----------
    n_examples : int
        The examples, each held out by the boosters that were measured on it.
    crps : float
        Their mean CRPS, in the unit of the outcome.
    mae : float
        The mean absolute error of the medians.
    covered : float
        The share of them between the quantiles at 5 % and 95 %.
    pairs : MarginCertificate or None
        Theorem 3 over the pairs of examples and thresholds. [LS14, Thm. 3]
    new_examples : NewNumbers, optional
        What is promised by examples held out of everything; ``covered`` is then about these.

    Notes
    -----
    Weights of pairs are cut off to integers that sum to less than ``2**31``. So an edge is exact to
    the number of pairs times ``2**-30``: to 0.01 % for 5,000 examples and 20 thresholds, to 2 % for
    a million. From 0.1 % on ``pairs`` says it.

    Examples
    --------
    >>> print(NumberCertificate(200, 1.25, 1.7, 0.905, None))
    NumberCertificate: CRPS 1.25, mean absolute error 1.7 on 200 examples held out
    90.5 % of them lie between their quantiles at 5 % and 95 %
    measured where sizes and sigmoids were chosen: nothing is promised about new examples
    validation_fraction=0.2 would hold some out of everything, for a promise
    """

    n_examples: int
    crps: float
    mae: float
    covered: float
    pairs: MarginCertificate | None
    new_examples: NewNumbers | None = None

    def _headline(self) -> str:
        if self.new_examples is not None:
            return self.new_examples.promise
        held_out = f"on {self.n_examples:,} examples held out"
        return f"CRPS {self.crps:.4g}, mean absolute error {self.mae:.4g} {held_out}"

    def __str__(self) -> str:
        if self.new_examples is not None:
            lines = [f"NumberCertificate: {self.new_examples}"]
        else:
            lines = [
                f"NumberCertificate: {self._headline()}",
                f"{100 * self.covered:.1f} % of them lie between their quantiles at 5 % and 95 %",
                "measured where sizes and sigmoids were chosen: nothing is promised about new "
                "examples",
                "validation_fraction=0.2 would hold some out of everything, for a promise",
            ]
        if self.pairs is not None:
            lines.append(str(self.pairs))
        return "\n".join(lines)
