"""Scorecards: points that a person can add up."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.export.scorecard import BASE, MISSING, OTHER
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.training_record import Fitted


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
    assert "Above 0 the prediction is True, else False." in table.notes[0]
    same = table.to_frame("polars")
    assert same.columns == list(card.columns)


@pytest.mark.parametrize("kind", [NHBoostDTClassifier, AdaBoostClassifier])
def test_the_card_has_the_threshold_of_the_prediction_in_points(kind):
    X = np.random.default_rng(1).normal(size=(600, 2)).round(1)
    y = np.where(X[:, 0] + np.sin(5 * X[:, 1]) > 1.0, "yes", "no")
    model = kind(20, max_leaves=2).fit(X, y)
    model.adopt(Fitted(replace(model.model_, calibration=Calibration(9.0, 1.0)), model.record_))
    said = re.search(r"Above (\S+) the prediction is yes, else no", model.scorecard().notes[0])
    above = float(said[1])
    points = model.decision_function(X) * model.estimator_weights_.sum()
    np.testing.assert_array_equal(np.where(points > above, "yes", "no"), model.predict(X))
    assert (model.predict(X) != np.where(points > 0, "yes", "no")).any()
    for calibration, words in (
        (Calibration(9.0, 1.0, class_weighted=True), "Above 0 the prediction is yes, else no."),
        (Calibration(0.0, 1.0), "The prediction is always yes."),
    ):
        model.adopt(Fitted(replace(model.model_, calibration=calibration), model.record_))
        assert words in model.scorecard().notes[0]


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
    card = three.scorecard().to_frame()
    assert list(card.columns[-3:]) == ["-1.0", "0.0", "1.0"]
    for k, name in enumerate(card.columns[-3:]):
        mine = card.rename(columns={name: "points"})
        scores = [add_up(mine, row) / 12 for _, row in numbers[:10].iterrows()]
        np.testing.assert_allclose(scores, votes[:, k], rtol=0, atol=1e-12)


def test_a_class_may_have_the_name_of_a_column(frame):
    labels = np.array(["value", "up to", "x"])[np.digitize(frame["income"], [-0.5, 0.5])]
    model = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(frame[["income"]], labels)
    names = [column.name for column in model.scorecard().columns]
    assert names[4:] == ["points for up to", "points for value", "x"]


def test_trees_have_no_scorecard(frame):
    deep = NHBoostDTClassifier(3, max_depth=2, calibrate=False).fit(frame, label(frame))
    with pytest.raises(AttributeError, match="whose questions interact"):
        deep.scorecard()
