"""LIBSVM text: ``label index:value index:value ...``, one example per line, indexes from 1.

The whole file is parsed at once with NumPy. If anything is unusual, a second reader goes through
the same bytes line by line. It knows the whole grammar, and its errors name the line and the
reason.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_integer
from driftgames.core.documents import atomic_write
from driftgames.core.text import shown
from driftgames.core.typing import FloatArray, Path
from driftgames.datasets.files import DataError, read_bytes

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_NEWLINE, _SPACE, _COLON = b"\n :"
_MOST_DIGITS = 15  # an integer of 15 digits is exact in a float64
_MOST_COLUMNS = 2**31 - 1  # learners hold column numbers in 32 bits
_ORDINARY = np.zeros(256, dtype=bool)
_ORDINARY[list(b"0123456789+-.eE: \t\r\n")] = True

Pieces = tuple[FloatArray, npt.NDArray[np.int64], npt.NDArray[np.int64], FloatArray]
"""Labels, row pointers, column numbers from 0, and values."""


class LibsvmError(DataError):
    """Text that is not LIBSVM; the message names the file, the line and the reason."""


class _UnusualError(Exception):
    """The fast reader leaves this text to the reader that goes line by line."""


def read_libsvm(path: Path, *, n_features: int | None = None) -> tuple[csr_matrix, FloatArray]:
    r"""Return the examples of a LIBSVM file as a sparse matrix, and their labels.

    Parameters
    ----------
    path : path
        The file; gzip, xz and bzip2 are read as they are, up to 1 GiB of content. The variable
        ``DRIFTGAMES_MOST_BYTES`` sets another limit.
    n_features : int, optional
        The number of columns. Default: the largest index in the file. Give it when a test file
        may lack the last columns of its training file.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float64
        One row per line that is not blank; explicit zeros are dropped.
    y : array of float64
        The labels.

    Notes
    -----
    Ambiguous text is refused: indexes must be integers from 1
    that rise within a line, and labels and values must be finite. ``#`` begins a comment.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.svm")
    ...     with open(path, "w") as stream:
    ...         _ = stream.write("+1 1:1 3:0.5\n-1 2:1\n")
    ...     X, y = read_libsvm(path)
    >>> X.toarray()
    array([[1. , 0. , 0.5],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    return parse_libsvm(read_bytes(path), os.fspath(path), n_features=n_features)


def parse_libsvm(
    text: bytes, name: str, *, n_features: int | None = None
) -> tuple[csr_matrix, FloatArray]:
    """Return what `read_libsvm` returns, from bytes; ``name`` is what an error calls them."""
    from scipy.sparse import csr_matrix

    try:
        labels, indptr, indices, values = _parse_whole(text)
    except _UnusualError:
        labels, indptr, indices, values = _parse_lines(text, name)
    seen = int(indices.max()) + 1 if indices.size else 0
    columns = seen if n_features is None else check_integer("n_features", n_features, least=0)
    if seen > columns:
        row = int(np.searchsorted(indptr, int(np.argmax(indices >= columns)), side="right"))
        raise LibsvmError(f"{name}: example {row}: index {seen} where n_features={columns}")
    X = csr_matrix((values, indices, indptr), shape=(labels.size, columns))
    X.eliminate_zeros()
    return X, labels


def write_libsvm(path: Path, X: Any, y: npt.ArrayLike) -> None:
    """Write a sparse matrix and labels of -1 and +1 as LIBSVM text, in one step.

    Values are written so that they read back to the same bits.
    """
    with atomic_write(path) as stream:
        stream.write(format_libsvm(X, y))


def format_libsvm(X: Any, y: npt.ArrayLike) -> bytes:
    r"""Return a sparse matrix and labels as LIBSVM text.

    >>> format_libsvm(np.array([[0, 1.5], [1, 0]]), [1, -1])
    b'+1 2:1.5\n-1 1:1\n'
    """
    from scipy.sparse import csr_matrix

    rows = csr_matrix(X, copy=True)  # what follows is done in place
    rows.sum_duplicates()
    pairs = [
        f" {j + 1}:{int(v) if v == int(v) else float(v)!r}"
        for j, v in zip(rows.indices, rows.data, strict=True)
    ]
    labels = [f"{int(v):+d}" if v == int(v) else repr(float(v)) for v in np.asarray(y)]
    spans = pairwise(rows.indptr)
    lines = [
        label + "".join(pairs[begin:end]) for label, (begin, end) in zip(labels, spans, strict=True)
    ]
    return "".join(line + "\n" for line in lines).encode()


def _parse_whole(text: bytes) -> Pieces:
    """Parse all bytes at once; leave unusual text to `_parse_lines`."""
    data = np.frombuffer(text, dtype=np.uint8)
    if not _ORDINARY[data].all():
        raise _UnusualError
    blank = data <= _SPACE
    # a token begins where a blank (or the start) stands before it, and ends likewise
    edges = np.flatnonzero(np.diff(blank, prepend=True, append=True))
    starts, ends = edges[0::2], edges[1::2]
    lines_before = np.searchsorted(np.flatnonzero(data == _NEWLINE), starts)
    first = np.diff(lines_before, prepend=-1) > 0  # the first token of a line is its label
    colons = np.flatnonzero(data == _COLON)
    pairs = np.flatnonzero(~first)
    pair_starts, pair_ends = starts[pairs], ends[pairs]
    one_inside_each = (
        colons.size == pairs.size
        and bool((colons > pair_starts).all())
        and bool((colons < pair_ends - 1).all())
    )
    if not one_inside_each:
        raise _UnusualError
    labels = _numbers(text, data, starts[first], ends[first])
    index, only_digits = _integers(data, pair_starts, colons)
    values = _numbers(text, data, colons + 1, pair_ends)
    same_line = np.diff(pairs, prepend=-1) == 1  # no label stands between this pair and the last
    rises = np.diff(index, prepend=0) > 0
    good = only_digits & (rises | ~same_line) & (index >= 1) & (index <= _MOST_COLUMNS)
    if not (good & np.isfinite(values)).all() or not np.isfinite(labels).all():
        raise _UnusualError
    indptr = np.append(np.flatnonzero(first) - np.arange(labels.size), pairs.size)
    return labels, indptr, index - 1, values


def _integers(
    data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return tokens as integers, and which of them have digits only."""
    lengths = ends - starts
    numbers = np.zeros(starts.size, dtype=np.int64)
    good = lengths <= _MOST_DIGITS
    for place in range(min(int(lengths.max(initial=0)), _MOST_DIGITS)):
        inside = place < lengths
        # a place past the token's end reads some other byte, which `inside` then ignores
        digits = data[np.minimum(starts + place, data.size - 1)].astype(np.int64) - ord("0")
        numbers = np.where(inside, numbers * 10 + digits, numbers)
        good &= ~inside | ((digits >= 0) & (digits <= 9))
    return numbers, good


def _numbers(
    text: bytes,
    data: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> FloatArray:
    """Return tokens as floats: whole numbers at once, the others one by one."""
    if not starts.size:
        return np.zeros(0)
    signs = np.isin(data[starts], np.frombuffer(b"+-", dtype=np.uint8))
    signs &= ends - starts > 1
    whole, only_digits = _integers(data, starts + signs, ends)
    numbers = whole.astype(np.float64)
    numbers[data[starts] == ord("-")] *= -1.0
    for i in np.flatnonzero(~only_digits):
        try:
            numbers[i] = float(text[starts[i] : ends[i]])
        except ValueError as error:
            raise _UnusualError from error
    return numbers


def _parse_lines(text: bytes, name: str) -> Pieces:
    """Parse line by line; the whole grammar, and an error that names the line."""
    labels: list[float] = []
    indptr, indices = [0], list[int]()
    values: list[float] = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        tokens = line.partition(b"#")[0].split()
        if not tokens:
            continue
        try:
            labels.append(_finite("label", tokens[0]))
            last = 0
            for token in tokens[1:]:
                last, value = _pair(token, last)
                indices.append(last - 1)
                values.append(value)
        except ValueError as error:
            raise LibsvmError(f"{name}: line {number}: {error}") from None
        indptr.append(len(indices))
    return (
        np.array(labels, dtype=np.float64),
        np.array(indptr, dtype=np.int64),
        np.array(indices, dtype=np.int64),
        np.array(values, dtype=np.float64),
    )


def _pair(token: bytes, last: int) -> tuple[int, float]:
    index, colon, value = token.partition(b":")
    if not (colon and index and value) or b":" in value:
        raise ValueError(f"expected index:value; got {_shown(token)}")
    if not index.isdigit() or len(index) > _MOST_DIGITS:
        raise ValueError(f"an index must be an integer >= 1; got {_shown(index)}")
    column = int(index)
    if column < 1:
        raise ValueError("an index must be an integer >= 1; got '0'")
    if column > _MOST_COLUMNS:
        raise ValueError(f"an index must be at most {_MOST_COLUMNS}; got {column}")
    if column <= last:
        raise ValueError(f"indexes must rise within a line; got {column} after {last}")
    return column, _finite(f"value of index {column}", value)


def _finite(what: str, token: bytes) -> float:
    try:
        number = float(token) if b"_" not in token else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"the {what} must be a finite number; got {_shown(token)}")
    return number


def _shown(token: bytes) -> str:
    return shown(token.decode("utf-8", errors="backslashreplace"))
