"""Columns of data frames and arrays: which of them hold categories, and the codes of these.

Data frames are those that narwhals knows: pandas, polars, pyarrow and others.
"""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from driftgames.core.cells import as_days, as_numbers, is_number
from driftgames.core.checks import check_integer, shown
from driftgames.core.data_frames import as_frame
from driftgames.core.typing import BoolArray, FloatArray

Category = str | bool | int | float
"""A value of a category column, as a model file holds it."""

Categories = tuple[Category, ...]


class Levels(tuple[Category, ...]):
    """The categories of an ordered type, all of them, from the lowest: codes have their order."""


UNKNOWN = -1.0
"""The code of a value that the fit did not see."""

_OF_CATEGORIES = (nw.Categorical, nw.Enum, nw.String)
_MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which need not be installed


def find_categories(X: Any, setting: Any) -> BoolArray | None:
    """Return which columns of ``X`` hold categories; None if none does.

    ``setting`` is the parameter ``categorical_features`` of a booster.
    """
    if isinstance(setting, str) and setting != "from_dtype":
        raise ValueError(
            'categorical_features must be "from_dtype", a list of names, of positions or of truth '
            f"values, or None; got {shown(setting)}"
        )
    frame = as_frame(X)
    if setting is None or (frame is None and isinstance(setting, str)):
        return None
    if frame is not None and isinstance(setting, str):
        chosen = np.array([dtype in _OF_CATEGORIES for dtype in frame.schema.values()], dtype=bool)
    else:
        shape = np.shape(X) if frame is None else frame.shape
        if len(shape) != 2:
            return None  # scikit-learn says what is wrong
        chosen = _choose(setting, shape[1], [] if frame is None else list(frame.columns))
    if chosen.any() and issparse(X):
        raise ValueError("categorical_features needs a data frame or an array; X is sparse")
    return chosen if chosen.any() else None


def check_types(X: object, categorical: Sequence[bool] | BoolArray | None) -> None:
    """Raise ValueError for a data frame with a column of times of day, lists or structs.

    Such a column may be a category; ``categorical`` says which ones are.
    """
    frame = as_frame(X)
    for j, (name, dtype) in enumerate(() if frame is None else frame.schema.items()):
        of_numbers = categorical is None or not categorical[j]
        if of_numbers and (dtype.is_nested() or dtype == nw.Time):
            raise ValueError(
                f"column {shown(name)} is of type {dtype}: turn it into numbers, or name it in "
                "categorical_features"
            )


def has_dates(X: object) -> bool:
    """Return whether a column of a data frame holds dates or durations, which are read as days."""
    frame = as_frame(X)
    return frame is not None and any(dtype.is_temporal() for dtype in frame.schema.values())


def find_dates(X: object, names: Sequence[str], dates: object = None) -> Sequence[int]:
    """Return the positions of the features that hold dates, checked if ``dates`` has them.

    ``names`` are those of the features. Default: the columns of dates of a data frame; durations
    are none.
    """
    if dates is None:
        frame = as_frame(X)
        schema = {} if frame is None else frame.schema
        kinds = (nw.Date, nw.Datetime)
        return [j for j, name in enumerate(names) if schema.get(name) in kinds]
    if not isinstance(dates, Sequence):
        raise ValueError(f"dates must be a sequence of positions; got {shown(dates)}")
    for j in dates:
        if check_integer("each of dates", j, least=0) >= len(names):
            raise ValueError(f"dates must be below {len(names)}; got {j}")
    return dates


def has_words(X: object) -> bool:
    """Return whether a column of a data frame holds strings, categories or objects."""
    frame = as_frame(X)
    kinds = (nw.Object, *_OF_CATEGORIES)
    return frame is not None and any(dtype in kinds for dtype in frame.schema.values())


def is_identifier(n_categories: int, n_values: float) -> bool:
    """Return whether so many categories in so many known values are likely names of the rows.

    >>> is_identifier(1_922, 3_000), is_identifier(1_000, 3_000)
    (True, False)
    """
    return n_categories >= 10 and n_categories > n_values / 2


