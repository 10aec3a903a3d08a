import pandas as pd
import polars as pl
import pytest

from driftgames.core.checks import float_errors, place_of_string
from driftgames.core.data_frames import as_frame, column_names


def test_frames_are_known_and_other_tables_are_not():
    assert column_names(pd.DataFrame({"a": [1]})) == ("a",)
    assert column_names(pd.DataFrame([[1]])) is None
    assert as_frame([[1.0]]) is None


def test_a_lazy_frame_is_refused_with_what_to_call():
    with pytest.raises(
        ValueError, match=r"call its collect\(\) or compute\(\) first; classifiers also fit"
    ):
        as_frame(pl.LazyFrame({"a": [1]}))


def test_columns_of_a_multi_index_are_refused():
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    with pytest.raises(ValueError, match=r"columns must have plain names|cannot be read"):
        as_frame(pd.DataFrame([[1, 2]], columns=columns))


def test_a_string_among_numbers_is_named_with_its_column():
    frame = pd.DataFrame({"a": [1.0, 2.0], "age": [1.0, "x"]})
    assert place_of_string(frame) == "'x' in row 1, column 'age'"
    with pytest.raises(ValueError, match="X must be numbers; got 'x' in row 1, column 'age'"):  # noqa: SIM117
        with float_errors("X", frame):
            float("x")
    assert place_of_string([[1.0]]) is None
