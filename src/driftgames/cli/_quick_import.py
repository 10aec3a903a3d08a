"""Import scikit-learn in a third of the time.

Its base module imports SciPy's statistics and pandas, for a few names that most commands never use:
about 1 s of processor time. While it is imported, stand-ins take their places; one imports the real
module when an attribute is asked for. Afterwards the stand-ins leave `sys.modules`, so that every
later import is the usual one. Only commands do this, in a process of their own.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

SLOW = ("scipy.stats", "pandas")


class _StandIn(ModuleType):
    """A module that is imported when an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return importlib.metadata.version(self.__name__)
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_sklearn() -> None:
    """Import scikit-learn's base, if this process has not."""
    if "sklearn" not in sys.modules:
        with _stand_ins():
            importlib.import_module("sklearn.base")


@contextlib.contextmanager
def _stand_ins() -> Iterator[None]:
    for name in SLOW:
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is not None:
            module = _StandIn(name)
            module.__spec__ = spec
            module.__path__ = spec.submodule_search_locations or []
            sys.modules[name] = module
    try:
        yield
    finally:
        for name in SLOW:
            if isinstance(sys.modules.get(name), _StandIn):
                del sys.modules[name]
