"""Threads that meet in a kernel: all of them begin, or none, and no one is left behind."""

import signal
import threading
import time
from types import SimpleNamespace

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
    for thread in started:
        thread.join(10.0)
    assert not any(thread.is_alive() for thread in started)
    assert run(3) == [1, 1, 1]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="threads have no signals here")
def test_an_interruption_waits_for_the_threads():
    ended = []

    def task(p):
        if p == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # wakes its wait
        time.sleep(0.3)
        ended.append(p)

    # a suite that a shell runs in the background ignores SIGINT
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_together(task, 2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(ended) == [0, 1]


def test_threads_that_are_never_let_begin_go_away(monkeypatch):
    """An interruption may come just before the gate is opened."""
    started, ran = [], []

    class Interrupted(threading.Event):
        def set(self):
            raise KeyboardInterrupt

    class Seen(threading.Thread):
        def __init__(self, **settings):
            super().__init__(**settings)
            started.append(self)

    parts = SimpleNamespace(Event=Interrupted, Thread=Seen)
    monkeypatch.setattr("driftgames._kernels.barrier.threading", parts)
    with pytest.raises(KeyboardInterrupt):
        run_together(ran.append, 2)
    for thread in started:
        thread.join(10.0)
    assert [thread.is_alive() for thread in started] == [False, False]
    assert ran == []


def test_the_error_of_a_task_is_raised():
    def fail(p):
        if p:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_together(fail, 2)
