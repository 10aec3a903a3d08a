"""Arithmetic on one value, a float or `Lanes`, that no compiler and no processor decides.

Every function here is exact or rounded once. `elementary` is written in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from driftgames._kernels.lanes import (
    BITS,
    FLOATS,
    LANES,
    LANES_TYPE,
    Lanes,
    Mask,
    repeat,
    select_ordered,
    widen,
)

_FLOAT, _INTEGER = ir.DoubleType(), ir.IntType(64)
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_MANTISSA = (1 << 52) - 1
_ROUND = 6755399441055744.0  # 1.5 * 2**52: an integer added to its bits is added to it
_ROUND_BITS = 0x4338000000000000


def _generator(emit: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return signature and code generator of an operation on floats or, if any is, on `Lanes`."""
    wide = any(isinstance(kind, Lanes) for kind in kinds)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        if wide:
            arguments = widen(context, builder, signature.args, arguments)
        return emit(builder, *arguments)

    if wide:
        return LANES_TYPE(*kinds), generate
    return types.float64(*(types.float64 for _ in kinds)), generate


def _call(builder: Any, name: str, *arguments: Any) -> Any:
    """Call an LLVM function that exists for floats and for vectors of them."""
    kind = arguments[0].type
    suffix = "f64" if kind == _FLOAT else f"v{LANES}f64"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(arguments)), f"{name}.{suffix}"
    )
    return builder.call(function, arguments)


def _as_bits(builder: Any, x: Any) -> tuple[Any, Callable[[int], Any]]:
    """Return the bits of a value, and how a constant beside them is written."""
    if x.type == _FLOAT:
        return builder.bitcast(x, _INTEGER), lambda k: ir.Constant(_INTEGER, k)
    return builder.bitcast(x, BITS), lambda k: ir.Constant(BITS, [k] * LANES)


def _as_float(builder: Any, bits: Any) -> Any:
    return builder.bitcast(bits, _FLOAT if bits.type == _INTEGER else FLOATS)


@intrinsic
def fma(typing_context, x, y, z):  # type: ignore[no-untyped-def]
    """Return ``x * y + z`` rounded once, also where a processor has no such instruction."""
    return _generator(lambda builder, x, y, z: _call(builder, "llvm.fma", x, y, z), (x, y, z))


@intrinsic
def root(typing_context, x):  # type: ignore[no-untyped-def]
    """Return the square root, correctly rounded."""
    return _generator(lambda builder, x: _call(builder, "llvm.sqrt", x), (x,))


@intrinsic
def size(typing_context, x):  # type: ignore[no-untyped-def]
    """Return the absolute value."""
    return _generator(lambda builder, x: _call(builder, "llvm.fabs", x), (x,))


@intrinsic
def lesser(typing_context, x, y):  # type: ignore[no-untyped-def]
    """Return x if it is below y, else y."""
    return _generator(select_ordered("<"), (x, y))


@intrinsic
def greater(typing_context, x, y):  # type: ignore[no-untyped-def]
    """Return x if it is above y, else y."""
    return _generator(select_ordered(">"), (x, y))


@intrinsic
def choose(typing_context, condition, x, y):  # type: ignore[no-untyped-def]
    """Return x where the condition is true and y elsewhere; both are computed."""
    wide = isinstance(condition, Mask)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        condition, x, y = arguments
        if wide:
            x, y = widen(context, builder, signature.args[1:], (x, y))
        return builder.select(condition, x, y)

    if wide:
        return LANES_TYPE(condition, x, y), generate
    return types.float64(types.boolean, types.float64, types.float64), generate


@intrinsic
def two_to(typing_context, x):  # type: ignore[no-untyped-def]
    """Return 2**k for ``x = k + 1.5 * 2**52``, whose low bits are the integer k."""

    def emit(builder, x):  # type: ignore[no-untyped-def]
        bits, constant = _as_bits(builder, x)
        return _as_float(builder, builder.shl(builder.add(bits, constant(1023)), constant(52)))

    return _generator(emit, (x,))


@intrinsic
def mantissa(typing_context, x):  # type: ignore[no-untyped-def]
    """Return m of ``x = 2**k m`` with m between sqrt(1/2) and sqrt(2), for normal ``x > 0``."""

    def emit(builder, x):  # type: ignore[no-untyped-def]
        bits, constant = _as_bits(builder, x)
        shifted = builder.and_(builder.sub(bits, constant(_SQRT_HALF_BITS)), constant(_MANTISSA))
        return _as_float(builder, builder.add(shifted, constant(_SQRT_HALF_BITS)))

    return _generator(emit, (x,))


@intrinsic
def exponent(typing_context, x):  # type: ignore[no-untyped-def]
    """Return k of ``x = 2**k m`` as a float, with `mantissa`'s m."""

    def emit(builder, x):  # type: ignore[no-untyped-def]
        bits, constant = _as_bits(builder, x)
        k = builder.ashr(builder.sub(bits, constant(_SQRT_HALF_BITS)), constant(52))
        moved = _as_float(builder, builder.add(k, constant(_ROUND_BITS)))
        zero = ir.Constant(_FLOAT, _ROUND)
        return builder.fsub(moved, zero if x.type == _FLOAT else repeat(builder, zero))

    return _generator(emit, (x,))
