"""Portfolios: wealth, turnover, costs and regret of every strategy on published markets."""

from __future__ import annotations

from dataclasses import replace

from bench.harness import Tell, silent, why_absent
from bench.portfolio_peers import MARKETS as BUNDLED
from bench.portfolio_peers import PEER, bundled_market, peers
from driftgames.datasets import MissingDataError, load_market
from driftgames.portfolio import PortfolioReport
from driftgames.portfolio import run as trade
from driftgames.tables import Column, Row, Table

MARKETS = ("nyse_o", "djia")
COSTS = (0.0, 0.001)


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return one table for each market and cost, and the mixture beside the best strategy."""
    found, rows = [], list[Row]()
    for name in MARKETS[: 1 if quick else None]:
        try:
            relatives = load_market(name).relatives[: 300 if quick else None]
        except MissingDataError as error:
            found.append(Table(name, (Column("skipped"),), ((str(error),),)))
            continue
        for cost in COSTS:
            tell(f"{name}, cost {cost:g}")
            report = trade(relatives, cost=cost, holds="relatives")
            table = report.table
            found.append(replace(table, title=f"{name}, cost {cost:g}: {table.title}"))
        rows.append(row_of(name, report))
        if not quick:
            found.append(peers(name, relatives, COSTS, tell))
    if not quick and why_absent((PEER,)) is None:
        for name in BUNDLED:
            tell(f"{name}, cost {COSTS[-1]:g}")
            report = trade(bundled_market(name), cost=COSTS[-1], holds="relatives")
            rows.append(row_of(name, report))
    return [*found, mixtures(rows)]


def row_of(name: str, report: PortfolioReport) -> Row:
    """Return the best strategy of a market, and how far the mixture is behind it."""
    *single, mixture = report.runs.values()
    best = max(single, key=lambda each: each.final_wealth)
    newton = report.runs["ons"]
    return (
        name,
        newton.final_wealth,
        100.0 * newton.drawdown,
        best.title,
        best.final_wealth,
        mixture.final_wealth,
        100.0 * mixture.drawdown,
        best.final_wealth / mixture.final_wealth,
        len(single),
    )


def mixtures(rows: list[Row]) -> Table:
    """Return the table of `row_of`."""
    columns = (
        Column("market"),
        Column("Newton step", ".4g"),
        Column("drawdown, %", ".0f"),
        Column("best strategy"),
        Column("its wealth", ".4g"),
        Column("mixture", ".4g"),
        Column("drawdown, %", ".0f"),
        Column("best / mixture", ".2f"),
        Column("at most"),
    )
    title = f"the mixture of all strategies beside the best of them, cost {COSTS[-1]:g}"
    notes = (f"{', '.join(BUNDLED)} come with universal-portfolios",)
    return Table(title, columns, tuple(rows), notes)
