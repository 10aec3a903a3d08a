"""How loops are compiled: one decorator for kernels, one for the scalar functions inside them.

Kernels are cached on disk, release the GIL and divide as NumPy does. A scalar function is
always inlined, so that LLVM can vectorise the loop it stands in. Sums may be re-ordered and
fused (that is what lets them vectorise), so a kernel must not be handed NaN; infinities are
honoured.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
Chain = tuple[FunctionType, ...]

FASTMATH = {"reassoc", "contract", "nsz", "nnan"}

# the wrapper for calls from C is never used, and leaving it out compiles faster
_COMMON: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: F) -> F:
    """Compile a loop over chips, rounds or rows."""
    return cast(F, njit(cache=True, nogil=True, fastmath=FASTMATH, **_COMMON)(function))


def exact_kernel(function: F) -> F:
    """Compile a loop whose floating point must keep its order, or that counts in integers."""
    # said outright: what is left unsaid, numba takes from whichever caller is compiled first
    return cast(F, njit(cache=True, nogil=True, fastmath=False, **_COMMON)(function))


def inner_kernel(function: F) -> F:
    """Compile a part of an exact kernel, which Python itself never calls."""
    return cast(F, njit(fastmath=False, no_cpython_wrapper=True, **_COMMON)(function))


def scalar(function: F) -> F:
    """Compile a function of numbers that is inlined wherever a kernel calls it."""
    return cast(F, njit(cache=True, fastmath={"contract"}, forceinline=True, **_COMMON)(function))


def specialise(loop: F, compiler: Callable[[F], F], **functions: Any) -> F:
    """Compile ``loop`` with global names in it bound to the given compiled functions.

    Numba cannot cache a kernel that takes a function as an argument or a closure, and it can
    cache one that calls a global. So the loop is copied, given globals of its own, and named
    after what it calls, however deep: the code, and the values of the names it uses, which are
    compiled in. Every combination has its place in the cache, and where a function or a value
    has changed the loop is compiled anew.
    """
    source = cast(FunctionType, loop)
    names = {**source.__globals__, **functions}
    mark = zlib.crc32(repr(_called(source, names)).encode())
    name = f"{source.__name__}_{mark:08x}"
    bound = FunctionType(source.__code__, names, name)
    bound.__qualname__ = name
    bound.__doc__ = source.__doc__
    return compiler(cast(F, bound))


def _called(function: FunctionType, names: Mapping[str, Any], within: Chain = ()) -> list[object]:
    """Return code and constants of a function and of all that it reaches by global ``names``."""
    code = function.__code__
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    reached: list[object] = [code.co_code, constants]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    enclosed = dict(zip(code.co_freevars, cells, strict=True))
    for name in (*code.co_names, *code.co_freevars):
        value = enclosed.get(name, names.get(name))
        inner = getattr(value, "py_func", None)
        if inner is None:
            reached.append((name, _frozen(value)))
        elif inner not in within:  # it may call itself
            reached.append((name, _called(inner, inner.__globals__, (*within, function))))
    return reached


def _frozen(value: object) -> object:
    """Return what numba compiles into the code where a name stands for ``value``."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, zlib.crc32(value.tobytes())
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, int | float | complex | str | bytes | np.generic):
        return repr(value)
    return type(value).__name__


@intrinsic
def lesser(typing_context, x, y):  # type: ignore[no-untyped-def]
    """Return the smaller of two floats without a branch; ``min`` itself stops vectorisation."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        x, y = arguments
        flags = ["nnan", "nsz"]
        return builder.select(builder.fcmp_ordered("<", x, y, flags=flags), x, y, flags=flags)

    return types.float64(types.float64, types.float64), generate


@intrinsic
def greater(typing_context, x, y):  # type: ignore[no-untyped-def]
    """Return the larger of two floats without a branch, as `lesser` does the smaller."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        x, y = arguments
        flags = ["nnan", "nsz"]
        return builder.select(builder.fcmp_ordered(">", x, y, flags=flags), x, y, flags=flags)

    return types.float64(types.float64, types.float64), generate


@intrinsic
def bits_of(typing_context, x):  # type: ignore[no-untyped-def]
    """Return the 64 bits of a float as an integer."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing_context, bits):  # type: ignore[no-untyped-def]
    """Return the float that has these 64 bits."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate
