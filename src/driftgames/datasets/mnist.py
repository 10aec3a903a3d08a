"""MNIST: a set made as ocr49 was.

``ocr49`` is 2,000 images of fours and nines that R. Schapire took from MNIST, reduced to 14 x
14 pixels of four grey levels. The choice of images and the reduction are not recorded, so the
public files cannot be shown to yield the set. `derive` takes the first 2,000 fours and nines of
the training file and averages 2 x 2 pixels. Its numbers are similar to the published ones, but
not equal.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from driftgames.datasets.binarise import Attribute, binarise, make_columns
from driftgames.datasets.dataset import Split
from driftgames.datasets.files import DataError

ATTRIBUTES: tuple[Attribute, ...] = tuple(
    Attribute(f"{x}:{y}") for y in range(1, 15) for x in range(1, 15)
)
"""Pixels ``column:row`` counted from 1, row after row."""

_ROWS = 2000


def parse_idx(data: bytes, name: str) -> npt.NDArray[np.uint8]:
    r"""Return the array of bytes in an IDX file.

    >>> parse_idx(b"\0\0\x08\x01" + b"\0\0\0\x02" + b"\x04\x09", "labels")
    array([4, 9], dtype=uint8)
    """
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise DataError(f"{name}: not an IDX file of bytes; it begins {data[:4]!r}")
    begin = 4 + 4 * data[3]
    shape = struct.unpack(f">{data[3]}I", data[4:begin]) if len(data) >= begin else ()
    if not shape or len(data) - begin != np.prod(shape, dtype=np.int64):
        raise DataError(f"{name}: {len(data)} bytes do not hold an array of shape {shape}")
    return np.frombuffer(data, dtype=np.uint8, offset=begin).reshape(shape)


def derive(images: bytes, labels: bytes) -> tuple[Split, tuple[str, ...]]:
    """Return the first 2,000 fours and nines, 14 x 14 pixels of four levels, binarised."""
    pixels, digits = parse_idx(images, "mnist images"), parse_idx(labels, "mnist labels")
    if pixels.ndim != 3 or pixels.shape[1:] != (28, 28) or digits.shape != pixels.shape[:1]:
        raise DataError(
            f"mnist: expected 28 x 28 images with a label each; got {pixels.shape} "
            f"and {digits.shape}"
        )
    chosen = np.flatnonzero(np.isin(digits, (4, 9)))[:_ROWS]
    grey = pixels[chosen].reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) // 64
    rows = [[str(level) for level in image] for image in grey.reshape(-1, 196).astype(int)]
    columns = make_columns(ATTRIBUTES, rows)
    y = np.where(digits[chosen] == 9, 1, -1)
    return Split(binarise(rows, columns), y), tuple(column.name for column in columns)
