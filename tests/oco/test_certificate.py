"""The certificate on a convex set."""

import math

import numpy as np
import pytest

from driftgames.certificates.bounds import theorem_6
from driftgames.oco import ContinuousHedge, Grid, Interval, LinearLoss, best_epsilon
from driftgames.potentials import Exponential, NormalHedgeDT


def test_best_epsilon_is_no_worse_than_any():
    epsilon, bound = best_epsilon(NormalHedgeDT(), 500, 3)
    tried = theorem_6(NormalHedgeDT(), 500, np.logspace(-12, 0, 400), 3)
    assert bound <= tried.min() * (1 + 1e-3)
    assert float(theorem_6(NormalHedgeDT(), 500, epsilon, 3)) == bound


def test_many_dimensions_do_not_underflow():
    epsilon, bound = best_epsilon(NormalHedgeDT(), 10**6, 400)
    assert 0 < epsilon <= 1
    assert np.isfinite(bound)


def test_where_nothing_is_promised_the_certificate_says_so():
    learner = ContinuousHedge(Interval(), NormalHedgeDT(d=2.0), integration=Grid(9))
    learner.update(LinearLoss([1.0]))
    certificate = learner.certificate()
    assert certificate.promised == math.inf
    assert "nothing is promised" in str(certificate)


def test_regret_is_to_the_best_chip():
    learner = ContinuousHedge(Interval(), Exponential(0.5), integration=Grid(99))
    own = sum(learner.update(LinearLoss([1.0])) for _ in range(30))
    best = 30 * learner.points.min()
    assert learner.certificate().regret == pytest.approx(own - best)
    assert "dimension 1" in str(learner.certificate())


def test_a_certificate_can_be_drawn():
    learner = ContinuousHedge(Interval(), integration=Grid(9))
    learner.update(LinearLoss([1.0]))
    assert learner.certificate().plot().axes[0].get_xlabel().startswith("ε")
