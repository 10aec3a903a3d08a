"""Figures of trading: wealth over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_number
from driftgames.core.text import shown
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.plots.style import as_curves, as_title, new_axes, shown_name, with_styles


def plot_wealth(
    wealth: Mapping[str, FloatArray],
    *,
    dates: npt.NDArray[np.datetime64] | None = None,
    best: tuple[str, float] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw wealth over time on a logarithmic scale, each curve from its start at 1.

    Parameters
    ----------
    dates : array, optional
        When each period ended, with the start of the first one before them if it is known.
        Default: the periods have numbers.
    best : (str, float), optional
        The name of the best strategy in hindsight and its final wealth, which a thin line marks.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

    wealth = as_curves("wealth", wealth)
    if dates is not None and (np.asarray(dates).dtype.kind != "M" or np.asarray(dates).ndim != 1):
        raise ValueError(f"dates must be one-dimensional datetime64; got {shown(dates)}")
    if best is not None and not (isinstance(best, tuple) and len(best) == 2):
        raise ValueError(f"best must be a name and a final wealth; got {shown(best)}")
    figure, ax = new_axes(ax, size=(6.0, 4.4))
    low = high = 1.0
    for _, curve, style in with_styles(wealth.items()):
        whole = np.concatenate([[1.0], curve])
        when = np.arange(whole.size) if dates is None else _from_start(dates, whole.size)
        ax.plot(when, whole, **style)
        low, high = min(low, float(whole.min())), max(high, float(whole.max()))
    if best is not None:
        final = check_number("the final wealth of best", best[1])
        ax.axhline(final, color="0.5", linewidth=0.8, label=shown_name(as_title(best[0])))
        high = max(high, final)
    ax.set_yscale("log")
    if high < 10.0 * low:  # few numbers of the form 1, 2 or 5 times a power of 10 lie there
        ax.yaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10)))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        steps = (1.0, 2.0, 5.0) if high < 1e4 * low else (1.0,)
        ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter("{x:,g}" if high < 1e6 else "{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    if dates is None:
        ax.set_xlabel("period")
    else:
        locator = AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    ax.set_ylabel("wealth (began with 1)")
    # below the axes, so that it hides no curve
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    return figure


def _from_start(dates: npt.NDArray[np.datetime64], size: int) -> npt.NDArray[np.datetime64]:
    """Return ``size`` dates; an unknown start is one step before the first date."""
    if dates.size == size:
        return dates
    step = dates[1] - dates[0] if dates.size > 1 else np.timedelta64(1, "D")
    return np.concatenate([dates[:1] - step, dates])
