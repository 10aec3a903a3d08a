"""The columns of a log of pulls, which a policy reads and `driftgames.bandit.PullLog` writes."""

from __future__ import annotations

from typing import Any

from driftgames.core.data_frames import as_frame

Columns = dict[str, list[Any]]
"""``round``, ``arm``, ``propensity`` and ``loss`` of every pull, in the order of the pulls.

``context`` and ``distribution`` are there if the log has them."""


class LoggedPulls:
    """What a log of pulls is to those who read it: its columns."""

    columns: Columns


def columns_of(log: Any) -> Columns:
    """Return the columns of a log, or of a data frame that has them; rows are rounds by default."""
    if isinstance(log, LoggedPulls):
        return log.columns
    frame = as_frame(log)
    if frame is None:
        raise ValueError(f"log must be a PullLog or a data frame; got {type(log).__name__}")
    names = ("arm", "propensity", "loss")
    if missing := [name for name in names if name not in frame.columns]:
        raise ValueError(f"a log needs the columns {', '.join(names)}; missing: {missing}")
    optional = tuple(name for name in ("context", "distribution") if name in frame.columns)
    rounds = {"round": list(range(1, len(frame) + 1))}  # a frame may have its own numbers
    every = ("round", *names, *optional) if "round" in frame.columns else (*names, *optional)
    return {**rounds, **{name: frame[name].to_list() for name in every}}
