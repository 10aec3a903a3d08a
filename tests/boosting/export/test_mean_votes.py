"""The shapes of trees on a page: mean votes over examples."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.export.mean_votes import MOST_EXPLAINED, Boosters, mean_by_value

RNG = np.random.default_rng(8)
FRAME = pd.DataFrame(
    {
        "age": np.where(RNG.random(150) < 0.1, np.nan, RNG.normal(40, 9, 150).round(1)),
        "town": pd.Categorical(RNG.choice(["Rome", "Oslo", "Kyiv"], 150)),
    }
)
LABELS = np.where((FRAME["age"] > 40) ^ (FRAME["town"] == "Oslo"), "yes", "no")


@pytest.fixture(scope="module")
def model():
    return NHBoostDTClassifier(20, max_leaves=4).fit(FRAME, LABELS)


@pytest.mark.parametrize("label", ["yes", "no"])
def test_a_shape_of_trees_is_the_mean_of_what_explain_says(model, label):
    votes = pd.DataFrame(
        [model.explain(FRAME.iloc[i], label).by_feature.named() for i in range(len(FRAME))]
    ).fillna(0.0)
    shapes = {each.name: each for each in model.explain_model(FRAME, label=label).features}
    town = shapes["town"]
    assert town.is_mean
    for name, value in zip(town.categories, town.values, strict=True):
        assert value == pytest.approx(votes["town"][FRAME["town"] == name].mean())
    age = shapes["age"]
    assert age.missing == pytest.approx(votes["age"][FRAME["age"].isna()].mean())
    ends = [-np.inf, *age.thresholds, np.inf]
    assert len(age.values) > 3
    for low, high, value in zip(ends[:-1], ends[1:], age.values, strict=True):
        inside = (FRAME["age"] > low) & (FRAME["age"] <= high)
        assert inside.sum() > 0
        assert value == pytest.approx(votes["age"][inside].mean())


def test_the_page_says_that_the_shapes_of_trees_are_means(model):
    text = model.explain_model(FRAME).html()
    assert "its mean vote for yes, over examples with such a value" in text
    assert "<polyline" in text or "<path" in text
    assert "has no shape of its own" in model.explain_model().html()


def test_few_and_equal_values_have_a_shape():
    for x in (np.array([3.0]), np.full(50, 2.0), np.array([1.0, 2.0] * 30)):
        found = mean_by_value(x, np.ones((1, x.size)), Boosters(np.zeros(1, int), np.ones(1)))
        np.testing.assert_array_equal(found.values, 1.0)
        assert found.values.size == found.thresholds.size + 1


def test_many_rows_and_sparse_rows_of_several_classes_have_shapes():
    X = RNG.normal(size=(3 * MOST_EXPLAINED, 3)).round(1)
    y = np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])
    model = NHBoostDTClassifier(6, max_leaves=5).fit(X, y)
    dense, sparse = (
        model.explain_model(rows, n_examples=1).features for rows in (X, scipy.sparse.csr_matrix(X))
    )
    for one, other in zip(dense, sparse, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        assert one.is_mean
