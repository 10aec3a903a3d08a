"""Long runs give the committed digests on every processor, for every BLAS and thread number.

A digest may change only with a change of an algorithm or of a file format that the CHANGELOG
names. Then ``python tools/golden.py --write`` stores the new ones. A digest that differs in one
of the settings below, and not in the others, is a bug: some sum or function was left to the
machine.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STORED = json.loads((ROOT / "tests" / "golden.json").read_text())

SETTINGS = {
    "this processor": {},
    "two threads": {"DRIFTGAMES_GOLDEN_THREADS": "2"},
    "NumPy without newer instructions": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3"},
    "another BLAS core": {"OPENBLAS_CORETYPE": "Prescott"},
    "AVX2 without AVX-512": {"NUMBA_CPU_NAME": "haswell"},
    "a generic processor": {"NUMBA_CPU_NAME": "generic"},
}
FOR_X86 = {"NumPy without newer instructions", "another BLAS core", "AVX2 without AVX-512"}


@pytest.mark.parametrize("setting", SETTINGS)
def test_long_runs_have_the_committed_digests(setting):
    if setting in FOR_X86 and platform.machine() not in {"x86_64", "AMD64"}:
        pytest.skip(f"this machine is a {platform.machine()}")
    child = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "tools" / "golden.py")],
        env={**os.environ, **SETTINGS[setting]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    assert list(found) == list(STORED), "a case is new or gone: python tools/golden.py --write"
    differ = [name for name in STORED if found[name] != STORED[name]]
    assert not differ, f"other bits with {setting}: {differ}; {__doc__}"
