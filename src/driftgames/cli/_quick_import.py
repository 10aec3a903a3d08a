"""Import scikit-learn and the boosters in a third of the time.

Scikit-learn's base module imports SciPy's statistics and pandas, for a few names that most commands
never use: about 1 s of processor time. While it is imported, stand-ins take the places of these
modules; one imports the real module when it is used. Afterwards the stand-ins leave `sys.modules`,
so that every later import is the usual one.

OpenBLAS starts a thread for each processor when NumPy and SciPy are imported, and these wait
actively: 0.2 s. No command leaves long work to it, so that one thread is enough.

Only commands do this, in a process of their own.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

SLOW = ("scipy.stats", "pandas")
BLAS_THREADS = "OPENBLAS_NUM_THREADS"


class _StandIn(ModuleType):
    """A module that is imported when an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return importlib.metadata.version(self.__name__)
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        return self._find(name)

    def _find(self, name: str) -> Any:
        """Return what the real module has by this name."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_sklearn() -> None:
    """Import scikit-learn's base, if this process has not."""
    if "sklearn" not in sys.modules:
        with _one_blas_thread(), _stand_ins(*map(_StandIn, SLOW)):
            importlib.import_module("sklearn.base")


def import_boosting() -> None:
    """Import the boosters and what reads their files."""
    import_sklearn()
    importlib.import_module("driftgames.boosting.persistence")


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Let OpenBLAS, if it is loaded here, take one thread; a number that the user set stands."""
    if BLAS_THREADS in os.environ:
        yield
        return
    os.environ[BLAS_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[BLAS_THREADS]  # child processes are not concerned


@contextlib.contextmanager
def _stand_ins(*modules: _StandIn) -> Iterator[None]:
    for module in modules:
        name = module.__name__
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is not None:
            module.__spec__ = spec
            module.__path__ = spec.submodule_search_locations or []
            sys.modules[name] = module
    try:
        yield
    finally:
        for module in modules:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
