"""The harness: who is timed, what the ratios mean, what a reader sees. Never how long it took."""

from __future__ import annotations

import time
import warnings

import pytest

from bench import harness
from bench.harness import Contestant, race, side_by_side


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


def test_races_stand_side_by_side_with_limits_and_reasons(clock):
    absent = Contestant("peer", lambda: lambda: None, requires=("no_such_module",))
    races = {
        label: race(
            label, [clock.contestant("ours", [0.5], items=n), absent], repeats=1, unit="rounds"
        )
        for label, n in (("N=1", 1), ("N=4", 4))
    }
    wanted = {"wanted, at most": {"N=4": 0.25}, "wanted elsewhere": {"N=9": 1.0}}
    table = side_by_side("time", races, "rounds/s", "s", inverse=True, wanted=wanted)
    assert [column.name for column in table.columns] == ["contestant", "N=1", "N=4"]
    assert table.rows == (
        ("wanted, at most", None, 0.25),
        ("ours", 0.5, 0.125),
        ("peer", None, None),
    )
    assert table.notes == ("peer skipped: No module named 'no_such_module'",)
    ratios = side_by_side("ratios", races, "to ours", "x")
    assert (ratios.rows[0], ratios.notes) == (("ours", 1.0, 1.0), ())


def test_peak_memory_is_the_other_process_alone():
    ballast = bytearray(200_000_000)  # ours; a process that we start must not be charged for it
    small = harness.peak_memory("x = 1")
    large = harness.peak_memory("x = bytearray(100_000_000)")
    assert len(ballast) > 2 * small
    assert large - small + 4_000_000 >= 100_000_000
    assert large < 200_000_000


def test_a_peer_is_not_charged_for_the_memory_of_our_kernels():
    code = "import sys\nfrom bench import boosting, peers\nprint('numba' in sys.modules)"
    assert harness.run_python(code).strip() == "False"


def test_a_measured_process_that_fails_says_so():
    with pytest.raises(RuntimeError, match="code 1: ValueError: no good"):
        harness.run_python("raise ValueError('no good')")
