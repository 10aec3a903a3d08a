"""How much code there is: files, lines, and lines of code of each package.

``python tools/count_lines.py`` prints a table. Lines of code are lines that hold more than a
docstring, a comment or white space.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "driftgames"
_BLANK = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(text: str) -> int:
    r"""Return the number of lines of code of a file.

    >>> code_lines('"A docstring."\n\nx = 1  # a comment\n# another\ny = 2\n')
    2
    """
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _BLANK:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        # a string that stands alone documents what is around it or before it
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def count(source: Path) -> dict[str, tuple[int, int, int]]:
    """Return files, lines and lines of code of each package below a folder."""
    found: dict[str, tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for path in sorted([*source.rglob("*.py"), *source.rglob("*.pyi")]):
        package = path.relative_to(source).parts[0] if path.parent != source else source.name
        text = path.read_text()
        n_files, n_lines, n_code = found[package]
        found[package] = n_files + 1, n_lines + len(text.splitlines()), n_code + code_lines(text)
    return dict(found)


def main() -> None:
    """Print the table, and the totals."""
    found = count(SOURCE)
    total = tuple(map(sum, zip(*found.values(), strict=True)))
    rows = [*sorted(found.items()), ("total", total)]
    lines = [f"{'package':16}{'files':>8}{'lines':>10}{'code':>10}"]
    lines += [f"{name:16}{n:8,}{n_lines:10,}{code:10,}" for name, (n, n_lines, code) in rows]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
