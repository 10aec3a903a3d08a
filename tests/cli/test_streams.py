"""A standard stream that is closed, and an interrupt before the first command."""

import os
import subprocess
import sys

import pytest

from driftgames.cli import main
from driftgames.cli._tables import open_table
from driftgames.datasets.files import DataError

posix = pytest.mark.skipif(os.name != "posix", reason="closes streams by their numbers")


def run(code, *closed):
    """Run Python code where the streams of these numbers are closed."""

    def close():
        for number in closed:
            os.close(number)

    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=close, timeout=60)


@posix
def test_a_closed_standard_error_is_replaced_so_that_no_file_takes_its_number():
    code = (
        "import os, sys; from driftgames.cli import _replace_missing_streams as replace; replace();"
        "sys.stderr.write('ε'); sys.stderr.flush();"
        "print(os.path.samestat(os.fstat(2), os.stat(os.devnull)), open(os.devnull).fileno() > 2)"
    )
    for closed in [(2,), (0, 2)]:
        result = run(code, *closed)
        assert (result.returncode, result.stdout) == (0, "True True\n")


@posix
def test_a_command_without_standard_output_says_that_nothing_is_shown():
    version = "import sys; sys.argv = ['driftgames', '--version']\n"
    code = f"{version}from driftgames.cli import main\nmain()"
    result = run(code, 1)
    assert result.returncode == 0
    assert result.stderr == "standard output is closed: results are not shown\n"
    assert run(code, 0, 1, 2).returncode == 0


def test_a_closed_standard_input_is_named(monkeypatch, tmp_path):
    closed = (tmp_path / "closed").open("w")
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(DataError, match="standard input is closed"), open_table("-"):
            pass


def test_an_interrupt_outside_a_command_ends_without_a_traceback(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("driftgames.cli.app.app", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "stopped\n"
