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
import warnings

import pytest

from tools import golden

STORED = json.loads(golden.STORED.read_text())

# Each processor has its compiled code, so a child process takes several settings at once. This
# processor comes last: by then other tests have compiled most of its code.
SETTINGS = {
    "a generic processor, NumPy without newer instructions, two threads": {
        "NUMBA_CPU_NAME": "generic",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3",
        "DRIFTGAMES_GOLDEN_THREADS": "2",
    },
    "AVX2 without AVX-512, another BLAS core": {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",  # default: those of this processor, AVX-512 among them
        "OPENBLAS_CORETYPE": "Prescott",
    },
    "this processor": {},
}
HINT = "to find the cause, run tools/golden.py with one of these variables at a time:"
FOR_X86 = {"haswell", "", "Prescott", "X86_V4 X86_V3"}


def _digests_in_a_child(chosen):
    # BLAS has as many threads as on any other run
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    child = subprocess.run(
        [sys.executable, "-W", "ignore", golden.__file__],
        env={**inherited, **chosen},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def _digests_here():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: golden.digest(case()) for name, case in golden.cases().items()}


@pytest.mark.parametrize("setting", SETTINGS)
def test_long_runs_have_the_committed_digests(setting):
    chosen = SETTINGS[setting]
    if platform.machine() not in {"x86_64", "AMD64"}:
        chosen = {name: value for name, value in chosen.items() if value not in FOR_X86}
        if SETTINGS[setting] and not chosen:
            pytest.skip(f"this machine is a {platform.machine()}")
    found = _digests_in_a_child(chosen) if chosen else _digests_here()
    assert list(found) == list(STORED), "a case is new or gone: python tools/golden.py --write"
    differ = [name for name in STORED if found[name] != STORED[name]]
    assert not differ, f"other bits with {setting}: {differ}; {HINT} {chosen}; {__doc__}"
