"""A booster that chooses its size: what the choice depends on, and what switches it off."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from driftgames.boosting import (
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
)
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.fit import choosing, fit_booster
from driftgames.boosting.fit import race as races
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.fit.race import STAGES
from driftgames.boosting.model.choice import Choice, Trial
from driftgames.boosting.persistence import encode_model

N = 220
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).round(1)
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * RNG.normal(size=N)
TWO, THREE = np.where(SCORE > 0, "yes", "no"), np.digitize(SCORE, [-0.5, 0.5])
X[RNG.random(X.shape) < 0.05] = np.nan
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    e=pd.Categorical(RNG.choice(["red", "green", "blue", "white"], N))
)
COUNTS, REALS = RNG.integers(0, 4, N), RNG.random(N)
WAYS = {
    "two classes": (X, TWO, None, {}),
    "three classes": (X, THREE, None, {}),
    "sparse": (sp.csr_matrix(np.nan_to_num(X) * (np.nan_to_num(X) > 0.5)), TWO, None, {}),
    "counts": (X, TWO, COUNTS, {}),
    "real weights": (X, THREE, REALS, {}),
    "balanced": (X, TWO, None, {"class_weight": "balanced"}),
    "monotonic": (X, TWO, None, {"monotonic_cst": [1, 0, 0, -1]}),
    "leaves only": (X, TWO, None, {"n_estimators": 6}),
    "rounds only": (X, TWO, None, {"max_leaves": 4}),
    "no mean": (X, THREE, COUNTS, {"ensemble": False}),
    "a mean of given size": (X, TWO, None, {"n_estimators": 6, "max_depth": 2, "ensemble": True}),
    "not calibrated": (X, TWO, None, {"calibrate": False}),
    "stops early": (X, TWO, None, {"early_stopping": True}),
}


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(races, "STAGES", (2, 5, 12))
    monkeypatch.setattr(fit_booster, "MOST_WATCHED", 12)


@pytest.fixture(params=["few values", "folds", "scout", "many examples"])
def many(request, monkeypatch):
    """As what the examples count: as few, or a fold races alone, or a sample before it."""
    if request.param != "few values":
        monkeypatch.setattr(choosing, "FEW_VALUES", 100)
    if request.param in ("scout", "many examples"):
        monkeypatch.setattr(choosing, "SCOUTED", 100)
    if request.param == "many examples":
        monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 200)
        monkeypatch.setattr(choosing, "SAMPLE", 120)
    return request.param


def take(rows, at):
    return rows.iloc[at] if isinstance(rows, pd.DataFrame) else rows[at]


@pytest.mark.parametrize("way", WAYS)
def test_the_choice_does_not_depend_on_order_threads_or_batches(way, many):
    rows, y, weights, settings = WAYS[way]
    wanted = NHBoostDTClassifier(**settings).fit(rows, y, weights)
    order = np.random.default_rng(1).permutation(N)
    others = [
        NHBoostDTClassifier(n_jobs=n, **settings).fit(
            rows[order], y[order], None if weights is None else weights[order]
        )
        for n in (1, 2)
    ]
    given = [rows, y] + ([] if weights is None else [weights])
    batches = [tuple(take(each, at) for each in given) for at in np.array_split(order, 3)]
    others.append(NHBoostDTClassifier(**settings).fit_batches(batches, batch_rows=50))
    for other in others:
        assert encode_model(other.set_params(n_jobs=None)) == encode_model(wanted)


def test_the_choice_beside_categories_does_not_depend_on_order_or_threads(many):
    booster = NHBoostDTClassifier().fit(FRAME, TWO)
    order = np.random.default_rng(1).permutation(N)
    other = NHBoostDTClassifier(n_jobs=2).fit(FRAME.iloc[order], TWO[order])
    np.testing.assert_array_equal(other.decision_function(FRAME), booster.decision_function(FRAME))
    assert other.chosen_ == booster.chosen_
    assert hasattr(booster, "encoder_")


def test_categories_in_batches_are_fitted_with_a_usual_size():
    """Their folds would need encoders of their own, and so a pass over the batches for each."""
    batches = [(FRAME.iloc[at], TWO[at]) for at in np.array_split(np.arange(N), 3)]
    usual = NHBoostDTClassifier(200, max_leaves=4, calibrate=False).fit_batches(batches)
    booster = NHBoostDTClassifier(calibrate=False).fit_batches(batches)
    assert booster.trees_ == usual.trees_
    assert not hasattr(booster, "chosen_")


def test_from_scouted_examples_on_the_first_fold_races_alone(monkeypatch):
    monkeypatch.setattr(choosing, "SCOUTED", N + 1)
    plain = NHBoostDTClassifier().fit(X, TWO).chosen_
    monkeypatch.setattr(choosing, "SCOUTED", N)
    monkeypatch.setattr(choosing, "FEW_VALUES", 100)
    booster = NHBoostDTClassifier().fit(X, TWO)
    chosen = booster.chosen_
    assert (chosen.n_folds, chosen.n_examples) == (plain.n_folds, plain.n_examples) == (5, N)
    last = chosen.trials[-3:]  # the three best sizes of the first fold
    first, sizes = chosen.trials[:-3], [trial.max_leaves for trial in last]
    assert {trial.max_leaves for trial in first} == {2, 4, 8, 16} > set(sizes)
    assert sizes == sorted(sizes)
    for trial in last:
        own = [each for each in first if each.max_leaves == trial.max_leaves]
        assert trial.n_estimators == min(own, key=lambda each: each.log_loss).n_estimators
    losses = {each[:2]: each.log_loss for each in plain.trials}
    for trial in last:  # on all folds they are what the race without a scout measures
        assert trial.log_loss == losses.get(trial[:2], trial.log_loss)
    assert len({trial[:2] for trial in last} & set(losses)) > 1
    assert len(booster.record_.members) % 5 == 0


@pytest.fixture
def few_are_many(monkeypatch):
    """As if some hundred examples were many: a sample scouts."""
    monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 200)
    monkeypatch.setattr(choosing, "SCOUTED", 100)
    monkeypatch.setattr(choosing, "SAMPLE", 120)
    monkeypatch.setattr(choosing, "FEW_VALUES", 100)


@pytest.mark.usefixtures("few_are_many")
def test_many_examples_choose_leaves_on_a_sample_and_two_sizes_play_on_all_folds():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(N, 3))
    y = rows[:, 0] + rng.normal(size=N) > 0  # small trees suit it
    booster = NHBoostDTClassifier().fit(rows, y)
    chosen, record = booster.chosen_, booster.record_
    assert (chosen.n_folds, chosen.n_examples) == (5, N)
    assert {trial.max_leaves for trial in chosen.trials} == {2, 4, 8, 16}
    first, last = chosen.trials[:-2], chosen.trials[-2:]
    assert [trial.outcome for trial in chosen.trials].count("chosen") == 1
    assert (chosen.max_leaves, chosen.n_estimators, "chosen") in [(*t[:2], t[4]) for t in last]
    assert last[0].max_leaves < last[1].max_leaves
    # the rounds are those of the first fold
    assert {trial[:2] for trial in last} < {trial[:2] for trial in first}
    assert len(record.members) in (5, 10)
    assert sum(each.mass for each in record.members[:5]) == 4 * N
    assert record.margins.masses.sum() == N == sum(record.held_out.n_examples)
    assert booster.certificate_.holds
    assert booster.certificate_.new_examples.model == "mean"
    given = NHBoostDTClassifier(max_leaves=4).fit(rows, y)
    assert {trial.max_leaves for trial in given.chosen_.trials} == {4}
    assert len(given.chosen_.trials) <= 3 + 1  # no sample is needed for one size


@pytest.mark.usefixtures("few_are_many")
def test_a_sample_that_holds_no_example_of_a_class_out_chooses_nothing():
    rare = np.zeros(N, dtype=int)
    sample = choosing.sample_rows(RowKeys(hash_rows(X), rare, None))
    rare[[sample[0], np.setdiff1d(np.arange(N), sample)[0]]] = 1
    chosen = NHBoostDTClassifier().fit(X, rare).chosen_
    assert {trial.max_leaves for trial in chosen.trials} == {2, 4, 8, 16}
    assert len(chosen.trials) == 2 + len({trial[:2] for trial in chosen.trials})


@pytest.mark.usefixtures("few_are_many")
def test_many_examples_try_the_leaves_that_the_sample_chose_and_larger_ones(monkeypatch):
    monkeypatch.setattr(choosing, "SAMPLE", 150)
    rows = np.random.default_rng(4).normal(size=(300, 2))
    chosen = NHBoostDTClassifier().fit(rows, rows[:, 0] * rows[:, 1] > 0).chosen_
    end = next(k for k in range(1, 20) if chosen.trials[k].max_leaves < chosen.trials[k - 1][0])
    best = min(chosen.trials[:end], key=lambda trial: trial.log_loss)
    assert chosen.max_leaves >= best.max_leaves > 2  # stumps cannot
    handed_on = [best.max_leaves * 2**k for k in range(choosing.MOST_SIZES)]
    raced = {trial.max_leaves for trial in chosen.trials[end:]}
    assert raced == {size for size in handed_on if size <= 16}  # ten examples for each leaf


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_explicit_arguments_switch_each_choice_off(y):
    sizes = [2, 4, 8, 16] if y is TWO else [2, 5, 12]
    both = NHBoostDTClassifier().fit(X, y)
    assert sorted({t.max_leaves for t in both.chosen_.trials}) == sizes
    assert {t.n_estimators for t in both.chosen_.trials} <= {2, 5, 12}
    leaves = NHBoostDTClassifier(7).fit(X, y)
    assert [t[:2] for t in leaves.chosen_.trials] == [(size, 7) for size in sizes]
    some = NHBoostDTClassifier(max_leaves=4).fit(X, y)
    assert {t.max_leaves for t in some.chosen_.trials} == {4}
    depth = NHBoostDTClassifier(max_depth=2).fit(X, y)
    assert {t.max_leaves for t in depth.chosen_.trials} == {0}
    assert depth.trees_.depths.max() == 2
    for settings in ({"max_leaves": 4}, {"max_depth": 2}):
        none = NHBoostDTClassifier(7, **settings).fit(X, y)
        assert not hasattr(none, "chosen_")
        assert none.n_iter_ == 7
        assert none.record_.members == ()


def test_without_the_mean_one_booster_more_is_fitted_to_all_examples():
    booster = NHBoostDTClassifier(ensemble=False).fit(X, TWO)
    size = {"max_leaves": booster.chosen_.max_leaves, "n_estimators": booster.chosen_.n_estimators}
    alike = NHBoostDTClassifier(**size, calibrate=False).fit(X, TWO)
    np.testing.assert_array_equal(alike.decision_function(X), booster.decision_function(X))
    assert booster.record_.margins.masses.sum() == N
    loss = min(trial.log_loss for trial in booster.chosen_.trials)
    assert booster.calibration_.slope > 0
    assert next(t for t in booster.chosen_.trials if t.outcome == "chosen").log_loss == loss


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize(
    ("rows", "y"),
    [
        ([[0.0], [1.0], [2.0]], [0, 1, 1]),
        ([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1, 1]),
        ([[0.0], [1.0], [2.0]], ["a", "b", "c"]),
    ],
)
def test_a_class_of_one_example_is_fitted_with_a_usual_size(rows, y):
    """No fold can hold it out: 200 rounds, and two leaves more than classes, or one per example."""
    booster = NHBoostDTClassifier().fit(rows, y)
    assert not hasattr(booster, "chosen_")
    n_leaves = min(len(set(y)) + 2, len(y))
    given = NHBoostDTClassifier(200, max_leaves=n_leaves).fit(rows, y)
    np.testing.assert_array_equal(booster.predict_proba(rows), given.predict_proba(rows))
    assert booster.predict(rows).tolist() == y


def test_tiny_sets_of_two_examples_of_each_class_choose():
    rows, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    booster = NHBoostDTClassifier().fit(rows, y)
    assert booster.chosen_.max_leaves == 2
    assert booster.chosen_.n_folds == 4  # one example each
    assert booster.predict(rows).tolist() == y.tolist()


def test_rows_that_no_question_divides_are_predicted_as_their_heavier_class():
    rows = np.zeros((9, 2))
    with pytest.warns(NoEdgeWarning):
        booster = NHBoostDTClassifier().fit(rows, [0, 1, 1] * 3)
    assert booster.n_iter_ == 0
    assert booster.predict(rows).tolist() == [1] * 9
    np.testing.assert_allclose(booster.predict_proba(rows)[:, 1], 2 / 3, atol=0.1)


def test_evaluation_sets_callbacks_and_stopping_have_one_booster_with_an_order_of_rounds():
    seen = []
    booster = NHBoostDTClassifier()
    booster.fit(X, TWO, eval_set=(X[:90], TWO[:90]), callbacks=[lambda t, _: seen.append(t)])
    assert booster.n_iter_ == 12 == len(booster.evals_result_["valid_0"]["error"])
    assert seen == [*range(1, 13)]
    assert {t.n_estimators for t in booster.chosen_.trials} == {2, 5, 12}  # leaves are chosen still
    chosen = booster.chosen_
    assert (chosen.n_played is None) == (chosen.n_estimators == booster.n_iter_)
    stopped = NHBoostDTClassifier().fit(X, TWO, callbacks=[lambda t, _: t == 1]).chosen_
    assert stopped.n_played == 1 < stopped.n_estimators
    assert f"{stopped.n_estimators} rounds (1 were played), of" in str(stopped)
    stopped = NHBoostDTClassifier(early_stopping=True, n_iter_no_change=2, tol=0.05).fit(X, TWO)
    assert stopped.n_iter_ < 12
    assert stopped.record_.members == ()
    with pytest.raises(ValueError, match="ensemble=True takes no eval_set, callbacks or early"):
        NHBoostDTClassifier(ensemble=True, early_stopping=True).fit(X, TWO)
    with pytest.raises(ValueError, match="ensemble=True takes no eval_set, callbacks or early"):
        NHBoostDTClassifier(ensemble=True).fit(X, TWO, eval_set=(X, TWO))


def test_batches_choose_their_bins_by_the_examples_to_train_on(monkeypatch):
    monkeypatch.setattr("driftgames.boosting.fit.folds.SMALL", N)
    rows = np.random.default_rng(4).normal(size=(N, 3))
    settings = {"n_estimators": 6, "early_stopping": True}
    whole = NHBoostDTClassifier(**settings).fit(rows, TWO)
    batches = [(rows[:90], TWO[:90]), (rows[90:], TWO[90:])]
    parts = NHBoostDTClassifier(**settings).fit_batches(batches)
    assert encode_model(parts) == encode_model(whole)


@pytest.mark.parametrize("ensemble", ["auto", False])
def test_constraints_hold_in_a_mean(ensemble):
    booster = NHBoostDTClassifier(monotonic_cst=[1, 0, 0, -1], ensemble=ensemble).fit(X, TWO)
    free = NHBoostDTClassifier(ensemble=ensemble).fit(X, TWO)
    path = np.linspace(-3, 3, 61)
    breaks = 0
    for row in np.nan_to_num(X[:40]):
        for j, direction in ((0, 1), (3, -1)):
            rows = np.repeat(row[None], path.size, axis=0)
            rows[:, j] = path
            assert (direction * np.diff(booster.decision_function(rows)) >= -1e-12).all()
            breaks += (direction * np.diff(free.decision_function(rows)) < 0).any()
    assert breaks


def test_weights_are_copies_and_classes_weigh():
    copies = np.where(COUNTS > 0, COUNTS, 1)
    weighted = NHBoostDTClassifier(ensemble=False, calibrate=False).fit(X, TWO, copies)
    assert weighted.record_.margins.masses.sum() == copies.sum()
    rare = np.where(SCORE > 1.2, "rare", "usual")
    plain, balanced = (
        NHBoostDTClassifier(class_weight=given).fit(X, rare) for given in (None, "balanced")
    )
    assert balanced.decision_function(X).mean() < plain.decision_function(X).mean() - 0.02
    share = np.mean(rare == "rare")
    assert balanced.predict_proba(X)[:, 0].mean() == pytest.approx(share, abs=0.05)


def test_clones_and_grids_search_over_every_choice():
    booster = NHBoostDTClassifier(d=4.0)
    assert clone(booster).get_params() == booster.get_params()
    grid = [
        {"max_leaves": ["auto", 2, 4], "n_estimators": ["auto", 3]},
        {"ensemble": [True, False], "d": [3.0, 6.0]},
    ]
    search = GridSearchCV(booster, grid, cv=2, error_score="raise").fit(X, TWO)
    assert len(search.cv_results_["mean_test_score"]) == 10
    assert search.best_score_ > 0.6


def test_a_choice_is_shown_drawn_and_compared_without_its_seconds():
    chosen = NHBoostDTClassifier().fit(X, TWO).chosen_
    assert chosen.seconds > 0
    assert f"{chosen.max_leaves} leaves, {chosen.n_estimators} rounds, of" in str(chosen)
    figure = chosen.plot()
    assert figure.axes[0].lines
    table = (Trial(2, 5, 0.5, 0.0, "chosen"), Trial(4, 5, 0.6, 0.1, "played"))
    one, two = (Choice(2, 5, 5, 9, table, seconds) for seconds in (1.0, None))
    assert one == two
    after = one.after(Choice(4, 2, 1, 9, (Trial(4, 2, 0.4, 0.0, "chosen"),), 2.0))
    assert after.trials == (Trial(4, 2, 0.4, 0.0, "played"), *table)
    assert after.seconds == 3.0


MOST_ROUNDS = {
    "few values": 5 * (4 * 12),  # folds, sizes, rounds
    "folds": 5 * (4 * 12),
    "scout": 4 * 12 + 4 * (3 * 12),  # the first fold of all sizes, four others of three
    "many examples": 4 * 12 + 3 * 12 + 4 * (2 * 12),  # of a sample before that; others of two
}


def test_a_bar_shows_the_race_and_its_end(monkeypatch, many):
    bars = []

    class Bar:
        def __init__(self, *words, **how):
            bars.append([words, how, 0])

        def __enter__(self):
            def advance(rounds):
                bars[-1][2] += rounds

            return advance

        def __exit__(self, *error):
            pass

    monkeypatch.setattr(fit_booster, "progress", Bar)
    model = NHBoostDTClassifier(verbose=1).fit(X, TWO)
    words, how, played = bars[0]
    assert (words, how) == (("choosing a size", MOST_ROUNDS[many], "rounds"), {"at_most": True})
    assert model.chosen_.n_estimators < played <= MOST_ROUNDS[many]
    assert played == MOST_ROUNDS[many] or many in ("scout", "many examples")


BAD = [
    ({"n_estimators": "many"}, "n_estimators must be one of auto; got 'many'"),
    ({"ensemble": "yes"}, "ensemble must be one of auto; got 'yes'"),
    ({"ensemble": 1}, "ensemble must be"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_settings_are_refused(given, message):
    booster = NHBoostDTClassifier(**given)
    before = dict(vars(booster))
    with pytest.raises(ValueError, match=message):
        booster.fit(X, TWO)
    assert vars(booster) == before


def test_what_cannot_choose_its_rounds_says_so():
    with pytest.raises(ValueError, match="n_estimators must be an integer"):
        BoostByMajorityClassifier("auto").fit(X, TWO)
    assert AdaBoostClassifier().fit(X, TWO).n_iter_ == 200


def test_the_defaults_are_those_that_are_documented():
    settings = NHBoostDTClassifier().get_params()
    names = ("n_estimators", "max_leaves", "max_depth", "ensemble", "d")
    assert [settings[name] for name in names] == ["auto", "auto", None, "auto", 3.0]
    assert tuple(25 * 2**k for k in range(9)) == STAGES
    assert "doubles from 25 on" in " ".join(NHBoostDTClassifier.__doc__.split())


@pytest.mark.parametrize("won", [0, 4, 13])
def test_a_printed_choice_has_the_chosen_row_and_tells_what_is_left_out(won):
    trials = [Trial(2, n, 0.5, 0.01, "played") for n in range(1, 15)]
    trials[won] = trials[won]._replace(outcome="chosen", standard_error=0.0)
    choice = Choice(2, won + 1, 5, 100, tuple(trials))
    rows = [line.split() for line in str(choice).splitlines()[2:]]
    (chosen,) = [row for row in rows if row[-1] == "chosen"]
    assert chosen == ["2", str(won + 1), "0.5", "-", "chosen"]
    assert ["..."] * 5 in rows
    numbers = [int(row[1]) for row in rows if row[0] != "..."]
    assert (numbers[0], numbers[-1]) == (1, 14)
    for before, row in itertools.pairwise(rows):
        if "..." not in (before[0], row[0]):
            assert int(row[1]) == int(before[1]) + 1
    assert "..." not in str(Choice(2, won + 1, 5, 100, (trials[won],)))


def test_a_choice_tells_of_which_boosters_the_model_is_the_mean():
    mean = NHBoostDTClassifier(max_leaves=2).fit(X, TWO)
    n = len(mean.record_.members)
    words = f"; mean of {n} boosters of the best sizes, {mean.n_iter_:,} rounds"
    assert words in str(mean.chosen_)
    alone = NHBoostDTClassifier(max_leaves=2, ensemble=False).fit(X, TWO)
    assert "mean of" not in str(alone.chosen_)
