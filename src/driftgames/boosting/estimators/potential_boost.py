"""Boosters of a potential, NH-Boost.DT and the general one, which weigh examples by mistakes.

With one vote per round the position of an example depends on its number of mistakes alone, so a
round weighs these numbers instead of the examples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from driftgames._kernels.jit import kernel, specialise
from driftgames._kernels.sums import dot
from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.growth.stump_kernels import scale_weights
from driftgames.boosting.growth.training_set import AsksAhead, TrainingSet
from driftgames.boosting.weights.example_chips import SUM_BITS, ExampleChips
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.core.checks import shown
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import NormalHedgeDT, Potential
from driftgames.potentials.compiled import CompiledPotential, Exponent, Kernels, Theta, Weight

weight: Weight = NotImplemented  # names for `specialise` to bind
exponent: Exponent = NotImplemented


class MistakeWeights(ABC):
    r"""Weights of examples from their numbers of mistakes alone.

    With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
    :math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, in whichever rounds it erred.
    """

    looks_at_masses = False
    """Whether weights depend on how many examples have made each number of mistakes."""

    @abstractmethod
    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights in round ``t``, up to a factor; all zero means all equal.

        ``mistakes`` ascends by ones, and ``edge_sum`` is the sum of the edges so far. ``masses``
        tells how many examples have made each of these numbers. A rule that does not look at them
        may be asked before the last move, and is told how many examples may reach each number.
        """


class CountedChips(ExampleChips):
    """Examples that weigh by their number of mistakes; every vote weighs 1."""

    def __init__(self, rule: MistakeWeights, training_set: TrainingSet) -> None:
        self._rule = rule
        self._integer_weights = training_set.integer_weights
        self._counts = training_set.count_mistakes()
        self._edge_sum = 0.0
        self._total = int(self._counts.masses()[1].sum())
        self._scale()

    def _scale(self, first: int = 0, weights: FloatArray | None = None) -> None:
        """Scale the weights of the next round, from number ``first`` on; find them if not given."""
        self._first, masses = self._counts.masses()
        self._held = masses[0] + masses[1]
        if weights is None:
            weights = self._weigh(self._first, self._held)
        else:
            weights = weights[self._first - first :][: self._held.size]
        self._weights = np.empty(weights.size)
        self._zeros, self._wrong = scale_weights(
            weights, masses, self._first, self.n_rounds, SUM_BITS, self._weights
        )

    def _weigh(self, first: int, held: IntArray) -> FloatArray:
        """Return the weights of the next round by number of mistakes, from ``first`` on."""
        mistakes = np.arange(first, first + held.size)
        return self._rule.weights(mistakes, self.n_rounds + 1, self._edge_sum, held)

    def _whole(self, weights: FloatArray) -> Any:
        """Return weights as the counts take them: whole, if sample weights are."""
        return np.rint(weights).astype(np.int64) if self._integer_weights else weights

    def choose(self) -> tuple[float, Any]:
        """Return the best hypothesis for the rule's weights."""
        value, norm, hypothesis = self._counts.best(self._first, self._whole(self._weights))
        return value / (2 * norm), hypothesis

    def move(self, hypothesis: Any, edge: float) -> float:
        """Count the mistakes of a hypothesis."""
        first, weights = self._first, None
        self._edge_sum += edge
        self.n_rounds += 1
        if not self._rule.looks_at_masses:  # the next weights are known before the move
            reach = np.zeros(self._held.size + 1, dtype=np.int64)
            reach[:-1] += self._held
            reach[1:] += self._held
            weights = self._weigh(first, reach)
            if isinstance(self._counts, AsksAhead):
                self._counts.expect(first, self._whole(self._guess_scale(weights, edge)))
        self._counts = self._counts.move(hypothesis)
        self._scale(first, weights)
        return 1.0

    def _guess_scale(self, weights: FloatArray, edge: float) -> FloatArray:
        """Scale weights before a move, as if every number of mistakes erred like all examples."""
        err = 0.5 - edge
        likely = dot(self._held.astype(np.float64), (1 - err) * weights[:-1] + err * weights[1:])
        with np.errstate(over="ignore"):  # a number that no example is likely to reach
            scaled = np.ldexp(weights, SUM_BITS - math.frexp(likely)[1])
        return np.minimum(scaled, 2.0**SUM_BITS)

    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Find the edge from the mass that moved."""
        first, held, weights = self._first, self._held, self._weights
        vote = self.move(hypothesis, edge)
        after = np.zeros(held.size + 1, dtype=np.int64)
        begin = self._first - first
        after[begin : begin + self._held.size] = self._held
        erred = np.cumsum(held - after[:-1])  # an error moves an example to the next number
        value = dot(weights, (held - 2 * erred).astype(np.float64))
        return vote, value / (2 * dot(weights, held.astype(np.float64)))

    @property
    def zero_fraction(self) -> float:
        """The share of mass at numbers of mistakes that weigh zero."""
        return self._zeros / self._total

    @property
    def training_error(self) -> float:
        """The share of mass that the vote gets wrong."""
        error = self._counts.error
        return self._wrong / self._total if error is None else error

    def margins(self) -> Margins:
        """Return a margin for each number of mistakes."""
        mistakes = np.arange(self._first, self._first + self._held.size)[::-1]
        held = self._held[::-1]
        margins = (self.n_rounds - 2 * mistakes) / self.n_rounds
        return Margins(margins[held > 0], held[held > 0])


@dataclass(frozen=True)
class PotentialWeights(MistakeWeights):
    """``(Phi_t(s - 1) - Phi_t(s + 1)) / 2``: the booster of any potential. [LS14, Alg. 6]"""

    potential: Potential

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the potential's weights; zeros after the last round of its game."""
        positions = np.asarray((t - 1) / 2 - edge_sum - mistakes, dtype=np.float64)
        if isinstance(self.potential, CompiledPotential):  # finite positions need no check
            weights = np.empty(mistakes.size)
            weigh = _compile_weigh(self.potential.kernels)
            weigh(positions, float(t), self.potential.theta, weights)
            return weights
        over = t > self.potential.last_round
        return np.zeros(mistakes.size) if over else self.potential.weights(positions, t)


