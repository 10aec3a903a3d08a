"""Every public class: one line as its repr, and results that show themselves."""

import inspect
from html.parser import HTMLParser
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from driftgames.certificates import Certificate
from driftgames.core.display import Displayed
from driftgames.tables import Column, Table
from tests.public_objects import others, results

PACKAGES = (
    "bandit",
    "boosting",
    "certificates",
    "dask",
    "datasets",
    "games",
    "hedge",
    "oco",
    "online_boosting",
    "plots",
    "portfolio",
    "potentials",
    "tables",
)

ELSEWHERE = {
    "ExpertMixture": "an estimator: scikit-learn shows it",
    "SeriesMixture": "needs a series of forecasters; tests/hedge/mixture/test_series.py",
    "MinimaxPotential": "holds a function; its repr names it",
    "RecipePotential": "holds a function; its repr names it",
    "WeakLearnerBooster": "an estimator: scikit-learn shows it",
    **dict.fromkeys(("Lure", "Moody", "Spiteful", "Switching"), "like BernoulliArms"),
    **dict.fromkeys(
        ("AdaFixedShare", "AdaNormalHedge", "AdaNormalHedgeTV", "BOA", "FixedShare"),
        "the repr is that of ExpertLearner",
    ),
    **dict.fromkeys(
        ("LinearLoss", "LogWealthLoss", "QuadraticLoss", "DifferentiableLoss"), "input"
    ),
    **dict.fromkeys(("Grid", "HitAndRun", "Points", "Precision", "Polytope"), "input"),
    **dict.fromkeys(("ClassVotes", "FeatureShape", "Reasons"), "input"),
    **dict.fromkeys(("Exp4", "SquareCB", "ThompsonSampling"), "like TsallisINF"),
    **dict.fromkeys(("OLMAR", "PAMR", "LimitedPortfolio", "StrategyMixture"), "a strategy"),
    **dict.fromkeys(("ConfidenceSequence", "SignedIntervals"), "the repr is that of Stateful"),
    **dict.fromkeys(
        (
            *(f"{name}Classifier" for name in ("AdaBoost", "BoostByMajority")),
            "NHBoostDTRegressor",
            *(
                f"{kind}{name}Classifier"
                for kind in ("", "Dask")
                for name in ("NHBoost", "NHBoostDT", "PotentialBoost")
            ),
        ),
        "an estimator: scikit-learn shows it",
    ),
}
"""Public classes without an object here, and why."""


def public_classes():
    for package in PACKAGES:
        module = import_module(f"driftgames.{package}")
        for name in module.__all__:
            found = getattr(module, name)
            if not inspect.isclass(found) or issubclass(found, Exception):
                continue
            if not inspect.isabstract(found) and not getattr(found, "_is_protocol", False):
                yield name, found


def is_line(text):
    return len(text) <= 200 and "\n" not in text and " at 0x" not in text


class Strict(HTMLParser):
    """Complains about a tag that is not closed, a script, and an attribute that runs one."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "style", "link", "iframe"}
        assert not any(name.startswith("on") for name, _ in attributes)
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(html):
    parser = Strict()
    parser.feed(html)
    assert parser.open == []
    return parser


RESULTS = results()


def test_every_public_class_is_looked_at():
    known = {*RESULTS, *others(), *ELSEWHERE}
    public = [name for name, _ in public_classes()]
    assert [name for name in public if name not in known] == []
    assert [name for name in ELSEWHERE if name not in public] == []


def test_every_result_inherits_the_one_mixin():
    assert [name for name, each in RESULTS.items() if not isinstance(each, Displayed)] == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_one_line_a_summary_a_page_and_a_frame(name):
    result = RESULTS[name]
    assert is_line(repr(result))
    assert repr(result).startswith(f"<{name}: ")
    assert len(str(result).splitlines()) <= 20
    assert "array(" not in str(result) + repr(result)
    page = result._repr_html_()
    seen = parsed(page).seen
    assert "table" in seen or "svg" in seen
    assert len(page) < 20_000
    assert "array(" not in page
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape[0] >= 1
    assert result.to_frame(backend="polars").shape == frame.shape


def test_most_results_have_a_picture():
    plain = [name for name, each in RESULTS.items() if "<svg" not in each._repr_html_()]
    assert sorted(plain) == [
        *("BanditCheck", "NewNumbers", "NumberCertificate", "PotentialCheck"),
        *("PredictedDistribution", "Quote", "Table"),
    ]


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_fits_light_and_dark(name):
    """Text takes the colour around it, and no other colour is near black or near white."""
    page = RESULTS[name]._repr_html_().lower()
    assert "background:#" not in page
    assert not any(colour in page for colour in ("#fff", "#000", '"black"', '"white"'))


def test_names_of_a_user_are_escaped():
    evil = '<img src=x onerror="alert(1)">'
    curve = np.array([0.5, 1.0])
    shown = [
        Certificate(evil, 2, curve, curve, curve, caveat=evil),
        Table(evil, (Column(evil), Column("n")), ((evil, 1),)),
    ]
    for each in shown:
        page = each._repr_html_()
        assert "<img" not in page
        assert "&lt;img" in page
        parsed(page)


def test_a_million_rows_make_a_short_page():
    n = 1_000_000
    curve = np.linspace(0.0, 1.0, n)
    certificate = Certificate("long", n, curve + 1 / n, curve, 2 * curve)
    assert len(certificate._repr_html_()) < 20_000
    assert is_line(repr(certificate))


def test_curves_that_are_not_finite_are_left_out():
    nothing = np.full(4, np.inf)
    certificate = Certificate("no bound", 4, np.arange(1, 5) / 4, np.zeros(4), nothing)
    page = certificate._repr_html_()
    assert "inf" not in page
    assert "nan" not in page
    parsed(page)


@pytest.mark.parametrize("each", others().values(), ids=lambda each: type(each).__name__)
def test_what_is_no_result_has_a_line(each):
    assert is_line(repr(each))


def test_a_table_for_latex_escapes_and_aligns():
    columns = (Column("set_name"), Column("ours", "%", "Error"), Column("n", "", "Error"))
    text = Table("T", columns, (("a&b", 0.125, 1200), ("c", None, 3))).to_latex()
    assert r"\begin{tabular}{lrr}" in text
    assert r" & \multicolumn{2}{c}{Error} \\" in text
    assert r"a\&b & 12.5 \% & 1,200 \\" in text
    assert r"set\_name" in text
