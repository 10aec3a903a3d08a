"""Rows of bits beside NumPy's truth values."""

import numpy as np

from driftgames._kernels.bits import ROWS, WORDS, choose, count, rows_of_bits
from driftgames._kernels.jit import kernel


@kernel
def choose_and_count(bits, counts, turns):
    choose(bits, 3, 0, 1, 2)
    for _ in range(turns):
        count(counts, bits, 3)


def as_truths(bits):
    return np.unpackbits(bits.view(np.uint8), bitorder="little").reshape(-1, ROWS) == 1


def test_rows_of_bits_begin_with_a_line_of_the_cache():
    for n_rows in (1, 2, 9):
        bits = rows_of_bits(n_rows)
        assert bits.size == n_rows * WORDS
        assert bits.ctypes.data % 64 == 0


def test_bits_are_chosen_and_counted_as_truths_are():
    bits = rows_of_bits(4)
    bits[:] = np.random.default_rng(1).integers(2**64, size=bits.size, dtype=np.uint64)
    asked, left, right, _ = as_truths(bits)
    counts = np.arange(ROWS).astype(np.uint8)
    choose_and_count(bits, counts, 3)
    chosen = np.where(asked, right, left)
    np.testing.assert_array_equal(as_truths(bits)[3], chosen)
    np.testing.assert_array_equal(counts, (np.arange(ROWS) + 3 * chosen).astype(np.uint8))
