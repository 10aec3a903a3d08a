"""Trading data frames, and what the report says of turnover and costs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from driftgames.portfolio import STRATEGIES, UniversalPortfolio, price_relatives, run

DAYS = pd.date_range("2024-01-01", periods=41, freq="B", name="day")
RELATIVES = np.exp(np.random.default_rng(0).normal(0, 0.05, size=(40, 3)))
PRICES = np.vstack([np.ones(3), np.cumprod(RELATIVES, axis=0)]) * [10.0, 20.0, 5.0]
FRAME = pd.DataFrame(PRICES, index=DAYS, columns=["ant", "bee", "cow"])


def as_polars(frame):
    return pl.from_pandas(frame.reset_index())


@pytest.mark.parametrize(
    ("table", "holds"),
    [
        (FRAME, "prices"),
        (as_polars(FRAME), "prices"),
        (as_polars(FRAME).with_columns(pl.col("day").dt.strftime("%Y-%m-%d")), "prices"),
        (pd.DataFrame(RELATIVES, index=DAYS[1:], columns=FRAME.columns), "relatives"),
        (as_polars(FRAME.pct_change().iloc[1:]), "returns"),
        (PRICES, "prices"),
    ],
)
def test_every_kind_of_table_ends_with_the_wealth_of_the_strategy(table, holds):
    report = run(table, ["universal", "soft-bayes"], cost=0.002, holds=holds)
    wanted = UniversalPortfolio(3, cost=0.002).run(price_relatives(PRICES))
    assert report.runs["universal"].final_wealth == pytest.approx(wanted.final_wealth, rel=1e-12)
    assert report.runs["universal"].turnover == pytest.approx(wanted.turnover, rel=1e-9)
    if isinstance(table, np.ndarray):
        assert report.dates is None
    else:
        assert report.assets == ("ant", "bee", "cow")
        ends = report.dates[-40:].astype("datetime64[D]")
        assert (ends == DAYS[1:].values.astype("datetime64[D]")).all()
        assert len(report.dates) == (41 if holds == "prices" else 40)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("cost", [0.0, 0.01])
def test_turnover_and_costs_explain_the_wealth(name, cost):
    report = run(FRAME, name, cost=cost)
    days = report.to_frame(name, "polars")
    gains = (days.select(report.assets).to_numpy() * RELATIVES).sum(axis=1)
    kept = 1.0 - days["cost"].to_numpy()
    assert np.allclose(np.cumprod(gains * kept), days["wealth"], rtol=1e-10)
    assert np.allclose(cost * days["turnover"].to_numpy(), days["cost"])
    assert days["turnover"][0] == pytest.approx(1 / (1 + cost))
    assert report.runs[name].cost_of_all == pytest.approx(1 - kept.prod())
    held = days.select(report.assets).to_numpy() * RELATIVES / gains[:, None]
    bought = kept[1:, None] * days.select(report.assets).to_numpy()[1:] - held[:-1]
    assert np.allclose(np.abs(bought).sum(axis=1), days["turnover"][1:], atol=1e-12)


def test_the_table_has_a_line_per_strategy_with_what_each_promised():
    table = run(FRAME).table
    assert len(table.rows) == len(STRATEGIES) - 1
    bounds = dict(zip(table.column("strategy"), table.column("bound"), strict=True))
    assert bounds["Soft-Bayes"] > 0
    assert bounds["exponentiated gradient"] > 0
    assert bounds["online Newton step"] == np.inf
    for regret, bound in zip(table.column("regret"), table.column("bound"), strict=True):
        assert regret <= bound
    assert run(FRAME, "soft-bayes", cost=0.01).table.column("bound") == [np.inf]


def test_the_figure_has_the_dates_on_its_axis():
    (ax,) = run(FRAME, "eg").plot().axes
    line = ax.get_lines()[0]
    assert list(line.get_xdata()) == list(DAYS.values)
    assert line.get_ydata()[0] == 1.0


@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        (FRAME.iloc[::-1], {}, "dates must rise; got 2024-02-26"),
        (FRAME.assign(dog="x"), {}, "column 'dog' must hold numbers; it is of type String"),
        (FRAME, {"holds": "gains"}, "holds must be one of prices, relatives, returns; got 'gains'"),
        (FRAME, {"algorithms": "best"}, "algorithms must be one of universal, uniform"),
        (pl.DataFrame({"d": ["a", "b"], "x": [1, 2]}), {}, "dates must be in ISO 8601"),
        (FRAME.set_axis(["x"] * 41), {}, "dates must be in ISO 8601"),
        (FRAME - 100.0, {}, "prices must be above 0"),
        (3.0, {}, "prices must have a row per day"),
    ],
)
def test_bad_tables_are_named(table, settings, message):
    with pytest.raises(ValueError, match=message):
        run(table, **settings)


def test_an_index_of_integers_is_no_date():
    assert run(FRAME.reset_index(drop=True).iloc[3:], "eg").dates is None


@pytest.mark.parametrize(
    ("columns", "assets"),
    [
        ([10, 20, 30], ("10", "20", "30")),
        ([0, "a", 1.5], ("0", "a", "1.5")),
        (
            pd.MultiIndex.from_tuples([("gold", "close"), ("oil", "close"), ("oil", 2)]),
            ("gold close", "oil close", "oil 2"),
        ),
    ],
)
def test_columns_may_be_named_by_numbers_or_by_levels(columns, assets):
    values = np.exp(np.random.default_rng(0).normal(0, 0.1, (20, 3)).cumsum(axis=0))
    report = run(pd.DataFrame(values, columns=columns), ["hold", "uniform"])
    assert report.assets == assets
    plain = run(pd.DataFrame(values, columns=list("abc")), ["hold", "uniform"])
    assert report.runs["uniform"].final_wealth == plain.runs["uniform"].final_wealth
    assert list(report.to_frame("hold").columns[3:]) == list(assets)


def test_columns_that_read_alike_are_refused():
    frame = pd.DataFrame(np.ones((3, 2)), columns=[1, "1"])
    with pytest.raises(ValueError, match=r"different names; got \['1', '1'\]"):
        run(frame)


def test_an_asset_that_is_listed_late_is_named_with_the_row_where_it_begins():
    frame = pd.DataFrame(np.ones((5, 3)), columns=list("abc"))
    frame.iloc[:2, 1] = np.nan
    frame.iloc[3, 2] = np.nan
    with pytest.raises(ValueError, match="b begins at row 2, c has none at row 3"):
        run(frame)
