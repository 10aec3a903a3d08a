"""The race of sizes against its rule in plain Python, on drawn tables and on refitted folds."""

import math
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import BOOSTERS, NHBoostDTClassifier
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.fit.folds import Folds, RowKeys, make_folds
from driftgames.boosting.fit.outcomes import ClassOutcomes
from driftgames.boosting.fit.race import Entrant, run_race, run_scouted, sizes_for
from driftgames.boosting.model.calibration import Calibration
from tests.boosting.fit.race_rule import run_by_rule, scout_by_rule

SIZES, STAGES = (2, 4, 8), (1, 2, 4, 8)


class ToldFold:
    """A fold whose votes are told: the numbers of the size and of the stage."""

    def __init__(self, size):
        self.size, self.asked, self.kept = size, [], None

    def votes(self, stage):
        self.asked.append(stage)
        return np.array([self.size, stage])

    def keep(self, stage):
        self.kept = stage


class Told(Entrant):
    """A size whose losses are told."""

    def __init__(self, size, table, masses, part=None, fits=None, folds=None, most=math.inf):
        zeros = np.zeros(len(masses), dtype=np.int64)
        part = zeros if part is None else part
        if folds is None:
            folds = Folds(part, tuple(range(part.max() + 1)), ClassOutcomes(zeros, masses))
            fits = [ToldFold(size) for _ in folds.numbers]
        super().__init__(size, fits, folds, most_rounds=most)
        self._table = table

    def fresh(self, n_folds=None):
        plain = super().fresh(n_folds)
        told = self.max_leaves, self._table, self.folds.outcomes.masses, self.folds.fold_of
        return Told(*told, fits=plain.fits, folds=plain.folds)

    def measure(self, stage, votes):
        assert [each.tolist() for each in votes] == [[self.max_leaves, stage]] * len(self.fits)
        self.stages.append(stage)
        self.losses.append(np.array(self._table[stage])[self.folds.held_out_rows])
        self.means.append(self.folds.held_out_outcomes.mean(self.losses[-1]))
        if self.best == len(self.means) - 1:
            self.mean_votes = votes[0]


def draw_tables(seed):
    """Return losses in eighths, with ties, that fall at first; and masses."""
    rng = np.random.default_rng(seed)
    n = 8
    noise = rng.integers(0, rng.choice([1, 2, 8]), (len(SIZES), n)) / 8
    step = rng.choice([1, 4, 16])
    tables = {}
    for k, size in enumerate(SIZES):
        level, falls = rng.integers(0, 3), rng.integers(-1, 3, len(STAGES))
        means = 4 + level - np.cumsum(falls) / step
        tables[size] = {s: (m + noise[k]).tolist() for s, m in zip(STAGES, means, strict=True)}
    return tables, rng.integers(1, 3, n)


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_drawn_races_end_as_the_rule_says(many, monkeypatch):
    if many:
        monkeypatch.setattr("driftgames.boosting.fit.race.MANY", 0)
    words, ended, tied, n_races = {"chosen": 0, "played": 0, "dropped": 0}, 0, 0, 0
    for seed in range(400):
        tables, masses = draw_tables(seed)
        told = []
        most = dict(zip(SIZES, np.random.default_rng(seed).choice([4, 8, 100], 3), strict=True))
        entrants = [Told(size, tables[size], masses, most=most[size]) for size in SIZES]
        race = run_race(entrants, STAGES, on_progress=told.append)
        wanted = run_by_rule(tables, STAGES, masses.tolist(), many=many, most=most)
        choice = race.choice
        if wanted.edge:
            continue
        n_races += 1
        assert (choice.max_leaves, choice.n_estimators) == wanted.chosen, seed
        assert race.ranked[1].max_leaves == wanted.runner_up
        assert [(t[0], t[1], t[4]) for t in choice.trials] == [
            (t[0], t[1], t[4]) for t in wanted.trials
        ], seed
        for trial, (_, _, mean, squared, _) in zip(choice.trials, wanted.trials, strict=True):
            assert trial.log_loss == float(mean)
            assert trial.standard_error == pytest.approx(math.sqrt(squared), abs=1e-12)
        assert sum(told) == len(SIZES) * STAGES[-1]  # those left out count too
        assert len(told) == len(STAGES)
        assert (choice.n_folds, choice.n_examples) == (1, masses.size)
        for trial in choice.trials:
            words[trial.outcome] += 1
        ended += any(each.ended for each in entrants)
        means = sorted(min(each.means) for each in entrants)
        tied += means[0] == means[1]
    assert words["dropped"] > 50
    assert words["chosen"] == n_races > 350
    assert ended > 100
    assert tied > 10