@cache
def _compile_weigh(kernels: Kernels) -> Callable[[FloatArray, float, Theta, FloatArray], None]:
    """Return the loop over numbers of mistakes for a potential with these compiled functions."""
    return specialise(_weigh_positions, kernel, weight=kernels.weight, exponent=kernels.exponent)


def _weigh_positions(positions: FloatArray, t: float, theta: Theta, out: FloatArray) -> None:
    """Write the weight of positions that descend, relative to the scale of the last one."""
    log_scale = exponent(positions[-1], t, theta)
    for k in range(positions.size):
        out[k] = weight(positions[k], t, log_scale, theta)


class _PotentialBooster(BaseBooster):
    """A booster whose settings name a potential."""

    _setting: ClassVar[str]
    """The name of that setting."""

    @abstractmethod
    def _potential(self, value: Any) -> Potential:
        """Return the potential for this value of the setting."""

    def _title(self, potential: Potential) -> str:
        return type(potential).__name__

    def _start(self, training_set: TrainingSet) -> ExampleChips:
        potential = self._potential(getattr(self, self._setting))
        return CountedChips(PotentialWeights(potential), training_set)

    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        potential = self._potential(self.record_.settings[self._setting])
        return self._certify_regret(self._title(potential), potential.bound, margins, error)


@dataclass(eq=False, repr=False)
class NHBoostDTClassifier(_PotentialBooster):
    r"""NH-Boost.DT: no learning rate, and examples of large margin weigh zero.

    .. math:: p_{t,i} \propto e^{[s_{t-1,i} - 1]_-^2 / dt} - e^{[s_{t-1,i} + 1]_-^2 / dt},
              \qquad s_{t,i} = s_{t-1,i} + \tfrac12 y_i h_t(x_i) - \gamma_t

    where :math:`\gamma_t = \frac12 \sum_i p_{t,i} y_i h_t(x_i)` is the edge of the weak
    hypothesis. The vote is :math:`\sum_t h_t(x)`, all weights being 1, and the share of
    examples with a margin of at most :math:`\theta \le 2\gamma` falls as
    :math:`e^{-T(\theta - 2\gamma)^2/4d}`, up to a logarithm. [LS14, Alg. 6, Thm. 3]

    Parameters
    ----------
    d : float
        The constant in the exponent. The theorem holds from 3 on, and is best there.

    Notes
    -----
    With ``d = 3`` the exponent is :math:`T(\theta - 2\gamma)^2/12`. [LS14, Thm. 3] prints
    :math:`T(\theta - 2\gamma)^2/3`. That is an erratum: the proof bounds margins from below by
    :math:`2(\gamma - \mathrm{Reg}/T)`, and the factor 2 divides the exponent by 4.
    ``docs/errata.md`` has the evidence.

    Most of the paper's published numbers come out to the digit with the denominators
    ``4 (t - 1)``: ``PotentialBoostClassifier(NormalHedgeDT(d=4, lag=1))``.

    If all examples weigh zero, their weights become equal. Between stumps of equal edge the
    lowest feature wins, then the lowest threshold.

    Wrong labels gain weight in every round and hurt more than in other boosters. `docs/noise.md`
    shows how much, and what helps.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = NHBoostDTClassifier().fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.397, 0.27 ])
    >>> booster.score(X, y)
    1.0
    >>> booster.certificate_.holds
    True
    """

    n_estimators: int = 200
    d: float = 3.0

    _setting: ClassVar[str] = "d"

    def _potential(self, value: Any) -> NormalHedgeDT:
        return NormalHedgeDT(value)

    def _title(self, potential: Potential) -> str:
        return "NH-Boost.DT"


@dataclass(eq=False, repr=False)
class PotentialBoostClassifier(_PotentialBooster):
    r"""The booster of any potential: examples are chips, and weights are its differences.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i} - 1) - \Phi_t(s_{t-1,i} + 1), \qquad
              s_{t,i} = s_{t-1,i} + \tfrac12 y_i h_t(x_i) - \gamma_t

    Every Hedge algorithm gives a booster in this way: examples are actions, and an action
    suffers a loss if the hypothesis is right on its example. A bound on the epsilon-regret
    becomes one on the margins. [LS14, Alg. 3, Alg. 6, Thm. 3]

    Parameters
    ----------
    potential : Potential, optional
        It weighs the examples. Default: `NormalHedgeDT`, which makes NH-Boost.DT.

    Examples
    --------
    The constants of the paper's experiments:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from driftgames.potentials import NormalHedgeDT
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = PotentialBoostClassifier(NormalHedgeDT(d=4, lag=1)).fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.394, 0.272])
    >>> booster.score(X, y)
    1.0
    >>> booster.certificate_.verdict
    'nothing is promised'
    """

    potential: Potential | None = None
    n_estimators: int = 200

    _setting: ClassVar[str] = "potential"

    def _potential(self, value: Any) -> Potential:
        if value is None:
            return NormalHedgeDT()
        if not isinstance(value, Potential):
            raise ValueError(f"potential must be a Potential; got {shown(value)}")
        return value
