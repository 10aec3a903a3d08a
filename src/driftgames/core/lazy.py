"""Packages that import a name from its module when it is first used, so that they load quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``names`` holds the names of each module, with spaces between. A type checker does not read it:
    the package imports the same names ``if TYPE_CHECKING``.

    >>> get, names, _ = lazy_names("driftgames.core", {"registry": "choose", "clock": "now"})
    >>> get("choose").__module__, names()
    ('driftgames.core.registry', ['choose', 'now'])
    """
    homes = {name: home for home, own in names.items() for name in own.split()}

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find, lambda: sorted(homes), sorted(homes)
