"""What numbers depend on: versions and the machine."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from functools import lru_cache
from pathlib import Path

PACKAGES: tuple[str, ...] = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib", "lightgbm")

DECISIVE: tuple[str, ...] = ("driftgames", "source", "numpy", "scipy", "numba", "processor")
"""The facts that decide a number or a time: if one changes, a task is done again."""


@lru_cache(maxsize=8)
def environment(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Return the versions of driftgames and these packages, and the machine.

    >>> sorted(environment())[:3]
    ['cores', 'driftgames', 'lightgbm']
    """
    import driftgames

    facts = {
        "driftgames": driftgames.__version__,
        "source": source_digest(Path(driftgames.__file__).parent),
        "python": platform.python_version(),
    }
    for package in packages:
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = "not installed"
    facts["system"] = platform.platform(terse=True)
    facts["processor"] = _processor()
    facts["cores"] = str(os.cpu_count())
    return facts


def source_digest(folder: Path) -> str:
    """Return a short digest of the Python files under a folder, names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:12]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            named = (line.split(":", 1)[1].strip() for line in lines if "model name" in line)
            return next(named, platform.machine())
    except OSError:
        return platform.processor() or platform.machine()
