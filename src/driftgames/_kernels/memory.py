"""Hints to the processor about memory; they change no result."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

AHEAD = np.uint64(16)
"""How many rows before its turn a row is fetched, if rows are read that lie far apart."""

_BYTES, _INTEGER = ir.IntType(8).as_pointer(), ir.IntType(32)


@intrinsic
def prefetch(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Begin to load ``array[index]`` of a contiguous vector, so that it is near when it is read."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), _BYTES)
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _INTEGER, _INTEGER, _INTEGER])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # to read, to the nearest cache, as data
        builder.call(function, [address, _INTEGER(0), _INTEGER(3), _INTEGER(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate
