"""Stages: which of them play on all folds, and which end after the first."""

from __future__ import annotations

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTRegressor
from driftgames.boosting.fit.folds import FoldFit
from driftgames.boosting.regression import stages


@pytest.fixture
def fold_fits(monkeypatch):
    """The fits of folds, in the order in which they begin; the first fold races alone."""
    monkeypatch.setattr("driftgames.boosting.fit.choosing.SCOUTED", 100)
    monkeypatch.setattr("driftgames.boosting.fit.choosing.FEW_VALUES", 0)  # no repeated race
    begun, votes = [], FoldFit.votes

    def noted(fit, n_rounds):
        if fit not in begun:
            begun.append(fit)
        return votes(fit, n_rounds)

    monkeypatch.setattr(FoldFit, "votes", noted)
    return begun


def noise_and_curve(n=1000):
    """Return rows, a noisy step that one stage explains, and a curve that takes several."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, 1.0 * (X[:, 0] > 0) + rng.standard_t(3, n), 4.0 * X[:, 0] + X[:, 1] ** 2


def test_a_stage_that_gains_nothing_ends_after_its_first_fold(fold_fits):
    X, y, _ = noise_and_curve()
    booster = NHBoostDTRegressor(50, max_leaves=2).fit(X, y)
    assert len(fold_fits) == 5 + 1
    assert len(booster.scores_.crps) == 1 + 1  # of the one stage, and of the average
    one = NHBoostDTRegressor(50, max_leaves=2, n_stages=1).fit(X, y)
    assert np.array_equal(booster.predict(X), one.predict(X))


def test_a_stage_that_gains_plays_on_all_folds(fold_fits):
    X, _, y = noise_and_curve()
    booster = NHBoostDTRegressor(50, max_leaves=2).fit(X, y)
    n_stages = len(booster.scores_.crps) - 1
    assert n_stages > 1
    assert len(fold_fits) in (5 * n_stages, 5 * n_stages + 1)
    assert booster.scores_.crps[1] < booster.scores_.crps[0]


def test_stages_that_are_asked_for_play_on_all_folds_whatever_they_gain(fold_fits):
    X, y, _ = noise_and_curve()
    booster = NHBoostDTRegressor(50, max_leaves=2, n_stages=3).fit(X, y)
    assert len(fold_fits) == 3 * 5
    assert len(booster.scores_.crps) == 3 + 1


@pytest.mark.parametrize("least", [-np.inf, np.inf])
def test_the_least_gain_decides_whether_a_stage_goes_on(fold_fits, monkeypatch, least):
    monkeypatch.setattr(stages, "LEAST_GAIN", least)
    X, y, _ = noise_and_curve()
    booster = NHBoostDTRegressor(50, max_leaves=2).fit(X, y)
    assert len(booster.scores_.crps) == (3 if least < 0 else 2)
    assert len(fold_fits) == (10 if least < 0 else 6)


def test_a_first_fold_is_judged_by_its_mean_with_the_stage_before_too(fold_fits, monkeypatch):
    seen, plain = [], stages._mean_crps

    def noted(distribution, y, masses):
        seen.append((y.size, plain(distribution, y, masses)))
        return seen[-1][1]

    monkeypatch.setattr(stages, "_mean_crps", noted)
    X, y, _ = noise_and_curve()
    NHBoostDTRegressor(50, max_leaves=2).fit(X, y)
    (of_all, _), *of_fold = seen[:4]
    assert of_all == y.size
    assert [size for size, _ in of_fold] == [y.size // 5] * 3  # alone, as a mean, before
    alone, mean, before = (crps for _, crps in of_fold)
    assert min(alone, mean) > (1.0 - stages.LEAST_GAIN) * before
    assert mean < alone
