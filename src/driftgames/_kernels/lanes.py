"""Eight floats that a kernel handles as one value: the unit of every sum over chips.

A `Lanes` value is an LLVM vector of eight doubles. Arithmetic on it is IEEE arithmetic on each
lane, so a result depends neither on the instructions that a processor has, nor on where arrays
lie in memory, nor on what a compiler finds worth vectorising. A sum over chips adds chip ``i``
to lane ``i % 8``, in order, and `fold` adds the eight lanes as a fixed tree. That order is the
definition of a sum in this library.

A loop over chips reads::

    total = spread(0.0)
    for i in range(0, x.size, LANES):
        total += load(x, i, 0.0)
    return fold(total)

`load` fills the lanes beyond the end of the array and `store` leaves them out, so the same code
serves whole groups and the rest. The functions of `driftgames._kernels.arithmetic` take floats
and `Lanes` alike, so that a formula is written once for both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaTypeError
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8

_INDEX = ir.IntType(32)
FLOATS = ir.VectorType(ir.DoubleType(), LANES)
BITS = ir.VectorType(ir.IntType(64), LANES)
_FLAGS = ir.VectorType(ir.IntType(1), LANES)
_BYTES = ir.VectorType(ir.IntType(8), LANES)


class Lanes(types.Type):  # type: ignore[misc]
    """The numba type of eight floats."""


class Mask(types.Type):  # type: ignore[misc]
    """The numba type of eight truth values."""


LANES_TYPE, MASK_TYPE = Lanes("Lanes"), Mask("Mask")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, FLOATS)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Mask) -> None:
        super().__init__(manager, kind, _FLAGS)


# -------------------------------------------------------------------- helpers that write code


def repeat(builder: Any, value: Any, kind: Any = FLOATS) -> Any:
    """Return a vector with ``value`` in every lane."""
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(
        one, nothing, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    )


def widen(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """Return all values as vectors."""
    return [
        value
        if isinstance(kind, Lanes)
        else repeat(builder, context.cast(builder, value, kind, types.float64))
        for kind, value in zip(kinds, values, strict=True)
    ]


def _reduce(builder: Any, vector: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Combine the upper half of the lanes with the lower half until one lane is left."""
    count = LANES
    while count > 1:
        count //= 2
        nothing = ir.Constant(vector.type, ir.Undefined)
        kind = ir.VectorType(_INDEX, count)
        low, high = (
            builder.shuffle_vector(
                vector, nothing, ir.Constant(kind, list(range(first, first + count)))
            )
            for first in (0, count)
        )
        vector = combine(low, high)
    return builder.extract_element(vector, ir.Constant(_INDEX, 0))


def select_ordered(sign: str) -> Callable[[Any, Any, Any], Any]:
    """Return what writes the code of ``x if x < y else y``, for this sign in the place of <."""
    return lambda builder, x, y: builder.select(builder.fcmp_ordered(sign, x, y), x, y)


