"""Scorecards: points that a person can add up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.export.scorecard import BASE, MISSING, OTHER


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(120, 2)).round(1), columns=["age", "income"])
    frame["town"] = rng.choice(["Ulm", "Bonn", "Kiel"], 120)
    frame.loc[rng.random(120) < 0.2, "age"] = np.nan
    return frame


def add_up(card, row):
    """Return the points of one row, from the table alone."""
    total = 0
    for name, lines in card.groupby("feature", sort=False):
        x = row.get(name)
        if name == BASE:
            mine = lines
        elif isinstance(x, str):
            known = lines["value"] == x
            mine = lines[known if known.any() else lines["value"] == OTHER]
        elif pd.isna(x):
            mine = lines[lines["value"] == MISSING]
        else:
            low, high = lines["above"].fillna(-np.inf), lines["up to"].fillna(np.inf)
            mine = lines[(low < x) & (x <= high) & ~lines["value"].isin([MISSING, OTHER])]
        assert len(mine) == 1
        total += mine["points"].iloc[0]
    return total


def label(frame):
    return (frame["age"].fillna(1.0) + frame["income"] > 0) ^ (frame["town"] == "Ulm")


def test_points_are_whole_numbers_that_add_up_to_the_score(frame):
    model = NHBoostDTClassifier(40, max_leaves=2, calibrate=False).fit(frame, label(frame))
    table = model.scorecard()
    assert all(type(points) is int for points in table.column("points"))
    card = table.to_frame()
    strange = frame[:20].copy()
    strange.loc[:3, "town"] = "Rom"
    scores = [add_up(card, row) for _, row in strange.iterrows()]
    np.testing.assert_array_equal(np.array(scores) / 40, model.decision_function(strange))
    assert "for True, else for False" in table.notes[0]
    same = table.to_frame("polars")
    assert same.columns == list(card.columns)


def test_other_weights_and_several_classes_add_up_too(frame):
    model = AdaBoostClassifier(10, calibrate=False).fit(frame, label(frame))
    card, total = model.scorecard().to_frame(), model.estimator_weights_.sum()
    scores = [add_up(card, row) / total for _, row in frame[:10].iterrows()]
    np.testing.assert_allclose(scores, model.decision_function(frame[:10]), rtol=0, atol=1e-12)
    numbers = frame[["age", "income"]]
    three = NHBoostDTClassifier(12, max_leaves=2, calibrate=False).fit(
        numbers, frame["income"].round().clip(-1, 1)
    )
    votes = three.decision_function(numbers[:10])
    for k, (_, mine) in enumerate(three.scorecard().to_frame().groupby("class", sort=False)):
        scores = [add_up(mine, row) / 12 for _, row in numbers[:10].iterrows()]
        np.testing.assert_allclose(scores, votes[:, k], rtol=0, atol=1e-12)


def test_trees_have_no_scorecard(frame):
    deep = NHBoostDTClassifier(3, max_depth=2, calibrate=False).fit(frame, label(frame))
    with pytest.raises(AttributeError, match="whose questions interact"):
        deep.scorecard()
