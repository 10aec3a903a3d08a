"""Objects as JSON, and back: what a saved learner or model says it was made with.

A `Describable` is held by a file as its class name and its arguments::

    {"name": "NormalHedgeDT", "arguments": {"d": 3.0, "lag": 0}}

A subclass registers itself by its name when it is defined, a user's own in a notebook included.
An argument that is a function cannot be held; ``arguments`` is then null, and the object must be
given again to whoever reads the file.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.text import shown
from driftgames.core.typing import Content

UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What content that was not written by this library may raise."""


class Describable:
    """An object that follows from its class and its arguments.

    The arguments are the fields of a dataclass; any other class names its attributes in
    ``_argument_names``.
    """

    _kinds: ClassVar[dict[str, type[Describable]]] = {}
    _argument_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        register(Describable._kinds, cls)

    def _described_arguments(self) -> Content:
        kind: Any = type(self)
        names = self._argument_names
        if dataclasses.is_dataclass(kind):
            names = tuple(field.name for field in dataclasses.fields(kind) if field.init)
        elif not names and kind.__init__ is not object.__init__:
            raise TypeError(f"{kind.__name__} does not name its arguments")
        return {name: getattr(self, name) for name in names}


def register(kinds: dict[str, Any], kind: type) -> None:
    """Enter a class by its name; a cell that is run again replaces its own class.

    A class of the library is not replaced: its files would go on with another algorithm.
    """
    taken = kinds.get(kind.__name__, kind).__module__
    if taken.startswith("driftgames.") and taken != kind.__module__:
        raise TypeError(f"{kind.__name__} is a class of driftgames; choose another name")
    kinds[kind.__name__] = kind


def encode(value: Any) -> Any:
    """Return a value as JSON: arrays, describable objects, and lists and dicts of such.

    >>> encode((1, None, np.array([0.5])))
    [1, None, {'dtype': '<f8', 'shape': [1], 'base64': 'AAAAAAAA4D8='}]
    """
    if isinstance(value, np.ndarray):
        return encode_array(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Describable):
        return describe(value)
    if isinstance(value, list | tuple):
        return [encode(each) for each in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: encode(each) for name, each in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a file cannot hold {shown(value)}")


def decode(value: Any) -> Any:
    """Return the value that `encode` was given; tuples come back as lists."""
    if isinstance(value, list):
        return [decode(each) for each in value]
    if isinstance(value, dict):
        if value.keys() == {"dtype", "shape", "base64"}:
            return decode_array(value)
        if is_described(value):
            return restore(value)
        return {name: decode(each) for name, each in value.items()}
    return value


def describe(thing: Describable) -> Content:
    """Return an object's class name and arguments, the latter null if a file cannot hold them."""
    try:
        arguments = encode(thing._described_arguments())
    except TypeError:
        arguments = None
    return {"name": type(thing).__name__, "arguments": arguments}


def is_described(value: Any) -> bool:
    """Whether this JSON is what `describe` returns."""
    if not isinstance(value, dict) or value.keys() != {"name", "arguments"}:
        return False
    return isinstance(value["name"], str) and isinstance(value["arguments"], dict | None)


def restore(described: Content, argument: str = "") -> Any:
    """Return the object that was described; ``argument`` is the name that an error asks for.

    >>> restore({"name": "Mine", "arguments": None}, "potential")
    Traceback (most recent call last):
    ...
    driftgames.core.documents.DocumentError: it was made with Mine, which a file cannot hold; give
    it as potential=
    """
    if not is_described(described):
        raise DocumentError(f"not an object by name and arguments; got {shown(described)}")
    name, arguments = described["name"], described["arguments"]
    if arguments is None:
        asked = f"; give it as {argument}=" if argument else ""
        raise DocumentError(f"it was made with {name}, which a file cannot hold{asked}")
    if name not in Describable._kinds:
        raise DocumentError(
            f"it was made with {name}, which is not defined here; import the module that defines it"
        )
    kind: Any = Describable._kinds[name]
    try:
        values = {key: decode(each) for key, each in arguments.items()}
        if dataclasses.is_dataclass(kind):  # JSON has no tuples
            values = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
        return kind(**values)
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from error
    except UNREADABLE as error:
        raise DocumentError(f"no {name} has these arguments: {explain(error)}") from error


def explain(error: Exception) -> str:
    """Return in words what content that was not written by this library has raised."""
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    return str(error)
