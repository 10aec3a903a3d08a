"""The certificate on a convex set."""

import math

import numpy as np
import pytest

from driftgames.certificates.bounds import theorem_6
from driftgames.oco import (
    Box,
    ContinuousHedge,
    Grid,
    HitAndRun,
    Interval,
    LinearLoss,
    Points,
    best_epsilon,
)
from driftgames.oco.hit_and_run import Walkers
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


def test_regret_is_to_the_best_point_of_the_set_and_not_to_the_best_chip():
    learner = ContinuousHedge(Interval(), Exponential(0.5), integration=Grid(99))
    own = learner.run([LinearLoss([1.0])] * 30).learner_losses.sum()
    certificate = learner.certificate()
    assert certificate.regret == pytest.approx(own)  # the best point is 0, the first chip 1/198
    assert certificate.quantiles.realised.max() == pytest.approx(own - 30 / 198)
    assert certificate.over_the_set
    assert "dimension 1" in str(certificate)


def test_after_functions_the_regret_is_to_the_best_chip_and_the_certificate_says_so():
    learner = ContinuousHedge(Interval(), Exponential(0.5), integration=Grid(99))
    own = learner.run([lambda points: points[:, 0]] * 30).learner_losses.sum()
    certificate = learner.certificate()
    assert certificate.regret == pytest.approx(own - 30 / 198)
    assert not certificate.over_the_set
    assert "regret to the best chip:" in str(certificate)


def test_theorem_6_is_not_called_kept_where_the_best_point_is_not_known():
    """No chip is near the best corner of 20 dimensions, and a function hides where that is."""
    learner = ContinuousHedge(Box(np.zeros(20), np.ones(20)), integration=Points(256))
    own = learner.run([lambda x: x.mean(axis=1)] * 600).learner_losses.sum()
    certificate = learner.certificate()
    assert certificate.regret < 0.1 * own  # to the best chip; the best point of the set has 0
    assert certificate.keeps_theorem_6 is None
    text = str(certificate)
    assert "kept" not in text
    assert "not checked: losses were functions" in text
    known = ContinuousHedge(Box(np.zeros(20), np.ones(20)), integration=Points(256))
    known.run([LinearLoss(np.full(20, 1 / 20))] * 600)
    assert known.certificate().regret == pytest.approx(own)


def test_a_bound_that_holds_a_measured_part_is_not_called_a_promise():
    fixed = ContinuousHedge(Interval(), integration=Grid(9))
    walking = ContinuousHedge(Interval(), integration=HitAndRun())
    for learner in (fixed, walking):
        learner.run([LinearLoss([1.0])] * 20)
    assert "known after the run" in str(fixed.certificate())
    assert "known after the run" not in str(walking.certificate())


def test_the_promise_is_that_of_the_chips_plus_how_far_they_are_from_the_best_point():
    """By hand: Theorem 2 at each epsilon, and the total loss of the chip at that epsilon."""
    domain, horizon = Box(np.zeros(6), np.ones(6)), 300
    learner = ContinuousHedge(domain, integration=Points(64))
    learner.run([LinearLoss(np.full(6, 1 / 6))] * horizon)
    totals = np.sort(horizon * learner.points.mean(axis=1))  # the best point of the set has 0
    bounds = NormalHedgeDT().bound(horizon, np.arange(1, 65) / 64)
    certificate = learner.certificate()
    assert certificate.regret == pytest.approx(learner.learner_loss)
    assert certificate.promised == pytest.approx((bounds + totals).min())
    assert certificate.holds


@pytest.mark.parametrize(("d", "rounds"), [(10, 6000), (20, 4000)])
def test_a_broken_theorem_6_is_not_called_kept(d, rounds):
    """Few points in many dimensions: all are far from the best corner."""
    learner = ContinuousHedge(Box(np.zeros(d), np.ones(d)), integration=Points(256))
    learner.run([LinearLoss(np.full(d, 1 / d))] * rounds)
    certificate = learner.certificate()
    assert certificate.regret > best_epsilon(NormalHedgeDT(), rounds, d)[1]
    assert not certificate.keeps_theorem_6
    assert "NOT KEPT" in str(certificate)
    assert certificate.regret <= certificate.promised


def test_walkers_are_held_to_theorem_6_and_to_the_best_point_of_the_set():
    domain, rounds = Box(np.zeros(6), np.ones(6)), 60
    learner = ContinuousHedge(domain, integration=HitAndRun(256))
    learner.run([LinearLoss(np.full(6, 1 / 6))] * rounds)
    certificate = learner.certificate()
    assert certificate.regret == pytest.approx(learner.learner_loss)
    assert certificate.promised == best_epsilon(NormalHedgeDT(), rounds, 6)[1]
    assert certificate.holds


def test_walkers_that_do_not_follow_the_density_break_the_certificate(monkeypatch):
    """Walkers that stay uniform play the middle for ever."""
    monkeypatch.setattr(Walkers, "move", lambda self, loss, losses, own, t: self.total.add(loss))
    learner = ContinuousHedge(Box(np.zeros(3), np.ones(3)), integration=HitAndRun(64))
    learner.run([LinearLoss(np.full(3, 1 / 3))] * 2000)
    assert not learner.certificate().holds


def test_a_certificate_can_be_drawn():
    learner = ContinuousHedge(Interval(), integration=Grid(9))
    learner.update(LinearLoss([1.0]))
    assert learner.certificate().plot().axes[0].get_xlabel().startswith("ε")
