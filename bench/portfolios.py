"""Portfolios: wealth, turnover, costs and regret of every strategy on two published markets."""

from __future__ import annotations

from dataclasses import replace

from bench.harness import Tell, silent
from bench.portfolio_peers import peers
from driftgames.datasets import MissingDataError, load_market
from driftgames.portfolio import run as trade
from driftgames.tables import Column, Table

MARKETS = ("nyse_o", "djia")
COSTS = (0.0, 0.001)


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return one table for each market and cost."""
    found = []
    for name in MARKETS[: 1 if quick else None]:
        try:
            relatives = load_market(name).relatives[: 300 if quick else None]
        except MissingDataError as error:
            found.append(Table(name, (Column("skipped"),), ((str(error),),)))
            continue
        for cost in COSTS:
            tell(f"{name}, cost {cost:g}")
            table = trade(relatives, cost=cost, holds="relatives").table
            found.append(replace(table, title=f"{name}, cost {cost:g}: {table.title}"))
        if not quick:
            found.append(peers(name, relatives, COSTS, tell))
    return found
