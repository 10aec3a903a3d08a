"""Fits on a cluster whose workers are killed, paused and restarted: the same model each time.

``python tools/dask_faults.py --kills 50`` fits on four worker processes, and a thread kills one
of them with SIGKILL at a drawn moment, again and again. Then one worker is paused with SIGSTOP, one
is restarted, one joins late, and at last the scheduler dies. Every model file must equal that of a
fit in memory byte for byte. No fit may take longer than the stated limit.
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
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import dask.array as da
import numpy as np
import typer
from distributed import Client, LocalCluster

import dask
from driftgames.boosting import BOOSTERS
from driftgames.dask import DaskAdaBoostClassifier, DaskNHBoostDTClassifier

LIMIT = 600.0
"""Seconds that a fit may take, with all that is done to its workers."""

N_ROWS, ROUNDS = 20_000, 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 6))
Y = X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=N_ROWS) > 0
CASES: list[tuple[type[Any], dict[str, Any]]] = [
    (DaskNHBoostDTClassifier, {"calibrate": False}),
    (DaskNHBoostDTClassifier, {"calibrate": False, "max_depth": 3}),
    (DaskAdaBoostClassifier, {"calibrate": False}),
]


def collections(n_partitions: int) -> tuple[Any, Any]:
    """Return the examples in so many partitions, uneven ones."""
    ends = sorted(random.sample(range(N_ROWS), n_partitions - 1))
    sizes = tuple(np.diff([0, *ends, N_ROWS]).tolist())
    return da.from_array(X, chunks=(sizes, 6)), da.from_array(Y, chunks=(sizes,))


def fit(
    kind: type[Any],
    settings: dict[str, Any],
    parts: int,
    harm: Callable[[], Any] | None,
    timeout: float = 120.0,
) -> Any:
    """Fit while ``harm`` is done; check the model, the time and that no actor is left."""
    done = threading.Event()

    def work() -> None:
        while harm is not None and not done.wait(random.uniform(0.5, 10.0)):
            harm()

    thread = threading.Thread(target=work)
    begun = time.monotonic()
    thread.start()
    try:
        model = kind(ROUNDS, timeout=timeout, **settings).fit(*collections(parts))
    finally:
        done.set()
        thread.join()
    seconds = time.monotonic() - begun
    local = kind.__mro__[2](ROUNDS, **settings).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "cluster"))
        local.save(Path(folder, "memory"))
        same = Path(folder, "cluster").read_bytes() == Path(folder, "memory").read_bytes()
    if not same or seconds > LIMIT:
        sys.exit(f"{kind.__name__} {settings}: same={same}, {seconds:.1f} s")
    return seconds, model.exchange_.n_lost


class Harm:
    """What is done to workers; it counts."""

    def __init__(self, client: Client, kill: int) -> None:
        self._client = client
        self._signal = kill
        self.n_done = 0

    def __call__(self) -> None:
        """Send the signal to a drawn worker."""
        workers = self._client.scheduler_info()["workers"]
        if len(workers) < 2:
            return
        address = random.choice(list(workers))
        pids = self._client.run(os.getpid, workers=[address], on_error="ignore")
        if pids:
            os.kill(pids[address], self._signal)
            self.n_done += 1


def kills(client: Client, n_kills: int) -> None:
    """Kill workers until so many have died."""
    harm, n_fits, n_lost, longest = Harm(client, signal.SIGKILL), 0, 0, 0.0
    while harm.n_done < n_kills:
        kind, settings = CASES[n_fits % len(CASES)]
        seconds, lost = fit(kind, settings, 2 + n_fits % 12, harm)
        n_fits, n_lost, longest = n_fits + 1, n_lost + lost, max(longest, seconds)
        typer.echo(
            f"  fit {n_fits}: {seconds:.1f} s, {harm.n_done} kills so far, {lost} holders lost"
        )
    typer.echo(
        f"{harm.n_done} kills in {n_fits} fits: {n_lost} holders lost, all models the same, "
        f"longest fit {longest:.1f} s"
    )


_CLUSTER = """
import time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(cluster.scheduler_address, flush=True)
    time.sleep(3600)
"""


def scheduler_dies(folder: Path) -> None:
    """Kill a whole cluster in the middle of a fit; go on from the checkpoint on another."""
    script = folder / "cluster.py"
    script.write_text(_CLUSTER)
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    child = subprocess.Popen([sys.executable, str(script)], **options)
    assert child.stdout is not None
    settings = {"checkpoint": folder / "so_far", "checkpoint_every": 5, "timeout": 20.0}

    def kill() -> None:
        while not settings["checkpoint"].exists():
            time.sleep(0.05)
        os.killpg(child.pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    model = DaskNHBoostDTClassifier(2000, calibrate=False, **settings)
    with Client(child.stdout.readline().strip(), set_as_default=False) as client:
        thread.start()
        begun = time.monotonic()
        try:
            model.set_params(client=client).fit(*collections(4))
            sys.exit("the scheduler died, and the fit did not notice")
        except ConnectionError as error:
            seconds = time.monotonic() - begun
            typer.echo(f"scheduler killed: ConnectionError after {seconds:.1f} s ({error})")
    thread.join()
    n_rounds = BOOSTERS["nh-boost.dt"].load(settings["checkpoint"]).n_iter_
    two = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**two) as cluster, Client(cluster) as client:
        model.set_params(client=client).fit(*collections(3)).save(folder / "cluster")
    BOOSTERS["nh-boost.dt"](2000, calibrate=False).fit(X, Y).save(folder / "memory")
    if (folder / "cluster").read_bytes() != (folder / "memory").read_bytes():
        sys.exit("the model differs after the scheduler died")
    typer.echo(f"went on from the checkpoint of {n_rounds} rounds: the same model")


def main(
    number: Annotated[int, typer.Option("--kills", help="How many workers to kill.")] = 50,
    seed: int = 0,
) -> None:
    """Do everything to a cluster that can happen to one."""
    random.seed(seed)
    # on a busy machine a new worker would be given up while it imports and loads compiled code
    patient = {"distributed.deploy.lost-worker-timeout": "600s"}
    dask.config.set({"distributed.comm.timeouts.tcp": "600s", **patient})
    options: dict[str, Any] = {
        "threads_per_worker": 1,
        "dashboard_address": None,
        "death_timeout": 600,
    }
    with LocalCluster(n_workers=4, **options) as cluster, Client(cluster) as client:
        for parts in (2, 7, 50):
            seconds, _ = fit(*CASES[0], parts, None)
            typer.echo(f"4 workers, {parts} partitions: the same model in {seconds:.1f} s")
        kills(client, number)
        once = Harm(client, signal.SIGSTOP)
        stop = lambda: once() if once.n_done == 0 else None  # noqa: E731
        seconds, lost = fit(*CASES[0], 7, stop, timeout=10.0)
        typer.echo(f"{once.n_done} worker paused: the same model in {seconds:.1f} s, {lost} lost")
        client.restart()
        again = [lambda: client.restart_workers(list(client.scheduler_info()["workers"])[:1])]
        seconds, lost = fit(*CASES[0], 7, lambda: again.pop()() if again else None)
        typer.echo(f"a worker restarted: the same model in {seconds:.1f} s, {lost} lost")
        more = [lambda: cluster.scale(5)]
        seconds, lost = fit(*CASES[0], 7, lambda: more.pop()() if more else None)
        typer.echo(f"a worker joined late: the same model in {seconds:.1f} s, {lost} lost")
    with tempfile.TemporaryDirectory() as folder:
        scheduler_dies(Path(folder))


if __name__ == "__main__":
    typer.run(main)
