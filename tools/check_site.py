"""Check a built site: ``python tools/check_site.py FOLDER...``.

Every link must lead to a file, and every anchor to a place in it. No page may ask for a script, a
style, a font or a picture from outside. Links that a reader follows may lead outside. A signature
has values for defaults, and not the calls that make them.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
NOT_LOADED = {"canonical", "prev", "next", "alternate"}
"""Relations of a ``link`` that a browser does not fetch."""


@dataclass
class Page(HTMLParser):
    """The places of a page, its links, and what it loads."""

    html: str
    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names, links to or loads."""
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel") not in NOT_LOADED:
            self.loads.append(found[LOADED[tag]])
        self.loads += re.findall(r"url\(([^)]+)\)", found.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Note what a style of the page loads."""
        if self.lasttag == "style":
            self.loads += loaded_by_css(data)


def loaded_by_css(text: str) -> list[str]:
    """Return the addresses that a style sheet loads.

    >>> loaded_by_css('@import "a.css"; b { background: url(c.png) }')
    ['a.css', 'c.png']
    """
    found = re.findall(r"@import\s+[\"']([^\"']+)|url\(\s*[\"']?([^\"')]+)", text)
    return [one or other for one, other in found]


def faults(site: Path) -> list[str]:
    """Return what is wrong with a site, one line each."""
    pages = {path: Page(path.read_text()) for path in sorted(site.resolve().rglob("*.html"))}
    found = []
    for path, page in pages.items():
        if "= parameter(" in re.sub(r"<[^>]+>", "", page.html):
            found.append(f"{path}: a default is shown as a call")
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{path}: loads {link} from outside")
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path)))
            if not parts.path:
                target = path
            elif target.is_dir():
                target /= "index.html"
            # a page that is not found may be asked for at any depth
            if not target.is_file() and path.name != "404.html":
                found.append(f"{path}: there is no {link}")
            elif parts.fragment and target.suffix == ".html" and target.is_file():
                known = unquote(parts.fragment) in pages[target].places
                if not known and not page_state(target, parts.fragment):
                    found.append(f"{path}: there is no place {link}")
    for path in sorted(site.rglob("*.css")):
        links = loaded_by_css(path.read_text())
        found += [f"{path}: loads {each} from outside" for each in links if urlsplit(each).netloc]
    return found


def page_state(target: Path, fragment: str) -> bool:
    """Return whether a fragment is a stored game of the page to play with and not a place."""
    return target.name == "play_page.html" and "=" in fragment


if __name__ == "__main__":
    wrong = [line for folder in sys.argv[1:] for line in faults(Path(folder))]
    sys.exit("\n".join(wrong) or 0)
