"""A game as an animation: HTML without a script, or a GIF."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from html import escape

import numpy as np

from driftgames.core.checks import check_positive, shown
from driftgames.core.documents import atomic_write
from driftgames.core.typing import FloatArray, Path
from driftgames.plots.games import check_game
from driftgames.plots.style import ending_of

_WIDTH, _HEIGHT = 640, 220
_MOST_FRAMES = 400


@dataclass(frozen=True, eq=False)
class Animation:
    """Chips that move along a line; the area of a chip is its probability.

    Parameters
    ----------
    positions : array of shape (T + 1, N)
        The chips before the first round and after each.
    p : array of shape (T, N)
        The probabilities of each round.
    potential_means : array of shape (T + 1,), or None
        The average potential, drawn as a bar.
    seconds : float
        How long the animation takes.
    """

    positions: FloatArray
    p: FloatArray
    potential_means: FloatArray | None = None
    seconds: float = 10.0

    def __post_init__(self) -> None:
        check_positive("seconds", self.seconds)
        rounds = check_game(self.positions, self.p, self.potential_means)
        for name, values in zip(("positions", "p", "potential_means"), rounds, strict=True):
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        rounds, chips = self.p.shape
        return f"<Animation: {chips:,} chips, {rounds:,} rounds, {self.seconds:g} s>"

    def _frames(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the rounds to show: all, or some of them evenly spaced."""
        rounds = self.positions.shape[0]
        return np.unique(np.linspace(0, rounds - 1, min(rounds, _MOST_FRAMES)).astype(np.int64))

    def _repr_html_(self) -> str:
        """Return the animation as an ``<svg>`` element that moves by itself."""
        kept = self._frames()
        p = np.vstack([self.p, self.p[-1:]])[kept]
        places = self.positions[kept]
        lowest, highest = min(float(places.min()), -1.0), max(float(places.max()), 1.0)
        x = 30 + (places - lowest) / (highest - lowest) * (_WIDTH - 60)
        radius = 3 + 22 * np.sqrt(p)
        n_chips = places.shape[1]
        rows = 30 + (np.arange(n_chips) + 0.5) * (_HEIGHT - 70) / n_chips
        zero = 30 - lowest / (highest - lowest) * (_WIDTH - 60)
        timing = f'dur="{self.seconds:g}s" repeatCount="indefinite"'
        parts = [
            f'<path d="M{zero:.1f} 20V{_HEIGHT - 30}" stroke="currentColor" opacity=".4"/>',
            f'<text x="{zero:.1f}" y="14" text-anchor="middle" font-size="11" '
            'fill="currentColor">s = 0</text>',
        ]
        parts += [
            f'<circle cy="{rows[i]:.1f}" cx="{x[0, i]:.1f}" r="{radius[0, i]:.1f}" '
            f'fill="#1e88c7" fill-opacity=".55" stroke="currentColor"><title>chip {i}</title>'
            f'<animate attributeName="cx" values="{_values(x[:, i])}" {timing}/>'
            f'<animate attributeName="r" values="{_values(radius[:, i])}" {timing}/></circle>'
            for i in range(n_chips)
        ]
        if self.potential_means is not None:
            bar = self.potential_means[kept]
            lengths = bar / (float(bar.max()) or 1.0) * (_WIDTH - 60)
            parts.append(
                f'<rect x="30" y="{_HEIGHT - 22}" height="8" width="{lengths[0]:.1f}" '
                f'fill="#d55e00"><animate attributeName="width" values="{_values(lengths)}" '
                f'{timing}/></rect><text x="30" y="{_HEIGHT - 2}" font-size="11" '
                'fill="currentColor">average potential</text>'
            )
        words = escape(f"{n_chips} chips over {self.p.shape[0]:,} rounds")
        return (
            f'<svg role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'style="max-width:100%;color:inherit"><title>{words}</title>{"".join(parts)}</svg>'
        )

    def save(self, path: Path) -> None:
        """Write the animation; the ending of the path names the format (html, gif)."""
        ending = ending_of(path)
        if ending not in {"html", "gif"}:
            raise ValueError(
                f"an animation must end in .html or .gif; got {shown(os.fspath(path))}"
            )
        content = self._page().encode() if ending == "html" else self._gif()
        with atomic_write(path) as stream:
            stream.write(content)

    def _page(self) -> str:
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A drifting game'
            '</title><meta name="viewport" content="width=device-width">'
            "<style>:root{color-scheme:light dark}body{font:16px sans-serif;margin:1em}</style>"
            f"</head><body>{self._repr_html_()}<p>A chip is as large as its probability. The bar "
            "is the average potential.</p></body></html>\n"
        )

    def _gif(self) -> bytes:
        """Return the frames as a GIF of at most 100 pictures."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image

        from driftgames.plots.style import new_axes

        kept = self._frames()
        kept = kept[np.unique(np.linspace(0, kept.size - 1, min(kept.size, 100)).astype(np.int64))]
        p = np.vstack([self.p, self.p[-1:]])
        figure, ax = new_axes(size=(6.0, 2.4))
        ax.set_xlim(float(self.positions.min()) - 1.0, float(self.positions.max()) + 1.0)
        ax.set_ylim(-1.0, float(self.p.shape[1]))
        ax.set(xlabel="position s", yticks=[])
        ax.axvline(0.0, color="0.6", linewidth=0.8)
        rows = np.arange(self.p.shape[1], dtype=np.float64)
        dots = ax.scatter(self.positions[0], rows, color="#0072b2", alpha=0.6)
        canvas = FigureCanvasAgg(figure)
        pictures = []
        for at in kept:
            dots.set_offsets(np.column_stack([self.positions[at], rows]))
            dots.set_sizes(15 + 600 * p[at])
            ax.set_title(f"round {at}", loc="left", fontsize="medium")
            canvas.draw()
            pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("P"))
        drawn = io.BytesIO()
        each = max(int(1000 * self.seconds / len(pictures)), 20)
        first, *rest = pictures
        first.save(drawn, format="GIF", save_all=True, append_images=rest, duration=each, loop=0)
        return drawn.getvalue()


def _values(numbers: FloatArray) -> str:
    return ";".join(f"{each:.1f}" for each in numbers)
