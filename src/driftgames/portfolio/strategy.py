"""What a portfolio strategy is: a portfolio every day, costs, wealth, and its state."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import exp_all
from driftgames.certificates import RegretCertificate
from driftgames.core.checks import (
    as_floats,
    check_between,
    check_distribution,
    check_integer,
    check_kind,
    check_number,
    check_range,
    check_vector,
)
from driftgames.core.display import Displayed
from driftgames.core.schema import LIST, NUMBER, OBJECT, Schema, array_of, integer
from driftgames.core.state import Stateful, check_arrays, check_clock
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced
from driftgames.portfolio.portfolio_run import PortfolioRun
from driftgames.portfolio.relatives import check_prices, check_relatives, check_spread
from driftgames.portfolio.trading_kernels import trade
from driftgames.potentials import NoBoundError

_LARGEST = 1e100  # no sum of many days is larger


@dataclass(frozen=True, eq=False)
class Quote(Displayed):
    """What a table said about the end of a period.

    Parameters
    ----------
    prices : array or None
        The price of each asset; None if the table held relatives.
    date : str
        The date as the table has it. Default: "", for a table without dates.
    assets : tuple of str
        The name of each asset, in the order of the strategy. Default: (), for unknown names.
    """

    prices: FloatArray | None
    date: str = ""
    assets: tuple[str, ...] = ()

    def content(self) -> Content:
        """Return it as a part of a strategy's state."""
        return {"prices": self.prices, "date": self.date, "assets": list(self.assets)}


