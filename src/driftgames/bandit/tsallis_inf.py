"""Tsallis-INF: the policy that the paper conjectures, with regret of order sqrt(KT)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels import bandit_tsallis as kernels
from driftgames._kernels.bandit_exponential import IntArray, Respond
from driftgames._kernels.bandit_uniforms import take_uniforms
from driftgames._support.checks import (
    FloatArray,
    check_between,
    check_fractions,
    check_horizons,
)
from driftgames._support.documents import Content
from driftgames.bandit.arms import Arm
from driftgames.bandit.engines import Engine, Source, is_compiled, play_in_python
from driftgames.bandit.policy import BanditPolicy
from driftgames.certificates.bounds import tsallis_inf

_player = cache(kernels.player)


class TsallisINF(BanditPolicy):
    r"""Tsallis-INF with importance-weighted losses: no parameter, no horizon.

    .. math:: p_{t,i} = \frac{4}{\eta_t^2 (\hat L_{t-1,i} - x)^2}, \qquad
              \sum_i p_{t,i} = 1, \qquad \eta_t = 2/\sqrt t

    The regret is at most :math:`4\sqrt{KT} + 1` against any adversary, which is optimal up to a
    constant, and logarithmic where the losses are stochastic: the answer to the conjecture that
    poly-INF or a variant of it has a place beside EXP3 [LS14, Sec. 4]. From Zimmert and Seldin,
    "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR 22 (2021),
    Thm. 1. A round costs O(K): the equation for x is solved to the last digits, by Newton steps
    within a bracket.

    Parameters are those of `BanditPolicy`.

    Examples
    --------
    >>> from driftgames.bandit import BernoulliArms
    >>> policy = TsallisINF(10, random_state=0)
    >>> run = policy.run(BernoulliArms.with_gap(10, 0.1), horizon=20_000)
    >>> round(run.pseudo_regret, 1)
    469.5
    """

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        rewards: bool = False,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, rewards=rewards, random_state=random_state
        )
        self._take(TsallisEngine(self.n_arms))

    @property
    def title(self) -> str:
        """Its name."""
        return "Tsallis-INF"

    @property
    def caveat(self) -> str:
        """The bound is one on the mean."""
        return "in expectation"

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound to the best arm, which holds for every epsilon."""
        rounds, _ = np.broadcast_arrays(
            check_horizons(horizon), check_fractions("epsilon", epsilon)
        )
        return tsallis_inf(rounds, self.n_arms) * self.width

    @classmethod
    def _arguments(cls, saved: Content, given: dict[str, Any]) -> dict[str, Any]:
        return saved

    @property
    def _own_arguments(self) -> Content:
        return {}


class TsallisEngine(Engine):
    """Solves for the probabilities anew each round, starting where the last round ended."""

    def __init__(self, n_arms: int) -> None:
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(kernels.SIZE)
        self.bind()

    @property
    def t(self) -> int:
        """How many arms were pulled."""
        return int(self.numbers[kernels.ROUND])

    @property
    def learner_loss(self) -> float:
        """The sum of the losses learnt from."""
        return float(self.numbers[kernels.LEARNER_LOSS])

    def distribution(self) -> FloatArray:
        """Solve for the next round."""
        p = np.empty(self.estimates.size)
        rate = 2.0 / np.sqrt(self.t + 1.0)
        kernels.solve(self.estimates, rate, self.numbers[kernels.START], p)
        return p

    @property
    def gamma(self) -> float:
        """0: losses are divided by the probability itself."""
        return 0.0

    def bind(self) -> None:
        """Bind the kernels to the arrays."""
        self._p = np.empty(self.estimates.size)
        self.draw = partial(kernels.draw, self.estimates, self._p, self.numbers)
        self.learn = partial(kernels.learn, self.estimates, self.numbers)

    def refresh(self) -> None:
        """Do nothing: all is solved for anew in every round."""

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Say where the search would start if that is nowhere."""
        highest = 2.0 * np.sqrt(estimates.size)
        check_between("the start", numbers[kernels.START], 0.0, highest * (1 + 1e-9))

    def replay(self, losses: FloatArray, source: Source, drawn: IntArray, paid: FloatArray) -> None:
        """Play the rows in one compiled call."""
        uniforms = take_uniforms(losses.shape[0], *source)
        kernels.replay(self.estimates, self._p, self.numbers, losses, uniforms, drawn, paid)

    def play(
        self,
        respond: Respond,
        losses: FloatArray,
        source: Source,
        drawn: IntArray,
        paid: FloatArray,
    ) -> None:
        """Play against an adversary; in one compiled call where it is compiled itself."""
        if not is_compiled(respond):
            return play_in_python(self, respond, losses, source, drawn, paid)
        state = (self.estimates, self._p, self.numbers)
        _player(respond)(*state, *source, losses, drawn, paid)
        return None
