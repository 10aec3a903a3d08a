"""Where batches come from: functions, lists, memory maps, parquet files and lazy data frames."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.core.checks import shown
from driftgames.core.typing import BoolArray, IntArray, Path


class Batch(NamedTuple):
    """Some examples; ``sample_weight`` is None if all count the same."""

    X: Any
    y: Any
    sample_weight: Any = None


@dataclass(frozen=True)
class BatchReader:
    """Batches that can be read again.

    ``read`` returns an iterator over the batches; each call begins anew. ``read_weights`` does the
    same and may leave out the features: their arrays have no columns. ``n_rows`` is the number of
    examples, if it is known. ``names`` are those of the features, if the batches have none.
    """

    read: Callable[[], Iterator[Batch]]
    read_weights: Callable[[], Iterator[Batch]]
    n_rows: int | None = None
    names: list[str] | None = None


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read; `BaseBooster.fit_batches` describes it.

    Columns of a file become an array if all are numbers and ``frames`` is False, else a data frame.
    """

    batch_rows: int
    label: str | None = None
    weight: str | None = None
    columns: Sequence[str] | None = None
    filter: Any = None
    frames: bool = False

    @property
    def others(self) -> list[str]:
        """The columns that are no features."""
        return [name for name in (self.label, self.weight) if name is not None]

    def features(self, known: Sequence[str]) -> list[str]:
        """Return the names of the features."""
        if self.label is None:
            raise ValueError(f"label must name the column of the labels; there are {list(known)}")
        for name in [*self.others, *(self.columns or [])]:
            if name not in known:
                raise ValueError(f"there is no column {name!r}; there are {list(known)}")
        chosen = known if self.columns is None else self.columns
        return [name for name in chosen if name not in self.others]

    def open(self, known: Sequence[str], read: Callable[[list[str]], Iterator[Any]]) -> BatchReader:
        """Return the source of data frames; ``read`` reads some of the ``known`` columns."""
        features = self.features(known)

        def batches(names: list[str]) -> Iterator[Batch]:
            for frame in read([*names, *self.others]):
                if len(frame):  # a filter may leave nothing of a part
                    yield from _slices(self.batch(frame, names), self.batch_rows)
                del frame

        return BatchReader(lambda: batches(features), lambda: batches([]), names=features)

    def batch(self, frame: Any, names: list[str]) -> Batch:
        """Return the batch of a data frame; ``names`` are the features."""
        assert self.label is not None  # `features` has checked it
        labels = frame[self.label]
        n_lost = labels.null_count() if callable(labels.null_count) else labels.null_count
        if n_lost:
            raise ValueError(
                f"the labels in {self.label!r} must not be missing; {n_lost} of a batch are"
            )
        X: Any
        columns = [np.asarray(frame[name]) for name in names]
        if names and (self.frames or any(column.dtype.kind not in "biuf" for column in columns)):
            X = frame.select(names)
        else:
            single = all(column.dtype == np.float32 for column in columns)
            dtype = np.float32 if columns and single else np.float64
            X = np.empty((len(labels), len(names)), dtype=dtype)
            for j, column in enumerate(columns):
                X[:, j] = column  # a missing number is NaN
        weights = None if self.weight is None else _numbers(self.weight, frame[self.weight])
        return Batch(X, np.asarray(labels), weights)


def open_source(source: Any, options: ReadOptions) -> BatchReader:
    """Return a source of batches of at most ``batch_rows`` rows."""
    if _is_of(source, "polars", "LazyFrame"):
        return _open_lazy(source, options)
    if _is_path(source) or _is_list_of_paths(source) or _is_of(source, "pyarrow", "Dataset"):
        return _open_dataset(source, options)
    for name in ("label", "weight", "columns", "filter"):
        value = getattr(options, name)
        if value is not None:
            raise ValueError(
                f"{name} belongs to parquet files, a pyarrow Dataset or a polars LazyFrame; "
                f"got {name}={shown(value)} beside a source of type {type(source).__name__}"
            )
    if hasattr(source, "__next__"):
        raise ValueError(
            "source must be read twice, and an iterator can be read once; give the function that "
            f"makes it instead of {shown(source)}"
        )
    if not callable(source) and not hasattr(source, "__iter__"):
        raise ValueError(
            "source must be a function that returns batches, a list of them, parquet files, a "
            f"pyarrow Dataset or a polars LazyFrame; got {shown(source)}"
        )

    def read() -> Iterator[Batch]:
        for k, batch in enumerate(source() if callable(source) else source):
            if not (isinstance(batch, (tuple, list)) and len(batch) in (2, 3)):
                raise ValueError(
                    f"batch {k} must be (X, y) or (X, y, sample_weight); "
                    f"got a {type(batch).__name__}"
                )
            yield from _slices(Batch(*map(_map_file, batch)), options.batch_rows)

    return BatchReader(read, read)