def _of_one(emit: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return the code generator of a function of one argument."""
    return lambda context, builder, signature, arguments: emit(builder, arguments[0])


def _is_number(kind: Any) -> bool:
    return isinstance(kind, Lanes | types.Float | types.Integer)


def _binary(operation: Any, result: Any, emit: Callable[[Any, Any, Any], Any]) -> None:
    """Teach numba an operator of two values of which at least one is `Lanes`."""

    @type_callable(operation)  # type: ignore[untyped-decorator]
    def resolve(context: Any) -> Any:
        def kind_of(x: Any, y: Any) -> Any:
            wide = isinstance(x, Lanes) or isinstance(y, Lanes)
            return result if wide and _is_number(x) and _is_number(y) else None

        return kind_of

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return emit(builder, *widen(context, builder, signature.args, arguments))

    for pair in (
        (Lanes, Lanes),
        (Lanes, types.Float),
        (types.Float, Lanes),
        (Lanes, types.Integer),
        (types.Integer, Lanes),
    ):
        lower_builtin(operation, *pair)(generate)


def _unary(operation: Any, kind: Any, emit: Callable[[Any, Any], Any]) -> None:
    """Teach numba an operator of one `Lanes` or `Mask`."""

    @type_callable(operation)  # type: ignore[untyped-decorator]
    def resolve(context: Any) -> Any:
        return lambda x: x if isinstance(x, kind) else None

    lower_builtin(operation, kind)(_of_one(emit))


def _logical(operation: Any, emit: Callable[[Any, Any, Any], Any]) -> None:
    """Teach numba an operator of two masks."""

    @type_callable(operation)  # type: ignore[untyped-decorator]
    def resolve(context: Any) -> Any:
        return lambda x, y: MASK_TYPE if isinstance(x, Mask) and isinstance(y, Mask) else None

    lower_builtin(operation, Mask, Mask)(
        lambda context, builder, signature, arguments: emit(builder, *arguments)
    )


# -------------------------------------------------------------------- operators

for _add in (operator.add, operator.iadd):
    _binary(_add, LANES_TYPE, lambda builder, x, y: builder.fadd(x, y))
for _subtract in (operator.sub, operator.isub):
    _binary(_subtract, LANES_TYPE, lambda builder, x, y: builder.fsub(x, y))
for _multiply in (operator.mul, operator.imul):
    _binary(_multiply, LANES_TYPE, lambda builder, x, y: builder.fmul(x, y))
for _divide in (operator.truediv, operator.itruediv):
    _binary(_divide, LANES_TYPE, lambda builder, x, y: builder.fdiv(x, y))
_binary(operator.lt, MASK_TYPE, lambda builder, x, y: builder.fcmp_ordered("<", x, y))
_binary(operator.le, MASK_TYPE, lambda builder, x, y: builder.fcmp_ordered("<=", x, y))
_binary(operator.gt, MASK_TYPE, lambda builder, x, y: builder.fcmp_ordered(">", x, y))
_binary(operator.ge, MASK_TYPE, lambda builder, x, y: builder.fcmp_ordered(">=", x, y))
_binary(operator.eq, MASK_TYPE, lambda builder, x, y: builder.fcmp_ordered("==", x, y))
_unary(operator.neg, Lanes, lambda builder, x: builder.fneg(x))
_unary(operator.invert, Mask, lambda builder, x: builder.not_(x))
_logical(operator.and_, lambda builder, x, y: builder.and_(x, y))
_logical(operator.or_, lambda builder, x, y: builder.or_(x, y))


# -------------------------------------------------------------------- memory


def _check_vector(array: Any, *kinds: Any) -> None:
    if not (
        isinstance(array, types.Array)
        and array.ndim == 1
        and array.layout == "C"
        and array.dtype in kinds
    ):
        raise NumbaTypeError(f"lanes need a contiguous vector of {kinds}; got {array}")


def _ahead(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> tuple[Any, Any]:
    """Return the address of an entry and how many entries there are from it on."""
    struct = context.make_array(kind)(context, builder, value=array)
    left = builder.sub(builder.extract_value(struct.shape, 0), start)
    return builder.gep(struct.data, [start]), left


def _is_whole(builder: Any, left: Any) -> Any:
    return builder.icmp_signed(">=", left, ir.Constant(left.type, LANES))


def _mask_of_first(builder: Any, count: Any) -> Any:
    numbers = ir.Constant(BITS, list(range(LANES)))
    return builder.icmp_signed("<", numbers, repeat(builder, count, BITS))


def _masked(builder: Any, operation: str, kind: Any, result: Any, arguments: list[Any]) -> Any:
    """Call LLVM's masked load or store of eight entries."""
    element = {"double": "f64", "float": "f32", "i8": "i8"}[str(kind.element)]
    types_of_arguments = [argument.type for argument in arguments]
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(result, types_of_arguments),
        f"llvm.masked.{operation}.v{LANES}{element}.p0",
    )
    return builder.call(function, arguments)


