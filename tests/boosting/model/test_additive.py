"""Additive models against the plain definition of a vote, `Stumps.votes`."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.model.stumps import Stumps

N_FEATURES = 7


def make_stumps(seed, n_stumps, n_features=N_FEATURES, grid=4):
    rng = np.random.default_rng(seed)
    return Stumps(
        feature=rng.integers(0, n_features, n_stumps),
        threshold=rng.integers(-grid, grid + 1, n_stumps) / 2,
        left_vote=rng.choice([-1, 1], n_stumps),
        missing_vote=rng.choice([-1, 1], n_stumps),
    )


def make_rows(seed, n_rows, n_features=N_FEATURES, grid=4, missing=0.1):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-grid, grid + 1, (n_rows, n_features)) / 2
    rows[rng.random(rows.shape) < 0.4] = 0.0
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


@given(
    seed=st.integers(0, 10**6),
    n_stumps=st.integers(0, 60),
    n_rows=st.integers(0, 50),
    sparse=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_unit_votes_are_the_sum_of_the_stumps_in_integers(seed, n_stumps, n_rows, sparse):
    stumps, rows = make_stumps(seed, n_stumps), make_rows(seed + 1, n_rows)
    model = stumps.add_up(n_features=N_FEATURES)
    scores = model.scores(scipy.sparse.csr_array(rows) if sparse else rows)
    assert scores.dtype == np.int64
    np.testing.assert_array_equal(scores, stumps.votes(rows).astype(int).sum(axis=1))


@pytest.mark.parametrize("grid", [4, 40])
def test_many_thresholds_are_searched_and_few_compared_with_the_same_answer(grid):
    # a grid of 40 gives each feature about 80 thresholds: the branch that searches
    stumps, rows = make_stumps(0, 2000, grid=grid), make_rows(1, 1100, grid=grid)
    model = stumps.add_up(n_features=N_FEATURES)
    wanted = stumps.votes(rows).astype(int).sum(axis=1)
    np.testing.assert_array_equal(model.scores(rows), wanted)
    np.testing.assert_array_equal(model.scores(scipy.sparse.csr_array(rows)), wanted)


def test_weighted_votes_are_exact_in_any_order_and_close_to_the_plain_sum():
    stumps, rows = make_stumps(2, 500), make_rows(3, 400)
    weights = np.random.default_rng(4).exponential(size=500)
    model = stumps.add_up(weights, n_features=N_FEATURES)
    scores = model.scores(rows)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, stumps.votes(rows) @ weights, atol=1e-12 * weights.sum())
    # zeros stored or not: the same bits
    np.testing.assert_array_equal(model.scores(scipy.sparse.csr_array(rows)), scores)
    # rounds in another order: the same bits
    order = np.random.default_rng(5).permutation(500)
    shuffled = Stumps(*(getattr(stumps, name)[order] for name in stumps.__dataclass_fields__))
    again = shuffled.add_up(weights[order], n_features=N_FEATURES)
    np.testing.assert_array_equal(again.scores(rows), scores)
    assert again.total == model.total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_the_same_bits_for_any_number_of_threads(weighted, sparse):
    stumps, rows = make_stumps(6, 80), make_rows(7, 40_000)
    weights = np.random.default_rng(8).random(80) if weighted else None
    model = stumps.add_up(weights, n_features=N_FEATURES)
    X = scipy.sparse.csr_array(rows) if sparse else rows
    one = model.scores(X)
    for n_threads in (2, 3, 8):
        np.testing.assert_array_equal(model.scores(X, n_threads=n_threads), one)


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda rows: rows.astype(np.float32),
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
        lambda rows: (rows * 1).astype(np.int64),
        scipy.sparse.csc_array,
        scipy.sparse.coo_matrix,
    ],
)
def test_every_layout_and_type_of_the_same_rows_scores_alike(change):
    stumps = make_stumps(9, 90)
    rows = np.rint(make_rows(10, 700, missing=0.0))
    model = stumps.add_up(n_features=N_FEATURES)
    np.testing.assert_array_equal(model.scores(change(rows)), model.scores(rows))


def test_stored_zeros_and_repeated_entries_of_a_sparse_matrix_are_what_they_stand_for():
    stumps = make_stumps(11, 60)
    model = stumps.add_up(n_features=N_FEATURES)
    data, columns = [0.5, 0.5, 0.0, 2.0], [1, 1, 2, 3]
    matrix = scipy.sparse.csr_array((data, columns, [0, 3, 4]), shape=(2, N_FEATURES))
    np.testing.assert_array_equal(model.scores(matrix), model.scores(matrix.toarray()))
    assert matrix.nnz == 4, "the caller's matrix was changed"


def test_infinite_thresholds_ask_whether_the_value_is_missing():
    stumps = Stumps([0, 1], [math.inf, -math.inf], [1, 1], [-1, 1])
    model = stumps.add_up(n_features=2)
    rows = np.array([[5.0, 5.0], [np.nan, 5.0], [5.0, np.nan], [0.0, 0.0]])
    wanted = stumps.votes(rows).astype(int).sum(axis=1)
    np.testing.assert_array_equal(model.scores(rows), wanted)
    np.testing.assert_array_equal(model.scores(scipy.sparse.csr_array(rows)), wanted)


def test_shape_functions_are_normalised_and_add_up_to_the_decision():
    stumps, rows = make_stumps(12, 64), make_rows(13, 200)
    model = stumps.add_up(n_features=N_FEATURES)
    shapes = model.shape_functions
    assert sorted(shapes) == sorted(set(stumps.feature.tolist()))
    for j, shape in shapes.items():
        mine = stumps.feature == j
        np.testing.assert_array_equal(shape.thresholds, np.unique(stumps.threshold[mine]))
        assert shape.values.size == shape.thresholds.size + 1
        assert shape.missing == stumps.missing_vote[mine].sum() / 64
    total = sum(shape(rows[:, j]) for j, shape in shapes.items())
    np.testing.assert_array_equal(total, model.scores(rows) / 64)  # 64: no division rounds
    assert sum(max(abs(shape.values)) for shape in shapes.values()) <= 1


@pytest.mark.parametrize("weighted", [False, True])
def test_an_explanation_adds_up_to_the_decision_exactly_in_any_order(weighted):
    rng = np.random.default_rng(14)
    stumps, rows = make_stumps(15, 333), make_rows(16, 30)
    model = stumps.add_up(rng.random(333) if weighted else None, n_features=N_FEATURES)
    scores = model.scores(rows)
    for row, score in zip(rows, scores, strict=True):
        for x in (row, row[None, :], scipy.sparse.csr_array(row[None, :])):
            explanation = model.explain(x)
            assert explanation.decision == score / model.total
            assert sum(rng.permutation(explanation.votes).tolist()) == score
    strongest = explanation.strongest(3)
    assert len(strongest) == 3
    assert [abs(vote) for _, vote in strongest] == sorted(
        np.abs(explanation.contributions).tolist(), reverse=True
    )[:3]


def test_no_stumps_vote_nothing():
    model = Stumps.none().add_up(n_features=3)
    np.testing.assert_array_equal(model.scores(np.ones((2, 3))), [0, 0])
    np.testing.assert_array_equal(model.scores(scipy.sparse.csr_array((2, 3))), [0, 0])
    assert model.explain([0.0, 1.0, 2.0]).decision == 0.0
    assert model.shape_functions == {}
    assert model.plot().axes == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.scores(np.ones((4, 3))), r"\(n_rows, 7\); got \(4, 3\)"),
        (lambda m: m.scores(np.ones(7)), r"\(n_rows, 7\); got \(7,\)"),
        (lambda m: m.explain(np.ones((2, 7))), r"one example of 7 features; got shape \(2, 7\)"),
        (lambda m: m.scores(np.ones((1, 7)), n_threads=0), "n_threads must be an integer >= 1"),
        (lambda m: m.scores(np.ones((1, 7)), n_threads=1.5), "n_threads must be an integer"),
        (lambda m: make_stumps(0, 9).add_up(n_features=2), r"must lie in \[0, 1\]"),
        (lambda m: make_stumps(0, 9).add_up(np.ones(8), n_features=7), r"shape \(9,\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(make_stumps(0, 9).add_up(n_features=N_FEATURES))


def test_the_plot_shows_the_largest_shapes_first_and_names_them():
    stumps = Stumps([0, 1, 1, 1, 2], [0.5, 1.0, 2.0, 2.0, 0.0], [1, -1, -1, -1, 1], [1] * 5)
    model = stumps.add_up(n_features=3)
    figure = model.plot(["sex", "age", "income"], n_features=2, show_missing=True)
    assert [axes.get_title() for axes in figure.axes] == ["age", "sex"]
    steps = next(patch for patch in figure.axes[0].patches if not patch.get_fill())
    np.testing.assert_allclose(steps.get_data().values, [-0.6, -0.2, 0.6])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_find_infinities_in_many_rows(bad, n_jobs):
    X = np.random.default_rng(0).normal(size=(300_000, 4))
    model = NHBoostDTClassifier(3, max_leaves=2, calibrate=False, n_jobs=n_jobs).fit(
        X[:500], X[:500, 0] > 0
    )
    X[5, 1] = np.nan
    votes = model.decision_function(X)
    X[299_999, 3] = bad
    with pytest.raises(ValueError, match="infinity"):
        model.decision_function(X)
    X[:, 3] = 1e308  # finite, and its sum is not
    assert model.decision_function(X).shape == votes.shape


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_infinity_in_any_row_and_column_is_refused(dtype, order):
    rng = np.random.default_rng(1)
    X = np.array(rng.normal(size=(20_000, 5)), dtype=dtype, order=order)
    X[rng.random(X.shape) < 0.1] = np.nan
    booster = NHBoostDTClassifier(1, max_leaves=2, calibrate=False, n_jobs=2).fit(
        X, X[:, 0] > 0
    )  # one column
    before = booster.decision_function(X)
    for row, column in ((0, 0), (511, 4), (513, 3), (19_999, 4)):
        for value in (np.inf, -np.inf):
            wrong = X.copy(order="K")
            wrong[row, column] = value
            for predict in (booster.decision_function, booster.predict, booster.predict_proba):
                with pytest.raises(ValueError, match="Input X contains infinity"):
                    predict(wrong)
    np.testing.assert_array_equal(booster.decision_function(X), before)
