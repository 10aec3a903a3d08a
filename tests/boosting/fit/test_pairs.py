"""Pairs of columns that join a default fit: when they do, and all that shows the model."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.data.pairs import OPERATIONS, ColumnPairs
from driftgames.boosting.export.mean_votes import credit_votes
from driftgames.boosting.fit import choosing
from driftgames.boosting.model.choice import PairTrial
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.trees import Trees
from driftgames.boosting.persistence import decode_model, encode_model
from driftgames.boosting.promises import promise_of

N = 5_000


def draw(kind, n=N, seed=0):
    """Return uniform columns, and labels that one in twenty is wrong of."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 7))
    score = X[:, 1] - X[:, 4] if kind == "difference" else X[:, 1] - 0.5
    return X, (score > 0) ^ (rng.random(n) < 0.05)


def frame_of(X):
    """Return the columns by name, with categories between them."""
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    words = pd.Categorical(np.array(["low", "mid", "top"])[(3 * X[:, 6]).astype(int)])
    frame.insert(2, "word", words)
    return frame.mask(np.random.default_rng(3).random(frame.shape) < 0.02)


@pytest.fixture(scope="module")
def fitted():
    X, y = draw("difference")
    return NHBoostDTClassifier().fit(X, y), X


@pytest.fixture(scope="module")
def named():
    X, y = draw("difference")
    frame = frame_of(X)
    model = NHBoostDTClassifier().fit(frame, y)
    assert model.model_.pairs is not None
    return model, frame


def test_a_difference_that_decides_joins(fitted):
    model, _ = fitted
    trial = model.chosen_.pairs
    assert f" with {model.chosen_.pair_names[0]}" in str(model.chosen_)
    assert trial.gain > 2 * trial.standard_error > 0
    assert model.chosen_.pair_names[0] == "x1 - x4"
    assert model.chosen_._facts()["pairs of columns"].startswith("x1 - x4")
    X, y = draw("difference", 2_000, 1)
    alone = NHBoostDTClassifier(pairs=False).fit(*draw("difference"))
    assert model.score(X, y) > alone.score(X, y) + 0.01
    assert alone.chosen_.pairs is None
    assert alone.model_.pairs is None


def test_pairs_beside_categories_are_those_of_every_fold(named):
    """The ranks of categories differ from fold to fold; the columns of pairs stand behind them."""
    model, _ = named
    assert model.chosen_.pair_names[0] == "b - e"
    X, y = draw("difference", 2_000, 1)
    assert model.score(frame_of(X), y) > 0.92


def test_pairs_that_bring_nothing_do_not_join():
    X, y = draw("column")
    model = NHBoostDTClassifier().fit(X, y)
    alone = NHBoostDTClassifier(pairs=False).fit(X, y)
    assert model.chosen_.pairs.n_candidates == 2
    assert model.model_.pairs is None
    assert "none joined" in model.chosen_._facts()["pairs of columns"]
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize(
    "settings",
    [{"pairs": False}, {"max_leaves": 8}, {"ensemble": False}, {"early_stopping": True}],
    ids=str,
)
def test_what_switches_pairs_off(settings):
    X, y = draw("difference")
    model = NHBoostDTClassifier(**settings).fit(X, y)
    assert model.model_.pairs is None
    assert model.record_.choice is None or model.record_.choice.pairs is None


@pytest.mark.parametrize("way", ["few", "sparse", "one column", "monotonic"])
def test_tables_without_pairs(way):
    X, y = draw("difference", choosing.SCOUTED - 1 if way == "few" else N)
    settings = {}
    if way == "sparse":
        X = sp.csr_matrix(X)
    if way == "one column":
        X = X[:, [1]]
    if way == "monotonic":
        settings["monotonic_cst"] = [0, 1, 1, 1, -1, 1, 1]
    model = NHBoostDTClassifier(**settings).fit(X, y)
    assert model.chosen_.pairs is None


def test_columns_with_a_constraint_are_in_no_pair():
    X, y = draw("difference")
    model = NHBoostDTClassifier(monotonic_cst=[0, 0, 1, 0, 0, 0, 0]).fit(X, y)
    pairs = model.model_.pairs
    assert {1, 4} <= {*pairs.left, *pairs.right}
    assert 2 not in {*pairs.left, *pairs.right}


