"""Subjects on streams, markets and logs make their tables on data as small as they allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import bandit_drift, contextual, off_policy, online_boosting, portfolios
from driftgames.datasets import MissingDataError, load_market
from driftgames.online_boosting import OnlineBBM
from driftgames.portfolio import run as trade

DOCS = Path(__file__).parents[2] / "docs"


def test_online_boosting_has_every_model_on_every_stream(monkeypatch):
    pytest.importorskip("river")
    monkeypatch.setattr(online_boosting, "MODELS", 3)
    trees, stumps, promises = online_boosting.tables(40)
    streams = [*online_boosting.streams(40), "mean"]
    for table in (trees, stumps):
        assert table.column("stream") == streams
        assert all(0 <= share <= 1 for row in table.rows for share in row[1:])
    assert len(promises.rows) == 2 * 2 * (len(streams) - 1)
    certified = promises.column("certified mistakes")
    assert all(a <= b + 1e-9 for a, b in zip(certified, promises.column("promised"), strict=True))


def test_portfolios_show_costs_where_there_are_some():
    try:
        load_market("nyse_o", allow_download=False)
    except MissingDataError as error:
        pytest.skip(str(error))
    free, paid, mixed = portfolios.run(quick=True)
    (row,) = mixed.rows
    assert row[-2] <= row[-1]  # the best strategy is at most N times ahead of the mixture
    assert set(free.column("costs")) == {0.0}
    assert min(paid.column("costs")) > 0


def test_the_pages_say_what_the_benchmarks_say():
    page = (DOCS / "online_boosting.md").read_text()
    assert f"{100 * OnlineBBM(11, 0.1).game_value:.1f} % for N = 11" in page
    page = (DOCS / "benchmark_tables.md").read_text().replace("*", "")
    found = off_policy.compare("tsallis-inf", 300, 200)
    _, width, _, told, _, before, _, normal, wide, worth, off, Z_off = found
    row = f"| 300 | {width:.3f} | {told:.3f} |  | {before:.3f} | {100 * normal:.1f} % |"
    assert f"{row} {wide:.3f} | {worth:.0f} | {off:.3f} | {Z_off:.3f} |" in page
    try:
        relatives = load_market("djia", allow_download=False).relatives
    except MissingDataError as error:
        pytest.skip(str(error))
    free, paid = (trade(relatives, cost=cost, holds="relatives").runs for cost in (0.0, 0.001))
    for name, run in free.items():
        shown = f"| {run.final_wealth:.3f} | {paid[name].final_wealth:.3f} |"
        assert f"| {run.title} {shown} {100 * paid[name].cost_of_all:.1f} % |" in page


def test_our_interval_covers_where_the_normal_one_fails():
    covered, _, told, _, _, _, _, normal, *_ = off_policy.compare("1 % for the target", 300, 40)
    assert min(covered, told) >= 0.95
    assert normal < 0.9
    assert off_policy.compare("tsallis-inf", 100, 5)[0] == 1.0


def test_our_bandits_follow_arms_that_change_better_than_a_window():
    ours, window = (
        sum(
            bandit_drift.regret("abrupt", bandit_drift.PLAYERS[name], 3000, seed) for seed in (1, 2)
        )
        for name in ("ThompsonSampling (ours, default)", "SW-UCB, 500")
    )
    assert ours < window


def test_contexts_pay_in_the_benchmark():
    square, blind = (
        contextual.regret("linear", contextual.PLAYERS[name], 1500, 1)
        for name in ("SquareCB, ridge", "Tsallis-INF, no contexts")
    )
    assert square < 0.6 * blind
