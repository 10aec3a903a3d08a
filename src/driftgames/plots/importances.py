"""How much each feature did, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats, check_integer
from driftgames.plots.style import new_axes, shown_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_importances(
    importances: npt.ArrayLike, names: Sequence[str], *, n_features: int = 20
) -> Figure:
    """Draw the largest importances, largest first, and the sum of the rest.

    Examples
    --------
    >>> figure = plot_importances([0.2, 0.0, 0.8], ["age", "sex", "income"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['income', 'age']
    """
    check_integer("n_features", n_features, least=1)
    shares = as_floats("importances", importances)
    if shares.shape != (len(names),):
        raise ValueError(
            f"importances must be one for each of {len(names)} names; got shape {shares.shape}"
        )
    order = np.argsort(-shares, kind="stable")
    used = order[shares[order] > 0]
    top, rest = used[:n_features], used[n_features:]
    labels = [shown_name(str(names[j])) for j in top]
    lengths = shares[top].tolist()
    if rest.size:
        labels.append(f"{rest.size:,} more")
        lengths.append(float(shares[rest].sum()))
    figure, axes = new_axes(size=(5.2, 0.9 + 0.24 * max(len(labels), 1)))
    colours = ["0.45"] * top.size + ["0.8"] * (len(labels) - top.size)
    axes.barh(range(len(labels)), lengths, color=colours, edgecolor="black", linewidth=0.6)
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel("share of all edges", fontsize="small")
    axes.grid(visible=False, axis="y")
    return figure
