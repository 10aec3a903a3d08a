"""The mean of fold boosters: its votes, categories, weights, files, exports and certificate."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgames.boosting import AdaBoostClassifier, NHBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.binned_data import bin_examples
from driftgames.boosting.data.bins import DenseBins
from driftgames.boosting.engine.binned_trees import TreeLearner, to_trees
from driftgames.boosting.engine.mistake_engine import TreeGrower
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit import choosing, fit_booster
from driftgames.boosting.fit.mean import Mean, best_mean, mean_of
from driftgames.boosting.model.categories import CategoryColumn, CategoryEncoder
from driftgames.boosting.model.fitted_model import winners
from driftgames.boosting.persistence import FORMAT, VERSION, encode_model, load_model
from driftgames.certificates.margins import Margins
from driftgames.core.documents import write_document
from tests.refusals import REMOVED, check_refused

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=(N, 5)).round(1).astype(np.float32)
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * RNG.normal(size=N)
TWO = np.where(SCORE > 0, "yes", "no")
THREE = np.digitize(SCORE, [-0.5, 0.5])
FRAME = pd.DataFrame(X[:, :3], columns=list("abc")).assign(
    town=pd.Categorical(RNG.choice(["Ulm", "Bonn", "Kiel", "Rom", None], N)),
    size=pd.Categorical(RNG.choice(["s", "m", "l"], N)),
)
FRAME.loc[5, "town"] = "Kiel"
FRAME["town"] = FRAME["town"].cat.add_categories("once")
FRAME.loc[9, "town"] = "once"  # a fold does not see this category
BY_TOWN = np.where((FRAME["town"].isin(["Ulm", "Rom"])) ^ (SCORE > 0.8), "yes", "no")
COUNTS = RNG.integers(0, 4, N)
REALS = RNG.random(N)
SETS = {
    "two classes": (X, TWO, None),
    "missing values": (np.where(RNG.random(X.shape) < 0.1, np.nan, X), TWO, None),
    "sparse": (sp.csr_matrix(X * (np.abs(X) > 0.6)), TWO, None),
    "three classes": (X, THREE, None),
    "categories": (FRAME, BY_TOWN, None),
    "categories, three classes": (FRAME, THREE, COUNTS),
    "counts": (X, TWO, COUNTS),
    "real weights": (X, TWO, REALS),
}


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("driftgames.boosting.fit.race.STAGES", (2, 5, 12))


@pytest.fixture
def races(monkeypatch):
    """Return the list of races that fits run."""
    seen, choose = [], choosing.choose_size

    def choose_size(*arguments, **named):
        seen.append(choose(*arguments, **named))
        return seen[-1]

    monkeypatch.setattr(fit_booster, "choose_size", choose_size)
    return seen


@pytest.mark.parametrize("kind", [NHBoostDTClassifier, AdaBoostClassifier])
@pytest.mark.parametrize("name", SETS)
def test_the_votes_are_those_that_the_folds_counted(name, kind, races):
    rows, y, weights = SETS[name]
    booster = kind("auto", max_depth=None, max_leaves="auto").fit(rows, y, weights)
    (race,) = races
    mean, record = mean_of(race), booster.record_
    heavy = np.ones(N, dtype=bool) if weights is None else weights > 0
    masses = np.ones(N) if weights is None else weights
    votes = booster.decision_function(rows)[heavy]
    np.testing.assert_allclose(mean.votes, votes, rtol=0, atol=1e-13)
    wrong = booster.classes_[winners(booster.decision_function(rows))] != y
    assert record.mean_error == pytest.approx(masses[wrong].sum() / masses.sum(), abs=1e-9)
    assert len(record.members) == 5 * len(mean.entrants)
    splits = {str(each.folds.fold_of) for each in mean.entrants}
    assert len(splits) == 3
    assert booster.n_iter_ == sum(member.n_rounds for member in record.members)
    assert sum(record.held_out.n_examples) == heavy.sum()
    assert record.held_out == race.held_out


@pytest.mark.parametrize("name", SETS)
def test_each_member_is_a_booster_that_holds_its_fold_out(name, races):
    """The members' votes on the rows that they hold out are the votes that were measured."""
    rows, y, weights = SETS[name]
    booster = NHBoostDTClassifier().fit(rows, y, weights)
    (race,) = races
    mean, model = mean_of(race), booster.model_
    heavy = np.flatnonzero(np.ones(N) if weights is None else weights)
    columns = model.encode(rows)[heavy]
    kept = model.stumps if len(model.stumps) else model.trees
    votes = model.vote_weights.reshape(1, -1, *[1] * (kept.votes(columns).ndim - 2))
    votes = votes * kept.votes(columns)
    counts = [member.n_rounds for member in booster.record_.members]
    turns = np.lexsort(
        (np.repeat(np.arange(len(counts)), counts), np.concatenate([*map(np.arange, counts)]))
    )
    member = np.repeat(np.arange(len(counts)), counts)[turns]
    assert [each.fold for each in booster.record_.members] == [*range(5)] * len(mean.entrants)
    shares, means = [], []
    for block, entrant in enumerate(mean.entrants):
        measured = np.empty(votes.shape[:1] + votes.shape[2:])
        for k in entrant.folds.numbers:
            held, mine = entrant.folds.fold_of == k, member == 5 * block + k
            measured[held] = votes[held][:, mine].sum(axis=1) / model.vote_weights[mine].sum()
        wanted = entrant.held_out_votes[entrant.best]
        np.testing.assert_allclose(measured, wanted, rtol=0, atol=1e-12)
        shares.append(mean.weights[block] * entrant.n_votes)
        means.append(measured)
    outcomes = mean.entrants[0].folds.held_out_outcomes
    losses = mean.calibration.losses(np.average(means, axis=0, weights=shares), outcomes.labels)
    assert np.average(losses, weights=outcomes.masses) == pytest.approx(mean.loss, abs=1e-9)


