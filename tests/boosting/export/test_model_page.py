"""``booster.explain_model``: the page of a fitted model, from what the booster knows."""

import re

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTClassifier

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "age": np.where(RNG.random(120) < 0.1, np.nan, RNG.normal(40, 9, 120)),
        "town": pd.Categorical(RNG.choice(["Rome", "Oslo", "Kyiv"], 120)),
    }
)
LABELS = np.where((FRAME["age"] > 40) ^ (FRAME["town"] == "Oslo"), "yes", "no")


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("label", [None, "no"])
def test_reasons_add_up_to_the_decision_for_the_label(depth, label):
    model = NHBoostDTClassifier(15, max_depth=depth).fit(FRAME, LABELS)
    page = model.explain_model(FRAME, label=label, n_examples=4)
    assert page.label == (label or "yes")
    votes = model.decision_function(FRAME[:4]) * (-1 if label == "no" else 1)
    p = model.predict_proba(FRAME[:4])
    for reasons, vote, chances in zip(page.examples, votes, p, strict=True):
        assert sum(part for *_, part in reasons.parts) + reasons.base == pytest.approx(vote)
        best = int(chances.argmax())
        assert reasons.decision == f"{model.classes_[best]}, {chances[best]:.1%}"
        assert {value for name, value, _ in reasons.parts if name == "town"} <= {*FRAME["town"]}
    assert bool(page.tabs) == (depth == 1)


def test_shapes_are_those_of_the_model_and_know_missing_values():
    model = NHBoostDTClassifier(15, max_leaves=2).fit(FRAME, LABELS)
    shapes = {each.name: each for each in model.explain_model(FRAME).features}
    for name, shape in model.shape_functions_.named().items():
        assert shapes[name].importance == model.feature_importances_[shape.feature]
        np.testing.assert_array_equal(shapes[name].values, shape.values[: len(shapes[name].values)])
    assert shapes["age"].missing == model.shape_functions_["age"].missing
    assert shapes["age"].sample.size == FRAME["age"].notna().sum()
    if "town" in shapes:
        assert shapes["town"].missing is None  # none is missing in these examples


def test_bare_arrays_sparse_rows_and_several_classes_have_pages(tmp_path):
    import scipy.sparse

    X = RNG.normal(size=(90, 3)).round(1)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = NHBoostDTClassifier(9, max_leaves=2).fit(X, y)
    for rows in (X, scipy.sparse.csr_matrix(X)):
        model.explain_model(rows, title="three").save(tmp_path / "p.html")
        text = (tmp_path / "p.html").read_text()
        assert "<h1>three</h1>" in text
        assert len(re.findall("<details", text)) == min(10, rows.shape[0])
    with pytest.raises(ValueError, match=r"label must be one of \[0, 1, 2\]; got 7"):
        model.explain_model(label=7)
    with pytest.raises(ValueError, match="n_examples must be an integer >= 0; got -1"):
        model.explain_model(X, n_examples=-1)
