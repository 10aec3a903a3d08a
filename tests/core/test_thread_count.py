"""How many threads a call uses, and that workers do not use more than their share."""

import sys
import threading
from types import SimpleNamespace

import pytest
from joblib import Parallel, delayed

from driftgames.core.threads import count_threads, open_threads


@pytest.fixture(autouse=True)
def four_processors(monkeypatch):
    monkeypatch.setattr("driftgames.core.threads.count_processors", lambda: 4)


def test_threads_are_at_most_as_many_as_processors():
    assert [count_threads(n) for n in (None, 3, 10_000, -1, -2, -9)] == [1, 3, 4, 4, 3, 1]


@pytest.mark.parametrize("n_jobs", [0, 2**63, 1.0, "2", True])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        count_threads(n_jobs)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_worker_of_joblib_uses_one_thread(n_workers):
    run = Parallel(n_jobs=n_workers, backend="threading")
    assert run([delayed(count_threads)(3)] * 2) == [3 if n_workers == 1 else 1] * 2


def test_a_worker_of_dask_uses_one_thread(monkeypatch):
    def outside():
        raise ValueError("No worker found")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=outside))
    assert count_threads(3) == 3
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=object))
    assert count_threads(3) == 1


def test_an_interruption_that_breaks_a_lock_is_raised_as_one():
    """A wait that is interrupted at the wrong moment does not take its lock back."""
    condition = threading.Condition()

    def wait():
        with condition:
            condition.release()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_threads(1):
        wait()
