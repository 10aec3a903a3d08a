"""Files of examples: what a CSV or LIBSVM file says, and what is wrong with it."""

from __future__ import annotations

import bz2
import gzip
import lzma
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyarrow import feather

from driftgames.cli._examples import read_examples
from driftgames.datasets.files import DataError


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_a_header_is_seen_and_the_last_column_is_the_label(write):
    examples = read_examples(write("a.csv", "age,height,class\n30,1.5,yes\n40,1.7,no\n"))
    np.testing.assert_array_equal(examples.X, [[30, 1.5], [40, 1.7]])
    assert examples.y.tolist() == ["yes", "no"]
    assert examples.names == ["age", "height"]


def test_without_a_header_all_lines_are_examples(write):
    examples = read_examples(write("a.csv", "30,1.5,1\n40,1.7,-1\n"))
    assert examples.X.shape == (2, 2)
    assert examples.y.tolist() == [1, -1]
    assert examples.y.dtype == np.int64
    assert examples.names is None


def test_a_header_of_numbers_is_one_when_it_is_said(write):
    path = write("a.csv", "1,2,3\n5,6,1\n7,8,-1\n")
    assert read_examples(path, header=True).X.tolist() == [[5, 6], [7, 8]]
    assert read_examples(path, header=True).names == ["1", "2"]
    assert read_examples(path).X.shape == (3, 2)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("na,height,class\n30,1.5,yes\n40,1.7,no\n", ["na", "height"]),
        ("nan,height,class\n30,?,yes\n40,1.7,no\n", ["nan", "height"]),
        (",height,class\n0,1.5,yes\n1,1.7,no\n", ["height"]),
        ("height,,class,\n1.5,0,yes,\n1.7,1,no,\n", ["height"]),
    ],
)
def test_a_header_may_hold_what_would_be_a_missing_value_below_it(write, text, names):
    examples = read_examples(write("a.csv", text))
    assert examples.names == names
    assert examples.y.tolist() == ["yes", "no"]


def test_a_first_line_of_missing_values_and_a_label_is_an_example(write):
    examples = read_examples(write("a.csv", "?,NA,yes\n1,2,no\n"))
    np.testing.assert_array_equal(examples.X, [[np.nan, np.nan], [1, 2]])
    assert examples.y.tolist() == ["yes", "no"]


def test_a_column_without_a_title_is_found_for_a_model_without_names(write):
    path = write("a.csv", ",a,b\n7,1,2\n")
    assert read_examples(path, n_features=2).X.tolist() == [[1, 2]]
    assert read_examples(path, n_features=1).y.tolist() == [2]
    assert read_examples(path, label="1").y.tolist() == [7]


@pytest.mark.parametrize("label", ["class", "1"])
def test_the_label_column_goes_by_name_or_by_number_from_1(write, label):
    examples = read_examples(write("a.csv", "class,x,y\nu,1,2\nv,3,4\n"), label=label)
    assert examples.y.tolist() == ["u", "v"]
    assert examples.names == ["x", "y"]
    assert examples.X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("cell", ["", "NaN", "?", " NA ", "null"])
def test_a_missing_value_is_nan(write, cell):
    examples = read_examples(write("a.csv", f"x,z,label\n1,{cell},0\n2,3,1\n"))
    np.testing.assert_array_equal(examples.X, [[1, np.nan], [2, 3]])


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
@pytest.mark.parametrize("name", ["a.csv", "a.svm"])
def test_compressed_files_are_read_as_they_are(write, ending, compress, name):
    text = b"0.5,0,1\n0,2,-1\n" if name == "a.csv" else b"1 1:0.5\n-1 2:2\n"
    examples = read_examples(write(name + ending, compress(text)))
    X = examples.X if name == "a.csv" else examples.X.toarray()
    assert X.tolist() == [[0.5, 0], [0, 2]]
    assert examples.y.tolist() == [1, -1]


