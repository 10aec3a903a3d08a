"""Rows cut into shares, without a cluster: the model of all rows, byte for byte."""

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import BOOSTERS
from driftgames.boosting.data.binned_data import assemble, bin_examples
from driftgames.boosting.data.bins import DenseBins
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.engine import mistake_engine, remote_game
from driftgames.boosting.engine.remote_game import (
    Question,
    RemoteGame,
    RemoteLearner,
    Share,
    combine,
)
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.fit_booster import boost
from driftgames.boosting.fit.job import Columns
from driftgames.boosting.fit.source import Opened

N = 300
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 4))
X[:, 1] = RNG.integers(0, 3, N)
X[:, 2] *= RNG.random(N) < 0.1  # its commonest bin is implicit in sparse shares
X[RNG.random(N) < 0.1, 3] = np.nan
Y = X[:, 0] + X[:, 1] - 1 + RNG.normal(size=N) > 0
REALS = RNG.random(N)


class _Here:
    """Asks shares in this process."""

    def __init__(self, shares):
        self._shares = shares
        self.n_asked = {}

    def ask(self, name, *arguments):
        return self.ask_each((name, arguments))[0]

    def ask_each(self, *questions):
        asked = " and ".join(name for name, _ in questions)
        self.n_asked[asked] = self.n_asked.get(asked, 0) + 1
        answers = []
        for name, arguments in questions:
            parts = [share.ask(name, *arguments) for share in self._shares]
            answers.append(combine(name, parts))
        return answers


def _fit_shares(booster, weights, pieces, y=Y):
    """Fit a booster to rows in pieces, every second of which is sparse."""
    classes, labels = np.unique(y, return_inverse=True)
    job, columns = booster.make_job(), Columns(classes, X.shape[1])
    shape = job.shape.fitted_to(classes.size, N)
    bins = 255 if booster.max_bins == "auto" else booster.max_bins
    whole = bin_examples(X, labels == 1, weights.of_each, bins)
    shares = []
    for k, rows in enumerate(pieces):
        part = sp.csr_matrix(X[rows]) if k % 2 else X[rows]
        sets = assemble(
            [(part, labels[rows], weights.of_each[rows])],
            whole.cuts,
            classes.size,
            integer_weights=weights.integer_weights,
        )
        shares += [Share(data, shape, mine, classes.size) for data, mine in sets]
    exchange = _Here(shares)
    monotonic = columns.constraints(job.monotonic_cst, None)
    learner = RemoteLearner(whole.cuts, shape, classes.size, weights.integer_weights, monotonic)
    game = RemoteGame(job.rule, exchange, learner, job.n_rounds)
    opened = Opened(game, columns.empty_model(None))
    booster.adopt(boost(job, opened, job.n_rounds, None, None))
    return exchange


ORDER = np.argsort(Y)  # the first piece is of one class
PIECES = [
    [np.arange(N)],
    np.split(ORDER, [60, 70]),
    np.array_split(RNG.permutation(N), 5),
]


@pytest.mark.parametrize("weights", [None, REALS], ids=["ones", "reals"])
@pytest.mark.parametrize(
    "shape",
    [
        {"max_depth": 1},
        {"max_depth": 3},
        {"max_depth": None, "max_leaves": 5, "criterion": "kearns-mansour"},
        {"max_depth": 2, "min_samples_leaf": 7},
        {"max_depth": 2, "min_weight_fraction_leaf": 0.1},
        {"monotonic_cst": [-1, 1, 1, 0], "max_depth": 1},
        {"monotonic_cst": [1, -1, -1, 1], "max_depth": 3},
    ],
    ids=["stumps", "depth", "leaves", "samples", "mass", "monotonic", "monotonic trees"],
)
@pytest.mark.parametrize("name", ["nh-boost.dt", "nh-boost", "boost-by-majority", "three classes"])
def test_shares_give_the_model_of_all_rows(name, shape, weights, tmp_path):
    several = name == "three classes"
    if several and "monotonic_cst" in shape:
        pytest.skip("monotonic_cst is for two classes")
    y = Y.astype(int) + (X[:, 1] > 1) if several else Y
    name = ("nh-boost.dt" if weights is None else "nh-boost") if several else name
    settings = {"n_estimators": 3, "max_bins": 16, **shape}
    whole = BOOSTERS[name](calibrate=False, **settings).fit(X, y, weights)
    whole.save(tmp_path / "whole")
    ones = SampleWeights(np.ones(N, dtype=np.int64), integer_weights=True)
    for pieces in PIECES:
        booster = BOOSTERS[name](calibrate=False, **settings)
        of_each = ones if weights is None else SampleWeights.of(weights)
        _fit_shares(booster, of_each, pieces, y)
        booster.save(tmp_path / "parts")
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("name", ["nh-boost.dt", "nh-boost", "boost-by-majority"])
def test_a_round_of_stumps_is_one_exchange_and_one_of_trees_as_many_as_levels(name):
    ones = SampleWeights(np.ones(N, dtype=np.int64), integer_weights=True)
    rounds = 20
    for depth in (1, 3):
        booster = BOOSTERS[name](rounds, calibrate=False, max_depth=depth)
        asked = _fit_shares(booster, ones, PIECES[1]).n_asked
        assert [asked.pop(each) for each in ("masses", "begin_fit")] == [1, 1]
        assert asked.pop("divide", 0) == (2 * rounds if depth == 3 else 0)
        if name == "nh-boost":  # its weights depend on where all examples stand after the move
            assert asked == {"begin_tree": rounds, "move": rounds}
        else:  # the scale of the weights is guessed, seldom wrongly
            assert asked.pop("move and begin_tree") == rounds
            assert asked.pop("begin_tree") <= 4
            assert not asked


