"""``boost inspect --html``: the scorecard as a page."""

from __future__ import annotations

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


@pytest.mark.parametrize("labels", [["<i>no</i>", "yes"], ["a", "b", "c"]])
def test_the_page_has_every_line_of_the_scorecard_and_escapes_names(labels, tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"<script>x": rng.normal(size=90), "town": rng.choice(["R&D", "B"], 90)})
    at = np.digitize(frame["<script>x"] + (frame["town"] == "B"), [0.0, 0.8][: len(labels) - 1])
    model = NHBoostDTClassifier(12).fit(frame, np.array(labels)[at])
    model.save(tmp_path / "m.json")
    done = CliRunner().invoke(
        app, ["inspect", str(tmp_path / "m.json"), "--html", str(tmp_path / "card.html")]
    )
    assert done.exit_code == 0, done.output
    text = (tmp_path / "card.html").read_text("utf-8")
    page = Page(text)
    assert page.links == []
    assert "script" not in page.tags
    assert page.tags.count("i") == len(model.scorecard().rows)  # the bars, and no label
    assert "&lt;script&gt;x" in text
    points = model.scorecard().column("points")
    shown = [line[-1] for line in page.lines][-len(points) :]
    assert [int(each) for each in shown] == points


def test_trees_have_no_page(tmp_path):
    X = np.arange(20.0)[:, None]
    NHBoostDTClassifier(2, max_depth=2, calibrate=False).fit(X, X[:, 0] % 7 > 3).save(
        tmp_path / "m.json"
    )
    done = CliRunner().invoke(
        app, ["inspect", str(tmp_path / "m.json"), "--html", str(tmp_path / "card.html")]
    )
    assert done.exit_code != 0
    assert "vote together" in done.output
    assert not (tmp_path / "card.html").exists()
