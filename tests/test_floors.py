"""The oldest versions that the package allows are those that are tried."""

import importlib.metadata
import re
from pathlib import Path

from packaging.version import Version

from tools.floors import floors

ROOT = Path(__file__).parents[1]


def test_every_dependency_has_a_floor_below_what_is_installed():
    for pin in floors():
        name, floor = pin.split("==")
        assert Version(importlib.metadata.version(name)) >= Version(floor), pin


def test_typer_is_one_that_works_with_every_click():
    """Typer 0.12.4 breaks every command with click 8.5; 0.16 is the first for click 8.2 and on."""
    (floor,) = [pin.split("==")[1] for pin in floors() if pin.startswith("typer==")]
    assert Version(floor) >= Version("0.16")


def test_the_floors_are_installed_by_a_make_target_and_a_public_job():
    makefile = (ROOT / "Makefile").read_text()
    assert "tools/floors.py" in makefile
    assert "tools/smoke.py" in makefile
    workflow = (ROOT / ".github/workflows/checks.yml").read_text()
    assert re.search(r"^ {2}floors:\n(?: {4}.*\n)+? {6}- run: make floors$", workflow, re.MULTILINE)
