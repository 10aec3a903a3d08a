"""Portfolios: NYSE(O), 36 stocks over 5,651 days, against the package universal-portfolios."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.harness import Contestant, Tell, race, silent
from bench.portfolio_peers import PEER
from driftgames.core.typing import FloatArray
from driftgames.datasets.loader import MissingDataError
from driftgames.datasets.online import load_market
from driftgames.oco import ContinuousHedge, HitAndRun, LinearLoss, Points, Simplex
from driftgames.portfolio import (
    ExponentiatedGradient,
    OnlineNewtonStep,
    PortfolioStrategy,
    UniversalPortfolio,
)
from driftgames.tables import Column, Table

UNIVERSAL_WEALTH = 27.0553
"""The wealth of Cover's portfolio on NYSE(O), which `reference` works out in half a minute: the
mean over 16 scramblings of 16,384 points each, with a standard error of 0.0002."""

WANTED: dict[str, float] = {
    "universal portfolio": 0.5,
    "exponentiated gradient": 0.01,
    "online Newton step": 1.0,
}
"""Goals in seconds for a run over NYSE(O), the making of the strategy included."""

ERROR_WANTED = 0.01

Make = Callable[[], PortfolioStrategy]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the races over the market, and the time of a round of continuous Hedge."""
    repeats = 2 if quick else 5
    relatives, note = _market(quick)
    n = relatives.shape[1]
    makes: dict[str, tuple[Make, str]] = {
        "universal portfolio": (lambda: UniversalPortfolio(n), "UP"),
        "exponentiated gradient": (lambda: ExponentiatedGradient(n), "EG"),
        "online Newton step": (lambda: OnlineNewtonStep(n), "ONS"),
    }
    tables = [
        race(
            title,
            [
                Contestant("driftgames", partial(_ours, make, relatives)),
                Contestant(
                    "universal-portfolios",
                    partial(_theirs, peer, relatives),
                    requires=(PEER,),
                ),
            ],
            repeats=repeats,
            notes=(
                f"{relatives.shape[0]:,} days, {n} assets{note}; "
                f"wanted: at most {WANTED[title]:g} s",
            ),
            tell=tell,
        )
        for title, (make, peer) in makes.items()
    ]
    return [
        *tables,
        accuracy(relatives, exact=not note, tell=tell),
        _rounds(2 if quick else 20, repeats, tell),
    ]


def accuracy(relatives: FloatArray, *, exact: bool, tell: Tell = silent) -> Table:
    """Return how far the wealth of the universal portfolio is off, for a few scramblings."""
    n = relatives.shape[1]
    seeds = range(4)
    wealths = []
    for seed in seeds:
        tell(f"accuracy: scrambling {seed}")
        wealths.append(UniversalPortfolio(n, random_state=seed).run(relatives).final_wealth)
    truth = UNIVERSAL_WEALTH if exact else float(np.mean(wealths))
    rows = [(str(seed), w, abs(w - truth)) for seed, w in zip(seeds, wealths, strict=True)]
    against = f"{UNIVERSAL_WEALTH}" if exact else "the mean of these"
    return Table(
        "universal portfolio: error of its wealth",
        (Column("scrambling"), Column("wealth"), Column("error")),
        tuple(rows),
        (f"against {against}; wanted: at most {ERROR_WANTED:g}",),
    )


def reference(relatives: FloatArray, *, scramblings: int = 16) -> tuple[float, float]:
    """Return the wealth of Cover's portfolio from many points, and its standard error."""
    n = relatives.shape[1]
    wealths = [
        UniversalPortfolio(n, n_points=16_384, random_state=1_000 + seed)
        .run(relatives)
        .final_wealth
        for seed in range(scramblings)
    ]
    return float(np.mean(wealths)), float(np.std(wealths, ddof=1) / np.sqrt(scramblings))


def _rounds(rounds: int, repeats: int, tell: Tell) -> Table:
    """Race the two ways to integrate in dimension 35, per round of linear losses."""
    gradients = np.random.default_rng(0).random((rounds, 36))

    def player(integration: Points | HitAndRun) -> Callable[[], Callable[[], object]]:
        def prepare() -> Callable[[], object]:
            learner = ContinuousHedge(Simplex(36), integration=integration)
            return lambda: [learner.update(LinearLoss(g)) for g in gradients]

        return prepare

    return race(
        "a round of continuous Hedge on the simplex of 36 coordinates",
        [
            Contestant("Points(4096)", player(Points(4096)), items=len(gradients)),
            Contestant("HitAndRun(1024)", player(HitAndRun(1024)), items=len(gradients)),
        ],
        repeats=repeats,
        unit="rounds",
        tell=tell,
    )


def _market(quick: bool) -> tuple[FloatArray, str]:
    """Return NYSE(O) and an empty note, or a made-up market of its shape and a note."""
    if not quick:
        try:
            return load_market("nyse_o", allow_download=False).relatives, ""
        except MissingDataError:
            pass
    rng = np.random.default_rng(0)
    shape = (500, 12) if quick else (5651, 36)
    return np.exp(rng.normal(0.0005, 0.02, size=shape)), ", made up"


def _ours(make: Make, relatives: FloatArray) -> Callable[[], object]:
    return lambda: make().run(relatives).final_wealth


def _theirs(name: str, relatives: FloatArray) -> Callable[[], object]:
    import pandas as pd

    algos: Any = importlib.import_module(f"{PEER}.algos")
    prices = pd.DataFrame(np.cumprod(np.vstack([np.ones(relatives.shape[1]), relatives]), axis=0))
    return lambda: getattr(algos, name)().run(prices)
