"""Mixtures of many series, and outcomes that come late."""

import numpy as np
import pytest

from driftgames.hedge import ExpertMixture, SeriesMixture
from driftgames.hedge.mixture.expert_mixture import LookAheadWarning


def forecasts(rounds=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(100, 20, rounds)
    X = y[:, None] + rng.normal([-5, 5, 0], [2, 2, 30], (rounds, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = y - 5
    return X, y


def test_one_series_without_delay_is_a_mixture():
    X, y = forecasts()
    series, mixture = SeriesMixture(), ExpertMixture()
    assert (series.predict_then_fit(X, y) == mixture.predict_then_fit(X, y)).all()
    assert series.mixtures()[0].weights_.tolist() == mixture.weights_.tolist()
    ours, theirs = series.certificate(), mixture.certificate()
    assert (ours.realised[0], ours.promised[0]) == (theirs.realised[0], theirs.promised[0])


@pytest.mark.parametrize("delay", [0, 2])
def test_series_do_not_know_of_each_other_and_batches_change_nothing(delay):
    X, y = forecasts()
    by = np.array(["north", "south", "north"] * 20)
    whole, parts = SeriesMixture(delay=delay), SeriesMixture(delay=delay)
    found = whole.predict_then_fit(X, y, by=by)
    for key in ("north", "south"):
        alone = SeriesMixture(delay=delay)
        assert (found[by == key] == alone.predict_then_fit(X[by == key], y[by == key])).all()
    for part in np.array_split(np.arange(60), [1, 2, 9, 30]):
        assert (found[part] == parts.predict_then_fit(X[part], y[part], by=by[part])).all()
    assert parts == whole
    assert whole.keys == ("north", "south")
    assert (whole.rounds("north"), whole.rounds("south")) == (40, 20)


@pytest.mark.parametrize("delay", [1, 3])
def test_a_prediction_knows_no_outcome_that_is_late(delay):
    X, y = forecasts()
    found = SeriesMixture(delay=delay).predict_then_fit(X, y)
    for t in (10, 30):
        other = y.copy()
        other[t:] += 50.0
        changed = SeriesMixture(delay=delay).predict_then_fit(X, other) != found
        assert not changed[: t + delay + 1].any()
        assert changed[t + delay + 1]


def test_predictions_one_by_one_are_those_of_the_whole():
    X, y = forecasts()
    found = SeriesMixture(delay=2).predict_then_fit(X, y)
    series = SeriesMixture(delay=2)
    for t in range(60):
        waiting = X[max(t - 2, 0) : t + 1]
        assert series.predict(waiting)[-1] == pytest.approx(found[t], rel=1e-14)
        if t >= 2:
            series.update(X[t - 2 : t - 1], y[t - 2 : t - 1])
    assert series.rounds() == 58
    with pytest.raises(ValueError, match=r"at most delay \+ 1 = 3 rounds .*; got 4 rows"):
        series.predict(X[:4])


def test_late_outcomes_keep_the_bound_to_every_convex_combination():
    rng = np.random.default_rng(5)
    for delay in (0, 1, 4):
        X = rng.choice([-1.0, 1.0], (200, 3))
        y = np.where(np.arange(200) % 40 < 20, X[:, 0], X[:, 1])
        series = SeriesMixture(delay=delay)
        mixed = series.predict_then_fit(X, y)
        certificate = series.certificate()
        assert certificate.holds
        assert certificate.horizon == 200
        for q in rng.dirichlet(np.ones(3), 50):
            regret = np.sum((mixed - y) ** 2) - np.sum((X @ q - y) ** 2)
            assert regret <= certificate.realised[0] + 1e-9
        assert ("take turns" in certificate.caveat) == (delay > 0)
        lazy = np.sum((X.mean(axis=1) - y) ** 2) - np.sum((X @ [0.5, 0.5, 0] - y) ** 2)
        assert lazy > 0


@pytest.mark.parametrize("settings", [{}, {"delay": 2}, {"loss": "absolute", "linearise": False}])
def test_all_series_are_saved_together(settings, tmp_path):
    X, y = forecasts()
    by = [7, 8] * 30
    series = SeriesMixture(**settings)
    series.predict_then_fit(X[:3], y[:3], by=by[:3])
    series.save(tmp_path / "s.json")
    loaded = SeriesMixture.load(tmp_path / "s.json")
    assert loaded == series
    assert loaded.keys == ("7", "8")
    after = loaded.predict_then_fit(X[3:], y[3:], by=by[3:])
    assert (after == series.predict_then_fit(X[3:], y[3:], by=by[3:])).all()
    assert loaded == series.copy()


def test_an_error_leaves_every_series_as_it_was():
    X, y = forecasts(20)
    series = SeriesMixture(outcome_range=(-1e3, 1e3))
    series.predict_then_fit(X, y, by=["a", "b"] * 10)
    before = series.copy()
    bad = y.copy()
    bad[-1] = 1e6  # of b, after all of a
    with pytest.raises(ValueError, match="outcomes must lie in"):
        series.predict_then_fit(X, bad, by=["a", "b"] * 10)
    assert series == before
    with pytest.raises(ValueError, match="by must have one key for each of the 20 rows"):
        series.predict_then_fit(X, y, by=["a"])
    with pytest.raises(ValueError, match=r"a key must be a string or an integer; got 0.5"):
        series.predict_then_fit(X, y, by=[0.5] * 20)
    with pytest.raises(ValueError, match="delay must be an integer >= 0; got -1"):
        SeriesMixture(delay=-1)
    with pytest.raises(ValueError, match="at least one prediction; one of 'c' has none"):
        series.predict([[np.nan] * 3], by=["c"])
    assert series == before


def test_predictions_that_look_ahead_say_so():
    X, y = forecasts()
    mixture = ExpertMixture().fit(X, y)
    with pytest.warns(LookAheadWarning, match="predict_then_fit"):
        mixture.predict(X)
    mixture.predict(X[1:])  # warnings are errors here
    later = ExpertMixture()
    later.predict_then_fit(X, y)
    later.predict(X)
