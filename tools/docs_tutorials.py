"""Tutorials: scripts that become pages, with what they print and draw.

A comment block that begins a paragraph at the left margin is prose, and so is the docstring, whose
first line is the title. All else is code. After each piece of code stand its printed output and the
figures (``.svg``) that it wrote into the working directory.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shutil
import tempfile
from pathlib import Path


def pieces(script: str) -> list[tuple[str, str]]:
    r"""Return the parts of a script in order, each with its kind: prose or code.

    >>> pieces('"Title."\n\n# Some *prose*.\n\nx = 1  # a comment\n')
    [('prose', '# Title'), ('prose', 'Some *prose*.'), ('code', 'x = 1  # a comment')]
    """
    opening = ast.parse(script).body[0]
    title, _, rest = (ast.get_docstring(ast.parse(script)) or "").partition("\n")
    found = [("prose", f"# {title.rstrip('.')}\n{rest}".strip())]
    body = "\n".join(["", *script.splitlines()[opening.end_lineno :], "", ""])
    for paragraph in re.split(r"(?m)^(?=# )(?<=\n\n)((?:#.*\n)+)(?=\n)", body):
        prose = paragraph.startswith("# ") and all(
            line.startswith("#") for line in paragraph.splitlines()
        )
        text = re.sub(r"(?m)^# ?", "", paragraph) if prose else paragraph
        if text.strip():
            found.append(("prose" if prose else "code", text.strip("\n")))
    return found


def page(script: Path, folder: Path) -> str:
    """Run a script in an empty directory, move its figures to ``folder`` and return its page."""
    names: dict[str, object] = {"__name__": "__main__"}
    parts = []
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        for kind, text in pieces(script.read_text()):
            if kind == "prose":
                parts.append(text)
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, str(script), "exec", dont_inherit=True), names)
            parts.append(f"```python\n{text}\n```")
            if printed.getvalue().strip():
                parts.append(f"```text\n{printed.getvalue().rstrip()}\n```")
            for figure in sorted(Path().glob("*.svg")):
                shutil.move(figure, folder / figure.name)
                parts.append(f"![{figure.stem.replace('_', ' ')}]({figure.name})")
    return "\n\n".join([*parts, f"The whole script is [{script.name}]({script.name}).", ""])
