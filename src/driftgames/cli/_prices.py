"""Prices from a table, in the order of their dates, and how they follow a state."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from driftgames.cli._numbers import open_numbers
from driftgames.cli._options import Reading, check_kept
from driftgames.core.cells import counts_rows, rises
from driftgames.core.text import shown
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError
from driftgames.portfolio import PortfolioStrategy, Quote, price_relatives
from driftgames.portfolio.relatives import check_relatives, missing_prices

NO_QUOTE = Quote(None, "", ())


class ReadMarket(NamedTuple):
    """Relatives with a row per period, the last quote, and notes on how they were read."""

    relatives: FloatArray
    quote: Quote
    notes: list[str]


@dataclass(frozen=True, eq=False)
class Prices:
    """The numbers of a table in the order of time, with the names of its columns and lines.

    ``dates`` is empty if the table has none. ``was_turned`` says that the newest line came
    first.
    """

    source: str
    values: FloatArray
    assets: list[str]
    dates: list[str]
    was_turned: bool

    def ordered_as(self, strategy: PortfolioStrategy) -> Prices:
        """Return the table with its columns in the order of the strategy's assets.

        Other assets are refused. A strategy that does not know their names takes them in the
        order of the table.
        """
        names = (strategy.quote or NO_QUOTE).assets
        if not names:
            check_kept(("the number of assets", len(self.assets), strategy.n_assets))
            return self
        missing = [name for name in names if name not in self.assets]
        unknown = [name for name in self.assets if name not in names]
        if missing or unknown:
            lists = (("missing", missing), ("unknown", unknown))
            which = [f"{what}: {', '.join(found)}" for what, found in lists if found]
            problem = "the assets are not those of the state"
            if len(names) != len(self.assets):
                problem = (
                    f"the number of assets is {len(self.assets)}, but the state was kept with "
                    f"{len(names)}"
                )
            raise ValueError(f"{self.source}: {problem}; {'; '.join(which)}")
        order = [self.assets.index(name) for name in names]
        values = np.ascontiguousarray(self.values[:, order])
        return replace(self, values=values, assets=list(names))

    def market(
        self, *, from_one: bool, relatives: bool, after: PortfolioStrategy | None = None
    ) -> ReadMarket:
        """Return the market of a table of prices, or of ``relatives``.

        ``from_one`` says that prices began at 1 before the first line. ``after`` is a strategy
        that has traded the periods before: its prices begin the first period.
        """
        notes = ["The newest line is the first: the table is read from its end."][: self.was_turned]
        traded = None if after is None or after.t == 0 else after
        quote = NO_QUOTE if traded is None else traded.quote or NO_QUOTE
        date, names = self.dates[-1] if self.dates else "", tuple(self.assets)
        if relatives:
            line = self._line_of_date(quote)
            values = check_relatives(self.values if line is None else self.values[line + 1 :])
            if line is not None:
                notes.append(f"Lines up to {quote.date} are left out: they were traded.")
            return ReadMarket(values, Quote(None, date, names), notes)
        values, before = self.values, np.ones(len(self.assets)) if from_one else None
        if traded is not None:
            if from_one:
                raise ValueError("--from-one is for the first table; a state goes on after it")
            start = self._line_of(quote)
            if start is not None:
                values = values[start:]
                if start > 0:
                    notes.append(f"Lines before {quote.date} are left out: they were traded.")
            elif quote.prices is None:
                notes.append("The state has no prices: the time up to the first line is left out.")
            else:
                before = quote.prices
                notes.append("The first period begins with the last prices of the state.")
        made = price_relatives(values, before=before)
        return ReadMarket(made, Quote(values[-1].copy(), date, names), notes)

    def _line_of(self, quote: Quote) -> int | None:
        """Return which line of prices is the last of a state; None if the table begins after it."""
        prices = quote.prices
        if not (quote.date and self.dates):
            return 0 if prices is not None and np.array_equal(self.values[0], prices) else None
        line = self._line_of_date(quote)
        if line is None or prices is None or np.array_equal(self.values[line], prices):
            return line
        raise ValueError(
            f"{self.source}: has other prices at {quote.date} than the state ended with"
        )

    def _line_of_date(self, quote: Quote) -> int | None:
        """Return which line has the last date of a state; None if the table begins after it.

        A table that begins before that date without containing it is refused, and so is one
        that ends with it. Tables without dates, or without readable ones, begin after it.
        """
        if not (quote.date and self.dates):
            return None
        if quote.date not in self.dates:
            self._check_begins_after(quote.date)
            return None
        line = self.dates.index(quote.date)
        if line == len(self.dates) - 1:
            raise ValueError(
                f"{self.source}: has no line after {quote.date}, where the state ended"
            )
        return line

    def _check_begins_after(self, last: str) -> None:
        """Raise ValueError unless the dates rise from ``last`` on, or are in no known format."""
        if rises(self.dates) is None:
            return
        try:
            order = rises([last, *self.dates])  # one format must fit all of them
        except ValueError:
            order = False
        if order is None:
            raise ValueError(
                f"{self.source}: its dates, such as {self.dates[0]}, are in another format than "
                f"{last}, where the state ended"
            )
        if not order:
            raise ValueError(
                f"{self.source}: begins at {self.dates[0]}, and the state ended at {last}"
            )


def read_prices(source: str, reading: Reading) -> Prices:
    """Read a table of prices or relatives, one row per period and one column per asset.

    A column of dates tells the order of the rows.
    """
    with open_numbers(source, reading, "a price", may_be_missing=True, whole=True) as file:
        blocks = list(file.blocks)
        assets = file.names or [f"column {j + 1}" for j in file.columns]
        named = file.names or tuple(str(j + 1) for j in file.columns)  # as --leave-out takes them
    if not blocks:
        raise DataError(f"{source}: has no line of prices")
    values = np.concatenate([block.numbers for block in blocks])
    places = [place for block in blocks for place in block.places]
    if problem := missing_prices(values, assets, places.__getitem__):
        lacking = [name for name, x in zip(named, values.T, strict=True) if np.isnan(x).any()]
        raise DataError(
            f"{source}: every asset needs a price in every line; {problem}. Leave out such assets "
            f"with --leave-out {shlex.quote(','.join(lacking))}, or cut the lines without prices"
        )
    for name, column in zip(named, values.T, strict=True):
        if counts_rows(column):
            raise DataError(
                f"{source}: column {shown(name)} counts the rows ({column[0]:g}, {column[1]:g}, "
                f"...) and is no price; leave it out with --leave-out {shlex.quote(name)}"
            )
    dates = [date for block in blocks for date in block.dates]
    try:
        turned = rises(dates) is False
    except ValueError as error:
        raise DataError(f"{source}: {error}") from None
    if turned:
        values, dates = values[::-1].copy(), dates[::-1]
    return Prices(source, values, list(assets), dates, turned)
