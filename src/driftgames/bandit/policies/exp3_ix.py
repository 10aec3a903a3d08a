"""EXP3-IX: exponential weights whose regret is bounded with high probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from driftgames._kernels.elementary import log
from driftgames.bandit.engines.exponential_engine import ExponentialEngine
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.types import Arm, Rounds
from driftgames.certificates.bounds import exp3_ix
from driftgames.core.checks import check_fraction, check_integer
from driftgames.core.generators import RandomState
from driftgames.core.schema import NUMBER, Schema, integer
from driftgames.core.state import LAST_ROUND
from driftgames.core.typing import FloatArray


class Exp3IX(BanditPolicy):
    r"""EXP3 with implicit exploration: a bound on the regret itself, not on its mean.

    .. math:: p_{t,i} \propto e^{-\eta_t \hat L_{t-1,i}}, \qquad
              \hat\ell_{t,i} = \mathbf 1\{i = i_t\}\frac{\ell_{t,i}}{p_{t,i} + \gamma_t},
              \qquad \gamma_t = \eta_t / 2

    The estimates are too low by the factor :math:`p/(p + \gamma)`, which bounds their variance.
    From Neu, "Explore no more: improved high-probability regret bounds
    for non-stochastic bandits", NIPS 2015, Thm. 1. A round costs O(log K). A late loss has
    the gamma of the round of its pull. The bound is for losses that come at once.

    Parameters
    ----------
    n_arms, names, loss_range, gains, random_state
        As for `BanditPolicy`.
    horizon : int, optional
        T, for :math:`\eta = \sqrt{2\ln K/(KT)}`. Without it eta falls over time as
        :math:`\sqrt{\ln K/(Kt)}`.
    delta : float
        The largest probability with which `bound` may fail.

    Examples
    --------
    >>> policy = Exp3IX(10, horizon=10_000, random_state=0)
    >>> arm, prob = policy.pull()
    >>> policy.update(arm, 1.0, prob)
    >>> round(float(policy.bound(10_000, 0.1)))
    1905
    """

    _engine: ExponentialEngine
    _named_arguments: ClassVar[Schema] = {
        "horizon": integer(1, LAST_ROUND).or_null,
        "delta": NUMBER,
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        horizon: int | None = None,
        delta: float = 0.05,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, gains=gains, random_state=random_state
        )
        self.horizon = None if horizon is None else check_integer("horizon", horizon, least=1)
        self.delta = check_fraction("delta", delta)
        # ln(1) = 0 is no learning rate; a single arm needs no learning
        share = log(float(max(self.n_arms, 2))) / self.n_arms
        decay = math.sqrt(share) if self.horizon is None else 0.0
        rate = 0.0 if self.horizon is None else math.sqrt(2 * share / self.horizon)
        self._play_with(ExponentialEngine(self.n_arms, rate=rate, decay=decay, implicit=0.5))

    @property
    def title(self) -> str:
        """Its name."""
        return "EXP3-IX" if self.horizon is not None else "EXP3-IX, any horizon"

    @property
    def caveat(self) -> str:
        """The probability with which the bound holds."""
        return f"with probability {1 - self.delta:g}"

    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound to the best arm, which holds for every epsilon."""
        last, total = self._engine.rates_until(horizon)
        return exp3_ix(self.n_arms, self.delta, last, total)
