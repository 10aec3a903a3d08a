"""``driftgames bench``: its help says what the extra brings."""

import tomllib
from pathlib import Path

from typer.testing import CliRunner

from driftgames.cli.bench import PEERS, app

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_help_says_which_peers_the_extra_does_not_bring():
    extra = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["bench"]
    brought = {line.partition(">=")[0].lower() for line in extra}
    others = {name for names in PEERS.values() for name in names if name.lower() not in brought}
    shown = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    assert f"brings all but {', '.join(sorted(others))}." in shown
