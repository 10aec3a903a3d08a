import json

import pytest

from driftgames.paper import store as module
from driftgames.paper.environment import environment, source_digest
from driftgames.paper.store import Store, Task


def task(**parameters):
    return Task("fit", {"set": "a9a", "rounds": 200, **parameters}, dict)


def test_a_stored_result_comes_back(tmp_path):
    store = Store(tmp_path / "tasks")
    assert store.get(task()) is None

    store.put(task(), {"error": 0.1 + 0.2})

    assert store.get(task()) == {"error": 0.1 + 0.2}
    (path,) = (tmp_path / "tasks").iterdir()
    content = json.loads(path.read_text())["content"]
    assert content["environment"]["driftgames"]
    assert content["identity"]["parameters"]["set"] == "a9a"


@pytest.mark.parametrize("other", [{"rounds": 201}, {"set": "w8a"}, {"data": "0" * 64}])
def test_other_parameters_find_nothing(tmp_path, other):
    store = Store(tmp_path)
    store.put(task(), {"error": 0.1})

    assert store.get(task(**other)) is None


@pytest.mark.parametrize("fact", ["driftgames", "source", "numpy", "numba", "processor"])
def test_what_was_made_with_something_else_is_not_found(tmp_path, monkeypatch, fact):
    store = Store(tmp_path)
    store.put(task(), {"error": 0.1})
    assert fact in environment()
    monkeypatch.setattr(module, "environment", lambda: {**environment(), fact: "another"})

    assert store.get(task()) is None


def test_what_decides_no_number_may_change(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put(task(), {"error": 0.1})
    monkeypatch.setattr(module, "environment", lambda: {**environment(), "matplotlib": "another"})

    assert store.get(task()) == {"error": 0.1}


def test_any_change_of_a_source_file_is_seen(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text("x = 1")
    before = source_digest(tmp_path)
    assert source_digest(tmp_path) == before

    (tmp_path / "inner" / "a.py").write_text("x = 2")
    changed = source_digest(tmp_path)
    (tmp_path / "inner" / "a.py").rename(tmp_path / "inner" / "b.py")

    assert len({before, changed, source_digest(tmp_path)}) == 3


def test_another_experiment_finds_nothing(tmp_path):
    store = Store(tmp_path)
    store.put(task(), {"error": 0.1})

    assert store.get(Task("peer", task().parameters, dict)) is None


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-10], lambda text: text.replace("0.1", "0.2")]
)
def test_a_damaged_file_counts_as_none(tmp_path, damage):
    store = Store(tmp_path)
    store.put(task(), {"error": 0.1})
    (path,) = tmp_path.iterdir()
    path.write_text(damage(path.read_text()))

    assert store.get(task()) is None


def test_a_file_under_the_wrong_name_counts_as_none(tmp_path):
    store = Store(tmp_path)
    store.put(task(), {"error": 0.1})
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / f"{task(rounds=5).key}.json")

    assert store.get(task(rounds=5)) is None
