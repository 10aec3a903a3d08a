"""The step functions of an additive model as small multiples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats, check_integer
from driftgames.core.typing import FloatArray
from driftgames.plots.style import new_axes, shown_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MOST_LABELS = 20


def plot_shapes(
    thresholds: Sequence[npt.ArrayLike],
    values: Sequence[npt.ArrayLike],
    names: Sequence[str],
    *,
    missing: Sequence[float] | None = None,
    categories: Sequence[Sequence[Any] | None] | None = None,
    n_shapes: int = 12,
    label: str = "vote",
) -> Figure:
    """Draw the step functions with the largest spread, largest first, on one vertical scale.

    ``values[j]`` has one entry more than ``thresholds[j]``: the vote up to the first threshold,
    between each two, and beyond the last. Above the dashed line a feature votes for the
    positive class, below it against. An open circle at the right is the vote where the value is
    missing. Lines are black and areas grey, for print. Where ``categories[j]`` is given, each step
    is the vote for one of them.

    Examples
    --------
    >>> figure = plot_shapes([[0.5], [1.0, 2.0]], [[-0.1, 0.1], [0.3, -0.2, 0.5]], ["sex", "age"])
    >>> [axes.get_title() for axes in figure.axes]
    ['age', 'sex']
    """
    from matplotlib.figure import Figure

    check_integer("n_shapes", n_shapes, least=1)
    cuts = [as_floats("thresholds", each) for each in thresholds]
    votes = [as_floats("values", each) for each in values]
    _check_shapes(cuts, votes, names)
    order = sorted(range(len(votes)), key=lambda j: -float(np.ptp(votes[j])))[:n_shapes]
    across = min(4, max(1, len(order)))
    down = max(1, math.ceil(len(order) / across))
    figure = Figure(figsize=(0.4 + 2.4 * across, 0.4 + 1.9 * down), layout="constrained")
    heights = [votes[j] for j in order]
    if missing is not None:
        heights.append(np.array([missing[j] for j in order]))
    reach = 1.1 * float(np.abs(np.concatenate([*heights, [0.0]])).max()) or 1.0
    for place, j in enumerate(order, start=1):
        _, axes = new_axes(figure.add_subplot(down, across, place))
        labels = None if categories is None else categories[j]
        _draw(
            axes,
            cuts[j],
            votes[j],
            None if missing is None else float(missing[j]),
            margin=None if labels is None else 1.0,
        )
        if labels is not None:
            _name_steps(axes, labels)
        axes.set_ylim(-reach, reach)
        axes.set_title(shown_name(names[j]), fontsize="small")
        if (place - 1) % across:
            axes.set_yticklabels([])
        else:
            axes.set_ylabel(label, fontsize="small")
    return figure


def _check_shapes(
    cuts: Sequence[FloatArray], votes: Sequence[FloatArray], names: Sequence[str]
) -> None:
    if not len(cuts) == len(votes) == len(names):
        raise ValueError(
            "thresholds, values and names must be as many; "
            f"got {len(cuts)}, {len(votes)} and {len(names)}"
        )
    for name, cut, vote in zip(names, cuts, votes, strict=True):
        if vote.size != cut.size + 1:
            raise ValueError(
                f"{name} must have one value more than thresholds; "
                f"got {vote.size} values and {cut.size} thresholds"
            )


def _name_steps(axes: Any, labels: Sequence[Any]) -> None:
    """Write the categories under their steps, or their number if there is no room."""
    if len(labels) > _MOST_LABELS:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(labels):,} categories", fontsize="x-small")
    else:
        axes.set_xticks(range(len(labels)), [str(label) for label in labels], rotation=90)


def _draw(
    axes: Any, cuts: FloatArray, votes: FloatArray, missing: float | None, margin: float | None
) -> None:
    finite = cuts[np.isfinite(cuts)]
    low, high = (float(finite[0]), float(finite[-1])) if finite.size else (0.0, 0.0)
    margin = margin or 0.1 * (high - low) or 0.5
    edges = np.concatenate([[low - margin], np.clip(cuts, low, high), [high + margin]])
    axes.stairs(votes, edges, baseline=0.0, fill=True, color="0.85")
    axes.stairs(votes, edges, baseline=None, color="black", linewidth=1.2)
    axes.axhline(0.0, color="0.4", linewidth=0.7, linestyle="--")
    if missing is not None:
        at = high + 2.5 * margin
        axes.plot([at], [missing], marker="o", color="black", markerfacecolor="white")
        axes.annotate(
            "missing", (at, missing), (0, 6), textcoords="offset points", ha="center", fontsize=6
        )
        axes.set_xlim(edges[0] - margin, at + 1.5 * margin)
    axes.tick_params(labelsize="x-small")
