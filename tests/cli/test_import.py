"""``--import``: a Python file of the user's."""

import json
import sys

import pytest

from driftgames.cli._options import import_file


@pytest.fixture(autouse=True)
def same_modules():
    before = dict(sys.modules)
    yield
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]
    sys.modules.update(before)


def test_a_file_with_the_name_of_a_module_does_not_replace_it(tmp_path):
    path = tmp_path / "json.py"
    path.write_text("answer = 42\n")
    import_file(path)
    assert sys.modules["json"] is json
    assert sys.modules["driftgames_import_json"].answer == 42


def test_the_module_is_found_by_its_own_dataclasses(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Mine:\n"
        "    size: int = 3\n"
    )
    import_file(path)
    module = sys.modules["driftgames_import_mine"]
    assert module.Mine().size == 3
    assert sys.modules[module.Mine.__module__] is module
    assert "mine" not in sys.modules


@pytest.mark.parametrize("name", ["nowhere.py", "notes.txt"])
def test_other_files_are_refused(tmp_path, name):
    (tmp_path / "notes.txt").write_text("text")
    with pytest.raises(ValueError, match="--import must be a Python file"):
        import_file(tmp_path / name)
