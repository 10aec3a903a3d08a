import io

import pytest

from driftgames.core import progress as module
from driftgames.core.progress import Words, progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def steps(monkeypatch, stream, patience, **options):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "PATIENCE", patience)
    with progress("playing", 3, "rounds", **options) as advance:
        for _ in range(3):
            advance(1)
    return stream.getvalue()


def test_a_terminal_sees_a_bar_with_unit_and_end_once_work_takes_long(monkeypatch):
    shown = steps(monkeypatch, Terminal(), patience=-1.0)
    assert "playing" in shown
    assert "1 of 3 rounds" in shown
    assert "1 of at most 3 rounds" in steps(monkeypatch, Terminal(), patience=-1.0, at_most=True)


def test_short_work_a_file_and_silence_see_none(monkeypatch):
    assert "playing" not in steps(monkeypatch, Terminal(), patience=60.0)
    assert steps(monkeypatch, io.StringIO(), patience=-1.0) == ""
    assert steps(monkeypatch, Terminal(), patience=-1.0, show=False) == ""


def test_a_bar_fits_into_80_columns(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "PATIENCE", -1.0)
    monkeypatch.setenv("COLUMNS", "80")
    with progress("finding categories", 10_000_000, "rows") as advance:
        advance(1_234_567)
    assert "1,234,567 of 10,000,000 rows  0 s left" in stream.getvalue()


def test_a_bar_within_the_work_of_another_stays_silent(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "PATIENCE", -1.0)
    with progress("outer", 2, "folds") as outer:
        outer(1)
        with progress("inner", 2, "rounds") as inner:
            inner(1)
    assert "outer" in stream.getvalue()
    assert "inner" not in stream.getvalue()
    assert not module._on_screen


@pytest.mark.parametrize(
    ("done", "seconds", "left"),
    [(0, 5.0, ""), (9, 5.0, ""), (10, 5.0, "45 s left"), (50, 600.0, "10 min left")],
)
def test_the_rest_is_estimated_from_a_tenth_on(done, seconds, left):
    assert Words("playing", 100, "rounds").left(done, seconds) == left
    assert Words("playing", None, "rounds").left(done, seconds) == ""


def test_without_standard_error_there_is_none_and_no_error(monkeypatch):
    closed = Terminal()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        with progress("playing", 3, "rounds") as advance:
            advance(3)
