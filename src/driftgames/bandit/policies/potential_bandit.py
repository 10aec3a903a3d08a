"""Algorithm 4: a bandit policy from a potential; EXP3 from the exponential one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from driftgames._kernels.distribution import draw as draw_index
from driftgames._kernels.elementary import log_all
from driftgames.bandit.engines import clock_kernels as clock
from driftgames.bandit.engines.engine import PolicyEngine
from driftgames.bandit.engines.exponential_engine import ExponentialEngine
from driftgames.bandit.engines.uniform_kernels import take_uniform
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.policies.potential_check import BanditCheck, check_bandit_potential
from driftgames.bandit.pulls.arms import check_arm, check_names, slots_of
from driftgames.bandit.types import Arm, Rounds
from driftgames.certificates.bounds import exp3_delayed, exp3_scheduled, theorem_5
from driftgames.core.checks import check_fraction, check_integer, shown
from driftgames.core.generators import RandomState
from driftgames.core.schema import NUMBER, Schema, integer, made_as
from driftgames.core.state import LAST_ROUND
from driftgames.core.typing import FloatArray
from driftgames.potentials import Exponential, NoBoundError, Potential


class PotentialEngine(PolicyEngine):
    """Algorithm 4 as it is printed, for any potential: O(K) a round. [LS14, Alg. 4]"""

    def __init__(self, potential: Potential, n_arms: int) -> None:
        self.potential = potential
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(clock.CLOCK_SIZE)

    def distribution(self) -> FloatArray:
        """Return the weights of the potential as a distribution."""
        return self.potential.distribution(self.estimates - self.learner_loss, self.t + 1)

    def draw(self, function: int, state: int) -> tuple[int, float]:
        """Draw an arm by the distribution."""
        p = self.distribution()
        clock.count_pull(self.numbers, 0.0)
        arm = draw_index(p, take_uniform(function, state))
        return arm, float(p[arm])

    def learn(self, arm: int, loss: float, chance: float) -> None:
        """Add the estimated loss of the drawn arm."""
        self.estimates[arm] += loss / chance
        clock.count_loss(self.numbers, loss)


class PotentialBandit(BanditPolicy):
    r"""A bandit policy from a potential. Default: EXP3.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i}-1) - \Phi_t(s_{t-1,i}+1), \qquad
              s_{t,i} = s_{t-1,i} + \mathbf 1\{i = i_t\}\,\ell_{t,i_t}/p_{t,i_t} - \ell_{t,i_t}

    With :math:`\Phi_T(s) = e^{-\eta s}` these are the weights of EXP3. Then a pull and its
    update cost O(log K), and the expected epsilon-regret is that of `theorem_5`, against any
    adversary, one that reacts included. [LS14, Alg. 4, Thm. 5]

    Parameters
    ----------
    n_arms, names, loss_range, gains, random_state
        As for `BanditPolicy`.
    horizon : int, optional
        T, for which EXP3 is tuned: :math:`\eta = \sqrt{2\ln(1/\epsilon)/(T(1 + N\sqrt e))}`, at
        most 1. Without a horizon eta falls over time as :math:`\sqrt{\ln(1/\epsilon)/(Nt)}`.
    epsilon : float, optional
        The fraction of the best arms for which EXP3 is tuned. Default: 1/N.
    potential : Potential, optional
        It must meet Theorem 4, which `check_bandit_potential` decides. A potential other than
        `Exponential` needs a horizon, and a round costs O(K).

    Notes
    -----
    Without a horizon the guarantee is not one of the paper's: it is that of
    `driftgames.certificates.bounds.exp3_scheduled`.

    Arms may come and go. A new arm starts at ``s = 0``, as if its losses had been the player's,
    and its regret counts from then on. In the proof of Theorem 5 it is a chip that stood still
    until then. An arm that leaves takes a nonnegative potential with it. N in the bound is the
    number of all arms that ever were, and the best k of the present K arms are a fraction
    ``k/N`` of the chips. Eta stays as it was tuned. Feedback of earlier pulls moves a new arm as
    it moves all others.

    Where losses come late, EXP3 has the bound of
    `driftgames.certificates.bounds.exp3_delayed`, as long as its arms stay the same. Other
    potentials have none. The learning rate does not adapt to delays.

    Examples
    --------
    >>> policy = PotentialBandit(10, horizon=10_000, random_state=0)
    >>> arm, prob = policy.pull()
    >>> arm, prob
    (3, 0.1)
    >>> policy.update(arm, 1.0, prob)
    >>> bool(policy.distribution()[arm] < prob)
    True
    >>> round(float(policy.bound(10_000, 0.1)))
    732
    """

    _named_arguments: ClassVar[Schema] = {
        "horizon": integer(1, LAST_ROUND).or_null,
        "epsilon": NUMBER,
        "potential": made_as(Potential).or_null,
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        potential: Potential | None = None,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, gains=gains, random_state=random_state
        )
        self.horizon = None if horizon is None else check_integer("horizon", horizon, least=1)
        self.epsilon = self._check_epsilon(epsilon)
        self.potential = potential
        self._check: BanditCheck | None = None
        if potential is not None and not isinstance(potential, Exponential):
            if self.horizon is None:
                raise ValueError(
                    f"{shown(potential)} needs a horizon: Theorem 4 is checked for one"
                )
            self._check = check_bandit_potential(potential, self.n_arms, self.horizon)
            if not self._check.qualifies:
                raise ValueError(
                    f"{shown(potential)} does not meet Theorem 4. {self._check.reasons}"
                )
        self._play_with(self._make_engine())

    def _make_engine(self) -> PolicyEngine:
        if isinstance(self.potential, Exponential):
            return ExponentialEngine(self.n_arms, rate=self.potential.eta)
        if self.potential is not None:
            return PotentialEngine(self.potential, self.n_arms)
        needed = -float(log_all(self.epsilon))
        if self.horizon is None:
            return ExponentialEngine(self.n_arms, decay=math.sqrt(needed / self.n_arms))
        best = math.sqrt(2 * needed / (self.horizon * (1 + self.n_arms * math.sqrt(math.e))))
        return ExponentialEngine(self.n_arms, rate=min(best, 1.0))

    # ---------------------------------------------------------------- what it knows

    @property
    def title(self) -> str:
        """Its name."""
        if isinstance(self._engine, PotentialEngine):
            return f"Algorithm 4 with {self.potential!r}"
        return "EXP3" if self._exponential.decay == 0 else "EXP3, any horizon"

    @property
    def eta(self) -> float:
        """The learning rate of EXP3 in the next round."""
        return self._exponential.next_rate

    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound on the expected epsilon-regret. [LS14, Thm. 5]

        Epsilon is a fraction of the present arms. For a potential other than `Exponential` the
        bound is known for the policy's horizon alone.
        """
        epsilons = np.asarray(epsilon * (self._n_arms / self._n_ever))
        if (check := self._check) is not None:
            if (horizon != self.horizon).any():
                raise NoBoundError(f"the bound is known for a horizon of {self.horizon} alone")
            if check.n_arms != self._n_ever:
                check = check_bandit_potential(check.potential, self._n_ever, check.horizon)
                self._check = check
            return np.reshape([check.bound(float(each)) for each in epsilons.flat], epsilons.shape)
        if self._exponential.decay > 0:
            return exp3_scheduled(epsilons, self._n_ever, *self._exponential.rates_until(horizon))
        return theorem_5(horizon, epsilons, self._n_ever, self.eta)

    def _late_bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound of EXP3 with delays, if the arms stayed the same."""
        if self._check is not None:
            return super()._late_bound(horizon, epsilon)
        if self._arms_changed:
            raise NoBoundError("with late losses the bound is for arms that stay the same")
        rates = self._exponential.rates_until(horizon)
        return exp3_delayed(epsilon, self._n_arms, *rates, self._exponential.drift)

    @property
    def _exponential(self) -> ExponentialEngine:
        if not isinstance(self._engine, ExponentialEngine):
            raise ValueError(f"{shown(self.potential)} has no learning rate")
        return self._engine

    # ---------------------------------------------------------------- arms that come and go

    def add_arm(self, arm: Arm) -> None:
        """Add an arm at ``s = 0``; its regret counts from now on."""
        if check_arm(arm) in self.arms:
            raise ValueError(f"there is an arm {shown(arm)} already")
        names, here = [*self.arms, arm], self._engine.learner_loss
        check_names(names, None)
        self._replace_arms(names, np.append(self._engine.estimates, here), self._n_ever + 1)

    def remove_arm(self, arm: Arm) -> None:
        """Remove an arm and its pulls that wait for feedback."""
        if not self._has(arm):
            raise ValueError(f"there is no arm {shown(arm)} to remove")
        if self.n_arms == 1:
            raise ValueError(f"{shown(arm)} is the last arm and cannot be removed")
        slot = self.arms.index(arm)
        names = [each for each in self.arms if each != arm]
        self._replace_arms(names, np.delete(self._engine.estimates, slot), self._n_ever)

    def _replace_arms(self, names: list[Arm], estimates: FloatArray, n_ever: int) -> None:
        self._n_arms, self._n_ever = len(names), n_ever
        self._arms_changed |= self.t > 0  # before the first pull it makes no difference
        self._names = None if names == list(range(len(names))) else names
        self._slots = slots_of(self._names)
        self._pending = {pull: each for pull, each in self._pending.items() if pull[0] in names}
        self._engine.estimates = estimates
        self._engine.bind()
        self._play_with(self._engine)

    # ---------------------------------------------------------------- helpers

    def _check_epsilon(self, epsilon: float | None) -> float:
        if epsilon is None:
            return 1.0 / max(self.n_arms, 2)  # a single arm needs no learning: any eta serves
        if check_fraction("epsilon", epsilon) == 1.0:
            raise ValueError("epsilon must be below 1 to tune eta: at 1 the best eta is 0")
        return float(epsilon)
