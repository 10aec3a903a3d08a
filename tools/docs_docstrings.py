"""An extension of griffe: what mkdocstrings says of classes beyond their source.

A class has the docstring that it has when it runs, because boosters complete theirs by the
parameters that all of them share. Pages that a docstring names are linked.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from griffe import Class, Extension, Object


class RuntimeDocstrings(Extension):
    """Complete the docstrings of classes, and link the pages that docstrings name."""

    def on_object(self, *, obj: Object, **others: Any) -> None:
        """Link the pages that a docstring names."""
        if obj.docstring is not None:
            obj.docstring.value = linked(obj.docstring.value)

    def on_class(self, *, cls: Class, **others: Any) -> None:
        """Replace the docstring of a class that can be imported."""
        try:
            found = getattr(import_module(cls.module.path), cls.name, None)
        except ImportError:  # of a library that is not installed
            return
        if cls.docstring is None or not inspect.isclass(found):
            return
        cls.docstring.value = linked(inspect.getdoc(found) or "")


def linked(text: str) -> str:
    """Link the pages that a text names, as seen from a page of the API.

    >>> linked("categories (docs/categories.md)")
    'categories ([categories](../categories.html))'
    """
    return re.sub(r"`*docs/(\w+)\.md`*", r"[\1](../\1.html)", text)
