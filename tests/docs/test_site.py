"""What turns pages and docstrings into a site: formulas, names, and the check of what was built."""

import doctest
import re
import sys
from pathlib import Path

import pytest
from markdown import Markdown

from tools import check_site, docs_markdown, docs_snippets
from tools.build_docs import _with_cards
from tools.docs_api import api_pages, public_names
from tools.docs_cited import cited_page, linked
from tools.docs_markdown import DIRECTIVE, DISPLAY, mathml

ROOT = Path(__file__).parents[2]


def html(text):
    return Markdown(extensions=[docs_markdown.makeExtension(), "fenced_code"]).convert(text)


def formulas():
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.*")]:
        if path.suffix in {".py", ".md"}:
            text = path.read_text()
            yield from re.findall(r":math:`([^`]+)`|\$`([^`]+)`\$", text)
            for pattern in (DIRECTIVE, DISPLAY):
                yield from ((match["tex"],) for match in pattern.finditer(text))


def test_every_formula_becomes_mathml():
    found = ["".join(each) for each in formulas()]
    assert len(found) > 300
    for tex in found:
        assert mathml(re.sub(r"(?m)^# ?", "", tex)).startswith("<math")


def test_a_formula_with_an_unknown_command_is_refused():
    with pytest.raises(ValueError, match=r"x \\nonsense has commands that are unknown"):
        mathml(r"x \nonsense")


def test_formulas_of_docstrings_and_of_pages_are_read():
    for text in (".. math:: x^2", ".. math::\n\n   x^2", "$$x^2$$", "$$\nx^2\n$$"):
        assert re.search(r'<div class="formula"><math.*display="block".*<msup>', html(text)), text
    for text in ("so :math:`x^2` it is", "so $`x^2`$ it is"):
        assert re.fullmatch(r'<p>so <math.*display="inline".*<msup>.*</math> it is</p>', html(text))


def test_code_is_left_as_it_is():
    assert ".. math:: x" in html("```\n.. math:: x\n```")
    assert "<code>Hedge</code>" in html("``Hedge``")
    assert "<autoref" not in html("``Hedge``")


def test_a_public_name_is_linked_and_a_name_of_two_packages_is_not():
    assert '<autoref identifier="driftgames.hedge.Hedge"><code>Hedge</code></autoref>' in html(
        "`Hedge`"
    )
    assert "autoref" not in html("`Run`")  # in hedge and in oco


def test_doctests_literal_blocks_and_citations_are_read():
    assert '<code class="language-pycon">&gt;&gt;&gt; 1\n1\n' in html("Text\n\n>>> 1\n1\n\nmore")
    assert html("so::\n\n    a = 1\n").startswith("<p>so:</p>\n<pre><code")
    assert html("[OP16]_ and\n\n.. [OP16] A paper.") == "<p>[OP16] and</p>\n<p>[OP16] A paper.</p>"


def test_the_pages_of_the_api_have_every_public_name_and_a_page_for_each_class():
    made = api_pages()
    for package, names in public_names().items():
        short = package.removeprefix("driftgames.")
        for name in names:
            own = f"{short}.{name}.md"
            text = made.get(own, made[f"{short}.md"])
            assert re.search(rf"^::: {package}\.(?:{name}\.)?{name}$", text, re.MULTILINE), name
            assert (own in made) == (f"[`{name}`]({own})" in made[f"{short}.md"])
    booster = made["boosting.NHBoostDTClassifier.md"]
    assert booster.startswith("[driftgames.boosting](boosting.md)\n\n::: ")
    hedge = made["hedge.Hedge.md"]
    assert hedge.index("\n::: ") < hedge.index("## Inherited\n\n| from `ExpertLearner` |")


def test_tables_that_are_cards_have_the_names_of_their_columns():
    made = _with_cards("Before.\n\n| id | where |\n| --- | --- |\n| E1 | Thm. 3 |\n\nAfter.\n")
    assert '.cards-id-where td:nth-child(2)::before { content: "where" }' in made
    assert '<div class="cards cards-id-where" markdown>\n\n| id | where |' in made
    assert made.endswith("</div>\n\nAfter.\n")


def test_no_page_of_the_api_begins_with_aligned_columns():
    """Markdown would run the lines of such a table together."""
    for name, text in api_pages().items():
        assert not re.search(r"^\w+ {2,}\w", text, re.MULTILINE), name


def test_every_picture_of_the_pages_has_colours_for_a_dark_screen():
    pictures = sorted((ROOT / "docs" / "images").glob("*.svg"))
    assert pictures
    for path in pictures:
        assert "prefers-color-scheme: dark" in path.read_text(), path.name


def test_the_api_has_modules_whose_library_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfolio", None)
    monkeypatch.setitem(sys.modules, "skfolio.optimization", None)
    monkeypatch.delitem(sys.modules, "driftgames.portfolio.skfolio", raising=False)
    public_names.cache_clear()
    assert "::: driftgames.portfolio.skfolio.OnlinePortfolio" in api_pages()["portfolio.skfolio.md"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('<a href="gone.html">', "there is no gone.html"),
        ('<a href="a.html#gone">', "there is no place a.html#gone"),
        ('<script src="https://cdn.test/a.js"></script>', "from outside"),
        ('<link rel="stylesheet" href="//cdn.test/a.css">', "from outside"),
        ('<img src="gone.svg">', "there is no gone.svg"),
        ("<style>a { background: url(https://cdn.test/a.png) }</style>", "from outside"),
        ("<b>a</b> = <i>parameter</i>(1, check)", "shown as a call"),
    ],
)
def test_the_check_of_a_site_finds_a_fault(content, fault, tmp_path):
    page = tmp_path / "a.html"
    page.write_text('<h1 id="here"></h1><a href="#here"><a href="https://a.test">')
    assert check_site.faults(tmp_path) == []
    page.write_text(page.read_text() + content)
    assert len(found := check_site.faults(tmp_path)) == 1
    assert fault in found[0]


@pytest.mark.parametrize("module", [check_site, docs_markdown, docs_snippets])
def test_doctests_of_the_tools(module):
    assert doctest.testmod(module).failed == 0


def test_symbols_and_tests_of_the_paper_map_are_links():
    texts = [(ROOT / "docs" / name).read_text() for name in ("paper_map.md", "errata.md")]
    sources = cited_page(texts)
    places = set(re.findall(r"\{#([\w-]+)\}", sources))
    for text in texts:
        made = linked(text)
        rows = [row for row in made.splitlines() if row.startswith("| ") and "`" in row]
        assert len(rows) >= 20
        for row in rows:
            assert not re.search(r"(?<!\[)`[\w/]+\.py::\w+`", row)
        for place in re.findall(r"cited_tests\.md#([\w-]+)", made):
            assert place in places, place
    symbols = [row.split(" | ")[2] for row in linked(texts[0]).splitlines() if "][drift" in row]
    assert len(symbols) > 35
    assert "def test_thm1_conversions_there_and_back_play_the_same" in sources
