"""``python -m bench``: its help, its tables, its file."""

import json
import sys
import tomllib
from pathlib import Path

from typer.testing import CliRunner

from bench.__main__ import PEERS, app
from bench.accuracy_options import AccuracyOptions
from driftgames.tables import Column, Table

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_help_says_which_peers_the_extra_does_not_bring():
    extra = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["bench"]
    brought = {line.partition(">=")[0].lower() for line in extra}
    others = {name for names in PEERS.values() for name in names if name.lower() not in brought}
    shown = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    assert f"brings all but {', '.join(sorted(others))}." in shown


def test_every_table_is_printed_and_the_raw_numbers_are_written(tmp_path, monkeypatch):
    seen = {}

    class Subject:
        @staticmethod
        def run(*, quick, tell):
            tell("measuring")
            seen["quick"] = quick
            return [Table("a small race", (Column("best", "s"),), ((0.25,),), ("a note",))]

    monkeypatch.setitem(sys.modules, "bench.hedge", Subject)
    output = tmp_path / "out.json"
    done = CliRunner().invoke(app, ["hedge", "--quick", "--json", str(output)])
    assert done.exit_code == 0, done.output
    assert "a small race" in done.output
    assert "250 ms" in done.output
    assert "numpy" in done.output
    assert seen == {"quick": True}
    written = json.loads(output.read_text())
    assert written["results"]["hedge"][0]["rows"] == [[0.25]]
    assert written["machine"]["cores"]


def test_bad_arguments_are_refused_before_anything_is_measured(tmp_path):
    done = CliRunner().invoke(app, ["all", "--json", str(tmp_path / "no" / "out.json")])
    assert done.exit_code == 2
    assert "there is no directory" in done.output
    done = CliRunner().invoke(app, ["everything"])
    assert done.exit_code == 2
    assert f"{', '.join(PEERS)}, all; got 'everything'" in " ".join(done.output.split())


def test_all_subjects_do_not_share_one_file_of_results(tmp_path):
    done = CliRunner().invoke(app, ["all", "--results", str(tmp_path / "rows.jsonl")])
    assert done.exit_code == 2
    assert "--results must be left out with all" in " ".join(done.output.split())


def test_a_section_must_be_one_of_its_subject():
    for subject, told in (
        ("boost_speed", "--only must be one of stumps, trees, threads, default, classes"),
        ("noise", "--only must be left out with noise; got 'roots'"),
    ):
        done = CliRunner().invoke(app, [subject, "--only", "roots"])
        assert done.exit_code == 2
        assert told in " ".join(done.output.split())


def test_options_of_accuracy_reach_it_and_no_other_subject(tmp_path, monkeypatch):
    seen = {}

    class Subject:
        @staticmethod
        def run(*, quick, tell, options):
            tell("measuring iris")
            seen["options"] = options
            return []

    monkeypatch.setitem(sys.modules, "bench.accuracy", Subject)
    done = CliRunner().invoke(app, ["accuracy", "--sets", "iris", "--only-report"])
    assert done.exit_code == 0, done.output
    assert "measuring iris" in done.output  # lines, because no terminal shows them
    assert seen["options"] == AccuracyOptions(sets="iris", only_report=True)
    done = CliRunner().invoke(app, ["hedge", "--only-report"])
    assert done.exit_code == 2
    assert (
        "--only-report is for accuracy, large, tuned, regression; got SUBJECT 'hedge'"
        in " ".join(done.output.split())
    )
