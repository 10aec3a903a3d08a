"""A call of the library passes through few files: what a reader must open to follow it."""

import importlib.util
from pathlib import Path

WALK = Path(__file__).parents[1] / "tools" / "walk.py"


def _walk():
    spec = importlib.util.spec_from_file_location("walk", WALK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_update_of_hedge_passes_at_most_four_files():
    visited = _walk().hedge_update()
    assert visited[0] == "hedge/base.py"
    assert len(set(visited)) <= 4


def test_a_fit_of_a_booster_passes_at_most_26_files():
    visited = _walk().boosting_fit()
    assert visited[0] == "boosting/fit/rounds.py"
    assert len(set(visited)) <= 26