def test_for_a_fitted_model_columns_go_by_name_and_labels_may_be_absent(write):
    path = write("a.csv", "b,extra,a\n1,2,3\n")
    examples = read_examples(path, n_features=2, names=["a", "b"], label="class")
    assert examples.X.tolist() == [[3, 1]]
    assert examples.y is None
    assert read_examples(path, n_features=2, names=["a", "b"]).y.tolist() == [2]
    path = write("b.csv", "1,2\n3,4\n")
    assert read_examples(path, n_features=2).y is None
    assert read_examples(path, n_features=1).y.tolist() == [2, 4]


def test_a_column_with_a_word_in_it_holds_categories(write):
    path = write("a.csv", "x,z,w,y\n1, two ,?,0\n?,3,5,1\n")
    examples = read_examples(path)
    assert examples.categories == [1]
    assert examples.X.tolist()[0][:2] == [1.0, "two"]
    assert np.isnan(examples.X[1, 0])
    assert examples.X[1, 1:].tolist() == ["3", 5.0]
    model = read_examples(path, n_features=2, names=["w", "z"], categories=[0, 1])
    assert model.X.tolist() == [[None, "two"], ["5", "3"]]
    assert read_examples(write("b.csv", "1,2\n3,4\n")).X.dtype == float


MIXED = [["", "when", "size", "town", "y"], ["0", "2020-01-31", "1.5", "Oslo", "in"]]
MIXED += [["1", "2020-02-01", "", "NA", "out"], ["2", "?", "2", "Rome", ""]]


def check_mixed(examples):
    assert examples.names == ["when", "size", "town"]
    assert (examples.categories, examples.dates) == ([2], [0])
    np.testing.assert_array_equal(examples.X[:, 0].astype(float), [18292, 18293, np.nan])
    np.testing.assert_array_equal(examples.X[:, 1].astype(float), [1.5, np.nan, 2])
    assert examples.X[:, 2].tolist() == ["Oslo", None, "Rome"]
    assert examples.y.tolist() == ["in", "out"]
    assert examples.known.tolist() == [True, True, False]
    assert examples.labelled().X.shape == (2, 3)


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_every_separator_is_read_by_the_same_rules(write, sep):
    text = "\n".join(sep.join(cells) for cells in [*MIXED, [""] * 5, []])
    if sep == ";":
        text = text.replace("1.5", "1,5")  # a decimal comma
    given = {"sep": "|"} if sep == "|" else {}
    check_mixed(read_examples(write("a.csv", text), **given))
    check_mixed(read_examples(write("a.txt", text), **given))  # by its first line
    assert read_examples(write("a.csv", text), leave_out="town", **given).categories == []


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_tables_of_arrow_are_read_by_the_same_rules(tmp_path, ending):
    when = np.array(["2020-01-31", "2020-02-01", "NaT"], dtype="datetime64[D]")
    table = pa.table(
        {
            "__index_level_0__": [0, 1, 2],
            "when": when,
            "size": [1.5, None, 2],
            "town": pa.array(["Oslo", None, "Rome"]).dictionary_encode(),
            "y": ["in", "out", None],
        }
    )
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(table, path)
    else:
        feather.write_feather(table, path)
    check_mixed(read_examples(str(path)))


def test_a_small_file_of_many_cells_is_refused_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "bomb.parquet"
    pa.parquet.write_table(pa.table({"x": np.zeros(10**5), "label": [0] * 10**5}), path)
    assert path.stat().st_size < 50_000
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", "1599999")
    with pytest.raises(DataError, match="200,000 cells need 1,600,000 bytes, where 1,599,999"):
        read_examples(str(path))
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", "1600000")
    assert read_examples(str(path)).X.shape == (10**5, 1)


def test_a_pattern_joins_tables_with_the_same_columns(write, tmp_path):
    write("1.csv", "x,y\n1,a\n")
    write("2.csv", "x,y\n2,b\n3,a\n")
    examples = read_examples(str(tmp_path / "*.csv"))
    assert examples.X[:, 0].tolist() == [1, 2, 3]
    assert examples.y.tolist() == ["a", "b", "a"]
    other = write("3.csv", "y,x\n2,b\n")
    with pytest.raises(DataError, match=f"{other}: must have the columns of"):
        read_examples(str(tmp_path / "*.csv"))


