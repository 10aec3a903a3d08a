"""UCI Adult: its attributes, the columns of a9a, and a set made as census was.

``census`` is 2,000 rows that R. Schapire drew from Adult, about half of them above 50K, with
every numeric attribute rounded to eight levels and the attribute ``fnlwgt`` left out. The public
file does not say which rows were drawn, so it cannot yield the published set. `derive` makes a
set by the same steps, from other rows. Its numbers are similar to the published ones, but not
equal.
"""

from __future__ import annotations

import numpy as np

from driftgames.datasets.binarise import Attribute, Row, binarise, make_columns, quantise
from driftgames.datasets.dataset import Split
from driftgames.datasets.files import DataError

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

ATTRIBUTES: tuple[Attribute, ...] = tuple(
    Attribute(name, None if values is None else tuple(values.split())) for name, values in _FIELDS
)
"""The fourteen attributes in the order of ``adult.data``; None marks the numeric ones."""

LEVELS = 8
"""How many levels each numeric attribute of census has."""

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
    for attribute in ATTRIBUTES:
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
        if len(fields) != len(ATTRIBUTES) or label not in {"<=50K", ">50K"}:
            raise DataError(f"adult: line {number}: expected 14 fields and a label; got {line!r}")
        rows.append(fields)
        labels.append(label)
    return rows, labels


def derive(text: str) -> tuple[Split, tuple[str, ...]]:
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
    for j, attribute in enumerate(ATTRIBUTES):
        if attribute.values is None:
            levels = quantise(drawn[:, j].astype(np.float64), LEVELS)
            drawn[:, j] = [f"{level:g}" for level in levels]
    kept = [j for j, attribute in enumerate(ATTRIBUTES) if attribute.name != "fnlwgt"]
    table = [[str(field) for field in row] for row in drawn[:, kept]]
    columns = make_columns([ATTRIBUTES[j] for j in kept], table)
    y = np.where(above[chosen], 1, -1)
    return Split(binarise(table, columns), y), tuple(column.name for column in columns)
