"""The arrows between the modules of hedge, and of bandit, make no cycle, types included."""

import ast
from pathlib import Path

import pytest

import driftgames
from tests.boosting.test_imports import cycles, statements

ROOT = Path(driftgames.__file__).parent


def arrows(package):
    """Return the modules of a package that each of its modules imports, types and all."""
    names = {
        ".".join(("driftgames", *path.relative_to(ROOT).with_suffix("").parts)): path
        for path in (ROOT / package).rglob("*.py")
    }
    found = {}
    for name, path in names.items():
        imported = set()
        for node in statements(ast.parse(path.read_text()), at_start=False):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module)
                imported |= {f"{node.module}.{each.name}" for each in node.names}
        found[name] = imported & set(names)
    return found


@pytest.mark.parametrize("package", ["hedge", "bandit"])
def test_no_cycle_of_imports(package):
    found = arrows(package)
    assert sum(map(len, found.values())) > 50
    assert cycles(found) == []


@pytest.mark.parametrize("package", ["hedge", "bandit"])
def test_no_room_has_more_than_twenty_files(package):
    rooms = [ROOT / package, *(path for path in (ROOT / package).iterdir() if path.is_dir())]
    assert len(rooms) > 6
    for room in rooms:
        assert len(list(room.glob("*.py"))) <= 20, room
