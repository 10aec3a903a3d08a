"""The step functions of an additive model as small multiples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats, check_integer, check_text, check_vector, shown
from driftgames.core.typing import Figure, FloatArray
from driftgames.plots.style import as_title, check_titles, new_axes, new_figure, shown_name

_MOST_LABELS = 20
_N_BINS = 30
_DENSITY = 0.15  # the height of a histogram, as a share of the axes


def plot_shapes(
    thresholds: Sequence[npt.ArrayLike],
    values: Sequence[npt.ArrayLike],
    names: Sequence[str],
    *,
    missing: Sequence[float] | None = None,
    categories: Sequence[Sequence[Any] | None] | None = None,
    sample_of: Callable[[int], npt.ArrayLike] | None = None,
    n_shapes: int = 12,
    label: str = "vote",
) -> Figure:
    """Draw the step functions with the largest spread, largest first, on one vertical scale.

    ``values[j]`` has one entry more than ``thresholds[j]``: the vote up to the first threshold,
    between each two, and beyond the last. Above the dashed line a feature votes for the
    positive class, below it against. The hatched bar apart is the vote where the value is missing.
    Where ``categories[j]`` is given, there is a bar for each of them. ``sample_of(j)`` are values
    of the feature, or numbers of categories: its range is the range of the drawing, and its
    density is the histogram at the bottom. Lines are black and areas grey, for print.

    Examples
    --------
    >>> figure = plot_shapes([[0.5], [1.0, 2.0]], [[-0.1, 0.1], [0.3, -0.2, 0.5]], ["sex", "age"])
    >>> [axes.get_title() for axes in figure.axes]
    ['age', 'sex']
    """
    check_integer("n_shapes", n_shapes, least=1)
    cuts, votes = _as_vectors("thresholds", thresholds), _as_vectors("values", values)
    names = check_titles(names)
    if not len(cuts) == len(votes) == len(names):
        raise ValueError(
            "thresholds, values and names must be as many; "
            f"got {len(cuts)}, {len(votes)} and {len(names)}"
        )
    for name, cut, vote in zip(names, cuts, votes, strict=True):
        if vote.size != cut.size + 1:
            raise ValueError(
                f"{shown_name(name)} must have one value more than thresholds; "
                f"got {vote.size} values and {cut.size} thresholds"
            )
    check_text("label", label)
    if missing is not None:
        missing = check_vector("missing", missing, len(votes)).tolist()
    if categories is not None:
        categories = _as_categories(categories, votes)
    if sample_of is not None and not callable(sample_of):
        raise ValueError(f"sample_of must be a function of a feature; got {shown(sample_of)}")
    order = sorted(range(len(votes)), key=lambda j: -float(np.ptp(votes[j])))[:n_shapes]
    across = min(4, max(1, len(order)))
    down = max(1, math.ceil(len(order) / across))
    figure = new_figure((0.4 + 2.4 * across, 0.4 + 1.9 * down))
    heights = [votes[j] for j in order]
    if missing is not None:
        heights.append(np.array([missing[j] for j in order]))
    reach = 1.1 * float(np.abs(np.concatenate([*heights, [0.0]])).max()) or 1.0
    for place, j in enumerate(order, start=1):
        _, axes = new_axes(figure.add_subplot(down, across, place))
        labels = None if categories is None else categories[j]
        sample = None if sample_of is None else as_floats("sample", sample_of(j))
        gone = None if missing is None else float(missing[j])
        _draw(axes, cuts[j], votes[j], gone, labels, sample)
        axes.set_ylim(-reach if sample_of is None else -1.4 * reach, reach)  # room for histograms
        axes.set_title(shown_name(names[j]), fontsize="small")
        if (place - 1) % across:
            axes.set_yticklabels([])
        else:
            axes.set_ylabel(shown_name(label), fontsize="small")
    return figure


def _as_vectors(name: str, vectors: Any) -> list[FloatArray]:
    """Return one-dimensional arrays, or say which is none."""
    if not isinstance(vectors, Sequence | np.ndarray) or isinstance(vectors, str | bytes):
        raise ValueError(f"{name} must be a sequence of arrays; got {shown(vectors)}")
    found = [as_floats(f"{name}[{j}]", each) for j, each in enumerate(vectors)]
    for j, each in enumerate(found):
        if each.ndim != 1:
            raise ValueError(f"{name}[{j}] must be one-dimensional; got shape {each.shape}")
    return found


def _as_categories(categories: Any, votes: Sequence[FloatArray]) -> list[Sequence[Any] | None]:
    """Return the categories of each feature, as many as it has votes, or None for numbers."""
    if not isinstance(categories, Sequence) or len(categories) != len(votes):
        raise ValueError(
            f"categories must be one entry for each of {len(votes)} features; "
            f"got {shown(categories)}"
        )
    for j, (names, vote) in enumerate(zip(categories, votes, strict=True)):
        if names is not None and len(check_titles(names)) != vote.size:
            raise ValueError(
                f"categories[{j}] must be {vote.size} names, one for each value; got {shown(names)}"
            )
    return list(categories)


def _draw(
    axes: Any,
    cuts: FloatArray,
    votes: FloatArray,
    missing: float | None,
    labels: Sequence[Any] | None,
    sample: FloatArray | None,
) -> None:
    """Draw one function, the density of its sample below, and the missing values apart."""
    known = np.empty(0) if sample is None else sample[np.isfinite(sample)]
    axes.axhline(0.0, color="0.4", linewidth=0.7, linestyle="--")
    if labels is None:
        low, high = _draw_steps(axes, cuts, votes, known)
        counts, edges = np.histogram(known, bins=_N_BINS, range=(low, high))
        inner = [tick for tick in axes.get_xticks() if low <= tick <= high]
        if known.size and high - low <= 10 and (known == np.rint(known)).all():
            inner = list(range(math.ceil(low), math.floor(high) + 1))  # no marks between numbers
        axes.set_xticks(inner)
    else:
        low, high = -0.5, len(labels) - 0.5
        axes.bar(range(len(labels)), votes, color="0.75", edgecolor="black", linewidth=0.8)
        counts, edges = np.histogram(known, bins=len(labels), range=(low, high))
        if len(labels) > _MOST_LABELS:
            axes.set_xticks([])
            axes.set_xlabel(f"{len(labels):,} categories", fontsize="x-small")
        else:
            names = [shown_name(as_title(label)) for label in labels]
            axes.set_xticks(range(len(labels)), names, rotation=90)
    margin = 0.04 * (high - low)
    if known.size:
        heights = _DENSITY * counts / counts.max()
        axes.bar(
            (edges[:-1] + edges[1:]) / 2,
            heights,
            np.diff(edges) * (1.0 if labels is None else 0.8),
            color="#0072b2",
            alpha=0.5,
            linewidth=0.0,
            transform=axes.get_xaxis_transform(),
        )
    if missing is not None:
        step = (high - low) / (len(labels) if labels is not None else 10)
        at = high + 1.2 * step
        axes.axvline(high + margin, color="0.4", linewidth=0.7)
        axes.bar([at], [missing], 0.8 * step, color="white", edgecolor="black", hatch="////")
        axes.text(
            at,
            -0.04,
            "missing",
            transform=axes.get_xaxis_transform(),
            rotation=90,
            ha="center",
            va="top",
            fontsize="x-small",
        )
        high = at + 0.6 * step
    axes.set_xlim(low - margin, high + margin)
    axes.tick_params(labelsize="x-small")


def _draw_steps(
    axes: Any, cuts: FloatArray, votes: FloatArray, known: FloatArray
) -> tuple[float, float]:
    """Draw a step function over its cuts and the data; return the range."""
    finite = cuts[np.isfinite(cuts)]
    low, high = (float(finite[0]), float(finite[-1])) if finite.size else (0.0, 0.0)
    margin = 0.1 * (high - low) or 0.5
    ends = (low - margin, high + margin)
    if known.size:  # a cut outside of the data keeps its margin
        first, last = float(known.min()), float(known.max())
        ends = (first if first < low else ends[0], last if last > high else ends[1])
    edges = np.concatenate([[ends[0]], np.clip(cuts, *ends), [ends[1]]])
    axes.stairs(votes, edges, baseline=0.0, fill=True, color="0.85")
    axes.stairs(votes, edges, baseline=None, color="black", linewidth=1.2)
    axes.set_xlim(*ends)
    return ends
