"""A mixture of strategies, net of costs: never far behind the best of them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import total, vecmat
from driftgames.certificates import RegretCertificate
from driftgames.core.checks import check_integer, shown
from driftgames.core.registry import choose
from driftgames.core.schema import LIST, STRING, Schema, integer
from driftgames.core.state import check_clock, nested, restore_nested
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced
from driftgames.portfolio.strategy import PortfolioStrategy
from driftgames.portfolio.trading_kernels import left_after_trading
from driftgames.potentials import NoBoundError

USUAL = ("universal", "uniform", "hold", "eg", "ons", "soft-bayes", "olmar", "pamr")
"""The strategies that are mixed by default."""


class StrategyMixture(PortfolioStrategy):
    r"""Give every strategy an equal account, and hold what all accounts hold together.

    .. math:: b_t = \sum_e q_{t,e}\, b_{t,e}, \qquad
              q_{t,e} \propto W_{t-1,e}\, w_{t,e}, \qquad
              W_T \ge \frac1N \sum_e W_{T,e}

    :math:`W_{t,e}` is what strategy e has made of 1 after paying for its own trades, and
    :math:`w_{t,e}` what it keeps when it trades for day t. Trades of different accounts cancel
    when they are made together, so the wealth is at least the mean of the accounts. The log-wealth
    after costs is therefore at most :math:`\ln N` below that of the best strategy after costs, in
    every market: Hedge over strategies with learning rate 1, as in `UniversalPortfolio`. A. Blum
    and A. Kalai, "Universal portfolios with and without transaction costs", Machine Learning 35
    (1999).

    Parameters
    ----------
    n_assets : int
        At least 2.
    mix : sequence of str
        Names of `STRATEGIES`, each once. Default: all that need nothing known of the market.
    cost : float
        What trading costs, as a share of the value traded.
    random_state : int
        Of strategies with points of their own.

    Examples
    --------
    >>> import numpy as np
    >>> swings = np.array([[1.2, 0.8], [0.8, 1.25]] * 50)
    >>> mixture = StrategyMixture(2, mix=["hold", "uniform", "pamr"], cost=0.001)
    >>> run = mixture.run(swings)
    >>> print(str(mixture.mixture_certificate()).partition(": ")[2])
    regret 1.099 in log-wealth, at most 1.099: the bound holds
    >>> {name: round(float(wealth), 2) for name, wealth in mixture.account_wealth.items()}
    {'hold': 0.56, 'uniform': 3.36, 'pamr': 435817773.22}
    """

    VERSION: ClassVar[int] = 1

    def __init__(
        self,
        n_assets: int,
        *,
        mix: Sequence[str] = USUAL,
        cost: float = 0.0,
        random_state: int = 0,
    ) -> None:
        super().__init__(n_assets, cost=cost)
        from driftgames.portfolio.named_strategies import STRATEGIES

        names = [mix] if isinstance(mix, str) else list(mix)
        if not names or len(set(names)) < len(names):
            raise ValueError(f"mix must be different names of strategies; got {shown(mix)}")
        self._mix = names
        self._random_state = check_integer("random_state", random_state, least=0)
        kinds = {name: make for name, make in STRATEGIES.items() if name != "mix"}
        self._members: list[PortfolioStrategy] = [
            choose("mix", name, kinds)(n_assets, cost=cost, random_state=self._random_state)
            for name in names
        ]

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name of the strategy."""
        return f"mixture of {len(self._members)} strategies"

    @property
    def mix(self) -> tuple[str, ...]:
        """The names of the strategies."""
        return tuple(self._mix)

    @property
    def account_wealth(self) -> dict[str, float]:
        """What each strategy alone has made of 1, after its own costs."""
        return {name: m.wealth for name, m in zip(self._mix, self._members, strict=True)}

    @property
    def account_shares(self) -> dict[str, float]:
        """The share of each strategy in the portfolio for the next day."""
        with self._lock:
            q, _ = self._next()
        return dict(zip(self._mix, q.tolist(), strict=True))

    def mixture_certificate(self) -> RegretCertificate:
        """Return the regret in log-wealth to the best strategy, after costs, beside ``ln N``."""
        if self._t == 0:
            raise ValueError("no day was traded, so there is nothing to certify")
        best = max(member.log_wealth for member in self._members)
        return RegretCertificate(
            self.title,
            self._t,
            best - self._log_wealth,
            math.log(len(self._members)),
            max(abs(best), abs(self._log_wealth)),
            unit="log-wealth",
        )

    def regret_bound(self, best: BestConstantRebalanced) -> float:
        r"""Return :math:`\ln N` and the least bound of its strategies to ``best``.

        It raises `NoBoundError` if none of them has a bound, as with costs, but for the universal
        portfolio. What is promised in any case is that of `mixture_certificate`.
        """
        self._check_same_days(best)
        found = []
        for member in self._members:
            with contextlib.suppress(NoBoundError):
                found.append(member.regret_bound(best))
        if not found:
            raise NoBoundError("none of the strategies that are mixed has a bound here")
        return math.log(len(self._members)) + min(found)

    # ---------------------------------------------------------------- trading

    def _play(self, relatives: FloatArray) -> FloatArray:
        days = relatives.shape[0]
        portfolios = np.empty((days + 1, self._n_assets))
        if days:
            begun = np.array([member.log_wealth for member in self._members])
            runs = [member.run(relatives) for member in self._members]
            logs = np.stack([run.log_wealth for run in runs])
            before = np.column_stack([begun, logs[:, :-1]])
            kept = np.stack([log_all(1.0 - run.costs) for run in runs])
            held = np.stack([run.portfolios for run in runs])
            for day in range(days):
                q = _shares(np.ascontiguousarray((before + kept)[:, day]))
                portfolios[day] = _mean(q, np.ascontiguousarray(held[:, day]))
        portfolios[days] = self._next()[1]
        return portfolios

    def _next(self) -> tuple[FloatArray, FloatArray]:
        """Return the shares of the accounts and the portfolio of the next day."""
        targets = np.stack([member.predict() for member in self._members])
        logs = np.array([member.log_wealth for member in self._members])
        if self._cost > 0:
            left = [
                left_after_trading(b, member.held, self._cost)
                for b, member in zip(targets, self._members, strict=True)
            ]
            logs = logs + log_all(np.array(left))
        q = _shares(logs)
        return q, _mean(q, targets)

    # ---------------------------------------------------------------- state

    def _arguments(self) -> Content:
        return super()._arguments() | {
            "mix": list(self._mix),
            "random_state": self._random_state,
        }

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        return {**ours, "mix": LIST, "random_state": integer(0)}, {**state, "members": LIST}

    def _get_state(self) -> Content:
        return super()._get_state() | {"members": [nested(each) for each in self._members]}

    def _set_state(self, state: Content) -> None:
        found = members_from(state.get("members"), self._members, state.get("t"))
        before, self._members = self._members, found
        try:
            super()._set_state(state)
        except BaseException:
            self._members = before
            raise


