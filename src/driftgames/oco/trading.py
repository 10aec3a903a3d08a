"""Trading: price relatives, what a day of it costs and brings, and what a strategy is."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.portfolio import trade
from driftgames.core.checks import (
    as_floats,
    check_between,
    check_finite,
    check_integer,
    check_number,
    check_range,
    check_vector,
    first_index,
)
from driftgames.core.documents import (
    DocumentError,
    decode_array,
    encode_array,
    read_document,
    write_document,
)
from driftgames.core.typing import Content, FloatArray

VERSION = 2

LEAST, MOST = 1e-75, 1e75
"""Between which relatives are taken: what strategies make of the ratios of a day, and of their
squares, are then floats."""


def price_relatives(prices: npt.ArrayLike, *, before: npt.ArrayLike | None = None) -> FloatArray:
    """Return each day's prices over those of the day before.

    The first day has no day before it in the table, so there is one row less than there are
    prices, unless ``before`` gives the prices at which the first day began. The files of
    NYSE(O) and DJIA hold cumulative prices that began at 1: their first day is
    ``price_relatives(prices, before=1.0)[0]``, which is the first row itself.

    >>> price_relatives([[1.0, 2.0], [2.0, 1.0]])
    array([[2. , 0.5]])
    >>> price_relatives([[1.5, 2.0], [3.0, 1.0]], before=1.0)
    array([[1.5, 2. ],
           [2. , 0.5]])
    """
    table = _check_table("prices", prices)
    if before is not None:
        first = np.broadcast_to(as_floats("before", before), table.shape[1:])
        table = np.concatenate([_check_table("before", first[np.newaxis]), table])
    if table.shape[0] < 2:
        raise ValueError("prices must cover at least two days; got one")
    return table[1:] / table[:-1]


@dataclass(frozen=True)
class PortfolioRun:
    """What a strategy did over some days.

    Parameters
    ----------
    title : str
        What was run.
    log_wealth : array
        The logarithm of the wealth at the end of each day; the strategy began with a wealth
        of 1 on its own first day.
    portfolios : array
        What it held at the beginning of each day, one row per day.
    """

    title: str
    log_wealth: FloatArray
    portfolios: FloatArray

    @property
    def wealth(self) -> FloatArray:
        """The wealth at the end of each day; infinite where no float holds it."""
        return exp_all(self.log_wealth)

    @property
    def final_wealth(self) -> float:
        """The wealth at the end."""
        if self.log_wealth.size == 0:
            raise ValueError("a run of no days has no final wealth")
        return float(self.wealth[-1])


@dataclass(frozen=True, eq=False)
class Quote:
    """The prices at the end of a period, and its date as the table of prices has it, or ""."""

    prices: FloatArray
    date: str = ""


class PortfolioStrategy(ABC):
    """Every day a portfolio, then the relatives of the day.

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
    held have become. Only the universal portfolio looks at costs when it decides.
    """

    title: ClassVar[str]

    quote: Quote | None
    """The prices that the last relatives led to, if the caller sets them after a run.

    They are saved with the strategy, so that the next prices give the next relatives.
    """

    def __init__(self, n_assets: int, *, cost: float = 0.0) -> None:
        if n_assets == 1:
            raise ValueError("a portfolio needs at least two assets; got one")
        self._n_assets = check_integer("n_assets", n_assets, least=2)
        self._cost = check_between("cost", cost, 0.0, 0.5)
        self._t = 0
        self._log_wealth = 0.0
        self._held = np.zeros(self._n_assets)  # nothing but cash
        self._most_spread = math.inf
        self.quote = None

    # ---------------------------------------------------------------- what a strategy must give

    @abstractmethod
    def _play(self, relatives: FloatArray) -> FloatArray:
        """Live through the days and return one more portfolio than there are days."""

    @abstractmethod
    def _arguments(self) -> Content:
        """Return what the constructor takes beyond assets and cost, as JSON."""

    @abstractmethod
    def _state(self) -> dict[str, FloatArray]:
        """Return the arrays that the next decision depends on."""

    @abstractmethod
    def _take(self, state: dict[str, FloatArray]) -> None:
        """Take up such arrays."""

    # ---------------------------------------------------------------- trading

    def predict(self) -> FloatArray:
        """Return the portfolio for the next day."""
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
        before = self._log_wealth
        self.run(day[np.newaxis])
        return float(exp_all(np.array([self._log_wealth - before]))[0])

    def run(self, relatives: npt.ArrayLike) -> PortfolioRun:
        """Live through the days of a matrix of relatives, one row per day.

        It equals one `update` per row, bit for bit. A bad row leaves the strategy as it was.
        """
        matrix = check_relatives(relatives, self._n_assets)
        check_spread(matrix, self._most_spread)
        portfolios = np.ascontiguousarray(self._play(matrix)[:-1])
        wealth = np.empty(matrix.shape[0])
        trade(portfolios, matrix, self._cost, self._held, self._log_wealth, wealth)
        self._t += matrix.shape[0]
        if matrix.shape[0]:
            self._log_wealth, self.quote = float(wealth[-1]), None
        return PortfolioRun(self.title, wealth, portfolios)

    @property
    def t(self) -> int:
        """How many days were lived through."""
        return self._t

    @property
    def n_assets(self) -> int:
        """How many assets there are."""
        return self._n_assets

    @property
    def wealth(self) -> float:
        """What 1 has become; infinite where no float holds it."""
        return float(exp_all(np.array([self._log_wealth]))[0])

    @property
    def log_wealth(self) -> float:
        """The logarithm of that."""
        return self._log_wealth

    # ---------------------------------------------------------------- saving

    @property
    def settings(self) -> Content:
        """What it was made with, in the form in which a file holds it."""
        return {"n_assets": self._n_assets, "cost": self._cost, **self._arguments()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the strategy to a JSON document, atomically."""
        content = {
            "arguments": self.settings,
            "t": self._t,
            "log_wealth": self._log_wealth,
            "held": encode_array(self._held),
            "quote": None
            if self.quote is None
            else {"prices": encode_array(self.quote.prices), "date": self.quote.date},
            "state": {name: encode_array(array) for name, array in self._state().items()},
        }
        write_document(path, self._kind(), VERSION, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **arguments: Any) -> Self:
        """Return the strategy that was saved at ``path``; it goes on to the same bits.

        ``arguments`` are for what a file cannot hold, such as a potential of your own.
        """
        content = read_document(path, cls._kind(), VERSION)
        try:
            strategy = cls._build(content["arguments"], arguments)
            strategy._t = check_integer("t", content["t"], least=0)
            strategy._log_wealth = check_number("log_wealth", content["log_wealth"])
            held = decode_array(content["held"])
            strategy._held = check_vector("held", held, strategy._n_assets)
            wanted = strategy._state()
            state = {
                name: as_floats(name, decode_array(array))
                for name, array in content["state"].items()
            }
            if {k: v.shape for k, v in state.items()} != {k: v.shape for k, v in wanted.items()}:
                raise DocumentError("its state does not have the shape of its arguments")
            for name, array in state.items():
                check_finite(name, array)
            strategy._take(state)
            if (quote := content.get("quote")) is not None:
                prices = _check_table("prices", decode_array(quote["prices"])[np.newaxis])[0]
                check_vector("prices", prices, strategy._n_assets)
                strategy.quote = Quote(prices, str(quote["date"]))
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentError(f"{path}: not a whole {cls.__name__}: {error}") from error
        return strategy

    @classmethod
    def _build(cls, saved: Content, given: dict[str, Any]) -> Self:
        if given:
            raise DocumentError(
                f"only what a file cannot hold is given again; got {', '.join(given)}"
            )
        return cls(**saved)

    @classmethod
    def _kind(cls) -> str:
        return f"driftgames.{cls.__name__}"


