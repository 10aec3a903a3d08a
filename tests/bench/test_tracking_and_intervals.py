"""Tracking and intervals on the electricity load and on made-up series, as the pages say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import intervals, tracking
from driftgames.datasets import MissingDataError
from driftgames.hedge import AdaptiveIntervals

DOCS = Path(__file__).parents[2] / "docs"


def test_dtaci_covers_the_load_and_has_a_lower_pinball_loss_than_every_step_size():
    try:
        x, y = intervals.load_series()
    except MissingDataError as error:
        pytest.skip(str(error))
    made = AdaptiveIntervals(0.9)
    run = made.run(x, y)
    assert abs(run.coverage - 0.9) <= 0.01
    assert made.pinball_loss <= made.pinball_losses.min()
    row = f"| **DtACI** | **{100 * run.coverage:.2f}** | **{run.mean_width:,.0f}** | "
    row += f"**{made.pinball_loss:.5f}** | **{intervals.bound_loss(run, x):.2f}** |"
    assert row in (DOCS / "benchmark_tables.md").read_text()


def test_dtaci_covers_a_drifting_series_and_has_a_lower_pinball_loss_than_every_step_size():
    made = AdaptiveIntervals(0.9)
    run = made.run(*intervals.drifting(intervals.ROUNDS, 0))
    assert abs(run.coverage - 0.9) <= 0.01
    assert made.pinball_loss <= made.pinball_losses.min()


def test_tracking_loses_a_third_after_changes_as_the_page_says():
    table = tracking.changes(tracking.ROUNDS)
    page = (
        (DOCS / "benchmark_tables.md").read_text().partition("### When the best action changes")[2]
    )
    lines = [line for line in page.splitlines() if line[:2] == "| "]
    regret = dict(zip(table.column("learner"), table.column(table.columns[1].name), strict=True))
    for name in ("AdaNormalHedge.TV", "AdaHedge", "AdaNormalHedge", "Squint", "NormalHedge.DT"):
        shown = [
            line.replace("*", "")
            for line in lines
            if line.replace("*", "")[2:].startswith(f"{name} |")
        ]
        assert f"| {regret[name]:,.0f} |" in shown[0]
    assert regret["AdaNormalHedge.TV"] < 0.35 * regret["AdaNormalHedge"]


def test_a_bound_that_is_infinite_counts_as_twice_the_largest_error():
    run = AdaptiveIntervals(0.9).run(np.zeros(3), [1.0, -2.0, 0.5])
    assert np.isinf(run.low).all()
    # bounds of 2 and then of 4 on both sides
    assert intervals.bound_loss(run, np.zeros(3)) == pytest.approx(0.05 * (4.0 + 8.0) / 2)