def test_standard_input_may_be_compressed_or_libsvm(monkeypatch):
    for text in (b"x,y\n1,5\n2,6\n", b"5 1:1\n6 1:2\n"):
        for content in (text, gzip.compress(text)):
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(content), closed=False))
            examples = read_examples("-")
            assert examples.X.sum() == 3
            assert examples.y.tolist() == [5, 6]


def test_dates_with_two_meanings_are_refused(write):
    text = "when,y\n{},0\n02/03/2020,1\n"
    with pytest.raises(DataError, match=r"\(when\): a date such as '01/02/2020' has two meanings"):
        read_examples(write("a.csv", text.format("01/02/2020")))
    examples = read_examples(write("a.csv", text.format("31/12/2019")))
    assert np.diff(examples.X[:, 0]) == 62


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.csv", "x,y\n1,0\n2\n", {}, "line 3: 1 cells, where 2 were expected"),
        (
            "a.csv",
            "x,z,y\n1,two,0\n",
            {"categories": []},
            "line 2, column 2 .z.: 'two' is not a number",
        ),
        ("a.csv", "x,z,y\n", {}, "has no examples"),
        (
            "a.csv",
            "x,z,y\n\n1,2,0\n\n1,two,0\n",
            {"categories": [0]},
            "line 5, column 2 .z.: 'two' is not a number",
        ),
        ("a.csv", 'x,y\n"1\n",0\n\n2\n', {}, "line 5: 1 cells, where 2 were expected"),
        ("a.csv", "x,z,x,y,z\n1,2,3,4,5\n", {}, "line 1: the header names 'x', 'z' twice"),
        ("a.csv", "y,x,y\n1,2,3\n", {"label": "y"}, "the header names 'y' twice"),
        ("a.csv", f"x,y\n1,{'0' * 140_000}\n", {}, "line 2: field larger than field limit"),
        ("a.csv", "", {}, "is empty"),
        ("a.csv", b"\xff\xfe\x00", {}, "is not UTF-8"),
        (
            "a.csv",
            "x,y\n1,0\n",
            {"label": "class"},
            "no column 'class'; it has x, y",
        ),
        (
            "a.csv",
            "1,0\n",
            {"label": "9"},
            "no column '9'; it has columns 1 to 2",
        ),
        ("a.csv", "x,y\n1,0\n", {"names": ["w"], "n_features": 1}, "no column 'w'"),
        ("a.svm", "1 0:1\n", {}, "line 1"),
        ("a.svm", "1 3:1\n", {"n_features": 2}, "n_features=2"),
    ],
)
def test_a_bad_file_is_named_with_the_place_and_the_reason(write, name, text, options, message):
    path = write(name, text)
    with pytest.raises(DataError, match=message) as caught:
        read_examples(path, **options)
    assert str(caught.value).startswith(path)


def test_text_in_another_encoding_advises_the_option_that_reads_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("city,class\nK\u00f6ln,1\nBonn,-1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"line 2: is not UTF-8 text .* try --encoding cp1252"):
        read_examples(str(path))
    assert read_examples(str(path), encoding="latin-1").X[0, 0] == "K\u00f6ln"
    with pytest.raises(ValueError, match=r"--encoding must be .* got 'utf-16'"):
        read_examples(str(path), encoding="utf-16")


@pytest.mark.parametrize("cell", ["1.234,5", "1 234,5", "1234,5"])
def test_numbers_with_marks_for_thousands_are_no_categories(write, cell):
    path = write("a.csv", f'pay,class\n"{cell}",1\n"2.500,0",-1\n')
    with pytest.raises(DataError, match=f"holds numbers such as '{cell}'; write them with a"):
        read_examples(path)
    assert read_examples(path, as_strings="pay").categories == [0]


def test_a_label_with_marks_for_thousands_is_no_class(write):
    path = write("a.csv", 'size,price\n3,"391,543"\n4,"1,086,402"\n')
    with pytest.raises(DataError, match=r"\(price\), the label, holds .* '391,543'; write them"):
        read_examples(path)
