"""The explanation page in headless Chromium: no text leaves its drawing, and switches work."""

import numpy as np
import pytest

from driftgames.plots import ClassVotes, ExplanationPage, FeatureShape, Reasons
from tests.browser import DESKTOP, PHONE, open_browser, texts_outside

TOWNS = [
    "Llanfairpwllgwyngyll",
    "WWWWWWWWWWWWWWWWWW",
    "Oslo",
    *(f"Town number {k}" for k in range(30)),
]
RNG = np.random.default_rng(1)


def shapes(reach):
    """Return shapes whose labels are long, at both ends of both axes."""
    wide = np.array([-4.2e6, 0.0, 8.9e6])
    return [
        FeatureShape("wide", wide, [reach, -reach, 0.1, 0.2], missing=0.1, sample=[*wide, np.nan]),
        FeatureShape("narrow", [1.00001, 1.00002], [-reach, 0.0, 0.1], sample=[1.0, 1.00003]),
        FeatureShape("town", [], RNG.normal(size=len(TOWNS)), categories=TOWNS, missing=-0.1),
        FeatureShape("sex", [], [0.1, -0.1], categories=["W" * 40, "m"], spread=[0.1, 0.2]),
        FeatureShape("four", [], [0.1, -0.1, 0.2, 0.1], categories=["very dark violet"] * 4),
        FeatureShape("seven", [], [0.1] * 7, categories=["Mmmmmmmmmm"] * 7, spread=[0.1] * 7),
    ]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = open_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def show(browser, page, path, size):
    page.save(path)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(path.as_uri())


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("reach", [0.08333, 1 / 3, 1.0, 1e-7])
def test_no_text_leaves_its_drawing(browser, tmp_path, reach, size):
    features = shapes(reach)
    show(browser, ExplanationPage("long", "yes", features), tmp_path / "p.html", size)
    for k in range(len(features)):
        browser.execute_script(f"document.getElementById('f{k}').click()")
        drawn = "return [...document.querySelectorAll('figure')].filter((f) => f.checkVisibility())"
        (figure,) = browser.execute_script(drawn)
        assert figure.find_elements("css selector", "svg text")
        assert texts_outside(browser) == []
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= size["width"]


def test_a_label_that_leaves_is_found(browser, tmp_path):
    page = ExplanationPage("cut", "yes", shapes(1.0))
    show(browser, page, tmp_path / "p.html", DESKTOP)
    browser.execute_script("document.querySelector('svg text').setAttribute('x', 3)")
    assert len(texts_outside(browser)) == 1


def test_names_of_facts_stay_whole_beside_many_classes(browser, tmp_path):
    facts = {"algorithm": "NHBoostDTClassifier", "classes": ", ".join(["very high"] * 12)}
    page = ExplanationPage("facts", "yes", shapes(1.0), facts=facts)
    show(browser, page, tmp_path / "p.html", PHONE)
    browser.execute_script("document.querySelector('[for=tab2],[for=tab1]').click()")
    heights = "return [...document.querySelectorAll('.facts th')].map((e) => e.clientHeight)"
    found = browser.execute_script(heights)
    assert len(found) == 2
    assert max(found) < 400
    widths = "return [...document.querySelectorAll('.facts th')].map((e) => e.clientWidth)"
    assert min(browser.execute_script(widths)) > 80


def visible(browser, selector):
    script = (
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
    )
    return [each.text for each in browser.execute_script(script, selector)]


def test_a_switch_shows_one_class_at_a_time(browser, tmp_path):
    def reasons(label, vote):
        return [Reasons(f"row {i}", "a", [("wide", 1.0, vote)], label=label) for i in range(2)]

    classes = [ClassVotes(label, shapes(1.0), reasons(label, 0.25)) for label in "abc"]
    page = ExplanationPage("three", "b", shapes(1.0), reasons("a", 0.5), classes=classes)
    show(browser, page, tmp_path / "p.html", PHONE)
    assert ["vote for b" in each for each in visible(browser, "figcaption")] == [True]
    browser.execute_script("document.querySelector('[for=c2]').click()")
    browser.execute_script("document.querySelector('[for=f1]').click()")
    (caption,) = visible(browser, "figcaption")
    assert "vote for c" in caption
    browser.execute_script("document.querySelector('[for=tab1]').click()")
    assert visible(browser, "thead th.number") == ["vote for a"]
    browser.execute_script("document.querySelector('[for=r3]').click()")
    assert visible(browser, "thead th.number") == ["vote for c"]
