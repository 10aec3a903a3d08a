"""``driftgames portfolio``."""

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest
import typer
from pyarrow import feather
from typer.testing import CliRunner

from driftgames.cli.portfolio import portfolio
from driftgames.plots.portfolio import plot_wealth
from driftgames.portfolio import (
    STRATEGIES,
    BuyAndHold,
    ExponentiatedGradient,
    LimitedPortfolio,
    UniversalPortfolio,
    best_constant_rebalanced,
    price_relatives,
)

app = typer.Typer()
app.command()(portfolio)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def prices(tmp_path):
    """Fifty days of three assets, with dates."""
    table = np.exp(np.cumsum(np.random.default_rng(0).normal(0, 0.05, size=(50, 3)), axis=0))
    path = tmp_path / "prices.csv"
    write(path, table)
    return path, table


@pytest.fixture
def later(prices, tmp_path):
    """The next ten days, from the day after the last of ``prices`` on, and all sixty."""
    _, table = prices
    steps = np.random.default_rng(1).normal(0, 0.05, size=(10, 3))
    more = table[-1] * np.exp(np.cumsum(steps, axis=0))
    path = tmp_path / "later.csv"
    write(path, more, first=50)
    return path, np.concatenate([table, more])


def write(path, table, first=0):
    lines = ["date,ant,bee,cow"]
    for t, row in enumerate(table, start=first):
        lines.append(f"2020-{t},{','.join(map(repr, map(float, row)))}")
    path.write_text("\n".join(lines) + "\n")


def cells(output, name):
    line = next(line for line in output.splitlines() if line.strip().startswith(name))
    return re.split(r"\s{2,}", line.strip())


def test_the_table_shows_wealth_and_regret(prices):
    path, table = prices
    shown = run(path, "-a", "universal,eg")
    assert shown.exit_code == 0
    relatives = price_relatives(table)
    best = best_constant_rebalanced(relatives)
    universal = UniversalPortfolio(3)
    wealth = universal.run(relatives).final_wealth
    row = cells(shown.output, "universal portfolio")
    assert float(row[1]) == pytest.approx(wealth, abs=5e-5)
    turnover = UniversalPortfolio(3).run(relatives).turnover.mean()
    assert row[3] == f"{100 * turnover:.2f} %"
    assert float(row[-2]) == pytest.approx(best.log_wealth - np.log(wealth), abs=5e-4)
    assert float(row[-1]) == pytest.approx(universal.regret_bound(best), abs=5e-3)
    assert float(cells(shown.output, "best constant")[1]) == pytest.approx(best.wealth, abs=5e-5)
    assert "49 periods, 3 assets" in shown.output
    assert "buy and hold" not in shown.output


def test_todays_weights_are_those_of_the_first_strategy(prices):
    path, table = prices
    strategy = ExponentiatedGradient(3)
    strategy.run(price_relatives(table))
    shown = run(path, "-a", "eg,hold")
    assert "To hold now, by exponentiated gradient" in shown.output
    for name, share in zip(["ant", "bee", "cow"], strategy.predict(), strict=True):
        assert cells(shown.output, name)[1] == f"{100 * share:.2f} %"


def test_the_demo_needs_no_file_and_fits_80_columns():
    shown = run("--demo")
    assert shown.exit_code == 0
    assert "1,000 periods, 4 assets" in shown.output
    assert max(map(len, shown.output.splitlines())) <= 80
    assert shown.output == run("--demo").output


def test_prices_from_one_have_one_day_more(prices):
    path, table = prices
    shown = run(path, "-a", "uniform", "--from-one")
    wealth = np.prod(price_relatives(table, before=1.0).mean(axis=1))
    assert "50 periods" in shown.output
    assert float(cells(shown.output, "uniform")[1]) == pytest.approx(wealth, abs=5e-5)


