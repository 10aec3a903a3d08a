"""An extension of griffe: what mkdocstrings says of classes beyond their source.

A class has the docstring that it has when it runs, because boosters complete theirs by the
parameters that all of them share. A sentence links to what it has from public base classes.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from griffe import Class, Extension, Object

from tools.docs_api import homes, members, public_bases


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
        first, gap, rest = (inspect.getdoc(found) or "").partition("\n\n")
        sentences = [first, *inherited(found)] if cls.name in homes() else [first]
        cls.docstring.value = linked("\n\n".join(sentences) + gap + rest)


def linked(text: str) -> str:
    """Link the pages that a text names, as seen from a page of the API.

    >>> linked("categories (docs/categories.md)")
    'categories ([categories](../categories.html))'
    """
    text = text.replace("docs/trees.md", "docs/boosters.md")  # where it went
    return re.sub(r"`*docs/(\w+)\.md`*", r"[\1](../\1.html)", text)


def inherited(of: type) -> list[str]:
    """Return a sentence for each public base: its methods and attributes, linked.

    >>> from driftgames.hedge import Hedge
    >>> inherited(Hedge)[0][:53]
    'From `ExpertLearner`: [`action_losses`][driftgames.he'
    """
    found, seen = [], set(vars(of))
    for base in public_bases(of):
        home = homes()[base.__name__]
        names = sorted(set(members(base)) - seen)
        links = [f"[`{name}`][{home}.{name}]" for name in names]
        found += [f"From `{base.__name__}`: {', '.join(links)}."] if links else []
        seen |= set(names)
    return found
