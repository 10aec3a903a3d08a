"""A call of the library passes through few files: what a reader must open to follow it."""

import importlib.util
from pathlib import Path

import pytest

WALK = Path(__file__).parents[1] / "tools" / "walk.py"


def _walk():
    spec = importlib.util.spec_from_file_location("walk", WALK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "first", "most"),
    [
        ("hedge_update", "hedge/rounds/expert_learner.py", 4),
        ("boosting_fit", "boosting/booster.py", 45),
        ("batch_fit", "boosting/booster.py", 46),
        ("dask_fit", "dask/booster.py", 49),
        ("regression_fit", "boosting/regression/regressor.py", 47),
        ("probabilities", "boosting/fitted.py", 9),
        ("stump_fit", "boosting/booster.py", 32),
    ],
)
def test_a_call_passes_at_most_this_many_files(name, first, most):
    if name == "dask_fit":
        pytest.importorskip("distributed")
    visited = getattr(_walk(), name)()
    assert visited[0] == first
    assert len(set(visited)) <= most
