"""The engines of stumps and trees: the tally, sums over rows, and brute force agree to the bit."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from driftgames.boosting import Stumps
from driftgames.boosting.data.binned_training_set import BinnedTrainingSet, bin_examples
from driftgames.boosting.data.bins import DenseBins, SparseBins
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.estimators.adaboost import ExponentialChips
from driftgames.boosting.estimators.nh_boost import NormalHedgeWeights
from driftgames.boosting.estimators.potential_boost import CountedChips, PotentialWeights
from driftgames.boosting.growth import leaf_tally, tree_growth
from driftgames.boosting.growth.leaf_tally import LeafCounts, LeafTally
from driftgames.boosting.growth.shares import SumGrower
from driftgames.boosting.growth.tally import Tally
from driftgames.boosting.growth.training_set import RowCounts
from driftgames.boosting.growth.tree_growth import TreeGrower, TreeShape
from driftgames.boosting.weights.example_chips import SUM_BITS
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm

RULES = {
    "NH-Boost.DT": PotentialWeights(NormalHedgeDT()),
    "lagging": PotentialWeights(NormalHedgeDT(d=4, lag=1)),
    "2-norm": PotentialWeights(TwoNorm()),
    "EXP": PotentialWeights(Exponential(0.2)),
    "NH-Boost": NormalHedgeWeights(),
}


def make_data(seed, kind, n=300, n_features=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.3
    if kind == "few values":
        X = np.round(X)
    elif kind == "sparse":
        X = np.where(np.abs(X) > 0.8, np.round(X, 1), 0.0)
    elif kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    elif kind == "mostly missing":
        X[rng.random(X.shape) < 0.8] = np.nan
    elif kind == "constant":
        X[:, 2] = 7.0
    return X, y


KINDS = ["many values", "few values", "sparse", "missing", "mostly missing", "constant"]


def ones(n):
    return np.ones(n, dtype=np.int64)


def counted(rule, counts):
    """The chips of a booster that counts mistakes in this way."""
    start = SimpleNamespace(count_mistakes=lambda: counts, integer_weights=True)
    return CountedChips(rule, start)


def play(chips, n_rounds):
    played = []
    for _ in range(n_rounds):
        edge, hypothesis = chips.choose()
        if edge <= 0:
            break
        weight = chips.move(hypothesis, edge)
        played.append((edge, hypothesis, weight, chips.zero_fraction, chips.training_error))
    return played


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_tally_and_adding_up_over_rows_agree_to_the_bit(kind, rule):
    X, y = make_data(0, kind)
    table = bin_examples(X, y, ones(y.size), 20)
    tallied = counted(rule, Tally(table))
    summed = counted(rule, RowCounts(table))
    assert play(tallied, 80) == play(summed, 80)


@pytest.mark.parametrize("name", ["NH-Boost.DT", "lagging", "2-norm", "EXP"])
def test_numbers_of_mistakes_weigh_as_the_potential_says(name):
    mistakes, edge_sum = np.arange(3, 22), 2.7
    for t in (1, 2, 40):
        found = RULES[name].weights(mistakes, t, edge_sum, ones(mistakes.size))
        positions = (t - 1) / 2 - edge_sum - mistakes
        np.testing.assert_array_equal(found, RULES[name].potential.weights(positions, t))


@pytest.mark.parametrize("n_shares", [2, 3, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_the_rows_change_nothing(kind, n_shares):
    X, y = make_data(1, kind)
    table = bin_examples(X, y, ones(y.size), 20)
    rule = PotentialWeights(NormalHedgeDT())
    one = counted(rule, Tally(table))
    shares = replace(table, n_shares=n_shares)
    cut = counted(rule, Tally(shares))
    assert play(cut, 80) == play(one, 80)
    assert play(ExponentialChips(shares), 30) == play(ExponentialChips(table), 30)


def brute_force(X, y, weights):
    """The best stump by trying every threshold, with the documented rule for ties."""
    best, found = 0, None
    for j in range(X.shape[1]):
        x = X[:, j]
        gone = np.isnan(x)
        values = np.unique(x[~gone])
        cuts = [(a + b) / 2 for a, b in itertools.pairwise(values)]
        votes_of_missing = (1, -1) if gone.any() else (None,)
        for cut in cuts + ([np.inf] if gone.any() else []):
            for left, lost in itertools.product((1, -1), votes_of_missing):
                if cut == np.inf and lost == left:
                    continue  # a constant is no question
                h = np.where(x <= cut, left, -left)
                h = np.where(gone, lost or 0, h)
                value = int((weights * np.where(y, h, -h)).sum())
                if value > best:
                    best, found = value, (j, cut, left, lost)
    return best, found


@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.integers(1, 60))
def test_the_best_stump_is_the_best_of_all(seed, kind, n):
    X, y = make_data(seed, kind, n=n, n_features=3)
    weights = np.random.default_rng(seed).integers(0, 5, size=n)
    table = bin_examples(X, y, ones(n), 255)
    value, norm, (j, cut, left, lost) = table.best(weights[table.order])
    assert norm == weights.sum()
    best, found = brute_force(X, y, weights)
    assert value == best
    if found is not None:
        thresholds = [*table.cuts.of(j), np.inf]
        assert (j, thresholds[cut]) == found[:2]
        assert left == found[2]
        gone = np.isnan(X[:, j])
        if np.any(weights[gone] @ np.where(y[gone], 1, -1)):
            assert lost == found[3]


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_input_is_the_same_table_as_dense(kind):
    X, y = make_data(2, kind)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.7, 0.0, X)
    mass = np.arange(1, y.size + 1)
    dense, sparse = (bin_examples(form, y, mass, 30) for form in (X, sp.csr_matrix(X)))
    assert isinstance(dense.bins, SparseBins)
    np.testing.assert_array_equal(dense.cuts.thresholds, sparse.cuts.thresholds)
    np.testing.assert_array_equal(dense.counts, sparse.counts)
    weights = np.random.default_rng(0).integers(0, 9, size=y.size)
    answers = [t.best(weights[t.order]) for t in (dense, sparse)]
    assert answers[0] == answers[1]
    stump = answers[0][2]
    votes = [np.empty(y.size, dtype=int) for _ in range(2)]
    for vote, table in zip(votes, (dense, sparse), strict=True):
        vote[table.order] = table.votes(stump)
    np.testing.assert_array_equal(*votes)


def test_explicit_zeros_and_negative_values_of_a_sparse_matrix_are_values():
    X = sp.csr_matrix(np.array([[-2.0, 0.0], [0.0, 3.0], [1.0, 0.0], [0.0, 0.0]]))
    stored = X.copy()
    stored.data[stored.data == 3.0] = 0.0
    y = np.array([False, False, True, True])
    table = bin_examples(X, y, ones(4), 255)
    assert table.cuts.of(0).tolist() == [-1.0, 0.5]
    assert bin_examples(stored, y, ones(4), 255).cuts.of(1).size == 0


def test_many_values_stay_dense_and_few_become_sparse():
    X, y = make_data(3, "many values")
    mass = ones(y.size)
    assert isinstance(bin_examples(X, y, mass, 64).bins, DenseBins)
    assert isinstance(bin_examples((X > 1.5).astype(float), y, mass, 64).bins, SparseBins)


def test_a_tally_that_grows_too_wide_is_given_up_without_a_trace():
    X, y = make_data(4, "few values", n=60)
    table = bin_examples(X, y, ones(y.size), 255)
    rule = PotentialWeights(NormalHedgeDT())
    switching = counted(rule, Tally(table, most_counts=20 * table.n_codes))
    played = play(switching, 100)
    assert isinstance(switching._counts, RowCounts)
    assert played == play(counted(rule, Tally(table)), 100)


def test_integer_weights_are_copies():
    X, y = make_data(5, "few values", n=80)
    copies = np.random.default_rng(5).integers(1, 4, size=y.size)
    rule = PotentialWeights(NormalHedgeDT())
    weighted = bin_examples(X, y, SampleWeights.of(copies.astype(float)).of_each, 255)
    repeated = bin_examples(
        np.repeat(X, copies, axis=0), np.repeat(y, copies), ones(copies.sum()), 255
    )
    played = [play(counted(rule, Tally(t)), 60) for t in (weighted, repeated)]
    assert played[0] == played[1]


def test_real_weights_near_integers_play_nearly_the_same():
    X, y = make_data(6, "many values")
    X = np.round(4 * X)  # fewer values than bins: the cuts are the same
    rng = np.random.default_rng(6)
    copies = rng.integers(1, 4, size=y.size)
    jittered = SampleWeights.of(copies * (1 + 1e-13 * rng.random(y.size)))
    assert not jittered.integer_weights
    rule = PotentialWeights(NormalHedgeDT())
    table = bin_examples(X, y, copies, 255)
    real = bin_examples(X, y, jittered.of_each, 255, integer_weights=False)
    exact, near = (play(CountedChips(rule, each), 30) for each in (table, real))
    assert [h for _, h, *_ in near] == [h for _, h, *_ in exact]
    np.testing.assert_allclose([e for e, *_ in near], [e for e, *_ in exact], atol=1e-9)


def test_weights_are_used_to_the_last_bit_of_their_sum(monkeypatch):
    """The sum of all weights fills 61 bits, however unequal they are."""
    X, y = make_data(7, "many values")
    table = bin_examples(X, y, ones(y.size), 40)
    norms, best = [], BinnedTrainingSet.best
    monkeypatch.setattr(
        BinnedTrainingSet, "best", lambda self, w: norms.append(int(w.sum())) or best(self, w)
    )
    play(counted(PotentialWeights(NormalHedgeDT()), RowCounts(table)), 100)
    assert len(norms) == 100
    assert all(2 ** (SUM_BITS - 1) <= norm < 2**62 for norm in norms)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("least", [1.5, 0.0, -1.5])
def test_a_value_on_a_threshold_goes_left(form, least):
    """Between neighbouring floats the threshold is the lower one: it must not join the upper."""
    step = abs(np.spacing(least))
    x = least + step * np.array([0, 1, 2, 3, 0, 1, 2, 3, 3, 1])
    X = np.column_stack([x, 1.0 + np.arange(10) % 5])  # the second column keeps the rows dense
    y = x > x.min() + step
    table = bin_examples(form(X), y, ones(y.size), 255)
    assert isinstance(table.bins, DenseBins if form is np.asarray else SparseBins)
    cuts = table.cuts.of(0)
    assert cuts.tolist() == np.unique(x)[:-1].tolist()
    assert table.counts[:, :4].sum(axis=0).tolist() == [2, 3, 2, 3]
    for cut, threshold in enumerate(cuts):
        votes = np.empty(y.size, dtype=int)
        votes[table.order] = table.votes((0, cut, 1, 1))
        np.testing.assert_array_equal(votes, x <= threshold)
        stump = Stumps([0], [threshold], [1], [1])
        np.testing.assert_array_equal(2 * votes - 1, stump.votes(form(X))[:, 0])
    value, norm, (j, cut, left, _) = table.best(np.ones(y.size, dtype=np.int64))
    assert (value, norm) == (10, 10)  # the labels are the question at the second threshold
    assert (j, cut, left) == (0, 1, -1)


def best_of(X, y, mass=None):
    """The stump that unit weights choose, as (feature, threshold, left vote, missing vote)."""
    mass = ones(len(y)) if mass is None else np.array(mass)
    X = np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    found = []
    for form in (np.asarray, sp.csr_matrix):
        table = bin_examples(form(X), np.array(y) == 1, mass, 255)
        value, _, (j, cut, left, lost) = table.best(table.sample_weights)
        found.append((value, j, float([*table.cuts.of(j), np.inf][cut]), left, lost))
    assert found[0] == found[1]
    return found[0]


LOST = float("nan")


def test_a_left_vote_that_makes_no_difference_is_plus_one():
    """Known values tell nothing of the label; only the missing ones do."""
    known, labels = [1, 1, 2, 2], [0, 1, 0, 1]
    for lost in (0, 1):
        vote = 1 if lost else -1
        assert best_of([*known, LOST, LOST], [*labels, lost, lost]) == (2, 0, 1.5, 1, vote)


@pytest.mark.parametrize(
    ("left_rows", "right_rows", "side"), [(3, 2, "left"), (2, 3, "right"), (2, 2, "left")]
)
@pytest.mark.parametrize("left_label", [0, 1])
def test_a_missing_vote_that_makes_no_difference_goes_with_the_larger_side(
    left_rows, right_rows, side, left_label
):
    values = [1] * left_rows + [2] * right_rows + [LOST, LOST]
    labels = [left_label] * left_rows + [1 - left_label] * right_rows + [0, 1]
    left = 1 if left_label else -1
    lost = left if side == "left" else -left
    assert best_of(values, labels) == (left_rows + right_rows, 0, 1.5, left, lost)


def test_the_larger_side_is_the_one_of_more_mass():
    values, labels = [1, 1, 1, 2, 2, LOST, LOST], [1, 1, 1, 0, 0, 0, 1]
    assert best_of(values, labels) == (5, 0, 1.5, 1, 1)
    assert best_of(values, labels, mass=[1, 1, 1, 5, 5, 1, 1]) == (13, 0, 1.5, 1, -1)


def test_ties_go_to_the_lowest_feature_and_then_to_the_lowest_threshold():
    x = np.array([1.0, 2.0, 3.0])
    assert best_of(np.column_stack([3 - x, x, x]), [0, 1, 0])[:4] == (1, 0, 0.5, -1)
    twice = np.column_stack([[1.0, 2.0, 1.0, 2.0], [1.0, 1.0, 2.0, 2.0], [2.0, 2.0, 1.0, 1.0]])
    assert best_of(twice, [0, 0, 1, 1])[1:4] == (1, 1.5, -1)


@pytest.mark.parametrize("mass", [1, 3])
@pytest.mark.parametrize(("outside", "kind"), [(4, SparseBins), (5, DenseBins), (6, DenseBins)])
def test_rows_are_listed_when_less_than_half_lies_outside_the_commonest_bins(outside, kind, mass):
    """Ten rows of one feature; its commonest value holds all but ``outside`` of them."""
    x = np.concatenate([np.zeros(10 - outside), np.arange(1.0, outside + 1)])
    table = bin_examples(x[:, None], x > 1, np.full(10, mass), 255)
    assert isinstance(table.bins, kind)


def test_listed_rows_move_with_the_commonest_bin_if_they_have_its_vote():
    """The mistakes of class 1 are zeros, which are not listed, and values below, which are."""
    x = np.repeat([-1.0, 0.0, -1.0, 0.0, 1.0], [10, 60, 4, 6, 20])
    table = bin_examples(x[:, None], np.arange(100) >= 70, ones(100), 20)
    assert isinstance(table.bins, SparseBins)
    rule = RULES["NH-Boost.DT"]
    tallied, summed = counted(rule, Tally(table)), counted(rule, RowCounts(table))
    assert play(tallied, 9) == play(summed, 9)
    assert tallied.training_error == 0.1


SHAPES = [TreeShape(max_depth=3), TreeShape(max_depth=None, max_leaves=5)]


@pytest.fixture
def forever(monkeypatch):
    """Let no tally give way."""
    monkeypatch.setattr(leaf_tally, "_MOVE", 0.0)
    monkeypatch.setattr(leaf_tally, "_COUNT", 0.0)


def tree_chips(kind, data, shape, rule="NH-Boost.DT"):
    return counted(RULES[rule], kind(data, TreeGrower(data, shape)))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_tally_of_trees_and_adding_up_over_rows_agree_to_the_bit(kind, rule, forever):
    X, y = make_data(0, kind)
    if kind == "sparse":
        X = sp.csr_matrix(X)
    data = bin_examples(X, y, ones(y.size), 20)
    shape = SHAPES[len(kind) % 2]
    tallied = tree_chips(LeafTally, data, shape, rule)
    assert play(tallied, 60) == play(tree_chips(LeafCounts, data, shape, rule), 60)
    assert isinstance(tallied._counts, LeafTally)


@pytest.mark.parametrize("n_shares", [2, 3])
def test_shares_of_the_rows_change_no_tree(n_shares, forever, monkeypatch):
    monkeypatch.setattr(tree_growth, "_FEW_SUMS", 0)
    X, y = make_data(1, "few values", n=8000)
    data = bin_examples(X, y, ones(y.size), 20)
    cut = replace(data, n_shares=n_shares)
    assert len(TreeGrower(cut, SHAPES[0]).ranges[0]) > 2
    tallied, summed = (
        tree_chips(k, d, SHAPES[0]) for k, d in ((LeafTally, cut), (LeafCounts, data))
    )
    assert play(tallied, 30) == play(summed, 30)


def test_integer_weights_are_copies_to_the_tally_of_trees(forever):
    X, y = make_data(2, "missing")
    weights = np.random.default_rng(3).integers(1, 5, y.size)
    weighted = bin_examples(X, y, weights, 20)
    repeated = bin_examples(X.repeat(weights, axis=0), y.repeat(weights), ones(weights.sum()), 20)
    played = [play(tree_chips(LeafTally, data, SHAPES[0]), 40) for data in (weighted, repeated)]
    assert played[0] == played[1]


def test_a_tally_gives_way_where_it_costs_more(monkeypatch):
    X, y = make_data(4, "many values", n=2000)
    data = bin_examples(X, y, ones(y.size), 20)
    rows = play(tree_chips(LeafCounts, data, SHAPES[0]), 60)
    monkeypatch.setattr(leaf_tally, "_COUNT", 0.01)
    switching = tree_chips(LeafTally, data, SHAPES[0])
    assert isinstance(switching._counts, LeafTally)
    begun = play(switching, 3)
    assert isinstance(switching._counts, LeafTally)
    begun += play(switching, 57)
    assert isinstance(switching._counts, LeafCounts)
    assert begun == rows


def test_large_sets_of_few_bins_have_a_tally(monkeypatch):
    monkeypatch.setattr(leaf_tally, "_FEW_CODES", 5000)
    X, y = make_data(5, "few values", n=1000)
    for rows, shape, kind in (
        (1000, SHAPES[0], LeafTally),
        (800, SHAPES[0], LeafCounts),
        (1000, TreeShape(max_depth=3, min_samples_leaf=2), LeafCounts),
        (1000, TreeShape(max_depth=3, min_weight_fraction_leaf=0.1), LeafCounts),
    ):
        data = bin_examples(X[:rows], y[:rows], ones(rows), 20)
        for grower in (TreeGrower(data, shape), SumGrower(data, shape)):
            assert isinstance(grower.count_mistakes(), kind)
    rounded = replace(bin_examples(X, y, ones(1000), 20), integer_weights=False)
    assert isinstance(TreeGrower(rounded, SHAPES[0]).count_mistakes(), LeafCounts)


def test_the_root_is_not_summed_again(forever):
    X, y = make_data(6, "few values", n=2000)
    data = bin_examples(X, y, ones(y.size), 20)
    n_summed = []
    for kind in (LeafTally, LeafCounts):
        grower = TreeGrower(data, SHAPES[0])
        play(counted(RULES["NH-Boost.DT"], kind(data, grower)), 5)
        n_summed.append(grower.n_summed)
    assert n_summed[0] + grower.n_heavy == n_summed[1]
