"""The harness: who is timed, what the ratios mean, what a reader sees. Never how long it took."""

from __future__ import annotations

import io
import json
import sys
import time
import warnings

import pytest
from rich.console import Console
from typer.testing import CliRunner

from driftgames.benchmarks import harness
from driftgames.benchmarks.harness import Column, Contestant, Table, race, render


class Clock:
    """A clock that contestants push, in place of the wall's."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        self.calls = []
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def contestant(self, name, seconds, **options):
        """Return a contestant whose turns take these seconds, the last one for ever."""
        left = list(seconds)

        def turn():
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return Contestant(name, lambda: turn, **options)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_the_best_turn_counts_and_ratios_are_to_the_first_contestant(clock):
    ours = clock.contestant("ours", [9.0, 0.5, 0.75])
    theirs = clock.contestant("theirs", [2.0, 3.0], wanted=3.0)
    table = race("sorting", [ours, theirs], repeats=3)
    assert table.column("best") == [0.5, 2.0]
    assert table.column("to ours") == [1.0, 4.0]
    assert table.column("wanted") == [None, 3.0]
    assert clock.calls == ["ours", "theirs"] * 3


def test_ratios_compare_the_time_per_item(clock):
    ours = clock.contestant("ours", [1.0], items=1000)
    theirs = clock.contestant("theirs", [1.0], items=10)
    table = race("updates", [ours, theirs], unit="updates", repeats=1)
    assert table.column("to ours") == [1.0, 100.0]
    assert table.column("updates/s") == [1000.0, 10.0]


def test_a_contestant_that_has_used_its_patience_takes_no_more_turns(clock):
    slow = clock.contestant("slow", [harness.PATIENCE])
    race("", [clock.contestant("ours", [1.0]), slow], repeats=2)
    assert clock.calls.count("slow") == 1
    assert clock.calls.count("ours") == 2


def test_a_peer_that_does_not_import_is_skipped_with_the_reason(clock):
    def never():
        raise AssertionError("prepared although it does not import")

    peer = Contestant("peer", never, requires=("math", "no_such_module"), wanted=2.0)
    table = race("", [clock.contestant("ours", [1.0]), peer], repeats=1)
    assert table.column("best") == [1.0, None]
    assert table.column("to ours") == [1.0, None]
    assert table.column("note")[1] == "skipped: No module named 'no_such_module'"


def test_a_peer_may_warn_and_ours_may_not():
    def warn():
        warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
        return warn

    ours = Contestant("ours", lambda: lambda: None)
    race("", [ours, Contestant("peer", warn, requires=("math",))], repeats=1)
    with pytest.warns(DeprecationWarning, match="deprecated"):
        race("", [Contestant("ours", warn)], repeats=1)


def test_without_ours_there_are_times_and_no_ratios(clock):
    ours = Contestant("ours", lambda: lambda: None, requires=("no_such_module",))
    table = race("", [ours, clock.contestant("theirs", [2.0])], repeats=1)
    assert table.column("best") == [None, 2.0]
    assert table.column("to ours") == [None, None]


def test_an_error_in_a_contestant_is_not_swallowed():
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        race("", [Contestant("ours", lambda: fail)])


def test_tables_fit_eighty_columns_and_show_their_notes():
    columns = (Column("contestant"), Column("best", "s"), Column("to ours", "x"), Column("note"))
    rows = (
        ("driftgames", 0.0381, 1.0, ""),
        ("scikit-learn AdaBoostClassifier", 4.3, 113.0, "stumps on sparse input, " * 5),
        ("xgboost", None, None, "skipped: No module named 'xgboost'"),
    )
    text = io.StringIO()
    render(Table("a9a", columns, rows, ("200 rounds",)), Console(file=text, width=80))
    lines = text.getvalue().splitlines()
    assert max(len(line) for line in lines) <= 80
    assert "38.1 ms" in text.getvalue()
    assert "113.0x" in text.getvalue()
    assert lines[-1].strip() == "200 rounds"


@pytest.mark.parametrize(
    ("cell", "unit", "text"),
    [
        (2.5e-7, "s", "250 ns"),
        (1.26, "x", "1.26x"),
        (0.004, "%", "0.4 %"),
        (1_234_567, "", "1,234,567"),
        (1.5e9, "B", "1.5 GB"),
        (12.0, "/s", "12.0"),
        (0.0, "s", "0.0 ns"),
    ],
)
def test_cells_are_written_with_their_units(cell, unit, text):
    assert harness.format_cell(cell, unit) == text


def test_peak_memory_is_the_other_process_alone():
    ballast = bytearray(200_000_000)  # ours; a process that we start must not be charged for it
    small = harness.peak_memory("x = 1")
    large = harness.peak_memory("x = bytearray(100_000_000)")
    assert len(ballast) > 2 * small
    assert large - small + 4_000_000 >= 100_000_000
    assert large < 200_000_000


def test_a_measured_process_that_fails_says_so():
    with pytest.raises(RuntimeError, match="code 1: ValueError: no good"):
        harness.run_python("raise ValueError('no good')")


def test_bench_prints_every_table_and_writes_the_raw_numbers(tmp_path, monkeypatch):
    from driftgames.cli import bench

    seen = {}

    class Subject:
        @staticmethod
        def run(*, quick, tell):
            tell("measuring")
            seen["quick"] = quick
            return [Table("a small race", (Column("best", "s"),), ((0.25,),), ("a note",))]

    monkeypatch.setitem(sys.modules, "driftgames.benchmarks.hedge", Subject)
    output = tmp_path / "out.json"
    done = CliRunner().invoke(bench.app, ["hedge", "--quick", "--json", str(output)])
    assert done.exit_code == 0, done.output
    assert "a small race" in done.output
    assert "250 ms" in done.output
    assert "numpy" in done.output
    assert seen == {"quick": True}
    written = json.loads(output.read_text())
    assert written["results"]["hedge"][0]["rows"] == [[0.25]]
    assert written["machine"]["cores"]


def test_bench_refuses_a_directory_that_is_not_there_before_it_measures(tmp_path):
    from driftgames.cli import bench

    done = CliRunner().invoke(bench.app, ["all", "--json", str(tmp_path / "no" / "out.json")])
    assert done.exit_code == 2
    assert "there is no directory" in done.output
