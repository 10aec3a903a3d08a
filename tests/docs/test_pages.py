"""The README and the pages: snippets print what stands there, and links lead somewhere."""

import importlib
import re
from pathlib import Path

import pytest

from tools.docs_api import public_names
from tools.docs_snippets import BLOCK, pages, renewed

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SITE = (ROOT / "mkdocs.yml").read_text()
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_snippets_print_what_the_page_says(page):
    text = page.read_text()
    assert renewed(text) == text


def test_no_snippet_of_a_page_is_left_out():
    for page in [ROOT / "README.md", *PAGES]:
        text = page.read_text()
        run = [match for match in BLOCK.finditer(text) if match["hidden"] is None]
        assert len(run) == len(re.findall(r"^```(?:python|console)$", text, re.MULTILINE)), page


def test_an_output_that_differs_is_found():
    right = "```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n"
    assert renewed(right) == right
    assert renewed(right.replace("42\n", "41\n")) == right


def test_the_readme_has_a_snippet_with_output_for_each_job_and_is_short():
    blocks = [match for match in BLOCK.finditer(README) if match["code"]]
    assert len(blocks) == 6
    assert all(block["output"] for block in blocks)
    jobs = README[README.index("| job |") :].split("\n\n")[0].count("\n") - 1
    assert jobs == 6
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    assert len(prose.split()) < 700


def test_each_snippet_of_the_readme_runs_alone():
    for block in BLOCK.finditer(README):
        if block["code"]:
            assert renewed(block[0]) == block[0]


def test_a_figure_of_the_readme_stands_on_the_page_that_it_links_to():
    """Of the lines that begin with "- **Better:**"."""
    lines = re.findall(r"^- \*\*Better:\*\* (.*(?:\n {2}.*)*)", README, re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        pages_of = re.findall(r"\]\((docs/\w+\.md)\)", line)
        assert pages_of, line
        text = "".join((ROOT / page).read_text() for page in pages_of)
        for figure in re.findall(r"\d[\d,]*\.?\d*(?= MW| ms|\b)", line.partition("(")[0]):
            plain = figure.rstrip(".,")
            known = plain in text or plain.replace(",000", " k") in text
            rounded = any(
                round(float(f), 1) == float(plain.replace(",", ""))
                or round(float(f)) == float(plain.replace(",", ""))
                for f in re.findall(r"\d+\.\d+", text)
            )
            assert known or rounded, (figure, line)


def test_the_ranks_of_readme_and_landing_page_are_those_of_the_benchmarks():
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    table = text.split("mean ranks on the sets to report on -->")[1].split("<!-- end -->")[0]
    n_sets = re.search(r"^(\d+) sets\.$", table, re.MULTILINE)[1]
    for page in (README, (ROOT / "docs" / "index.md").read_text()):
        said = " ".join(page.split())
        assert f"{n_sets} held-out data sets" in said
        for library in ("driftgames", "CatBoost"):
            ranks = rf"\| {library} \| ([\d.]+) \| ([\d.]+) "
            error, log_loss = re.search(ranks, table.replace("*", "")).groups()
            before = "" if library == "driftgames" else "CatBoost "
            assert f"{before}{error}" in said, (library, "error")
            assert f"{before}{log_loss}" in said, (library, "log-loss")


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_to_files_of_the_repository(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        made = target.startswith("api/") or target == "play_page.html"  # by tools/build_docs.py
        script = target.replace(".md", ".py") if target.startswith("tutorials/") else target
        assert made or (page.parent / script).exists(), target


def found(dotted):
    """Whether a dotted name leads to a module or to an object in one."""
    parts = dotted.split(".")
    for k in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            place = getattr(place, part, None)
        return place is not None
    return False


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_names_in_the_library_exist(page):
    names = set(re.findall(r"`(driftgames(?:\.\w+){2,})`", page.read_text()))
    optional = {"driftgames.portfolio.skfolio"}  # its library may be missing
    assert [name for name in sorted(names - optional) if not found(name)] == []


def test_the_site_shows_every_page_tutorial_and_public_package():
    shown = set(re.findall(r"(?:: |- )(\S+\.md)$", SITE, re.MULTILINE))
    tutorials = {f"tutorials/{path.stem}.md" for path in (ROOT / "docs/tutorials").glob("*.py")}
    packages = {f"api/{package.removeprefix('driftgames.')}.md" for package in public_names()}
    root = {"changelog.md", "contributing.md", "security.md", "cited_tests.md"}
    api = packages | {"api/index.md"}
    assert shown == {page.name for page in PAGES} | tutorials | api | root