@pytest.mark.parametrize("shape", [{"max_depth": 1}, {"max_depth": 3}], ids=["stumps", "trees"])
@pytest.mark.parametrize(("has_tally", "levels"), [(True, 32), (True, 8), (False, 32)])
def test_shares_with_tallies_give_the_model_of_all_rows(
    has_tally, levels, shape, tmp_path, monkeypatch
):
    monkeypatch.setattr(mistake_engine, "_is_tally_cheap", lambda data, shape: has_tally)
    monkeypatch.setattr(mistake_engine, "_LEVELS", levels)  # few: examples outgrow them
    made = []

    class Engine(mistake_engine.MistakeEngine):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            self.positions.counters[0].codes_per_row = np.inf  # the tally never seems costly
            made.append(self)

    for module in ("remote_game", "game"):
        monkeypatch.setattr(f"driftgames.boosting.engine.{module}.MistakeEngine", Engine)
    ones = SampleWeights(np.ones(N, dtype=np.int64), integer_weights=True)
    for name in ("whole", "parts"):
        booster = BOOSTERS["nh-boost.dt"](20, calibrate=False, max_bins=16, **shape)
        booster.fit(X, Y) if name == "whole" else _fit_shares(booster, ones, PIECES[2])
        booster.save(tmp_path / name)
    assert [bool(each.positions.counters[0].tallied) for each in made] == [has_tally] * 6
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(
    "shape",
    [{"max_depth": 7}, {"max_depth": None, "max_leaves": 40}],
    ids=["levels", "best first"],
)
@pytest.mark.parametrize("several", [False, True])
def test_large_trees_outgrow_the_arrays_of_shares(shape, several, tmp_path, monkeypatch):
    y = Y.astype(int) + (X[:, 1] > 1) if several else Y
    settings = {"calibrate": False, "max_bins": 16, **shape}
    whole = BOOSTERS["nh-boost.dt"](3, **settings).fit(X, y)
    assert whole.trees_.n_nodes.max() > 20
    whole.save(tmp_path / "whole")
    monkeypatch.setattr(mistake_engine, "_LEAVES", 2)
    monkeypatch.setattr(remote_game, "_LEAVES", 2)
    ones = SampleWeights(np.ones(N, dtype=np.int64), integer_weights=True)
    for pieces in PIECES[:2]:
        booster = BOOSTERS["nh-boost.dt"](3, **settings)
        _fit_shares(booster, ones, pieces, y)
        booster.save(tmp_path / "parts")
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("cut", [2, 6])
def test_of_two_sides_only_the_smaller_is_summed(cut):
    """The codes of the larger side are not read: its sums are the node's less the other's."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (200, 3)).astype(float)
    data = bin_examples(values, rng.random(200) < 0.5, np.ones(200, dtype=np.int64), 255)
    assert isinstance(data.bins, DenseBins)
    goes_left = data.bins.columns[0] <= cut
    larger = goes_left if goes_left.sum() > 100 else ~goes_left
    share = Share(data, TreeShape(2))
    share.ask("begin_fit", 5)
    root = share.ask("begin_tree", 0, np.array([3]))
    codes = data.bins.codes.copy()
    data.bins.codes[larger] = 0
    (left,) = share.ask("divide", [Question(1, 0, cut, 0)])
    for sums, rows in ((left, goes_left), (root - left, ~goes_left)):
        wanted = np.zeros_like(root)
        for i in np.flatnonzero(rows):
            for j in range(3):
                wanted[int(i >= data.split), data.offsets[j] + codes[i, j], 0] += 3
        np.testing.assert_array_equal(sums, wanted)
