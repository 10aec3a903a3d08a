"""A file that a command keeps is for one process at a time."""

import os

import pytest
from typer.testing import CliRunner

from driftgames.cli.app import app
from driftgames.core.locks import sole_writer

COMMANDS = {
    "hedge": ["hedge", "table.csv", "--state", "kept.json"],
    "mix": ["mix", "table.csv", "--target", "a", "--state", "kept.json"],
    "portfolio": ["portfolio", "--demo", "--save", "kept.json"],
    "boost": ["boost", "fit", "table.csv", "--rounds", "1", "--model", "kept.json"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_second_command_stops_at_once_and_says_why(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a,b\n0.1,0.2\n")
    with sole_writer("kept.json"):
        result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "error: kept.json: another process works with it" in result.stderr
    assert os.listdir(tmp_path) == ["table.csv"]