def _open_dataset(source: Any, options: ReadOptions) -> BatchReader:
    """Open parquet files or a pyarrow Dataset."""
    import pyarrow as pa

    if not _is_of(source, "pyarrow", "Dataset"):
        source = open_parquet(source)

    def read(names: list[str]) -> Iterator[Any]:
        ahead = {"batch_readahead": 0, "fragment_readahead": 0}  # they would take memory
        rows = {"filter": options.filter, "batch_size": options.batch_rows}
        for part in source.to_batches(columns=names, use_threads=False, **rows, **ahead):
            yield pa.Table.from_batches([part])
            del part
        pa.default_memory_pool().release_unused()

    opened = options.open(source.schema.names, read)
    return replace(opened, n_rows=source.count_rows(filter=options.filter))


def open_parquet(source: Any) -> Any:
    """Return parquet files, by a name, a pattern or a list of these, as a pyarrow Dataset."""
    import pyarrow.dataset as ds

    paths = [os.fspath(path) for path in ([source] if _is_path(source) else source)]
    files = [one for path in paths for one in (sorted(glob.glob(path)) or [path])]
    return ds.dataset(files[0] if len(files) == 1 else files, format="parquet")


def _open_lazy(source: Any, options: ReadOptions) -> BatchReader:
    """Open a polars LazyFrame."""
    if options.filter is not None:
        source = source.filter(options.filter)

    def read(names: list[str]) -> Iterator[Any]:
        yield from source.select(names).collect_batches(chunk_size=options.batch_rows)

    return options.open(source.collect_schema().names(), read)


def _numbers(name: str, column: Any) -> Array:
    values = np.asarray(column)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"the column {name!r} must hold numbers; it has the type {values.dtype}")
    return values


def _slices(batch: Batch, batch_rows: int) -> Iterator[Batch]:
    """Cut a batch into pieces, so that a memory map is read piece by piece."""
    n_rows = batch.X.shape[0] if hasattr(batch.X, "shape") else len(batch.X)
    if n_rows <= batch_rows:
        yield batch
        return
    for begin in range(0, n_rows, batch_rows):
        yield Batch(*(_rows(part, begin, begin + batch_rows) for part in batch))


def _rows(values: Any, begin: int, end: int) -> Any:
    if values is None:
        return None
    values = values.iloc if hasattr(values, "iloc") else values
    return values[begin:end]


def _map_file(value: object) -> object:
    """Return the memory map of a ``.npy`` file; anything else as it is."""
    return np.load(value, mmap_mode="r") if _is_path(value) else value


def _is_path(value: object) -> TypeGuard[Path]:
    return isinstance(value, (str, os.PathLike))


def _is_list_of_paths(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_path, value))


def _is_of(value: object, package: str, name: str) -> bool:
    """Whether an object is of a class of this name, or below one; the package is not imported."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == package
        for kind in type(value).__mro__
    )


OTHER_ROWS = "source must yield the same rows each time it is read"


class Fingerprint:
    """The number of rows of each label, and the sum of their hashes, in any order.

    Examples
    --------
    >>> seen, again = Fingerprint(), Fingerprint()
    >>> for part in (seen, again):
    ...     part.add(np.array(["a", "b"]), np.ones(2, dtype=np.int64), np.array([3, 5], np.uint64))
    >>> again.compare(seen)
    >>> again.add(np.array(["b"]), np.ones(1, dtype=np.int64), np.array([5], np.uint64))
    >>> again.compare(seen)
    Traceback (most recent call last):
    ...
    ValueError: source must yield the same rows each time it is read; there are more rows of class \
'b' now
    """

    def __init__(self) -> None:
        self.seen: dict[Any, tuple[int, int]] = {}

    @property
    def n_rows(self) -> int:
        """The number of rows of all labels."""
        return sum(n for n, _ in self.seen.values())

    def add(
        self, y: Array, weights: IntArray, hashes: Array, held_out: BoolArray | None = None
    ) -> None:
        """Add rows; ``held_out`` marks some of them, which then count as other ones."""
        factors = weights if held_out is None else weights + (held_out.astype(np.int64) << 54)
        mixed = hashes * factors.astype(np.uint64)  # modulo 2**64
        for label in np.unique(y).tolist():
            of_label = y == label
            n, total = self.seen.get(label, (0, 0))
            total += int(mixed[of_label].sum())
            self.seen[label] = n + int(np.count_nonzero(of_label)), total % 2**64

    def compare(self, earlier: Fingerprint, *, ended: bool = True) -> None:
        """Raise ValueError for rows that were not there before, or that are gone in the end."""
        for label, (n, _) in self.seen.items():
            if n > earlier.seen.get(label, (0, 0))[0]:
                raise ValueError(f"{OTHER_ROWS}; there are more rows of class {label!r} now")
        for label, before in earlier.seen.items() if ended else ():
            if before != self.seen.get(label):
                n, now = before[0], self.seen.get(label, (0, 0))[0]
                what = "other values" if n == now else f"{now:,} rows instead of {n:,}"
                raise ValueError(f"{OTHER_ROWS}; class {label!r} has {what} the second time")
