"""What numbers depend on: versions and the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from functools import lru_cache

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib", "lightgbm")


@lru_cache(maxsize=1)
def environment() -> dict[str, str]:
    """Return the versions of what computes, and the machine that it computes on.

    >>> sorted(environment())[:3]
    ['cores', 'driftgames', 'lightgbm']
    """
    from driftgames import __version__

    facts = {"driftgames": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = "not installed"
    facts["system"] = platform.platform(terse=True)
    facts["processor"] = _processor()
    facts["cores"] = str(os.cpu_count())
    return facts


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            named = (line.split(":", 1)[1].strip() for line in lines if "model name" in line)
            return next(named, platform.machine())
    except OSError:
        return platform.processor() or platform.machine()