def test_a_table_of_relatives_without_dates(tmp_path):
    path = tmp_path / "relatives.csv"
    path.write_text("a,b\n2.0,0.5\n0.5,2.0\n")
    shown = run(path, "--relatives", "-a", "uniform")
    assert float(cells(shown.output, "uniform")[1]) == pytest.approx(1.5625)


@pytest.mark.parametrize(
    ("title", "dates"),
    [
        ("anything", ["20200101", "20200102", "20200103"]),
        ("Date", ["43831", "43832", "43835"]),
        ("", ["0", "1", "2"]),
        ("day", ["first", "second", "third"]),
    ],
)
def test_a_first_column_of_dates_is_skipped_when_they_are_numbers_too(tmp_path, title, dates):
    path = tmp_path / "prices.csv"
    rows = [f"{each},1.0,{price}\n" for price, each in enumerate(dates, start=1)]
    path.write_text("".join([f"{title},a,b\n", *rows]))
    shown = run(path, "-a", "hold")
    assert "2 periods, 2 assets" in shown.output


def test_an_asset_may_be_called_as_dates_are(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("DAY,b\n58.5,1\n58.2,2\n")
    assert "1 period, 2 assets" in run(path, "-a", "hold").output


def test_a_file_without_a_header_loses_no_day(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("20200101,1.0,2.0\n20200102,1.0,4.0\n20200103,1.0,8.0\n")
    shown = run(path, "-a", "hold")
    assert "2 periods, 2 assets" in shown.output
    assert "column 3" in shown.output
    assert run(path, "-a", "hold", "--no-header").output == shown.output


def test_whole_prices_that_rise_are_no_dates(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("1,4\n2,5\n3,6\n")
    assert "2 periods, 2 assets" in run(path, "-a", "hold").output


def test_assets_may_have_numbers_for_names(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("Date,7203,6758\n2020-01-01,1.0,2.0\n2020-01-02,1.0,4.0\n")
    assert "7203" in run(path, "-a", "hold").output
    path.write_text(",7203,6758\n2020-01-01,1.0,2.0\n2020-01-02,1.0,4.0\n")
    assert "7203" in run(path, "-a", "hold").output
    path.write_text("7203,6758\n1.0,2.0\n1.0,4.0\n")
    assert "7203" in run(path, "-a", "hold", "--header").output


def test_names_are_shown_as_they_are(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("\ufeffprice [usd],b [/x]\n1.0,2.0\n1.0,4.0\n", encoding="utf-8")
    shown = run(path, "-a", "hold")
    assert shown.exit_code == 0
    assert cells(shown.output, "price")[0] == "price [usd]"
    assert cells(shown.output, "b [/x]")[0] == "b [/x]"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            ["--cost", "0.001"],
            ["--cost", "0.5"],
            "--cost is 0.5, but the state was kept with 0.001",
        ),
        (["--seed", "3"], ["--seed", "4"], "--seed is 4, but the state was kept with 3"),
        (
            ["-a", "normalhedge.dt", "--span", "0.9"],
            ["--span", "0.8"],
            "--span is 0.8, but the state was kept with 0.9",
        ),
        (
            ["-a", "normalhedge.dt", "--span", "0.9"],
            ["-a", "universal"],
            "--algorithm is universal, but the state was kept with normalhedge.dt",
        ),
    ],
)
def test_a_state_of_other_settings_is_refused(prices, later, tmp_path, first, second, message):
    path, _ = prices
    state = tmp_path / "state.json"
    assert run(path, *first, "--save", state).exit_code == 0
    shown = run(later[0], "--resume", state, *second)
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert run(later[0], "--resume", state, *first[-2:]).exit_code == 0


def test_a_resumed_state_says_by_itself_who_decides(prices, later, tmp_path):
    path, _ = prices
    state = tmp_path / "state.json"
    run(path, "-a", "normalhedge.dt", "--span", "0.9", "--save", state)
    assert "To hold now, by NormalHedge.DT" in run(later[0], "--resume", state).output


def test_saved_and_resumed_is_the_same_as_in_one_go(prices, tmp_path):
    path, _ = prices
    lines = path.read_text().splitlines(keepends=True)
    early, late = tmp_path / "early.csv", tmp_path / "late.csv"
    early.write_text("".join(lines[:31]))
    late.write_text("".join([lines[0], *lines[30:]]))  # begins with the last known day
    state = tmp_path / "state.json"
    assert run(early, "-a", "universal", "--save", state).exit_code == 0
    resumed = run(late, "--resume", state)
    assert resumed.exit_code == 0
    whole = run(path, "-a", "universal")
    assert cells(resumed.output, "universal")[1] == cells(whole.output, "universal")[1]
    for name in ("ant", "bee", "cow"):
        assert cells(resumed.output, name) == cells(whole.output, name)
    assert "20 periods, 3 assets, after 29 before" in resumed.output


def resume(path, state):
    """Return what is shown of the universal portfolio after the table at ``path``."""
    shown = run(path, "--resume", state)
    assert shown.exit_code == 0, shown.output
    return shown.output


@pytest.mark.parametrize("form", ["next line", "last line again", "whole table"])
def test_no_period_between_two_tables_is_lost(prices, later, tmp_path, form):
    state, table = tmp_path / "state.json", later[1]
    run(prices[0], "-a", "universal", "--save", state)
    path = tmp_path / "second.csv"
    first = {"next line": 50, "last line again": 49, "whole table": 0}[form]
    write(path, table[first:], first=first)
    output = resume(path, state)
    universal = UniversalPortfolio(3)
    wealth = universal.run(price_relatives(table)).final_wealth
    assert float(cells(output, "universal")[1]) == pytest.approx(wealth, abs=5e-5)
    assert "10 periods, 3 assets, after 49 before" in output
    assert ("begins with the last prices of the state" in output) == (form == "next line")
    assert ("Lines before 2020-49 are left out" in output) == (form == "whole table")


def test_a_state_goes_on_through_three_tables(prices, later, tmp_path):
    """The prices of the second table are kept as well."""
    state, table = tmp_path / "state.json", later[1]
    run(prices[0], "-a", "universal", "--save", state)
    for start, stop in [(50, 53), (53, 54), (54, 60)]:
        path = tmp_path / f"{start}.csv"
        write(path, table[start:stop], first=start)
        assert run(path, "--resume", state, "--save", state).exit_code == 0
    again = UniversalPortfolio.load(state)
    whole = UniversalPortfolio(3)
    whole.run(price_relatives(table))
    assert (again.t, again.wealth) == (59, whole.wealth)
    assert again.quote.date == "2020-59"
    assert np.array_equal(again.quote.prices, table[-1])


def test_tables_without_dates_are_joined_by_their_prices(tmp_path):
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    paths[0].write_text("a,b\n1,1\n2,1\n")
    paths[1].write_text("a,b\n2,1\n4,1\n")  # begins with the last line
    paths[2].write_text("a,b\n4,1\n")  # begins after it
    state = tmp_path / "state.json"
    run(paths[0], "-a", "hold", "--save", state)
    for path in paths[1:]:
        output = run(path, "--resume", state, "-a", "hold").output
        assert float(cells(output, "buy and hold")[1]) == 2.5
    assert "begins with the last prices" in output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date,a,b\n2020-01-02,2,1\n", "has no line after 2020-01-02, where the state ended"),
        ("date,a,b\n2020-01-02,3,1\n2020-01-03,3,1\n", "has other prices at 2020-01-02 than"),
        ("date,a,b\n2019-12-31,3,1\n2020-01-03,3,1\n", "begins at 2019-12-31, and the state end"),
    ],
)
def test_a_table_that_does_not_follow_is_refused(tmp_path, text, message):
    first, second, state = (tmp_path / name for name in ("a.csv", "b.csv", "s.json"))
    first.write_text("date,a,b\n2020-01-01,1,1\n2020-01-02,2,1\n")
    run(first, "-a", "hold", "--save", state)
    second.write_text(text)
    shown = run(second, "--resume", state, "-a", "hold")
    assert shown.exit_code == 2
    assert message in shown.stderr