def members_from(saved: Any, own: list[PortfolioStrategy], days: Any) -> list[PortfolioStrategy]:
    """Return the strategies of a file, made as ``own`` are, after this many days."""
    LIST.check("members", saved)
    played = check_clock("t", days)
    if len(saved) != len(own):
        raise ValueError(f"there must be {len(own)} strategies; got {len(saved)}")
    found = []
    for content, mine in zip(saved, own, strict=True):
        if not isinstance(content, dict):
            raise ValueError(f"a strategy must be an object; got {shown(content)}")
        STRING.check("kind", content.get("kind"))
        theirs = {name: content.get(name) for name in ("kind", "arguments")}
        wanted = nested(mine)
        if theirs != {name: wanted[name] for name in theirs}:
            raise ValueError(f"a strategy of the mixture is another one than {mine.title}")
        member = restore_nested(content, PortfolioStrategy)
        if member.t != played:
            raise ValueError(f"{member.title} has traded {member.t} days; expected {played}")
        found.append(member)
    return found


def _shares(log_wealth: FloatArray) -> FloatArray:
    """Return shares in proportion to wealth, from its logarithm."""
    q = exp_all(log_wealth - log_wealth.max())
    return np.asarray(q / total(q))


def _mean(q: FloatArray, portfolios: FloatArray) -> FloatArray:
    b = vecmat(q, portfolios)
    return np.asarray(b / total(b))
