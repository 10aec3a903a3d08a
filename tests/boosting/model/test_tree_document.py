"""Trees in a file: the same bits back, each question once, and files of version 4."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.model.tree_document import (
    arrays_of,
    check_trees,
    pack_trees,
    trees_of,
    unpack_trees,
    upgrade_trees,
)
from driftgames.boosting.model.trees import DTYPES, Trees
from driftgames.boosting.persistence import FORMAT, load_model
from driftgames.core.documents import DocumentError, write_document

STORED = Path(__file__).parents[2] / "files_of_the_last_version.json"
THRESHOLDS = [0.0, -0.0, 5e-324, -1.5, 0.1, 1e308, np.inf]


@st.composite
def some_trees(draw):
    """Draw trees by dividing leaves; thresholds are few, so that questions come again."""
    n_classes, rng = draw(st.integers(2, 4)), np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes = {name: [] for name in DTYPES}
    for _ in range(draw(st.integers(1, 5))):
        left = [0]
        for _ in range(draw(st.integers(0, 40))):
            leaf = rng.choice([n for n, each in enumerate(left) if each == 0])
            left[leaf] = len(left)
            left += [0, 0]
        asks = np.array(left) > 0
        votes = rng.choice([-1, 1], (asks.size, n_classes))
        nodes["n_nodes"].append([asks.size])
        nodes["left"].append(left)
        nodes["feature"].append(np.where(asks, rng.integers(0, 300, asks.size), -1))
        nodes["threshold"].append(np.where(asks, rng.choice(THRESHOLDS, asks.size), 0.0))
        nodes["missing_left"].append(np.where(asks, rng.integers(0, 2, asks.size), 0))
        nodes["gain"].append(np.where(asks, rng.random(asks.size), 0.0))
        votes = np.where(asks[:, None], 0, votes)
        nodes["vote"].append(votes[:, 0] if n_classes == 2 else votes)
    return Trees(**{name: np.concatenate(each) for name, each in nodes.items()}), n_classes


@given(some_trees())
def test_trees_come_back_to_the_same_bits_and_each_question_stands_once(drawn):
    trees, n_classes = drawn
    content = json.loads(json.dumps(pack_trees({"trees": arrays_of(trees)})))
    arrays = unpack_trees(content)["trees"]
    assert check_trees(arrays, 300, n_classes) == len(trees)
    again = trees_of(arrays)
    for name, dtype in DTYPES.items():
        assert getattr(again, name).dtype == dtype
        assert getattr(again, name).tobytes() == getattr(trees, name).tobytes(), name
    columns = (arrays[name] for name in ("feature", "threshold", "missing_left"))
    table = [
        (j, repr(x), side) for j, x, side in zip(*map(np.ndarray.tolist, columns), strict=True)
    ]
    assert len(table) == len(set(table))


@given(some_trees())
def test_lists_of_version_4_become_the_same_arrays(drawn):
    trees, _ = drawn
    lists = {name: getattr(trees, name).tolist() for name in DTYPES}
    lists["threshold"] = ["inf" if x == np.inf else x for x in lists["threshold"]]
    if trees.vote.ndim == 2:
        asks = trees.left > 0
        lists["vote"] = [0 if a else v for a, v in zip(asks, lists["vote"], strict=True)]
    found = trees_of(unpack_trees(upgrade_trees({"trees": lists}))["trees"])
    for name in DTYPES:
        assert getattr(found, name).tobytes() == getattr(trees, name).tobytes(), name


BROKEN = {
    "no object": lambda trees: 5,
    "no left": lambda trees: trees.pop("left"),
    "text": lambda trees: trees["left"].__setitem__(0, "one"),
    "a list too short": lambda trees: trees["feature"].pop(),
    "a large number": lambda trees: trees["n_nodes"].__setitem__(0, 10**30),
    "a negative node": lambda trees: trees["left"].__setitem__(0, -3),
    "a part of a feature": lambda trees: trees["feature"].__setitem__(0, 0.5),
    "a threshold beyond floats": lambda trees: trees["threshold"].__setitem__(0, 10**400),
    "no threshold": lambda trees: trees["threshold"].__setitem__(0, "nan"),
    "votes of other sizes": lambda trees: trees["vote"].__setitem__(-1, [1, -1]),
    "a vote of 3": lambda trees: trees["vote"].__setitem__(-1, 3),
    "a vote of 257": lambda trees: trees["vote"].__setitem__(-1, 257),
    "null": lambda trees: trees["gain"].__setitem__(0, None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_lists_of_version_4_are_refused(name, tmp_path):
    content = json.loads(STORED.read_text())["files"]["model of trees"]["content"]
    if "n_nodes" not in content["trees"] or isinstance(content["trees"]["left"], dict):
        pytest.skip("the last version packed its trees")
    path, changed = tmp_path / "m.json", copy.deepcopy(content)
    write_document(path, FORMAT, 4, content)
    load_model(path)
    if BROKEN[name](changed["trees"]) == 5:
        changed["trees"] = 5
    write_document(path, FORMAT, 4, changed)
    with pytest.raises(DocumentError, match=r"m\.json: (not whole for version 4|not a model)"):
        load_model(path)


def test_a_default_model_takes_a_third_of_the_lists_of_version_4(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=2000) > 0).astype(int)
    model = NHBoostDTClassifier(200, max_leaves=32, ensemble=True).fit(X, y)
    model.save(tmp_path / "m.json")
    trees = model.model_.trees
    lists = {name: getattr(trees, name).tolist() for name in DTYPES}
    assert 3 * (tmp_path / "m.json").stat().st_size < len(json.dumps(lists, separators=(",", ":")))
