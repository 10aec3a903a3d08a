"""An extension of griffe: what mkdocstrings says of classes beyond their source.

A class has the docstring and the defaults that it has when it runs: boosters complete theirs by
the parameters that all of them share. Pages that a docstring names are linked.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any

from griffe import Attribute, Class, Extension, Object


class RuntimeDocstrings(Extension):
    """Complete the docstrings of classes, and link the pages that docstrings name."""

    def on_object(self, *, obj: Object, **others: Any) -> None:
        """Link the pages that a docstring names."""
        if obj.docstring is not None:
            obj.docstring.value = linked(obj.docstring.value)

    def on_class(self, *, cls: Class, **others: Any) -> None:
        """Replace the docstring of a class that can be imported."""
        found = _imported(cls)
        if cls.docstring is not None and found is not None:
            cls.docstring.value = linked(inspect.getdoc(found) or "")

    def on_class_members(self, *, cls: Class, **others: Any) -> None:
        """Replace the call that makes a field of a data class by the default of the field."""
        found = _imported(cls)
        if found is None or not dataclasses.is_dataclass(found):
            return
        for each in dataclasses.fields(found):
            member = cls.members.get(each.name)
            made = str(getattr(member, "value", ""))
            if made.startswith("parameter(") and isinstance(member, Attribute):
                member.value = repr(each.default)


def _imported(cls: Class) -> type | None:
    """Return the class when it runs; None if its library is not installed."""
    try:
        found = getattr(import_module(cls.module.path), cls.name, None)
    except ImportError:
        return None
    return found if inspect.isclass(found) else None


def linked(text: str) -> str:
    """Link the pages that a text names, as seen from a page of the API.

    >>> linked("categories (docs/categories.md)")
    'categories ([categories](../categories.html))'
    """
    return re.sub(r"`*docs/(\w+)\.md`*", r"[\1](../\1.html)", text)
