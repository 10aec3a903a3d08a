"""A bound on the log-loss on new examples, from the log-losses on examples held out.

Probabilities are clipped to [0.01, 0.99]: a loss must be bounded for a bound on its mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import total
from driftgames.certificates.mean_intervals import mean_interval
from driftgames.core.caching import cached_property
from driftgames.core.checks import check_fraction, check_integer, check_kind, check_vector
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import FloatArray

CLIP = 0.01
"""Probabilities are clipped to [0.01, 0.99]."""

_ENDS = -log_all(np.array([1.0 - CLIP, CLIP]))
_SHARES = np.arange(256) / 255.0
LEVELS = _ENDS[0] * exp_all(_SHARES * log_all(_ENDS[1:] / _ENDS[:1])[0])
"""Losses are rounded up to one of 256 levels, each 2.4 % above the one before."""
LEVELS[-1] = _ENDS[1]


class LossCounts(NamedTuple):
    """The log-losses of one part held out: their mean, and how many are at most each level.

    ``counts`` has pairs of a number of `LEVELS` and a number of examples.
    """

    mean: float
    counts: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, losses: FloatArray, at_most: FloatArray | None = None) -> LossCounts:
        """Count clipped losses. Where ``at_most`` is given, it is counted in their place.

        >>> LossCounts.of(np.array([0.0, 0.7, 0.7, 9.0]))
        LossCounts(mean=1.5038051304603983, counts=((0, 1), (177, 2), (255, 1)))
        """
        clipped = np.clip(check_vector("losses", losses), *_ENDS)
        counted = clipped if at_most is None else np.clip(at_most, *_ENDS)
        found, times = np.unique(np.searchsorted(LEVELS, counted), return_counts=True)
        pairs = zip(found.tolist(), times.tolist(), strict=True)
        return cls(total(np.sort(clipped)) / clipped.size, tuple(pairs))

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return sum(n for _, n in self.counts)

    def high(self, delta: float) -> float:
        """Return an upper bound on the mean loss of new examples."""
        levels, times = np.array(self.counts).T
        values = np.repeat(LEVELS[levels], times)
        ends = float(_ENDS[0]), float(_ENDS[1])
        return mean_interval(values, delta, value_range=ends, side="upper", any_order=True).high


@dataclass(frozen=True)
class NewLogLoss(Displayed):
    r"""The log-loss on new examples: a bound from the log-losses on examples held out.

    .. math:: \sum_k \frac{n_k}{n} \mathrm{E}\,\ell_k \le \sum_k \frac{n_k}{n} h_k, \qquad
              \Pr[\mathrm{E}\,\ell_k > h_k] \le \frac{\delta}{m K}

    where :math:`\ell_k = -\ln p` is the loss of booster k, with p clipped to [0.01, 0.99], on a new
    example, and :math:`h_k` the upper bound of `mean_interval` on its mean, from the examples that
    it held out. There are K parts, and m candidates were compared on them.

    Parameters
    ----------
    parts : tuple of LossCounts
        The losses on the examples that each booster held out, rounded up.
    who : str
        The boosters that it is about, in words.
    n_classes : int
        A bound of the logarithm of this number is that of equal probabilities: worth nothing.
        Default: 2.
    n_candidates : int
        From how many candidates these examples could choose, sigmoids included. Default: 1.
    delta : float
        The chance that a bound is promised and wrong. Default: 0.05.
    caveat : str
        Why nothing is promised; empty if something is.

    Notes
    -----
    It holds for the same boosters and the same new examples as `NewExamples`, each of both bounds
    with its own ``delta``. Classes that are shared evenly among folds change nothing: the bound of
    `mean_interval` is one for the average of the means of independent values.

    The sigmoid that makes probabilities of votes is fitted to these very examples. So the bound
    must hold for all sigmoids that could have been chosen. They lie on a grid of cells, and the
    largest loss of an example in the cell of the chosen one takes the place of its loss.

    Examples
    --------
    >>> losses = np.random.default_rng(0).exponential(0.3, size=2000)
    >>> print(NewLogLoss((LossCounts.of(losses),), "all"))
    log-loss on new examples at most 0.330 with confidence 95 %, p clipped to [0.01, 0.99]: all
    it was 0.304 on the examples held out
    """

    parts: tuple[LossCounts, ...]
    who: str = "this booster"
    n_classes: int = 2
    n_candidates: int = 1
    delta: float = 0.05
    caveat: str = ""

    def __post_init__(self) -> None:
        check_fraction("delta", self.delta)
        check_integer("n_candidates", self.n_candidates, least=1)
        check_integer("n_classes", self.n_classes, least=2)
        check_kind("parts", self.parts, tuple)
        if not (self.parts or self.caveat):
            raise ValueError("caveat must say why no losses are known; got none")

    @property
    def estimate(self) -> float | None:
        """The mean loss on the examples held out; None if it is not known."""
        if not self.parts:
            return None
        n_examples = sum(part.n_examples for part in self.parts)
        return sum(part.n_examples * part.mean for part in self.parts) / n_examples

    @cached_property
    def high(self) -> float:
        """The bound; infinite if nothing is promised."""
        if self.caveat:
            return math.inf
        doubt = float(self.delta) / self.n_candidates / len(self.parts)
        n_examples = sum(part.n_examples for part in self.parts)
        return sum(part.n_examples * part.high(doubt) for part in self.parts) / n_examples

    @property
    def _is_void(self) -> bool:
        """Whether equal probabilities are as good as the bound."""
        return self.high >= math.log(self.n_classes)

    @property
    def promise(self) -> str:
        """What is promised, and to whom, on one line."""
        if self.caveat:
            return f"nothing is promised about log-loss: {self.caveat}"
        if self._is_void:
            return "nothing is promised about log-loss: too few examples were held out"
        most = math.ceil(self.high * 1000 * (1.0 - 1e-12)) / 1000
        return (
            f"log-loss on new examples at most {most:.3f} with confidence "
            f"{100 * (1 - self.delta):g} %, p clipped to [{CLIP:g}, {1 - CLIP:g}]: "
            f"{self.who}"
        )

    def __str__(self) -> str:
        if self.estimate is None:
            return self.promise
        seen = f"it was {self.estimate:.3f} on"
        if self._is_void:
            return f"{self.promise}; {seen} those held out"
        return f"{self.promise}\n{seen} the examples held out"

    def to_json(self) -> dict[str, Any]:
        """Return what is promised as numbers and texts for a JSON file."""
        return {
            "promise": self.promise,
            "log_loss_at_most": None if self._is_void else self.high,
            "clip": [CLIP, 1.0 - CLIP],
            "confidence": 1.0 - self.delta,
            "estimate": self.estimate,
            "n_candidates": self.n_candidates,
        }

    def _headline(self) -> str:
        return self.promise

    def _facts(self) -> Mapping[str, Any]:
        return {} if self.estimate is None else {"estimate": self.estimate}

    def _columns(self) -> Fields:
        return {
            "n_examples": [part.n_examples for part in self.parts],
            "log_loss": [part.mean for part in self.parts],
        }

    def _sketch(self) -> Sketch:
        return Sketch(bars={f"part {k}": part.mean for k, part in enumerate(self.parts, 1)})