class PortfolioStrategy(Stateful):
    """A strategy chooses a portfolio every day, then sees the relatives of the day.

    Parameters
    ----------
    n_assets : int
        At least 2.
    cost : float
        What trading costs, as a share of the value bought or sold; between 0 and 0.5. The
        portfolio of the first day is bought as well.

    Notes
    -----
    A cost is paid out of the wealth before the day begins: the share w that is left solves
    ``w = 1 - cost * sum |w b - h|``, where b is the portfolio of the day and h what the assets
    held have become. Only the universal portfolio considers costs when it decides.
    """

    VERSION: ClassVar[int] = 3

    title: str
    """The name of the strategy, for people."""

    quote: Quote | None
    """The prices that the last relatives led to, if the caller sets them after a run.

    They are saved with the strategy, so that the next prices give the next relatives. The names
    of the assets are saved too, so that the next table may have its columns in another order.
    """

    _named_arguments: ClassVar[Schema] = {"n_assets": integer(2), "cost": NUMBER}
    _array_names: tuple[str, ...] = ()
    """The arrays that the next decision depends on; ``name`` is the attribute ``_name``."""

    def __init__(self, n_assets: int, *, cost: float = 0.0) -> None:
        if isinstance(n_assets, int) and n_assets == 1:
            raise ValueError("a portfolio needs at least two assets; got one")
        self._n_assets = check_integer("n_assets", n_assets, least=2)
        self._cost = check_between("cost", cost, 0.0, 0.5)
        self._t = 0
        self._log_wealth = 0.0
        self._held = np.zeros(self._n_assets)  # all zero: only cash
        self._largest_spread = math.inf
        self.quote = None

    @abstractmethod
    def _play(self, relatives: FloatArray) -> FloatArray:
        """Move the state through the days; return one more portfolio than there are days."""

    # ---------------------------------------------------------------- trading

    def predict(self) -> FloatArray:
        """Return the portfolio for the next day."""
        with self._lock:
            portfolio: FloatArray = self._play(np.empty((0, self._n_assets)))[0]
        return portfolio

    def update(self, relatives: npt.ArrayLike) -> float:
        """Take the relatives of a day and return the factor by which wealth changed."""
        day = as_floats("relatives", relatives)
        if day.ndim != 1:
            raise ValueError(
                f"relatives of a day must be one relative per asset; got shape {day.shape}; "
                "use run for several days"
            )
        with self._lock:
            before = self._log_wealth
            self.run(day[np.newaxis])
            return float(exp_all(np.array([self._log_wealth - before]))[0])

    def run(self, relatives: npt.ArrayLike) -> PortfolioRun:
        """Trade through a matrix of relatives, one row per day.

        It equals one `update` per row, bit for bit. A bad row leaves the strategy as it was.
        """
        matrix = check_relatives(relatives, self._n_assets)
        check_spread(matrix, self._largest_spread)
        log_wealth, turnover = np.empty((2, matrix.shape[0]))
        with self._lock:
            portfolios = np.ascontiguousarray(self._play(matrix)[:-1])
            begun = self._log_wealth
            trade(portfolios, matrix, self._cost, self._held, begun, log_wealth, turnover)
            self._t += matrix.shape[0]
            if matrix.shape[0]:
                self._log_wealth, self.quote = float(log_wealth[-1]), None
        return PortfolioRun(
            title=self.title,
            first_round=self._t + 1 - matrix.shape[0],
            strategy=self,
            relatives=matrix,
            log_wealth=log_wealth,
            portfolios=portfolios,
            turnover=turnover,
            cost=self._cost,
        )

    @property
    def t(self) -> int:
        """How many days were traded."""
        return self._t

    @property
    def n_assets(self) -> int:
        """How many assets there are."""
        return self._n_assets

    @property
    def cost(self) -> float:
        """What trading costs, as a share of the value traded."""
        return self._cost

    @property
    def held(self) -> FloatArray:
        """The shares of the assets after the last day; all zero before the first."""
        return self._held.copy()

    @property
    def wealth(self) -> float:
        """What 1 has become; infinite where it overflows."""
        return float(exp_all(np.array([self._log_wealth]))[0])

    @property
    def log_wealth(self) -> float:
        """The logarithm of the wealth."""
        return self._log_wealth

    # ---------------------------------------------------------------- what is promised

    def certificate(self, best: BestConstantRebalanced) -> RegretCertificate:
        """Return the regret in log-wealth to ``best``, of the same days, beside its bound.

        `PortfolioRun.certificate` finds that portfolio from the days of a run.
        """
        check_kind("best", best, BestConstantRebalanced)
        regret = best.log_wealth - self._log_wealth
        largest = max(abs(best.log_wealth), abs(self._log_wealth))
        try:
            promised, caveat = self.regret_bound(best), ""
        except NoBoundError as error:
            promised, caveat = math.inf, str(error)
        return RegretCertificate(
            self.title, self._t, regret, promised, largest, caveat, "log-wealth"
        )

    def regret_bound(self, best: BestConstantRebalanced) -> float:
        """Return how far the log-wealth may lie below that of ``best``, of the same days.

        It raises `NoBoundError` if no bound is known, as with costs.
        """
        if self._cost:
            raise NoBoundError(f"there is no bound with costs; got cost={self._cost:g}")
        self._check_same_days(best)
        return self._bound(best)

    def _bound(self, best: BestConstantRebalanced) -> float:
        """Return `regret_bound` without costs, or raise `NoBoundError`."""
        raise NoBoundError(f"no bound is known for {self.title}")

    def _check_same_days(self, best: BestConstantRebalanced) -> None:
        """Raise ValueError if ``best`` is of other days or assets than were traded."""
        check_kind("best", best, BestConstantRebalanced)
        if (best.horizon, best.portfolio.size) != (self._t, self._n_assets):
            raise ValueError(
                f"best must be of the same {self._t} days and {self._n_assets} assets; got "
                f"{best.horizon} days and {best.portfolio.size} assets"
            )

    # ---------------------------------------------------------------- state

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        n = arguments.get("n_assets")
        arrays = {name: array_of(n) for name in ("held", *cls._array_names)}
        return cls._named_arguments, {**arrays, "log_wealth": NUMBER, "quote": OBJECT.or_null}

    def _get_state(self) -> Content:
        quote = self.quote
        return {
            "t": self._t,
            "log_wealth": self._log_wealth,
            "held": self._held,
            "quote": None if quote is None else quote.content(),
            **{name: getattr(self, f"_{name}") for name in self._array_names},
        }

    def _set_state(self, state: Content) -> None:
        check_arrays(state, self._get_state())
        t = check_clock("t", state["t"])
        log_wealth = check_number("log_wealth", state["log_wealth"])
        quote = _quote_from(state["quote"], self._n_assets)
        if t:
            check_distribution("held", state["held"], self._n_assets)
        elif state["held"].any():
            raise ValueError("held must be zeros before the first day")
        twin = self.copy()
        twin._held = state["held"].copy()
        for name in self._array_names:
            check_range(name, state[name], -_LARGEST, _LARGEST)
            setattr(twin, f"_{name}", state[name].copy())
        check_distribution("the next portfolio", twin.predict(), self._n_assets)
        self._t, self._log_wealth, self._held, self.quote = t, log_wealth, state["held"], quote
        for name in self._array_names:
            setattr(self, f"_{name}", state[name])


def _quote_from(saved: Any, n_assets: int) -> Quote | None:
    if saved is None:
        return None
    prices = saved["prices"]
    if prices is not None:
        prices = check_vector("prices", prices, n_assets)
        prices = check_prices("prices", prices[np.newaxis])[0]
    named = saved.get("assets", [])  # older files have no names
    LIST.check("assets", named)
    assets = tuple(map(str, named))
    if assets and not len(assets) == len(set(assets)) == n_assets:
        raise ValueError(f"assets must be {n_assets} different names; got {', '.join(assets)}")
    return Quote(prices, str(saved["date"]), assets)
