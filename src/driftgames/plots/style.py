"""The style of all figures: line styles that differ in black and white, few lines.

Figures are made without pyplot, so that drawing keeps no global state and needs no display.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats
from driftgames.core.documents import atomic_write
from driftgames.core.text import shorten, shown, visible
from driftgames.core.typing import Axes, Figure, FloatArray, Path

Style = dict[str, Any]
"""Keywords of matplotlib's ``plot``."""

Curve = TypeVar("Curve")

_COLOURS = (
    *("#1b1b1b", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00"),
    *("#6a3d9a", "#a6341b", "#4d7c0f", "#0e7490", "#9d174d", "#57534e"),
)
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)))
_WIDTH = 1.5

_ON_DARK = (
    *("#e8e8e8", "#56b4e9", "#f0924a", "#3cc79b", "#e3a3c5", "#d6b656"),
    *("#b79ae6", "#ff8a70", "#a3d65c", "#4fd1e0", "#ff7aa8", "#b8b2ab"),
)

DARK = {
    **dict(zip(_COLOURS, _ON_DARK, strict=True)),
    "#000000": "#e8e8e8",
    "#ffffff": "#161616",
    "#b0b0b0": "#606060",
    "#bfbfbf": "#4d4d4d",
    "#d9d9d9": "#3d3d3d",
}
"""The colours of figures, and those that stand for them where the reader has a dark screen."""


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure that shows itself in a notebook."""
    from driftgames.plots.figure import NotebookFigure

    return NotebookFigure(figsize=size, layout="constrained")


def new_axes(
    ax: Axes | None = None, *, size: tuple[float, float] = (6.0, 3.8)
) -> tuple[Figure, Axes]:
    """Return the axes to draw on and their figure; a new figure if none are given."""
    if ax is None:
        ax = new_figure(size).add_subplot()
    if not hasattr(ax, "spines"):
        raise ValueError(f"ax must be axes of matplotlib; got {shown(ax)}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, linewidth=0.4, alpha=0.5)
    return cast("Figure", ax.figure), ax


def as_curves(
    name: str, curves: Any, length: int | None = None, *, ndim: int = 1
) -> dict[str, FloatArray]:
    """Return curves by their names, or say what is wrong with them.

    Each has ``length`` entries if that is given; with ``ndim=2`` it is a row per game.
    """
    if not isinstance(curves, Mapping) or not curves:
        raise ValueError(f"{name} must be curves by their names; got {shown(curves)}")
    found = {
        as_title(key): as_floats(f"{name}[{shown(key)}]", curve) for key, curve in curves.items()
    }
    for key, curve in found.items():
        if curve.ndim != ndim or not curve.size or length not in (None, curve.shape[-1]):
            wanted = "of any length" if length is None else f"of length {length}"
            raise ValueError(
                f"{name}[{shown(key)}] must be of {ndim} dimension{'s' * (ndim > 1)} and {wanted}; "
                f"got shape {curve.shape}"
            )
    return found


def check_titles(names: Any) -> list[str]:
    """Return names as texts, or say that they are no sequence of names."""
    is_one = isinstance(names, str | bytes | Mapping) or getattr(names, "ndim", 1) != 1
    if is_one or not isinstance(names, Iterable):
        raise ValueError(f"names must be a sequence of names; got {shown(names)}")
    return [as_title(name) for name in names]


def as_title(name: object) -> str:
    """Return a name of any kind as a text.

    >>> as_title("age"), as_title(np.int64(3))
    ('age', '3')
    """
    return name if isinstance(name, str) else shown(name)


def as_bounds(name: str, bounds: Any) -> dict[str, FloatArray]:
    """Return curves by their names; None is no curve."""
    return (
        {}
        if bounds is None or (isinstance(bounds, Mapping) and not bounds)
        else as_curves(name, bounds)
    )


def with_styles(curves: Iterable[tuple[str, Curve]]) -> Iterator[tuple[str, Curve, Style]]:
    """Yield each curve with its name, and the label, colour and dash that it is drawn with.

    Twelve differ in colour. The next have the same colours with other dashes.
    """
    for at, (name, curve) in enumerate(curves):
        again, place = divmod(at, len(_COLOURS))
        colour, dash = _COLOURS[place], _DASHES[(place + again) % len(_DASHES)]
        label = shown_name(name)
        yield name, curve, {"label": label, "color": colour, "linestyle": dash, "linewidth": _WIDTH}


def bound_style(name: str, style: Style, what: str = "bound") -> Style:
    """Return how the bound of a curve is drawn: thin, in the colour of the curve."""
    return {"color": style["color"], "linewidth": 0.8, "label": shown_name(f"{name}, {what}")}


def sample_line(style: Style) -> str:
    """Return a short line of a style as an ``<svg>`` element, for a legend in a page."""
    import matplotlib

    dash = style["linestyle"]
    names = {"--": "dashed", "-.": "dashdot", ":": "dotted"}
    pattern = matplotlib.rcParams[f"lines.{names[dash]}_pattern"] if dash in names else ()
    lengths = " ".join(f"{_WIDTH * x:g}" for x in (dash[1] if isinstance(dash, tuple) else pattern))
    return (
        f'<svg viewBox="0 0 40 8" width="40" height="8" aria-hidden="true"><path d="M 0 4 H 40" '
        f'style="fill: none; stroke: {style["color"]}; stroke-width: {_WIDTH}; '
        f'stroke-dasharray: {lengths or "none"}"/></svg>'
    )


def dark_rules() -> str:
    """Return the style sheet that recolours figures on a dark screen.

    It overrides the colours that an element states itself. A program without style sheets shows
    those.
    """
    # no "svg" before it: a browser shows copies of a marker, and these have no such parent
    rules = [
        f'[style*="{part}: {light}"] {{ {part}: {dark} !important; }}'
        for light, dark in DARK.items()
        for part in ("stroke", "fill")
    ]
    lines = "\n".join([f"svg {{ fill: {DARK['#000000']}; }}", *rules])  # text states no colour
    return f"@media screen and (prefers-color-scheme: dark) {{\n{lines}\n}}\n"


def caption(ax: Axes, text: str) -> None:
    """Say above the axes what to see."""
    ax.set_title(text, loc="left", fontsize="medium")


def legend_beside(ax: Axes) -> None:
    """Put the legend to the right of the axes, which the curves fill."""
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def others(names: Sequence[str], drawn: npt.NDArray[np.intp]) -> str:
    """Return what a legend calls the curves that are drawn as one: a name, or how many they are.

    >>> others(["a", "b", "c"], np.array([0, 2])), others(["a", "b", "c"], np.array([2]))
    ('b', 'the other 2')
    """
    left = np.delete(np.arange(len(names)), drawn)
    return shown_name(names[left[0]]) if left.size == 1 else f"the other {left.size:,}"


def shown_name(name: str) -> str:
    r"""Return a name as a figure shows it.

    Matplotlib hides labels that begin with ``_`` and reads what stands between two ``$`` as a
    formula. No browser opens an SVG with control characters. Long names are cut.

    >>> shown_name("$AAPL_$"), shown_name("_cash")
    ('\\$AAPL_\\$', ' _cash')
    """
    short = shorten(visible(name), 60)
    return (f" {short}" if short.startswith("_") else short).replace("$", r"\$")


def ending_of(path: Path) -> str:
    """Return the ending of a path in small letters, or say that it is no path.

    >>> ending_of("wealth.SVG")
    'svg'
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must be a path; got {shown(path)}")
    return os.path.splitext(os.fspath(path))[1].lstrip(".").lower()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure atomically; the ending of the path names the format (svg, pdf, png)."""
    ending = ending_of(path)
    if ending not in {"svg", "pdf", "png"}:
        raise ValueError(f"a plot must end in .svg, .pdf or .png; got {shown(os.fspath(path))}")
    if not hasattr(figure, "savefig"):
        raise ValueError(f"figure must be a figure of matplotlib; got {shown(figure)}")
    content = render(figure, ending)
    with atomic_write(path) as stream:
        stream.write(content)


def render(figure: Figure, ending: str) -> bytes:
    """Return a figure as the bytes of a file; the same numbers give the same bytes.

    An SVG follows the screen of its reader, light or dark.
    """
    import matplotlib

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "driftgames"}):  # the ids of an SVG are hashes
        figure.savefig(drawn, format=ending, metadata=metadata, dpi=150)
    if ending != "svg":
        return drawn.getvalue()
    rules = f"<style>\n{dark_rules()}</style>\n".encode()
    return drawn.getvalue().replace(b" <defs>", rules + b" <defs>", 1)
