"""Theorem 3, run: margins and errors of boosters keep to what their edges promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from driftgames.boosting import (
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm

PROMISING = {
    "NH-Boost.DT": lambda T: NHBoostDTClassifier(T),
    "NH-Boost.DT, d=5": lambda T: NHBoostDTClassifier(T, d=5.0),
    "2-norm": lambda T: PotentialBoostClassifier(TwoNorm(), T),
    "EXP": lambda T: PotentialBoostClassifier(Exponential(0.2), T),
    "AdaBoost": lambda T: AdaBoostClassifier(T),
}


def separable(seed, n=400, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + noise * rng.normal(size=n) > 0
    return X, y


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize("name", PROMISING)
@given(
    seed=st.integers(0, 1000), n=st.integers(4, 120), T=st.integers(1, 60), noise=st.floats(0, 2)
)
@settings(max_examples=25)
def test_thm3_margins_and_errors_stay_below_the_bound_for_every_theta(name, seed, n, T, noise):
    X, y = separable(seed, n, noise)
    if y.all() or not y.any():
        y[0] = ~y[0]
    booster = PROMISING[name](T).fit(X, y)
    certificate = booster.certificate_
    if certificate is None:
        return
    assert np.isfinite(certificate.promised).all()
    assert certificate.holds
    margins = booster.margins(X, y)
    for theta in (-0.5, 0.0, 0.25, 0.5):
        share = np.mean(margins <= theta + 1e-12)
        assert share <= certificate.at(theta).promised + 1e-12
    assert 1 - booster.score(X, y) <= certificate.error_bound + 1e-12


@pytest.mark.parametrize("name", PROMISING)
def test_thm3_with_sample_weights_bounds_the_mass_under_the_prior(name):
    X, y = separable(1, noise=0.5)
    weights = np.random.default_rng(1).random(y.size) ** 3 + 0.01
    booster = PROMISING[name](300).fit(X, y, sample_weight=weights)
    margins = booster.margins(X, y)
    prior = weights / weights.sum()
    certificate = booster.certificate_
    assert certificate.holds
    for theta in np.linspace(-1, 1, 21):
        row = certificate.at(round(theta, 2))
        mass = prior[margins <= row.theta + 1e-12].sum()
        assert mass == pytest.approx(row.realised, abs=1e-9)
        assert mass <= row.promised + 1e-9


def test_thm3_promises_something_once_rounds_are_many():
    """With trees as weak learners the edge is large, and the bound on the error falls to 0."""
    X, y = separable(2)
    weak = DecisionTreeClassifier(max_depth=5, random_state=0)
    booster = NHBoostDTClassifier(300, estimator=weak).fit(X, y)
    certificate = booster.certificate_
    assert certificate.error_bound == 0.0
    assert certificate.at(0.2).promised < 0.1
    assert certificate.holds


def test_thm3_shares_fall_at_the_rate_of_the_theorem():
    r"""The promise at theta is of order ``exp(-T (theta - 2 gamma)^2 / 3)``, up to a logarithm."""
    from driftgames.certificates.margins import MarginCertificate, Margins

    margins = Margins.of_examples(np.full(10**6, 1.0))
    gamma, theta = 0.1, 0.05
    for T in (500, 1000, 2000):
        made = MarginCertificate.of_regret("x", T, margins, 0.0, gamma, NormalHedgeDT().bound)
        rate = np.exp(-T * (theta - 2 * gamma) ** 2 / 4 / 3)  # margins are twice the positions
        assert rate <= made.at(theta).promised <= 20 * np.log(T) * rate


@pytest.mark.parametrize("edge", [0.05, 0.15])
def test_boost_by_majority_keeps_to_the_value_of_its_game_while_its_edges_hold(edge):
    X, y = separable(3)
    weak = DecisionTreeClassifier(max_depth=5, random_state=0)
    booster = BoostByMajorityClassifier(31, edge=edge, estimator=weak).fit(X, y)
    certificate = booster.certificate_
    assert booster.history_["edge"].min() >= edge
    assert certificate.caveat == ""
    assert 0 < certificate.error_bound < 0.5
    assert certificate.holds


def test_boost_by_majority_says_when_an_edge_was_too_small():
    X, y = separable(4, noise=2.0)
    certificate = BoostByMajorityClassifier(31, edge=0.3).fit(X, y).certificate_
    assert "below the 0.3 counted on" in certificate.caveat
    assert certificate.verdict == "nothing is promised"
    part = BoostByMajorityClassifier(5, edge=0.01, horizon=9).fit(X, y).certificate_
    assert "only 5 of the 9 rounds" in part.caveat


def test_boosters_without_a_bound_say_why():
    X, y = separable(5)
    assert "NormalHedge" in NHBoostClassifier(20).fit(X, y).certificate_.caveat
    lagging = PotentialBoostClassifier(NormalHedgeDT(d=4, lag=1), 20).fit(X, y)
    assert "lags" in lagging.certificate_.caveat
    assert "d < 3" in NHBoostDTClassifier(20, d=2.0).fit(X, y).certificate_.caveat


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize(
    "booster",
    [
        NHBoostDTClassifier(20_000),
        NHBoostClassifier(20_000),
        AdaBoostClassifier(20_000),
        BoostByMajorityClassifier(20_000),
    ],
    ids=lambda booster: type(booster).__name__,
)
def test_twenty_thousand_rounds_stay_finite(booster):
    """One example contradicts another, so that it is never got right and its weight explodes."""
    X, y = separable(6, n=60, noise=0.3)
    X = np.round(np.vstack([X, X[:1]]), 1)
    y = np.append(y, ~y[0])
    booster.fit(X, y)
    for part in booster.history_.values():
        assert np.isfinite(part).all()
    assert (booster.history_["edge"] > 0).all()
    assert (booster.history_["edge"] <= 0.5).all()
    assert np.isfinite(booster.estimator_weights_).all()
    assert np.abs(booster.decision_function(X)).max() <= 1
    assert booster.certificate_.holds
    assert booster.n_iter_ == 20_000 or booster.ended_early_
