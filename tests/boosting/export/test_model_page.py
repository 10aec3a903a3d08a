"""``booster.explain_model``: the page of a fitted model, from what the booster knows."""

import re

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.export.mean_votes import Boosters

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
    np.testing.assert_array_equal(np.isnan(shapes["age"].sample), FRAME["age"].isna())
    if "town" in shapes:
        assert shapes["town"].missing is None  # none is missing in these examples


THREE = np.array(["low", "mid", "top"])[np.digitize(FRAME["age"].fillna(50.0), [35, 45])]


@pytest.mark.parametrize("leaves", [2, 4])
def test_a_switch_shows_shapes_and_reasons_for_any_class(leaves):
    model = NHBoostDTClassifier(9, max_leaves=leaves).fit(FRAME, THREE)
    page = model.explain_model(FRAME, n_examples=3)
    assert [each.label for each in page.classes] == ["low", "mid", "top"]
    for k, each in enumerate(page.classes):
        asked = model.explain_model(FRAME, label=each.label, n_examples=3)
        assert asked.label == each.label
        for one, other in zip(each.features, asked.features, strict=True):
            np.testing.assert_array_equal(one.values, other.values)
        for i, (one, other) in enumerate(zip(each.examples, asked.examples, strict=True)):
            assert one.parts == other.parts
            vote = model.decision_function(FRAME[:3])[i, k]
            assert sum(part for *_, part in one.parts) + one.base == pytest.approx(vote)
            for name, _, part in one.parts:
                explained = model.explain(FRAME.iloc[i], each.label).by_feature
                assert part == pytest.approx(explained[name])
    text = page.html()
    for word in ("the predicted class", "low", "mid", "top"):
        assert re.search(f'<label class="class" for="r[0-3]">{word}<', text)
    assert 'id="c2" checked' in text
    assert "Votes for" not in NHBoostDTClassifier(3).fit(FRAME, LABELS).explain_model(FRAME).html()


@pytest.mark.parametrize("labels", [LABELS, THREE])
@pytest.mark.parametrize("leaves", [None, 2])
def test_a_band_is_the_spread_of_the_boosters_of_a_mean(labels, leaves):
    settings = {} if leaves is None else {"max_leaves": leaves}
    model = NHBoostDTClassifier(**settings).fit(FRAME, labels)
    boosters = Boosters.of(model.model_, model.record_.members)
    assert boosters.shares.size == len(model.record_.members) > 1
    parts = boosters.models(model.model_)
    rows = model._encode(FRAME)
    votes = np.array([part.votes(rows) for part in parts])
    np.testing.assert_allclose(
        np.tensordot(boosters.shares, votes, 1), model.decision_function(FRAME), atol=1e-9
    )
    shapes = {each.name: each for each in model.explain_model(FRAME).features}
    age = shapes["age"]
    assert (age.spread > 0).any()
    if not age.is_mean:  # by the step functions of each booster
        at = 1 if len(model.classes_) == 3 else 0
        age = {
            each.name: each for each in model.explain_model(FRAME, label=model.classes_[1]).features
        }["age"]
        x = np.append(age.thresholds, np.inf)
        each = np.array([part.shape_functions()[at][0](x) for part in parts])
        wanted = np.sqrt(boosters.shares @ (each - age.values) ** 2)
        np.testing.assert_allclose(age.spread, wanted, atol=1e-12)
    assert "Band: one standard deviation" in model.explain_model(FRAME).html()
    single = NHBoostDTClassifier(9, max_leaves=4).fit(FRAME, labels)
    assert "Band" not in single.explain_model(FRAME).html()


def test_the_page_counts_missing_rows():
    model = NHBoostDTClassifier(15, max_leaves=2).fit(FRAME, LABELS)
    assert f", {FRAME['age'].isna().sum()} examples</title>" in model.explain_model(FRAME).html()


def test_the_card_of_several_classes_is_a_matrix():
    model = NHBoostDTClassifier(9, max_leaves=2).fit(FRAME, THREE)
    card = model.scorecard()
    assert [column.name for column in card.columns[4:]] == ["low", "mid", "top"]
    text = model.explain_model().tabs["Scorecard"]
    assert text.count("<tr>") == len(card.rows) + text.count("<table>")
    names = "".join(f"<th class='number'>{name}</th>" for name in ("low", "mid", "top"))
    assert text.count(names) == text.count("<table>")


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


@pytest.mark.parametrize("leaves", [2, 4])
def test_a_column_of_dates_is_explained_by_dates(leaves):
    days = pd.date_range("2015-03-01", periods=300)
    frame = pd.DataFrame({"since": days, "size": np.arange(300) % 7})
    model = NHBoostDTClassifier(10, max_leaves=leaves).fit(frame, days.month < 7)
    by_name = {shape.name: shape for shape in model.explain_model(frame).features}
    assert by_name["since"].are_dates
    assert all(not shape.are_dates for name, shape in by_name.items() if name != "since")
    html = model.explain_model(frame, n_examples=1).html()
    assert "<td>2015-03-01</td>" in html
    for dates, error in (
        (1, "dates must be"),
        ([2], "below 2; got 2"),
        (["since"], "each of dates"),
    ):
        with pytest.raises((TypeError, ValueError), match=error):
            model.explain_model(frame, dates=dates)
    bare = model.explain_model(frame, dates=[], n_examples=1).html()
    assert "<td>2015-03-01</td>" not in bare
