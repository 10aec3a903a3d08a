"""Functions that only compiled code calls: linked into their callers."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from driftgames._kernels import jit
from driftgames._kernels.jit import inner_kernel, inner_scalar
from driftgames.boosting import NHBoostDTClassifier


@inner_scalar
def doubled(x):
    return 2 * x


@inner_kernel
def fill(values, x):
    for i in range(values.size):
        values[i] = doubled(x) + i


@inner_kernel
def fill_twice(values, x):
    fill(values, x)
    fill(values, values[0])


@njit  # not cached, so that it is compiled here
def outer(values, x):
    fill_twice(values, x)
    return doubled(values[1])


@pytest.fixture(scope="module")
def answer():
    values = np.zeros(4, dtype=np.int64)
    return outer(values, 3), values.tolist()


def test_a_kernel_calls_linked_functions_at_any_depth(answer):
    assert answer == (26, [12, 13, 14, 15])


def test_a_linked_function_has_no_machine_code_of_its_own(answer):
    from driftgames._kernels.linking import LinkedLibrary

    for function in (fill, fill_twice, doubled):
        (compiled,) = function.overloads.values()
        assert isinstance(compiled.library, LinkedLibrary)
        assert compiled.entry_point is not None  # callers find the library by it
        with pytest.raises(ValueError, match="object caching not enabled"):
            compiled.library._get_compiled_object()
    (compiled,) = outer.overloads.values()
    assert not isinstance(compiled.library, LinkedLibrary)


def test_a_linked_function_is_optimised_in_its_caller(answer):
    (code,) = outer.inspect_llvm().values()
    assert "doubled" not in code.split("define", 1)[1].split("ret ")[0]  # it is inlined


def fit(path):
    X = np.random.default_rng(0).random((300, 4))
    model = NHBoostDTClassifier(20, max_leaves=5, calibrate=False).fit(X, X[:, 0] > X[:, 1] ** 2)
    model.save(path)
    return "pipeline_class" in jit._LINKED


FITS = """
import sys
from numba.core.codegen import JITCodeLibrary

optimize = JITCodeLibrary._optimize_functions
JITCodeLibrary._optimize_functions = lambda self, module, level=3: optimize(self, module)
sys.modules["driftgames._kernels.struct_tables"] = None
from tests._kernels import test_linking

print(test_linking.fit(sys.argv[1]))
"""


def test_where_the_private_parts_of_numba_differ_a_fit_is_the_same(tmp_path):
    """It is compiled in the usual way, which takes longer."""
    assert fit(tmp_path / "linked")
    done = subprocess.run(
        [sys.executable, "-c", FITS, str(tmp_path / "plain")],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
    assert (tmp_path / "linked").read_bytes() == (tmp_path / "plain").read_bytes()
