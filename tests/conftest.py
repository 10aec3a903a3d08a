"""Two Hypothesis profiles, no clock in a test, and the folder of the data sets.

``driftgames`` is the default and draws the same examples on every machine. ``random`` draws
fresh ones: ``make test-random`` sets HYPOTHESIS_PROFILE to it, names the seed, and a failure
prints the ``@reproduce_failure`` line that brings the example back.

Tests on the paper's sets read them from the folder that DRIFTGAMES_DATA names. Default:
``../shared/data`` beside the repository. They skip if there is no such folder.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from driftgames.core.documents import write_document

gc.disable()  # until all tests are collected: thousands of modules and tests, and no garbage

# Workers of the test run share the cores: OpenMP threads of scikit-learn would wait by spinning.
os.environ.setdefault("OMP_NUM_THREADS", "1")

NO_CLOCK = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("driftgames", derandomize=True, print_blob=False, **NO_CLOCK)
settings.register_profile("random", derandomize=False, print_blob=True, **NO_CLOCK)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "driftgames"))

DATA = Path(
    os.environ.get("DRIFTGAMES_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


@pytest.fixture(scope="session")
def shared_data():
    if not DATA.is_dir():
        pytest.skip(f"no data at {DATA}")
    return DATA


@pytest.fixture
def rewrite():
    """Return a function that changes a document's content and makes its sha256 match again."""

    def change(path, changing):
        document = json.loads(path.read_text())
        changing(document["content"])
        write_document(path, document["format"], document["version"], document["content"])

    return change


class ForkServer:
    """A process of tests/fork_server.py, and the processes that it forks."""

    def __init__(self):
        self._connection, other = socket.socketpair()
        self._connection.settimeout(120)  # a process that does not end is a failure
        program = [sys.executable, str(Path(__file__).with_name("fork_server.py"))]
        number = other.fileno()
        null = dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL)
        self._process = subprocess.Popen([*program, str(number)], pass_fds=[number], **null)
        other.close()

    def start(self, code, *arguments, before="", stderr=None):
        """Start a process that runs Python code; ``before`` runs once, in the server."""
        (read, theirs_out), (theirs_in, write) = os.pipe(), os.pipe()
        request = {"before": before, "code": code, "arguments": [*map(str, arguments)]}
        files = [theirs_in, theirs_out, *([] if stderr is None else [stderr.fileno()])]
        socket.send_fds(self._connection, [json.dumps(request).encode()], files)
        os.close(theirs_in)
        os.close(theirs_out)
        pid = int(self._connection.recv(100))
        return Forked(self, pid, os.fdopen(write, "w"), os.fdopen(read))

    def wait(self, pid):
        self._connection.send(json.dumps({"wait": pid}).encode())
        return int(self._connection.recv(100))

    def close(self):
        self._connection.close()
        self._process.wait()


class Forked:
    """A process with a standard input to write to and a standard output to read from."""

    def __init__(self, server, pid, stdin, stdout):
        self._server, self._pid, self.stdin, self.stdout = server, pid, stdin, stdout

    def wait(self):
        """Return the exit code when the process has ended."""
        code = self._server.wait(self._pid)
        self.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        return code

    def kill(self):
        """End the process with SIGKILL, if it has not ended."""
        if not self.stdout.closed:
            os.kill(self._pid, signal.SIGKILL)
            self.wait()


@pytest.fixture(scope="session")
def fork_server():
    """Start processes that need not import the library."""
    if not hasattr(os, "fork"):
        pytest.skip("processes are not forked here")
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def one_turn():
    """Fit each booster of the paper's tables once: these tests do not look at its seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LEAST_TURNS", "MOST_TURNS"):
            patch.setattr(f"driftgames.paper.boosting.{name}", 1)
        yield


LONGEST = (
    "tests/test_golden.py",
    "tests/theorems/test_games.py",
    "tests/hedge/rounds/test_learners.py",
    "tests/play/test_browser.py",
    "tests/boosting/estimators/test_sklearn_checks.py",
    "tests/bench/test_subjects.py",
    "tests/paper/test_published.py",
    "tests/dask/test_dask.py",
)
"""Files that take longest: they start first, so that no worker ends with one of them alone.

The published table comes before the figures, which find its fits. Dask comes last: by then its
worker processes find the compiled code of the boosters.
"""


def pytest_collection_modifyitems(items):
    """Put the tests of the longest files first; the order of the others stays."""
    rank = {name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.split("::")[0], len(LONGEST)))


def pytest_collection_finish():
    """Let garbage collections begin, and pass over what the collection of tests has made."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def _pass_over_older_files():
    """Let garbage collections pass over what the files before have left: modules, kernels."""
    gc.freeze()
