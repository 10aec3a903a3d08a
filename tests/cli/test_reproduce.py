import json

import pytest
import typer
from typer.testing import CliRunner

from driftgames.cli.reproduce import reproduce

pytestmark = pytest.mark.usefixtures("one_turn")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    app = typer.Typer()
    app.command()(reproduce)

    def run(*arguments):
        return CliRunner().invoke(app, arguments)

    return run


def numbers(folder):
    """All that does not depend on the clock."""
    content = json.loads((folder / "results.json").read_text())
    (table,) = content["sections"][0]["tables"]
    timed = [c["group"] for c in table["columns"]].index("Time (s)")
    return [row[:timed] + row[timed + 1 :] for row in table["rows"]]


def test_table_3_on_one_set_and_its_files(run, tmp_path):
    arguments = ("--only", "table3", "--sets", "digits49", "--rounds", "5", "--output", "mine")

    first = run(*arguments)

    assert first.exit_code == 0, first.output
    assert "NH-Boost.DT 4(t-1)" in first.stdout  # the table, into a pipe too
    assert "- Run on digits49." in first.stdout
    assert "4 tasks, " in first.stdout
    assert first.stderr == ""
    assert (tmp_path / "mine" / "index.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "mine" / "csv" / "table3.csv").is_file()
    before = numbers(tmp_path / "mine")

    second = run(*arguments)
    assert "4 tasks, 4 of them done before" in second.stdout

    third = run(*arguments, "--fresh")
    assert "done before" not in third.stdout
    assert numbers(tmp_path / "mine") == before


def test_what_could_not_be_downloaded_is_one_line(run, tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DRIFTGAMES_DATA", raising=False)
    monkeypatch.setattr("driftgames.paper.sets.answering", lambda urls: frozenset())

    lines = run("--only", "table2").stderr.splitlines()

    assert lines == [
        "could not get a9a, census, ocr49, splice, w8a: no host answered; is there a network?"
    ]
    assert run("--only", "table2", "--offline").stderr == ""


def test_figures_on_one_set(run, tmp_path):
    result = run("--only", "figure1,figure2", "--sets", "digits49", "--rounds", "4")

    assert result.exit_code == 0, result.output
    assert (tmp_path / "report" / "index.html").read_text().count('<svg role="img"') == 2


def test_interruption_ends_with_one_line_and_code_130(run, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("driftgames.paper.reproduce.reproduce", interrupt)

    result = run("--only", "table2", "--sets", "digits49")

    assert result.exit_code == 130
    assert result.stderr == "stopped; the same command goes on from here\n"
    assert not (tmp_path / "report" / "index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "table9"), "experiment must be one of table2"),
        (("--sets", "iris"), "set must be one of a9a"),
        (("--only", ""), "--only must name at least one; got ''"),
        (("--sets", " , "), "--sets must name at least one; got ' , '"),
        (("--data", "no/such/folder"), "directory must be a folder that exists"),
    ],
)
def test_bad_input_is_one_clear_line_and_code_2(run, arguments, message):
    result = run(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_rounds_must_be_positive(run):
    assert run("--rounds", "0").exit_code == 2
