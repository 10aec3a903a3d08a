"""Functions that only compiled code calls: linked into their callers."""

import numpy as np
import pytest
from numba import njit

from driftgames._kernels.jit import inner_kernel, inner_scalar
from driftgames._kernels.linking import LinkedLibrary


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
