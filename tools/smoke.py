"""One call of every command on the exported data: ``python tools/smoke.py``.

It needs no test tools: an environment that holds the package alone can run it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

COMMANDS = """
datasets export breast_cancer stocks
boost fit breast_cancer.train.csv --label class --rounds 20 --leaves 2 --model m.json
boost predict breast_cancer.test.csv --model m.json --what probability
boost inspect m.json --plot shapes.svg --html points.html
boost cv breast_cancer.train.csv --label class --rounds 5 --folds 2
hedge stocks.relatives.csv --gains --loss-range 0,2 --plot regret.svg
mix stocks.forecasts.csv --target SP500 --plot weights.svg --state s.json
bandit stocks.relatives.csv --gains --loss-range 0,2 --games 2
portfolio stocks.csv --cost 0.001 --plot wealth.svg
game --potential 2-norm --adversary stochastic
play --output game.html --no-open
help potentials
--help
boost --help
"""


def main() -> int:
    """Run the commands in an empty folder; return how many failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for line in COMMANDS.split("\n"):
            if not line:
                continue
            arguments = [word.replace("SP500", "S&P 500") for word in line.split()]
            strict = ["-W", "error::DeprecationWarning:driftgames"]
            done = subprocess.run(
                [sys.executable, *strict, "-m", "driftgames", *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            ok = done.returncode == 0
            failed += not ok
            sys.stdout.write(f"{'ok    ' if ok else 'FAILED'} driftgames {line}\n")
            if not ok:
                sys.stdout.write(done.stderr[-2000:])
    return failed


if __name__ == "__main__":
    sys.exit(main())
