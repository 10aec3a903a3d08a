"""Interrupt fits at random moments: none may crash, hang or end in another error.

``python tools/interrupt_fits.py --fits 400`` starts child processes that fit boosters of one and
two threads beside a load, and sends them SIGINT ten times each. It prints how the fits ended, and
returns 1 if one ended badly. A fit that goes on is sent another signal: Python only reports an
exception in what runs where an object is freed, such as the callback of a weak reference.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time

FIT = """
import signal, sys
import numpy as np
from driftgames.boosting import NHBoostDTClassifier
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
rng = np.random.default_rng(int(sys.argv[1]))
n_jobs, n_classes = int(sys.argv[2]), int(sys.argv[3])
X = rng.normal(size=(6000, 20))
y = (X[:, :3].sum(axis=1) + rng.normal(size=6000)).round().clip(0, n_classes - 1)
settings = [{}, {"max_leaves": 16, "n_estimators": 400}, {"max_leaves": 2, "calibrate": False}]
for each in settings:  # load what is compiled
    NHBoostDTClassifier(n_jobs=n_jobs, **{**each, "n_estimators": 2}).fit(X[:300], y[:300])
while True:
    try:
        print("fits", flush=True)
        while True:
            for each in settings:
                NHBoostDTClassifier(n_jobs=n_jobs, **each).fit(X, y)
    except KeyboardInterrupt:
        pass
"""
EACH, MOST_SECONDS = 10, 20.0
INTERRUPTED, LATE = "interrupted", "interrupted by a second signal"


def interrupt(seed: int) -> list[str]:
    """Return how the fits of one process ended: interrupted, hanging or with a return code."""
    rng = random.Random(seed)
    arguments = [str(seed), str(1 + seed % 2), str(2 + (seed // 2) % 2)]
    child = subprocess.Popen(
        [sys.executable, "-c", FIT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    ends: list[str] = []
    child.stdout.readline()
    while len(ends) < EACH:
        time.sleep(rng.uniform(0.0, 0.7))
        child.send_signal(signal.SIGINT)
        again = threading.Timer(MOST_SECONDS / 2, child.send_signal, [signal.SIGINT])
        watch = threading.Timer(MOST_SECONDS, child.kill)
        again.start()
        watch.start()
        answered = child.stdout.readline()
        was_late = not again.is_alive()
        again.cancel()
        watch.cancel()
        if not answered:
            code = child.wait()
            return [*ends, "hangs" if code == -signal.SIGKILL else f"ended with {code}"]
        ends.append(LATE if was_late else INTERRUPTED)
    child.kill()
    child.wait()
    return ends


def main() -> int:
    """Interrupt fits; print a table of how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--load", type=int, default=2, help="processes that only keep busy")
    given = parser.parse_args()
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.load)]
    ends: collections.Counter[str] = collections.Counter()
    seeds = iter(range(given.seed, given.seed + -(-given.fits // EACH)))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                seed = next(seeds, None)
            if seed is None:
                return
            mine = interrupt(seed)
            with lock:
                ends.update(mine)

    workers = [threading.Thread(target=work) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        for each in load:
            each.kill()
    for end, count in ends.most_common():
        print(f"{count:5} {end}")
    return int(not set(ends) <= {INTERRUPTED, LATE})


if __name__ == "__main__":
    sys.exit(main())
