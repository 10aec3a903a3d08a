"""The oldest versions that the package allows: ``python tools/floors.py`` prints them for pip.

``make floors`` installs them and runs `tools/smoke.py` on them.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def floors() -> list[str]:
    """Return each dependency at the oldest version that pyproject.toml allows."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    found = []
    for requirement in project["dependencies"]:
        match = re.fullmatch(r"([\w.-]+)>=([\w.]+)(,<[\w.]+)?", requirement)
        if match is None:
            raise ValueError(f"a dependency must be NAME>=VERSION[,<VERSION]; got {requirement!r}")
        found.append(f"{match[1]}=={match[2]}")
    return found


if __name__ == "__main__":
    print(" ".join(floors()))  # noqa: T201
