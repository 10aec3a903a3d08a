"""Input checks. Each error names what came and the rule it breaks; nothing is clipped.

Python validates once at the public surface; kernels below it trust their input.
"""

from __future__ import annotations

import contextlib
import math
import numbers
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.text import shorten, visible
from driftgames.core.text import shown as shown
from driftgames.core.typing import FloatArray

_FLOAT64 = np.dtype(np.float64)
# integers to Python or NumPy
_NO_NUMBERS: tuple[type, ...] = (bool, np.bool_, np.timedelta64)


def check_integer(name: str, value: object, *, least: int, limited: bool = True) -> int:
    """Return ``value`` as an int, or say that it is not an integer of at least ``least``.

    If it is ``limited``, it must be below 2**63.

    >>> check_integer("horizon", 5, least=1)
    5
    >>> check_integer("horizon", 0, least=1)
    Traceback (most recent call last):
    ...
    ValueError: horizon must be an integer >= 1; got 0
    """
    if type(value) is int and least <= value < 2**63:  # the usual case, for speed
        return value
    whole = isinstance(value, numbers.Integral) and not isinstance(value, _NO_NUMBERS)
    if not whole or int(value) < least:  # type: ignore[call-overload]
        raise ValueError(f"{name} must be an integer >= {least}; got {shown(value)}")
    if limited and int(value) >= 2**63:  # type: ignore[call-overload]
        raise ValueError(f"{name} must be an integer below 2**63; got {shown(value)}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def count_rounds_left(t: object, horizon: object) -> int:
    """Return how many rounds come after round ``t``; the default horizon is ``t``.

    >>> count_rounds_left(3, None), count_rounds_left(3, 10)
    (0, 7)
    """
    played = check_integer("t", t, least=0)
    return 0 if horizon is None else check_integer("horizon", horizon, least=played) - played


def check_positive(name: str, value: float) -> float:
    """Return ``value`` as a float, or say that it is not a finite number above 0."""
    if not (is_real(value) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0; got {shown(value)}")
    return float(value)


def check_between(name: str, value: float, low: float, high: float) -> float:
    """Return ``value`` as a float, or say that it lies outside ``[low, high]``."""
    if not (is_real(value) and low <= value <= high):
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}]; got {shown(value)}")
    return float(value)


def check_number(name: str, value: float) -> float:
    """Return ``value`` as a float, or say that it is not a finite number."""
    if not (is_real(value) and math.isfinite(value)):
        raise ValueError(f"{name} must be a finite number; got {shown(value)}")
    return float(value)


def check_interval(name: str, value: object) -> tuple[float, float]:
    """Return ``value`` as ``(low, high)``, or say that it is no pair of numbers low < high.

    >>> check_interval("loss_range", (1, 0))
    Traceback (most recent call last):
    ...
    ValueError: loss_range must be (low, high), finite and low < high; got (1, 0)
    """
    ends = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else ()
    finite = all(is_real(end) and abs(end) < math.inf for end in ends)
    if len(ends) != 2 or not finite or not 0 < ends[1] - ends[0] < math.inf:
        raise ValueError(f"{name} must be (low, high), finite and low < high; got {shown(value)}")
    return float(ends[0]), float(ends[1])


