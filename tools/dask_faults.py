"""Fits on a cluster whose workers are killed, paused and restarted: the same model each time.

``python tools/dask_faults.py --kills 50`` fits on four worker processes, and a thread kills one
of them with SIGKILL at a drawn moment, again and again. Then, in the middle of a fit, a worker is
paused with SIGSTOP for less than the time limit and for more, one is restarted, one that joined
late takes over, and at last the scheduler dies, which must end the fit with an error. Every model
file must equal that of a fit in memory byte for byte. No fit may take longer than the stated limit.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import dask.array as da
import numpy as np
import typer
from distributed import Client, LocalCluster

import dask
from driftgames.dask import DaskNHBoostClassifier, DaskNHBoostDTClassifier
from driftgames.dask.exchange import ActorExchange

LIMIT = 600.0
"""Seconds that a fit may take, with all that is done to its workers."""

N_ROWS, ROUNDS = 20_000, 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 6))
Y = X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=N_ROWS) > 0
CASES: list[tuple[type[Any], dict[str, Any]]] = [
    (DaskNHBoostDTClassifier, {"calibrate": False}),
    (DaskNHBoostDTClassifier, {"calibrate": False, "max_depth": 3}),
    (DaskNHBoostClassifier, {"calibrate": False}),
]


def collections(n_partitions: int) -> tuple[Any, Any]:
    """Return the examples in partitions of uneven sizes."""
    ends = sorted(random.sample(range(N_ROWS), n_partitions - 1))
    sizes = tuple(np.diff([0, *ends, N_ROWS]).tolist())
    return da.from_array(X, chunks=(sizes, 6)), da.from_array(Y, chunks=(sizes,))


def fit(
    kind: type[Any],
    settings: dict[str, Any],
    parts: int,
    harm: Callable[[], Any] | None = None,
    timeout: float = 120.0,
) -> tuple[float, int]:
    """Fit while a thread does ``harm``; check the model and the time."""
    done = threading.Event()

    def work() -> None:
        while harm is not None and not done.wait(random.uniform(0.1, 4.0)):
            harm()

    thread = threading.Thread(target=work, daemon=True)
    begun = time.monotonic()
    thread.start()
    try:
        model = kind(ROUNDS, timeout=timeout, **settings).fit(*collections(parts))
    finally:
        done.set()
        thread.join()
    seconds = time.monotonic() - begun
    check(model, kind, settings, seconds)
    return seconds, model.exchange_.n_lost


def check(model: Any, kind: type[Any], settings: dict[str, Any], seconds: float) -> None:
    """End the program unless the model is that of a fit in memory, and came in time."""
    local = kind.__mro__[2](model.n_estimators, **settings).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "cluster"))
        local.save(Path(folder, "memory"))
        same = Path(folder, "cluster").read_bytes() == Path(folder, "memory").read_bytes()
    if not same or seconds > LIMIT:
        sys.exit(f"{kind.__name__} {settings}: same={same}, {seconds:.1f} s")


def signal_worker(client: Client, number: int, address: str | None = None) -> int | None:
    """Send a signal to a worker, by default a drawn one; return its process, None without one."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if address is None and len(workers) < 2:
        return None
    address = address or random.choice(list(workers))
    pids = client.run(os.getpid, workers=[address], on_error="ignore")
    if not pids:
        return None
    os.kill(pids[address], number)
    return int(pids[address])


def kills(client: Client, n_kills: int) -> None:
    """Kill workers until ``n_kills`` have died."""
    killed: list[int] = []

    def kill() -> None:
        pid = signal_worker(client, signal.SIGKILL)
        if pid is not None:
            killed.append(pid)

    n_fits, n_lost, longest = 0, 0, 0.0
    while len(killed) < n_kills:
        kind, settings = CASES[n_fits % len(CASES)]
        seconds, lost = fit(kind, settings, 2 + n_fits % 12, kill)
        n_fits, n_lost, longest = n_fits + 1, n_lost + lost, max(longest, seconds)
        typer.echo(
            f"  fit {n_fits}: {seconds:.1f} s, {len(killed)} kills so far, {lost} holders lost"
        )
    typer.echo(
        f"{len(killed)} kills in {n_fits} fits: {n_lost} holders lost, all models the same, "
        f"longest fit {longest:.1f} s"
    )


@contextmanager
def at_questions(turns: dict[int, Callable[[Any], Any]]) -> Iterator[None]:
    """Call ``turns[n]`` with the exchange before question ``n`` of a fit."""
    ask, asked = ActorExchange.ask_each, []

    def watched(self: Any, *questions: Any) -> Any:
        asked.append(questions)
        if len(asked) in turns:
            turns.pop(len(asked))(self)
        return ask(self, *questions)

    ActorExchange.ask_each = watched  # type: ignore[method-assign]
    try:
        yield
    finally:
        ActorExchange.ask_each = ask  # type: ignore[method-assign]
    if turns:
        sys.exit(f"the fit was over before the questions {sorted(turns)}")


