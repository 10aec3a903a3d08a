"""Strategies of the package universal-portfolios, with its defaults, on the same markets."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Tell, why_absent
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

PEER = "universal"
"""The module of the package universal-portfolios."""

STRATEGIES = ("UP", "BAH", "EG", "ONS", "OLMAR", "PAMR", "RMR", "Anticor", "CWMR")


MARKETS = ("sp500", "msci", "tse", "nyse_n")
"""Markets that come with the package, beside those of `driftgames.datasets`."""


def bundled_market(name: str) -> FloatArray:
    """Return the relatives of a market whose file has the growth of every stock since the start."""
    home = importlib.import_module(PEER).__file__
    path = Path(str(home)).parent / "data" / f"{name}.csv"
    grown = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return np.vstack([grown[:1], grown[1:] / grown[:-1]])


def peers(market: str, relatives: FloatArray, costs: tuple[float, ...], tell: Tell) -> Table:
    """Return the wealth of each strategy at each cost."""
    title = f"{market}: strategies of universal-portfolios, with its defaults"
    if (why := why_absent((PEER,))) is not None:
        return Table(title, (Column("skipped"),), ((why,),))
    import pandas as pd

    algos: Any = importlib.import_module(f"{PEER}.algos")
    prices = pd.DataFrame(np.cumprod(np.vstack([np.ones(relatives.shape[1]), relatives]), axis=0))
    rows: list[Row] = []
    for name in STRATEGIES:
        tell(f"{market}: universal-portfolios, {name}")
        result = getattr(algos, name)().run(prices)
        found = list[float]()
        for cost in costs:
            result.fee = cost
            found.append(float(result.total_wealth))
        rows.append((name, *found))
    columns = (Column("strategy"), *(Column(f"wealth, cost {cost:g}", ".4g") for cost in costs))
    return Table(title, columns, tuple(rows))