def code_columns(
    X: object,
    categories: Sequence[Categories | None],
    *,
    learn: BoolArray | None = None,
    by_type: bool = False,
) -> tuple[FloatArray, tuple[Categories | None, ...]]:
    """Return the columns of ``X`` as numbers, category columns by their codes, and the categories.

    The code of a category is its place among the ``categories`` of its column, that of a missing
    value is NaN, and that of any other value is `UNKNOWN`. A column that ``learn`` marks has the
    categories found in it: in the order of its type if that is ordered (Enum), else sorted. With
    ``by_type`` an ordered type has `Levels`.
    """
    frame = as_frame(X)
    table: Any = np.asarray(X, dtype=getattr(X, "dtype", object)) if frame is None else frame
    if len(table.shape) != 2 or table.shape[1] != len(categories):
        raise ValueError(f"X must have {len(categories)} columns; got the shape {table.shape}")
    codes = np.empty(table.shape, dtype=np.float64, order="F")
    learnt = list(categories)
    for j, known in enumerate(categories):
        column = table[:, j]
        name = f"column {j if frame is None else repr(frame.columns[j])}"
        learns = learn is not None and learn[j]
        if known is None and not learns:
            codes[:, j] = _numbers(column, name)
            continue
        cells = column.tolist() if frame is None else column.to_list()
        plain = _plain_values(cells, name)
        if learns or known is None:
            order = _type_order(column)
            known = _levels(order) if by_type and order else _order(plain.values(), order)
            learnt[j] = known
        code = _codes_of(plain, known, name)
        codes[:, j] = [code[v] for v in cells]
    return codes, tuple(learnt)


def _codes_of(plain: dict[Any, Category | None], known: Categories, name: str) -> dict[Any, float]:
    """Return the code of each value, given its category; all categories are of one kind."""
    _check_kind([*known, *plain.values()], name)
    at = {category: float(k) for k, category in enumerate(known)}
    return {v: np.nan if c is None else at.get(c, UNKNOWN) for v, c in plain.items()}


def recode(
    codes: FloatArray, old: Sequence[Categories | None], new: Sequence[Categories | None]
) -> FloatArray:
    """Return codes among ``old`` categories as codes among ``new`` ones.

    A missing value stays missing, and an unknown one unknown.
    """
    codes = codes.copy(order="K")
    for j, (before, after) in enumerate(zip(old, new, strict=True)):
        if before is not None and after is not None:
            at = {category: float(k) for k, category in enumerate(after)}
            table = np.array([*(at.get(each, UNKNOWN) for each in before), UNKNOWN])
            known = ~np.isnan(codes[:, j])
            codes[known, j] = table[codes[known, j].astype(np.int64)]
    return codes


class FoundCategories(NamedTuple):
    """The categories that a part of the examples holds, and the order that their types give.

    Both have an entry for each column: None for numbers, and no order is ``()``.
    """

    categories: tuple[Categories | None, ...]
    order: tuple[Categories | None, ...]

    @classmethod
    def of(cls, X: object, categories: tuple[Categories | None, ...]) -> FoundCategories:
        """Take the order from the types of the columns of ``X``."""
        frame, order = as_frame(X), list(categories)
        for j, known in enumerate(categories):
            if known is not None:
                order[j] = () if frame is None else _levels(_type_order(frame[:, j]))
        return cls(categories, tuple(order))

    def __add__(self, other: FoundCategories) -> FoundCategories:  # type: ignore[override]
        """Return the categories of both parts in the order that one part would have."""
        categories: list[Categories | None] = []
        for j, (known, others) in enumerate(zip(self.categories, other.categories, strict=True)):
            if self.order[j] != other.order[j]:
                raise ValueError(
                    f"column {j} must have one type in all parts; some hold categories "
                    f"{reprlib.repr(self.order[j])}, others {reprlib.repr(other.order[j])}"
                )
            if known is None or others is None:
                categories.append(None)
                continue
            _check_kind([*known, *others], f"column {j}")
            if isinstance(known, Levels):
                categories.append(known)
                continue
            categories.append(_order([*known, *others], self.order[j] or ()))
        return FoundCategories(tuple(categories), self.order)


