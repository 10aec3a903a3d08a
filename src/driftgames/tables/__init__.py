"""Tables as plain data, and how they read: one model, one text per cell, one drawing.

Commands, the reproduction and the benchmarks all return or print a `Table`. A `Column` says how
its numbers are written; the rows hold raw numbers, which JSON and CSV keep.
"""

from driftgames.tables.cells import MISSING, as_plain, cell_text, counted, visible
from driftgames.tables.table import Cell, Column, Row, Table, as_records, as_rows, write_json
from driftgames.tables.terminal import draw_table

__all__ = [
    "MISSING",
    "Cell",
    "Column",
    "Row",
    "Table",
    "as_plain",
    "as_records",
    "as_rows",
    "cell_text",
    "counted",
    "draw_table",
    "visible",
    "write_json",
]