def check_relatives(relatives: npt.ArrayLike, n_assets: int | None = None) -> FloatArray:
    """Return price relatives as a matrix, one row per day, or say what is wrong with them."""
    matrix = _check_table("relatives", relatives)
    if n_assets is not None and matrix.shape[1] != n_assets:
        raise ValueError(f"relatives must have {n_assets} columns; got {matrix.shape[1]}")
    check_range("relatives", matrix, LEAST, MOST)
    return np.ascontiguousarray(matrix)


def check_spread(relatives: FloatArray, span: float) -> None:
    """Name the first day whose highest relative is more than ``exp(span)`` times the lowest."""
    if math.isinf(span):
        return
    spread = log_all(relatives.max(axis=1) / relatives.min(axis=1))
    if (spread > span).any():
        (day,) = first_index(spread > span)
        raise ValueError(
            f"the relatives of a day must lie within exp(span) of each other; got a spread of "
            f"exp({spread[day]:.4g}) in row {day} for span={span:g}"
        )


def _check_table(name: str, values: npt.ArrayLike) -> FloatArray:
    table = as_floats(name, values)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must have a row per day and a column per asset; got shape {table.shape}"
        )
    if table.shape[1] < 2:
        raise ValueError(f"{name} must be of at least two assets; got {table.shape[1]}")
    check_finite(name, table)
    if not (table > 0).all():
        day, asset = first_index(table <= 0)
        raise ValueError(
            f"{name} must be above 0; got {table[day, asset]:g} in row {day}, column {asset}"
        )
    return table
