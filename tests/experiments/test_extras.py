import sys
import types

import pytest

from driftgames.experiments import extras
from driftgames.experiments.boosting import AS_PROVED, MOST_TURNS
from driftgames.experiments.extras import PEERS, noise_table, peer_fit, peer_part, peer_table
from driftgames.experiments.store import Store


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
    lightgbm = pytest.importorskip("lightgbm")
    peers = {("digits49", peer): peer_fit(digits, peer, 10) for peer in PEERS}
    ours = make_fit("digits49", AS_PROVED, seconds=0.5)

    table = peer_table([ours], peers, 10)

    for peer in PEERS:
        (seconds,), (ratio,) = table.column("time (s)", peer), table.column("to ours", peer)
        assert ratio == pytest.approx(seconds / 0.5)
        assert table.column("error (%)", peer)[0] < 30
    assert f"LightGBM is of version {lightgbm.__version__}." in table.notes


class Broken(types.ModuleType):
    """A package whose compiled library cannot be opened."""

    def __getattr__(self, name):
        raise OSError("libgomp.so.1: cannot open shared object file")


@pytest.mark.parametrize("module", [None, Broken("lightgbm")])
def test_a_peer_that_cannot_be_used_is_left_out_with_the_reason(
    digits, make_fit, monkeypatch, module
):
    monkeypatch.setitem(sys.modules, "lightgbm", module)
    absent = peer_fit(digits, "LightGBM", 10)
    assert absent["seconds"] is None

    peers = {("digits49", peer): absent for peer in PEERS}
    table = peer_table([make_fit("digits49", AS_PROVED)], peers, 10)

    assert table.column("time (s)", "LightGBM") == [None]
    assert any("LightGBM was left out: " in note for note in table.notes)


def test_a_peer_that_was_left_out_is_run_once_it_can_be_used(digits, monkeypatch, tmp_path):
    store = Store(tmp_path)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "lightgbm", None)
        absent = peer_part(digits, "LightGBM", 10)
        store.put(absent, absent.run())
        assert store.get(peer_part(digits, "LightGBM", 10)) is not None

    for version in ("4.7.0", "4.8.0"):
        lightgbm = types.ModuleType("lightgbm")
        lightgbm.__version__ = version
        monkeypatch.setitem(sys.modules, "lightgbm", lightgbm)
        present = peer_part(digits, "LightGBM", 10)
        assert store.get(present) is None
        store.put(present, {"seconds": 1.0})


def test_a_peer_has_as_many_turns_as_we_have(digits, monkeypatch):
    turns = []

    def train(X, y):
        turns.append(y.size)
        return lambda X_test: digits.test.y

    monkeypatch.setitem(extras._PEERS, "scikit-learn AdaBoost", lambda rounds: train)

    assert peer_fit(digits, "scikit-learn AdaBoost", 10)["test_error"] == 0.0
    assert len(turns) == MOST_TURNS  # these are as short as can be
