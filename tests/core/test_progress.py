import io

from driftgames.core import progress as module
from driftgames.core.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def steps(monkeypatch, stream, patience, **options):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "PATIENCE", patience)
    with progress("rounds", 3, **options) as advance:
        for _ in range(3):
            advance(1)
    return stream.getvalue()


def test_a_terminal_sees_a_bar_once_work_takes_long(monkeypatch):
    assert "rounds" in steps(monkeypatch, Terminal(), patience=-1.0)


def test_short_work_a_file_and_silence_see_none(monkeypatch):
    assert "rounds" not in steps(monkeypatch, Terminal(), patience=60.0)
    assert steps(monkeypatch, io.StringIO(), patience=-1.0) == ""
    assert steps(monkeypatch, Terminal(), patience=-1.0, show=False) == ""


def test_without_standard_error_there_is_none_and_no_error(monkeypatch):
    closed = Terminal()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        with progress("rounds", 3) as advance:
            advance(3)
