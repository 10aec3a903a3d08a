"""The explanation to click: plain data in, one page without a script out."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from driftgames.plots import ExplanationPage, FeatureShape, Reasons
from driftgames.plots.shape_drawing import _ticks, draw_shape

RNG = np.random.default_rng(0)
FEATURES = [
    FeatureShape("age", [30.0, 50.0], [-0.1, 0.05, 0.2], sample=RNG.normal(40, 12, 300)),
    FeatureShape("city <b>", [], [0.3, -0.3], categories=["Rome", "Oslo"], sample=[0, 1, 1]),
    FeatureShape("rare", [], [0.0], missing=-0.2),
]


class Tags(HTMLParser):
    void = frozenset({"meta", "input", "path", "rect"})

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def page():
    reasons = Reasons("patient 7", "benign, 93 %", [("age", 44, -0.1), ("city <b>", "Oslo", 0.3)])
    return ExplanationPage(
        "my <model>", "benign", FEATURES, [reasons], {"rounds": 200}, "every bound holds",
        {"Scorecard": "<p>card</p>"},
    )  # fmt: skip


def test_the_page_is_one_file_without_a_script(page, tmp_path):
    page.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    tags = Tags(text)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert not re.findall(r"https?://|url\(", text)
    assert len(set(tags.ids)) == len(tags.ids)
    assert "<b>" not in text
    assert "<model>" not in text
    assert "prefers-color-scheme:dark" in text


def test_every_tab_and_feature_can_be_chosen(page):
    text = page.html()
    assert re.findall(r'<label for="tab\d">(\w+)<', text) == [
        "Features", "Reasons", "Guarantee", "Scorecard"
    ]  # fmt: skip
    for k in range(4):
        assert f"#tab{k}:checked~#panel{k}" in text
    for k in range(3):
        assert f"#f{k}:checked~.shapes #s{k}" in text


def test_the_most_important_feature_comes_first(page):
    names = re.findall(r'<span class="name">(.*?)</span>', page.html())
    assert names == ["city &lt;b&gt;", "age", "rare"]


def test_votes_of_an_example_add_up(page):
    assert "+0.2000" in page.html().split("whole vote")[1]


def test_a_shape_needs_one_value_more_than_thresholds():
    with pytest.raises(ValueError, match="age must have 2 values; got 3"):
        FeatureShape("age", [1.0], [0.1, 0.2, 0.3])


def test_a_page_of_many_features_leaves_some_out():
    many = [FeatureShape(f"x{k}", [0.0], [0.0, 0.01 * k]) for k in range(100)]
    text = ExplanationPage("wide", "yes", many).html()
    assert "40 features of less weight are left out" in text
    assert text.count("<figure") == 60


def test_a_feature_without_a_shape_says_so():
    feature = FeatureShape("age", (), (), importance=0.5)
    text = ExplanationPage("trees", "yes", [feature]).html()
    assert "<svg" not in text
    assert "age votes together with other features" in text
    with pytest.raises(ValueError, match="age must have 1 values; got 0"):
        FeatureShape("age", (), ())


@pytest.mark.parametrize("reach", [0.08333, 1 / 3, 1234.5, 1e-7])
def test_no_text_of_a_drawing_leaves_it(reach):
    svg = draw_shape("age", np.array([-4e5, 3e5]), np.array([-reach, 0.0, reach]), reach)
    width = float(re.search(r"viewBox=.0 0 ([0-9.]+)", svg)[1])
    found = re.findall(r"<text x=.([0-9.]+). .*?text-anchor=.(\w+).>(.*?)</text>", svg)
    assert len(found) >= 6
    for x, anchor, words in found:
        length = 7.5 * len(words)
        left = float(x) - {"end": length, "middle": length / 2, "start": 0}[anchor]
        assert left >= 0
        assert left + length <= width
    heights = [float(words.replace(",", "")) for _, anchor, words in found if anchor == "end"]
    assert len(heights) == 5
    assert min(heights) == -max(heights) >= -reach


def test_an_axis_has_four_or_five_round_ticks():
    for low, width in zip(RNG.normal(0, 5, 2000), 10 ** RNG.uniform(-4, 6, 2000), strict=True):
        for ends in ((low, low + width), (-width, width)):
            ticks = _ticks(*ends)
            assert 3 <= len(ticks) <= 6
            assert ends[0] <= min(ticks)
            assert max(ticks) <= ends[1]
            step = f"{ticks[1] - ticks[0]:.4e}".split("e")[0].rstrip("0")
            assert step.strip(".") in {"1", "1.5", "2", "2.5", "3", "4", "5", "6", "8"}


def test_values_are_shown_on_hover_and_missing_rows_are_counted():
    sample = np.array([20.0, 40.0, np.nan, 60.0, np.nan])
    svg = draw_shape(
        "age", np.array([30.0]), np.array([-0.1, 0.2]), 0.2, missing=0.05, sample=sample
    )
    for hint in ("up to 30: -0.1", "above 30: 0.2", "missing: 0.05, 2 examples"):
        assert f"<title>{hint}</title>" in svg


def test_ten_categories_have_bars_and_the_others_share_one():
    names = [f"town {k}" for k in range(30)]
    sample = np.repeat(np.arange(30.0), np.arange(30, 0, -1))
    svg = draw_shape(
        "town", np.array([]), np.linspace(-1, 1, 30), 1.0, categories=names, sample=sample
    )
    assert "<title>town 0: -1</title>" in svg
    assert "<title>town 10:" not in svg
    assert "<title>20 others: " in svg


def test_dates_are_written_as_dates():
    """On the axis, on hover; they are days since 1970."""
    days = np.arange(16_500.0, 18_000.0, 10.0)
    shape = FeatureShape("since", [17_000.5], [-0.1, 0.2], sample=days, are_dates=True)
    drawn = shape.draw(0.2)
    assert re.findall(r">(\d{4})</text>", drawn) == ["2016", "2017", "2018", "2019"]
    assert "up to 2016-07-18T12:00: -0.1" in drawn
    assert "16," not in drawn


def test_a_tick_does_not_touch_the_label_of_missing_values():
    sample = np.append(np.linspace(10_000.0, 252_000.0, 50), np.nan)
    shape = FeatureShape("income", [1e5], [-0.1, 0.2], missing=0.1, sample=sample)
    drawn = shape.draw(0.2)
    assert ">200,000<" in drawn
    assert ">250,000<" not in drawn
