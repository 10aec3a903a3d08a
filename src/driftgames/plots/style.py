"""The style of all figures: line styles that differ in black and white, few lines.

Figures are made without pyplot, so that drawing keeps no global state and needs no display.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeVar, cast

from driftgames.core.documents import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = dict[str, Any]
"""Keywords of matplotlib's ``plot``."""

Curve = TypeVar("Curve")

_COLOURS = ("#1b1b1b", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00")
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)))


def new_axes(
    ax: Axes | None = None, *, size: tuple[float, float] = (6.0, 3.8)
) -> tuple[Figure, Axes]:
    """Return the axes to draw on and their figure; a new figure if none are given."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=size, layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, linewidth=0.4, alpha=0.5)
    return cast("Figure", ax.figure), ax


def with_styles(curves: Iterable[tuple[str, Curve]]) -> Iterator[tuple[str, Curve, Style]]:
    """Yield each curve with its name, and the label, colour and dash that it is drawn with."""
    styles = cycle(zip(_COLOURS, _DASHES, strict=True))
    for (name, curve), (colour, dash) in zip(curves, styles, strict=False):
        label = shown_name(name)
        yield name, curve, {"label": label, "color": colour, "linestyle": dash, "linewidth": 1.5}


def bound_style(name: str, style: Style) -> Style:
    """Return how the bound of a curve is drawn: thin, in the colour of the curve."""
    return {"color": style["color"], "linewidth": 0.8, "label": shown_name(f"{name}, bound")}


def shown_name(name: str) -> str:
    r"""Return a name as a figure shows it.

    Matplotlib hides labels that begin with ``_`` and reads what stands between two ``$`` as a
    formula.

    >>> shown_name("$AAPL_$"), shown_name("_cash")
    ('\\$AAPL_\\$', ' _cash')
    """
    return (f" {name}" if name.startswith("_") else name).replace("$", r"\$")


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure atomically; the ending of the path names the format (svg, pdf, png)."""
    ending = os.path.splitext(os.fspath(path))[1].lstrip(".").lower()
    if ending not in {"svg", "pdf", "png"}:
        raise ValueError(f"a plot must end in .svg, .pdf or .png; got {os.fspath(path)!r}")
    content = render(figure, ending)
    with atomic_write(path) as stream:
        stream.write(content)


def render(figure: Figure, ending: str) -> bytes:
    """Return a figure as the bytes of a file; the same numbers give the same bytes."""
    import matplotlib

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "driftgames"}):  # the ids of an SVG are hashes
        figure.savefig(drawn, format=ending, metadata=metadata, dpi=150)
    return drawn.getvalue()
