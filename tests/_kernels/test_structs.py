"""Structs of arrays: what reaches a kernel, and what an interruption on the way there does."""

import pickle
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from driftgames._kernels.jit import kernel
from driftgames._kernels.structs import Struct


@dataclass(frozen=True, eq=False)
class Pair(Struct):
    values: np.ndarray
    factor: int


@kernel
def scale(pair):
    for i in range(pair.values.size):
        pair.values[i] *= pair.factor


def test_a_kernel_reads_and_writes_the_fields_of_copies_too():
    pair = Pair(np.arange(3.0), 2)
    scale(pair)
    np.testing.assert_array_equal(pair.values, [0, 2, 4])
    for copy in (pickle.loads(pickle.dumps(pair)), replace(pair, values=pair.values.copy())):
        scale(copy)
        np.testing.assert_array_equal(copy.values, [0, 4, 8])
    np.testing.assert_array_equal(pair.values, [0, 2, 4])


def test_an_array_that_is_not_contiguous_is_refused():
    with pytest.raises(ValueError, match="values must be C-contiguous"):
        Pair(np.arange(6.0)[::2], 2)


INTERRUPTED = """
import numpy as np
from tests._kernels.test_structs import Pair, scale

class Interrupted(Pair):
    @property
    def address(self):
        raise KeyboardInterrupt

scale(Pair(np.arange(3.0), 2))
broken = object.__new__(Interrupted)
object.__setattr__(broken, "numba_type", Pair(np.arange(3.0), 2).numba_type)
try:
    scale(broken)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interruption_on_the_way_to_a_kernel_ends_the_call():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