def test_few_examples_race_again_on_other_folds(races):
    """No two races hold the same examples out together."""
    NHBoostDTClassifier(4, max_leaves=4, ensemble=True).fit(X, TWO)
    parts = [each.folds.fold_of for each in mean_of(races[0]).entrants]
    assert len(parts) == choosing.N_REPEATS == 3
    for k, one in enumerate(parts):
        for other in parts[:k]:
            together = np.unique(np.stack([one, other]), axis=1)
            assert together.shape[1] == 25  # every pair of folds meets


@pytest.mark.parametrize(
    ("n", "n_classes", "n_columns", "wanted"),
    [(240, 4, 5, 3), (241, 4, 5, 1), (240, 5, 5, 1), (240, 4, 6, 1)],
)
def test_more_values_or_classes_race_once(n, n_classes, n_columns, wanted, races, monkeypatch):
    monkeypatch.setattr(choosing, "FEW_VALUES", 1200)
    rows = np.random.default_rng(1).normal(size=(n, n_columns))
    y = np.arange(n) % n_classes
    rows[:, 0] += y
    NHBoostDTClassifier(2, max_leaves=8, ensemble=True).fit(rows, y)
    assert len(mean_of(races[0]).entrants) == wanted


def test_every_repeat_races_and_weighs_by_its_slope(races):
    booster = NHBoostDTClassifier().fit(X, TWO)
    race = races[0]
    means = [best_mean(each.ranked) for each in (race, *(repeat() for repeat in race.repeats))]
    assert len({race.choice, *(repeat().choice for repeat in race.repeats)}) == 3
    mean = mean_of(race)
    assert [each.max_leaves for each in mean.entrants] == [
        each.max_leaves for part in means for each in part.entrants
    ]
    at, shares = 0, []
    for part in means:
        own = slice(at, at + len(part.entrants))
        ratios = np.divide(mean.weights[own], part.weights)
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-4)
        shares.append(
            sum(w * e.n_votes for w, e in zip(mean.weights[own], part.entrants, strict=True))
        )
        at = own.stop
    slopes = [part.calibration.slope for part in means]
    np.testing.assert_allclose(np.divide(shares, slopes), shares[0] / slopes[0], rtol=1e-4)
    assert max(mean.weights) == 1.0
    assert all(w > 0 and w * 2**20 == round(w * 2**20) for w in mean.weights)
    assert len(booster.record_.members) == 5 * len(mean.entrants)
    assert booster.chosen_ == race.choice


