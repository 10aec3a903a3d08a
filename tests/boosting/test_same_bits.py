"""Boosters that need exp and log give the same bits on every processor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as numpy_build

GOLDEN = {
    "AdaBoost": "42083fd46b664155",
    "AdaBoost, real weights": "3b35c0eec6663cb3",
    "NH-Boost": "afbda2fd0178e08b",
    "boost-by-majority": "0764fcb15270a084",
}


def plain_numpy():
    """The setting under which NumPy uses no instruction beyond its baseline."""
    features = numpy_build.__cpu_features__
    return " ".join(name for name in numpy_build.__cpu_dispatch__ if features[name])


TARGETS = {
    "this processor": {},
    "NumPy without vector instructions": {"NPY_DISABLE_CPU_FEATURES": plain_numpy()},
    "kernels for any processor": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_models_have_the_same_bits_on_every_processor(target):
    script = Path(__file__).with_name("same_bits.py")
    ran = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **target},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout) == GOLDEN
