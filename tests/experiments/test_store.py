import json

import pytest

from driftgames.experiments import store as module
from driftgames.experiments.store import Part, Store


def part(**parameters):
    return Part("fit", {"set": "a9a", "rounds": 200, **parameters}, dict)


def test_a_stored_result_comes_back(tmp_path):
    store = Store(tmp_path / "parts")
    assert store.get(part()) is None

    store.put(part(), {"error": 0.1 + 0.2})

    assert store.get(part()) == {"error": 0.1 + 0.2}
    (path,) = (tmp_path / "parts").iterdir()
    content = json.loads(path.read_text())["content"]
    assert content["environment"]["driftgames"]
    assert content["identity"]["parameters"]["set"] == "a9a"


@pytest.mark.parametrize("other", [{"rounds": 201}, {"set": "w8a"}, {"data": "0" * 64}])
def test_other_parameters_find_nothing(tmp_path, other):
    store = Store(tmp_path)
    store.put(part(), {"error": 0.1})

    assert store.get(part(**other)) is None


def test_another_version_finds_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put(part(), {"error": 0.1})
    monkeypatch.setattr(module, "__version__", "99.0")

    assert store.get(part()) is None


def test_another_experiment_finds_nothing(tmp_path):
    store = Store(tmp_path)
    store.put(part(), {"error": 0.1})

    assert store.get(Part("peer", part().parameters, dict)) is None


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-10], lambda text: text.replace("0.1", "0.2")]
)
def test_a_damaged_file_counts_as_none(tmp_path, damage):
    store = Store(tmp_path)
    store.put(part(), {"error": 0.1})
    (path,) = tmp_path.iterdir()
    path.write_text(damage(path.read_text()))

    assert store.get(part()) is None


def test_a_file_under_the_wrong_name_counts_as_none(tmp_path):
    store = Store(tmp_path)
    store.put(part(), {"error": 0.1})
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / f"{part(rounds=5).key}.json")

    assert store.get(part(rounds=5)) is None
