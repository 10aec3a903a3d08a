"""``driftgames portfolio``: what strategies make of a table of prices, and what to hold now."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from driftgames.cli._options import (
    JsonFile,
    Reading,
    check_kept,
    described,
    one_of,
    running,
)
from driftgames.cli._output import console
from driftgames.core.registry import choose
from driftgames.portfolio.named_strategies import STRATEGIES
from driftgames.tables import Column, Row, Table, as_records, counted, draw_table, write_json

if TYPE_CHECKING:
    from driftgames.cli._prices import Prices
    from driftgames.portfolio import BestConstantRebalanced, PortfolioRun, PortfolioStrategy

SHOWN = 8
"""The number of holdings that are listed."""


SPANNED = "normalhedge.dt"
"""The strategy that has a span; the others run by default."""


class _Wanted(NamedTuple):
    """The settings of a strategy; None if an option is absent.

    Strategies:
        cost (SHARE): The cost of trading, as a share of the value traded. Default: 0.
        mix (NAME,NAME): The strategies of the algorithm mix, which is then run too. Default: all
            that need nothing known of the market.
        max_share (SHARE): The largest share of every asset, for all strategies.
        group (NAME,NAME:SHARE): The largest share of these assets together; may be given several
            times, and an asset may be in one group.
        max_turnover (SHARE): The value traded per period, as a share of wealth, at most.
        span (X): For normalhedge.dt: in no period is the best asset's relative more than exp(SPAN)
            times the worst's. Default: 0.7.
        seed (N): The seed of the drawn points and of the demo market. Default: 0.
    """

    cost: float | None = None
    mix: str | None = None
    max_share: float | None = None
    group: list[str] | None = None
    max_turnover: float | None = None
    span: float | None = None
    seed: int | None = None

    def begin(self, name: str, assets: list[str]) -> PortfolioStrategy:
        """Return a new strategy."""
        from driftgames.portfolio.report import limits_of, make_strategy

        choose("--algorithm", name, STRATEGIES)
        settings: dict[str, Any] = {"cost": self.cost or 0.0, "random_state": self.seed or 0}
        groups = None if not self.group else [_group(each) for each in self.group]
        limits = limits_of(assets, self.max_share, groups, self.max_turnover)
        if name == SPANNED and self.span is not None:
            if limits:
                raise ValueError("--span does not go with limits")
            settings["span"] = self.span
        mix = None if self.mix is None else [each.strip() for each in self.mix.split(",")]
        return make_strategy(name, len(assets), limits, mix, settings)

    def go_on(self, path: Path, asked: str | None) -> PortfolioStrategy:
        """Return the saved strategy, or say which option differs from it."""
        if asked is not None:
            choose("--algorithm", asked, STRATEGIES)
        name, kind = _saved_kind(path)
        strategy = kind.load(path)
        kept = strategy.content()["arguments"]
        name = kept.get("of", name)
        if kept.get("potential"):
            name = SPANNED
        check_kept(("--algorithm", asked, name))
        if self.span is not None and name != SPANNED:
            raise ValueError(f"--span is for {SPANNED}; the state was kept with {name}")
        check_kept(
            ("--cost", self.cost, kept["cost"]),
            ("--span", self.span, kept.get("span")),
            ("--seed", self.seed, kept.get("random_state", self.seed)),
        )
        given = (self.mix, self.max_share, self.group, self.max_turnover)
        if any(value is not None for value in given):
            raise ValueError(
                "--mix, --max-share, --group and --max-turnover are those of the state; leave them "
                "out with --resume"
            )
        return strategy


def _group(text: str) -> tuple[list[str], float]:
    """Return the assets and the cap of ``NAME,NAME:SHARE``."""
    names, _, cap = text.rpartition(":")
    try:
        share = float(cap)
    except ValueError:
        share = math.nan
    if not names or not 0 < share <= 1:
        raise ValueError(f"--group must be NAME,NAME:SHARE with a share in (0, 1]; got {text!r}")
    return [name.strip() for name in names.split(",")], share


@described
def portfolio(
    prices: Annotated[str | None, typer.Argument()] = None,
    *,
    algorithm: Annotated[str | None, one_of(STRATEGIES, "--algorithm", "-a")] = None,
    wanted: _Wanted,
    demo: bool = False,
    from_one: bool = False,
    relatives: bool = False,
    reading: Reading,
    resume: Path | None = None,
    save: Path | None = None,
    plot: Path | None = None,
    json: JsonFile = None,
) -> None:
    """Run portfolio strategies over a table of prices and print wealth, regret and weights.

    The mixture is at most ln N in log-wealth behind the best of its N strategies, after costs.

    Regret is in log-wealth, to the best constant rebalanced portfolio in hindsight, which pays no
    costs. The bound on the regret is that of the theory, if there is one. Turnover is the value
    traded per period, as a share of wealth. Costs are what trading took of the final wealth.

    Example: driftgames portfolio stocks.csv --cost 0.001 --plot wealth.svg

    Options:
        prices: A table, with a row per period (a day, a month) and a column per asset; or - for
            standard input. A column of dates tells the order.

    Strategies:
        algorithm (NAME,NAME): The strategies: {0}. Default: all but normalhedge.dt; with --resume,
            that of the state. Today's weights are those of the first.

    Table:
        demo: Trade on a market that the command makes up itself.
        from_one: Prices began at 1 before the first line (as in NYSE(O)), so that line is a period
            of trading too.
        relatives: The table holds price relatives rather than prices.

    Files:
        resume (FILE): Go on from this state, saved by --save, with the table that follows; its
            first line may be the last line before or the next one. Its columns are matched by name.
        save (FILE): Write the first strategy's state here, for --resume.
        plot (FILE): Draw wealth over time to this .svg, .pdf or .png.
    """
    from driftgames.cli._prices import read_prices
    from driftgames.portfolio import best_constant_rebalanced
    from driftgames.portfolio.report import warnings_of

    with running(locked=save, plot=plot, save=save, json=json):
        if (prices is None) != demo:
            raise ValueError("give either a table of prices or --demo")
        if from_one and (relatives or demo):
            other = "--demo" if demo else "--relatives"
            raise ValueError(f"--from-one is for a table of prices; it does not go with {other}")
        table = _demo(wanted.seed or 0) if prices is None else read_prices(prices, reading)
        n_assets = len(table.assets)
        asked = [] if algorithm is None else [name.strip() for name in algorithm.split(",")]
        chosen = list(dict.fromkeys(asked or (name for name in STRATEGIES if name != SPANNED)))
        if wanted.mix is not None and resume is None and "mix" not in chosen:
            chosen.append("mix")
        strategy = None
        if resume is not None:
            if len(asked) > 1:
                raise ValueError("--resume goes on with one --algorithm")
            strategy = wanted.go_on(resume, chosen[0] if asked else None)
            table = table.ordered_as(strategy)
        elif wanted.span is not None and SPANNED not in chosen:
            raise ValueError(f"--span is for {SPANNED}; got {', '.join(chosen)}")
        relative = relatives or prices is None
        market = table.market(from_one=from_one, relatives=relative, after=strategy)
        strategies = (
            [strategy] if strategy else [wanted.begin(name, table.assets) for name in chosen]
        )
        begun = strategies[0].t
        runs = [strategy.run(market.relatives) for strategy in strategies]
        best = best_constant_rebalanced(market.relatives)
        if save is not None:
            strategies[0].quote = market.quote
            strategies[0].save(save)
        if plot is not None:
            from driftgames.core.cells import moments
            from driftgames.plots.portfolio import plot_wealth
            from driftgames.plots.style import caption, save_figure

            curves = {run.title: run.wealth for run in runs}
            shown = None if begun else ("best constant rebalanced, in the end", best.wealth)
            ended = moments(table.dates[-market.relatives.shape[0] - 1 :])
            figure = plot_wealth(curves, dates=ended, best=shown)
            caption(figure.axes[0], "Wealth by strategy: equal steps up are equal growth")
            save_figure(figure, plot)
        periods = market.relatives.shape[0]
        heading = f"{counted(periods, 'period')}, {n_assets} assets"
        heading += f", after {begun:,} before" * bool(begun)
        results = _results(heading, runs, best)
        if json is not None:
            held_now = dict(zip(table.assets, strategies[0].predict().tolist(), strict=True))
            sizes = {"periods": periods, "periods_before": begun}
            write_json({**sizes, "strategies": as_records(results), "to_hold": held_now}, json)

    out = console()
    for note in market.notes:
        out.print(note)
    out.print(draw_table(results))
    if sentence := _outcome(runs):
        out.print(sentence)
    for warning in warnings_of(runs):
        out.print(warning)
    out.print(draw_table(_weights_table(strategies[0], table.assets)))


def _saved_kind(path: Path) -> tuple[str, type[PortfolioStrategy]]:
    """Return the name and the class of the strategy in a file; the class then checks the file."""
    import json

    from driftgames.core.documents import DocumentError
    from driftgames.core.state import kind_of

    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        document = None
    found = document.get("format") if isinstance(document, dict) else None
    from driftgames.portfolio import LimitedPortfolio

    kinds = {name: type(make(2)) for name, make in STRATEGIES.items()}
    kinds["limited"] = LimitedPortfolio
    for name, kind in kinds.items():
        if not isinstance(found, str) or found == kind_of(kind):
            return name, kind
    raise DocumentError(f"{path}: holds a {found!r}, which is not a portfolio strategy")


def _results(heading: str, runs: list[PortfolioRun], best: BestConstantRebalanced) -> Table:
    """Return a row per strategy; without regrets if they have traded before this market."""
    rows: list[Row] = []
    if runs[0].first_round == 1:
        money = _money(best.log_wealth, best.horizon)
        rows.append(("best constant rebalanced", *money, None, None, 0.0, None))
    for run in runs:
        strategy, log_wealth = run.strategy, float(run.log_wealth[-1])
        spent = (float(run.turnover.mean()), run.cost_of_all)
        regret = bound = None
        if run.first_round == 1:
            certificate = strategy.certificate(best)
            regret, bound = certificate.regret, certificate.promised
        rows.append((run.title, *_money(log_wealth, strategy.t), *spent, regret, bound))
    forms = {"wealth": ",.4f", "per period": "+.3%", "turnover": ".2%", "costs": ".2%"}
    forms |= {"regret": ".3f", "bound": ".2f"}
    columns = (Column("strategy"), *(Column(name, form) for name, form in forms.items()))
    table = Table(heading, columns, tuple(rows))
    return table if runs[0].strategy.cost else table.without({"costs"})


def _outcome(runs: list[PortfolioRun]) -> str:
    """Return a sentence on the mixture and the best strategy; empty without a mixture."""
    from driftgames.portfolio.mixture import StrategyMixture

    wealth = {run.title: float(run.log_wealth[-1]) for run in runs}
    mixtures = [run.title for run in runs if isinstance(run.strategy, StrategyMixture)]
    if len(mixtures) != 1 or len(wealth) < 2:
        return ""
    best = max(wealth, key=wealth.__getitem__)
    if best == mixtures[0]:
        return "The mixture earned more than each strategy alone."
    more = 100.0 * math.expm1(wealth[best] - wealth[mixtures[0]])
    return f"The mixture did not win: {best} earned {more:.0f} % more."


def _money(log_wealth: float, periods: int) -> tuple[float, float]:
    """Return the wealth and what it grew by per period."""
    wealth = math.exp(log_wealth) if log_wealth < 700 else math.inf
    return wealth, math.expm1(log_wealth / periods)


def _weights_table(strategy: PortfolioStrategy, assets: list[str]) -> Table:
    weights = strategy.predict().tolist()
    order = sorted(range(len(assets)), key=lambda k: -weights[k])
    rows: list[Row] = [(assets[k], weights[k]) for k in order[:SHOWN]]
    if len(assets) > SHOWN:
        rest = sum(weights[k] for k in order[SHOWN:])
        rows.append((f"{len(assets) - SHOWN} others", rest))
    columns = (Column("asset"), Column("share", ".2%"))
    return Table(f"To hold now, by {strategy.title}", columns, tuple(rows))


def _demo(seed: int) -> Prices:
    """Return two volatile assets without a trend, one that rises, and cash."""
    import numpy as np

    from driftgames.cli._prices import Prices

    rng = np.random.default_rng(seed)
    days = 1000
    swings = rng.normal(0.0, 0.04, size=(days, 2))
    swings -= swings.mean(axis=0)  # they end where they began, and only rebalancing gains by them
    climb = rng.normal(0.0006, 0.01, size=days)
    logs = np.column_stack([swings, climb, np.full(days, 0.0001)])
    assets = ["swing A", "swing B", "climber", "cash"]
    return Prices("demo", np.exp(logs), assets, dates=[], was_turned=False)
