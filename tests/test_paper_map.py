"""docs/paper_map.md and docs/errata.md are complete, agree, and name only what exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def rows_of(name):
    """Return the cells of every row of the tables of five columns in a document."""
    text = (ROOT / "docs" / name).read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    assert {len(row) for row in rows} == {5}
    return [row for row in rows if row[0] not in {"in the paper", "id", "---"}]


ROWS = rows_of("paper_map.md")
ITEMS = {row[0] for row in ROWS}
ERRATA = rows_of("errata.md")

IN_THE_PAPER = {
    *(f"Sec. {n}" for n in ("2", "3.1", "3.2", "3.3", "3.4", "4")),
    *(f"App. {letter}" for letter in "ABCDEFG"),
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
    symbols = re.findall(r"`([^`]+)`", row[2])
    assert symbols
    for symbol in symbols:
        assert resolve(symbol) is not None
    assert_tests_exist(row[3])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_row_says_what_it_is_checked_against(row):
    """The statement or the proof, unless an erratum replaces them; and every entry that applies."""
    parts = row[4].split(", ")
    plain = [part for part in parts if part in {"statement", "proof"}]
    entries = [part.removeprefix("erratum ").removeprefix("remark ") for part in parts]
    named = [entry for entry in entries if entry not in plain]
    assert plain or any(part.startswith("erratum ") for part in parts)
    assert named == [entry for entry, items, *_ in ERRATA if row[0] in items.split(", ")]
    for part in parts:
        assert re.fullmatch(r"statement|proof|erratum E\d+|remark R\d+", part)


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry[0])
def test_every_entry_of_the_errata_has_an_item_and_evidence(entry):
    number, items, says, holds, evidence = entry
    assert re.fullmatch(r"[ER]\d+", number)
    assert set(items.split(", ")) <= ITEMS
    assert says
    assert holds
    assert_tests_exist(evidence)


def test_the_entries_of_the_errata_are_numbered_in_order():
    numbers = [entry[0] for entry in ERRATA]
    errata = [number for number in numbers if number[0] == "E"]
    remarks = [number for number in numbers if number[0] == "R"]
    assert errata == [f"E{n}" for n in range(1, len(errata) + 1)]
    assert numbers == errata + [f"R{n}" for n in range(1, len(remarks) + 1)]


def assert_tests_exist(cell):
    named = re.findall(r"`([^`]+)`", cell)
    assert named
    for each in named:
        path, _, name = each.partition("::")
        assert name, f"{each} names a file and no test"
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(), each
    assert not re.sub(r"`[^`]+`|, ", "", cell)  # and nothing else


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
