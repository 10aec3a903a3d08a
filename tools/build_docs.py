"""Write what the site is made of into build/docs: ``python tools/build_docs.py``.

Pages are copied, tutorials run, the pages of the API, of cited tests and the page to play with are
made. MkDocs and
Zensical then build the same folder by mkdocs.yml.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from driftgames.play import write_page  # noqa: E402
from tools.docs_api import api_pages  # noqa: E402
from tools.docs_cited import PAGE, cited_page, linked  # noqa: E402
from tools.docs_tutorials import page  # noqa: E402

TARGET = ROOT / "build" / "docs"
OF_THE_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")

CITING = ("errata.md", "paper_map.md")
"""Pages whose symbols and tests are links."""

WIDE = ("accuracy.md", "errata.md", "paper_map.md", "which_class.md")
"""Pages whose tables take the room of the table of contents."""

REFERENCE = (
    "accuracy.md",
    "benchmarks.md",
    "changelog.md",
    "model_format.md",
    "state_format.md",
    PAGE,
)
"""Pages that a search lists after those that explain."""


def main() -> None:
    """Make the folder anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(ROOT / "docs", TARGET, ignore=shutil.ignore_patterns("*picture*.py", "__*"))
    for path in TARGET.glob("*.md"):
        text = re.sub(r"<!-- python\n.*?-->\n\n?", "", path.read_text(), flags=re.S)
        path.write_text(_with_cards(text) if path.name in CITING else text)
    (TARGET / PAGE).write_text(cited_page([(TARGET / name).read_text() for name in CITING]))
    for name in CITING:
        (TARGET / name).write_text(linked((TARGET / name).read_text()))
    for name in OF_THE_ROOT:
        text = (ROOT / name).read_text()
        (TARGET / name.lower()).write_text(_links_from_docs(text))
    for script in sorted((ROOT / "docs" / "tutorials").glob("*.py")):
        folder = TARGET / "tutorials"
        (folder / f"{script.stem}.md").write_text(page(script, folder))
    (TARGET / "api").mkdir()
    for name, text in api_pages().items():
        # a class is in no menu: its page takes the room
        hide = "hide: [navigation]\n" * ("\n# " not in f"\n{text}")
        (TARGET / "api" / name).write_text(f"---\nsearch: {{boost: 0.3}}\n{hide}---\n\n{text}")
    for path in TARGET.glob("*.md"):
        settings = ["hide: [toc]"] * (path.name in WIDE)
        settings += ["search: {boost: 0.5}"] * (path.name in REFERENCE)
        if settings:
            path.write_text("\n".join(["---", *settings, "---", "", path.read_text()]))
    write_page(TARGET / "play_page.html", documentation="play.html")  # of this site


def _with_cards(text: str) -> str:
    """Return a page whose tables are cards on a phone: every row with the names of its columns."""

    def cards(table: re.Match[str]) -> str:
        names = [name.strip() for name in table[0].splitlines()[0].strip("| ").split("|")]
        kind = f"cards-{'-'.join(re.sub(r'[^a-z]', '', name) for name in names)}"
        labels = "".join(
            f'.{kind} td:nth-child({k})::before {{ content: "{name}" }}'
            for k, name in enumerate(names, start=1)
        )
        style = f"<style>@media (max-width: 44.9em) {{ {labels} }}</style>"
        return f'{style}\n\n<div class="cards {kind}" markdown>\n\n{table[0]}\n</div>\n'

    return re.sub(r"^\| .*\n\| ---.*\n(?:\| .*\n)+", cards, text, flags=re.M)


def _links_from_docs(text: str) -> str:
    """Return a page of the root with its links as a page in docs has them."""
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(r"\]\(([A-Z]+\.md)\)", lambda match: f"]({match[1].lower()})", text)


if __name__ == "__main__":
    main()
