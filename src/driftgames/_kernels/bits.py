"""Truth values of 512 rows as one row of bits: what a kernel chooses and counts at once.

A row of bits is eight unsigned integers; bit ``i`` of integer ``k`` belongs to row ``64 k + i``.
Rows of bits lie one after another in a contiguous vector of uint64. LLVM makes of each function the
widest instructions that a processor has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

ROWS = 512
"""Rows whose truth values are one row of bits."""

WORDS = ROWS // 64
"""The integers that hold them."""

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_ALL = ir.VectorType(_WORD, WORDS)
_BITS, _BYTES = ir.VectorType(ir.IntType(1), 64), ir.VectorType(_BYTE, 64)


def rows_of_bits(n_rows: int) -> npt.NDArray[np.uint64]:
    """Return room for rows of bits that begins with a line of the cache."""
    room = np.empty((n_rows + 1) * WORDS, dtype=np.uint64)
    skipped = -room.ctypes.data % (8 * WORDS) // 8
    return room[skipped : skipped + n_rows * WORDS]


def _address(context: Any, builder: Any, kind: Any, array: Any, start: Any, vector: Any) -> Any:
    """Return the address of the vector that begins with entry ``start`` of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), vector.as_pointer())


@intrinsic
def choose(typing_context, bits, to, asked, left, right):  # type: ignore[no-untyped-def]
    """Write to row ``to`` the bits of ``right`` where row ``asked`` is true, else of ``left``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array, *rows = arguments
        starts = [builder.mul(row, ir.Constant(row.type, WORDS)) for row in rows]
        to, *sources = (
            _address(context, builder, signature.args[0], array, start, _ALL) for start in starts
        )
        asked, left, right = (builder.load(source, align=8) for source in sources)
        differ = builder.and_(asked, builder.xor(left, right))
        builder.store(builder.xor(left, differ), to, align=8)
        return context.get_dummy_value()

    return types.void(bits, types.uint64, types.uint64, types.uint64, types.uint64), generate


@intrinsic
def count(typing_context, counts, bits, row):  # type: ignore[no-untyped-def]
    """Add the bits of a row to as many counts, which are bytes."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        counts, bits, row = arguments
        for k in range(WORDS):
            to = ir.Constant(_WORD, 64 * k)
            to = _address(context, builder, signature.args[0], counts, to, _BYTES)
            word = builder.add(builder.mul(row, ir.Constant(_WORD, WORDS)), ir.Constant(_WORD, k))
            word = _address(context, builder, signature.args[1], bits, word, _WORD)
            true = builder.sext(builder.bitcast(builder.load(word), _BITS), _BYTES)  # -1
            builder.store(builder.sub(builder.load(to, align=1), true), to, align=1)
        return context.get_dummy_value()

    return types.void(counts, bits, types.uint64), generate