@pytest.mark.parametrize("most", [1, 2])
def test_drawn_races_with_a_scout_end_as_the_rule_says(most):
    part = np.arange(8) % 3
    changed, left = 0, 0
    for seed in range(300):
        tables, masses = draw_tables(seed)
        noise = np.random.default_rng(seed).integers(-4, 5, (len(SIZES), 8)) / 8
        for size, own in zip(SIZES, noise, strict=True):
            tables[size] = {k: (np.array(row) + own).tolist() for k, row in tables[size].items()}
        entrants = [Told(size, tables[size], masses, part) for size in SIZES]
        scout = run_race([each.fresh(1) for each in entrants], STAGES)
        race = run_scouted(entrants, scout, n_sizes=most)
        scouted, chosen, trials = scout_by_rule(
            tables, STAGES, masses.tolist(), np.flatnonzero(part == 0).tolist(), most=most
        )
        choice, n = race.choice, len(scouted.trials)
        assert (choice.max_leaves, choice.n_estimators) == chosen, seed
        assert [t[:2] for t in choice.trials[:n]] == [t[:2] for t in scouted.trials]
        assert [t[2] for t in choice.trials[:n]] == [float(t[2]) for t in scouted.trials]
        assert [t[:3] for t in choice.trials[n:]] == [(*t[:2], float(t[2])) for t in trials]
        assert [t[:2] for t in choice.trials if t.outcome == "chosen"] == [chosen]
        assert (choice.n_folds, choice.n_examples) == (3, masses.size)
        stages = {size: stage for size, stage, _ in trials}
        for entrant in entrants:  # the other folds play once, or not at all
            wanted = [stages[entrant.max_leaves]] if entrant.max_leaves in stages else []
            assert [fit.asked for fit in entrant.fits[1:]] == [wanted] * 2
            kept = stages.get(entrant.max_leaves)  # so the others are freed
            assert [fit.kept for fit in entrant.fits] == [kept] * 3
        assert {each.max_leaves for each in race.ranked} == set(stages)
        changed += chosen != scouted.chosen
        left += len(stages) < len(SIZES)
    assert (changed > 10) == (most > 1)
    assert left == 300


def test_of_equal_trials_fewer_leaves_then_fewer_rounds_win():
    flat = {stage: [1.0, 2.0] for stage in STAGES}
    entrants = [Told(size, flat, np.ones(2, dtype=np.int64)) for size in SIZES]
    race = run_race(entrants, STAGES)
    assert (race.choice.max_leaves, race.choice.n_estimators) == (2, 1)
    assert race.ranked[1] is entrants[1]
    assert [each.stages for each in entrants] == [[1, 2]] * 3  # no better: all have ended


def test_a_size_alone_is_never_dropped():
    falling = {stage: [8.0 - k, 9.0 - k] for k, stage in enumerate(STAGES)}
    race = run_race([Told(4, falling, np.ones(2, dtype=np.int64))], STAGES)
    assert [trial.outcome for trial in race.choice.trials] == ["played"] * 3 + ["chosen"]


def test_a_size_that_may_still_come_first_is_not_dropped():
    """It is behind by more than two standard errors, but gains enough in each stage."""
    flat = {1: [1.0, 1.0], 2: [0.9, 0.9], 4: [0.85, 0.85], 8: [0.84, 0.84]}
    late = {1: [3.0, 3.0], 2: [2.0, 2.0], 4: [1.0, 1.0], 8: [0.5, 0.5]}
    ones = np.ones(2, dtype=np.int64)
    race = run_race([Told(2, flat, ones), Told(4, late, ones)], STAGES)
    assert (race.choice.max_leaves, race.choice.n_estimators) == (4, 8)
    slow = {1: [3.0, 3.0], 2: [2.9, 2.9], 4: [2.8, 2.8], 8: [0.5, 0.5]}
    race = run_race([Told(2, flat, ones), Told(4, slow, ones)], STAGES)
    assert [t[:2] for t in race.choice.trials if t.outcome == "dropped"] == [(4, 2)]


def test_one_flat_stage_of_many_examples_says_nothing(monkeypatch):
    """A size that rises by less than a standard error goes on, and may win."""
    flat = {1: [1.0, 2.0, 3.0], 2: [1.1, 2.0, 2.95], 4: [0.5, 1.0, 2.0], 8: [0.5, 1.0, 1.9]}
    ones = np.ones(3, dtype=np.int64)
    assert run_race([Told(2, flat, ones)], STAGES).choice.n_estimators == 1
    monkeypatch.setattr("driftgames.boosting.fit.race.MANY", 0)
    assert run_race([Told(2, flat, ones)], STAGES).choice.n_estimators == 8
    worse = {**flat, 2: [1.5, 2.5, 3.5]}  # each example alike
    assert run_race([Told(2, worse, ones)], STAGES).choice.n_estimators == 1


