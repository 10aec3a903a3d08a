"""The page of a regressor: shapes in the unit of the outcome, parts that add up to a mean."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from driftgames.boosting import NHBoostDTRegressor
from driftgames.cli.boost import app

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "age": np.where(RNG.random(150) < 0.1, np.nan, RNG.normal(40, 9, 150).round()),
        "town": pd.Categorical(RNG.choice(["Rome", "Oslo", "Kyiv"], 150)),
        "none": np.zeros(150),
    }
)
PRICE = (10 * FRAME["age"].fillna(60) + 300 * (FRAME["town"] == "Oslo")).to_numpy()
MODEL = NHBoostDTRegressor(25, max_leaves=4, n_stages=2).fit(FRAME, PRICE)
PAGE = MODEL.explain_model(FRAME, n_examples=4, title="prices")


def test_shapes_are_partial_dependences():
    shapes = {each.name: each for each in PAGE.features}
    assert list(shapes) == ["age", "town"]  # the constant column has no vote
    base = MODEL.predict(FRAME).mean()
    town = shapes["town"]
    assert town.categories == ["Kyiv", "Oslo", "Rome"]
    for name, value in zip(town.categories, town.values, strict=True):
        moved = FRAME.assign(town=pd.Categorical([name] * 150, FRAME["town"].cat.categories))
        assert value == pytest.approx(MODEL.predict(moved).mean() - base)
    assert town.values[1] - town.values[0] > 150  # in the unit of the outcome
    age = shapes["age"]
    assert age.missing == pytest.approx(MODEL.predict(FRAME.assign(age=np.nan)).mean() - base)
    first = np.quantile(FRAME["age"].dropna(), 0.5 / 16, method="nearest")
    assert age.values[0] == pytest.approx(MODEL.predict(FRAME.assign(age=first)).mean() - base)
    assert len(age.values) == len(age.thresholds) + 1 == 16
    assert age.importance + town.importance == pytest.approx(1.0)


def test_the_parts_of_an_example_add_up_to_its_mean():
    means, ends = MODEL.predict(FRAME), MODEL.predict_interval(FRAME)
    assert len(PAGE.examples) == 4
    for i, each in enumerate(PAGE.examples):
        assert each.base == pytest.approx(means.mean())
        assert sum(part for *_, part in each.parts) + each.base == pytest.approx(means[i])
        wanted = "mean {:.5g}, 90 %: {:.5g} to {:.5g}".format(means[i], *ends[i])
        assert each.decision == wanted
        assert each.distribution[2] == tuple(ends[i])
        cells = {name: value for name, value, _ in each.parts}
        assert cells["town"] == FRAME["town"][i]
        unknown = np.isnan(FRAME["age"][i])
        assert cells["age"] == ("missing" if unknown else f"{FRAME['age'][i]:g}")


def test_the_page_says_mean_and_unit_and_not_vote():
    text = PAGE.html()
    for words in ("predicted mean", "mean of all examples", "in the unit of the outcome"):
        assert words in text
    assert "vote" not in text
    assert text.count('class="density"') == 4
    assert "nothing is promised about new examples" in text


def test_without_examples_there_are_importances():
    page = MODEL.explain_model()
    assert not page.examples
    assert [len(each.values) for each in page.features] == [0, 0]
    assert "a shape needs examples" in page.html()
    equal = NHBoostDTRegressor().fit(FRAME, np.ones(150)).explain_model(FRAME, n_examples=1)
    assert equal.examples[0].decision == "mean 1, 90 %: 1 to 1"
    assert "<svg" in equal.html()


def test_arrays_sparse_rows_and_infinite_intervals():
    X = RNG.normal(size=(60, 3)).round(1)
    X[X < 0] = 0.0
    model = NHBoostDTRegressor(10, max_leaves=3, n_stages=1, validation_fraction=0.2)
    model.fit(pd.DataFrame(X, columns=list("abc")), X[:, 0])
    one, two = (model.explain_model(each, n_examples=2) for each in (X, sp.csr_matrix(X)))
    assert one.html() == two.html()
    assert "90 %: -inf to inf" in one.html()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"n_examples": -1}, "n_examples must be"), ({"title": 3}, "title must be a string")],
)
def test_bad_arguments_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        MODEL.explain_model(FRAME, **settings)


def test_inspect_writes_the_page(tmp_path):
    model, page, table = tmp_path / "m.json", tmp_path / "page.html", tmp_path / "t.csv"
    FRAME.assign(price=PRICE).to_csv(table, index=False)
    MODEL.save(model)
    command = ["inspect", str(model), "--data", str(table), "--html", str(page)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert f"{page}: the model as a page" in done.output
    text = page.read_text("utf-8")
    assert "<h1>m.json</h1>" in text
    assert MODEL.explain_model(FRAME).examples[0].decision in text
    refused = CliRunner().invoke(app, ["inspect", str(model), "--plot", str(tmp_path / "p.svg")])
    assert refused.exit_code == 2
    assert "--html draws its features" in refused.output


def test_dates_are_written_as_dates(tmp_path):
    days = pd.date_range("2015-03-01", periods=120)
    frame = pd.DataFrame({"since": days, "size": np.arange(120) % 7})
    outcome = 10.0 * (days.month < 5) + frame["size"]
    model = NHBoostDTRegressor(20, max_leaves=4, n_stages=1).fit(frame, outcome)
    page = model.explain_model(frame, n_examples=1)
    assert {each.name: each.are_dates for each in page.features} == {"since": True, "size": False}
    assert dict(each[:2] for each in page.examples[0].parts)["since"] == "2015-03-01"
    numbers = model.explain_model(frame, n_examples=1, dates=[])
    assert dict(each[:2] for each in numbers.examples[0].parts)["since"] == "16495"
    with pytest.raises(ValueError, match="dates must be below 2; got 2"):
        model.explain_model(frame, dates=[2])
    table, file, html = (str(tmp_path / name) for name in ("t.csv", "m.json", "m.html"))
    frame.assign(price=outcome).to_csv(table, index=False)
    model.save(file)
    arguments = ["inspect", file, "--data", table, "--label", "price", "--html", html]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert "2015-03-01" in (tmp_path / "m.html").read_text()