def test_categories_of_a_fold_are_ranked_without_the_rows_that_it_holds_out(races):
    NHBoostDTClassifier().fit(FRAME, BY_TOWN)
    (race,) = races
    differ = set()
    for k in race.winner.folds.numbers:
        seen = race.winner.folds.fold_of != k
        for size in (2, 4, 16):
            alone = NHBoostDTClassifier(1, max_leaves=size, calibrate=False)
            wanted = alone.fit(FRAME[seen], BY_TOWN[seen]).encoder_
            (entrant,) = (each for each in race.ranked if each.max_leaves == size)
            assert entrant.encoders[k] == wanted
            assert any(column.ranks for column in wanted.features if column) == (size > 2)
            differ.add(str(wanted.encode()))
    assert len(differ) > 2  # what is held out matters


def test_one_size_or_two_more_join_where_the_log_loss_falls(races):
    joined = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(330, 4)).round(1)
        y = rows[:, 0] + rows[:, 1] * rows[:, 2] + rng.normal(size=330) > 0
        NHBoostDTClassifier().fit(rows, y)
        race, mean = races[-1], best_mean(races[-1].ranked)
        alone = [Mean.weigh([each], [1.0]) for each in race.ranked]
        tried = [Mean.of(alone[:n]).loss for n in (1, 2, 3)]
        assert tried[0] == race.winner.means[race.winner.best]
        joined.append(len(mean.entrants) - 1)
        assert mean.loss == min(tried) == tried[joined[-1]]
        assert mean.entrants == race.ranked[: 1 + joined[-1]]
        if joined[-1]:
            assert max(mean.weights) == 1.0
            assert all(w > 0 and w * 2**20 == round(w * 2**20) for w in mean.weights)
            slopes = [each.calibrations[each.best].slope for each in mean.entrants]
            shares = [w * each.n_votes for w, each in zip(mean.weights, mean.entrants, strict=True)]
            assert shares[0] / shares[1] == pytest.approx(slopes[0] / slopes[1], rel=1e-5)
        else:
            assert mean.weights == (1.0,)
    assert set(joined) == {0, 1, 2}


def test_the_first_hypotheses_are_a_mean_too(monkeypatch):
    """The members take turns: after five hypotheses each of five boosters has voted once."""
    monkeypatch.setattr(choosing, "N_REPEATS", 1)
    booster = NHBoostDTClassifier(3, max_leaves=4, ensemble=True).fit(X, TWO)
    whole = [NHBoostDTClassifier(k, max_leaves=4, ensemble=True).fit(X, TWO) for k in (1, 2)]
    stages = list(booster.staged_decision_function(X))
    for k, part in enumerate(whole, start=1):
        np.testing.assert_array_equal(stages[5 * k - 1], part.decision_function(X))


@pytest.mark.parametrize("kind", [NHBoostClassifier, AdaBoostClassifier])
def test_means_of_other_boosters_say_that_no_bound_is_known(kind):
    booster = kind(6, ensemble=True).fit(X, TWO)
    assert len(booster.record_.members) in (5, 15)
    certificate = booster.certificate_
    assert (certificate.promised == 1).all()
    assert certificate.caveat
    votes = booster.decision_function(X)
    assert certificate.training_error == np.mean(booster.classes_[winners(votes)] != TWO)


