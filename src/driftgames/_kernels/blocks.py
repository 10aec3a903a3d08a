"""Blocks of four integers that a kernel handles as one value: sums of several classes.

An array of blocks has the shape ``(n_blocks, 4)``, or ``(n_blocks, 4 n)`` for ``n`` columns of
blocks. The compiler does not make vectors of loops over four entries by itself. Integers add up
exactly in any order; floats are added lane by lane, and then the lanes as a fixed tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 4
"""The number of integers in a block."""

_WORD = ir.IntType(64)
_INTEGERS = ir.VectorType(_WORD, WIDTH)
_FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)
_INDEX = ir.IntType(32)
_ALIGN = 8  # of a word: blocks need not lie at multiples of their size


class _Blocks:
    """Writes the code that reads and writes blocks of an array."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        self._builder = builder
        self._data = builder.extract_value(array, 4)  # the members that Numba gives an array
        self.n_blocks = builder.extract_value(array, (5, 0))
        self.half = builder.lshr(self.n_blocks, _WORD(1))
        self._width = builder.extract_value(array, (5, 1))

    def place(self, k: Any, column: Any = None) -> Any:
        """Return the address of block ``k`` of a column, the first by default."""
        at = self._builder.mul(k, self._width)
        if column is not None:
            at = self._builder.add(at, self._builder.mul(column, _WORD(WIDTH)))
        place = self._builder.gep(self._data, [at], inbounds=True)
        return self._builder.bitcast(place, _INTEGERS.as_pointer())

    def load(self, k: Any, column: Any = None) -> Any:
        """Return a block."""
        return self._builder.load(self.place(k, column), align=_ALIGN)

    def halves(self, k: Any) -> tuple[Any, Any]:
        """Return block ``k`` of the first half and of the second."""
        return self.load(k), self.load(self._builder.add(k, self.half))

    def store(self, k: Any, value: Any) -> None:
        """Write a block of the first column."""
        self._builder.store(value, self.place(k), align=_ALIGN)


class _PackedBlocks(_Blocks):
    """The same for words that hold two sums of 32 bits; the last block holds sizes."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        super().__init__(context, builder, kind, array)
        self.half = builder.sub(self.n_blocks, _WORD(1))

    def halves(self, k: Any) -> tuple[Any, Any]:
        """Return the lower sums of block ``k`` and the upper ones."""
        block = self.load(k)
        low, shift = (ir.Constant(_INTEGERS, [n] * WIDTH) for n in (2**32 - 1, 32))
        return self._builder.and_(block, low), self._builder.lshr(block, shift)


def _for_each(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    with cgutils.for_range(builder, count, intp=_WORD) as loop:
        body(loop.index)


@intrinsic
def add_column(typing_context, blocks, columns, b):  # type: ignore[no-untyped-def]
    """Add column ``b`` of some ``columns`` to ``blocks``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        to, of = (_Blocks(context, builder, signature.args[k], arguments[k]) for k in range(2))
        column = arguments[2]
        _for_each(
            builder,
            to.n_blocks,
            lambda k: to.store(k, builder.add(to.load(k), of.load(k, column))),
        )
        return context.get_dummy_value()

    return types.none(blocks, columns, types.int64), generate


@intrinsic
def add_block(typing_context, out, at, block):  # type: ignore[no-untyped-def]
    """Add a block, an array of four, to ``out[at : at + 4]``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        to, of = (builder.extract_value(arguments[k], 4) for k in (0, 2))
        to = builder.gep(to, [arguments[1]], inbounds=True)
        to, of = (builder.bitcast(place, _INTEGERS.as_pointer()) for place in (to, of))
        values = (builder.load(place, align=_ALIGN) for place in (to, of))
        builder.store(builder.add(*values), to, align=_ALIGN)
        return context.get_dummy_value()

    return types.none(out, types.uint64, block), generate


@intrinsic
def total(typing_context, blocks, n_blocks, b):  # type: ignore[no-untyped-def]
    """Return the sum of the first blocks of column ``b``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        of = _Blocks(context, builder, signature.args[0], arguments[0])
        sums = cgutils.alloca_once_value(builder, ir.Constant(_INTEGERS, [0] * WIDTH))

        def add(k: Any) -> None:
            builder.store(builder.add(builder.load(sums), of.load(k, arguments[2])), sums)

        _for_each(builder, arguments[1], add)
        return _fold(builder, builder.load(sums), builder.add)

    return types.int64(blocks, types.int64, types.int64), generate


