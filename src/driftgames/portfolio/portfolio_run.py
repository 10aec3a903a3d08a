"""The result of `PortfolioStrategy.run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import total
from driftgames.certificates.regret_certificate import OneRegretRun, RegretCertificate
from driftgames.core.display import Fields, Sketch
from driftgames.core.typing import FloatArray
from driftgames.portfolio.best_in_hindsight import best_constant_rebalanced
from driftgames.tables import counted

if TYPE_CHECKING:
    from driftgames.portfolio.strategy import PortfolioStrategy


@dataclass(frozen=True, eq=False, kw_only=True)
class PortfolioRun(OneRegretRun[RegretCertificate]):
    """The days that one call of `run` traded.

    Parameters
    ----------
    title : str
        The name of the strategy.
    first_round : int
        The 1-based number of the first day. It is above 1 if the strategy had traded before.
    strategy : PortfolioStrategy
        The strategy, which may trade on.
    relatives : array
        The relatives of each day, one row per day.
    log_wealth : array
        The logarithm of the wealth at the end of each day. The strategy began with a wealth
        of 1 on its own first day.
    portfolios : array
        What it held at the beginning of each day, one row per day.
    turnover : array
        The value bought and sold at the beginning of each day, as a share of the wealth then.
    cost : float
        What trading costs, as a share of the value traded.
    """

    strategy: PortfolioStrategy
    relatives: FloatArray
    log_wealth: FloatArray
    portfolios: FloatArray
    turnover: FloatArray
    cost: float

    @property
    def n_rounds(self) -> int:
        """The number of days."""
        return self.log_wealth.size

    def _facts(self) -> Fields:
        known = {"final wealth": self.final_wealth, "costs": self.cost_of_all}
        return {**super()._facts(), **(known if self.n_rounds else {})}

    def _columns(self) -> Fields:
        return {
            "day": self.rounds,
            "wealth": self.wealth,
            "turnover": self.turnover,
            "cost": self.costs,
            **{f"share {k}": share for k, share in enumerate(self.portfolios.T)},
        }

    def _preview(self) -> Fields:
        kept = ("day", "wealth", "turnover", "cost")
        return {name: cells for name, cells in super()._preview().items() if name in kept}

    def _sketch(self) -> Sketch:
        return Sketch(self.rounds, {"wealth": self.wealth}, label="day")

    def certificate(self) -> RegretCertificate:
        """Return the regret to the best constant rebalanced portfolio beside its bound.

        The run must begin with the first day of the strategy, which must not have traded on.
        """
        self._check_current(self.strategy.t)
        if self.first_round > 1:
            raise ValueError(
                "the certificate counts from the first day of a strategy, and this one had traded "
                f"{counted(self.first_round - 1, 'day')} before this run"
            )
        return self.strategy.certificate(best_constant_rebalanced(self.relatives))

    @property
    def costs(self) -> FloatArray:
        """What trading took at the beginning of each day, as a share of the wealth then."""
        return self.cost * self.turnover

    @property
    def cost_of_all(self) -> float:
        """The share of the final wealth without these costs that they took."""
        kept = log_all(1.0 - self.costs)
        return 1.0 - float(exp_all(np.array([total(kept)]))[0])

    @property
    def drawdown(self) -> float:
        """The largest fall from a peak of the wealth, as a share of the peak; 0 of no days."""
        if self.log_wealth.size == 0:
            return 0.0
        logs = np.concatenate([[min(0.0, float(self.log_wealth[0]))], self.log_wealth])
        if self.first_round == 1:
            logs[0] = 0.0
        falls = logs - np.maximum.accumulate(logs)
        return 1.0 - float(exp_all(np.array([falls.min()]))[0])

    @property
    def wealth(self) -> FloatArray:
        """The wealth at the end of each day; infinite where it overflows."""
        return exp_all(self.log_wealth)

    @property
    def final_wealth(self) -> float:
        """The wealth at the end."""
        if self.log_wealth.size == 0:
            raise ValueError("a run of no days has no final wealth")
        return float(self.wealth[-1])
