"""Rounds of the engine: counts, sums over rows, threads and layouts agree to the bit."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from driftgames.boosting import Stumps
from driftgames.boosting.data import binned_data
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.data.bins import DenseBins, SparseBins
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.engine import mistake_engine
from driftgames.boosting.engine.binned_trees import BinnedTree
from driftgames.boosting.engine.game import MistakeRule, VoteGame
from driftgames.boosting.engine.positions import SUM_BITS
from driftgames.boosting.engine.rules import MajorityRule, NormalHedgeRule, PotentialRule
from driftgames.boosting.engine.shape import STUMP, TreeShape
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm
from tests.boosting.engine.slow_game import GrownRows, SlowGame

RULES = {
    "NH-Boost.DT": PotentialRule(NormalHedgeDT()),
    "lagging": PotentialRule(NormalHedgeDT(d=4, lag=1)),
    "2-norm": PotentialRule(TwoNorm()),
    "EXP": PotentialRule(Exponential(0.2)),
    "NH-Boost": NormalHedgeRule(),
    "majority": MajorityRule(90, 0.05),
}
RULE = RULES["NH-Boost.DT"]


class Plain(MistakeRule):
    """A rule that is not compiled: the square of the mistakes, and one more."""

    def __init__(self, *, looks_at_masses):
        self.looks_at_masses = looks_at_masses

    def weights(self, mistakes, t, edge_sum, masses):
        return (mistakes + 1.0) ** 2 + (masses[0] if self.looks_at_masses else edge_sum)


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
SHAPES = {
    "stump": STUMP,
    "depth": TreeShape(max_depth=3),
    "leaves": TreeShape(max_depth=None, max_leaves=5, criterion="kearns-mansour"),
    "samples": TreeShape(max_depth=3, min_samples_leaf=7),
    "mass": TreeShape(max_depth=3, min_weight_fraction_leaf=0.03),
}
DEPTH = SHAPES["depth"]
FOREVER, BRIEFLY = np.inf, 0.0
"""The mean number of codes of a row, as the tally is told: it never seems costly, or always."""


def ones(n):
    return np.ones(n, dtype=np.int64)


def binned(X, y, weights=None, max_bins=20, *, labels=None, **settings):
    """The rows in bins, and their classes in that order if there are more than two."""
    weights = ones(len(y)) if weights is None else weights
    if labels is None:
        return bin_examples(X, y, weights, max_bins, **settings), None
    data = bin_examples(X, np.zeros(len(y), dtype=bool), weights, max_bins, **settings)
    return data, labels[data.order]


def training_set(data, shape=STUMP, labels=None, *, weights=None, n_threads=1):
    return GrownRows(data, shape, labels, weights=weights, n_threads=n_threads)


def counting(rule, data, shape=STUMP, labels=None, n_rounds=100, codes=None, **settings):
    """The game that the engine plays; ``codes`` is what the tally is told of the rows."""
    chips = rule.begin(training_set(data, shape, labels, **settings).learner, n_rounds)
    chips.engine = chips._engine
    if codes is not None:
        chips.engine.positions.counters[0].codes_per_row = codes
    return chips


def summing(rule, data, shape=STUMP, labels=None, **settings):
    """The slow way: one number of mistakes for each row in NumPy, and every tree on its own."""
    return SlowGame(rule, training_set(data, shape, labels, **settings))


def weights_by_mistakes(engine):
    """The weights of the next round by number of mistakes, from the first on."""
    first, masses = engine.masses()
    levels = np.arange(first, first + masses.shape[1]) - engine.positions.shift[:, None]
    tables = np.take_along_axis(engine._table, np.maximum(levels, 0), axis=1)
    return np.where(masses[0] > 0, tables[0], tables[1])


def shown(hypothesis):
    return tuple(part.tolist() for part in hypothesis)


def play(chips, n_rounds):
    return [(shown(each.tree), *each[1:]) for each in chips.play(n_rounds)]


@pytest.fixture(params=[True, False], ids=["tally", "rows"])
def tallied(request, monkeypatch):
    """Whether the engine counts rows in bins, however few there are."""
    monkeypatch.setattr(mistake_engine, "_is_tally_cheap", lambda data, shape: request.param)
    return request.param


@pytest.fixture
def tally(monkeypatch):
    monkeypatch.setattr(mistake_engine, "_is_tally_cheap", lambda data, shape: True)


@pytest.mark.parametrize("shape", ["stump", "depth", "leaves"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_rounds_of_the_engine_are_those_of_single_rows(kind, rule, shape, tallied):
    X, y = make_data(0, kind)
    data, _ = binned(X, y)
    chips = counting(RULES[rule], data, SHAPES[shape], codes=FOREVER)
    slow = summing(RULES[rule], data, SHAPES[shape])
    assert chips.engine.positions.counters[0].tallied == tallied
    assert chips.engine.is_listed == (shape != "stump" or not tallied)
    played = play(chips, 20) + play(chips, 60)
    assert played == play(slow, 80)
    assert len(played) == 80
    assert chips.engine.positions.counters[0].tallied == tallied
    np.testing.assert_array_equal(chips.engine.mistakes(), slow.mistakes)
    for mine, other in zip(chips.margins(), slow.margins(), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("looks", [True, False])
def test_a_rule_in_python_plays_as_single_rows_do(looks, tallied):
    X, y = make_data(1, "missing")
    data, _ = binned(X, y)
    rule = Plain(looks_at_masses=looks)
    for shape in (STUMP, DEPTH):
        chips = counting(rule, data, shape, codes=FOREVER)
        assert play(chips, 40) == play(summing(rule, data, shape), 40)


def draw(seed):
    """A set, a shape and what a fit may have beside them."""
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(20, 120)), int(rng.integers(1, 6))
    X = rng.integers(0, rng.integers(2, 12), (n, n_features)).astype(float)
    X[rng.random(X.shape) < rng.choice([0.0, 0.3])] = np.nan
    X[rng.random(X.shape) < rng.choice([0.0, 0.6])] = 0.0
    y = X[:, 0] + 3 * rng.random(n) > np.nanmean(X[:, 0]) + 1.5
    y[:2] = [False, True]
    share = rng.random()
    shape = TreeShape(
        max_depth=rng.choice([1, 2, 3]).item() if rng.random() < 0.8 else None,
        max_leaves=int(rng.integers(2, 7)),
        min_samples_leaf=int(rng.integers(2, 5)) if share < 0.2 else 1,
        min_weight_fraction_leaf=0.04 if share > 0.8 else 0.0,
        criterion="gini" if rng.random() < 0.5 else "kearns-mansour",
    )
    weights = rng.integers(1, 5, n) if rng.random() < 0.5 else rng.exponential(size=n)
    monotonic = rng.integers(-1, 2, n_features) if rng.random() < 0.4 else None
    form = sp.csr_matrix if rng.random() < 0.4 else np.asarray
    return form(X), y, SampleWeights.of(weights.astype(float)), shape, monotonic


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("classes", ["two", "several"])
def test_drawn_rounds_are_those_of_single_rows(classes, n_threads, tallied):
    n_rounds = []
    for seed in range(60):
        X, y, weights, shape, monotonic = draw(seed)
        labels = None
        if classes == "several":
            monotonic = None
            labels = np.random.default_rng(seed).integers(0, 3 + seed % 4, y.size) * y
            labels[:2] = 0, 2 + seed % 4
        data, labels = binned(
            X,
            y,
            weights.of_each,
            labels=labels,
            integer_weights=weights.integer_weights,
            monotonic=monotonic,
        )
        given = RULE, data, shape, labels
        chips = counting(*given, codes=FOREVER, n_threads=n_threads)
        slow = summing(*given)
        played = play(chips, 25)
        assert played == play(slow, 25), seed
        assert chips.engine.mistakes().tolist() == slow.mistakes.tolist()
        n_rounds.append(len(played))
    assert n_rounds.count(25) > 40


@pytest.mark.parametrize("name", ["NH-Boost.DT", "lagging", "2-norm", "EXP"])
def test_numbers_of_mistakes_weigh_as_the_potential_says(name):
    mistakes, edge_sum = np.arange(3, 22), 2.7
    for t in (1, 2, 40):
        found = RULES[name].weights(mistakes, t, edge_sum, ones(mistakes.size))
        positions = (t - 1) / 2 - edge_sum - mistakes
        np.testing.assert_array_equal(found, RULES[name].potential.weights(positions, t))


@pytest.mark.parametrize("n_threads", [2, 3, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind, n_threads, tallied):
    X, y = make_data(1, kind)
    data, _ = binned(X, y)
    for shape in (STUMP, DEPTH):
        one = play(counting(RULE, data, shape, codes=FOREVER), 80)
        assert play(counting(RULE, data, shape, codes=FOREVER, n_threads=n_threads), 80) == one
    one, more = (training_set(data, n_threads=n) for n in (1, n_threads))
    assert play(VoteGame(more.learner), 30) == play(VoteGame(one.learner), 30)


@pytest.mark.parametrize("shape", ["stump", "depth", "samples"])
def test_threads_with_many_blocks_of_rows_change_nothing(shape, tallied):
    X, y = make_data(1, "few values", n=8000)
    data, _ = binned(X, y)
    one, two, three = (
        play(counting(RULE, data, SHAPES[shape], codes=FOREVER, n_threads=n), 30) for n in (1, 2, 3)
    )
    assert one == two == three


HELD_OUT = ["stump", "depth", "samples", "mass"]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", ["many values", "sparse", "missing"])
@pytest.mark.parametrize("weights", ["ones", "reals"])
@pytest.mark.parametrize("several", [False, True], ids=["two", "several"])
@pytest.mark.parametrize("shape", HELD_OUT)
def test_rows_of_weight_zero_are_held_out(shape, several, weights, kind, n_threads, tallied):
    """They change no tree, and their own mistakes are counted."""
    X, y = make_data(2, kind, n=400)
    rng = np.random.default_rng(2)
    X, out = np.round(X, 1), rng.random(400) < 0.3
    labels = np.minimum(np.digitize(X[:, 0], [-0.5, 0.5]), 2) if several else None
    labels = np.where(np.isnan(X[:, 0]), 0, labels) if several else None
    prior = SampleWeights.of(np.ones(400) if weights == "ones" else rng.exponential(size=400))
    exact = prior.integer_weights
    data, sorted_labels = binned(X, y, prior.of_each, 255, labels=labels, integer_weights=exact)
    kept = bin_in(data, X[~out], y[~out], prior.of_each[~out], labels, out, exact)
    held = np.where(out[data.order], 0, data.sample_weights)
    settings = {"codes": FOREVER, "n_threads": n_threads}
    chips = counting(RULE, data, SHAPES[shape], sorted_labels, weights=held, **settings)
    fewer = counting(RULE, *kept[:1], SHAPES[shape], kept[1], **settings)
    played = chips.play(40)
    assert [(shown(r.tree), *r[1:]) for r in played] == play(fewer, 40)
    # the mistakes of all rows, from the votes of each tree
    rows = training_set(data, SHAPES[shape], sorted_labels)
    wrong = sum(rows.votes(r.tree) != rows.positive for r in played)
    np.testing.assert_array_equal(chips.engine.mistakes(), wrong)


def bin_in(data, X, y, weights, labels, out, exact):
    """Fewer rows in the bins of all: the cuts are the same."""
    from driftgames.boosting.data.binned_data import assemble

    mine = y.astype(np.int64) if labels is None else labels[~out]
    n_classes = 2 if labels is None else int(labels.max()) + 1
    (pair,) = assemble([(X, mine, weights)], data.cuts, n_classes, integer_weights=exact)
    part, _ = pair
    return part, None if labels is None else mine[part.order]


@pytest.mark.parametrize("weights", ["ones", "reals"])
@pytest.mark.parametrize("several", [False, True], ids=["two", "several"])
def test_rows_of_weight_zero_are_held_out_of_adaboost(several, weights):
    X, y = make_data(3, "many values", n=300)
    rng = np.random.default_rng(3)
    X, out = np.round(X, 1), rng.random(300) < 0.3
    labels = np.digitize(X[:, 0] + rng.normal(size=300), [-0.5, 0.5]) if several else None
    prior = SampleWeights.of(np.ones(300) if weights == "ones" else rng.exponential(size=300))
    exact = prior.integer_weights
    data, sorted_labels = binned(X, y, prior.of_each, 255, labels=labels, integer_weights=exact)
    kept, fewer_labels = bin_in(data, X[~out], y[~out], prior.of_each[~out], labels, out, exact)
    held = np.where(out[data.order], 0, data.sample_weights)
    chips = VoteGame(training_set(data, DEPTH, sorted_labels, weights=held).learner)
    fewer = VoteGame(training_set(kept, DEPTH, fewer_labels).learner)
    assert play(chips, 20) == play(fewer, 20)
    for mine, other in zip(chips.margins(), fewer.margins(), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_tally_outgrows_its_levels(tally, monkeypatch):
    X, y = make_data(5, "few values")
    data, _ = binned(X, y)
    for shape in (STUMP, DEPTH):
        wanted = play(counting(RULE, data, shape, codes=FOREVER), 90)
        monkeypatch.setattr(mistake_engine, "_LEVELS", 8)
        chips = counting(RULE, data, shape, codes=FOREVER, n_threads=2)
        assert chips.engine.positions.tally.shape[2] == 8
        assert play(chips, 90) == wanted
        assert chips.engine.positions.tally.shape[2] > 8
        monkeypatch.undo()
        monkeypatch.setattr(mistake_engine, "_is_tally_cheap", lambda data, shape: True)


@pytest.mark.parametrize("shape", ["stump", "depth"])
def test_the_tally_holds_the_counts_of_its_levels(shape, tally):
    """Row by row: what stands at a level or above in each bin."""
    for kind in ("few values", "sparse"):
        X, y = make_data(8, kind)
        weights = np.random.default_rng(8).integers(1, 5, y.size)
        data, _ = binned(X, y, weights)
        chips = counting(RULE, data, SHAPES[shape], codes=FOREVER, n_threads=2)
        for _ in range(8):
            chips.play(5)
            positions, levels = chips.engine.positions, chips.engine.state.levels.astype(np.int64)
            counts = positions.tally.sum(axis=0, dtype=np.int64)
            for c in (0, 1):
                mine = np.arange(y.size) >= data.split
                mine = mine == (c == 1)
                low, high, base = positions.low[c], positions.high[c], positions.base[c]
                assert (low, high) == (levels[mine].min(), levels[mine].max())
                for level in range(low, high + 1):
                    above = mine & (levels >= level)
                    assert counts[c, level - base, -1] == data.sample_weights[above].sum()


def test_records_and_nodes_outgrow_their_arrays(monkeypatch, tallied):
    X, y = make_data(6, "few values")
    labels = np.random.default_rng(6).integers(0, 3, y.size)
    for mine in (None, labels):
        data, own = binned(X, y, labels=mine)
        shape = TreeShape(None, 40)
        wanted = play(counting(RULE, data, shape, own, codes=FOREVER), 30)
        assert max(len(each[0][0]) for each in wanted) > 60
        with monkeypatch.context() as patch:
            patch.setattr(mistake_engine, "_LEAVES", 2)
            patch.setattr(mistake_engine, "_CHUNK_NODES", 4)
            for n_threads in (1, 2):
                chips = counting(RULE, data, shape, own, codes=FOREVER, n_threads=n_threads)
                assert play(chips, 30) == wanted


def test_a_tally_that_costs_more_is_given_up_without_a_trace(tally):
    X, y = make_data(4, "few values")
    data, _ = binned(X, y)
    for shape in (STUMP, DEPTH):
        wanted = play(counting(RULE, data, shape, codes=FOREVER), 60)
        for n_threads in (1, 2):
            chips = counting(RULE, data, shape, codes=BRIEFLY, n_threads=n_threads)
            played = play(chips, 7)
            assert chips.engine.positions.counters[0].tallied
            played += play(chips, 1)
            assert not chips.engine.positions.counters[0].tallied
            assert chips.engine.is_listed
            assert played + play(chips, 52) == wanted


def test_a_tally_is_given_up_by_what_it_costs(tally):
    """2.3 codes of a row that moves, and 0.3 of a count, beside a code of a row of weight."""
    X, y = make_data(4, "many values", n=2000)
    data, _ = binned(X, y)
    chips = counting(RULE, data, DEPTH)
    mine, positions = 6.0, chips.engine.positions
    assert positions.counters[0].codes_per_row == mine
    costly = 0
    while positions.counters[0].tallied:
        before = chips.engine.mistakes()
        tables, low, high = positions.tables.copy(), positions.low.copy(), positions.high.copy()
        levels, shift = chips.engine.state.levels.copy(), positions.shift.copy()
        assert play(chips, 1)
        erred = chips.engine.mistakes() - before
        n_moved = n_heavy = 0
        for c, part in enumerate((slice(0, data.split), slice(data.split, None))):
            n_erred = int(erred[part].sum())
            n_moved += min(n_erred, erred[part].size - n_erred)
            n_heavy += np.count_nonzero(tables[c, levels[part]])
            assert positions.rise[c] == (2 * n_erred <= erred[part].size)
            assert positions.shift[c] == shift[c] + (not positions.rise[c])
        n_counts = int((high - low + 1).sum()) * positions.tally.shape[3]
        is_costly = 2.3 * n_moved * mine + 0.3 * n_counts > n_heavy * mine
        costly = max(costly + (1 if is_costly else -1), 0)
        assert bool(positions.counters[0].tallied) == (costly < 8)
        assert chips.n_rounds < 100


def test_large_sets_of_few_bins_have_a_tally(monkeypatch):
    monkeypatch.setattr(mistake_engine, "_FEW_CODES", 5000)
    X, y = make_data(5, "few values", n=1000)
    for rows, shape, has_tally in (
        (1000, DEPTH, True),
        (800, DEPTH, False),
        (200, STUMP, True),
        (50, STUMP, False),
        (1000, TreeShape(max_depth=3, min_samples_leaf=2), False),
        (1000, TreeShape(max_depth=3, min_weight_fraction_leaf=0.1), False),
    ):
        data, _ = binned(X[:rows], y[:rows])
        chips = counting(RULE, data, shape)
        assert chips.engine.positions.counters[0].tallied == has_tally, (rows, shape)
    rounded = replace(binned(X, y)[0], integer_weights=False)
    assert not counting(RULE, rounded, DEPTH).engine.positions.counters[0].tallied
    heavy = replace(data, sample_weights=np.full(rows, 2**31 // rows + 1))
    assert not counting(RULE, heavy, STUMP).engine.positions.counters[0].tallied


def test_the_root_is_not_summed_where_there_are_counts(tallied):
    """The question of the root does not depend on what the rows list."""
    X, y = make_data(6, "few values", n=2000)
    shape = TreeShape(None, 3)
    wanted = play(counting(RULE, binned(X, y)[0], shape, codes=FOREVER), 6)
    data, _ = binned(X, y)
    assert isinstance(data.bins, DenseBins)
    chips = counting(RULE, data, shape, codes=FOREVER)
    assert play(chips, 5) == wanted[:5]
    data.bins.codes[:] = 0
    roots = [each[0][0][0] for each in (*play(chips, 1), wanted[5])]
    assert (roots[0] == roots[1]) == tallied
    assert chips.engine.positions.counters[0].listed


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
                    best, found = value, (j, cut)
    return best, found


@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.integers(1, 60))
def test_the_best_stump_is_the_best_of_all(seed, kind, n):
    X, y = make_data(seed, kind, n=n, n_features=3)
    weights = np.random.default_rng(seed).integers(0, 5, size=n)
    data, _ = binned(X, y, max_bins=255)
    rows = training_set(data)
    value, norm, tree = rows.best(weights[data.order])
    assert norm == max(weights.sum(), 1)
    best, found = brute_force(X, y, weights)
    assert value == best
    if found is not None:
        j, cut = tree.questions[0, :2].tolist()
        assert (j, [*data.cuts.of(j), np.inf][cut]) == found
        votes = np.empty(n, dtype=np.int64)
        votes[data.order] = 2 * rows.votes(tree).astype(np.int64) - 1
        assert int((weights * np.where(y, votes, -votes)).sum()) == best


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_input_is_the_same_data_as_dense(kind):
    X, y = make_data(2, kind)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.7, 0.0, X)
    mass = np.arange(1, y.size + 1)
    dense, sparse = (binned(form, y, mass, 30)[0] for form in (X, sp.csr_matrix(X)))
    assert isinstance(dense.bins, SparseBins)
    np.testing.assert_array_equal(dense.cuts.thresholds, sparse.cuts.thresholds)
    np.testing.assert_array_equal(dense.counts, sparse.counts)
    weights = np.random.default_rng(0).integers(0, 9, size=y.size)
    sets = [training_set(data) for data in (dense, sparse)]
    answers = [rows.best(weights[rows.data.order]) for rows in sets]
    assert answers[0][:2] == answers[1][:2]
    assert shown(answers[0][2]) == shown(answers[1][2])
    votes = [np.empty(y.size, dtype=int) for _ in range(2)]
    for vote, rows in zip(votes, sets, strict=True):
        vote[rows.data.order] = rows.votes(answers[0][2])
    np.testing.assert_array_equal(*votes)


def test_dense_and_sparse_layouts_play_the_same_rounds(tallied, monkeypatch):
    for kind, shape in itertools.product(("few values", "missing"), SHAPES.values()):
        X, y = make_data(9, kind)
        played = []
        for below in (-1, 2):
            monkeypatch.setattr(binned_data, "_SPARSE_BELOW", below)
            data, _ = binned(X, y)
            assert isinstance(data.bins, DenseBins if below < 0 else SparseBins)
            played.append(play(counting(RULE, data, shape, codes=FOREVER), 40))
        assert played[0] == played[1]


def test_few_columns_of_sparse_rows_serve_all_features(tallied):
    """A column that is needed is written over the oldest."""
    X, y = make_data(9, "sparse")
    data, _ = binned(X, y)
    wanted = play(counting(RULE, data, DEPTH, codes=FOREVER), 40)
    chips = counting(RULE, data, DEPTH, codes=FOREVER)
    engine = chips.engine
    assert len(engine.state.columns) == 6
    for n_columns in (1, 2):
        chips = counting(RULE, data, DEPTH, codes=FOREVER)
        state, features_held = chips.engine.state, np.full(n_columns, -1)
        columns = state.columns[:n_columns]
        fewer = replace(state, columns=columns, features_held=features_held)
        chips.engine.state = fewer
        assert play(chips, 40) == wanted


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


@pytest.mark.parametrize("shape", ["stump", "depth"])
def test_integer_weights_are_copies(shape, tallied):
    X, y = make_data(5, "missing", n=80)
    copies = np.random.default_rng(5).integers(1, 4, size=y.size)
    weighted, _ = binned(X, y, SampleWeights.of(copies.astype(float)).of_each)
    repeated, _ = binned(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    played = [
        play(counting(RULE, data, SHAPES[shape], codes=FOREVER), 60)
        for data in (weighted, repeated)
    ]
    assert played[0] == played[1]


def test_real_weights_near_integers_play_nearly_the_same():
    X, y = make_data(6, "many values")
    X = np.round(4 * X)  # fewer values than bins: the cuts are the same
    rng = np.random.default_rng(6)
    copies = rng.integers(1, 4, size=y.size)
    jittered = SampleWeights.of(copies * (1 + 1e-13 * rng.random(y.size)))
    assert not jittered.integer_weights
    data, _ = binned(X, y, copies, 255)
    real, _ = binned(X, y, jittered.of_each, 255, integer_weights=False)
    exact, near = (counting(RULE, each).play(30) for each in (data, real))
    for mine, other in zip(near, exact, strict=True):
        assert shown(mine.tree)[:2] == shown(other.tree)[:2]
    np.testing.assert_allclose([r.edge for r in near], [r.edge for r in exact], atol=1e-9)


def test_weights_are_used_to_the_last_bit_of_their_sum():
    """The sum of all weights fills 61 bits, however unequal they are."""
    X, y = make_data(7, "many values")
    data, _ = binned(X, y, max_bins=40)
    chips = counting(RULE, data)
    for _ in range(100):
        weights = weights_by_mistakes(chips.engine)
        norm = sum(int(w) * int(m) for w, m in zip(weights, chips._totals, strict=True))
        assert 2 ** (SUM_BITS - 1) <= norm < 2**62
        assert play(chips, 1)


def stump(j, cut, left, lost):
    """A stump on bins."""
    questions = np.array([(j, cut, left == lost, 1), (-1, 0, 0, 0), (-1, 0, 0, 0)], np.int32)
    return BinnedTree(questions, np.array([[0], [left], [-left]], np.int8), np.zeros(3))


def as_stump(tree):
    """(feature, cut, left vote, missing vote) of a stump on bins."""
    (j, cut, missing_left, _), left = tree.questions[0].tolist(), int(tree.votes[1, 0])
    return j, cut, left, left if missing_left else -left


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("least", [1.5, 0.0, -1.5])
def test_a_value_on_a_threshold_goes_left(form, least):
    """Between neighbouring floats the threshold is the lower one: it must not join the upper."""
    step = abs(np.spacing(least))
    x = least + step * np.array([0, 1, 2, 3, 0, 1, 2, 3, 3, 1])
    X = np.column_stack([x, 1.0 + np.arange(10) % 5])  # the second column keeps the rows dense
    y = x > x.min() + step
    data, _ = binned(form(X), y, max_bins=255)
    assert isinstance(data.bins, DenseBins if form is np.asarray else SparseBins)
    rows = training_set(data)
    cuts = data.cuts.of(0)
    assert cuts.tolist() == np.unique(x)[:-1].tolist()
    assert data.counts[:, :4].sum(axis=0).tolist() == [2, 3, 2, 3]
    for cut, threshold in enumerate(cuts):
        votes = np.empty(y.size, dtype=int)
        votes[data.order] = rows.votes(stump(0, cut, 1, 1))
        np.testing.assert_array_equal(votes, x <= threshold)
        stumps = Stumps([0], [threshold], [1], [1])
        np.testing.assert_array_equal(2 * votes - 1, stumps.votes(form(X))[:, 0])
    value, norm, tree = rows.best(ones(y.size))
    assert (value, norm) == (10, 10)  # the labels are the question at the second threshold
    assert as_stump(tree)[:3] == (0, 1, -1)


def best_of(X, y, mass=None):
    """The stump that unit weights choose, as (feature, threshold, left vote, missing vote)."""
    mass = ones(len(y)) if mass is None else np.array(mass)
    X = np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    found = []
    for form in (np.asarray, sp.csr_matrix):
        data, _ = binned(form(X), np.array(y) == 1, mass, 255)
        value, _, tree = training_set(data).best(data.sample_weights)
        j, cut, left, lost = as_stump(tree)
        found.append((value, j, float([*data.cuts.of(j), np.inf][cut]), left, lost))
    assert found[0] == found[1]
    return found[0]


LOST = float("nan")


def test_where_known_values_are_tied_the_missing_ones_decide_the_votes():
    known, labels = [1, 1, 2, 2], [0, 1, 0, 1]
    for lost in (0, 1):
        vote = 1 if lost else -1
        assert best_of([*known, LOST, LOST], [*labels, lost, lost]) == (2, 0, 1.5, vote, vote)


@pytest.mark.parametrize(("left_rows", "right_rows"), [(3, 2), (2, 3), (2, 2)])
@pytest.mark.parametrize("left_label", [0, 1])
def test_missing_values_that_make_no_difference_go_left(left_rows, right_rows, left_label):
    values = [1] * left_rows + [2] * right_rows + [LOST, LOST]
    labels = [left_label] * left_rows + [1 - left_label] * right_rows + [0, 1]
    left = 1 if left_label else -1
    assert best_of(values, labels) == (left_rows + right_rows, 0, 1.5, left, left)


@pytest.mark.parametrize(
    ("left_rows", "right_rows", "side"), [(3, 2, "left"), (2, 3, "right"), (2, 2, "left")]
)
@pytest.mark.parametrize("left_label", [0, 1])
def test_missing_values_without_weight_go_to_the_side_of_more_weight(
    left_rows, right_rows, side, left_label
):
    values = [1] * left_rows + [2] * right_rows + [LOST, LOST]
    labels = [left_label] * left_rows + [1 - left_label] * right_rows + [0, 1]
    left = 1 if left_label else -1
    lost = left if side == "left" else -left
    mass = [1] * (left_rows + right_rows) + [0, 0]
    assert best_of(values, labels, mass) == (left_rows + right_rows, 0, 1.5, left, lost)
    heavy = [5] * left_rows + [1] * right_rows + [0, 0]  # fewer rows may have more weight
    assert best_of(values, labels, heavy) == (sum(heavy), 0, 1.5, left, left)


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


def test_listed_rows_move_with_the_commonest_bin_if_they_have_its_vote(tally):
    """The mistakes of class 1 are zeros, which are not listed, and values below, which are."""
    x = np.repeat([-1.0, 0.0, -1.0, 0.0, 1.0], [10, 60, 4, 6, 20])
    data, _ = binned(x[:, None], np.arange(100) >= 70)
    assert isinstance(data.bins, SparseBins)
    played = play(counting(RULE, data, codes=FOREVER), 9)
    assert played == play(summing(RULE, data), 9)
    assert played[-1][-1] == 0.1
