"""Tables: what a cell reads, what a terminal shows, what a file keeps."""

import dataclasses
import io
import json

import pytest
from rich.console import Console

from driftgames.tables import Column, Table, as_rows, cell_text, draw_table, write_json


def printed(table, width=80):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(draw_table(table))
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("cell", "form", "text"),
    [
        (2.5e-7, "s", "250 ns"),
        (0.0, "s", "0.0 ns"),
        (12.0, "/s", "12.0"),
        (1.5e9, "B", "1.5 GB"),
        (1.26, "x", "1.26x"),
        (0.004, "%", "0.4 %"),
        (1_234_567, "", "1,234,567"),
        (0.123456, "", "0.1235"),
        (-0.0001, "+z.2f", "+0.00"),
        (-0.0001, "z,.2f", "0.00"),
        (-0.4, "+z.2f", "-0.40"),
        (1234.5, ",.1f", "1,234.5"),
        (float("inf"), ",.1f", "-"),
        (float("nan"), "s", "-"),
        (None, "x", "-"),
        ("as it is", "s", "as it is"),
    ],
)
def test_cells_are_written_in_the_form_of_their_column(cell, form, text):
    assert cell_text(cell, Column("", form)) == text


def test_tables_fit_eighty_columns_and_show_title_and_notes():
    columns = (Column("contestant"), Column("best", "s"), Column("to ours", "x"), Column("note"))
    rows = (
        ("driftgames", 0.0381, 1.0, ""),
        ("scikit-learn AdaBoostClassifier", 4.3, 113.0, "stumps on sparse input, " * 5),
        ("xgboost", None, None, "skipped: No module named 'xgboost'"),
    )
    text = printed(Table("a9a", columns, rows, ("200 rounds",)))
    lines = text.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert lines[0].strip() == "a9a"
    assert "38.1 ms" in text
    assert "113.0x" in text
    assert lines[-1].strip() == "200 rounds"


def test_texts_that_look_like_markup_are_printed_as_they_are():
    text = printed(Table("[bold]", (Column("[red]"),), (("[dim]a",),), ("[/]",)))
    assert all(word in text for word in ("[bold]", "[red]", "[dim]a", "[/]"))


def test_a_group_in_brackets_is_one_column_and_the_title_names_a_single_group():
    columns = (
        Column("set"),
        Column("ours", ".2f", "Error"),
        Column("published", ".1f", "Error", in_brackets=True),
        Column("difference", "+.2f", "Error", on_terminal=False),
    )
    table = Table("Boosting", columns, (("a9a", 15.4, 15.5, -0.1), ("a9a", 3.0, None, None)))
    lines = printed(table).splitlines()
    assert lines[0].strip() == "Boosting: Error"
    assert [line.split() for line in lines[-3:] if line.strip()] == [
        ["a9a", "15.40", "(15.5)"],
        ["3.00"],
    ]


def test_a_column_without_room_on_a_terminal_is_left_out():
    table = Table("", (Column("set"), Column("wide", on_terminal=False)), (("a9a", 12345),))
    assert "a9a" in printed(table)
    assert "wide" not in printed(table)
    assert "12,345" not in printed(table)


def test_numbers_are_flush_right_and_texts_only_where_the_column_says_so():
    columns = (Column("name"), Column("count"), Column("word", flush_right=True))
    row, other = printed(Table("", columns, (("a", 1, "x"), ("bb", 22, "yy")))).splitlines()[-3:-1]
    assert row.rstrip().endswith(" x")
    assert row.index("a") == other.index("bb")
    assert row.index("1") == other.index("22") + 1


def test_a_table_comes_back_from_its_json_and_csv_names_the_group(tmp_path):
    columns = (Column("set"), Column("ours", ".2f", "Error"))
    table = Table("Boosting", columns, (("a9a", 0.1 + 0.2),), ("A note.",), name="table3")
    write_json({"table": dataclasses.asdict(table)}, tmp_path / "out.json")
    content = json.loads((tmp_path / "out.json").read_text())["table"]
    assert Table.from_content(content) == table
    assert list(as_rows(table)) == [["set", "Error: ours"], ("a9a", 0.1 + 0.2)]
    assert table.without({"ours"}) == Table(
        "Boosting", (Column("set"),), (("a9a",),), ("A note.",), name="table3"
    )


def test_words_are_cut_at_no_place_where_the_screen_is_narrow():
    columns = (Column("policy"), *(Column(f"long heading {k}") for k in range(4)))
    table = Table("t", columns, (("tsallis-inf-forget", *(1234.5,) * 4),))
    assert "tsallis-inf-forget" in printed(table)


def test_a_cell_of_a_grouped_table_that_is_cut_says_so():
    columns = (Column("algorithm"), *(Column(f"column {k}", group=f"g{k}") for k in range(6)))
    table = Table("t", columns, (("a long name of an algorithm", *(1234567.5,) * 6),))
    assert "…" in printed(table, width=24)
