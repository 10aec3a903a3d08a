"""Run the snippets of the README and of the pages: ``python tools/docs_snippets.py [--write]``.

The blocks of a page run in order, in one namespace and one empty folder. ``python`` blocks are
code, ``console`` blocks are commands after a ``$``, and a comment ``<!-- python ... -->`` is code
that the reader does not see. A ``text`` block after code, and the lines after a command, are the
output that must come. ``--write`` writes the output of today into the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^<!-- python\n(?P<hidden>.*?)^-->\n"
    r"|^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?"
    r"|^```console\n(?P<commands>.*?)^```\n",
    re.M | re.S,
)


def pages() -> list[Path]:
    """Return the pages that have snippets."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in every if BLOCK.search(page.read_text())]


def renewed(text: str) -> str:
    """Return a page with the output of its snippets as it is now."""
    names: dict[str, object] = {"__name__": "__main__"}

    def renew(block: re.Match[str]) -> str:
        if block["commands"] is not None:
            commands = re.findall(r"^\$ (.*)\n", block["commands"], re.M)
            shown = [f"$ {command}\n{_run(command)}" for command in commands]
            return f"```console\n{''.join(shown)}```\n"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = compile(block["hidden"] or block["code"], "a snippet", "exec", dont_inherit=True)
            exec(code, names)
        if block["output"] is None:
            return block[0]
        return f"```python\n{block['code']}```\n\n```text\n{printed.getvalue()}```\n"

    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        return BLOCK.sub(renew, text)


def _run(command: str) -> str:
    from typer.testing import CliRunner

    from driftgames.cli.app import app

    name, *arguments = shlex.split(command)
    if name != "driftgames":
        raise ValueError(f"a command of a page must be driftgames; got {name}")
    found = CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    if found.exit_code:
        raise ValueError(f"{command} ended with {found.exit_code}: {found.output}")
    return re.sub(r" +$", "", found.stdout, flags=re.M)


if __name__ == "__main__":
    for page in pages():
        before = page.read_text()
        after = renewed(before)
        if before != after:
            print(f"{page}: the output differs")  # noqa: T201
            if "--write" in sys.argv:
                page.write_text(after)
