"""State: saved, loaded, copied, compared and put back as one, for everything that learns.

A `Stateful` object follows from its arguments and its state. A subclass says what both are; files,
copies, equality and all-or-nothing on an error are written here, once.
"""

from __future__ import annotations

import contextlib
import copy
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from driftgames.core.checks import check_integer, shown
from driftgames.core.description import (
    UNREADABLE,
    Describable,
    decode,
    describe,
    encode,
    explain,
    is_described,
    register,
    restore,
)
from driftgames.core.documents import DocumentError, Upgrades, read_document, write_document
from driftgames.core.schema import OBJECT, STRING, Schema, check_members
from driftgames.core.typing import Content, Path

LAST_ROUND = 2**53
"""The last round that a clock in float64 can count."""


class Stateful(ABC):
    """Something whose future follows from its arguments and its state.

    Calls that read or change the state hold ``_lock``: calls from several threads happen one after
    another, in any order. A thread that has the lock may take it again.
    """

    VERSION: ClassVar[int] = 2
    """Of the file format, which docs/state_format.md describes."""

    UPGRADES: ClassVar[Upgrades] = {}
    """How files of older versions are read; see `driftgames.core.documents`."""

    _named_arguments: ClassVar[Schema] = {}
    """What a file must hold as the arguments that are attributes ``name`` or ``_name``."""

    _lock: threading.RLock
    _stateful: ClassVar[dict[str, type[Stateful]]] = {}

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        register(Stateful._stateful, cls)

    def __new__(cls, *arguments: Any, **settings: Any) -> Self:
        """Return an object with a lock of its own; copies and pickles have one too."""
        made = super().__new__(cls)
        made._lock = threading.RLock()
        return made

    def __repr__(self) -> str:
        title = getattr(self, "title", None)
        name = type(self).__name__ if title is None else f"{type(self).__name__}: {title}"
        return f"<{name}, {getattr(self, 't', 0):,} rounds>"

    def __getstate__(self) -> Content:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    # ---------------------------------------------------------------- what a subclass must give

    def _arguments(self) -> Content:
        """Return the arguments of the constructor by name; `encode` must know their kinds."""
        held = vars(self)
        return {name: held[name if name in held else f"_{name}"] for name in self._named_arguments}

    @abstractmethod
    def _get_state(self) -> Content:
        """Return the live state: arrays, numbers, texts, and lists and dicts of such."""

    @abstractmethod
    def _set_state(self, state: Content) -> None:
        """Take this state over, or raise ValueError and change nothing."""

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        """Return what a file must hold: requirements on the arguments and on the state.

        They are checked before an object is made. They must bound each size that the constructor
        makes room for by an array of the file. Requirements on the state may use the arguments.
        """
        return cls._named_arguments, {}

    # ---------------------------------------------------------------- files

    def save(self, path: Path) -> None:
        """Write it to a JSON document, atomically; docs/state_format.md describes the file."""
        write_document(path, kind_of(type(self)), self.VERSION, self.content())

    @classmethod
    def load(cls, path: Path, **given: Any) -> Self:
        """Return what was saved at ``path``; it goes on to the same bits.

        ``given`` is for the arguments that a file cannot hold, such as a function.
        """
        content = read_document(path, kind_of(cls), cls.VERSION, cls.UPGRADES)
        try:
            return cls.from_content(content, **given)
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error

    def content(self) -> Content:
        """Return arguments and state as JSON; raise `DocumentError` if it could not be read."""
        with self._lock:
            content = {"arguments": encode(self._arguments()), "state": encode(self._get_state())}
            try:
                copy.deepcopy(self)._set_state(decode(content["state"]))
            except ValueError as error:
                raise DocumentError(
                    f"the state of this {type(self).__name__} is broken, so it "
                    f"cannot be saved: {error}"
                ) from error
        return content

    @classmethod
    def from_content(cls, content: Content, **given: Any) -> Self:
        """Return the object whose `content` this is."""
        try:
            for half in ("arguments", "state"):
                OBJECT.check(half, content.get(half))
            arguments = _arguments_from(content["arguments"], given)
            state = decode(content["state"])
            for members, schema in zip((arguments, state), cls._schema(arguments), strict=True):
                # the constructor and `_set_state` say which members are missing
                check_members(members, {name: schema[name] for name in schema if name in members})
            restored = cls(**arguments)
            restored._set_state(state)
        except DocumentError:
            raise
        except UNREADABLE as error:
            raise DocumentError(f"not a whole {cls.__name__}: {explain(error)}") from error
        return restored

    # ---------------------------------------------------------------- copies and comparison

    def copy(self) -> Self:
        """Return an independent object in the same state."""
        with self._lock:
            return copy.deepcopy(self)

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stateful) or type(other) is not type(self):
            return NotImplemented
        return same(self._arguments(), other._arguments()) and same(
            self._get_state(), other._get_state()
        )

    __hash__ = None  # type: ignore[assignment]

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Hold the lock, and put the state back if the block raises."""
        with self._lock:
            before = copy.deepcopy(self._get_state())
            try:
                yield
            except BaseException:
                self._set_state(before)
                raise


def kind_of(stateful: type[Stateful]) -> str:
    """Return the ``format`` of the documents that hold such an object."""
    return f"driftgames.{stateful.__name__}"


def nested(thing: Stateful) -> Content:
    """Return an object as a part of another one's document; `restore_nested` reads it."""
    return {"kind": type(thing).__name__, **thing.content()}


