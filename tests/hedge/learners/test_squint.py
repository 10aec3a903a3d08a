"""Squint integrates over all learning rates in closed form."""

import math

import mpmath
import numpy as np
import pytest

from driftgames.hedge import Squint
from driftgames.hedge.learners.squint import evidence


def _exact(R, V):
    with mpmath.workdps(20):
        R, V = mpmath.mpf(R), mpmath.mpf(V)
        peak = min(max(R / (2 * V), mpmath.mpf(0)), mpmath.mpf("0.5")) if V > 0 else 0
        top = peak * R - peak**2 * V
        # split about the peak, where a narrow integrand would be missed
        width = min(mpmath.mpf("0.5"), 10 / mpmath.sqrt(V + R**2 / 100 + 1))
        inner = [peak + k * width / 4 for k in range(-4, 5)]
        splits = sorted({mpmath.mpf(0), mpmath.mpf("0.5"), *(x for x in inner if 0 < x < 0.5)})
        return mpmath.quad(lambda x: mpmath.exp(x * R - x * x * V - top), splits) * mpmath.exp(top)


@pytest.mark.parametrize("V", [0.0, 1e-12, 1e-3, 0.3, 0.999, 1.0, 3.0, 40.0, 1e3, 1e5])
def test_evidence_is_the_integral(V):
    # what a game can reach: R^2 <= T V
    reach = np.sqrt(1e6 * V)
    near = [0.0, 1e-9, 0.5 * V, 0.5 * V + 1e-6, 1.0, 7.9, 8.1, 20.0, 3 * np.sqrt(V), V]
    for R in [r for size in near for r in (-size, size) if abs(r) <= reach]:
        if R > 0 and R**2 > 2000 * V:
            continue  # beyond what the sum of potentials lets happen
        exact = _exact(R, V)
        assert abs(evidence(R, V) / exact - 1) < 1e-12, (R, V)


def test_evidence_far_behind_falls_like_one_over_the_regret():
    for R in (-1e3, -1e5, -1e6):
        assert evidence(R, 1e3) == pytest.approx(1 / -R, rel=3e-3)


def test_evidence_rises_with_regret_and_falls_with_variance():
    R = np.linspace(-50, 50, 2001)
    for V in (0.1, 0.9, 1.1, 30.0):
        assert (np.diff([evidence(r, V) for r in R]) > 0).all()
    V = np.geomspace(1e-3, 1e3, 500)
    for r in (-30.0, -1.0, 2.0, 12.0):
        assert (np.diff([evidence(r, v) for v in V]) < 0).all()


def test_the_weights_are_the_published_ones():
    prior = np.array([0.5, 0.3, 0.2])
    learner = Squint(3, prior=prior)
    R, V = np.zeros(3), np.zeros(3)
    rates = (np.arange(20_000) + 0.5) / 40_000  # the middles of as many parts of [0, 1/2]
    for row in np.random.default_rng(0).random((40, 3)):
        w = prior * np.exp(np.outer(R, rates) - np.outer(V, rates**2)).mean(axis=1)
        p = w / w.sum()
        np.testing.assert_allclose(learner.distribution(), p, rtol=1e-7)
        learner.update(row)
        r = p @ row - row
        R, V = R + r, V + r**2


def test_the_certificate_knows_the_variance_of_the_run():
    L = np.random.default_rng(2).random((500, 4))
    learner = Squint(4)
    learner.run(0.45 + 0.1 * L)
    certificate = learner.certificate()
    assert certificate.holds
    assert (certificate.promised < 0.5 * learner.bound(500, certificate.epsilons)).all()


def test_the_certificate_of_one_round_by_hand():
    # the learner loses 1/2, so that the regrets are 1/2, 0 and -1/2
    learner = Squint(3, prior=[0.25, 0.5, 0.25])
    learner.update([0.0, 0.5, 1.0])
    certificate = learner.certificate()
    np.testing.assert_allclose(certificate.epsilons, [0.25, 0.75, 1.0])
    np.testing.assert_allclose(certificate.realised, [0.5, 0.0, -0.5], atol=1e-15)
    # the mean of V over the mass so far: 1/4, then (1/4 * 1/4 + 1/2 * 0) / (3/4), then 1/8
    log_rounds = math.log(2)
    expected = [
        math.sqrt(2 * V) * (1 + math.sqrt(2 * math.log((0.5 + log_rounds) / epsilon)))
        + 5 * math.log(1 + (1 + 2 * log_rounds) / epsilon)
        for V, epsilon in ((1 / 4, 1 / 4), (1 / 12, 3 / 4), (1 / 8, 1.0))
    ]
    np.testing.assert_allclose(certificate.promised, expected)