@pytest.mark.parametrize("name", SETS)
def test_files_pickles_and_copies_of_a_mean_predict_the_same(name, tmp_path):
    rows, y, weights = SETS[name]
    booster = NHBoostDTClassifier().fit(rows, y, weights)
    booster.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert encode_model(loaded) == encode_model(booster)
    assert loaded.chosen_ == booster.chosen_
    assert loaded.record_.members == booster.record_.members
    assert loaded.certificate_ == booster.certificate_
    for other in (loaded, pickle.loads(pickle.dumps(booster))):
        np.testing.assert_array_equal(other.predict_proba(rows), booster.predict_proba(rows))


NO_MEAN = "members must have seen the examples"
LINES = [
    ("chosen.trials", REMOVED, r"chosen\.trials is missing"),
    ("chosen.n_folds", REMOVED, r"chosen\.n_folds is missing"),
    ("chosen.n_folds", -1, r"chosen\.n_folds must be an integer from 0"),
    ("chosen.max_leaves", 3, r"must have one chosen trial, that of \[3, "),
    ("chosen.trials", [], r"must have one chosen trial, that of \[.*; got \[\]"),
    ("chosen.trials", lambda v: v + v, "must have one chosen trial"),
    ("chosen.trials", [[2, 2, 0.5, 0.0]], r"chosen\.trials\[0\] must be a list of leaves"),
    ("chosen.trials", [[2, 2, -0.5, 0.0, "chosen"]], r"chosen\.trials\[0\] must be a list of"),
    ("chosen.trials", [[2, 2, 0.5, 0.0, "won"]], r"chosen\.trials\[0\] must be a list of leaves"),
    ("chosen.seconds", 1.0, r"chosen\.seconds is not a member"),
    ("held_out", [[1]], r"held_out\[0\] must be"),
    ("held_out", [[1, -1]], r"held_out\[0\]"),
    ("mean_error", REMOVED, "mean_error is missing"),
    ("mean_error", 1.5, "mean_error must be"),
    ("members", REMOVED, "members is missing|estimator_weights"),
    ("members", lambda v: v[:-1], "members must have .* rounds in all"),
    ("members", lambda v: [[n, m + 1, k] for n, m, k in v], NO_MEAN),
    ("members", lambda v: [[n, m, 0] for n, m, _ in v], "must be of two folds or more"),
    ("members", lambda v: [[n, m, 9 * k] for n, m, k in v], "must have the folds 0, 1"),
    ("members", lambda v: [[n, m] for n, m, _ in v], r"members\[0\] must be"),
]


def test_files_that_no_mean_wrote_are_refused(tmp_path):
    path = tmp_path / "m.json"

    def load(content):
        write_document(path, FORMAT, VERSION, content)
        return load_model(path)

    for y in (TWO, THREE):
        check_refused(encode_model(NHBoostDTClassifier().fit(X, y)), load, LINES)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_onnx_and_treelite_of_a_mean_predict_the_same(y, tmp_path):
    booster = NHBoostDTClassifier().fit(X, y)
    onnxruntime = pytest.importorskip("onnxruntime")
    booster.to_onnx(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    label, votes, shares = session.run(["label", "votes", "probabilities"], {"X": X})
    np.testing.assert_array_equal(label, booster.predict(X))
    np.testing.assert_allclose(votes, booster.decision_function(X), rtol=0, atol=1e-6)
    np.testing.assert_allclose(shares, booster.predict_proba(X), rtol=0, atol=1e-6)
    if y is TWO:
        treelite = pytest.importorskip("treelite")
        found = treelite.gtil.predict(booster.to_treelite(), X.astype(np.float64)).ravel()
        np.testing.assert_allclose(found, booster.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


def test_a_union_of_encoders_has_the_columns_of_each():
    numbers = None
    one = CategoryEncoder((CategoryColumn(("a", "c"), True, ((1, 2),)), numbers))
    two = CategoryEncoder((CategoryColumn(("b", "c"), False, ((2, 1), (0, 1))), numbers))
    union = CategoryEncoder.union([one, two])
    assert union.categories == (("a", "b", "c"), None)
    assert union.features[0].missing
    assert union.features[0].ranks == ((1, 0, 2), (0, 2, 1), (0, 0, 1))
    # a, b, c, missing, three orders, and the numbers
    assert union.columns_of([one, two], 0).tolist() == [0, 2, 3, 4, 7]
    assert union.columns_of([one, two], 1).tolist() == [1, 2, 5, 6, 7]
    codes = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [np.nan, 8.0]])
    given_categories = (("a", "b", "c"), None)
    wide = union.expand(union.recode(codes, given_categories))
    wide = wide.toarray() if sp.issparse(wide) else wide
    for k, each in enumerate((one, two)):
        narrow = each.expand(each.recode(codes, given_categories))
        narrow = narrow.toarray() if sp.issparse(narrow) else narrow
        np.testing.assert_array_equal(wide[:, union.columns_of([one, two], k)], narrow)


