"""Thresholds of an outcome: the engine against whole rounds in plain NumPy, and its sides alone."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from driftgames._kernels import blocks
from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.data.sample_weights import PAIR_BITS, SampleWeights
from driftgames.boosting.engine import mistake_engine, thresholds
from driftgames.boosting.engine.binned_trees import BinnedTree, TreeLearner
from driftgames.boosting.engine.rules import NormalHedgeRule, PotentialRule
from driftgames.boosting.engine.shape import GINI, KEARNS_MANSOUR, STUMP, TreeShape
from driftgames.boosting.engine.split_search import FeatureCuts
from driftgames.potentials import NormalHedgeDT, TwoNorm
from tests.boosting.engine.slow_game import SlowGame

RULE = PotentialRule(NormalHedgeDT())
RULES = {"NH-Boost.DT": RULE, "2-norm": PotentialRule(TwoNorm()), "NH-Boost": NormalHedgeRule()}
SHAPES = {
    "stump": STUMP,
    "two leaves": TreeShape(max_depth=None, max_leaves=2),
    "depth": TreeShape(max_depth=3),
    "leaves": TreeShape(max_depth=None, max_leaves=5),
    "kearns-mansour": TreeShape(max_depth=None, max_leaves=5, criterion="kearns-mansour"),
    "samples": TreeShape(max_depth=None, max_leaves=6, min_samples_leaf=5),
    "mass": TreeShape(max_depth=3, min_weight_fraction_leaf=0.07),
}
NUMBERS = [1, 2, 3, 5, 12, 19]
"""Of thresholds: less than a block, several blocks, and blocks that are not full."""


class Problem:
    """Rows and their positions among thresholds, in the order in which they are drawn."""

    def __init__(self, X, positions, gaps, weights, *, integer_weights=True):
        self.X, self.positions, self.gaps, self.weights = X, positions, gaps, weights
        self.integer_weights = integer_weights

    @classmethod
    def draw(cls, seed, n_thresholds, *, weights="ones", missing=0.0, zeros=0.0, n=50):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, [3, 12, 20], (n, 3)).astype(float)
        y = X[:, 0] * 4 + X[:, 1] + 0.2 * X[:, 2] + 3 * rng.normal(size=n)
        X[rng.random(X.shape) < missing] = np.nan
        X[rng.random(X.shape) < zeros] = 0.0
        levels = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
        positions = np.searchsorted(np.quantile(y, levels), y)
        gaps = rng.integers(1, 2**16 + 1, n_thresholds)
        drawn = {
            "ones": lambda: np.ones(n, dtype=np.int64),
            "integers": lambda: rng.integers(1, 4, n),
            "held out": lambda: rng.integers(0, 3, n),
            "floats": lambda: SampleWeights.of(rng.exponential(size=n), PAIR_BITS).of_each,
        }[weights]()
        return cls(X, positions, gaps, drawn, integer_weights=weights != "floats")

    def take(self, rows):
        taken = (part[rows] for part in (self.X, self.positions))
        settings = {"integer_weights": self.integer_weights}
        return Problem(*taken, self.gaps, self.weights[rows], **settings)

    def learner(self, shape, n_threads=1, form=np.asarray):
        """The weak learner; all rows are in the bins, those held out too."""
        X, ones = form(self.X), np.ones(len(self.X), dtype=np.int64)
        settings = {"integer_weights": self.integer_weights}
        data = bin_examples(X, np.zeros(len(self.X), dtype=bool), ones, 255, **settings)
        parts = self.weights[data.order], self.positions[data.order]
        return TreeLearner(data, shape, *parts, self.gaps.size, n_threads, self.gaps)

    def play(self, shape=SHAPES["leaves"], n_rounds=15, rule=RULE, **settings):
        """Rounds of the engine, and the mistakes of all pairs."""
        learner = self.learner(shape, **settings)
        game = rule.begin(learner, n_rounds)
        rounds = [shown(each) for each in game.play(n_rounds)]
        mistakes = np.empty((len(self.X), self.gaps.size), dtype=np.int64)
        mistakes[learner.data.order] = game._engine.mistakes().reshape(mistakes.shape)
        return rounds, mistakes

    def play_slowly(self, shape=SHAPES["leaves"], n_rounds=15, rule=RULE):
        rows = SlowRows(self, shape)
        game = SlowThresholdGame(rule, rows)
        rounds = [shown(each) for each in game.play(n_rounds)]
        return rounds, game.mistakes.reshape(len(self.X), -1)


def shown(each):
    return tuple(part.tolist() for part in each.tree), *each[1:]


class SlowThresholdGame(SlowGame):
    """Plays rounds on `SlowRows`; a pair weighs 31 bits less than it would with words of its own.

    What is cut off the weight of an example is cut off each of its copies.
    """

    def _weigh_rows(self, scaled):
        rows, masses = self._rows, np.repeat(self._rows.problem.weights, self._rows.gaps.size)
        gaps = np.tile(rows.gaps, rows.data.n_rows)
        if rows.data.integer_weights:
            return ((scaled * gaps) >> 30) * masses
        return (scaled * (gaps * masses).astype(float)).astype(np.int64) >> 30

    def _error(self):
        return self._wrong / self._total


class SlowRows:
    """Grows trees on the weights of pairs in plain NumPy: every question of a node is tried."""

    def __init__(self, problem, shape):
        self.problem, self.shape, self.gaps = problem, shape, problem.gaps
        self.learner = replace(problem.learner(shape), sample_weights=problem.weights)
        self.data = self.learner.data
        above = problem.positions[:, None] > np.arange(problem.gaps.size)
        self.positive = above.reshape(-1)
        self.sample_weights = (problem.weights[:, None] * problem.gaps).reshape(-1)
        self.sizes, self.least = np.ones(len(problem.X), dtype=np.int64), shape.min_samples_leaf
        if shape.min_weight_fraction_leaf:
            mass = int(problem.weights.sum())
            self.sizes, self.least = problem.weights, shape.least_size(mass)
        self.criterion = "edge" if shape.is_stump else shape.criterion

    def best(self, weights):
        """Return the sum of w y h, the sum of w, and the tree h."""
        shape, self.words = self.shape, weights.reshape(len(self.problem.X), -1)
        leaves = {0: (np.flatnonzero(self.words.any(axis=1)), 0, 0)}  # rows, depth, position above
        nodes = [None]
        depth_limit = 1 if shape.is_stump else shape.max_depth
        while shape.is_stump or shape.max_leaves is None or len(leaves) < shape.max_leaves:
            best = (0.0, None, None)
            for node, (rows, depth, _) in leaves.items():  # in the order in which they were made
                if depth_limit is None or depth < depth_limit:
                    question = self.best_question(rows)
                    gain = self.gain(rows, question)
                    if gain > best[0]:
                        best = gain, node, question
            gain, node, question = best
            if node is None:
                break
            rows, depth, above = leaves.pop(node)
            _, *asked, left = question
            share = gain / float(self.words.sum())
            nodes[node] = [*asked, len(nodes)], [0] * self.gaps.size, share
            position = best_position(self.edges(rows), above)
            for side in (rows[left], rows[~left]):
                leaves[len(nodes)] = side, depth + 1, position
                nodes.append(None)
        value = 0
        for node, (rows, _, above) in leaves.items():
            position = best_position(self.edges(rows), above)
            votes = np.where(np.arange(self.gaps.size) < position, 1, -1)
            value += int((votes * self.edges(rows)).sum())
            nodes[node] = [-1, 0, 0, 0], votes.tolist(), 0.0
        tree = BinnedTree(*(np.array(part) for part in zip(*nodes, strict=True)))
        return value, int(self.words.sum()), tree

    def sums(self, rows):
        """The weights of the pairs of label -1 and +1 with each threshold."""
        above = self.positive.reshape(self.words.shape)[rows]
        return np.stack([np.where(above == up, self.words[rows], 0).sum(0) for up in (0, 1)])

    def edges(self, rows):
        lower, upper = self.sums(rows)
        return upper - lower

    def score(self, rows):
        if self.criterion == "edge":
            edges = self.edges(rows)
            return largest_edge(edges)
        return gini(self.sums(rows), self.criterion == "kearns-mansour")

    def best_question(self, rows):
        """Score, feature, cut, whether missing values go left, and which rows go left."""
        best = (-1,)
        for j, column in enumerate(self.problem.X.T):
            values = np.unique(column[~np.isnan(column)])
            x, gone = column[rows], np.isnan(column[rows])
            for cut, value in enumerate(values):  # the last one asks for missing values
                known = x <= value
                if not known.any() and self.criterion != "edge":  # a stump may send only NaN left
                    continue
                for missing_left in (True, False) if gone.any() else (None,):
                    left = known | gone if missing_left else known
                    sizes = self.sizes[rows]
                    if left.all() or not left.any():
                        continue
                    if min(sizes[left].sum(), sizes[~left].sum()) < self.least:
                        continue
                    found = self.score(rows[left]) + self.score(rows[~left])
                    if found > best[0]:
                        goes = missing_left
                        if goes is None:  # no missing value has weight: to the heavier side
                            weights = self.words[rows].sum(axis=1)
                            goes = weights[left].sum() >= weights[~left].sum()
                        best = found, j, cut, int(goes), left
        return best

    def gain(self, rows, question):
        """The gain of a question, or 0 if its sides have the same shares at all thresholds."""
        if question[0] < 0:
            return 0.0
        (lower, upper), (all_lower, all_upper) = self.sums(rows[question[4]]), self.sums(rows)
        if self.criterion != "edge" and (lower * all_upper == upper * all_lower).all():
            return 0.0
        return float(question[0] - self.score(rows))

    def votes(self, tree):
        """Return a tree's vote on every pair: 1 for +1 and 0 for -1."""
        X = self.problem.X
        at = np.zeros(len(X), dtype=np.int64)
        values = [np.unique(column[~np.isnan(column)]) for column in X.T]
        for i, row in enumerate(X):
            while (question := tree.questions[at[i]])[3]:
                j, cut, missing_left, left = question
                goes = missing_left if np.isnan(row[j]) else row[j] <= values[j][cut]
                at[i] = left + (not goes)
        return (tree.votes[at] > 0).astype(np.uint8).reshape(-1)


