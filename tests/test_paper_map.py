"""docs/paper_map.md is complete, and everything it names exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = ROOT / "docs" / "paper_map.md"
ROWS = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \|$", MAP.read_text(), re.M)
ROWS = [row for row in ROWS if row[0] not in {"in the paper", "---"}]
ITEMS = {row[0] for row in ROWS}

IN_THE_PAPER = {
    *(f"Alg. {n}" for n in range(1, 8)),
    *(f"Thm. {n}" for n in range(1, 7)),
    *(f"Lem. {n}" for n in range(1, 5)),
    *(f"Cor. {n}" for n in range(1, 3)),
    *(f"Eq. ({n})" for n in range(1, 8)),
    *(f"Tab. {n}" for n in range(1, 4)),
    *(f"Fig. {n}" for n in range(1, 3)),
}


def citations():
    files = {*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")} - {Path(__file__)}
    for path in sorted(files):
        for found in re.findall(r"\[LS14, ([^\]]+)\]", path.read_text()):
            for item in re.split(r",\s*", found.replace("\n", " ")):
                yield path.relative_to(ROOT), re.sub(r"\s+", " ", item).strip()


def test_the_map_has_a_row_for_everything_in_the_paper():
    assert IN_THE_PAPER <= ITEMS
    assert len(ROWS) == len(ITEMS)  # and one only


def test_every_citation_has_a_row():
    missing = [f"{path}: {item}" for path, item in citations() if item not in ITEMS]
    assert not missing
    assert len(list(citations())) > 50  # the pattern still finds them


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_symbol_and_test_of_a_row_exists(row):
    _, _, symbols, tests = row
    for symbol in re.findall(r"`([^`]+)`", symbols):
        assert resolve(symbol) is not None
    for named in re.findall(r"`([^`]+)`", tests):
        path, _, name = named.partition("::")
        text = (ROOT / "tests" / path).read_text()
        assert not name or f"def {name}(" in text
    assert "`" in symbols
    assert "`" in tests


def resolve(symbol):
    """Import ``potentials.minimax.MinimaxPotential`` and the like."""
    parts = symbol.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["driftgames", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            found = getattr(found, attribute)
        return found
    raise AssertionError(f"there is no driftgames.{symbol}")
