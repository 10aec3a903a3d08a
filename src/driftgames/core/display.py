"""How a result shows itself: a line, a summary, a page of a notebook, and a data frame.

Every public result inherits from `Displayed`. The fields of a dataclass are enough for all four;
a class overrides a hook where it has something better to say. NumPy is imported when the first
result is shown.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Fields = Mapping[str, Any]
"""Names and what they stand for: numbers, texts, or columns of a frame."""

PREVIEW = 10
"""How many rows a summary shows at most."""

_WIDEST = 110  # characters of a line
_ROUNDED = 1e-14  # less than this share of the largest number of a column is a rounding error


@dataclasses.dataclass(frozen=True)
class Sketch:
    """A small picture of a result: ``curves`` over ``x``, or a line for each of the others.

    ``bars`` are numbers. ``intervals`` are (low, estimate, high), drawn as a dot with whiskers.
    """

    x: Sequence[float] | np.ndarray[Any, Any] | range = ()
    curves: Fields = dataclasses.field(default_factory=dict)
    bars: Mapping[str, float] = dataclasses.field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float, float]] = dataclasses.field(default_factory=dict)
    label: str = ""


class Number(str):
    """A number that is text already; it stands flush right."""

    __slots__ = ()


class Displayed:
    """A result that shows itself: one line, a summary, HTML for notebooks, and a data frame.

    Hooks, all with defaults for dataclasses: `_headline` (one line), `_facts` (a few numbers by
    name), `_columns` (the frame), `_preview` (the rows of a summary) and `_sketch` (the picture).

    Examples
    --------
    >>> import numpy as np
    >>> @dataclasses.dataclass(frozen=True)
    ... class Walk(Displayed):
    ...     title: str
    ...     steps: int
    ...     places: np.ndarray
    >>> walk = Walk("a walk", 3, np.array([1.0, 0.0, 1.0]))
    >>> walk
    <Walk: a walk, steps 3>
    >>> print(walk)
    Walk: a walk, steps 3
    places
    1
    0
    1
    >>> walk._repr_html_().startswith("<div")
    True
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "__repr__" not in vars(cls):
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # `dataclass` keeps it

    # ---------------------------------------------------------------- hooks

    def _headline(self) -> str:
        """Return what it is, in a few words on one line."""
        if type(self).__str__ is not Displayed.__str__:
            return str(self).partition("\n")[0]
        words = [str(getattr(self, "title", ""))]
        words += [f"{name} {text_of(value)}" for name, value in self._facts().items()]
        return ", ".join(word for word in words if word)

    def _facts(self) -> Fields:
        """Return the numbers and short texts to read first. Default: the fields that are such."""
        own = {name: value for name, value in _fields(self).items() if name != "title"}
        return {spaced(name): value for name, value in own.items() if _is_plain(value)}

    def _columns(self) -> Fields:
        """Return the columns of the frame.

        Default: the fields that are as long as the first one with more than one entry; or the
        plain fields, as one row.
        """
        fields = _fields(self)
        long = {name: value for name, value in fields.items() if _is_column(value)}
        if not long:
            return {name: [value] for name, value in fields.items() if _is_plain(value)}
        length = len(next(iter(long.values())))
        return {name: value for name, value in long.items() if len(value) == length}

    def _preview(self) -> Fields:
        """Return the rows that a summary shows. Default: some of the frame, evenly spaced."""
        columns = self._columns()
        rows = len(next(iter(columns.values()), ()))
        if rows <= 1 and self._facts():  # the facts say the same
            return {}
        shown = min(rows, PREVIEW)
        kept = [round(k * (rows - 1) / max(shown - 1, 1)) for k in range(shown)]
        return {name: [values[row] for row in kept] for name, values in columns.items()}

    def _sketch(self) -> Sketch | None:
        """Return the picture. Default: the columns of numbers over the first of them."""
        import numpy as np

        numeric = {
            name: np.asarray(values, dtype=np.float64)
            for name, values in self._columns().items()
            if np.asarray(values).dtype.kind in "fiu"
        }
        (name, x), *curves = numeric.items() or [("", ())]
        if len(x) < 3 or not curves or (np.diff(np.asarray(x)) < 0).any():
            return None
        return Sketch(x, {spaced(each): values for each, values in curves}, label=spaced(name))

    # ---------------------------------------------------------------- what a user sees

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {one_line(self._headline())}>"

    def __str__(self) -> str:
        lines = [f"{type(self).__name__}: {one_line(self._headline())}"]
        lines += align_columns(self._preview())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from driftgames.core.display_html import page_of

        headline, facts, preview = self._headline(), self._facts(), self._preview()
        return page_of(type(self).__name__, headline, facts, preview, self._sketch())

    def to_frame(self, *, backend: str = "pandas") -> Any:
        """Return it as a data frame of pandas, polars or pyarrow, which must be installed."""
        return frame_of_columns(self._columns(), backend)


