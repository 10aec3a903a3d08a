"""Explanations speak in the names of the features after a fit on a frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTClassifier


@pytest.fixture(scope="module")
def frame():
    X = np.random.default_rng(3).normal(size=(80, 3))
    return pd.DataFrame(X, columns=["age", "noise", "income"])


def test_shapes_and_explanations_are_found_by_name_and_by_position(frame):
    y = np.where(frame["age"] + 0.5 * frame["income"] > 0, "yes", "no")
    model = NHBoostDTClassifier(15, max_leaves=2, calibrate=False).fit(frame, y)
    shapes = model.shape_functions_
    assert shapes["age"] is shapes[0]
    assert shapes["age"].name == "age"
    assert "income" in shapes
    assert shapes.get("height") is None
    with pytest.raises(KeyError, match="height"):
        shapes["height"]
    explained = model.explain(frame.iloc[0])
    row = frame.iloc[0]
    for name, part in explained.by_feature.named().items():
        assert part == shapes[name](row[name])
    strongest = explained.strongest(2)
    assert strongest[0][0] in frame.columns
    assert strongest[0][1] == explained.by_feature[strongest[0][0]]
    deep = NHBoostDTClassifier(3, max_depth=2, calibrate=False).fit(frame, y)
    assert {name for name, _ in deep.explain(row).strongest()} <= set(frame.columns)


def test_without_names_positions_remain(frame):
    model = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(
        frame.to_numpy(), frame["age"] > 0
    )
    shapes = model.shape_functions_
    assert all(shape.name is None for shape in shapes.values())
    assert "age" not in shapes
    assert model.explain(frame.to_numpy()[0]).strongest(1)[0][0] == 0
