"""Threads that meet in a kernel: all of them begin, or none, and no one is left behind."""

import threading

import numpy as np
import pytest

from driftgames._kernels.barrier import meet, new_barrier, run_together
from driftgames._kernels.jit import kernel


@kernel
def take_turns(p, n_threads, n_rounds, seen, barrier):
    """Every thread sees what all others have written in the round before."""
    for t in range(n_rounds):
        seen[p, t] = t
        meet(barrier, n_threads)
        for q in range(n_threads):
            if seen[q, t] != t:
                return 0
    return 1


def run(n_threads, n_rounds=200):
    barrier, seen = new_barrier(), np.full((n_threads, n_rounds), -1)
    take_turns(0, 1, 0, seen, barrier)
    return run_together(lambda p: take_turns(p, n_threads, n_rounds, seen, barrier), n_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_wait_for_each_other(n_threads):
    assert run(n_threads) == [1] * n_threads


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_thread_that_cannot_start_leaves_no_other_in_the_barrier(failing, monkeypatch):
    start, started = threading.Thread.start, []

    def start_some(thread):
        if len(started) == failing:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start_some)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            run(3)
    assert not any(thread.is_alive() for thread in started)
    assert run(3) == [1, 1, 1]


def test_an_interruption_waits_for_the_threads(monkeypatch):
    joined, join = [], threading.Thread.join

    def interrupt_once(thread):
        if not joined:
            joined.append(thread)
            raise KeyboardInterrupt
        join(thread)

    threads = threading.active_count()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "join", interrupt_once)
        with pytest.raises(KeyboardInterrupt):
            run(2, 20_000)
    assert threading.active_count() == threads


def test_the_error_of_a_task_is_raised():
    def fail(p):
        if p:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_together(fail, 2)