def test_batches_have_no_pairs():
    X, y = draw("difference")
    model = NHBoostDTClassifier().fit_batches([(X[:3_000], y[:3_000]), (X[3_000:], y[3_000:])])
    alone = NHBoostDTClassifier(pairs=False).fit(X, y)
    assert model.model_.pairs is None
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("settings", [{"n_jobs": 2}, {"order": True}, {"copies": True}], ids=str)
def test_the_same_bits(settings, fitted):
    model, X = fitted
    y = draw("difference")[1]
    order = np.random.default_rng(5).permutation(N) if "order" in settings else np.arange(N)
    rows = np.asfortranarray(X[order]) if "copies" in settings else X[order]
    other = NHBoostDTClassifier(n_jobs=settings.get("n_jobs", 1)).fit(rows, y[order])
    assert other.model_.pairs == model.model_.pairs
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(other.feature_importances_, model.feature_importances_)


def test_predictions_do_not_depend_on_threads_or_the_rest_of_the_rows(fitted):
    model, X = fitted
    votes = model.decision_function(X)
    np.testing.assert_array_equal(votes[100:110], model.decision_function(X[100:110]))
    two = NHBoostDTClassifier(n_jobs=2).adopt(model._get_fitted())
    np.testing.assert_array_equal(votes, two.decision_function(X))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(np.arange(7) == 3, np.inf, X[:2]))


def test_files_come_back(fitted, named, tmp_path):
    for model, X in (fitted, named):
        model.save(tmp_path / "m.json")
        again = NHBoostDTClassifier.load(tmp_path / "m.json")
        assert again.model_.pairs == model.model_.pairs
        assert again.chosen_ == model.chosen_
        assert again.chosen_.pair_names == model.chosen_.pair_names
        assert str(again.certificate_) == str(model.certificate_)
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": []}, "pairs must be a list of at least one pair"),
        ({"pairs": [[0, 1]]}, r"pairs\[0\] must be the numbers"),
        ({"pairs": [[1, 0, "-"]]}, r"pairs\[0\] must be the numbers"),
        ({"pairs": [[0, 8, "-"]]}, r"pairs\[0\] must be the numbers"),
        ({"pairs": [[0, 2, "-"]]}, r"pairs\[0\] must be the numbers"),
        ({"pairs": [[0, 1, "/"]]}, r"pairs\[0\] must be the numbers"),
    ],
)
def test_files_that_are_refused(change, message, named):
    model, _ = named  # column 2 holds categories
    content = json.loads(json.dumps(encode_model(model)))
    with pytest.raises(ValueError, match=message):
        decode_model({**content, **change})


def test_a_file_without_its_pairs_is_refused(named):
    content = json.loads(json.dumps(encode_model(named[0])))
    del content["pairs"]
    with pytest.raises(ValueError, match=r"trees\.feature"):
        decode_model(content)


def test_importances_are_shared_by_the_two_columns(fitted):
    importances = fitted[0].feature_importances_
    assert importances.shape == (7,)
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-2:]) == {1, 4}
    assert importances[1] == pytest.approx(importances[4], rel=0.3)


def test_votes_of_features_add_up_exactly(fitted, named):
    for model, X in (fitted, named):
        rows = X[:20]
        votes = model.decision_function(rows)
        features = np.arange(X.shape[1])
        inner = model.model_
        (shares,) = credit_votes(inner, inner.encode(rows), [1], features)
        for i in range(20):
            row = rows.iloc[[i]] if hasattr(rows, "iloc") else rows[i]
            explanation = model.explain(row)
            assert explanation.decision == votes[i]
            assert explanation.features.max() < X.shape[1]
            found = np.zeros(X.shape[1])
            found[explanation.features] = explanation.contributions
            np.testing.assert_allclose(shares.votes[:, i].sum(axis=0), found, atol=1e-12)


def test_a_question_about_a_pair_counts_half_for_each_column():
    """One tree of one question about ``a * c``, beside its votes by hand."""
    model = ask_about_a_product()
    explanation = model.explain(model.encode(np.array([[2.0, 9.0, 3.0]])))
    assert explanation.features.tolist() == [0, 2]
    assert explanation.votes.tolist() == [0.5, 0.5]
    assert model.importances(np.ones(1)).tolist() == [0.5, 0.0, 0.5]


