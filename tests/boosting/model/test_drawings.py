"""Drawings of a model show the data, the class, categories and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from driftgames.boosting import NHBoostDTClassifier


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"age": rng.uniform(0, 90, 150), "town": rng.choice(["Ulm", "Bonn"], 150)})
    frame.loc[:9, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def model(frame):
    y = np.where((frame["age"] > 45) ^ (np.arange(150) % 5 == 0), "pays", "fails")
    y = np.where((frame["town"] == "Ulm") & (np.arange(150) % 3 == 0), "pays", y)
    return NHBoostDTClassifier(20, max_leaves=2, calibrate=False).fit(frame, y)


def axes_of(figure):
    return {each.get_title(): each for each in figure.axes}


def test_shapes_have_the_range_and_the_density_of_the_data(model, frame):
    bare, full = axes_of(model.plot_shapes()), axes_of(model.plot_shapes(frame))
    low, high = full["age"].get_xlim()
    assert low <= frame["age"].min()
    assert high >= frame["age"].max()
    assert len(full["age"].patches) > len(bare["age"].patches) + 20  # the histogram
    ages = frame["age"].dropna()
    steps = full["age"].patches[0].get_data()
    bare = axes_of(model.plot_shapes(frame.to_numpy(object)))["age"].patches[0].get_data()
    assert steps.edges.tolist() == bare.edges.tolist()
    with pytest.raises(ValueError, match=r"2 columns; got shape \(150, 1\)"):
        model.plot_shapes(frame[["age"]].to_numpy())
    assert steps.edges[0] == ages.min()
    assert steps.edges[-1] == ages.max()


def test_missing_values_are_a_hatched_bar_apart(model, frame):
    def hatched(axes):
        return [each for each in axes.patches if each.get_hatch()]

    (bar,) = hatched(axes_of(model.plot_shapes(frame))["age"])
    assert bar.get_x() > frame["age"].max()
    assert bar.get_height() == model.shape_functions_["age"].missing
    assert not hatched(axes_of(model.plot_shapes(frame[10:]))["age"])
    assert hatched(axes_of(model.plot_shapes(frame[10:], show_missing=True))["age"])


def test_categories_are_bars_and_either_class_can_be_drawn(model, frame):
    votes = model.shape_functions_["town"]
    for label, sign in (("pays", 1), ("fails", -1)):
        axes = axes_of(model.plot_shapes(label=label))
        heights = [bar.get_height() for bar in axes["town"].patches]
        assert heights == (sign * votes.values).tolist()
        assert f"vote for {label}" in {each.get_ylabel() for each in axes.values()}
    with pytest.raises(ValueError, match="got 'owes'"):
        model.plot_shapes(label="owes")


def test_each_of_several_classes_is_drawn(frame):
    X = frame[["age"]].fillna(0.0)
    model = NHBoostDTClassifier(6, max_leaves=2, calibrate=False).fit(
        X, np.digitize(X["age"], [30, 60])
    )
    (axes,) = model.plot_shapes(X, label=2).axes
    np.testing.assert_array_equal(
        axes.patches[0].get_data().values, model.shape_functions_[2]["age"].values
    )


def test_importances_are_bars_in_order(model):
    (axes,) = model.plot_importances(n_features=1).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["age", "1 more"]
    lengths = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(lengths, model.feature_importances_, rtol=1e-15)
    with pytest.raises(NotFittedError):
        NHBoostDTClassifier().plot_importances()
