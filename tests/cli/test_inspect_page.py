"""``boost inspect --html``: the model as a page, with the scorecard as a tab."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from driftgames.boosting import NHBoostDTClassifier
from driftgames.cli.boost import app


class Page(HTMLParser):
    """The tags, the links and the lines of tables of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.lines = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag == "tr":
            self.lines.append([])

    def handle_data(self, data):
        if self.lines and self.tags[-1] in ("th", "td") and data.strip():
            self.lines[-1].append(data)


def inspect(model, folder, *arguments):
    model.save(folder / "m.json")
    options = ["inspect", str(folder / "m.json"), "--html", str(folder / "page.html")]
    done = CliRunner().invoke(app, [*options, *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return (folder / "page.html").read_text("utf-8")


def tabs_of(text):
    return re.findall(r'<label for="tab\d">(\w+)<', text)


@pytest.mark.parametrize("labels", [["<i>no</i>", "yes"], ["a", "b", "c"]])
def test_the_page_has_every_line_of_the_scorecard_and_escapes_names(labels, tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"<script>x": rng.normal(size=90), "town": rng.choice(["R&D", "B"], 90)})
    at = np.digitize(frame["<script>x"] + (frame["town"] == "B"), [0.0, 0.8][: len(labels) - 1])
    model = NHBoostDTClassifier(12, max_leaves=2).fit(frame, np.array(labels)[at])
    text = inspect(model, tmp_path)
    page = Page(text)
    assert page.links == []
    assert "script" not in page.tags
    assert "<i>no" not in text
    assert "&lt;script&gt;x" in text
    assert tabs_of(text) == ["Features", "Guarantee", "Scorecard"]
    points = [list(row[4:]) for row in model.scorecard().rows]
    width = len(points[0])
    lines = page.lines if width == 1 else [line for line in page.lines if line != labels]
    shown = [line[-width:] for line in lines][-len(points) :]
    assert [[int(each) for each in line] for line in shown] == points


def test_examples_are_explained_and_their_density_is_drawn(tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"age": rng.normal(40, 9, 90).round(2), "town": rng.choice(["A", "B"], 90)}
    )
    frame["sick"] = np.where(frame["age"] > 40, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = NHBoostDTClassifier(12, max_leaves=2).fit(frame[["age", "town"]], frame["sick"])
    data = ["--data", tmp_path / "t.csv", "--label", "sick"]
    text = inspect(model, tmp_path, *data)
    assert tabs_of(text) == ["Features", "Reasons", "Guarantee", "Scorecard"]
    assert text.count("<details") == 10
    assert "how many examples are there" in text
    first = next(line for line in Page(text).lines if line and line[0] == "age")
    votes = model.explain(frame[["age", "town"]].iloc[:1]).by_feature
    assert first[1:] == [f"{frame['age'][0]:.6g}", f"{votes['age']:+.4f}"]


def test_trees_have_importances_and_reasons_and_no_scorecard(tmp_path):
    X = np.arange(20.0)[:, None]
    model = NHBoostDTClassifier(2, max_depth=2, calibrate=False).fit(X, X[:, 0] % 7 > 3)
    text = inspect(model, tmp_path)
    assert tabs_of(text) == ["Features", "Guarantee"]
    assert "x0 votes together with other features" in text


def test_dates_of_a_table_are_written_as_dates(tmp_path):
    frame = pd.DataFrame({"since": pd.date_range("2015-03-01", periods=90), "size": range(90)})
    frame["old"] = np.where(frame["since"].dt.year < 2016, "yes", "no")
    frame.loc[:40, "old"] = "no"
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = NHBoostDTClassifier(12, max_leaves=2).fit(frame[["since", "size"]], frame["old"])
    text = inspect(model, tmp_path, "--data", tmp_path / "t.csv", "--label", "old")
    assert "2015-03-01" in text