def largest_edge(edges):
    """The edge of the best position: +1 for the thresholds below it, -1 for the others."""
    return int(max(edges[:j].sum() - edges[j:].sum() for j in range(edges.size + 1)))


def best_position(edges, above):
    """The lowest position of the largest edge, but that of the node above if it has this edge."""
    found = [edges[:j].sum() - edges[j:].sum() for j in range(edges.size + 1)]
    return above if found[above] == max(found) else int(np.argmax(found))


def gini(sums, kearns_mansour):
    """The score of a side: four sums, which a tree adds up."""
    lower, upper = sums.astype(float)
    below = lower + upper
    if kearns_mansour:
        below = below + 2.0 * np.sqrt(lower * upper)
    shares = (upper - lower) * (upper - lower) / np.maximum(below, 1.0)
    lanes = [0.0] * 4
    for k, share in enumerate(shares.tolist()):
        lanes[k % 4] += share
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


def assert_same(played, expected):
    for fast, slow in zip(played[0], expected[0], strict=True):
        assert fast == slow
    np.testing.assert_array_equal(played[1], expected[1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_thresholds", NUMBERS)
def test_rounds_of_the_engine_are_those_of_the_slow_reference(n_thresholds, shape):
    problem = Problem.draw(n_thresholds, n_thresholds)
    played = problem.play(SHAPES[shape])
    assert len(played[0]) == 15
    assert_same(played, problem.play_slowly(SHAPES[shape]))


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_plays_on_thresholds(rule):
    problem = Problem.draw(1, 5)
    played = problem.play(rule=RULES[rule])
    assert len(played[0]) == 15
    assert_same(played, problem.play_slowly(rule=RULES[rule]))


def test_drawn_rounds_are_those_of_the_slow_reference():
    """Missing values, weights, rows held out, sparse rows and threads, in all mixtures."""
    n_rounds, asked = [], {"missing left": 0, "missing right": 0, "for missing": 0}
    weights = "ones", "integers", "held out", "floats"
    for seed in range(48):
        rng = np.random.default_rng(seed)
        problem = Problem.draw(
            seed,
            NUMBERS[seed % 6],
            weights=weights[seed % 4],
            missing=rng.choice([0.0, 0.3, 0.6]),
            zeros=rng.choice([0.0, 0.6]),
            n=int(rng.integers(12, 50)),
        )
        shape = SHAPES[str(rng.choice(list(SHAPES)))]
        form = sp.csr_matrix if rng.random() < 0.5 else np.asarray
        played = problem.play(shape, 12, n_threads=int(rng.integers(1, 3)), form=form)
        assert_same(played, problem.play_slowly(shape, 12))
        n_rounds.append(len(played[0]))
        for (questions, *_), *_ in played[0]:
            for j, cut, missing_left, left in questions:
                if left and np.isnan(problem.X[:, j]).any():
                    last = np.unique(problem.X[~np.isnan(problem.X[:, j]), j]).size - 1
                    asked["missing left" if missing_left else "missing right"] += 1
                    asked["for missing"] += cut == last
    assert max(n_rounds) == 12
    assert min(asked.values()) > 30


@pytest.mark.parametrize("shape", SHAPES)
def test_an_exhausted_game_ends(shape):
    """Rows that no question tells apart: the median vote has an edge until it has none."""
    positions = np.array([0, 1, 2, 3] * 5)
    problem = Problem(
        np.zeros((20, 2)), positions, np.array([5, 5, 5]), np.ones(20, dtype=np.int64)
    )
    played = problem.play(SHAPES[shape])
    assert_same(played, problem.play_slowly(SHAPES[shape]))
    assert all(len(tree[0]) == 1 for tree, *_ in played[0])


@pytest.mark.parametrize("shape", ["stump", "leaves", "depth", "mass"])
def test_an_example_of_weight_two_is_two_copies(shape):
    """To the bit: what is cut off a weight is cut off before the sample weight multiplies it."""
    problem = Problem.draw(3, 12, weights="held out", missing=0.2)
    copies = problem.take(np.repeat(np.arange(50), problem.weights))
    copies.weights = np.ones(copies.weights.size, dtype=np.int64)
    # bins keep the values of rows held out, which copies do not have
    kept = problem.take(problem.weights > 0)
    rounds, mistakes = kept.play(SHAPES[shape])
    copied, mistakes_of_copies = copies.play(SHAPES[shape])
    assert copied == rounds
    np.testing.assert_array_equal(mistakes_of_copies, np.repeat(mistakes, kept.weights, axis=0))


def test_large_integer_weights_are_cut_off_once():
    """A unit of a large weight has no bits of its own: edges would be those of a few rows."""
    problem = Problem.draw(10, 12, n=300)
    (ones, _), total = problem.play(n_rounds=40), 2**28
    problem.weights = np.random.default_rng(0).integers(0.9 * total / 300, 1.1 * total / 300, 300)
    played = problem.play(n_rounds=40)
    problem.integer_weights = False
    assert_same(played, problem.play(n_rounds=40))
    edges, expected = (sum(each[1] for each in rounds) for rounds in (played[0], ones))
    assert edges == pytest.approx(expected, rel=0.05)


def test_rows_held_out_change_no_tree_and_count_their_mistakes():
    problem = Problem.draw(4, 5, weights="held out")
    other = Problem.draw(4, 5, weights="held out")
    other.positions = np.where(other.weights == 0, 5 - other.positions, other.positions)
    rounds, mistakes = problem.play()
    others, mistakes_of_other = other.play()
    held_out = problem.weights == 0
    assert others == rounds
    np.testing.assert_array_equal(mistakes_of_other[~held_out], mistakes[~held_out])
    above, others_above = (each.positions[:, None] > np.arange(5) for each in (problem, other))
    flipped = above != others_above
    expected = np.where(flipped, 15 - mistakes, mistakes)
    np.testing.assert_array_equal(mistakes_of_other, expected)
    assert flipped[held_out].any()


@pytest.mark.parametrize("shape", ["stump", "leaves", "samples"])
def test_sparse_rows_threads_and_the_order_of_rows_change_no_bit(shape, monkeypatch):
    monkeypatch.setattr(mistake_engine, "_LEAVES", 2)  # arrays grow on the way
    problem = Problem.draw(5, 12, weights="integers", missing=0.1, zeros=0.6, n=200)
    rounds, mistakes = problem.play(SHAPES[shape])
    for form, n_threads in itertools.product((np.asarray, sp.csr_matrix), (1, 2)):
        assert_same(problem.play(SHAPES[shape], form=form, n_threads=n_threads), (rounds, mistakes))
    order = np.random.default_rng(0).permutation(200)
    assert_same(problem.take(order).play(SHAPES[shape]), (rounds, mistakes[order]))


def test_many_rows_are_shared_by_threads():
    """More rows than a block of a thread."""
    problem = Problem.draw(6, 5, n=5000, weights="floats")
    one, two = (problem.play(n_rounds=10, n_threads=n) for n in (1, 2))
    assert_same(two, one)


def test_votes_for_thresholds_fall():
    problem = Problem.draw(7, 12)
    learner = problem.learner(SHAPES["leaves"])
    game = RULE.begin(learner, 9)
    game.advance(9)
    votes = game.votes()
    above = learner.labels[:, None] > np.arange(12)
    mistakes = game._engine.mistakes().reshape(votes.shape)
    np.testing.assert_array_equal(votes, np.where(above, 9 - 2 * mistakes, 2 * mistakes - 9) / 9)
    assert (np.diff(votes, axis=1) <= 0).all()
    assert (np.diff(votes, axis=1) < 0).any()


def test_a_pair_counts_as_its_gap():
    """With a huge first gap the first tree asks what that threshold does."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 10, (80, 2)).astype(float)
    positions = (X[:, 0] > 4).astype(np.int64) * (1 + 2 * (X[:, 1] > 4))
    questions = []
    for gaps in ([2**16, 1, 1], [1, 2**16, 1]):
        problem = Problem(X, positions, np.array(gaps), np.ones(80, dtype=np.int64))
        ((tree, *_), *_), _ = problem.play(TreeShape(max_depth=None, max_leaves=3), 1)
        questions.append([row[:2] for row in tree[0] if row[3]])
    assert questions[0][0] == [0, 4]
    assert len(questions[1]) == 2  # both columns tell the second threshold


# ---- the sides of a question alone -----------------------------------------------------------


def pack(lower, upper, size=0):
    """Sums of label -1 and +1 as a side: words of two, four in a block, and a block for a size."""
    n_blocks = -(-lower.size // 4)
    side = np.zeros(4 * n_blocks + 4, dtype=np.int64)
    side[: lower.size] = (upper.astype(np.int64) << 32) + lower
    side[4 * n_blocks] = size
    return side.reshape(-1, 4)


@njit
def call_separates(left, totals):
    return thresholds.separates(left, totals)


@njit
def call_may_gain(totals):
    return thresholds.may_gain(totals, 0)


@njit
def call_choose_votes(totals, above, out):
    thresholds.choose_votes(totals, above, out)


@njit
def call_edges(left, totals, votes):
    return (
        thresholds.edge_of_sides(left, totals),
        thresholds.exhaustive_gain(left, totals),
        thresholds.leaf_edge(totals, votes),
        thresholds.node_weight(totals),
    )


@njit
def call_scores(left, totals, criterion):
    kearns_mansour = criterion == KEARNS_MANSOUR
    return (
        thresholds.score(left, criterion),
        thresholds.score(totals, criterion),
        blocks.packed_gini_of_sides(left, totals, kearns_mansour),
    )


@njit
def call_bin_weight(table, b):
    return thresholds.bin_weight(table, b)


SCORE_CUTS = instantiate(thresholds.score_cuts, sides=thresholds)
EDGE_CUTS = instantiate(thresholds.edge_cuts, sides=thresholds)


@njit
def call_score_cuts(cuts, least, criterion, running, out):
    SCORE_CUTS(cuts, least, criterion, running, out)


@njit
def call_edge_cuts(cuts, running, out):
    EDGE_CUTS(cuts, running, out)


@st.composite
def nodes(draw):
    """The sums of a node and of its left side: both of pairs of label -1, then +1."""
    n = draw(st.sampled_from([*NUMBERS, 4, 8]))
    most = draw(st.sampled_from([2, 9, (2**31 - 1) // n]))
    numbers = st.lists(st.integers(0, most), min_size=2 * n, max_size=2 * n)
    totals = np.array(draw(numbers)).reshape(2, n)
    totals[1] = np.minimum(totals[1], most - totals[0])  # all weights sum to less than 2**31
    shares = np.array(draw(st.lists(st.integers(0, 4), min_size=2 * n, max_size=2 * n)))
    return totals * shares.reshape(2, n) // 4, totals


@given(nodes())
def test_edges_of_sides_are_those_of_their_best_positions(drawn):
    left, totals = drawn
    votes = np.where(np.arange(totals.shape[1]) < totals.shape[1] // 2, 1, -1)
    edges, right = totals[1] - totals[0], (totals - left)[1] - (totals - left)[0]
    both = largest_edge(left[1] - left[0]) + largest_edge(right)
    found = call_edges(pack(*left, 7), pack(*totals, 9), votes)
    assert found == (both, both - largest_edge(edges), (votes * edges).sum(), totals.sum())


@given(nodes())
def test_scores_of_packed_sums_are_those_of_numpy(drawn):
    left, totals = drawn
    for criterion in (GINI, KEARNS_MANSOUR):
        found = call_scores(pack(*left, 2**40), pack(*totals, 2**50), criterion)
        own, of_node, of_rest = (
            gini(side, criterion == KEARNS_MANSOUR) for side in (left, totals, totals - left)
        )
        assert found == (own, of_node, own + of_rest)


def test_sums_have_all_of_their_bits():
    totals = np.array([[2**31 - 1, 0, 2**30 + 1], [0, 2**31 - 1, 2**30 - 2]])
    for column in totals.T:
        node = column[:, None]
        left = node // 3
        found = call_scores(pack(*left), pack(*node), KEARNS_MANSOUR)
        expected = [gini(side, kearns_mansour=True) for side in (left, node, node - left)]
        assert found == (expected[0], expected[1], expected[0] + expected[2])
        assert call_edges(pack(*left), pack(*node), np.ones(1, dtype=np.int64))[2:] == (
            column[1] - column[0],
            column.sum(),
        )


@given(nodes())
def test_sides_of_equal_shares_separate_nothing(drawn):
    left, totals = drawn
    same = all(left[0] * totals[1] == left[1] * totals[0])
    assert call_separates(pack(*left, 1), pack(*totals, 3)) == (not same)
    assert call_may_gain(pack(*totals, 3)) == bool((totals.min(axis=0) > 0).any())


def test_shares_are_compared_exactly():
    """Products of 62 bits that differ by one."""
    big = 2**30 - 1
    left, totals = np.array([[big], [big - 1]]), np.array([[big - 1], [big - 2]])
    assert call_separates(pack(*left), pack(*totals))  # big (big - 2) and (big - 1)**2
    assert not call_separates(pack(*(left // 2 * 2)), pack(*(left // 2)))
    alike = np.array([[6, 10], [3, 5]])
    assert not call_separates(pack(*(alike * 5)), pack(*(alike * 7)))
    assert call_separates(pack(*(alike * 5 + np.eye(2, dtype=int))), pack(*(alike * 7)))


@given(nodes(), st.data())
def test_a_leaf_votes_its_best_position_or_that_of_the_node_above(drawn, data):
    _, totals = drawn
    n = totals.shape[1]
    above = data.draw(st.integers(0, n))
    votes_above, out = np.where(np.arange(n) < above, 1, -1), np.full(n, 77)
    call_choose_votes(pack(*totals), votes_above, out)
    position = best_position(totals[1] - totals[0], above)
    np.testing.assert_array_equal(out, np.where(np.arange(n) < position, 1, -1))
    call_choose_votes(pack(*totals), votes_above, votes_above)  # in place
    np.testing.assert_array_equal(votes_above, out)


@pytest.mark.parametrize(
    ("edges", "above", "position"),
    [
        ([0, 0, 0], 2, 2),  # all positions are equal
        ([0, 0, 0], 0, 0),
        ([5, -5, 5], 3, 3),  # 1 and 3 are equal
        ([5, -5, 5], 1, 1),
        ([5, -5, 5], 0, 1),  # the lowest
        ([5, -5, 5], 2, 1),
        ([-5, 5, 0], 2, 2),  # 0, 2 and 3 are equal
        ([-5, 5, 0], 1, 0),
        ([-1, -1, 3], 0, 3),
        ([-1, -1, 2], 1, 0),
        ([1, 1, 1], 0, 3),
        ([-1, -1, -1], 3, 0),
    ],
)
def test_ties_of_positions(edges, above, position):
    edges, out = np.array(edges), np.empty(3, dtype=np.int64)
    call_choose_votes(pack(10 - edges, 10 + edges), np.where(np.arange(3) < above, 1, -1), out)
    assert out.tolist() == [1] * position + [-1] * (3 - position)


def draw_bins(rng, n_thresholds):
    """Sums of bins: a feature of which begins at ``first``, and others on both sides."""
    first, n_cuts, least = (int(rng.integers(*ends)) for ends in ((0, 4), (1, 7), (1, 4)))
    bins = rng.integers(0, 9, (first + n_cuts + 3, 2, n_thresholds))
    sizes = rng.integers(1, 4, len(bins))
    bins[rng.random(len(bins)) < 0.3] = 0
    sizes[~bins.any(axis=(1, 2))] = 0  # rows without weight are not in the sums
    table = np.stack([pack(*each, size) for each, size in zip(bins, sizes, strict=True)], axis=1)
    own = slice(first, first + n_cuts + 1)  # the last bin holds missing values
    totals = pack(*bins[own].sum(axis=0), sizes[own].sum())
    return bins, sizes, first, n_cuts, least, np.ascontiguousarray(table), totals


@pytest.mark.parametrize("n_thresholds", NUMBERS)
def test_every_cut_has_the_score_and_the_edge_of_its_sides(n_thresholds):
    rng = np.random.default_rng(n_thresholds)
    n_marked = n_scored = 0
    for criterion in [GINI, KEARNS_MANSOUR] * 40:
        bins, sizes, first, n_cuts, least, table, totals = draw_bins(rng, n_thresholds)
        flat, last = table.reshape(len(table), -1), first + n_cuts
        for b in range(len(bins)):
            assert call_bin_weight(flat, b) == bins[b].sum()
        for lost in (last, -1):
            running = np.full((len(table), 8), 77)
            scores, edges = np.full(n_cuts, 99.0), np.full(n_cuts, 99)
            cuts = FeatureCuts(flat, first, n_cuts, lost, totals, 0)
            call_score_cuts(cuts, least, criterion, running, scores)
            call_edge_cuts(cuts, running, edges)
            for b in range(n_cuts):
                goes = [*range(first, first + b + 1), *([last] if lost >= 0 else [])]
                left, whole = bins[goes].sum(axis=0), bins[first : last + 1].sum(axis=0)
                small = min(sizes[goes].sum(), sizes[first : last + 1].sum() - sizes[goes].sum())
                right = whole - left
                expected = largest_edge(left[1] - left[0]) + largest_edge(right[1] - right[0])
                assert edges[b] == expected
                if bins[first + b].any() and right.any() and (least == 1 or small >= least):
                    sides = (gini(side, criterion == KEARNS_MANSOUR) for side in (left, right))
                    assert scores[b] == sum(sides)
                    n_scored += 1
                else:
                    assert scores[b] == -1.0
                    n_marked += 1
    assert min(n_marked, n_scored) > 100


def test_the_weights_of_all_pairs_fill_thirty_one_bits():
    """Just below 2**31, and each as its gap says: what is cut off is less than one each."""
    problem = Problem.draw(9, 19)
    learner = problem.learner(SHAPES["leaves"])
    game = RULE.begin(learner, 1)
    game.advance(1)
    words = game._engine.state.weights.transpose(1, 0, 2).reshape(50, -1)
    assert not words[:, 19:].any()
    upper, lower = words[:, :19] >> 32, words[:, :19] & (2**32 - 1)
    above = learner.labels[:, None] > np.arange(19)
    assert not upper[~above].any()
    assert not lower[above].any()
    weights = upper + lower
    assert 2**30 - weights.size < weights.sum() < 2**31
    share = weights[0, 0] / problem.gaps[0]
    np.testing.assert_allclose(weights, np.tile(problem.gaps * share, (50, 1)), rtol=0, atol=1.0)
    assert math.log2(share) == pytest.approx(math.log2(2**31 / (50 * problem.gaps.sum())), abs=1)
