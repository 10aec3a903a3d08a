"""A Markdown extension that reads the pages and the docstrings of the project.

It turns formulas into MathML when the site is built: ``.. math::`` and ``:math:`` in docstrings,
``$$`` and ``$`...`$`` in pages. It reads reStructuredText's citations, literal blocks and
doctests, and it links public names in backticks to their entry in the API.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

from tools.docs_api import homes

FENCE = re.compile(r"^(?P<fence> *(?:`{3,}|~{3,})).*?^(?P=fence)[`~]* *$", re.M | re.S)
DIRECTIVE = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<tex>.*(?:\n(?P=indent) +\S.*|\n(?= *\n(?P=indent) +\S))*)", re.M
)
DISPLAY = re.compile(r"^(?P<indent> *)\$\$(?P<tex>.+?)\$\$ *$", re.M | re.S)
CITATION = re.compile(r"^( *)\.\. \[(\w+)\] (.*(?:\n\1 +\S.*)*)", re.M)
DOCTEST = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent) *\S.*)*", re.M)
LITERAL = re.compile(r"::\n(?P<body>(?: *\n)+(?P<indent> +)\S.*(?:\n(?:(?P=indent).*| *(?=\n)))*)")


def mathml(tex: str, display: str = "inline") -> str:
    """Return a formula as MathML.

    >>> mathml("x^2")[:58]
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="'
    """
    tex = re.sub(r"\s+", " ", tex).strip().replace(r"\arg", r"\operatorname{arg}")
    found = convert(tex, display=display)
    if unread := re.findall(r"\\[A-Za-z]+", re.sub(r"<[^>]*>", " ", found)):
        raise ValueError(f"the formula {tex} has commands that are unknown: {unread}")
    return found


class Blocks(Preprocessor):
    """Displayed formulas, citations, doctests and literal blocks, outside of fences."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines with these blocks as Markdown or as HTML that is kept."""
        text, kept, at = "\n".join(lines), [], 0
        for fence in FENCE.finditer(text):
            kept += [self._read(text[at : fence.start()]), fence[0]]
            at = fence.end()
        return "".join([*kept, self._read(text[at:])]).split("\n")

    def _read(self, text: str) -> str:
        text = DIRECTIVE.sub(self._formula, text)
        text = DISPLAY.sub(self._formula, text)
        text = CITATION.sub(r"\1[\2] \3", text)
        text = DOCTEST.sub(self._doctest, text)
        return LITERAL.sub(self._literal, text)

    def _formula(self, match: re.Match[str]) -> str:
        held = self.md.htmlStash.store(
            f'<div class="formula">{mathml(match["tex"], "block")}</div>'
        )
        return f"\n\n{match['indent']}{held}\n\n"

    @staticmethod
    def _doctest(match: re.Match[str]) -> str:
        return f"{match['indent']}```pycon\n{match[0]}\n{match['indent']}```"

    @staticmethod
    def _literal(match: re.Match[str]) -> str:
        body = textwrap.dedent(match["body"].strip("\n"))
        outer = match["indent"][:-4]
        return ":\n\n" + textwrap.indent(f"```text\n{body}\n```", outer)


class Formula(InlineProcessor):
    """A formula within a line."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: N802
        """Return what stands in its place."""
        return self.md.htmlStash.store(mathml(m[1])), m.start(0), m.end(0)


class Name(InlineProcessor):
    """A public name in backticks."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # noqa: N802
        """Return what stands in its place."""
        link = Element("autoref", identifier=homes()[m[1]])
        code = Element("code")
        code.text = m[1]
        link.append(code)
        return link, m.start(0), m.end(0)


class ProjectMarkdown(Extension):
    """What pages and docstrings of the project may hold beyond plain Markdown."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register what reads blocks and lines."""
        md.preprocessors.register(Blocks(md), "project blocks", 29)  # before fences
        names = "|".join(sorted(map(re.escape, homes()), key=len, reverse=True))
        inline = md.inlinePatterns
        inline.register(Formula(r":math:`([^`]+)`", md), "role", 196)
        inline.register(Formula(r"\$`([^`]+)`\$", md), "dollars", 195)
        inline.register(Name(rf"(?<!`)`({names})`(?!`)", md), "names", 194)
        inline.register(Citation(r"\[(\w+)\]_", md), "citation", 193)


class Citation(InlineProcessor):
    """A citation of reStructuredText, without its underscore."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: N802
        """Return what stands in its place."""
        return f"[{m[1]}]", m.start(0), m.end(0)


def makeExtension(**settings: Any) -> ProjectMarkdown:  # noqa: N802
    """Return the extension, as Markdown asks for it."""
    return ProjectMarkdown(**settings)
