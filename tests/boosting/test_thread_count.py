"""How many threads a call uses, and that workers do not use more than their share."""

import sys
from types import SimpleNamespace

import pytest
from joblib import Parallel, delayed

from driftgames.boosting.estimators.input_checks import count_threads


def test_threads_are_counted_as_joblib_does():
    assert count_threads(None) == 1
    assert count_threads(3) == 3
    assert count_threads(-1) >= 1


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_worker_of_joblib_uses_one_thread(n_workers):
    run = Parallel(n_jobs=n_workers, backend="threading")
    assert run([delayed(count_threads)(3)] * 2) == [3 if n_workers == 1 else 1] * 2


def test_a_worker_of_dask_uses_one_thread(monkeypatch):
    def outside():
        raise ValueError("No worker found")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=outside))
    assert count_threads(3) == 3
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=object))
    assert count_threads(3) == 1
