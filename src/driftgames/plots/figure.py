"""A figure that shows itself as the last expression of a notebook cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftgames.core.typing import Figure
else:
    from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure of matplotlib that a notebook shows as a picture.

    It is made without pyplot: no window opens, nothing keeps it alive, and it is drawn when it is
    shown.
    """

    def _repr_png_(self) -> bytes:
        """Return the picture; notebooks call this."""
        from driftgames.plots.style import render

        return render(self, "png")
