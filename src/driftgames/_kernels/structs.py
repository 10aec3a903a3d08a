"""Structs of arrays: kernels take many arrays as one argument.

A `Struct` keeps what Numba knows of its arrays in a table in memory, and a kernel takes the address
of the table: `struct_tables` says why. Where Numba's private parts differ from those of today, all
fields are passed by value, as Numba documents it. Kernels then take longer to compile.
"""

from __future__ import annotations

import zlib
from contextlib import ExitStack
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types
from numba.core import cgutils
from numba.extending import (
    NativeValue,
    make_attribute_wrapper,
    models,
    register_model,
    typeof_impl,
    unbox,
)


class Struct:
    """Base of frozen dataclasses whose fields are arrays, integers and other structs.

    Arrays are C-contiguous, with at least one dimension. Kernels read the fields and may write to
    the arrays.

    The table is made with the struct. So a call of a kernel reads plain attributes, which runs no
    Python code that an interruption could end.
    """

    table: npt.NDArray[np.int64]
    """What kernels read: a run of integers for each field."""
    address: int
    """Where the table is in memory."""
    numba_type: Any
    """The type that kernels are compiled for."""

    def __post_init__(self) -> None:
        words: list[int] = []
        kinds: list[Any] = []
        for field in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, field.name)
            if isinstance(value, Struct):
                words.append(value.address)
                kinds.append(value.numba_type)
            elif isinstance(value, int | np.integer):
                words.append(int(value))
                kinds.append(types.int64)
            else:
                if not value.flags.c_contiguous:
                    raise ValueError(f"{field.name} must be C-contiguous")
                # `__array_interface__` has the address too, but NumPy clears all errors on the way
                # to it, a KeyboardInterrupt too
                words += [value.ctypes.data, *value.shape, *value.strides]
                kinds.append((value.dtype, value.ndim))
        table = np.array(words, dtype=np.int64)
        for name, made in (
            ("table", table),
            ("address", table.ctypes.data),
            ("numba_type", _struct_type(type(self), tuple(kinds))),  # type: ignore[arg-type]
        ):
            object.__setattr__(self, name, made)

    def __reduce__(self) -> Any:
        """Copy the fields: the table of a copy is its own."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


def new_counters(*integers: str, reals: tuple[str, ...] = ()) -> npt.NDArray[Any]:
    """Return one record of zeros for a struct: integers and floats that kernels may change.

    Both Python and kernels write ``counters = struct.counters[0]`` and ``counters.n += 1``.
    """
    return np.zeros(1, _counter_type(integers, reals)).view(np.recarray)


@cache
def _counter_type(integers: tuple[str, ...], reals: tuple[str, ...]) -> np.dtype[Any]:
    fields = [(name, np.int64) for name in integers] + [(name, np.float64) for name in reals]
    return np.dtype((np.record, np.dtype(fields, align=True)))


@cache
def _struct_type(struct: type[Struct], kinds: tuple[Any, ...]) -> Any:
    members = tuple(
        (field.name, _array_type(*kind) if isinstance(kind, tuple) else kind)
        for field, kind in zip(fields(struct), kinds, strict=True)  # type: ignore[arg-type]
    )
    shown = ", ".join(f"{member}: {kind}" for member, kind in members)
    # a short name: it stands in the names of all functions that take the struct
    return TYPE(f"{struct.__name__}.{zlib.crc32(shown.encode()):08x}", members)


@cache
def _array_type(dtype: np.dtype[Any], n_dimensions: int) -> Any:
    return ARRAY(from_dtype(dtype), n_dimensions, "C")


@typeof_impl.register(Struct)  # type: ignore[untyped-decorator]
def _type_of(value: Struct, context: Any) -> Any:
    return value.numba_type


class ValueType(types.Type):  # type: ignore[misc]  # numba is untyped
    """The type of a struct whose fields are passed by value."""

    def __init__(self, name: str, members: tuple[tuple[str, Any], ...]) -> None:
        self.members = members
        super().__init__(name=name)
        for member, _ in members:
            _show_field(member)


@cache
def _show_field(name: str) -> None:
    """Let compiled code read a field of this name, whatever the struct."""
    make_attribute_wrapper(ValueType, name, name)


@register_model(ValueType)
class _ValueModel(models.StructModel):  # type: ignore[misc]
    """In compiled code a struct is all its fields."""

    def __init__(self, manager: Any, kind: ValueType) -> None:
        super().__init__(manager, kind, list(kind.members))


@unbox(ValueType)  # type: ignore[untyped-decorator]
def _unbox(kind: ValueType, value: Any, context: Any) -> NativeValue:
    """Read the fields; an exception on the way there ends the call."""
    builder = context.builder
    made = cgutils.create_struct_proxy(kind)(context.context, builder)
    failed = cgutils.alloca_once_value(builder, cgutils.false_bit)
    with ExitStack() as fields_left:  # later fields are not read after an exception
        for name, member in kind.members:
            field = context.pyapi.object_getattr_string(value, name)
            with cgutils.early_exit_if_null(builder, fields_left, field):
                builder.store(cgutils.true_bit, failed)
            read = context.unbox(member, field)
            setattr(made, name, read.value)
            context.pyapi.decref(field)
            with cgutils.early_exit_if(builder, fields_left, read.is_error):
                builder.store(cgutils.true_bit, failed)
    return NativeValue(made._getvalue(), is_error=builder.load(failed))


try:
    from driftgames._kernels import struct_tables
except (ImportError, AttributeError):  # Numba's private parts differ from those of today
    ARRAY: Any = types.Array
    TYPE: Any = ValueType
else:
    ARRAY, TYPE = struct_tables.StructArray, struct_tables.TableType