@intrinsic
def gini(typing_context, blocks, kearns_mansour):  # type: ignore[no-untyped-def]
    """Return the score of the two halves of blocks: the sum of ``(u - l)**2 / (u + l)``.

    With ``kearns_mansour`` the denominators are ``u + l + 2 sqrt(u l)``. A pair of two zeros has no
    score. If the number of blocks is odd, the last one does not count.
    """
    return types.float64(blocks, types.boolean), _score_of(_Blocks)


@intrinsic
def gini_of_sides(typing_context, left, node, kearns_mansour):  # type: ignore[no-untyped-def]
    """Return ``gini(left) + gini(node - left)``, rounded as these calls would be."""
    return types.float64(left, node, types.boolean), _score_of_sides(_Blocks)


@intrinsic
def packed_gini(typing_context, blocks, kearns_mansour):  # type: ignore[no-untyped-def]
    """Return `gini` of words that hold two sums each; the last block does not count."""
    return types.float64(blocks, types.boolean), _score_of(_PackedBlocks)


@intrinsic
def packed_gini_of_sides(typing_context, left, node, kearns_mansour):  # type: ignore[no-untyped-def]
    """Return ``packed_gini(left) + packed_gini(node - left)``, rounded as these would be."""
    return types.float64(left, node, types.boolean), _score_of_sides(_PackedBlocks)


def _score_of(kind: type[_Blocks]) -> Callable[..., Any]:
    """Return what writes the code of `gini` for this kind of blocks."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        of = kind(context, builder, signature.args[0], arguments[0])
        scores = _new_scores(builder)

        def add(k: Any) -> None:
            lower, upper = of.halves(k)
            _add_score(builder, scores, lower, upper, arguments[1])

        _for_each(builder, of.half, add)
        return _fold(builder, builder.load(scores), builder.fadd)

    return generate


def _score_of_sides(kind: type[_Blocks]) -> Callable[..., Any]:
    """Return what writes the code of `gini_of_sides` for this kind of blocks."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        side, whole = (kind(context, builder, signature.args[k], arguments[k]) for k in range(2))
        lefts, rights = _new_scores(builder), _new_scores(builder)

        def add(k: Any) -> None:
            lower, upper = side.halves(k)
            all_lower, all_upper = whole.halves(k)
            rest = builder.sub(all_lower, lower), builder.sub(all_upper, upper)
            _add_score(builder, lefts, lower, upper, arguments[2])
            _add_score(builder, rights, *rest, arguments[2])

        _for_each(builder, whole.half, add)
        scores = [_fold(builder, builder.load(sums), builder.fadd) for sums in (lefts, rights)]
        return builder.fadd(*scores)

    return generate


def _new_scores(builder: Any) -> Any:
    return cgutils.alloca_once_value(builder, ir.Constant(_FLOATS, [0.0] * WIDTH))


def _add_score(builder: Any, scores: Any, lower: Any, upper: Any, kearns_mansour: Any) -> None:
    """Add the scores of four pairs to ``scores``."""

    def as_floats(block: Any) -> Any:
        return builder.sitofp(block, _FLOATS)

    edge = as_floats(builder.sub(upper, lower))
    weight = cgutils.alloca_once(builder, _FLOATS)
    builder.store(as_floats(builder.add(upper, lower)), weight)
    with builder.if_then(kearns_mansour):
        product = builder.fmul(as_floats(lower), as_floats(upper))
        root = builder.call(_square_root(builder), [product])
        twice = builder.fmul(root, ir.Constant(_FLOATS, [2.0] * WIDTH))
        builder.store(builder.fadd(builder.load(weight), twice), weight)
    below = builder.load(weight)
    ones = ir.Constant(_FLOATS, [1.0] * WIDTH)
    below = builder.select(builder.fcmp_ordered(">", below, ones), below, ones)
    share = builder.fdiv(builder.fmul(edge, edge), below)
    builder.store(builder.fadd(builder.load(scores), share), scores)


def _square_root(builder: Any) -> Any:
    kind = ir.FunctionType(_FLOATS, [_FLOATS])
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{WIDTH}f64")


def _fold(builder: Any, vector: Any, add: Callable[[Any, Any], Any]) -> Any:
    """Add the four lanes as a fixed tree."""
    lanes = [builder.extract_element(vector, _INDEX(lane)) for lane in range(WIDTH)]
    return add(add(lanes[0], lanes[1]), add(lanes[2], lanes[3]))