@pytest.mark.parametrize(
    ("n_classes", "n", "wanted"),
    [
        (2, 320, [2, 4, 8, 16, 32]),
        (2, 319, [2, 4, 8, 16]),
        (2, 3, [2]),
        (3, 1000, [2, 5, 12, 24]),
        (3, 50, [2, 5]),
        (3, 49, [2]),
        (4, 1000, [2, 6, 16, 32]),
        (5, 1000, [2, 7, 20]),
        (10, 1000, [2, 12, 40]),
        (11, 1000, [2, 13]),
        (2, 9_999, [2, 4, 8, 16, 32]),
        (2, 10_000, [2, 4, 8, 16, 32, 64]),
        (2, 25_600, [2, 4, 8, 16, 32, 64, 128, 256]),
        (3, 10_000, [2, 5, 12, 24, 48]),
        (7, 10_000, [2, 9, 28, 56]),
    ],
)
def test_sizes_suit_the_classes_and_the_examples(n_classes, n, wanted):
    assert sizes_for(n_classes, n) == wanted


def coarse(seed, n=130, n_classes=2):
    """Return rows of few values, so that folds have the cuts of all rows, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 4)).astype(float)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def refit_folds(X, y, sizes, stages, weights=None, **settings):
    """Return the losses of every size and stage, by fits without the rows held out, and masses."""
    folds = make_folds(RowKeys(hash_rows(X), y, weights), 5)
    at = np.concatenate([np.flatnonzero(folds.fold_of == k) for k in folds.numbers])
    tables, masses = {}, folds.outcomes.masses[at]
    for size in sizes:
        tables[size] = {}
        for stage in stages:
            votes = []
            for k in folds.numbers:
                held = folds.fold_of == k
                fold = NHBoostDTClassifier(stage, max_leaves=size, calibrate=False, **settings)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fold.fit(X[~held], y[~held], None if weights is None else weights[~held])
                votes.append(fold.decision_function(X[held]))
            votes = np.concatenate(votes)
            found = Calibration.fit(votes, y[at], masses, folds.outcomes.scale)
            tables[size][stage] = found.losses(votes, y[at]).tolist()
    return tables, masses.tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["two classes", "three classes", "weights"])
def test_a_fit_chooses_what_refitted_folds_say(kind, seed, monkeypatch):
    monkeypatch.setattr("driftgames.boosting.fit.race.STAGES", (2, 5, 12))
    n_classes = 3 if kind == "three classes" else 2
    X, y = coarse(seed, n_classes=n_classes)
    weights = np.random.default_rng(seed).integers(1, 4, y.size) if kind == "weights" else None
    booster = NHBoostDTClassifier().fit(X, y, weights)
    tables, masses = refit_folds(X, y, sizes_for(n_classes, y.size), (2, 5, 12), weights)
    wanted = run_by_rule(tables, (2, 5, 12), masses)
    chosen = booster.chosen_
    assert (chosen.max_leaves, chosen.n_estimators) == wanted.chosen
    assert [(t[0], t[1], t[4]) for t in chosen.trials] == [
        (t[0], t[1], t[4]) for t in wanted.trials
    ]
    losses = [float(t[2]) for t in wanted.trials]
    np.testing.assert_allclose([t.log_loss for t in chosen.trials], losses, rtol=1e-12)
    assert (chosen.n_folds, chosen.n_examples) == (5, y.size)


@pytest.mark.parametrize("name", [n for n in BOOSTERS if n != "boost-by-majority"])
def test_every_booster_chooses_if_it_is_asked_to(name, monkeypatch):
    monkeypatch.setattr("driftgames.boosting.fit.race.STAGES", (2, 5))
    X, y = coarse(3)
    auto = {"n_estimators": "auto", "max_depth": None, "max_leaves": "auto"}
    chosen = BOOSTERS[name](**auto, ensemble=False).fit(X, y)
    assert {t.max_leaves for t in chosen.chosen_.trials} == {2, 4, 8}
    shape = {"max_depth": None, "max_leaves": chosen.chosen_.max_leaves}
    alike = BOOSTERS[name](n_estimators=chosen.chosen_.n_estimators, **shape).fit(X, y)
    np.testing.assert_array_equal(alike.decision_function(X), chosen.decision_function(X))


def peak_bytes(booster, X, y):
    tracemalloc.start()
    try:
        booster.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_rows", [800, 3200])  # all folds race, and the first one alone
def test_a_race_on_many_bins_takes_the_memory_of_few_folds(n_rows):
    X = sp.random(n_rows, 3000, 0.004, format="csr", random_state=0)
    y = np.random.default_rng(0).integers(0, 2, n_rows)
    stumps = NHBoostDTClassifier(25, max_leaves=2, calibrate=False, n_jobs=1)
    chosen = NHBoostDTClassifier(n_jobs=1)
    few = X[:200, :20], y[:200]
    chosen.fit(*few)  # compiles
    stumps.fit(*few)
    assert peak_bytes(chosen, X, y) < 20 * peak_bytes(stumps, X, y)
