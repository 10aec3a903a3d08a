"""Compressed files: read in a stream, up to a limit that a variable raises."""

import bz2
import gzip
import lzma

import pytest

from driftgames.datasets import files
from driftgames.datasets.files import DataError, decompress


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
def test_more_bytes_than_the_limit_are_refused_unless_it_is_raised(monkeypatch, compress):
    bomb = compress(bytes(5_000_000))
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", "4999999")
    with pytest.raises(DataError, match=r"x\.svm: its .* hold more than 4,999,999 bytes; DRIFT"):
        decompress(bomb, "x.svm")
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", "5000000")
    assert decompress(bomb, "x.svm") == bytes(5_000_000)


def test_no_more_is_decompressed_than_the_limit_and_a_chunk(monkeypatch):
    read = []

    class Endless:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def read(self, size):
            read.append(size)
            return bytes(size)

    monkeypatch.setattr(files, "_OPENERS", {b"BZh": ("bzip2", lambda stream: Endless())})
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", "3000000")
    with pytest.raises(DataError, match="more than 3,000,000 bytes"):
        decompress(b"BZh", "x.svm")
    assert sum(read) < 3_000_000 + 2**20


@pytest.mark.parametrize("text", ["many", "0", "-1", "1e9"])
def test_a_limit_that_is_no_number_of_bytes_is_refused(monkeypatch, text):
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", text)
    with pytest.raises(DataError, match=f"DRIFTGAMES_MOST_BYTES must be a number.*'{text}'"):
        decompress(gzip.compress(b""), "x.svm")