def holder(client: Client, number: int, later: float | None = None) -> Callable[[Any], None]:
    """Return what sends a signal to a worker that holds rows, and wakes it ``later``."""

    def act(exchange: Any) -> None:
        pid = signal_worker(client, number, exchange._holders[0].address)
        if later is not None and pid is not None:
            threading.Timer(later, wake, (pid,)).start()

    def wake(pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    return act


def single_faults() -> None:
    """Pause, restart and add workers, once each, on clusters of their own."""
    pause = signal.SIGSTOP

    def restart(client: Client) -> Callable[[Any], None]:
        return lambda exchange: client.restart_workers([exchange._holders[0].address])

    for title, make, timeout, least in [
        ("a worker paused for 5 s", lambda client: holder(client, pause, 5.0), 120.0, 0),
        ("a worker paused beyond the limit", lambda client: holder(client, pause, 9.0), 5.0, 1),
        ("a worker restarted", restart, 120.0, 1),
    ]:
        with cluster_of(4) as (_, client), at_questions({random.randrange(5, 60): make(client)}):
            seconds, lost = fit(*CASES[0], 7, timeout=timeout)
        if lost < least:
            sys.exit(f"{title}: no worker was lost")
        typer.echo(f"{title}: the same model in {seconds:.1f} s, {lost} lost")

    def join(exchange: Any) -> None:
        cluster.scale(3)
        client.wait_for_workers(3, timeout=LIMIT)

    def leave(exchange: Any) -> None:
        for held in exchange._holders:
            signal_worker(client, signal.SIGKILL, held.address)

    with cluster_of(2) as (cluster, client), at_questions({20: join, 50: leave}):
        seconds, lost = fit(*CASES[0], 7)
    title = "a worker joined late, and the two others died"
    typer.echo(f"{title}: the same model in {seconds:.1f} s, {lost} lost")


@contextmanager
def cluster_of(n_workers: int) -> Iterator[tuple[Any, Client]]:
    """Give a cluster of processes, and its client."""
    options: dict[str, Any] = {
        "threads_per_worker": 1,
        "dashboard_address": None,
        "death_timeout": 600,
    }
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        yield cluster, client


_CLUSTER = """
import time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(cluster.scheduler_address, flush=True)
    time.sleep(3600)
"""


def scheduler_dies(folder: Path) -> None:
    """Kill a whole cluster in the middle of a fit; the same booster is fitted on another."""
    script = folder / "cluster.py"
    script.write_text(_CLUSTER)
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    child = subprocess.Popen([sys.executable, str(script)], **options)
    assert child.stdout is not None
    kind, settings = CASES[0]
    model = kind(ROUNDS, timeout=20.0, **settings)
    begun = 0.0

    def kill(exchange: Any) -> None:
        nonlocal begun
        os.killpg(child.pid, signal.SIGKILL)
        begun = time.monotonic()

    with Client(child.stdout.readline().strip(), set_as_default=False) as client:
        try:
            with at_questions({50: kill}):
                model.set_params(client=client).fit(*collections(4))
            sys.exit("the scheduler died, and the fit did not notice")
        except ConnectionError as error:
            seconds = time.monotonic() - begun
            typer.echo(f"scheduler killed: ConnectionError after {seconds:.1f} s ({error})")
    if hasattr(model, "classes_"):
        sys.exit("the fit failed, and the booster is fitted")
    with cluster_of(2) as (_, client):
        check(model.set_params(client=client).fit(*collections(3)), kind, settings, 0.0)
    typer.echo("the same booster on another cluster: the same model")


def main(
    number: Annotated[int, typer.Option("--kills", help="How many workers to kill.")] = 50,
    seed: int = 0,
) -> None:
    """Do everything to a cluster that can happen to one."""
    random.seed(seed)
    # on a busy machine a new worker would be given up while it imports and loads compiled code
    patient = {"distributed.deploy.lost-worker-timeout": "600s"}
    dask.config.set({"distributed.comm.timeouts.tcp": "600s", **patient})
    with cluster_of(4) as (_, client):
        for parts in (2, 7, 50):
            seconds, _ = fit(*CASES[0], parts)
            typer.echo(f"4 workers, {parts} partitions: the same model in {seconds:.1f} s")
        kills(client, number)
    single_faults()
    with tempfile.TemporaryDirectory() as folder:
        scheduler_dies(Path(folder))


if __name__ == "__main__":
    typer.run(main)
