"""How every figure looks: line styles that survive black and white, no clutter.

Figures are made without pyplot, so that drawing keeps no global state and needs no display.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any, cast

from driftgames.core.documents import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#1b1b1b", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00")
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)))


def new_axes(
    ax: Axes | None = None, *, size: tuple[float, float] = (6.0, 3.8)
) -> tuple[Figure, Axes]:
    """Return the axes to draw on and their figure; a new figure unless axes are given."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=size, layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, linewidth=0.4, alpha=0.5)
    return cast("Figure", ax.figure), ax


def line_styles() -> cycle[dict[str, Any]]:
    """Return line styles to take one after another; each differs in dash as well as colour."""
    return cycle(
        {"color": colour, "linestyle": dash, "linewidth": 1.5}
        for colour, dash in zip(_COLOURS, _DASHES, strict=True)
    )


def bound_style(name: str, style: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the bound of a curve is drawn: thin, in the colour of the curve."""
    return {"color": style["color"], "linewidth": 0.8, "label": shown_name(f"{name}, bound")}


def shown_name(name: str) -> str:
    """Return a name as a legend shows it: matplotlib hides labels that begin with ``_``."""
    return f" {name}" if name.startswith("_") else name


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
