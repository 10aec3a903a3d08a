"""Compiled functions that a kernel calls by their address.

A loop that calls another function by name is compiled anew for every such function. A loop that
takes an address is compiled once. The call itself costs a nanosecond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

FLOATS = types.CPointer(types.float64)
"""How a function that is called by its address takes an array of floats."""


def compile_callback(*arguments: Any) -> Callable[[Callable[..., None]], Any]:
    """Return the compiler of functions of these types, which return nothing.

    Their attribute ``address`` is what `call` takes.
    """
    options: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": False}

    def compile_function(function: Callable[..., None]) -> Any:
        return cfunc(types.void(*arguments), **options)(function)

    return compile_function


@intrinsic
def call(typing_context, address, arguments):  # type: ignore[no-untyped-def]  # numba is untyped
    """Call the function at an address with a tuple of integers, floats and arrays."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        given = []
        for k, kind in enumerate(arguments):
            value = builder.extract_value(values[1], k)
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
            given.append(value)
        target = ir.FunctionType(ir.VoidType(), [value.type for value in given]).as_pointer()
        builder.call(builder.inttoptr(values[0], target), given)
        return context.get_dummy_value()

    return types.void(types.int64, arguments), generate
