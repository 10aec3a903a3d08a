"""How ``driftgames boost`` reads its examples, and what it says of them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from driftgames.cli._boost_model import columns_of, is_fitted
from driftgames.cli._options import Reading
from driftgames.cli._output import fail, say

if TYPE_CHECKING:
    from driftgames.cli._examples import Examples

MOST_CELLS = 2**26
"""Parquet files with more cells than that are fitted in batches: half a GiB of numbers."""


class ExampleReading(NamedTuple):
    """The options that say how tables are read.

    Options:
        label (COLUMN): The label column: its name, or its number from 1. Default: the last column.
    """

    label: str | None = None
    table: Reading = Reading()

    def read(self, data: str, **columns: Any) -> Examples:
        """Read examples; ``columns`` are those that `read_examples` must find."""
        from driftgames.cli._examples import read_examples

        return read_examples(data, label=self.label, **self.table._asdict(), **columns)


def read_labelled(data: str, reading: ExampleReading, booster: Any) -> Examples:
    """Read examples for a booster, and say how they were read; all of them have labels."""
    from driftgames.cli._boost_report import feature_name

    columns = columns_of(booster) if is_fitted(booster) else {}
    examples = reading.read(data, **columns)
    if examples.y is None:
        fail(f"{data}: has no labels, which are needed here")
    if not columns and examples.categories:
        booster.set_params(categorical_features=list(examples.categories))
    for kind, found in (("categories", examples.categories), ("dates", examples.dates)):
        if found and not columns:
            names = ", ".join(feature_name(examples.names, j) for j in found)
            say(f"{data}: read as {kind}: {names}", err=True)
    n_lost = examples.X.shape[0] - examples.y.size
    if n_lost:
        say(f"{data}: {n_lost:,} rows without a label are left out", err=True)
    return examples.labelled()


def read_valid(valid: str, reading: ExampleReading, like: Examples) -> Examples:
    """Read examples with the columns of others; all of them have labels."""
    n_features = like.X.shape[1]
    columns = {"names": like.names, "categories": like.categories}
    examples = reading.read(valid, n_features=n_features, **columns)
    if examples.y is None:
        fail(f"{valid}: has no labels, which are needed here")
    return examples.labelled()


def is_large(data: str) -> bool:
    """Whether parquet files have too many cells to be held at once."""
    from driftgames.boosting.sources import open_parquet

    if PurePath(data).suffix.lower() not in {".parquet", ".pq"}:
        return False
    try:
        source = open_parquet(data)
    except (ImportError, OSError, ValueError):  # the reader of tables says what is wrong
        return False
    return int(source.count_rows()) * len(source.schema.names) > MOST_CELLS