@pytest.mark.parametrize("relatives", [[], ["--relatives"]], ids=["prices", "relatives"])
def test_a_resumed_table_is_read_by_the_names_of_its_columns(tmp_path, relatives):
    """Asset b doubles in the second table, whichever column holds it."""
    first, plain, swapped, state = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv", "s"))
    first.write_text("date,a,b\n2020-01-01,1,1\n2020-01-02,2,1\n")
    plain.write_text("date,a,b\n2020-01-03,1,2\n2020-01-04,1,4\n")
    swapped.write_text("date,b,a\n2020-01-03,2,1\n2020-01-04,4,1\n")
    assert run(first, "-a", "hold", *relatives, "--save", state).exit_code == 0
    wanted = run(plain, "--resume", state, *relatives)
    assert wanted.exit_code == 0, wanted.output
    shown = run(swapped, "--resume", state, *relatives, "--save", state)
    assert shown.output == wanted.output
    assert BuyAndHold.load(state).quote.assets == ("a", "b")


@pytest.mark.parametrize("relatives", [[], ["--relatives"]], ids=["prices", "relatives"])
@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("date,ant,dog,cow", "the assets are not those of the state; missing: bee; unknown: dog"),
        ("date,ant,bee", "the number of assets is 2, but the state was kept with 3; missing: cow"),
        ("date,ant,bee,cow,dog", "is 4, but the state was kept with 3; unknown: dog"),
    ],
)
def test_other_assets_than_those_of_the_state_are_refused(
    prices, tmp_path, header, message, relatives
):
    state, path = tmp_path / "s.json", tmp_path / "other.csv"
    run(prices[0], "-a", "uniform", *relatives, "--save", state)
    cells = ",".join(["1"] * header.count(","))
    path.write_text(f"{header}\n2020-50,{cells}\n2020-51,{cells}\n")
    shown = run(path, "--resume", state, *relatives)
    assert shown.exit_code == 2
    assert message in shown.stderr


