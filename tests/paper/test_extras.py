import sys
import types

import numpy as np
import pytest

from driftgames.paper.boosting import AS_PROVED, MOST_TURNS
from driftgames.paper.extras import noise_table, peer_fit, peer_table, peer_task
from driftgames.paper.peers import PEERS, Peer
from driftgames.paper.store import Store


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


def test_a_probability_above_one_half_is_the_positive_label():
    class Model:
        def predict(self, X):
            return X[:, 0]

    labels = PEERS["LightGBM"].predict(Model(), np.array([[0.2], [0.5], [0.8]]))
    assert labels.tolist() == [-1, -1, 1]


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
        absent = peer_task(digits, "LightGBM", 10)
        store.put(absent, absent.run())
        assert store.get(peer_task(digits, "LightGBM", 10)) is not None

    for version in ("4.7.0", "4.8.0"):
        lightgbm = types.ModuleType("lightgbm")
        lightgbm.__version__ = version
        monkeypatch.setitem(sys.modules, "lightgbm", lightgbm)
        present = peer_task(digits, "LightGBM", 10)
        assert store.get(present) is None
        store.put(present, {"seconds": 1.0})


def test_a_peer_has_as_many_turns_as_we_have(digits, monkeypatch):
    turns = []

    def fit(X, y, rounds):
        return lambda: turns.append(rounds)

    quick = Peer("sklearn", fit, lambda model, X: digits.test.y)
    monkeypatch.setitem(PEERS, "quick", quick)

    assert peer_fit(digits, "quick", 10)["test_error"] == 0.0
    assert len(turns) == MOST_TURNS  # these are as short as can be
