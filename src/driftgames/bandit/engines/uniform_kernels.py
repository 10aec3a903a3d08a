"""Uniform numbers taken from a NumPy generator inside a kernel, one at a time.

A NumPy bit generator publishes the address of its state and of its ``next_double``. A direct
call of that function gives the numbers of ``Generator.random()``. So a stream and a compiled
replay draw the same arms, and neither reads ahead.
"""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from driftgames._kernels.jit import kernel
from driftgames.bandit.types import Addresses


def addresses_of(generator: np.random.Generator) -> Addresses:
    """Return the addresses of ``next_double`` and of the state it works on.

    They are valid as long as the generator lives.
    """
    interface = generator.bit_generator.ctypes
    function = ctypes.cast(interface.next_double, ctypes.c_void_p).value
    return int(function or 0), int(interface.state_address)


@intrinsic
def next_uniform(typing_context, function, state):  # type: ignore[no-untyped-def]
    """Return the next number in [0, 1) of the generator at these addresses."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        anything = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.DoubleType(), [anything])
        pointer = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(pointer, [builder.inttoptr(arguments[1], anything)])

    return types.float64(types.int64, types.int64), generate


@kernel
def take_uniform(function: int, state: int) -> float:
    """Call `next_uniform` from Python."""
    return float(next_uniform(function, state))