@pytest.mark.parametrize("depth", [1, 3])
def test_hypotheses_in_another_order_vote_the_same(depth):
    booster = NHBoostDTClassifier(9, max_depth=depth, calibrate=False).fit(X, TWO)
    kept = booster.stumps_ if depth == 1 else booster.trees_
    order = np.random.default_rng(1).permutation(9)
    np.testing.assert_array_equal(kept.take(order).votes(X), kept.votes(X)[:, order])
    assert kept.take(np.arange(9)) == kept
    assert len(kept.take(order[:4])) == 4


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("y", [TWO == "yes", THREE == 1], ids=["balanced", "few"])
def test_some_binned_examples_grow_the_tree_of_their_rows(sparse, y):
    dense = np.where(np.abs(X) > 1.2, X, 0) if sparse else X
    rows = sp.csr_matrix(dense) if sparse else dense
    weights = RNG.integers(1, 5, N)
    data = bin_examples(rows, y, weights, 255)
    assert isinstance(data.bins, DenseBins) != sparse
    some = np.sort(np.random.default_rng(2).permutation(N)[:100])
    taken = data.take(some)
    assert taken.n_rows == 100
    np.testing.assert_array_equal(np.sort(taken.order), np.arange(100))
    np.testing.assert_array_equal(taken.sample_weights, weights[some][taken.order])
    assert taken.split == (~y[some]).sum()
    trees = []
    for each, masses in (
        (data, np.where(np.isin(data.order, some), data.sample_weights, 0)),
        (taken, taken.sample_weights),
    ):
        grower = TreeGrower(TreeLearner(each, TreeShape(None, 6), masses))
        trees.append(to_trees([grower.grow(masses)[2]], each.cuts))
    assert trees[0] == trees[1]
    assert trees[0].n_nodes.tolist() == [11]


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@given(seed=st.integers(0, 1000), n=st.integers(10, 60), noise=st.floats(0, 0.5))
@settings(max_examples=25)
def test_thm3_holds_for_a_mean_of_boosters(seed, n, noise):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3))
    y = rows[:, 0] + noise * rng.normal(size=n) > 0
    y[:4] = [True, False, True, False]
    booster = NHBoostDTClassifier(40, max_leaves=4, ensemble=True).fit(rows, y)
    certificate = booster.certificate_
    if certificate is None or len(booster.record_.members) < 2:
        return
    assert certificate.holds
    assert np.isfinite(certificate.promised).all()
    margins = Margins.of_examples(booster.margins(rows, y))
    for theta, promised in zip(certificate.thetas, certificate.promised, strict=True):
        assert margins.share(theta - 1e-9) <= promised + 1e-12


def test_thm3_promises_something_for_a_mean_once_rounds_are_many():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    booster = NHBoostDTClassifier(4000, max_leaves=8, ensemble=True)
    certificate = booster.fit(rows, rows[:, 0] > 0).certificate_
    assert certificate.promised.min() < 1 / 60
    assert certificate.holds
    below = certificate.thetas < 0
    assert certificate.promised[below].min() < certificate.promised[~below].max() == 1.0