def ask_about_a_product():
    """Return a tree of one question, whether ``a * c`` is at most 5."""
    trees = Trees(
        n_nodes=np.array([3]),
        feature=np.array([3, -1, -1]),
        threshold=np.array([5.0, 0.0, 0.0]),
        missing_left=np.array([0, 0, 0]),
        left=np.array([1, 0, 0]),
        vote=np.array([0, -1, 1]),
        gain=np.array([1.0, 0.0, 0.0]),
    )
    pairs = ColumnPairs((0,), (2,), ("*",))
    return FittedModel(np.array([0, 1]), 3, trees, np.ones(1), pairs=pairs)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_onnx_gives_the_same_labels(dtype, fitted, named, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    for model, X in (fitted, named):
        rows = X[:500]
        if isinstance(rows, np.ndarray):
            rows = rows.astype(dtype)
            rows[::7, 1] = np.nan
            inputs = {"X": rows}
        else:
            numbers = [c for c in rows if c != "word"]
            rows = rows.astype(dict.fromkeys(numbers, dtype))
            inputs = {c: rows[[c]].to_numpy() for c in numbers}
            inputs["word"] = rows[["word"]].astype(object).fillna("").to_numpy()
        model.to_onnx(tmp_path / "m.onnx", dtype=dtype)
        session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
        label, votes, shares = session.run(None, inputs)
        np.testing.assert_array_equal(label, model.predict(rows))
        np.testing.assert_allclose(votes, model.decision_function(rows), rtol=0, atol=1e-7)
        np.testing.assert_allclose(shares, model.predict_proba(rows), rtol=0, atol=1e-6)


def test_treelite_refuses(fitted):
    pytest.importorskip("treelite")
    with pytest.raises(ValueError, match="pairs=False"):
        fitted[0].to_treelite()


def test_the_page_of_a_model(named):
    model, frame = named
    page = model.explain_model(frame, n_examples=2)._repr_html_()
    assert "word" in page


def test_the_bound_counts_all_sets_of_couples(fitted):
    record = fitted[0].record_
    alone = replace(record, choice=replace(record.choice, pairs=None))
    tried = replace(record, choice=replace(record.choice, pairs=PairTrial(0.0, 0.0, 2)))
    n_couples = len(fitted[0].model_.pairs) // len(OPERATIONS)
    n_sets = 6 * math.comb(7 * 6 // 2, n_couples)  # one to six couples
    assert record.choice.pairs.n_candidates == 2 * n_sets
    counts = [promise_of(each).n_candidates for each in (alone, tried, record)]
    assert counts == [counts[0], 2 * counts[0], 2 * n_sets * counts[0]]
    losses = [promise_of(each).log_loss.n_candidates for each in (alone, tried, record)]
    assert losses == [losses[0], 2 * losses[0], 2 * n_sets * losses[0]]


def test_couples_that_trees_ask_about_together():
    """Three trees by hand: gains of a question below one about another column count for both."""
    trees = Trees(
        n_nodes=np.array([5, 5, 3]),
        feature=np.array([0, 1, -1, -1, -1, 1, -1, 0, -1, -1, 2, -1, -1]),
        threshold=np.zeros(13),
        missing_left=np.zeros(13, dtype=int),
        left=np.array([1, 3, 0, 0, 0, 1, 0, 3, 0, 0, 1, 0, 0]),
        vote=np.array([0, 0, 1, 1, -1, 0, 1, 0, -1, 1, 0, 1, -1]),
        gain=np.array([0.5, 0.25, 0, 0, 0, 0.5, 0, 0.125, 0, 0, 1.0, 0, 0]),
    )
    owner = np.arange(3)
    assert trees.gains_of(owner).tolist() == [0.625, 0.75, 1.0]
    below = trees.gains_below(owner, np.array([0, 1, 2]))
    assert below.tolist() == [[0, 0.375, 0], [0.375, 0, 0], [0, 0, 0]]
    assert trees.gains_below(owner, np.array([1, 2])).tolist() == [[0, 0], [0, 0]]
    both = trees.gains_below(np.array([0, 1, 1]), np.array([0, 1]))  # two columns of a feature
    assert both.tolist() == [[0, 0.375], [0.375, 0]]


@pytest.mark.parametrize("value", [True, "always", None, 1])
def test_values_that_are_refused(value):
    with pytest.raises(ValueError, match="pairs must be"):
        NHBoostDTClassifier(pairs=value).fit(*draw("column", 40))
