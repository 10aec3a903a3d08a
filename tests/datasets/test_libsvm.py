import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array

from driftgames.datasets import libsvm
from driftgames.datasets.files import DataError, read_checked
from driftgames.datasets.libsvm import (
    LibsvmError,
    format_libsvm,
    parse_libsvm,
    read_libsvm,
    write_libsvm,
)

GOOD = b"+1 1:1 3:2.5\n-1 2:-4e-1\n\n0 \n1 1:7\r\n"


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_reads_plain_and_compressed_text(tmp_path, compress):
    path = tmp_path / "data"
    path.write_bytes(compress(GOOD))

    X, y = read_libsvm(path)

    np.testing.assert_array_equal(y, [1, -1, 0, 1])
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 2.5], [0, -0.4, 0], [0, 0, 0], [7, 0, 0]])


def test_ordinary_text_is_read_by_the_fast_reader():
    labels, indptr, indices, values = libsvm._parse_whole(GOOD)

    np.testing.assert_array_equal(indptr, [0, 2, 3, 3, 4])
    np.testing.assert_array_equal(indices, [0, 2, 1, 0])
    assert labels.size == 4
    assert values.size == 4


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (b"+1 1:1\n1:1 2:1", 2, "label must be a finite number; got '1:1'"),
        (b"+1 1:1 2", 1, "expected index:value; got '2'"),
        (b"+1 1:1 :2", 1, "expected index:value; got ':2'"),
        (b"+1 1: 2:1", 1, "expected index:value; got '1:'"),
        (b"+1 1:1:1", 1, "expected index:value; got '1:1:1'"),
        (b"+1 0:1", 1, "an index must be an integer >= 1; got '0'"),
        (b"+1 -3:1", 1, "an index must be an integer >= 1; got '-3'"),
        (b"+1 1.5:1", 1, "an index must be an integer >= 1; got '1.5'"),
        (b"+1 1:1\n\n-1 3:1 2:1", 3, "indexes must rise within a line; got 2 after 3"),
        (b"+1 4:1 4:1", 1, "indexes must rise within a line; got 4 after 4"),
        (b"+1 1:x", 1, "value of index 1 must be a finite number; got 'x'"),
        (b"+1 1:1e999", 1, "value of index 1 must be a finite number; got '1e999'"),
        (b"+1 1:nan", 1, "value of index 1 must be a finite number; got 'nan'"),
        (b"+1 1:1_0", 1, "value of index 1 must be a finite number; got '1_0'"),
        (b"+1 1:--1", 1, "value of index 1 must be a finite number; got '--1'"),
        (b"+1 1:1\ninf 1:1", 2, "label must be a finite number; got 'inf'"),
        (b"+1 qid:3 1:1", 1, "an index must be an integer >= 1; got 'qid'"),
        (b"+1 1:1\n\xff 1:1", 2, r"label must be a finite number; got '\\xff'"),
        (b"+1 1234567890123456:1", 1, "an index must be an integer >= 1"),
        (b"+1 1:1\n-1 999999999999:1", 2, "an index must be at most 2147483647; got 999999999999"),
        (b"-1 1:1 2147483648:1 # by hand", 1, "at most 2147483647; got 2147483648"),
    ],
)
def test_bad_text_is_refused_with_line_and_reason(text, line, reason):
    with pytest.raises(LibsvmError) as caught:
        parse_libsvm(text, "bad.svm")

    assert str(caught.value).startswith(f"bad.svm: line {line}: ")
    assert reason in str(caught.value)


def test_comments_are_skipped():
    X, y = parse_libsvm(b"# made by hand\n+1 2:1 # 3:1\n", "data")

    np.testing.assert_array_equal(X.toarray(), [[0, 1]])
    np.testing.assert_array_equal(y, [1])


def test_explicit_zeros_are_dropped():
    X, _ = parse_libsvm(b"+1 1:0 2:1\n", "data")

    assert X.nnz == 1
    assert X.shape == (1, 2)


def test_n_features_widens_and_never_narrows():
    X, _ = parse_libsvm(b"+1 2:1\n", "data", n_features=5)
    assert X.shape == (1, 5)

    with pytest.raises(LibsvmError, match=r"data: example 2: index 6 where n_features=5"):
        parse_libsvm(b"+1 2:1\n+1 6:1\n", "data", n_features=5)


def test_empty_file_has_no_examples():
    X, y = parse_libsvm(b"\n", "data")

    assert X.shape == (0, 0)
    assert y.shape == (0,)


def test_damaged_compression_is_named(tmp_path):
    path = tmp_path / "cut.xz"
    path.write_bytes(lzma.compress(GOOD * 100)[:-20])

    with pytest.raises(DataError, match="damaged or cut short xz data"):
        read_libsvm(path)


def test_checksum_is_of_the_decompressed_content(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(b""))

    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert read_checked(path, empty) == b""
    with pytest.raises(
        DataError,
        match=r"data\.gz: its sha256 is e3b0c44298fc\.\.\., where 558b2587b199\.\.\. was expected; "
        "the content was changed or cut short",
    ):
        read_checked(path, empty[::-1])


def test_written_text_reads_back_to_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    X = csr_matrix(random_array((30, 8), density=0.3, rng=rng))
    y = rng.choice([-1, 1], size=30)

    write_libsvm(tmp_path / "data.svm", X, y)
    again, labels = read_libsvm(tmp_path / "data.svm", n_features=8)

    assert (again != X).nnz == 0
    np.testing.assert_array_equal(labels, y)


def test_writing_leaves_the_matrix_as_it_was_and_sums_what_stands_twice():
    X = csr_matrix((np.array([1.0, 2.0, 0.5]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))

    text = format_libsvm(X, [1])

    assert text == b"+1 1:2 3:1.5\n"
    np.testing.assert_array_equal(X.indices, [2, 0, 2])
    np.testing.assert_array_equal(X.data, [1.0, 2.0, 0.5])
    np.testing.assert_array_equal(parse_libsvm(text, "data")[0].toarray(), X.toarray())


PIECE = st.sampled_from(
    [b"+1", b"-1", b"1:1", b"2:0.5", b"3:-2", b"10:1e3", b"2", b":", b"x", b".", b"+", b"1e", b" "]
)
TEXT = st.lists(
    st.sampled_from([b" ", b"\n", b"  ", b"\r\n", b"\t", b""]), min_size=12, max_size=12
)


@given(st.lists(PIECE, max_size=12), TEXT)
def test_both_readers_agree_on_any_text(pieces, gaps):
    text = b"".join(piece + gap for piece, gap in zip(pieces, gaps, strict=False))
    try:
        fast = libsvm._parse_whole(text)
    except libsvm._UnusualError:
        return

    for quick, careful in zip(fast, libsvm._parse_lines(text, "data"), strict=True):
        np.testing.assert_array_equal(quick, careful)


def test_a9a_and_w8a_have_the_published_shapes(shared_data):
    for name, shape, positives, empty in [
        ("a9a", (32561, 123), 7841, 0),
        ("w8a", (49749, 300), 1479, 4203),
    ]:
        X, y = read_libsvm(shared_data / name / f"{name}.xz")

        assert X.shape == shape
        assert (y == 1).sum() == positives
        assert (np.diff(X.indptr) == 0).sum() == empty
        assert set(np.unique(X.data)) == {1.0}
