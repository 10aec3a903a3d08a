"""``driftgames --help``: every command, in one order, each with its whole summary."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from driftgames import __version__
from driftgames.cli.app import SUMMARIES, app


def run(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})


def test_help_lists_every_command_in_order_with_its_summary():
    lines = run("--help").output.partition("Commands:\n")[2].splitlines()
    shown = [tuple(line.strip().split(maxsplit=1)) for line in lines if line.strip()]
    assert shown == list(SUMMARIES.items())
    names = {each.name or each.callback.__name__ for each in app.registered_commands}
    assert names | {group.name for group in app.registered_groups} == set(SUMMARIES)


@pytest.mark.parametrize("command", SUMMARIES)
def test_every_command_explains_itself(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: driftgames {command}" in " ".join(result.output.split())


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "driftgames", "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout == f"driftgames {__version__}\n"


def test_the_version_is_printed():
    assert run("--version").output == f"driftgames {__version__}\n"


@pytest.mark.parametrize(
    "command",
    [[each] for each in SUMMARIES if each not in ("boost", "datasets")]
    + [["boost", each] for each in ("fit", "cv", "predict", "inspect")],
    ids=" ".join,
)
def test_every_example_fits_on_a_line_of_80_columns(command):
    lines = run(*command, "--help").output.splitlines()
    examples = [i for i, line in enumerate(lines) if line.strip().startswith("Example:")]
    assert examples
    assert all(not lines[i + 1].strip() for i in examples)
    assert ("docs/tables.md has all rules" in " ".join(lines)) == (
        command[0] in {"boost", "hedge", "mix", "bandit", "portfolio"}
    )
