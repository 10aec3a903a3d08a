"""An explanation names the class that it is for; a page has the error of the model itself."""

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTClassifier

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame({"age": RNG.normal(40, 9, 150), "town": RNG.choice(["Rome", "Oslo"], 150)})
THREE = np.array(["low", "mid", "top"])[np.digitize(FRAME["age"] + RNG.normal(0, 6, 150), [35, 45])]


@pytest.fixture(scope="module")
def three():
    return NHBoostDTClassifier(30, max_leaves=2).fit(FRAME, THREE)


def test_an_explanation_names_the_predicted_class_of_several(three):
    for i, label in enumerate(three.predict(FRAME[:20])):
        explanation = three.explain(FRAME.iloc[i])
        assert explanation.label == label
        assert f"for '{label}'" in repr(explanation)
    assert three.explain(FRAME.iloc[0], "mid").label == "mid"


@pytest.mark.parametrize("leaves", [2, 4])
def test_an_explanation_of_two_classes_names_the_second_or_the_one_asked_for(leaves):
    y = (THREE == "top").astype(int)
    model = NHBoostDTClassifier(9, max_leaves=leaves).fit(FRAME, y)
    assert "for 1, by" in repr(model.explain(FRAME.iloc[0]))
    assert "for 0, by" in repr(model.explain(FRAME.iloc[0], 0))


def test_the_reasons_of_a_page_are_for_the_class_that_was_predicted(three):
    page = three.explain_model(FRAME, n_examples=20)
    assert page.label == "top"
    votes = three.decision_function(FRAME[:20])
    predicted = three.predict(FRAME[:20])
    assert len(set(predicted)) > 1
    for reasons, row, label in zip(page.examples, votes, predicted, strict=True):
        assert reasons.decision.startswith(f"{label}, ")
        assert reasons.label == label
        whole = sum(part for *_, part in reasons.parts) + reasons.base
        assert whole == pytest.approx(row.max())
    assert "vote for mid</th>" in page.html()
    asked = three.explain_model(FRAME, label="mid", n_examples=20)
    assert {reasons.label for reasons in asked.examples} == {"mid"}


def test_the_error_on_a_page_is_that_of_the_mean():
    y = RNG.permutation(THREE)
    model = NHBoostDTClassifier().fit(FRAME, y)
    assert len(model.record_.members) > 1
    error = np.mean(model.classes_[model.decision_function(FRAME).argmax(axis=1)] != y)
    assert model.record_.training_error == pytest.approx(error)
    assert model.explain_model(FRAME).facts["training error of the vote"] == f"{error:.2%}"
