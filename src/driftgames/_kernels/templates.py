"""Templates: functions that are compiled for parts which are bound later.

A template calls the functions of a part by a global name that stands for a module::

    sides = Part("sides")

    @inner_kernel
    def measure(totals):
        return sides.score(totals)

``instantiate(measure, sides=two_classes)`` compiles a copy of it for the module ``two_classes``.
Compiled functions that it calls, however deep, are copied too if they refer to a part.

Numba cannot cache a kernel that takes a function as an argument or a closure, and it can cache one
that refers to a global. So a copy has globals of its own. Its name ends with a checksum of what it
reaches: code, and values that are compiled in. Every combination of parts has its place in the
cache on disk, and is compiled anew where a function or a value has changed.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
Compiler = Callable[[Any], Any]

_LOCK = threading.RLock()


class Part(ModuleType):
    """Stands for a module until `instantiate` binds one; its name is the keyword for it."""


def as_part(name: str, **members: Any) -> ModuleType:
    """Return functions and constants as a module."""
    module = ModuleType(name)
    vars(module).update(members)
    return module


def instantiate(function: F, compiler: Compiler | None = None, /, **parts: object) -> F:
    """Return a copy of ``function`` that is compiled for the given parts.

    A part is a module, an object whose attributes are functions and constants, or an integer. A
    function that has been decorated is compiled as its decorator says, if no other ``compiler`` is
    given. The same parts give the same copy.
    """
    with _LOCK:  # fits in several threads ask for the same copies
        return cast(F, _instances(frozenset(parts.items())).bind(function, compiler))


@cache
def _instances(parts: frozenset[tuple[str, object]]) -> _Instances:
    return _Instances(dict(parts))


class _Instances:
    """The functions that are compiled for the same parts."""

    def __init__(self, parts: dict[str, object]) -> None:
        self._parts = parts
        self._bound: dict[tuple[Any, Compiler | None], Any] = {}
        self._checksums: dict[FunctionType, int] = {}

    def bind(self, function: Any, compiler: Compiler | None = None) -> Any:
        """Return the copy of a function; the function itself if it refers to no part."""
        key = function, compiler
        if key not in self._bound:
            self._bound[key] = function  # if it calls itself
            self._bound[key] = self._copy(function, compiler)
        return self._bound[key]

    def _copy(self, function: Any, compiler: Compiler | None) -> Any:
        source: Any = _plain(function) or function
        changed = {}
        for name in source.__code__.co_names:
            value = source.__globals__.get(name)
            bound = value
            if isinstance(value, ModuleType):
                bound = self._bind_module(value, source)
            elif hasattr(value, "py_func"):
                bound = self.bind(value)
            if bound is not value:
                changed[name] = bound
        if not changed and compiler is None:
            return function
        names = {**source.__globals__, **changed}
        further = source.__defaults__, source.__closure__
        copy = FunctionType(source.__code__, names, source.__name__, *further)
        copy.__doc__, copy.__module__ = source.__doc__, source.__module__
        checksum = _checksum(copy, self._checksums)
        copy.__name__ = copy.__qualname__ = f"{source.__name__}_{checksum:08x}"
        return (compiler or source.compiler)(copy)

    def _bind_module(self, module: ModuleType, user: FunctionType) -> ModuleType | int:
        """Return a module with copies of the functions that ``user`` may call in it."""
        bound: object = module
        if isinstance(module, Part):
            if module.__name__ not in self._parts:
                raise TypeError(f"{user.__name__} refers to {module.__name__}, which is not bound")
            bound = self._parts[module.__name__]
            if isinstance(bound, int):
                return bound
        held = vars(bound)
        members = {name: held[name] for name in user.__code__.co_names if name in held}
        copies = {
            name: self.bind(value) for name, value in members.items() if hasattr(value, "py_func")
        }
        same = all(copies[name] is members[name] for name in copies)
        if same and isinstance(bound, ModuleType):
            return bound
        return as_part(module.__name__, **{**members, **copies})


def _plain(value: object) -> FunctionType | None:
    """Return the Python function behind a compiled function or an intrinsic, if it is one."""
    plain = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
    return plain if isinstance(plain, FunctionType) else None


def _checksum(function: FunctionType, known: dict[FunctionType, int]) -> int:
    """Return a checksum of a function's code, and of all that it reaches by global names."""
    if function not in known:
        known[function] = 0  # if it calls itself
        codes = list(_nested(function.__code__))
        reached: list[object] = []
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        enclosed = dict(zip(function.__code__.co_freevars, cells, strict=True))
        for code in codes:
            reached.append(code.co_code)
            reached += [each for each in code.co_consts if not isinstance(each, CodeType)]
            for name in (*code.co_names, *code.co_freevars):
                value = enclosed.get(name, function.__globals__.get(name))
                reached.append((name, _frozen(value, function, known)))
        known[function] = zlib.crc32(repr(reached).encode())
    return known[function]


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _frozen(value: object, user: FunctionType, known: dict[FunctionType, int]) -> object:
    """Return what is compiled into ``user`` where a name stands for ``value``."""
    plain = _plain(value)
    if plain is not None:
        return _checksum(plain, known)
    if isinstance(value, FunctionType) and _package(value) == _package(user):
        return _checksum(value, known)
    if isinstance(value, ModuleType) and value is not np:
        names = [name for code in _nested(user.__code__) for name in code.co_names]
        members = {name: vars(value)[name] for name in names if name in vars(value)}
        return [
            (name, None if isinstance(member, ModuleType) else _frozen(member, user, known))
            for name, member in members.items()
        ]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, zlib.crc32(value.tobytes())
    if isinstance(value, tuple):
        return [_frozen(each, user, known) for each in value]
    if isinstance(value, int | float | complex | str | bytes | np.generic):
        return repr(value)
    return type(value).__name__


def _package(function: FunctionType) -> str:
    return function.__module__.partition(".")[0]