def restore_nested(content: Any, wanted: type[Any], **given: Any) -> Any:
    """Return the object that `nested` described, which must be one of the ``wanted`` class."""
    if not isinstance(content, dict) or "kind" not in content:
        raise DocumentError(f"not a {wanted.__name__}: it has no 'kind'")
    STRING.check("kind", content["kind"])
    package = sys.modules.get(".".join(wanted.__module__.split(".")[:2]))
    getattr(package, content["kind"], None)  # a lazy package imports the class now
    found = Stateful._stateful.get(content["kind"])
    if found is None or not issubclass(found, wanted):
        raise DocumentError(f"there is no {wanted.__name__} {shown(content['kind'])}")
    return found.from_content(content, **given)


def same(x: Any, y: Any) -> bool:
    """Whether two states are equal, entry by entry."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.array_equal(x, y)
    if isinstance(x, Describable) and type(x) is type(y):
        described = describe(x)
        return x is y or x == y if described["arguments"] is None else described == describe(y)
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(same(each, y[name]) for name, each in x.items())
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return bool(x == y)


def check_arrays(state: Content, own: Content) -> None:
    """Raise ValueError unless the arrays of a state are finite and fit the object's ``own``."""
    if state.keys() != own.keys():
        wanted, got = (", ".join(sorted(names)) for names in (own, state))
        raise ValueError(f"the state must be {wanted}; got {got}")
    for name, mine in own.items():
        array = state[name]
        if not isinstance(mine, np.ndarray):
            continue
        if not isinstance(array, np.ndarray) or (array.shape, array.dtype) != (
            mine.shape,
            mine.dtype,
        ):
            found = f"{getattr(array, 'dtype', type(array).__name__)}{list(np.shape(array))}"
            raise ValueError(f"{name} must be {mine.dtype}{list(mine.shape)}; got {found}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite")


def check_clock(name: str, value: object) -> int:
    """Return the number of rounds played, or say that no clock can show it."""
    t = check_integer(name, value, least=0)
    if t > LAST_ROUND:
        raise ValueError(f"{name} must be at most 2**53; got {shown(value)}")
    return t


def _arguments_from(saved: Content, given: Content) -> Content:
    """Return the saved arguments; those that a file cannot hold must be given."""
    arguments = {}
    for name, value in saved.items():
        if name not in given:
            try:
                arguments[name] = restore(value, name) if is_described(value) else decode(value)
            except DocumentError as error:
                raise DocumentError(f"{name}: {error}") from error
            continue
        known = is_described(value) and isinstance(given[name], Describable)
        if not known or describe(given[name]) != value:
            raise DocumentError(
                f"it was made with {name} = {shown(value)}; given is {shown(given[name])}"
            )
        arguments[name] = given[name]
    if others := given.keys() - saved.keys():
        raise DocumentError(
            f"only what a file cannot hold is given again; got {', '.join(sorted(others))}"
        )
    return arguments