def test_relatives_that_were_traded_are_not_traded_again(tmp_path):
    first, whole, state = (tmp_path / name for name in ("a.csv", "b.csv", "s.json"))
    lines = ["date,a,b\n", "2020-01-01,2,1\n", "2020-01-02,4,1\n", "2020-01-03,1,2\n"]
    first.write_text("".join(lines[:3]))
    whole.write_text("".join(lines))
    run(first, "-a", "uniform", "--relatives", "--save", state)
    shown = run(whole, "--relatives", "--resume", state)
    assert "Lines up to 2020-01-02 are left out: they were traded." in shown.output
    assert "1 period, 2 assets, after 2 before" in shown.output
    assert float(cells(shown.output, "uniform")[1]) == pytest.approx(1.5 * 2.5 * 1.5)
    first.write_text("".join([lines[0], lines[1], lines[3]]))
    shown = run(first, "--relatives", "--resume", state)
    assert shown.exit_code == 2
    assert "begins at 2020-01-01, and the state ended at 2020-01-02" in shown.stderr


def test_prices_after_relatives_begin_at_the_date_of_the_state(tmp_path):
    first, second, state = (tmp_path / name for name in ("a.csv", "b.csv", "s.json"))
    first.write_text("date,a,b\n2020-01-01,2,1\n2020-01-02,4,1\n")
    second.write_text("date,a,b\n2020-01-01,7,7\n2020-01-02,5,5\n2020-01-03,5,10\n")
    run(first, "-a", "uniform", "--relatives", "--save", state)
    shown = run(second, "--resume", state)
    assert "1 period, 2 assets, after 2 before" in shown.output
    assert float(cells(shown.output, "uniform")[1]) == pytest.approx(1.5 * 2.5 * 1.5)
    second.write_text("date,a,b\n2020-01-03,5,10\n2020-01-04,5,10\n")
    assert "The state has no prices" in run(second, "--resume", state).output


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (["10/01/2020", "13/01/2020"], "begins at 10/01/2020, and the state ended at 05/02/2020"),
        (["2020-02-06", "2020-02-07"], "such as 2020-02-06, are in another format than 05/02/2020"),
        (["06/02/2020", "07/02/2020", "13/02/2020"], None),
    ],
    ids=["earlier", "other format", "later"],
)
def test_the_whole_table_tells_what_its_dates_mean(tmp_path, dates, message):
    """With the month first, 10/01 would follow 05/02; but 13/01 shows that the day is first."""
    first, second, state = (tmp_path / name for name in ("a.csv", "b.csv", "s.json"))
    first.write_text("date,a,b\n31/01/2020,1,1\n05/02/2020,2,1\n")
    run(first, "-a", "hold", "--save", state)
    second.write_text("date,a,b\n" + "".join(f"{date},3,1\n" for date in dates))
    shown = run(second, "--resume", state)
    assert (shown.exit_code, message is None) in {(2, False), (0, True)}
    assert message is None or message in shown.stderr


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_state_of_any_strategy_goes_on_without_its_name(prices, later, tmp_path, name):
    state = tmp_path / "state.json"
    assert run(prices[0], "-a", name, "--save", state).exit_code == 0
    shown = run(later[0], "--resume", state)
    assert shown.exit_code == 0, shown.output
    assert f"To hold now, by {STRATEGIES[name](3).title}" in shown.output
    assert run(later[0], "--resume", state, "-a", name).output == shown.output
    other = "ons" if name == "eg" else "eg"
    shown = run(later[0], "--resume", state, "-a", other)
    assert shown.exit_code == 2
    assert f"--algorithm is {other}, but the state was kept with {name}" in shown.stderr
    if name != "normalhedge.dt":
        shown = run(later[0], "--resume", state, "--span", "0.9")
        assert f"--span is for normalhedge.dt; the state was kept with {name}" in shown.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "driftgames.Hedge"}', "holds a 'driftgames.Hedge', which is not a portfolio"),
        ('{"format": 3}', "holds a 3, where"),
        ("[]", "not a driftgames document"),
        ("no", "not JSON, or cut short"),
    ],
)
def test_a_file_without_a_strategy_is_one_clear_line(prices, tmp_path, text, message):
    state = tmp_path / "state.json"
    state.write_text(text)
    shown = run(prices[0], "--resume", state)
    assert shown.exit_code == 2
    assert message in shown.stderr