def _read(builder: Any, address: Any, left: Any, pad: Any) -> Any:
    """Return the next eight entries, or those that are left and the pad."""
    kind = pad.type
    all_of_them = builder.bitcast(address, kind.as_pointer())
    with builder.if_else(_is_whole(builder, left), likely=True) as (whole, rest):
        with whole:
            together = builder.load(all_of_them, align=1)
            from_whole = builder.block
        with rest:
            mask, alignment = _mask_of_first(builder, left), ir.Constant(_INDEX, 1)
            part = _masked(builder, "load", kind, kind, [all_of_them, alignment, mask, pad])
            from_rest = builder.block
    entries = builder.phi(kind)
    entries.add_incoming(together, from_whole)
    entries.add_incoming(part, from_rest)
    return entries


@intrinsic
def load(typing_context, x, start, pad):  # type: ignore[no-untyped-def]
    """Return ``x[start:start + 8]``; lanes beyond the end hold ``pad``. float32 is widened."""
    _check_vector(x, types.float64, types.float32)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array, start, pad = arguments
        address, left = _ahead(context, builder, signature.args[0], array, start)
        if signature.args[0].dtype == types.float64:
            return _read(builder, address, left, repeat(builder, pad))
        narrow = ir.VectorType(ir.FloatType(), LANES)
        entries = _read(builder, address, left, ir.Constant(narrow, [0.0] * LANES))
        there = _mask_of_first(builder, left)
        return builder.select(there, builder.fpext(entries, FLOATS), repeat(builder, pad))

    return LANES_TYPE(x, types.intp, types.float64), generate


@intrinsic
def load_mask(typing_context, x, start):  # type: ignore[no-untyped-def]
    """Return ``x[start:start + 8]`` of truth values; lanes beyond the end are false."""
    _check_vector(x, types.boolean)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        address, left = _ahead(context, builder, signature.args[0], *arguments)
        nothing = ir.Constant(_BYTES, [0] * LANES)
        return builder.icmp_unsigned("!=", _read(builder, address, left, nothing), nothing)

    return MASK_TYPE(x, types.intp), generate


@intrinsic
def store(typing_context, x, start, value):  # type: ignore[no-untyped-def]
    """Write ``value`` to ``x[start:start + 8]``, as far as there are such entries."""
    _check_vector(x, types.float64)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array, start, value = arguments
        address, left = _ahead(context, builder, signature.args[0], array, start)
        all_of_them = builder.bitcast(address, FLOATS.as_pointer())
        with builder.if_else(_is_whole(builder, left), likely=True) as (whole, rest):
            with whole:
                builder.store(value, all_of_them, align=1)
            with rest:
                mask, alignment = _mask_of_first(builder, left), ir.Constant(_INDEX, 1)
                arguments = [value, all_of_them, alignment, mask]
                _masked(builder, "store", FLOATS, ir.VoidType(), arguments)
        return context.get_dummy_value()

    return types.void(x, types.intp, LANES_TYPE), generate


# -------------------------------------------------------------------- between floats and lanes


@intrinsic
def spread(typing_context, x):  # type: ignore[no-untyped-def]
    """Return ``x`` in every lane."""
    return LANES_TYPE(types.float64), _of_one(repeat)


@intrinsic
def first(typing_context, count):  # type: ignore[no-untyped-def]
    """Return the mask of the first ``count`` lanes; of all lanes from 8 on."""
    return MASK_TYPE(types.intp), _of_one(_mask_of_first)


@intrinsic
def fold(typing_context, x):  # type: ignore[no-untyped-def]
    """Return the sum of the lanes, as the tree ((0+4)+(2+6))+((1+5)+(3+7))."""
    return types.float64(LANES_TYPE), _of_one(lambda builder, x: _reduce(builder, x, builder.fadd))


@intrinsic
def fold_lesser(typing_context, x):  # type: ignore[no-untyped-def]
    """Return the smallest lane."""
    emit = select_ordered("<")
    return types.float64(LANES_TYPE), _of_one(
        lambda builder, x: _reduce(builder, x, lambda low, high: emit(builder, low, high))
    )


@intrinsic
def any_of(typing_context, mask):  # type: ignore[no-untyped-def]
    """Return whether any lane is true; a single truth value is its own answer."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        if isinstance(signature.args[0], Mask):
            return _reduce(builder, arguments[0], builder.or_)
        return arguments[0]

    return types.boolean(mask), generate
