"""Public files of UCI Adult, MNIST and UCI Splice, and the sets that are made from them.

R. Schapire took the published sets from these files:

- ``census`` is 2,000 rows of Adult, about half of them above 50K, with every numeric attribute
  rounded to eight levels and the attribute ``fnlwgt`` left out. Which rows were drawn is not
  recorded.
- ``ocr49`` is 2,000 images of fours and nines of MNIST, reduced to 14 x 14 pixels of four grey
  levels. The choice of images and the reduction are not recorded.
- ``splice`` is 1,000 of the 3,190 rows of Splice. ``splice_rows.txt`` lists them in its order; some
  are taken twice, as there. They were found by their sequences.

`derive_splice` returns the published set to the byte. `derive_census` and `derive_ocr49` make sets
by the same steps, from other rows: their numbers are similar to the published ones, but not equal.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from importlib import resources

import numpy as np
import numpy.typing as npt

from driftgames.core.text import shown
from driftgames.datasets.binarise import Attribute, Row, binarise, make_columns, quantise
from driftgames.datasets.dataset import Split
from driftgames.datasets.files import DataError

Derived = tuple[Split, tuple[str, ...]]
"""All examples in order, and the names of the columns."""

_FIELDS: tuple[tuple[str, str | None], ...] = (
    ("age", None),
    (
        "workclass",
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay "
        "Never-worked",
    ),
    ("fnlwgt", None),
    (
        "education",
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th "
        "Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    ),
    ("education-num", None),
    (
        "marital-status",
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
        "Married-AF-spouse",
    ),
    (
        "occupation",
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces",
    ),
    ("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    ("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    ("sex", "Female Male"),
    ("capital-gain", None),
    ("capital-loss", None),
    ("hours-per-week", None),
    (
        "native-country",
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands",
    ),
)

ADULT: tuple[Attribute, ...] = tuple(
    Attribute(name, None if values is None else tuple(values.split())) for name, values in _FIELDS
)
"""The fourteen attributes in the order of ``adult.data``; None marks the numeric ones."""

# pixels ``column:row`` counted from 1, row after row
_PIXELS = [Attribute(f"{x}:{y}") for y in range(1, 15) for x in range(1, 15)]

# sixty positions around the junction, thirty on either side
_POSITIONS = [Attribute(f"{k:+d}", tuple("ACGT")) for k in range(-30, 31) if k]

_LEVELS = 8  # of each numeric attribute of census
_ROWS = 2000
_SEED = 0


def a9a_feature_names() -> tuple[str, ...]:
    """Return the names of the 123 columns of a9a.

    The LIBSVM collection cuts each numeric attribute into fifths, but the capital columns into
    zero and more, and gives each discrete value a column.

    >>> names = a9a_feature_names()
    >>> len(names), names[0], names[73], names[-1]
    (123, 'age in fifth 1', 'capital-gain=0', 'native-country=Holand-Netherlands')
    """
    names: list[str] = []
    for attribute in ADULT:
        if attribute.values is not None:
            names += [f"{attribute.name}={value}" for value in attribute.values]
        elif attribute.name.startswith("capital"):
            names += [f"{attribute.name}=0", f"{attribute.name}>0"]
        else:
            names += [f"{attribute.name} in fifth {k}" for k in range(1, 6)]
    return tuple(names)


def parse_adult(text: str) -> tuple[list[Row], list[str]]:
    """Return the fields and the labels of ``adult.data``, without rows with missing values.

    >>> line = ("39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, "
    ...         "Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K")
    >>> rows, labels = parse_adult(line)
    >>> rows[0][:4], labels
    (['39', 'State-gov', '77516', 'Bachelors'], ['<=50K'])
    """
    rows: list[Row] = []
    labels: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = [field.strip() for field in line.split(",")]
        if fields == [""] or line.startswith("|") or "?" in fields:
            continue
        label = fields.pop().rstrip(".")  # adult.test ends its labels in a full stop
        if len(fields) != len(ADULT) or label not in {"<=50K", ">50K"}:
            raise DataError(
                f"adult: line {number}: expected 14 fields and a label; got {shown(line)}"
            )
        rows.append(fields)
        labels.append(label)
    return rows, labels


def derive_census(text: str) -> Derived:
    """Return 2,000 rows of ``adult.data``, half above 50K, binarised as census is."""
    rows, labels = parse_adult(text)
    above = np.array([label == ">50K" for label in labels])
    half = _ROWS // 2
    if min(above.sum(), (~above).sum()) < half:
        raise DataError(f"adult: fewer than {half} rows of one class")
    rng = np.random.default_rng(_SEED)
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(side), half, replace=False) for side in (above, ~above)]
    )
    chosen = rng.permutation(chosen)
    drawn = np.array([rows[i] for i in chosen], dtype=object)
    for j, attribute in enumerate(ADULT):
        if attribute.values is None:
            levels = quantise(drawn[:, j].astype(np.float64), _LEVELS)
            drawn[:, j] = [f"{level:g}" for level in levels]
    kept = [j for j, attribute in enumerate(ADULT) if attribute.name != "fnlwgt"]
    table = [[str(field) for field in row] for row in drawn[:, kept]]
    return _binarised([ADULT[j] for j in kept], table, np.where(above[chosen], 1, -1))


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


def derive_ocr49(images: bytes, labels: bytes) -> Derived:
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
    return _binarised(_PIXELS, rows, np.where(digits[chosen] == 9, 1, -1))


def published_splice_rows() -> tuple[int, ...]:
    """Return the rows of ``splice.data``, counted from 0, that the published set takes.

    >>> rows = published_splice_rows()
    >>> len(rows), rows[:3], max(rows) < 3190
    (1000, (1927, 2847, 638), True)
    """
    text = resources.files("driftgames.datasets").joinpath("splice_rows.txt").read_text()
    return tuple(int(number) for number in text.split())


def parse_splice(text: str) -> tuple[list[str], list[str]]:
    """Return the sequences and the classes (EI, IE or N) of ``splice.data``."""
    sequences: list[str] = []
    classes: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3 or fields[0] not in {"EI", "IE", "N"} or len(fields[2]) != 60:
            raise DataError(
                f"splice: line {number}: expected class, name and 60 bases; got {shown(line)}"
            )
        classes.append(fields[0])
        sequences.append(fields[2])
    return sequences, classes


def derive_splice(text: str) -> Derived:
    """Return the published 1,000 rows of ``splice.data``, binarised: EI and IE against N."""
    sequences, classes = parse_splice(text)
    chosen = published_splice_rows()
    rows = [sequences[i] for i in chosen]
    return _binarised(_POSITIONS, rows, np.array([-1 if classes[i] == "N" else 1 for i in chosen]))


def _binarised(
    attributes: Sequence[Attribute], rows: Sequence[Row], y: npt.NDArray[np.int64]
) -> Derived:
    columns = make_columns(attributes, rows)
    return Split(binarise(rows, columns), y), tuple(column.name for column in columns)
