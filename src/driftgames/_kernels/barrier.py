"""Threads that meet inside a kernel: a barrier of atomic counters.

A thread that arrives early spins for some microseconds, because the others are usually near. Then
it sleeps, so that a busy machine can run them: on a futex on Linux, elsewhere it yields. Numba
compiles and caches this code like any other.
"""

from __future__ import annotations

import platform
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from driftgames._kernels.jit import inner_kernel

T = TypeVar("T")

_SECONDS = 0.05  # between two looks of a thread that waits to begin
_SPINS = 400  # pauses, some 10 microseconds: about as long as it takes to wake a thread
_ARRIVED, _GENERATION, _SLEEPERS, _SIZE = 0, 8, 16, 24  # 64 bytes apart: a cache line for each
_WORD = ir.IntType(64)
_FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine(), -1)
_SLEEPS = sys.platform == "linux" and _FUTEX >= 0
_WAIT, _WAKE = 128, 129  # futex operations, private to the process
_integer = types.int64
_yield_now = types.ExternalFunction("sched_yield", types.int32())
_syscall = types.ExternalFunction("syscall", _integer(*[_integer] * 7))
_YIELDS = sys.platform != "win32"
_PAUSES = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}


def new_barrier() -> npt.NDArray[np.int64]:
    """Return the counters of a barrier."""
    return np.zeros(_SIZE, dtype=np.int64)


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return cgutils.get_item_pointer(
        context, builder, signature.args[0], array, [arguments[1]], wraparound=False
    )


@intrinsic
def _address(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Return the address of ``array[index]``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ptrtoint(_pointer(context, builder, signature, arguments), _WORD)

    return _integer(array, _integer), generate


@intrinsic
def _add(typing_context, array, index, value):  # type: ignore[no-untyped-def]
    """Add to ``array[index]`` atomically; return what it was."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return _integer(array, _integer, _integer), generate


@intrinsic
def _load(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Return ``array[index]`` as all threads see it."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return _integer(array, _integer), generate


@intrinsic
def _store(typing_context, array, index, value):  # type: ignore[no-untyped-def]
    """Write ``array[index]`` for all threads."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.none(array, _integer, _integer), generate


@intrinsic
def _pause(typing_context):  # type: ignore[no-untyped-def]
    """Tell the processor that this is a loop that waits; without it, a turn takes no time."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        if platform.machine() in _PAUSES:
            name, numbers = _PAUSES[platform.machine()]
            given = [ir.IntType(32)(number) for number in numbers]
            kind = ir.FunctionType(ir.VoidType(), [value.type for value in given])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), given)
        return context.get_dummy_value()

    return types.none(), generate


@inner_kernel
def meet(barrier: npt.NDArray[np.int64], n_threads: int) -> None:
    """Wait until all threads have come here."""
    if n_threads == 1:
        return
    generation = _load(barrier, _GENERATION)
    if _add(barrier, _ARRIVED, 1) == n_threads - 1:
        _store(barrier, _ARRIVED, 0)
        _add(barrier, _GENERATION, 1)
        if _SLEEPS and _load(barrier, _SLEEPERS) > 0:
            _syscall(_FUTEX, _address(barrier, _GENERATION), _WAKE, 1 << 30, 0, 0, 0)
        return
    spins = 0
    while _load(barrier, _GENERATION) == generation:
        spins += 1
        if spins <= _SPINS:
            _pause()
        elif _SLEEPS:
            _add(barrier, _SLEEPERS, 1)
            place = _address(barrier, _GENERATION)
            _syscall(_FUTEX, place, _WAIT, generation & 0xFFFFFFFF, 0, 0, 0)
            _add(barrier, _SLEEPERS, -1)
        elif _YIELDS:
            _yield_now()


def run_together(task: Callable[[int], T], n_threads: int) -> list[T]:
    """Return ``task(0), ..., task(n_threads - 1)``, which run at the same time and may `meet`.

    A thread that waits in a barrier cannot be called back. So no task begins before all threads
    have started, and none runs in the calling thread, which alone an interruption may end. After an
    interruption the tasks are awaited all the same: they hold the arrays of the caller.
    """
    if n_threads == 1:
        return [task(0)]
    answers: list[Any] = [None] * n_threads
    errors: list[BaseException] = []
    ended = [threading.Event() for _ in range(n_threads)]
    caller, gate = _Caller(), threading.Event()
    awaited = weakref.ref(caller)

    def run(p: int) -> None:
        while not gate.wait(_SECONDS):
            if awaited() is None:  # an interruption has ended the caller before it said so
                return
        try:
            if caller_says_go[0]:
                answers[p] = task(p)
        except BaseException as error:  # it is raised in the calling thread
            errors.append(error)
        finally:
            ended[p].set()

    caller_says_go = [False]
    threads = [threading.Thread(target=run, args=(p,), daemon=True) for p in range(n_threads)]
    try:
        for thread in threads:
            thread.start()
        caller_says_go[0] = True
    finally:
        gate.set()
    interruption = _await_all(ended)
    for error in (interruption, *errors):
        if error is not None:
            raise error
    return answers


class _Caller:
    """It lives as long as a call of `run_together`."""


def _await_all(ended: list[threading.Event]) -> KeyboardInterrupt | None:
    """Wait for all threads, whatever comes; return the interruption that came meanwhile.

    `Thread.join` is not used: before Python 3.12 a join that is interrupted takes the thread for
    ended.
    """
    interruption = None
    while not all(each.is_set() for each in ended):
        try:
            for each in ended:
                each.wait()
        except KeyboardInterrupt as error:
            interruption = error
    return interruption
