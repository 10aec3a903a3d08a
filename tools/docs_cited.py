"""Links of the paper map and the errata: symbols to the API, tests to a page with their source."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from importlib import import_module
from pathlib import Path

from tools.docs_api import public_names

ROOT = Path(__file__).parents[1]
PAGE = "cited_tests.md"

TEST = re.compile(r"`((?:\w+/)*test_\w+\.py)::(\w+)`")
SYMBOL = re.compile(r"`((?:[a-z_]+\.)+\w+(?:\.\w+)*)`")


def linked(text: str) -> str:
    """Return a page whose tables name tests and symbols, with links in place of them.

    >>> linked("| `games.DGv1` | `games/test_rules.py::test_x` |")
    '| [`games.DGv1`][driftgames.games.DGv1] | [`test_x`](cited_tests.md#games-test_rules-test_x) |'
    """
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("| "):
            line = TEST.sub(lambda m: f"[`{m[2]}`]({PAGE}#{_anchor(m[1], m[2])})", line)
            lines[at] = re.sub(rf"(?<!\[){SYMBOL.pattern}", _symbol_link, line)
    return "\n".join(lines)


def cited_page(texts: list[str]) -> str:
    """Return the page with the source of every cited test, and of code that the API leaves out."""
    rows = [line for text in texts for line in text.split("\n") if line.startswith("| ")]
    tests = sorted({match.groups() for row in rows for match in TEST.finditer(row)})
    symbols = {match[1] for row in rows for match in SYMBOL.finditer(row)}
    parts = [
        "# Tests and code that are cited",
        "The [paper map](paper_map.md) and the [errata](errata.md) cite these tests. Their helpers "
        "stand in the files that are named above them.",
    ]
    for file in dict.fromkeys(file for file, _ in tests):
        parts.append(f"## tests/{file}")
        for name in [name for each, name in tests if each == file]:
            parts.append(f"### {_words(name)} {{#{_anchor(file, name)}}}")
            parts.append(f"```python\n{_functions(file)[name]}\n```")
    parts.append("## Code of the reproduction and of certificates")
    for symbol in sorted(each for each in symbols if _identifier(each) is None):
        parts.append(f"### {symbol} {{#{_code_anchor(symbol)}}}")
        source = inspect.getsource(_resolve(symbol))
        parts.append(f"```python\n{inspect.cleandoc(source)}\n```")
    return "\n\n".join([*parts, ""])


def _symbol_link(match: re.Match[str]) -> str:
    symbol = match[1]
    try:
        _resolve(symbol)
    except (AttributeError, ModuleNotFoundError):
        return match[0]  # a file, such as `data.csv`
    identifier = _identifier(symbol)
    if identifier is None:
        return f"[`{symbol}`]({PAGE}#{_code_anchor(symbol)})"
    return f"[`{symbol}`][{identifier}]"


@functools.cache
def _identifier(symbol: str) -> str | None:
    """Return where the API has a symbol, such as ``games.rules.DGv1``; None if it has not."""
    exported = {name: package for package, names in public_names().items() for name in names}
    parts = symbol.split(".")
    for at, part in enumerate(parts):
        if part in exported:
            return ".".join([exported[part], *parts[at:]])
    return None


def _resolve(symbol: str) -> object:
    parts = symbol.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(["driftgames", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(symbol)


@functools.cache
def _functions(file: str) -> dict[str, str]:
    """Return the source of every test of a file, with its decorators."""
    text = (ROOT / "tests" / file).read_text()
    lines = text.splitlines()
    return {
        node.name: "\n".join(
            lines[
                min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1 : node.end_lineno
            ]
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


def _anchor(file: str, name: str) -> str:
    return f"{file.removesuffix('.py').replace('/', '-')}-{name}"


def _code_anchor(symbol: str) -> str:
    return f"code-{symbol.replace('.', '-')}"


def _words(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")
