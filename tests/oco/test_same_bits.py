"""Portfolios and learners on convex sets give the same bits on every processor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as numpy_build

GOLDEN = {
    "universal, 2 assets": "b501514163e53c25",
    "universal, 7 assets": "391f782f2a70561b",
    "universal, costs": "9efe3cb5a7b2e728",
    "universal, NormalHedge.DT": "5fab4407318f11de",
    "buy and hold": "523d611feeaeed7b",
    "exponentiated gradient": "f7e0a92166a2d68d",
    "online Newton step": "028bbd7c0eb11f3f",
    "grid": "2cdbee9de4cc36eb",
    "points": "4798cecff199fe5a",
    "points, log-wealth": "190a486b6d3944d4",
    "hit-and-run": "a9af41e1383af09d",
    "coin betting, box": "30f5fe876bce2918",
    "coin betting, simplex": "da2c93221f85cf4d",
    "coin betting, ball": "8c35976eeb1e9227",
}


def plain_numpy():
    """The setting under which NumPy uses no instruction beyond its baseline."""
    features = numpy_build.__cpu_features__
    return " ".join(name for name in numpy_build.__cpu_dispatch__ if features[name])


TARGETS = {
    "this processor": {},
    "NumPy and BLAS without vector instructions": {
        "NPY_DISABLE_CPU_FEATURES": plain_numpy(),
        "OPENBLAS_CORETYPE": "Prescott",
    },
    "kernels for any processor": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_decisions_have_the_same_bits_on_every_processor(target):
    script = Path(__file__).with_name("same_bits.py")
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        env={**os.environ, **target},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout) == GOLDEN
