"""A report on strategies that traded a data frame: wealth, turnover, costs, and promises.

Data frames are those that narwhals knows: pandas, polars, pyarrow and others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from driftgames.certificates import RegretCertificate
from driftgames.core.checks import as_floats, shown
from driftgames.core.data_frames import as_frame
from driftgames.core.display import Displayed, Fields, Sketch, frame_of_columns
from driftgames.core.registry import choose
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced, best_constant_rebalanced
from driftgames.portfolio.limits import LimitedPortfolio
from driftgames.portfolio.mixture import StrategyMixture
from driftgames.portfolio.named_strategies import STRATEGIES
from driftgames.portfolio.portfolio_run import PortfolioRun
from driftgames.portfolio.relatives import check_relatives, missing_prices, price_relatives
from driftgames.portfolio.strategy import PortfolioStrategy
from driftgames.tables import Column, Table, counted

ALONE = tuple(name for name in STRATEGIES if name != "normalhedge.dt")
"""The strategies that need nothing known of the market."""

Dates = npt.NDArray[np.datetime64]

KINDS: dict[str, Callable[[npt.NDArray[Any]], FloatArray]] = {
    "prices": price_relatives,
    "relatives": check_relatives,
    "returns": lambda table: check_relatives(1.0 + table),
}
"""What a table may hold, and how it becomes relatives."""


@dataclass(frozen=True, eq=False)
class PortfolioReport(Displayed):
    """What strategies made of one market.

    Parameters
    ----------
    runs : mapping
        The run of each strategy by name.
    certificates : mapping
        The regret of each in log-wealth beside its bound.
    best : BestConstantRebalanced
        The best constant rebalanced portfolio in hindsight, which pays no costs.
    assets : tuple of str
        The assets, in the order of all portfolios.
    dates : array or None
        The ends of the periods; one more in front if the start is known.
    """

    runs: Mapping[str, PortfolioRun]
    certificates: Mapping[str, RegretCertificate]
    best: BestConstantRebalanced
    assets: tuple[str, ...]
    dates: Dates | None

    @property
    def table(self) -> Table:
        """One line per strategy; print it with `tables.draw_table`, or take ``to_frame()``."""
        columns = (
            Column("strategy"),
            Column("wealth", ",.4f"),
            Column("turnover", "%"),
            Column("costs", "%"),
            Column("drawdown", "%"),
            Column("regret", ",.3f"),
            Column("bound", ",.2f"),
        )
        rows = tuple(
            (
                run.title,
                run.final_wealth,
                float(run.turnover.mean()),
                run.cost_of_all,
                run.drawdown,
                self.certificates[name].regret,
                self.certificates[name].promised,
            )
            for name, run in self.runs.items()
        )
        notes = (
            "turnover: value traded per period, as a share of wealth; costs: what they took of the "
            "final wealth; drawdown: the largest fall from a peak; regret: in log-wealth",
            *warnings_of(self.runs.values()),
        )
        days = self.best.horizon
        return Table(f"{days:,} periods, {len(self.assets)} assets", columns, rows, notes)

    def _headline(self) -> str:
        return f"{counted(len(self.runs), 'strategy')}, {self.table.title}"

    def _facts(self) -> Fields:
        return {"best constant rebalanced, wealth": self.best.wealth}

    def _preview(self) -> Fields:
        return self.table._preview()

    def _sketch(self) -> Sketch:
        curves = {run.title: run.wealth for run in self.runs.values()}
        return Sketch(range(1, self.best.horizon + 1), curves, label="period")

    def to_frame(self, name: str | None = None, backend: str = "pandas") -> Any:
        """Return the days of a strategy: date, wealth, turnover, cost, and the share of each asset.

        Without a name: `table`, a row for each strategy. A frame of pandas, polars or pyarrow,
        which must be installed.
        """
        if name is None:
            return self.table.to_frame(backend)
        run = choose("name", name, self.runs)
        columns: dict[str, Any] = {}
        if self.dates is not None:
            columns["date"] = self.dates[-run.turnover.size :]
        columns |= {"wealth": run.wealth, "turnover": run.turnover, "cost": run.costs}
        columns |= dict(zip(self.assets, run.portfolios.T.copy(), strict=True))
        return frame_of_columns(columns, backend)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw wealth over the dates."""
        from driftgames.plots.portfolio import plot_wealth

        curves = {run.title: run.wealth for run in self.runs.values()}
        shown = ("best constant rebalanced, in the end", self.best.wealth)
        return plot_wealth(curves, best=shown, dates=self.dates, ax=ax)


