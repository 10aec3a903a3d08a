"""Time this version of driftgames beside another one that is installed elsewhere.

``python tools/compare_speed.py OTHER_PYTHON`` runs the same statements with this interpreter and
with the other one, in turn, several times. It prints the best time of each and their ratio. Both
run in one session on one machine, so noise hits both alike.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np


def best(action: Callable[[], object], repeats: int = 7, seconds: float = 0.2) -> float:
    """Return the least time of an action in seconds; it runs once before.

    A short action is repeated for ``seconds``: among few repeats none may have the core alone.
    """
    action()
    times: list[float] = []
    while len(times) < repeats or sum(times) < seconds:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def hedge() -> Iterator[tuple[str, float]]:
    """Yield the time of `run` per action and round, and of `update` with ten actions."""
    from driftgames import hedge

    rng = np.random.default_rng(0)
    matrices = {
        n: rng.random((max(2, min(2000, 4_000_000 // n)), n)) for n in (10**3, 10**5, 10**6)
    }
    row = rng.random(10)
    for name, make in hedge.LEARNERS.items():
        for n, L in matrices.items():
            learner = make(n, horizon=10**4)
            seconds = best(lambda learner=learner, L=L: learner.run(L, progress=False))
            yield f"{name}, run, N = {n:,} (ns per action)", seconds / L.size * 1e9
        learner = make(10, horizon=10**6)

        def updates(learner=learner) -> None:  # type: ignore[no-untyped-def]
            for _ in range(2000):
                learner.update(row)

        yield f"{name}, update, N = 10 (us)", best(updates) / 2000 * 1e6


def bandits() -> Iterator[tuple[str, float]]:
    """Yield the time of a pull and its update, and of a replayed round."""
    from driftgames.bandit import POLICIES

    for name in ("exp3", "exp3-ix", "tsallis-inf"):
        for n in (10, 1000):
            L = np.random.default_rng(1).random((2000, n))
            policy = POLICIES[name](n, 10**6, np.random.default_rng(2))
            rng = np.random.default_rng(3)

            def stream(policy=policy, rng=rng, L=L) -> None:  # type: ignore[no-untyped-def]
                for row in L:
                    arm, probability = policy.pull(rng)
                    policy.update(arm, float(row[arm]), probability)

            yield f"{name}, pull and update, K = {n:,} (us)", best(stream) / len(L) * 1e6
            replayed = POLICIES[name](n, 10**6, np.random.default_rng(2))
            seconds = best(lambda replayed=replayed, L=L: replayed.run(L))
            yield f"{name}, replay, K = {n:,} (us)", seconds / len(L) * 1e6


def portfolios() -> Iterator[tuple[str, float]]:
    """Yield the time of strategies over 36 assets and 5,651 periods."""
    try:
        from driftgames import portfolio as module
    except ImportError:  # where strategies were before they had a package
        from driftgames import oco as module

    relatives = 0.97 + 0.06 * np.random.default_rng(4).random((5651, 36))
    makers = (module.UniversalPortfolio, module.ExponentiatedGradient, module.OnlineNewtonStep)
    for make in makers:
        seconds = best(lambda make=make: make(36).run(relatives), repeats=4)
        yield f"{make.__name__}, 36 assets, 5,651 periods (ms)", seconds * 1e3


def boosting() -> Iterator[tuple[str, float]]:
    """Yield the time of 200 rounds on a dense table of numbers, without calibration."""
    import driftgames

    rng = np.random.default_rng(5)
    X = np.floor(rng.random((30_000, 40)) * 50)
    y = X[:, 0] + X[:, 1] * X[:, 2] / 25 + 20 * rng.random(len(X)) > 60
    for make in (driftgames.NHBoostDTClassifier, driftgames.AdaBoostClassifier):
        booster = make(200)
        if "calibrate" in booster.get_params():  # an older version has none
            booster.set_params(calibrate=False)
        seconds = best(lambda booster=booster: booster.fit(X, y), repeats=4)
        yield f"{make.__name__}, 30,000 x 40 (ms)", seconds * 1e3


PARTS = {f.__name__: f for f in (hedge, bandits, portfolios, boosting)}


def main() -> None:
    """Measure in this process, or compare two interpreters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", nargs="?", help="the Python of the other version")
    parser.add_argument("--only", choices=PARTS, help="compare one part")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    parts = [arguments.only] if arguments.only else list(PARTS)
    if arguments.measure:
        found = {name: value for part in parts for name, value in PARTS[part]()}
        sys.stdout.write(json.dumps(found))
        return
    if arguments.other is None:
        parser.error("name the Python of the other version")
    least: dict[str, list[float]] = {}
    for _ in range(arguments.repeats):
        for at, python in enumerate((sys.executable, arguments.other)):
            command = [python, __file__, "--measure"]
            command += ["--only", arguments.only] if arguments.only else []
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for name, value in json.loads(out).items():
                pair = least.setdefault(name, [np.inf, np.inf])
                pair[at] = min(pair[at], value)
    width = max(map(len, least))
    sys.stdout.write(f"{'':{width}}  {'this':>9}  {'other':>9}  {'ratio':>5}\n")
    for name, (ours, theirs) in least.items():
        sys.stdout.write(f"{name:{width}}  {ours:9.3f}  {theirs:9.3f}  {ours / theirs:5.2f}\n")


if __name__ == "__main__":
    main()