def frame_of_columns(columns: Fields, backend: str = "pandas") -> Any:
    """Return columns as a data frame of pandas, polars or pyarrow, which must be installed.

    >>> import numpy as np
    >>> frame_of_columns({"chip": ["a", "b"], "weight": np.array([0.25, 0.75])})
      chip  weight
    0    a    0.25
    1    b    0.75
    """
    import narwhals.stable.v2 as nw

    from driftgames.core.checks import check_choice

    check_choice("backend", backend, ("pandas", "polars", "pyarrow"))

    plain = {
        str(name): values.copy() if hasattr(values, "dtype") else list(values)
        for name, values in columns.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a backend about its own parts
        return nw.from_dict(plain, backend=backend).to_native()  # type: ignore[arg-type]


def text_of(value: Any) -> str:
    """Return a cell as text: counts with commas, four digits of a fraction, yes and no.

    >>> [text_of(each) for each in (12345, 0.123456, True, None, math.inf, "red")]
    ['12,345', '0.1235', 'yes', '-', '-', 'red']
    """
    if value is None:
        return "-"
    if isinstance(value, bool) or getattr(value, "dtype", None) == "bool":
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,d}"
    if isinstance(value, Real):
        return f"{float(value):.4g}" if math.isfinite(value) else "-"
    return one_line(str(value))


def texts_of(values: Iterable[Any]) -> list[str]:
    """Return the cells of a column as texts; what is only a rounding error beside others is 0.

    >>> texts_of([0.5, 2.776e-17, None]), texts_of([1e-17, 2e-17]), texts_of([True, False])
    (['0.5', '0', '-'], ['1e-17', '2e-17'], ['yes', 'no'])
    """
    cells = list(values)
    sizes = [_size(each) for each in cells]
    least = _ROUNDED * max(filter(math.isfinite, sizes), default=0.0)
    return ["0" if size < least else text_of(x) for x, size in zip(cells, sizes, strict=True)]


def _size(cell: Any) -> float:
    """Return the size of a number; infinite for a cell that is none."""
    if isinstance(cell, bool):
        return math.inf
    return abs(float(cell)) if isinstance(cell, Real) else math.inf


def one_line(text: str) -> str:
    """Return a text on one line, shortened where it is very long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDEST else f"{flat[: _WIDEST - 3]}..."


def spaced(name: str) -> str:
    """Return the name of a field as words.

    >>> spaced("regret_over_time")
    'regret over time'
    """
    return name.strip("_").replace("_", " ")


def align_columns(columns: Fields) -> list[str]:
    """Return columns as lines of text, numbers flush right.

    >>> align_columns({"round": [1, 10], "arm": ["red", "green"]})
    ['round  arm', '    1  red', '   10  green']
    """
    if not columns:
        return []
    drawn = []
    for name, values in columns.items():
        cells = [str(name), *texts_of(values)]
        width = max(map(len, cells))
        right = all(map(is_number, values))
        drawn.append([f"{cell:>{width}}" if right else f"{cell:<{width}}" for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*drawn, strict=True)]


def is_number(value: object) -> bool:
    """Return whether a cell stands flush right."""
    return isinstance(value, Number) or not isinstance(value, str)


def _fields(result: object) -> dict[str, Any]:
    """Return the public fields of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(result):
        names = [field.name for field in dataclasses.fields(result)]
    else:
        names = list(getattr(result, "_fields", ()))
    return {name: getattr(result, name) for name in names if not name.startswith("_")}


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= 80
    return isinstance(value, Real) or getattr(value, "ndim", None) == 0


def _is_column(value: Any) -> bool:
    if hasattr(value, "ndim"):
        return value.ndim == 1 and len(value) > 0
    return isinstance(value, tuple) and bool(value) and all(map(_is_plain, value))
