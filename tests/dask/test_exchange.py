"""The clock of an answer: it stands still while a worker compiles, up to a limit."""

import pytest

pytest.importorskip("dask")
from driftgames.dask import exchange

WORKER = "tcp://worker"


class _Clock:
    """A clock that only waiting moves."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class _Answer:
    """A future that has its result at a given time."""

    def __init__(self, clock, value, ready=0.0):
        self._clock, self._value, self._ready = clock, value, ready

    def result(self, timeout):
        if self._clock.now + timeout < self._ready:
            self._clock.sleep(timeout)
            raise TimeoutError
        self._clock.now = max(self._clock.now, self._ready)
        return self._value


class _Worker:
    """A cluster of one worker, which compiles until a given time and has a heart that beats."""

    status, scheduler = "running", type("Scheduler", (), {"identity": None})

    def __init__(self, clock, compiled):
        self._clock, self._compiled = clock, compiled

    def sync(self, function, callback_timeout):
        return {"workers": {WORKER: {"last_seen": self._clock.now}}}

    def compiles(self):
        return _Answer(self._clock, self._clock.now < self._compiled)


@pytest.mark.parametrize(
    ("compiled", "ready", "lost_after"),
    [
        (0, 5, None),
        (0, 20, 7),
        (90, 95, None),
        (90, 120, 97),
        (1e9, 1e9, exchange.MOST_COMPILATION + 7),
    ],
    ids=["prompt", "silent", "compiles", "compiles, then silent", "compiles forever"],
)
def test_the_clock_starts_when_the_worker_has_compiled(compiled, ready, lost_after, monkeypatch):
    clock = _Clock()
    monkeypatch.setattr(exchange, "time", clock)
    worker = _Worker(clock, compiled)
    watch = exchange.ClusterWatch(worker, timeout=6)
    answer = _Answer(clock, "answer", ready)
    if lost_after is None:
        assert watch.result(answer, WORKER, worker, 1) == "answer"
        return
    with pytest.raises(exchange._LostError):
        watch.result(answer, WORKER, worker, 1)
    assert abs(clock.now - lost_after) <= exchange.PATIENCE
