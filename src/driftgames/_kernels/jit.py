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

from numba import njit, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

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
    after the code of what it calls, however deep: every combination has its place in the
    cache, and where a function has changed the loop is compiled anew.
    """
    source = cast(FunctionType, loop)
    names = {**source.__globals__, **functions}
    mark = zlib.crc32(repr(_called(source.__code__, names)).encode())
    name = f"{source.__name__}_{mark:08x}"
    bound = FunctionType(source.__code__, names, name)
    bound.__qualname__ = name
    bound.__doc__ = source.__doc__
    return compiler(cast(F, bound))


def _called(code: CodeType, names: Mapping[str, Any]) -> list[object]:
    """Return the code and constants that ``code`` reaches through global ``names``."""
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    reached: list[object] = [code.co_code, constants]
    for name in code.co_names:
        value = names.get(name)
        function = getattr(value, "py_func", None)
        if function is not None:
            reached.append((name, _called(function.__code__, function.__globals__)))
        elif isinstance(value, int | float):
            reached.append((name, value))
    return reached


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