def warnings_of(runs: Iterable[PortfolioRun]) -> list[str]:
    """Return which strategies costs ruined, and how far mixtures are behind their best strategy."""
    found = []
    for run in runs:
        if run.cost_of_all > 0.5:
            found.append(
                f"{run.title}: costs took {run.cost_of_all:.0%} of the final wealth, at a turnover "
                f"of {float(run.turnover.mean()):.0%} per period"
            )
        if run.drawdown > 0.5:
            found.append(f"{run.title}: fell by {run.drawdown:.0%} from its highest wealth")
        if isinstance(run.strategy, StrategyMixture) and run.strategy.t:
            found.append(f"to its best strategy: {run.strategy.mixture_certificate()}")
    return found


def read_frame(table: Any, holds: str) -> tuple[FloatArray, tuple[str, ...], Dates | None]:
    """Return relatives, assets and dates of a data frame or an array, whose columns are assets.

    Dates are the index of a pandas frame, unless that is of integers; otherwise the first column,
    if it is one of dates, times or texts in ISO 8601. They must rise. They are the ends of the
    periods; prices have one more, the start. None if the table has no dates.
    """
    to_relatives = choose("holds", holds, KINDS)
    frame = as_frame(_with_text_columns(table))
    if frame is None:
        values = as_floats(holds, table)
        names = tuple(f"asset {k + 1}" for k in range(values.shape[-1] if values.ndim else 0))
        return to_relatives(values), names, None
    dates = _dates_from(getattr(nw.maybe_get_index(frame), "values", None))
    if dates is None and frame.columns:
        first = frame[frame.columns[0]]
        if first.dtype.is_temporal() or first.dtype == nw.String:
            dates, frame = _dates_from(first.to_numpy()), frame.drop(frame.columns[0])
    for name, dtype in frame.schema.items():
        if not dtype.is_numeric():
            raise ValueError(f"column {name!r} must hold numbers; it is of type {dtype}")
    if dates is not None and not (np.diff(dates) > np.timedelta64(0)).all():
        late = int(np.argmin(np.diff(dates) > np.timedelta64(0)))
        raise ValueError(f"dates must rise; got {dates[late]} before {dates[late + 1]}")
    numbers = frame.to_numpy().astype(np.float64)
    if problem := missing_prices(numbers, frame.columns, "row {}".format):
        raise ValueError(
            f"every asset needs a number in every row; {problem}. Drop such columns, or cut rows"
        )
    return to_relatives(numbers), tuple(map(str, frame.columns)), dates


