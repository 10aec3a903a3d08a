"""A bound on the error on new examples, from the errors on examples held out.

References
----------
.. [BKL99] A. Blum, A. Kalai and J. Langford, "Beating the hold-out: bounds for k-fold and
   progressive cross-validation", COLT 1999.
.. [VW20] V. Vovk and R. Wang, "Combining p-values via averaging", Biometrika 107 (2020).
.. [H56] W. Hoeffding, "On the distribution of the number of successes in independent trials",
   Annals of Mathematical Statistics 27 (1956).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.elementary import log_all
from driftgames.certificates import sample_kernels as kernels
from driftgames.certificates.mean_intervals import coin_interval
from driftgames.certificates.new_log_loss import NewLogLoss
from driftgames.core.checks import check_choice, check_fraction, check_integer
from driftgames.core.display import Displayed, Fields
from driftgames.tables import counted

OWN, MEAN, REFIT, FOLDS = "own", "mean", "refit", "folds"
"""What the model is: the booster that held examples out, the mean of several, another fit, none."""

_MODELS = {
    MEAN: "the mean of their votes",
    REFIT: "fitted once more to all examples",
}
_ROUNDED = 1.0 + 1e-9  # what is found by golden sections is right to this


@dataclass(frozen=True)
class NewExamples(Displayed):
    r"""The error on new examples: a bound from the errors on examples held out.

    .. math:: \sum_k \frac{n_k}{n} p_k \le \max\Bigl\{\sum_k \frac{n_k}{n} q_k :
              \sum_k \frac{n_k}{n} \ln\frac{1}{\Pr_{q_k}[S_k \le s_k]} \le 1 + \ln\frac{m}{\delta}
              \Bigr\}

    with probability at least :math:`1 - \delta`, where booster k has the error :math:`p_k` and got
    :math:`s_k` of the :math:`n_k` examples wrong that it held out, and ``m`` candidates were
    compared on them. For one booster it is `coin_interval` with :math:`\delta / m`.

    Parameters
    ----------
    n_examples, n_errors : tuple of int
        The examples that each booster held out, and how many of them it got wrong.
    model : {"own", "mean", "refit", "folds"}
        What the model is: the one booster that held examples out, the mean of the votes of
        several, or one more fit, to all examples; "folds" if there is none beside the boosters of
        the folds. The bound is about the model itself only if it is the first. For the second and
        the third the errors are an estimate.
    n_candidates : int
        From how many candidates these examples could choose, such as sizes, rounds and thresholds:
        ``delta`` is divided by it. Default: 1.
    delta : float
        The chance that a bound is promised and wrong. Default: 0.05.
    caveat : str
        Why nothing is promised; empty if something is.
    log_loss : NewLogLoss, optional
        What is promised about the log-loss of the same boosters: it comes last.

    Notes
    -----
    *For whom it holds.* For new examples that are drawn as the training examples were, each counted
    once whatever its sample weight, with the classes in the shares that they have here.

    *The estimate is too low where the same examples chose.* It is the error of the best of up to
    ``n_candidates`` trials on the examples that chose it. On labels that are coins, 200 examples
    and 25 trials its mean was 0.481 for 0.5. Only the bound pays for the choice.

    *Proof.* Fix the examples that booster k was fitted to. Its errors on the others are independent
    coins, so that the surprise :math:`X_k = -\ln \Pr_{p_k}[S_k \le s_k]` exceeds x with probability
    at most :math:`e^{-x}`. Hence :math:`E_k = (X_k - \ln(1/\delta))_+ / \delta` has an expectation
    of at most 1, and so has the mean of all :math:`E_k`, whatever their dependence: by Markov's
    inequality it reaches :math:`1/\delta` with probability at most :math:`\delta`. If it does not,
    the mean of the surprises is below :math:`1 + \ln(1/\delta)` [VW20]_. For a choice from m
    candidates every one of them has the share :math:`\delta / m`.

    Folds share the classes evenly. Then the coins of the two classes have different chances, and
    their number is known. A sum of such coins is less spread out than that of equal ones [H56]_.

    The moments of the mean over folds are at most those of one part alone [BKL99]_. That gives a
    bound by moments too. This one is tighter where the folds err alike: for one look at five folds
    it is nearly as wide as the bound of one part with ``delta / e``, against ``delta / 5`` by
    adding up.

    Examples
    --------
    >>> print(NewExamples((1000,), (100,)))
    error on new examples at most 11.7 % with confidence 95 %: this booster
    it got 100 of 1,000 examples wrong that it held out: 10.0 %
    >>> print(NewExamples((200,) * 5, (20, 18, 25, 21, 16), "mean"))
    error on new examples at most 15.4 % with confidence 95 %: the 5 fold boosters, on average
    estimate for this model, the mean of their votes: 10.0 % error on 1,000 examples held out
    """

    n_examples: tuple[int, ...]
    n_errors: tuple[int, ...]
    model: str = OWN
    n_candidates: int = 1
    delta: float = 0.05
    caveat: str = ""
    log_loss: NewLogLoss | None = None

    def __post_init__(self) -> None:
        check_fraction("delta", self.delta)
        check_integer("n_candidates", self.n_candidates, least=1)
        check_choice("model", self.model, (OWN, *_MODELS, FOLDS))
        if len(self.n_examples) != len(self.n_errors):
            raise ValueError(
                f"n_errors must have one count for each of {len(self.n_examples)} parts; got "
                f"{len(self.n_errors)}"
            )
        if self.model == OWN and len(self.n_examples) > 1:
            raise ValueError(f'model="own" is for one part; got {len(self.n_examples)}')
        for n, wrong in zip(self.n_examples, self.n_errors, strict=True):
            check_integer("n_examples", n, least=1)
            if check_integer("n_errors", wrong, least=0) > n:
                raise ValueError(f"n_errors must be at most n_examples; got {wrong} of {n}")
        if not (self.n_examples or self.caveat):
            raise ValueError("caveat must say why no examples were held out; got none")

    @property
    def estimate(self) -> float | None:
        """The share of the examples held out that was wrong; None if there are none."""
        return sum(self.n_errors) / sum(self.n_examples) if self.n_examples else None

    @property
    def high(self) -> float:
        """The bound; 1 if nothing is promised."""
        if self.caveat:
            return 1.0
        doubt = float(self.delta) / self.n_candidates
        if len(self.n_examples) == 1:
            return coin_interval(self.n_errors[0], self.n_examples[0], doubt, side="upper").high
        budget = (1.0 - float(log_all(np.array([doubt]))[0])) * _ROUNDED
        wrong, trials = np.array(self.n_errors), np.array(self.n_examples)
        return min(kernels.coins_upper_bound(wrong, trials, budget) * _ROUNDED, 1.0)

    @property
    def promise(self) -> str:
        """What is promised, and to whom, on one line."""
        if self.caveat:
            return f"nothing is promised about new examples: {self.caveat}"
        high = self.high
        if high >= 1.0:
            return "nothing is promised about new examples: too few were held out"
        most = math.ceil(high * 1000 * (1.0 - 1e-12)) / 10
        who = name_boosters(self.model, len(self.n_examples))
        confidence = 100 * (1 - self.delta)
        return f"error on new examples at most {most:.1f} % with confidence {confidence:g} %: {who}"

    def __str__(self) -> str:
        share = self.estimate
        if share is None:
            return self.promise
        total = sum(self.n_examples)
        wrong = f"{100 * share:.1f} %"
        if self.model in (OWN, FOLDS):
            it = "it" if self.model == OWN else "they"
            line = (
                f"{it} got {sum(self.n_errors):,} of {counted(total, 'example')} wrong that {it} "
                f"held out: {wrong}"
            )
        else:
            line = (
                f"estimate for this model, {_MODELS[self.model]}: {wrong} error on "
                f"{counted(total, 'example')} held out"
            )
        if self.n_candidates > 2 and not self.caveat:  # two: the vote, or another threshold
            line += (
                f"\nthese examples also chose among {self.n_candidates:,} candidates: the bound is "
            )
            line += "corrected for that (Bonferroni); the estimate is not, and is a little too low"
        if self.log_loss is not None:
            line += f"\n{self.log_loss}"
        return f"{self.promise}\n{line}"

    def to_json(self) -> dict[str, Any]:
        """Return what is promised as numbers and texts for a JSON file."""
        found = {
            "promise": self.promise,
            "error_at_most": None if self.high >= 1.0 else self.high,
            "confidence": 1.0 - self.delta,
            "model": self.model,
            "estimate": self.estimate,
            "n_examples": list(self.n_examples),
            "n_errors": list(self.n_errors),
            "n_candidates": self.n_candidates,
        }
        return found if self.log_loss is None else {**found, "log_loss": self.log_loss.to_json()}

    def _headline(self) -> str:
        return self.promise

    def _facts(self) -> Mapping[str, Any]:
        facts: dict[str, Any] = {} if self.high >= 1.0 else {"error at most": self.high}
        if self.estimate is not None:
            facts |= {"estimate": self.estimate, "examples held out": sum(self.n_examples)}
        return facts

    def _columns(self) -> Fields:
        return {"n_examples": list(self.n_examples), "n_errors": list(self.n_errors)}


def name_boosters(model: str, n_parts: int) -> str:
    """Return in words the boosters that a bound is about."""
    if model == OWN:
        return "this booster"
    return f"the {n_parts} fold boosters, on average" if n_parts > 1 else "the fold booster"
