"""What examples held out of everything promise, by simulation: coverage, CRPS, absolute error."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from driftgames.boosting import NHBoostDTRegressor
from driftgames.boosting.regression.distribution import PredictedDistribution
from driftgames.boosting.regression.new_outcomes import divide
from driftgames.boosting.regression.stages import NumberExamples

SMALL = NHBoostDTRegressor(
    12, max_leaves=4, n_stages=1, n_thresholds=5, validation_fraction=0.5, n_jobs=1
)
N_NEW = 200
FITS = 24


def repeated_rows(rng, n):
    X = rng.integers(0, 3, size=(n, 1)).astype(float)
    return X, X[:, 0] + rng.normal(size=n)


def heavy_tails(rng, n):
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.standard_t(2, size=n)


def skewed(rng, n):
    X = rng.normal(size=(n, 2))
    return X, np.exp(X[:, 0] + rng.normal(size=n))


def discrete(rng, n):
    X = rng.integers(0, 2, size=(n, 2)).astype(float)
    return X, rng.poisson(3.0 + 4.0 * X[:, 0]).astype(float)


MADE = {each.__name__: each for each in (repeated_rows, heavy_tails, skewed, discrete)}
SIZES = {**dict.fromkeys(MADE, 160), "thirty rows": 30}


@pytest.mark.parametrize("name", SIZES)
def test_new_outcomes_are_covered_and_bounds_hold(name):
    """Coverage is a mean over fits; a bound may fail for 5 % of them."""
    make, n = MADE.get(name, heavy_tails), SIZES[name]
    asked = 0.8 if n < 100 else 0.9
    covered, promised, missed = [], [], np.zeros(2)
    for seed in range(FITS):
        rng = np.random.default_rng([seed, n])
        X, y = make(rng, n)
        booster = clone(SMALL).fit(X, y)
        X_new, y_new = make(rng, N_NEW)
        low, high = booster.predict_interval(X_new, asked).T
        assert np.isfinite([low, high]).all()
        covered.append(np.mean((low <= y_new) & (y_new <= high)))
        promised.append(booster.scores_.places.promise(asked))
        new = booster.certificate_.new_examples
        assert new.n_examples == n // 2
        rows = booster.predict_distribution(X_new)
        rows = PredictedDistribution(rows.levels, np.clip(rows.quantiles, new.low, new.high))
        within = np.clip(y_new, new.low, new.high)
        for k, (scores, mean, bound) in enumerate(
            [
                (rows.crps(within), new.crps, new.crps_high),
                (np.abs(rows.median() - within), new.mae, new.mae_high),
            ]
        ):
            missed[k] += scores.mean() - 3 * scores.std() / np.sqrt(N_NEW) > bound
            assert bound >= mean
    error = np.std(covered, ddof=1) / np.sqrt(FITS)
    assert np.mean(promised) >= asked - 1e-9
    assert np.mean(covered) > np.mean(promised) - 3 * error
    assert np.mean(covered) < np.mean(promised) + (0.12 if n < 100 else 0.06)
    assert (missed <= 4).all()  # more are seen 1 in 100 times if 5 % may fail


def test_outcomes_of_distinct_rows_do_not_choose_who_is_held_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    taken = [divide(NumberExamples(X, rng.normal(size=200)), 0.2) for _ in range(3)]
    for trained, held_out in taken:
        assert held_out.size == 40
        np.testing.assert_array_equal(np.sort(np.append(trained, held_out)), np.arange(200))
        np.testing.assert_array_equal(held_out, taken[0][1])
    sparse = divide(NumberExamples(sp.csr_matrix(X), rng.normal(size=200)), 40)[1]
    np.testing.assert_array_equal(sparse, taken[0][1])


def test_copies_of_a_row_are_held_out_as_by_chance():
    """Whatever their outcomes: high and low ones are held out alike, and so is every copy."""
    X, rng = np.zeros((4000, 1)), np.random.default_rng(0)
    y = np.arange(4000.0)
    held_out = divide(NumberExamples(X, y), 0.25)[1]
    assert abs(y[held_out].mean() - y.mean()) < 4 * y.std() / np.sqrt(1000)
    counts = np.histogram(y[held_out], bins=20)[0]
    assert np.std(counts) > 2  # not one copy of four in turn
    moved = rng.permutation(4000)
    again = divide(NumberExamples(X, y[moved]), 0.25)[1]
    np.testing.assert_array_equal(np.sort(y[moved][again]), np.sort(y[held_out]))


def test_the_model_is_that_of_the_other_rows_alone():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(150, 3)), 1)
    y = X[:, 0] + rng.normal(size=150)
    trained, held_out = divide(NumberExamples(X, y), 0.3)
    booster = clone(SMALL).set_params(validation_fraction=0.3).fit(X, y)
    alone = clone(SMALL).set_params(validation_fraction=None).fit(X[trained], y[trained])
    rows = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(booster.predict(rows), alone.predict(rows))
    moved = y.copy()
    moved[held_out] += 1000.0
    other = clone(booster).fit(X, moved)
    np.testing.assert_array_equal(booster.predict(rows), other.predict(rows))
    new = other.certificate_.new_examples
    assert (new.low, new.high) == (y[trained].min(), y[trained].max())
    assert other.predict_interval(rows)[:, 1].min() > 900.0  # beyond what was learnt


def test_a_category_that_only_rows_held_out_have_is_unknown_there_too():
    rng = np.random.default_rng(1)
    names = [f"town {k}" for k in range(30)]
    frame = pd.DataFrame({"town": rng.choice(names, 150), "size": rng.normal(size=150)})
    y = frame["size"].to_numpy() + frame["town"].str[5:].astype(float).to_numpy()
    booster = clone(SMALL).set_params(n_stages=2)
    booster.fit(frame, y)
    codes = frame.assign(town=pd.Categorical(frame["town"]).codes.astype(float))
    trained, held_out = divide(NumberExamples(codes.to_numpy(), y), 0.5)
    unseen = ~frame["town"].iloc[held_out].isin(frame["town"].iloc[trained])
    assert unseen.any()
    rows = booster.predict_distribution(frame.iloc[held_out])
    new = booster.certificate_.new_examples
    within = PredictedDistribution(rows.levels, np.clip(rows.quantiles, new.low, new.high))
    crps = within.crps(np.clip(y[held_out], new.low, new.high))
    assert new.crps == pytest.approx(crps.mean(), rel=1e-12)


@pytest.mark.parametrize("fraction", [0.001, 30, 1000])
def test_there_must_be_rows_of_both_kinds(fraction):
    X = np.arange(30.0)[:, None]
    message = f"validation_fraction={fraction} of 30 examples must leave one to train on"
    with pytest.raises(ValueError, match=message):
        clone(SMALL).set_params(validation_fraction=fraction).fit(X, X[:, 0])


def test_equal_outcomes_promise_intervals_and_no_more():
    X = np.random.default_rng(0).normal(size=(60, 2))
    booster = clone(SMALL).fit(X, np.full(60, 2.5))
    assert (booster.predict_interval(X) == 2.5).all()
    text = str(booster.certificate_)
    assert "at least 93.5 %" in text  # 30 held out: one may be missed on each side
    assert text.count("nothing is promised") == 2


def test_a_certificate_begins_with_what_is_promised():
    X, y = heavy_tails(np.random.default_rng(0), 400)
    booster = clone(SMALL).fit(X, y)
    first, second, third, *_ = str(booster.certificate_).splitlines()
    assert first.endswith("hold a new outcome with a probability of at least 90.0 %")
    new = booster.certificate_.new_examples
    assert second.startswith("CRPS on new examples at most ")
    assert float(second.split()[6]) >= new.crps_high
    assert third.startswith("mean absolute error at most ")
    few = clone(SMALL).set_params(validation_fraction=10).fit(X, y)
    assert "intervals of 90 % are infinite: they need 19 examples held out; got 10" in str(
        few.certificate_
    )
    assert np.isinf(few.predict_interval(X[:2])).all()
    none = clone(SMALL).set_params(validation_fraction=None).fit(X, y)
    assert "validation_fraction=0.2" in str(none.certificate_)