def _with_text_columns(table: Any) -> Any:
    """Return a pandas frame with texts for the names of its columns, which may be anything.

    The levels of a name are joined by a space. Anything else is returned as it is.
    """
    columns = getattr(table, "columns", None)
    if columns is None or not hasattr(table, "set_axis"):
        return table
    texts = [" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in columns]
    if len(set(texts)) < len(texts):
        raise ValueError(f"columns must have different names; got {shown(texts)}")
    return table if texts == list(columns) else table.set_axis(texts, axis=1)


def _dates_from(values: npt.NDArray[Any] | None) -> Dates | None:
    """Return dates, times or texts in ISO 8601 as moments; None for numbers."""
    if values is None or values.dtype.kind in "iuf":
        return None
    if values.dtype.kind != "M":
        try:
            values = np.array([str(value) for value in values], dtype="datetime64[us]")
        except ValueError as error:
            raise ValueError(f"dates must be in ISO 8601: {error}") from error
    return values


def limits_of(
    assets: Sequence[str],
    max_share: float | Mapping[str, float] | None,
    groups: Iterable[tuple[Sequence[str], float]] | None,
    max_turnover: float | None,
) -> dict[str, Any]:
    """Return the limits as arguments of `LimitedPortfolio`; empty if there are none.

    >>> limits_of(["ant", "bee"], {"bee": 0.3}, [(["ant"], 0.9)], None)
    {'max_share': [1.0, 0.3], 'groups': [([0], 0.9)]}
    """
    places = {name: k for k, name in enumerate(assets)}

    def place(name: str) -> int:
        if name not in places:
            raise ValueError(f"there is no asset {shown(name)}; there are {', '.join(assets)}")
        return places[name]

    found: dict[str, Any] = {}
    if isinstance(max_share, Mapping):
        caps = [1.0] * len(assets)
        for name, cap in max_share.items():
            caps[place(name)] = cap
        found["max_share"] = caps
    elif max_share is not None:
        found["max_share"] = max_share
    if groups is not None:
        found["groups"] = [([place(name) for name in members], cap) for members, cap in groups]
    if max_turnover is not None:
        found["max_turnover"] = max_turnover
    return found


def make_strategy(
    name: str,
    n_assets: int,
    limits: Mapping[str, Any],
    mix: Sequence[str] | None,
    settings: Mapping[str, Any],
) -> PortfolioStrategy:
    """Return a new strategy by name, within the limits if there are any."""
    make = choose("algorithms", name, STRATEGIES)
    own = {"mix": mix} if name == "mix" and mix is not None else {}
    if not limits:
        return make(n_assets, **own, **settings)
    if own:
        raise ValueError("limits go with the usual mixture; leave out mix, or the limits")
    return LimitedPortfolio(n_assets, of=name, **limits, **settings)


def run(
    table: Any,
    algorithms: str | Sequence[str] = ALONE,
    *,
    cost: float = 0.0,
    holds: str = "prices",
    mix: Sequence[str] | None = None,
    max_share: float | Mapping[str, float] | None = None,
    groups: Iterable[tuple[Sequence[str], float]] | None = None,
    max_turnover: float | None = None,
    random_state: int = 0,
) -> PortfolioReport:
    """Trade through a data frame of prices and report wealth, turnover and costs.

    Parameters
    ----------
    table : data frame or array
        A row per period and a column per asset. Dates are the index of a pandas frame or the
        first column, and must rise.
    algorithms : str or sequence of str
        Names of `STRATEGIES`. Default: all that need nothing known of the market.
    cost : float
        What trading costs, as a share of the value traded.
    holds : {"prices", "relatives", "returns"}
        What the table holds. It is never guessed: a table of relatives is also one of prices.
    mix : sequence of str, optional
        The strategies of the algorithm "mix", which is then added if it is not asked for. Default:
        all that need nothing known of the market.
    max_share : float or mapping, optional
        The largest share of every asset, or of those named.
    groups : sequence of (names of assets, float), optional
        The largest share of each group of assets.
    max_turnover : float, optional
        The value traded per period, as a share of wealth, at most. These limits hold for all
        strategies; see `LimitedPortfolio`.
    random_state : int
        Of strategies with points of their own.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.date_range("2024-01-01", periods=5, freq="D")
    >>> frame = pd.DataFrame({"ant": [1, 2, 1, 2, 1], "bee": [4, 2, 4, 2, 4]}, index=days)
    >>> report = run(frame, ["hold", "uniform", "soft-bayes"], cost=0.01)
    >>> report.table.to_frame()[["strategy", "wealth", "turnover", "costs"]].round(4)
                  strategy  wealth  turnover   costs
    0         buy and hold  0.9901    0.2475  0.0099
    1  uniform rebalancing  2.3740    0.6975  0.0276
    2           Soft-Bayes  1.9699    0.5883  0.0233
    >>> report.to_frame("uniform")[["date", "turnover", "ant"]].round({"turnover": 3})
            date  turnover  ant
    0 2024-01-02      0.99  0.5
    1 2024-01-03      0.60  0.5
    2 2024-01-04      0.60  0.5
    3 2024-01-05      0.60  0.5
    """
    relatives, assets, dates = read_frame(table, holds)
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    if mix is not None and "mix" not in names:
        names.append("mix")
    limits = limits_of(assets, max_share, groups, max_turnover)
    made = {
        name: make_strategy(
            name, len(assets), limits, mix, {"cost": cost, "random_state": random_state}
        )
        for name in names
    }
    runs = {name: strategy.run(relatives) for name, strategy in made.items()}
    best = best_constant_rebalanced(relatives)
    certificates = {name: strategy.certificate(best) for name, strategy in made.items()}
    return PortfolioReport(runs, certificates, best, assets, dates)
