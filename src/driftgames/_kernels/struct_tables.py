"""Structs as tables: a kernel takes the address of a table of what Numba knows of the arrays.

Numba passes an array as five numbers and two for each dimension, and most of the time to compile a
loop that calls others with 20 arrays went into these arguments. A field is read from the table
where it is used. The table does not change during a call, and the compiler is told so: it reads a
field once, before a loop.

Numba's caches on disk hold the types by the names of their classes: with other names, the caches of
the version before cannot be read.

This needs parts of Numba that are not documented. The import of this module fails if they are not
as expected; `structs` then passes the fields by value.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import default_manager
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.arrayobj import (
    getitem_array_tuple,
    load_item,
    setitem_array,
    store_item,
)

_WORD = ir.IntType(64)
_N_HEADER = 1  # of an array the table holds the address of the data, the shape and the strides
_MEMBERS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")


class StructArray(types.Array):  # type: ignore[misc]  # numba is untyped
    """An array in a struct. Negative indices do not count from its end.

    Numba writes some 70 instructions for an index of three dimensions, most of them for indices
    that might be negative. A block needs eight.
    """

    def copy(self, dtype: Any = None, ndim: int | None = None, layout: str = "C", **_: Any) -> Any:
        """Return the type of a part of it: a block too, if it is contiguous."""
        kind = StructArray if layout == "C" else types.Array
        return kind(dtype or self.dtype, self.ndim if ndim is None else ndim, layout)


class TableType(types.Type):  # type: ignore[misc]  # numba is untyped
    """The type of a struct: the types of its fields, and where they stand in the table."""

    def __init__(self, name: str, members: tuple[tuple[str, Any], ...]) -> None:
        self.places: dict[str, tuple[int, Any]] = {}
        at = 0
        for member, kind in members:
            self.places[member] = at, kind
            at += _N_HEADER + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        super().__init__(name=name)


@register_model(TableType)
class _TableModel(models.PrimitiveModel):  # type: ignore[misc]
    """In compiled code a struct is the address of its table."""

    def __init__(self, manager: Any, kind: TableType) -> None:
        super().__init__(manager, kind, _WORD)


@unbox(TableType)  # type: ignore[untyped-decorator]
def _unbox(kind: TableType, value: Any, context: Any) -> NativeValue:
    """Read the address of the table; an exception on the way there ends the call."""
    builder = context.builder
    number, failed = (cgutils.alloca_once_value(builder, v) for v in (_WORD(0), cgutils.true_bit))
    address = context.pyapi.object_getattr_string(value, "address")
    with builder.if_then(cgutils.is_not_null(builder, address), likely=True):
        builder.store(context.pyapi.long_as_longlong(address), number)
        context.pyapi.decref(address)
        builder.store(cgutils.false_bit, failed)
    return NativeValue(builder.load(number), is_error=builder.load(failed))


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = TableType

    def generic_resolve(self, kind: TableType, name: str) -> Any:
        """Return the type of a field."""
        return kind.places[name][1] if name in kind.places else None


@lower_getattr_generic(TableType)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, kind: TableType, value: Any, name: str) -> Any:
    """Read a field from the table."""
    place, field = kind.places[name]
    table = builder.inttoptr(value, _WORD.as_pointer())
    fixed = builder.module.add_metadata([])

    def word(k: int) -> Any:
        number = builder.load(builder.gep(table, [_WORD(place + k)], inbounds=True))
        number.set_metadata("invariant.load", fixed)
        return number

    if not isinstance(field, types.Array):
        return word(0)
    data = builder.inttoptr(word(0), context.get_data_type(field.dtype).as_pointer())
    n = field.ndim
    sizes, steps = ([word(1 + part * n + k) for k in range(n)] for part in range(2))
    return _as_array(context, builder, field, data, sizes, steps)


register_model(StructArray)(models.ArrayModel)


def _check_numba() -> None:
    """Raise ImportError if Numba keeps an array in another way than `_as_array` does."""
    model = default_manager.lookup(StructArray(types.float64, 1, "C"))
    if getattr(model, "_fields", None) != _MEMBERS:
        raise ImportError(f"Numba {numba.__version__}: arrays have other members")


_check_numba()

_N_ITEMS, _ITEM_SIZE, _DATA, _SHAPE, _STRIDES = range(2, 7)  # the members that Numba gives an array


def _as_array(
    context: Any, builder: Any, kind: StructArray, data: Any, sizes: list[Any], steps: list[Any]
) -> Any:
    """Return an array as Numba keeps it."""
    n_items = sizes[0]
    for size in sizes[1:]:
        n_items = builder.mul(n_items, size)
    item_size = _WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array = context.get_value_type(kind)(None)  # without an owner
    array = builder.insert_value(array, n_items, _N_ITEMS)
    array = builder.insert_value(array, item_size, _ITEM_SIZE)
    array = builder.insert_value(array, data, _DATA)
    for k, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        array = builder.insert_value(array, size, (_SHAPE, k))
        array = builder.insert_value(array, step, (_STRIDES, k))
    return array


def _is_simple(kind: Any) -> bool:
    """Whether an index consists of integers."""
    return isinstance(kind, types.Integer) or all(isinstance(k, types.Integer) for k in kind)


def _unpack(context: Any, builder: Any, kind: Any, index: Any) -> list[Any]:
    """Return the indices of all dimensions as words."""
    if isinstance(kind, types.Integer):
        return [context.cast(builder, index, kind, types.intp)]
    values = [builder.extract_value(index, k) for k in range(len(kind))]
    return [context.cast(builder, *each, types.intp) for each in zip(values, kind, strict=True)]


def _place(builder: Any, kind: StructArray, array: Any, indices: Sequence[Any]) -> Any:
    """Return the address of an item, or of the first item of a row."""
    at = indices[0]
    for k in range(1, kind.ndim):
        at = builder.mul(at, builder.extract_value(array, (_SHAPE, k)))
        if k < len(indices):
            at = builder.add(at, indices[k])
    return builder.gep(builder.extract_value(array, _DATA), [at], inbounds=True)


@lower_builtin(operator.getitem, StructArray, types.Integer)  # type: ignore[untyped-decorator]
@lower_builtin(operator.getitem, StructArray, types.BaseTuple)  # type: ignore[untyped-decorator]
def _get_item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind = signature.args
    if not _is_simple(index_kind):
        return getitem_array_tuple(context, builder, signature, arguments)
    array, indices = arguments[0], _unpack(context, builder, index_kind, arguments[1])
    place = _place(builder, kind, array, indices)
    if len(indices) == kind.ndim:
        return load_item(context, builder, kind, place)
    left = range(len(indices), kind.ndim)
    sizes, steps = (
        [builder.extract_value(array, (part, k)) for k in left] for part in (_SHAPE, _STRIDES)
    )
    return _as_array(context, builder, signature.return_type, place, sizes, steps)


@lower_builtin(operator.setitem, StructArray, types.Integer, types.Any)  # type: ignore[untyped-decorator]
@lower_builtin(operator.setitem, StructArray, types.BaseTuple, types.Any)  # type: ignore[untyped-decorator]
def _set_item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind, value_kind = signature.args
    if not _is_simple(index_kind) or isinstance(value_kind, types.Buffer):
        return setitem_array(context, builder, signature, arguments)
    indices = _unpack(context, builder, index_kind, arguments[1])
    value = context.cast(builder, arguments[2], value_kind, kind.dtype)
    store_item(context, builder, kind, value, _place(builder, kind, arguments[0], indices))
    return context.get_dummy_value()