def _choose(setting: npt.ArrayLike, n_features: int, names: list[Any]) -> BoolArray:
    """Return the columns that a list of names, of positions or of truth values names."""
    listed = np.asarray(setting)
    if listed.dtype == bool:
        if listed.shape != (n_features,):
            raise ValueError(
                f"categorical_features must have a truth value for each of {n_features} columns; "
                f"got {shown(setting)}"
            )
        return listed
    chosen = np.zeros(n_features, dtype=bool)
    for each in listed.ravel().tolist():
        if each in names:
            chosen[names.index(each)] = True
        elif isinstance(each, int) and 0 <= each < n_features:
            chosen[each] = True
        else:
            raise ValueError(
                f"categorical_features must hold names or positions of the {n_features} columns"
                f"{f' {names}' if names else ''}; got {shown(each)}"
            )
    return chosen


def _plain_values(cells: Iterable[Any], name: str) -> dict[Any, Category | None]:
    """Return the category of each distinct value, as a file can hold it; None if it is missing.

    >>> _plain_values(["a", 2.0, None, float("inf")], "x")
    Traceback (most recent call last):
    ...
    ValueError: x holds inf; a category must be a string or a finite number
    """
    plain: dict[Any, Category | None] = {}
    try:
        distinct = dict.fromkeys(cells)
    except TypeError as error:
        raise TypeError(f"{name} must hold strings or numbers ({error})") from error
    for value in distinct:
        if is_missing(value):
            plain[value] = None
        elif isinstance(value, str | bool | np.bool_):
            plain[value] = str(value) if isinstance(value, str) else bool(value)
        elif isinstance(value, numbers.Real | Decimal):
            if not math.isfinite(value):
                raise ValueError(
                    f"{name} holds {value}; a category must be a string or a finite number"
                )
            whole = isinstance(value, numbers.Integral) or float(value).is_integer()
            plain[value] = int(value) if whole else float(value)  # type: ignore[arg-type]
        else:  # an interval, a date
            plain[value] = str(value)
    return plain


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA."""
    return value is None or type(value).__name__ in _MISSING_TYPES or bool(value != value)


def _type_order(column: Any) -> Sequence[Any]:
    """Return the values of an ordered type in their order; none if the type has no order."""
    if isinstance(column, np.ndarray):
        return ()
    arrow = getattr(column.to_native(), "type", None)  # narwhals does not tell its order
    if getattr(arrow, "ordered", False) is True and len(column):
        levels: list[Any] = column.to_native().unify_dictionaries().chunk(0).dictionary.to_pylist()
        return levels
    return tuple(getattr(column.dtype, "categories", ()))


def _levels(order: Sequence[Any]) -> Levels:
    """Return the values of an ordered type as a file can hold them."""
    return Levels(each for each in _plain_values(order, "").values() if each is not None)


def _order(categories: Iterable[Category | None], ordered: Sequence[Any]) -> Categories:
    """Return the distinct categories: those of an ordered type in its order, others sorted."""
    there = {category for category in categories if category is not None}
    if ordered:
        return tuple(c for c in _plain_values(ordered, "").values() if c in there)
    return tuple(sorted(there, key=lambda c: (isinstance(c, str), c)))


def _check_kind(values: Iterable[Category | None], name: str) -> None:
    """Raise ValueError if some categories are strings and others are numbers."""
    first: dict[bool, Category] = {}
    for value in values:
        if value is not None:
            first.setdefault(isinstance(value, str), value)
    if len(first) == 2:
        raise ValueError(
            f"{name} must hold categories of one kind, strings or numbers; got "
            f"{reprlib.repr(first[True])} and {shown(first[False])}"
        )


def _numbers(column: Any, name: str) -> FloatArray:
    """Return a column of an array or a data frame as floats, by the rules of `core.cells`.

    Truth values are 0 and 1, dates and durations are days, and a missing value is NaN.
    """
    of_array = isinstance(column, np.ndarray)
    if of_array and column.dtype.kind in "biuf":
        return np.asarray(column.astype(np.float64))
    if not of_array and column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy())
    if not of_array and column.dtype.is_temporal():
        cells = column.to_numpy()
    else:
        cells = column.tolist() if of_array else column.to_list()
        cells = [None if is_missing(each) else each for each in cells]
    try:
        found = as_numbers(cells)
        found = as_days(cells) if found is None else found
    except ValueError as error:  # a date of two meanings
        raise ValueError(f"{name}: {error}") from error
    if found is None:
        known = [each for each in cells if each is not None]
        bad = next((each for each in known if not is_number(each)), known[0])
        raise ValueError(f"{name} must hold numbers; got {shown(bad)}")
    return found
