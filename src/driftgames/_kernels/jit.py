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
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core import event

from driftgames.core.progress import Words, make_bar

F = TypeVar("F", bound=Callable[..., Any])

_COMMON: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": False,  # numba takes an option that is not given from the first caller compiled
    "no_cfunc_wrapper": True,  # no C code calls a kernel, and it compiles faster without
    "_nrt": False,  # a kernel that neither makes nor returns arrays compiles faster without
}

try:
    from driftgames._kernels.linking import LinkedCompiler
except (ImportError, AttributeError):  # Numba's private parts differ from those of today
    _LINKED = _COMMON
else:
    _LINKED = {**_COMMON, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}

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


class _ShowCompilation(event.Listener):  # type: ignore[misc]
    """Shows a bar while a kernel is compiled: else the first fit stands still without a word."""

    def __init__(self) -> None:
        self._here = threading.local()  # kernels in two threads are compiled one after the other

    def on_start(self, event: Any) -> None:
        here = self._here
        here.depth = getattr(here, "depth", 0) + 1
        if here.depth == 1:
            own = event.data["dispatcher"].py_func.__module__.startswith("driftgames.")
            here.bar = make_bar(_COMPILING) if own else None
        if here.bar is not None:
            here.bar.advance(1)

    def on_end(self, event: Any) -> None:
        here = self._here
        here.depth -= 1
        if here.depth == 0 and here.bar is not None:
            here.bar.close()


_COMPILING = Words("compiling, once for this installation", None, "functions")

event.register("numba:compile", _CollectLater())
event.register("numba:compile", _ShowCompilation())


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
