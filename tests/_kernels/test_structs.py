"""Structs of arrays: what reaches a kernel, and what an interruption on the way there does."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from driftgames._kernels.jit import kernel
from driftgames._kernels.structs import Struct, new_counters


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


@dataclass(frozen=True, eq=False)
class Nest(Struct):
    pair: Pair
    rows: np.ndarray
    counters: np.ndarray


@kernel
def sum_up(nest):
    counters = nest.counters[0]
    for i in range(nest.rows.shape[0]):
        row = nest.rows[i]
        for j in range(row.size):
            nest.rows[i, j] += nest.pair.values[j] * nest.pair.factor
            counters.n += 1
            counters.total += row[j]


def make_nest():
    return Nest(Pair(np.arange(3.0), 2), np.ones((2, 3)), new_counters("n", reals=("total",)))


BY_VALUE = """
import sys
sys.modules["driftgames._kernels.struct_tables"] = None  # as if Numba had changed
from driftgames._kernels.structs import TYPE, ValueType
from tests._kernels.test_structs import check_nest, make_nest
assert TYPE is ValueType
check_nest()
nest = make_nest()
object.__delattr__(nest, "rows")
try:
    check_nest(nest)
except AttributeError as error:
    print(error)
"""


def check_nest(nest=None):
    nest = nest or make_nest()
    sum_up(nest)
    np.testing.assert_array_equal(nest.rows, [[1, 3, 5]] * 2)
    assert (nest.counters[0].n, nest.counters[0].total) == (6, 18.0)


def test_a_kernel_reads_structs_in_structs_and_changes_counters():
    check_nest()


def test_fields_are_passed_by_value_where_numba_has_changed(tmp_path):
    cache = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # another Numba has its own
    done = subprocess.run(
        [sys.executable, "-c", BY_VALUE], capture_output=True, text=True, env=cache
    )
    answer = "'Nest' object has no attribute 'rows'\n"
    assert (done.returncode, done.stdout) == (0, answer), done.stderr
