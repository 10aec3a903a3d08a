import sys

import pytest

from driftgames.experiments.boosting import AS_PROVED
from driftgames.experiments.extras import PEERS, noise_table, peer_fit, peer_table


def test_noise_table_averages_the_draws(make_fit):
    fits = {
        ("census", "AdaBoost", 0.0): [make_fit(test=0.1)],
        ("census", "AdaBoost", 0.2): [make_fit(test=0.2), make_fit(test=0.4)],
    }

    table = noise_table(fits, 200)

    (row,) = table.rows
    assert row[:2] == ("census", "AdaBoost")
    assert row[2:] == pytest.approx((10.0, 30.0))
    assert [column.name for column in table.columns[2:]] == ["0 %", "20 %"]


def test_peers_are_fitted_and_compared(digits, make_fit):
    pytest.importorskip("lightgbm")
    peers = {("digits49", peer): peer_fit(digits, peer, 10) for peer in PEERS}
    ours = make_fit("digits49", AS_PROVED, seconds=0.5)

    table = peer_table([ours], peers, 10)

    for peer in PEERS:
        (seconds,), (ratio,) = table.column("time (s)", peer), table.column("to ours", peer)
        assert ratio == pytest.approx(seconds / 0.5)
        assert table.column("error (%)", peer)[0] < 30


def test_a_peer_that_is_not_installed_is_left_out_with_the_reason(digits, make_fit, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    absent = peer_fit(digits, "LightGBM", 10)
    assert absent["seconds"] is None

    peers = {("digits49", peer): absent for peer in PEERS}
    table = peer_table([make_fit("digits49", AS_PROVED)], peers, 10)

    assert table.column("time (s)", "LightGBM") == [None]
    assert any("LightGBM was left out: " in note for note in table.notes)
