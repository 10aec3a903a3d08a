"""EXP4: a bandit that hedges over experts, each of which advises a distribution over the arms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from driftgames._kernels.distribution import draw as draw_index
from driftgames._kernels.elementary import exp_all, log
from driftgames._kernels.sums import total, vecmat
from driftgames.bandit.contexts.context_policy import ContextEngine, ContextPolicy
from driftgames.bandit.engines import clock_kernels as clock
from driftgames.bandit.engines.schedule import rate_at, sum_until
from driftgames.bandit.engines.uniform_kernels import take_uniform
from driftgames.bandit.pulls.arms import check_names
from driftgames.bandit.types import Arm, Rounds
from driftgames.certificates.bounds import exp3_scheduled
from driftgames.core.checks import check_finite, check_integer, check_range, first_index
from driftgames.core.generators import RandomState
from driftgames.core.schema import Schema, array_of, integer
from driftgames.core.typing import Content, FloatArray


class AdviceEngine(ContextEngine):
    """Exponential weights over experts, from estimated losses; ``memory`` holds these."""

    memory: FloatArray

    def __init__(self, n_arms: int, n_experts: int) -> None:
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(clock.CLOCK_SIZE)
        self.memory = np.zeros(n_experts)
        self.context = np.full((n_experts, n_arms), 1.0 / n_arms)
        # ln(1) = 0 is no learning rate; a single expert needs no learning
        self.decay = math.sqrt(log(float(max(n_experts, 2))) / n_arms)

    def weights(self) -> FloatArray:
        """Return the weights of the experts in the next round."""
        rate = float(rate_at(self.t + 1, self.decay))
        q = exp_all(-rate * (self.memory - self.memory.min()))
        return np.asarray(q / total(q))

    def distribution(self) -> FloatArray:
        """Return the mean of the advice, by the weights of the experts."""
        p = vecmat(self.weights(), self.context)
        return np.asarray(p / total(p))

    def draw(self, function: int, state: int) -> tuple[int, float]:
        """Draw an arm by the distribution."""
        p = self.distribution()
        clock.count_pull(self.numbers, float(rate_at(self.t + 1, self.decay)))
        arm = draw_index(p, take_uniform(function, state))
        return arm, float(p[arm])

    def learn(self, arm: int, loss: float, chance: float) -> None:
        """Charge every expert for the share of the drawn arm in its advice."""
        self.estimates[arm] += loss / chance
        self.memory += self.context[:, arm] * (loss / chance)
        clock.count_loss(self.numbers, loss)

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return eta of the first round."""
        return self.decay

    def check_memory(self, memory: FloatArray) -> None:
        """Raise ValueError unless these are estimated losses of the experts."""
        array_of(self.memory.size).check("memory", memory)
        check_finite("memory", memory)
        check_range("memory", memory, 0.0, np.inf)


class Exp4(ContextPolicy):
    r"""Hedge over experts who advise: any policies, models or rules.

    .. math:: p_t = \sum_e q_{t,e}\,\xi_{t,e}, \qquad q_{t,e} \propto e^{-\eta_t \hat Y_{t-1,e}},
              \qquad \hat Y_{t,e} = \sum_{s\le t} \xi_{s,e}(i_s)\,\ell_{s,i_s} / p_{s,i_s}

    :math:`\xi_{t,e}` is the distribution over the arms that expert e advises in round t. It is
    Hedge with importance-weighted losses: the recipe of the paper's bandits, with the experts as
    chips. The expected epsilon-regret to the experts is that of
    `driftgames.certificates.bounds.exp3_scheduled` with N the number of arms, whatever the experts
    know or learn: the number of experts counts by its logarithm. P. Auer, N. Cesa-Bianchi, Y.
    Freund and R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal on
    Computing 32 (2002). [LS14, Sec. 4]

    Parameters
    ----------
    n_arms, names, loss_range, gains, random_state
        As for `BanditPolicy`.
    experts : int or sequence
        The number of experts, or their names. A context is an array of a row per expert and a
        column per arm; every row sums to 1.

    Examples
    --------
    Two experts; the second knows the good arm of each round:

    >>> rng = np.random.default_rng(0)
    >>> good = rng.integers(0, 3, size=500)
    >>> losses = 1.0 - np.eye(3)[good]
    >>> advice = np.stack([np.full((500, 3), 1 / 3), np.eye(3)[good]], axis=1)
    >>> run = Exp4(3, experts=["blind", "seer"], random_state=0).run(advice, losses)
    >>> round(run.learner_loss), run.rivals, run.rival_losses.round()
    (16, ('blind', 'seer'), array([333.,   0.]))
    >>> run.certificate().holds
    True
    """

    _engine: AdviceEngine
    _named_arguments: ClassVar[Schema] = {}

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        experts: int | Sequence[Any],
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, gains=gains, random_state=random_state
        )
        if isinstance(experts, int):
            count = check_integer("experts", experts, least=1)
            self.experts: tuple[Any, ...] = tuple(range(count))
        else:
            self.experts = tuple(check_names(experts, None) or ())
            check_integer("the number of experts", len(self.experts), least=1)
        self._play_with(AdviceEngine(self.n_arms, len(self.experts)))

    @property
    def title(self) -> str:
        """Its name."""
        return "EXP4"

    @property
    def context_shape(self) -> tuple[int, ...]:
        """A row per expert and a column per arm."""
        return len(self.experts), self._n_arms

    @property
    def rivals(self) -> tuple[Any, ...]:
        """The experts."""
        return self.experts

    _best_rival = "the best expert"

    @property
    def _row_names(self) -> tuple[Any, ...]:
        return self.experts

    @property
    def caveat(self) -> str:
        """The sense in which the bound holds."""
        return "in expectation"

    @property
    def expert_weights(self) -> FloatArray:
        """The weights of the experts in the next round."""
        with self._lock:
            return self._engine.weights()

    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        decay = self._engine.decay
        return exp3_scheduled(
            epsilon, self._n_arms, rate_at(horizon, decay), sum_until(horizon, decay)
        )

    def _rival_losses(self, contexts: FloatArray, losses: FloatArray) -> FloatArray:
        return np.asarray((contexts * losses[:, np.newaxis, :]).sum(axis=2))

    def _check_context(self, context: FloatArray) -> None:
        if (context < 0).any():
            row, column = first_index(context < 0)
            raise ValueError(
                f"advice must be nonnegative; got {context[row, column]:g} of expert "
                f"{self.experts[row]!r}"
            )
        sums = context.sum(axis=1)
        if (np.abs(sums - 1.0) > 1e-9).any():
            (row,) = first_index(np.abs(sums - 1.0) > 1e-9)
            raise ValueError(
                f"the advice of an expert must sum to 1; got {sums[row]:g} of expert "
                f"{self.experts[row]!r}"
            )

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        experts = arguments.get("experts")
        named = isinstance(experts, list | tuple)
        count = len(experts) if isinstance(experts, list | tuple) else experts
        size = count if type(count) is int else None
        rule = {} if named else {"experts": integer(1)}
        return {**ours, **rule}, {**state, "memory": array_of(size)}

    def _arguments(self) -> Content:
        count = len(self.experts)
        plain = self.experts == tuple(range(count))
        return {**super()._arguments(), "experts": count if plain else list(self.experts)}
