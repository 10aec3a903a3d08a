import webbrowser

import pytest
import typer
from typer.testing import CliRunner

from driftgames.cli.play import play

app = typer.Typer()
app.command()(play)


@pytest.fixture
def opened(monkeypatch):
    """Collect the addresses that would be opened."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


def test_the_page_is_written_and_opened(tmp_path, monkeypatch, opened):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0, result.output
    assert result.stdout == "Wrote driftgames-play.html.\n"
    written = tmp_path / "driftgames-play.html"
    assert written.read_text("utf-8").startswith("<!doctype html>")
    assert opened == [written.as_uri()]


def test_no_open_opens_nothing(tmp_path, opened):
    result = CliRunner().invoke(app, ["--output", str(tmp_path / "p.html"), "--no-open"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "p.html").is_file()
    assert opened == []


def test_a_missing_browser_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    result = CliRunner().invoke(app, ["--output", str(tmp_path / "p.html")])
    assert result.exit_code == 0
    assert "open the file by hand" in result.stderr


def test_a_bad_output_is_one_clear_line(tmp_path, opened):
    result = CliRunner().invoke(app, ["--output", str(tmp_path / "no" / "p.html")])
    assert result.exit_code == 2
    assert result.stderr == f"error: --output: there is no directory {tmp_path / 'no'}\n"
    assert opened == []
