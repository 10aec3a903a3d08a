"""Packages that import a name from its module when it is first used, so that they load quickly."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes long to import
    from typing import Any


def lazy_names(
    package: str,
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    The stub beside it, ``__init__.pyi``, says what type checkers see and what is found here: each
    name in a line ``from module import name as name``, or below it in brackets. SPEC 1 of
    Scientific Python proposes such stubs. Its ``lazy_loader`` imports ``ast`` and ``inspect``,
    which take longer than the rest of ``import driftgames``.
    """
    homes: dict[str, str] = {}
    module = ""
    spec: Any = sys.modules[package].__spec__
    stub = spec.loader.get_data(f"{spec.origin.rpartition('.')[0]}.pyi")  # from an archive too
    for line in stub.decode().splitlines():
        words = line.replace(",", "").split()
        if words[:1] == ["from"]:
            module = words[1]
        if "as" in words:
            homes[words[-1]] = module

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return find, lambda: sorted(homes), sorted(homes)
