"""Tutorials: scripts that become pages and notebooks, with what they print and draw.

A comment block that begins a paragraph at the left margin is prose, and so is the docstring, whose
first line is the title. All else is code. After each piece of code stand its printed output and the
figures (``.svg``) that it wrote into the working directory.

A piece of prose that begins with ``Answer.`` begins a hidden answer. It goes on to the next heading
or to the next piece that begins with ``Exercise``. A page folds it, a notebook hides its cells.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Piece:
    """A part of a script: ``kind`` is prose or code; what a piece of code printed and drew."""

    kind: str
    text: str
    printed: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)
    hidden: bool = False


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


def executed(script: Path) -> list[Piece]:
    """Run a script in an empty directory and return its parts with what they printed and drew."""
    names: dict[str, object] = {"__name__": "__main__"}
    parts, hidden = [], False
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        for kind, text in pieces(script.read_text()):
            if kind == "prose":
                hidden = text.startswith("Answer.") or (
                    hidden and not text.startswith(("#", "Exercise"))
                )
                parts.append(Piece(kind, text, hidden=hidden))
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, str(script), "exec", dont_inherit=True), names)
            part = Piece(kind, text, printed.getvalue().rstrip(), hidden=hidden)
            for figure in sorted(Path().glob("*.svg")):
                part.figures[figure.name] = figure.read_bytes()
                figure.unlink()
            parts.append(part)
    return parts


def page(script: Path, folder: Path) -> str:
    """Run a script; write its figures and its notebook to ``folder`` and return its page."""
    parts = executed(script)
    lines: list[str] = []
    before = False
    for part in parts:
        if before and (not part.hidden or part.text.startswith("Answer.")):
            lines.append("</details>")
            before = False
        text = part.text
        if part.hidden and not before:
            lines.append('<details class="answer" markdown="1">\n<summary>Answer</summary>')
            text, before = text.removeprefix("Answer.").strip(), True
        if text:
            lines.append(
                _with_bold_number(text) if part.kind == "prose" else f"```python\n{text}\n```"
            )
        if part.printed.strip():
            lines.append(f"```text\n{part.printed}\n```")
        for name, content in part.figures.items():
            (folder / name).write_bytes(content)
            lines.append(f"![{Path(name).stem.replace('_', ' ')}]({name})")
    if before:
        lines.append("</details>")
    (folder / f"{script.stem}.ipynb").write_text(
        json.dumps(notebook(parts), indent=1, ensure_ascii=False) + "\n"
    )
    end = (
        f"The whole script is [{script.name}]({script.name}), and the notebook with its output is "
        f"[{script.stem}.ipynb]({script.stem}.ipynb)."
    )
    return "\n\n".join([*lines, end, ""])


def _with_bold_number(text: str) -> str:
    return re.sub(r"^(Exercise \d+\.)", r"**\1**", text)


def notebook(parts: list[Piece]) -> dict[str, Any]:
    """Return an executed notebook of the format nbformat 4; cells of answers are folded."""
    cells: list[dict[str, Any]] = []
    count = 0
    for at, part in enumerate(parts):
        cell: dict[str, Any] = {
            "cell_type": "markdown" if part.kind == "prose" else "code",
            "id": f"cell-{at}",
            "metadata": {},
            "source": part.text.splitlines(keepends=True),
        }
        if part.hidden:
            cell["metadata"] = {"tags": ["answer"]}
        if part.kind == "prose":
            text = _with_bold_number(_for_notebooks(part.text))
            if part.text.startswith("Answer."):
                words = text.removeprefix("Answer.").strip()
                text = f"<details><summary>Answer</summary>\n\n{words}\n\n</details>"
            cell["source"] = text.splitlines(keepends=True)
        else:
            count += 1
            cell |= {"execution_count": count, "outputs": _outputs(part)}
        if part.hidden and part.kind == "code":
            cell["metadata"]["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
        cells.append(cell)
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _outputs(part: Piece) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []
    if part.printed.strip():
        text = f"{part.printed}\n".splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    for name, content in part.figures.items():
        svg = content.decode()
        data = {
            "image/svg+xml": svg[svg.index("<svg") :].splitlines(keepends=True),
            "text/plain": [f"<{name}>"],
        }
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def _for_notebooks(text: str) -> str:
    """Return prose with formulas between dollars, as notebooks read them; links lose their pages.

    >>> _for_notebooks("so $`x^2`$, see [errata](../errata.md)")
    'so $x^2$, see errata'
    """
    text = re.sub(r"\$`([^`]+)`\$", r"$\1$", text)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", text)
