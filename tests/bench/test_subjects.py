"""Every subject makes its tables, on data as small as they allow."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from bench import (
    bandit,
    boost_speed,
    boosting,
    hedge,
    noise,
    oco,
    peers,
    predict_speed,
    smooth,
    tree_criterion,
    tree_speed,
)
from bench.harness import race, silent, why_absent
from driftgames import datasets
from driftgames.bandit import POLICIES
from driftgames.boosting import NHBoostDTClassifier, NHBoostDTRegressor
from driftgames.datasets import Dataset, Split
from driftgames.hedge import LEARNERS

needs_lightgbm = pytest.mark.skipif(
    why_absent(("lightgbm",)) is not None, reason="LightGBM is not installed"
)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(boosting, "ROUNDS", 10)
    monkeypatch.setattr(boosting, "MOST_ROUNDS", 30)
    X, y = boosting.make_dense(300)
    split = Split(scipy.sparse.csr_matrix((X > 0.5).astype(float)), y.astype(np.int64))
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Dataset("small", split, split, names, ("-", "+"), "made", published=False)


def test_boosting_time_per_round_comes_with_the_share_of_nonzero_weights(small):
    table = boosting.nonzero_weights(300, 1, silent)
    shares = table.column("nonzero weights")
    assert len(shares) == 5
    assert all(0 < share <= 1 for share in shares)


def test_boosting_labels_are_flipped_as_often_as_said():
    X, y = boosting.make_dense(4000, noise=0.1)
    again, clean = boosting.make_dense(4000, noise=0.0)
    np.testing.assert_array_equal(X, again)
    assert np.mean(y != clean) == pytest.approx(0.1, abs=0.02)


@needs_lightgbm
def test_boosting_stops_at_the_first_round_that_reaches_the_error_of_lightgbm(small):
    table = boosting.time_to_error("small", small, 1, silent)
    ours, theirs = table.column("test error")
    rounds = table.column("rounds")[0]
    X, y = small.test
    staged = list(peers.driftgames(X, y, 30)().staged_predict(X))
    errors = [float(np.mean(stage != y)) for stage in staged]
    assert ours == errors[rounds - 1]
    if "not reached" in table.notes[0]:
        assert min(errors) > theirs
    else:
        assert ours <= theirs
        assert all(error > theirs for error in errors[: rounds - 1])


@needs_lightgbm
def test_boosting_throughput_counts_the_rows_that_are_predicted(small):
    table = boosting.predict("small", small.train, small.test.X, 1, silent)
    best, rate = table.column("best")[0], table.column("rows/s")[0]
    assert rate == pytest.approx(300 / best)
    assert table.column("contestant") == ["driftgames", "LightGBM"]


def test_hedge_races_every_learner_by_update_and_by_run():
    games = race("N=4", list(hedge.contestants(4, cells=40)), repeats=1, unit="rounds")
    names = [str(name) for name in games.column("contestant")]
    assert names[0] == "update, NormalHedge.DT"
    assert sum(name.startswith("update, ") for name in names) == len(LEARNERS)
    assert sum(name.startswith("run(L), ") for name in names) == len(LEARNERS)
    assert {"NumPy EXP", "PyOL Hedge-FTRL", "river EWARegressor"} <= set(names)
    seconds, ratios = hedge.tables({"N=10": games})
    assert seconds.rows[0] == ("wanted of update, at most", 5e-6)
    per_round = dict(seconds.rows)
    rates = dict(zip(names, games.column("rounds/s"), strict=True))
    assert per_round["NumPy EXP"] == pytest.approx(1 / rates["NumPy EXP"])
    assert dict(ratios.rows)["update, NormalHedge.DT"] == pytest.approx(1.0)


def test_hedge_good_expert_is_good_and_the_rest_are_coins():
    losses = hedge.one_good_expert(50, 4_000, 0.4, seed=1)
    assert set(np.unique(losses)) == {0.0, 1.0}
    means = losses.mean(axis=0)
    assert means[0] == pytest.approx(0.1, abs=0.03)
    assert means[1:] == pytest.approx(0.5, abs=0.05)


def test_hedge_regrets_are_small_for_adanormalhedge_or_squint_at_gaps_up_to_0_2():
    """At gaps from about 0.3 on they are not: ``python -m bench hedge`` prints it."""
    table = hedge.regrets(gaps=[hedge.JUST_TOLD, 0.2], seeds=2)
    for column in table.columns[1:]:
        regret = dict(zip(table.column("learner"), table.column(column.name), strict=True))
        assert len(regret) == len(LEARNERS)
        assert all(found > 0 for found in regret.values())
        assert min(regret["AdaNormalHedge"], regret["Squint"]) <= 2 * min(regret.values())
        assert regret["AdaNormalHedge"] < regret["NormalHedge.DT"]


def test_bandit_policies_stream_and_replay_beside_the_peers():
    games = race("K=4", list(bandit.contestants(4, 30)), repeats=1, unit="rounds")
    names = games.column("contestant")
    assert names[0] == "EXP3"
    assert {"EXP3 replay", "river Exp3", "pymab EXP3 (Rust)", "SMPyBandits Exp3"} <= set(names)
    rates = dict(zip(names, games.column("rounds/s"), strict=True))
    assert all(rates[name] > 0 for name in names[:5])
    speed, ratios = bandit.tables({"K=10": games, "K=10,000": games})
    assert speed.rows[0] == ("wanted of EXP3, at least", 400_000, 200_000)
    assert ratios.rows[0] == ("EXP3", pytest.approx(1.0), pytest.approx(1.0))


def test_bandit_regrets_name_every_policy_and_the_bound():
    table = bandit.regrets(games=2, rounds=200)
    assert table.column("policy")[: len(POLICIES)] == list(POLICIES)
    for regret, bound in zip(table.column("pseudo-regret"), table.column("bound"), strict=True):
        assert bound is None or 0 <= regret <= bound


def test_oco_races_have_ours_first_and_errors_are_distances_to_the_reference(monkeypatch):
    market = np.exp(np.random.default_rng(0).normal(0, 0.01, size=(20, 3)))
    monkeypatch.setattr(oco, "_market", lambda quick: (market, ""))
    monkeypatch.setattr(oco, "UNIVERSAL_WEALTH", oco.reference(market, scramblings=2)[0])
    tables = {table.title: table for table in oco.run(quick=True)}
    for title, limit in oco.WANTED.items():
        assert tables[title].column("contestant")[0] == "driftgames"
        assert tables[title].column("best")[0] > 0
        assert f"{limit:g} s" in tables[title].notes[0]
    accuracy = tables["universal portfolio: error of its wealth"]
    for wealth, error in zip(accuracy.column("wealth"), accuracy.column("error"), strict=True):
        assert error == abs(wealth - oco.UNIVERSAL_WEALTH) < 1e-4


def test_the_criteria_are_compared_on_whole_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] > 0
    parts = tree_criterion.folds(X, y)
    assert sum(len(test) for *_, test in parts) == 200
    stumps, trees = (tree_criterion.error(parts, 30, max_depth=depth) for depth in (1, 2))
    assert trees < 20 < stumps


def test_trees_race_on_one_set(monkeypatch):
    monkeypatch.setattr(tree_speed, "TREES", 3)
    table = tree_speed.fit("small", *boosting.make_dense(300), 1, silent)
    rows = zip(table.column("contestant"), table.column("threads"), strict=True)
    assert {("driftgames", 1), ("driftgames", 2)} <= set(rows)


def test_label_noise_flips_training_labels_and_names_every_booster(monkeypatch):
    y = np.where(np.arange(4000) % 3 == 0, 1, -1)
    assert noise.flipped(y, 0.0, seed=0).tolist() == y.tolist()
    assert np.mean(noise.flipped(y, 0.3, seed=0) != y) == pytest.approx(0.3, abs=0.03)
    fits = []

    class Recorded(NHBoostDTClassifier):
        def fit(self, X, labels, *weights):
            if not weights:  # else it is a fit on a part, for calibration
                fits.append(labels)
            return super().fit(X, labels, *weights)

    data = datasets.load("digits49")
    monkeypatch.setattr(noise, "BOOSTERS", {"ours": lambda: Recorded(3)})
    monkeypatch.setattr(noise, "PEERS", {})
    monkeypatch.setattr(noise.datasets, "load", lambda name: data)
    table = noise.table("digits49", 2, lambda text: None)
    assert table.column("booster") == ["ours"]
    shares = [float(np.mean(labels != data.train.y)) for labels in fits]
    np.testing.assert_allclose(shares, [0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3], atol=0.08)
    clean = NHBoostDTClassifier(3).fit(data.train.X, data.train.y)
    assert table.rows[0][1] == 100 * np.mean(clean.predict(data.test.X) != data.test.y)


@pytest.mark.parametrize("kind", ["dense", "missing", "sparse", "four classes"])
def test_the_speed_of_predictions_is_measured(kind, monkeypatch):
    for name, size in (("TREES", 3), ("TRAINING", 200), ("PREDICTED", 50)):
        monkeypatch.setattr(predict_speed, name, size)
    *case, many, vote, share = predict_speed.measure(kind, 4, 1)
    assert case == [kind, 4]
    assert min(many, vote, share) > 0


@pytest.fixture
def brief(monkeypatch):
    """Few rounds on small tables, and no new process."""
    for module, name, value in (
        (boost_speed, "ROUNDS", 8),
        (boost_speed, "STUMPS", {(60, 3): 1.0, (10**9, 3): 1.0}),
        (boost_speed, "TREES", {(80, 4): 0.0}),
        (boost_speed, "PAPER", {}),
        (boost_speed, "ONE_OR_TWO", (60,)),
        (boost_speed, "DEFAULT_ROWS", (60, 10**9)),
        (boost_speed, "run_python", lambda code, **_: "0.5 1 6720" if "memory" in code else "0.5"),
        (predict_speed, "TREES", 3),
        (predict_speed, "TRAINING", 200),
        (predict_speed, "PREDICTED", 50),
    ):
        monkeypatch.setattr(module, name, value)


@needs_lightgbm
@pytest.mark.parametrize("section", boost_speed.SECTIONS)
def test_every_section_says_whether_its_limits_are_kept(section, brief):
    (table,) = boost_speed.run(quick=True, only=section)
    ratios = {"prediction": "ours", "start": "processor"}.get(section, "ratio")
    rows = zip(*(table.column(name) for name in (ratios, "at most", "kept")), strict=True)
    for ratio, limit, kept in rows:
        assert kept == (None if limit is None else "yes" if ratio <= limit else "no")
    if section == "stumps":  # too large a table is left out of a quick run
        assert list(zip(table.column("data"), table.column("threads"), strict=True)) == [
            ("60 x 3", 1),
            ("60 x 3", 2),
        ]
        assert table.column("ratio")[0] == table.column("ours")[0] / table.column("LightGBM")[0]
    if section == "trees":
        assert table.column("kept") == ["no", "no"]
    if section == "start":
        assert table.column("kept") == ["yes", "no"] * 3
    if section == "default":
        assert table.column("memory, tables") == [1.0]


def test_the_time_of_a_round_is_that_of_the_rounds_between_a_short_and_a_long_fit():
    best = {("ours", 2): (1.0, 2.0), ("ours", 12): (6.0, 22.0)}
    assert boost_speed._per_round(best, "ours") == (0.5, 2.0)
    assert boost_speed._per_round(best, "LightGBM") is None


def test_a_smooth_function_has_scores_and_times_of_every_setting(monkeypatch):
    made = {"ours": lambda: NHBoostDTRegressor(20, max_leaves=4, n_stages=1)}
    monkeypatch.setattr(smooth, "SETTINGS", made)
    monkeypatch.setattr(smooth, "PEERS", ())
    monkeypatch.setattr(smooth, "N_NEW", 60)
    (table,) = smooth.run(quick=True)
    ((name, crps, rmse, seconds),) = table.rows
    assert name == "ours"
    assert 0.5 < crps < rmse < 4.0  # the deviation of the outcome is 5
    assert seconds > 0
