"""Tables and data sets that the library reads, and how their bytes are broken."""

from __future__ import annotations

import gzip
import lzma
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

TOKENS = (
    *(b"nan", b"inf", b"-inf", b"1e999", b"-1e308", b"9" * 400, b"1_000", b"0x10", b"-1", b"0"),
    *(b"", b'"', b'""', b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"  ", b"\x1b[31m"),
    *(b",", b";", b"\t", b"," * 1000, b":", b"#", b"+1", b"4294967295:1", b"0:1", b"2:"),
    *(b"2020-01-31", b"01/02/2020", "\N{ROMAN NUMERAL FIVE}".encode()),
    *(b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\xff\xff\xff\x7f"),
)


def broken_bytes(content: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Return broken content, and what was done; a gzip or xz file may be broken on its inside."""
    packed = content[:2] == b"\x1f\x8b" or content[:3] == b"\xfd7z"
    if packed and rng.random() < 0.5:
        module: Any = gzip if content[:2] == b"\x1f\x8b" else lzma
        inner, done = broken_bytes(module.decompress(content), rng)
        options = {"mtime": 0} if module is gzip else {}
        return module.compress(inner, **options), f"inside: {done}"
    data, done = bytearray(content), []
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        begin = rng.randrange(len(data) + 1)
        end = min(begin + rng.choice([1, 1, 2, 4, 8, 100]), len(data))
        way = rng.choice(["flip", "flip", "token", "token", "remove", "cut", "copy", "swap"])
        if way == "flip":
            data[begin:end] = rng.randbytes(end - begin)
        elif way == "token":
            data[begin : rng.choice([begin, end])] = rng.choice(TOKENS)
        elif way == "remove":
            del data[begin:end]
        elif way == "cut" and rng.random() < 0.3:
            del data[begin:]
        elif way == "copy":
            data[begin:begin] = data[begin:end] * rng.choice([1, 2, 50])
        else:
            other = rng.randrange(len(data) + 1)
            data[other:other] = data[begin:end]
        done.append(f"{way} at {begin}")
    return bytes(data), ", ".join(done)


def _rows() -> Iterator[str]:
    rng = np.random.default_rng(8)
    yield "date,alpha,beta,colour"
    for i in range(40):
        a, b = rng.random(2)
        date, blank = f"2020-{1 + i // 28:02d}-{1 + i % 28:02d}", "" if i % 7 == 0 else f"{b:.3f}"
        yield f"{date},{a:.4f},{blank},{'red' if a > b else 'blue'}"


def _write_text(path: Path) -> None:
    path.write_text("\n".join(_rows()) + "\n")


def _write_numbers(path: Path) -> None:
    np.savetxt(path, np.random.default_rng(9).random((30, 4)), delimiter=",", fmt="%.5f")


def _write_arrow(path: Path) -> None:
    import pyarrow
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.csv.read_csv(pyarrow.py_buffer("\n".join(_rows()).encode()))
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")


def _write_npy(path: Path) -> None:
    np.save(path, np.random.default_rng(9).random((30, 4)))


def _write_libsvm(path: Path) -> None:
    from driftgames.datasets import write_libsvm

    rng = np.random.default_rng(10)
    write_libsvm(
        path, (rng.random((30, 9)) > 0.6) * rng.integers(1, 9, (30, 9)), rng.integers(0, 2, 30)
    )


def _write_idx(path: Path) -> None:
    pixels = np.random.default_rng(11).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    path.write_bytes(
        b"\0\0\x08\x03" + np.array(pixels.shape, dtype=">i4").tobytes() + pixels.tobytes()
    )


def _packed(
    write: Callable[[Path], None], pack: Callable[[bytes], bytes]
) -> Callable[[Path], None]:
    def write_packed(path: Path) -> None:
        write(path)
        path.write_bytes(pack(path.read_bytes()))

    return write_packed


def _read_table(path: Path) -> Any:
    """Return all numbers and dates of a table, as the commands read them."""
    from driftgames.cli._tables import open_table
    from driftgames.core.cells import as_days, as_numbers

    with open_table(str(path), whole=True) as table:
        columns = [column for block in table.blocks for column in block.columns]
    return [found for x in columns for found in (as_numbers(x), as_days(x)) if found is not None]


def _read_libsvm(path: Path) -> Any:
    from driftgames.datasets import read_libsvm

    X, y = read_libsvm(path)
    return [X.data, X.indices.astype(float), y]


def _read_idx(path: Path) -> Any:
    from driftgames.datasets.files import read_bytes
    from driftgames.datasets.public_files import parse_idx

    return [parse_idx(read_bytes(path), str(path)).astype(float)]


def _use(arrays: Any) -> None:
    for array in arrays:
        array.sum()


def table_kinds(kind: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    """Return the makers of tables and data sets by name; ``kind`` is the class `Kind`."""
    from driftgames.datasets.files import DataError

    files: dict[str, tuple[str, Callable[[Path], None], Callable[[Path], Any]]] = {
        "table of words": ("table.csv", _write_text, _read_table),
        "table of numbers": ("table.csv", _write_numbers, _read_table),
        "table in gzip": (
            "table.csv.gz",
            _packed(_write_text, lambda data: gzip.compress(data, mtime=0)),
            _read_table,
        ),
        "table in xz": ("table.csv.xz", _packed(_write_text, lzma.compress), _read_table),
        "table in parquet": ("table.parquet", _write_arrow, _read_table),
        "table in arrow": ("table.arrow", _write_arrow, _read_table),
        "table in npy": ("table.npy", _write_npy, _read_table),
        "libsvm": ("file.svm", _write_libsvm, _read_libsvm),
        "idx": ("file.idx", _write_idx, _read_idx),
    }

    def maker(name: str) -> Callable[[], Any]:
        file, write, read = files[name]
        return lambda: kind(name, write, read, _use, file, DataError)

    return {name: maker(name) for name in files}