def test_a_state_without_prices_says_that_time_is_left_out(prices, later, tmp_path):
    strategy = UniversalPortfolio(3)
    strategy.run(price_relatives(prices[1]))
    strategy.save(tmp_path / "s.json")
    output = resume(later[0], tmp_path / "s.json")
    assert "The state has no prices: the time up to the first line is left out." in output
    assert "9 periods" in output


def test_a_state_does_not_go_on_from_one(prices, later, tmp_path):
    run(prices[0], "-a", "universal", "--save", tmp_path / "s.json")
    shown = run(later[0], "--resume", tmp_path / "s.json", "--from-one")
    assert shown.exit_code == 2
    assert "--from-one is for the first table" in shown.stderr


@pytest.mark.parametrize(
    "dates",
    [
        ["2020-01-03", "2020-01-02", "2020-01-01"],
        ["01/03/2020", "01/02/2020", "01/01/2020"],
        ["31.12.2020", "30.11.2020", "29.10.2020"],
        ["Mar 2020", "Feb 2020", "Dec 2019"],
        ["2020-01-01T12:00:00+00:00", "2020-01-01T12:00:00+01:00", "2020-01-01T12:00:00+02:00"],
        ["43835", "43832", "43831"],
    ],
    ids=lambda dates: dates[0],
)
def test_newest_first_is_not_traded_backwards(tmp_path, dates):
    """Asset a doubles twice; read backwards it would halve."""
    falling, rising = tmp_path / "falling.csv", tmp_path / "rising.csv"
    rows = [f"{date},{price},1\n" for date, price in zip(dates, [4, 2, 1], strict=True)]
    falling.write_text("".join(["date,a,b\n", *rows]))
    rising.write_text("".join(["date,a,b\n", *rows[::-1]]))
    turned, plain = (run(path, "-a", "hold").output for path in (falling, rising))
    assert float(cells(turned, "buy and hold")[1]) == 2.5
    assert turned == "The newest line is the first: the table is read from its end.\n" + plain


