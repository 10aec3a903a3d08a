"""Ctrl-C in a fit: it ends with KeyboardInterrupt, and the process goes on."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTClassifier
from tests.interruptions import lost_interruptions

TOOL = Path(__file__).parents[2] / "tools" / "interrupt_fits.py"


def test_interrupted_fits_neither_crash_nor_hang():
    """Forty fits of one and two threads, under load; the tool interrupts as many as it is told."""
    command = [sys.executable, str(TOOL), "--fits", "40"]
    done = subprocess.run(command, capture_output=True, text=True)
    counts = [int(line.split()[0]) for line in done.stdout.splitlines()]
    assert (done.returncode, sum(counts)) == (0, 40), done.stdout + done.stderr


def test_no_place_of_a_fit_loses_an_interruption():
    """Libraries in C may clear the KeyboardInterrupt of Python code that they call."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    booster = NHBoostDTClassifier(3, max_leaves=3)
    assert lost_interruptions(lambda: booster.fit(X, np.arange(80) % 3)) == []


@pytest.mark.parametrize("max_depth", [2**31 - 1, 2**63 - 1])
def test_a_depth_without_limit_makes_no_room_for_all_its_leaves(max_depth):
    X = np.arange(60.0).reshape(20, 3)
    booster = NHBoostDTClassifier(3, max_depth=max_depth, max_leaves=4, calibrate=False)
    deep = booster.fit(X, np.arange(20) % 3 > 0)
    wanted = booster.set_params(max_depth=None).fit(X, np.arange(20) % 3 > 0)
    np.testing.assert_array_equal(deep.trees_.threshold, wanted.trees_.threshold)
