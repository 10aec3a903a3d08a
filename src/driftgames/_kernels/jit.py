"""How loops are compiled: one decorator for kernels, one for the scalar functions inside them.

Kernels are cached on disk, release the GIL and divide as NumPy does. No kernel gives the
compiler leave to re-order or fuse floating point: with it, results would depend on where arrays
lie in memory, on the processor and on the compiler's version. Sums that must be fast are written
in `driftgames._kernels.lanes`. A scalar function is always inlined into the loop it stands in.
"""

from __future__ import annotations

import gc
import threading
import warnings
import zlib
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import njit
from numba.core import event

from driftgames._kernels.linking import LinkedCompiler

F = TypeVar("F", bound=Callable[..., Any])
Chain = tuple[FunctionType, ...]

_COMMON: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": False,  # numba takes an option that is not given from the first caller compiled
    "no_cfunc_wrapper": True,  # no C code calls a kernel, and it compiles faster without
    "_nrt": False,  # a kernel that neither makes nor returns arrays compiles faster without
}

_LINKED: dict[str, Any] = {
    **_COMMON,
    "no_cpython_wrapper": True,
    "pipeline_class": LinkedCompiler,
}

if numba.config.DISABLE_JIT:  # vector intrinsics exist in compiled code only
    warnings.warn(
        "NUMBA_DISABLE_JIT is not obeyed in this process: driftgames' kernels run compiled only",
        RuntimeWarning,
        stacklevel=2,
    )
    numba.config.DISABLE_JIT = 0


class _CollectLater(event.Listener):  # type: ignore[misc]  # numba is untyped
    """Pauses the garbage collector while Numba compiles: there it finds little and takes long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiling = 0
        self._collects = False

    def on_start(self, event: Any) -> None:
        with self._lock:
            if self._compiling == 0:
                self._collects = gc.isenabled()
                gc.disable()
            self._compiling += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._compiling -= 1
            if self._compiling == 0 and self._collects:
                gc.enable()


event.register("numba:compile", _CollectLater())


def _compile(function: F, compiler: Callable[[F], F], **options: Any) -> F:
    cast(Any, function).compiler = compiler  # `templates` compiles copies in the same way
    return cast(F, njit(**options)(function))


def kernel(function: F) -> F:
    """Compile a loop over chips, rounds or rows."""
    return _compile(function, kernel, cache=True, nogil=True, **_COMMON)


def allocating_kernel(function: F) -> F:
    """Compile a loop that makes arrays, or returns some to Python."""
    return _compile(
        function, allocating_kernel, cache=True, nogil=True, **{**_COMMON, "_nrt": True}
    )


def brief_kernel(function: F) -> F:
    """Compile a step of some 100 ns. It keeps the GIL, because releasing it takes as long."""
    return _compile(function, brief_kernel, cache=True, **_COMMON)


def inner_kernel(function: F) -> F:
    """Compile a part of a kernel that Python itself never calls."""
    return _compile(function, inner_kernel, **_LINKED)


def scalar(function: F) -> F:
    """Compile a function of values that is inlined wherever a kernel calls it."""
    return _compile(function, scalar, cache=True, forceinline=True, **_COMMON)


def inner_scalar(function: F) -> F:
    """Compile a function of values that Python itself never calls."""
    return _compile(function, inner_scalar, forceinline=True, **_LINKED)


def specialise(loop: F, compiler: Callable[[F], F], **functions: Any) -> F:
    """Compile ``loop`` with global names in it bound to the given compiled functions.

    Numba cannot cache a kernel that takes a function as an argument or a closure, and it can
    cache one that calls a global. So the loop is copied, given globals of its own, and named
    after what it calls, however deep: the code, and the values of the names it uses, which are
    compiled in. Every combination has its place in the cache, and where a function or a value
    has changed the loop is compiled anew.
    """
    source = cast(FunctionType, loop)
    names = {**source.__globals__, **functions}
    mark = zlib.crc32(repr(_called(source, names)).encode())
    name = f"{source.__name__}_{mark:08x}"
    bound = FunctionType(source.__code__, names, name)
    bound.__qualname__ = name
    bound.__doc__ = source.__doc__
    return compiler(cast(F, bound))


def _called(function: FunctionType, names: Mapping[str, Any], within: Chain = ()) -> list[object]:
    """Return code and constants of a function and of all that it reaches by global ``names``."""
    code = function.__code__
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    reached: list[object] = [code.co_code, constants]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    enclosed = dict(zip(code.co_freevars, cells, strict=True))
    for name in (*code.co_names, *code.co_freevars):
        value = enclosed.get(name, names.get(name))
        inner = getattr(value, "py_func", None)
        if inner is None:
            reached.append((name, _frozen(value)))
        elif inner not in within:  # it may call itself
            reached.append((name, _called(inner, inner.__globals__, (*within, function))))
    return reached


def _frozen(value: object) -> object:
    """Return what numba compiles into the code where a name stands for ``value``."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, zlib.crc32(value.tobytes())
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, int | float | complex | str | bytes | np.generic):
        return repr(value)
    return type(value).__name__