@pytest.mark.parametrize(
    "dates",
    [
        ["2020-01-01", "2020-01-03", "2020-01-02"],
        ["2020-01-03", "2020-01-01", "2020-01-02"],
        ["2020-01-01", "2020-01-02", "2020-01-02"],
    ],
    ids=str,
)
def test_dates_out_of_order_are_refused(tmp_path, dates):
    path = tmp_path / "prices.csv"
    path.write_text("date,a,b\n" + "".join(f"{date},1,2\n" for date in dates))
    shown = run(path)
    assert shown.exit_code == 2
    assert "dates must rise or fall from line to line; got '2020-01-0" in shown.stderr


def test_costs_are_paid_and_promised_for(prices, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    path, table = prices
    free, paid = run(path, "-a", "universal"), run(path, "-a", "universal", "--cost", "0.01")
    row = cells(paid.output, "universal")
    assert float(row[1]) < float(cells(free.output, "universal")[1])
    universal = UniversalPortfolio(3, cost=0.01)
    assert row[4] == f"{100 * universal.run(price_relatives(table)).cost_of_all:.2f} %"
    best = best_constant_rebalanced(price_relatives(table))
    assert float(row[-1]) == pytest.approx(universal.regret_bound(best), abs=5e-3)
    shown = run(path, "-a", "normalhedge.dt,eg", "--cost", "0.01", "--span", "0.9")
    assert cells(shown.output, "NormalHedge")[-1] == "-"
    assert cells(shown.output, "exponentiated")[-1] == "-"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_plot_is_written(prices, tmp_path, ending):
    path, _ = prices
    figure = tmp_path / f"wealth.{ending}"
    assert run(path, "--plot", figure).exit_code == 0
    assert figure.stat().st_size > 1000


def test_normal_hedge_dt_runs(prices):
    path, _ = prices
    shown = run(path, "-a", "normalhedge.dt", "--span", "0.9")
    assert shown.exit_code == 0
    assert "NormalHedge.DT" in shown.output


BAD = {
    "nan": (
        "a,b\n1.0,2.0\n1.0,nan\n",
        "every asset needs a price in every line; b has none at line 3",
    ),
    "zero": ("a,b\n1.0,2.0\n1.0,0\n", "prices must be above 0; got 0"),
    "negative": ("a,b\n1.0,2.0\n1.0,-3\n", "prices must be above 0; got -3"),
    "one asset": ("a\n1.0\n2.0\n", "prices must be of at least two assets; got 1"),
    "one day": ("a,b\n1.0,2.0\n", "prices must cover at least two days"),
    "words": (
        "a,b\n1.0,2.0\n1.0,many\n",
        "(b): a price must be a number; got 'many'",
    ),
    "short line": ("a,b\n1.0,2.0\n1.0\n", "line 3: 1 cells, where 2 were expected"),
    "empty": ("", "is empty"),
    "no days": ("a,b\n", "has no line of prices"),
    "empty cell": (
        "a,b\n,2.0\n1.0,2.0\n",
        "every asset needs a price in every line; a begins at line 3",
    ),
    "names": ("a,b,a\n1.0,2.0,3.0\n1.0,2.0,3.0\n", "line 1: the header names 'a' twice"),
    "long cell": (f"a,b\n1.0,{'1' * 140_000}\n", "line 2: field larger than field limit"),
    "not text": (b"\xff\xfe\x00\x01", "is not UTF-8 text"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables_end_in_one_clear_line(tmp_path, name):
    text, message = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    shown = run(path)
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert len(shown.stderr.strip().splitlines()) == 1
    assert not shown.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either a table of prices or --demo"),
        (["--demo", "-"], "give either a table of prices or --demo"),
        (["nowhere.csv"], "nowhere.csv: No such file"),
        (["--demo", "--cost", "2"], "cost must lie in [0, 0.5]"),
        (["--demo", "--plot", "no/such/wealth.svg"], "--plot: there is no directory no/such"),
        (["--demo", "--save", "no/such/s.json"], "--save: there is no directory no/such"),
        (["--demo", "--plot", "wealth.bmp"], "must end in .svg, .pdf or .png"),
        (["--demo", "-a", "eg,ons", "--resume", "x"], "--resume goes on with one"),
        (["--demo", "-a", "normalhedge.dt", "--span", "0.01"], "for span=0.01"),
        (["--demo", "-a", "eg", "--span", "0.7"], "--span is for normalhedge.dt; got eg"),
        (["--demo", "--span", "0.7"], "--span is for normalhedge.dt; got universal, uniform"),
        (["--demo", "--from-one"], "--from-one is for a table of prices; it does not go with --de"),
        (["-", "--relatives", "--from-one"], "prices; it does not go with --relatives"),
    ],
)
def test_bad_arguments_end_in_one_clear_line(arguments, message):
    shown = run(*arguments)
    assert shown.exit_code == 2
    assert message in shown.stderr


def test_a_state_of_another_market_is_refused(prices, tmp_path):
    path, _ = prices
    state = tmp_path / "state.json"
    run("--demo", "-a", "universal", "--save", state)
    shown = run(path, "--resume", state)
    assert shown.exit_code == 2
    assert "the number of assets is 3, but the state was kept with 4" in shown.stderr


def test_the_choices_are_those_of_the_registry():
    shown = "".join(each for each in run("--help").output if each.isalnum() or each in "-,.")
    assert ",".join(STRATEGIES) in shown
    shown = run("--demo", "-a", "best")
    assert shown.exit_code == 2
    assert "--algorithm must be one of universal, uniform, hold, eg, ons" in shown.stderr


def test_help_has_an_example():
    assert "driftgames portfolio stocks.csv" in run("--help").output


def test_a_state_with_costs_that_has_not_traded_yet_goes_on(prices, tmp_path):
    UniversalPortfolio(3, cost=0.01).save(tmp_path / "s.json")
    shown = run(prices[0], "--resume", tmp_path / "s.json")
    assert shown.exit_code == 0, shown.output
    assert float(cells(shown.output, "universal")[-1]) > 0


@pytest.mark.parametrize("first", ["Year,a,b\n1990,1,2\n1991,2,1\n", "date,a,b\n2,1,2\n1,2,1\n"])
def test_years_and_falling_counts_are_dates_too(tmp_path, first):
    path = tmp_path / "p.csv"
    path.write_text(first)
    assert "1 period, 2 assets" in run(path, "-a", "uniform").output


def test_semicolons_arrow_and_standard_input_give_the_same_table(prices, tmp_path):
    path, table = prices
    wanted = run(path, "-a", "hold").output
    text = path.read_text().replace(",", ";").replace(".", ",")
    assert CliRunner().invoke(app, ["-", "-a", "hold"], input=text).output == wanted
    dates = [line.split(",")[0] for line in path.read_text().splitlines()[1:]]
    columns = {"date": dates, **dict(zip(("ant", "bee", "cow"), table.T, strict=True))}
    feather.write_feather(pa.table(columns), tmp_path / "p.arrow")
    assert run(tmp_path / "p.arrow", "-a", "hold").output == wanted
    extra = path.read_text().replace("\n", ",note\n")
    (tmp_path / "extra.csv").write_text(extra)
    assert "(note): a price must be a number" in run(tmp_path / "extra.csv").stderr
    assert run(tmp_path / "extra.csv", "-a", "hold", "--leave-out", "note").output == wanted


@pytest.mark.parametrize(("dates", "known"), [("%d/%m/%Y", True), ("day %j", False)])
def test_the_plot_has_the_dates_of_the_table(tmp_path, monkeypatch, dates, known):
    days = [datetime.date(2020, 1, 29) + datetime.timedelta(days=k) for k in range(6)]
    lines = [f"{day.strftime(dates)},{k + 1},{9 - k}" for k, day in enumerate(days)]
    (tmp_path / "p.csv").write_text("\n".join(["date,ant,bee", *lines]) + "\n")
    seen = []

    def spy(curves, **settings):
        seen.append(settings["dates"])
        return plot_wealth(curves, **settings)

    monkeypatch.setattr("driftgames.plots.portfolio.plot_wealth", spy)
    shown = run(tmp_path / "p.csv", "-a", "eg", "--plot", tmp_path / "p.svg")
    assert shown.exit_code == 0, shown.output
    wanted = np.array(days, dtype="datetime64[s]")
    assert np.array_equal(seen[0], wanted) if known else seen == [None]


def test_a_stock_that_is_listed_late_is_refused_with_the_words_to_type(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("ant,bee,cow\n1,,3\n1,2,3\n2,2,4\n")
    result = run(path)
    assert result.exit_code == 2
    words = " ".join(result.output.split())
    assert "bee begins at line 3" in words
    assert "--leave-out bee" in words
    assert run(path, "--leave-out", "bee", "-a", "uniform").exit_code == 0


def test_a_column_that_counts_the_rows_is_no_stock(tmp_path):
    path = tmp_path / "indexed.csv"
    lines = (f"{k + 1},{10 + k % 3},{9 + k % 4}\n" for k in range(20))
    path.write_text("rownames,ant,bee\n" + "".join(lines))
    result = run(path)
    assert result.exit_code == 2
    words = " ".join(result.output.split())
    assert "column 'rownames' counts the rows (1, 2, ...) and is no price" in words
    assert "--leave-out rownames" in words
    assert run(path, "--leave-out", "rownames", "-a", "uniform").exit_code == 0


def test_limits_and_mixtures_have_options_and_go_on_from_their_state(prices, tmp_path):
    path, table = prices
    state, lines = tmp_path / "state.json", path.read_text().splitlines(keepends=True)
    early, late = tmp_path / "early.csv", tmp_path / "late.csv"
    early.write_text("".join(lines[:30]))
    late.write_text("".join([lines[0], *lines[29:]]))
    limits = ["--max-share", "0.5", "--max-turnover", "0.2", "--group", "ant,bee:0.7"]
    assert run(early, "-a", "ons", *limits, "--save", state).exit_code == 0
    assert run(late, "--resume", state, "--save", state).exit_code == 0
    settings = {"max_share": 0.5, "max_turnover": 0.2, "groups": [([0, 1], 0.7)]}
    whole = LimitedPortfolio(3, of="ons", **settings).run(price_relatives(table))
    assert LimitedPortfolio.load(state).wealth == whole.final_wealth
    result = run(late, "--resume", state, "--max-share", "0.4")
    assert result.exit_code == 2
    assert "are those of the state" in " ".join(result.output.split())
    mixed = run(path, "-a", "hold", "--mix", "hold,pamr", "--cost", "0.01")
    assert "mixture of 2" in " ".join(mixed.output.split())
    assert "at most 0.693: the bound holds" in " ".join(mixed.output.split())
    for bad in ("ant:2", "ant,bee", ":0.5", "ant,zebra:0.5"):
        assert run(path, "-a", "hold", "--group", bad).exit_code == 2


def test_a_sentence_says_whether_the_mixture_won(prices):
    path, _ = prices
    lines = run(path).output.splitlines()
    assert any(line.startswith("The mixture did not win: ") for line in lines)
    assert not any(line.startswith("The mixture") for line in run(path, "-a", "eg").output)