def check_kind(name: str, value: object, kind: type) -> None:
    """Raise ValueError unless ``value`` is of this class.

    >>> check_kind("loss_function", 3, dict)
    Traceback (most recent call last):
    ...
    ValueError: loss_function must be of kind dict; got 3
    """
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be of kind {kind.__name__}; got {shown(value)}")


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` as a bool, or say that it is not a truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return ``value``, or say that it is none of these texts.

    >>> check_choice("side", "left", ("both", "lower"))
    Traceback (most recent call last):
    ...
    ValueError: side must be one of both, lower; got 'left'
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {shown(value)}")
    return value


def check_text(name: str, value: object) -> str:
    """Return ``value``, or say that it is no text."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text; got {shown(value)}")
    return value


def check_fraction(name: str, value: float) -> float:
    """Return ``value`` as a float, or say that it lies outside ``(0, 1]``.

    >>> check_fraction("epsilon", 0.0)
    Traceback (most recent call last):
    ...
    ValueError: epsilon must lie in (0, 1]; got 0.0
    """
    if not (is_real(value) and 0 < value <= 1):
        raise ValueError(f"{name} must lie in (0, 1]; got {shown(value)}")
    return float(value)


def check_fractions(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return ``values`` (of any shape) as floats, or name the first outside ``(0, 1]``."""
    fractions = as_floats(name, values)
    bad = ~((fractions > 0) & (fractions <= 1))
    if bad.any():
        raise ValueError(f"{name} must lie in (0, 1]; got {shown(fractions[bad].flat[0])}")
    return fractions


def check_horizons(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return horizons (of any shape) as integers, or name the first that is not one >= 1."""
    horizons = np.asarray(unmask("horizon", values))
    whole = horizons.dtype.kind in "iu"
    if not whole or (horizons.size and horizons.min() < 1):
        raise ValueError(f"horizon must be an integer >= 1; got {shown(values)}")
    if horizons.size and horizons.max() >= 2**63:
        raise ValueError(f"horizon must be below 2**63; got {shown(values)}")
    return horizons.astype(np.int64, copy=False)


def check_vector(name: str, values: npt.ArrayLike, length: int | None = None) -> FloatArray:
    """Return ``values`` as one finite float per chip, or say what is wrong and where.

    >>> check_vector("losses", [0.1, float("nan")], 2)
    Traceback (most recent call last):
    ...
    ValueError: losses must be finite; got nan at index 1
    """
    vector = as_floats(name, values)
    if vector.ndim != 1 or (length is not None and vector.size != length):
        wanted = "one-dimensional" if length is None else f"of shape ({length},)"
        raise ValueError(f"{name} must be {wanted}; got shape {vector.shape}")
    check_finite(name, vector)
    return vector


def check_finite(name: str, values: npt.NDArray[Any]) -> None:
    """Name the first entry that is NaN or infinite."""
    if not np.isfinite(values).all():
        where = first_index(~np.isfinite(values))
        raise ValueError(f"{name} must be finite; got {values[where]} at index {_plain(where)}")


def check_range(name: str, values: npt.NDArray[Any], low: float, high: float) -> None:
    """Name the extremes and the first entry outside ``[low, high]``; NaN lies outside.

    >>> check_range("losses", np.array([0.5, 1.5]), 0.0, 1.0)
    Traceback (most recent call last):
    ...
    ValueError: losses must lie in [0, 1]; got 1.5 at index 1 (min=0.5, max=1.5)
    """
    inside = (values >= low) & (values <= high)
    if not inside.all():
        where = first_index(~inside)
        raise ValueError(
            f"{name} must lie in [{low:g}, {high:g}]; got {values[where]} at index "
            f"{_plain(where)} (min={np.min(values):g}, max={np.max(values):g})"
        )


def check_distribution(name: str, values: npt.ArrayLike, length: int) -> FloatArray:
    """Return ``values`` as a probability vector over ``length`` chips, or say why it is none."""
    p = check_vector(name, values, length)
    if (p < 0).any():
        where = first_index(p < 0)
        raise ValueError(f"{name} must be nonnegative; got {p[where]} at index {_plain(where)}")
    if abs(p.sum() - 1.0) > 1e-9:
        raise ValueError(f"{name} must sum to 1; got {shown(p.sum())}")
    return p


def as_floats(name: str, values: npt.ArrayLike, *, missing: bool = False) -> FloatArray:
    """Return ``values`` as a float64 array, or say that they are not numbers.

    Complex numbers, dates and text, which NumPy would turn into floats, are no numbers here.
    Masked entries follow `unmask`.

    >>> as_floats("losses", ["0.5", "1"])
    Traceback (most recent call last):
    ...
    ValueError: losses must be numbers; got ['0.5', '1']
    """
    if type(values) is np.ndarray and values.dtype == _FLOAT64:  # the usual case, for speed
        return values
    values = unmask(name, values, missing=missing)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError("NumPy would drop a part of them")
        if array.dtype.kind == "O" and any(isinstance(each, (str, bytes)) for each in array.flat):
            raise TypeError("NumPy would read them")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, ArithmeticError) as error:  # also what no float64 holds
        raise ValueError(f"{name} must be numbers; got {shown(values)}") from error


def unmask(name: str, values: Any, *, missing: bool = False) -> Any:
    """Return ``values`` without a mask: the one rule for NumPy's masked arrays.

    A masked entry is a missing value. Where missing values are allowed it becomes NaN (NaT in
    dates, None in texts and objects); otherwise it is an error. Values without a mask come back
    as they are.

    >>> unmask("X", np.ma.array([1, 2], mask=[False, True]), missing=True)
    array([ 1., nan])
    >>> unmask("y", np.ma.array([1, 2], mask=[False, True]))
    Traceback (most recent call last):
    ...
    ValueError: y must have no masked entries; got one at index 1
    """
    if type(values) is np.ndarray:
        return values
    if isinstance(values, list | tuple):
        if not any(isinstance(each, np.ma.MaskedArray) for each in values):
            return values
        values = np.ma.array(values)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return values.data
    if not missing:
        where = _plain(first_index(mask)) if mask.ndim else 0
        raise ValueError(f"{name} must have no masked entries; got one at index {where}")
    kind = values.dtype.kind
    if kind in "mM":
        filled, hole = values.data.copy(), np.array("NaT", dtype=values.dtype)
    elif kind in "biufc":
        filled = values.data.astype(np.complex128 if kind == "c" else np.float64)
        hole = np.array(np.nan)
    else:
        filled, hole = values.data.astype(object), np.array(None)
    filled[mask] = hole
    return filled


@contextlib.contextmanager
def float_errors(name: str, values: Any = None) -> Iterator[None]:
    """Turn the errors of values that no float64 holds into a ValueError that names them.

    With ``values``, a table, the error of a cell that is no number names its row and column.
    """
    try:
        yield
    except ValueError as error:
        before, _, cell = str(error).partition(": ")
        if not before.startswith("could not convert"):
            raise
        place = None if values is None else place_of_string(values)
        if place is None:
            place = shorten(visible(cell.removeprefix("np.str_(").removesuffix(")")))
        raise ValueError(f"{name} must be numbers; got {place}") from error
    except ArithmeticError as error:  # an integer of 400 digits, or a signalling NaN of Decimal
        raise ValueError(f"{name} must be numbers that fit in a float64; got {error}") from error


def place_of_string(table: Any) -> str | None:
    """Return the first cell of a table that is no number, and where it stands; None without one.

    >>> place_of_string([[1.0, 2.0], [3.0, "x"]])
    "'x' in row 1, column 1"
    """
    names = getattr(table, "columns", None)
    try:
        cells = np.asarray(table, dtype=object)
    except ValueError:
        return None
    for where in np.ndindex(cells.shape):
        try:
            float(cells[where])
        except (TypeError, ValueError):
            row = f"row {where[0]}" if where else "the table"
            column = ""
            if len(where) > 1:
                column = f", column {shown(where[1] if names is None else names[where[1]])}"
            return f"{shown(cells[where])} in {row}{column}"
    return None


@contextlib.contextmanager
def needs_extra(module: str, extra: str) -> Iterator[None]:
    """Say how to install the library that a module needs, if it cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{module} needs {extra}: pip install 'driftgames[{extra}]'") from error


def first_index(bad: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first true entry."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))


def is_real(value: object) -> bool:
    """Whether ``value`` is a real number that fits in a float64, and not a truth value.

    >>> is_real(3), is_real(True), is_real(10**400)
    (True, False, False)
    """
    if isinstance(value, numbers.Real) and not isinstance(value, _NO_NUMBERS):
        with contextlib.suppress(OverflowError):
            float(value)
            return True
    return False


def _plain(index: tuple[int, ...]) -> int | tuple[int, ...]:
    return index[0] if len(index) == 1 else index


def as_read_only(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written to: kernels take it, and compile for one kind of array.

    >>> as_read_only(np.zeros(2)).flags.writeable
    False
    """
    view = values.view()
    view.flags.writeable = False
    return view
