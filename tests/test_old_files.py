"""Files that the last version wrote are read.

``python tests/test_old_files.py`` writes ``files_of_the_last_version.json`` with the code of today:
do so when a version is released, and not when this test fails. A file of another version needs an
upgrade, see `driftgames.core.documents`.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from driftgames import __version__

TOOLS = Path(__file__).parents[1] / "tools"
STORED = Path(__file__).with_name("files_of_the_last_version.json")
SMALL = 3000  # bytes; of larger files the smallest of each format is kept
ROWS = np.random.default_rng(6).normal(size=(5, 4))


def all_kinds():
    sys.path.insert(0, str(TOOLS))
    try:
        from fuzz_files import all_kinds
    finally:
        sys.path.remove(str(TOOLS))
        for name in ("fuzz_files", "fuzz_tables"):
            sys.modules.pop(name, None)
    made = {name: make() for name, make in all_kinds().items()}
    return {
        name: kind for name, kind in made.items() if kind.file == "file.json" and name != "task"
    }


@pytest.fixture(scope="module")
def kinds():
    return all_kinds()


FILES = json.loads(STORED.read_text()) if STORED.exists() else {"files": {}, "votes": {}}


def test_every_format_has_a_file_of_the_last_version(kinds, tmp_path):
    known = {document["format"] for document in FILES["files"].values()}
    for name, kind in kinds.items():
        if name not in FILES["files"]:
            document = json.loads(kind.content())
            assert document["format"] in known, f"{name}: {document['format']}"


@pytest.mark.parametrize("name", FILES["files"])
def test_a_file_of_the_last_version_is_read_and_goes_on(kinds, name, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(FILES["files"][name]))
    found = kinds[name].read(path)
    if name in FILES["votes"]:
        assert found.decision_function(ROWS).tolist() == FILES["votes"][name]
    kinds[name].use(found)


def write():
    """Write the files of this version."""
    files = {name: kind.content() for name, kind in all_kinds().items()}
    smallest = {}
    for name, content in sorted(files.items(), key=lambda item: len(item[1])):
        smallest.setdefault(json.loads(content)["format"], name)
    kept = {
        name: json.loads(content)
        for name, content in files.items()
        if len(content) < SMALL or name in smallest.values()
    }
    votes = {}
    for name in kept:
        if name.startswith("model"):
            path = STORED.with_suffix(".tmp")
            path.write_bytes(files[name])
            votes[name] = all_kinds()[name].read(path).decision_function(ROWS).tolist()
            path.unlink()
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in kept.items())
    head = f'{{"version": {json.dumps(__version__)},\n"votes": {json.dumps(votes)},\n"files": {{\n'
    STORED.write_text(f"{head}{lines}\n}}}}\n")


if __name__ == "__main__":
    write()
