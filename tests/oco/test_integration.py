"""Grids, Sobol points and matched moments."""

import numpy as np
import pytest

from driftgames.oco import (
    Box,
    ContinuousHedge,
    Grid,
    Interval,
    LinearLoss,
    Points,
    QuadraticLoss,
    Simplex,
    match_moments,
)
from driftgames.potentials import Exponential


def test_the_error_of_the_grid_bounds_what_a_finer_grid_changes():
    coarse, fine = (
        ContinuousHedge(Interval(), Exponential(0.8), integration=Grid(m)) for m in (27, 2187)
    )
    for _ in range(20):
        for learner in (coarse, fine):
            learner.update(LinearLoss([1.0]))
        off = abs(coarse.predict() - fine.predict())
        assert off <= coarse.precision().error
        assert coarse.precision().error < 0.05


def test_the_grid_integrates_the_exponential_density():
    """With f(x) = x the density is exp(-eta t x), whose mean on [0, 1] is known."""
    learner = ContinuousHedge(Interval(), Exponential(0.5))
    for _ in range(10):
        learner.update(LinearLoss([1.0]))
    rate = 5.0
    assert learner.predict()[0] == pytest.approx(1 / rate - 1 / np.expm1(rate), abs=1e-5)


def test_points_are_reproducible_and_depend_on_the_seed():
    same = [ContinuousHedge(Simplex(4), integration=Points(64)).points for _ in range(2)]
    other = ContinuousHedge(Simplex(4), integration=Points(64), random_state=1).points
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], other)


def test_matched_weights_reproduce_mean_and_covariance_and_are_not_negative():
    simplex = Simplex(8)
    points, prior = Points(512, matched=True).place(simplex, np.random.default_rng(0))
    assert prior.min() >= 0
    assert prior.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(prior @ points, simplex.mean, atol=1e-12)
    centred = points - simplex.mean
    assert np.allclose((prior[:, None] * centred).T @ centred, simplex.covariance, atol=1e-12)


def test_matched_weights_drop_points_rather_than_turn_negative():
    """Points crowded near one end need some of them at no weight at all."""
    points = np.concatenate([np.linspace(0, 0.2, 30), [0.5, 0.8, 0.95]])[:, None]
    q = match_moments(points, np.array([0.5]), np.array([[1 / 12]]))
    assert q.min() == 0
    assert [q.sum(), q @ points[:, 0], q @ points[:, 0] ** 2] == pytest.approx([1, 1 / 2, 1 / 3])


def test_too_few_points_are_not_matched():
    simplex = Simplex(36)
    points, prior = Points(256, matched=True).place(simplex, np.random.default_rng(0))
    assert prior is None
    assert points.shape == (256, 36)


def test_effective_size_is_that_of_the_distribution():
    learner = ContinuousHedge(Simplex(3), Exponential(1.0), integration=Points(256))
    assert learner.precision().effective_size == pytest.approx(256)
    for _ in range(50):
        learner.update(LinearLoss([1.0, 0.0, 0.0]))
    p = np.exp(-learner.positions)
    assert learner.precision().effective_size == pytest.approx(p.sum() ** 2 / (p @ p))
    assert learner.precision().n_points == 256


@pytest.mark.parametrize("rounds", [12, 200], ids=["spread", "one heavy point"])
def test_the_error_of_points_is_that_of_the_jackknife(rounds):
    """Leave out each point in turn, by hand."""
    learner = ContinuousHedge(Simplex(3), Exponential(1.0), integration=Points(32))
    learner.run([LinearLoss([1.0, 0.0, 0.0])] * rounds)
    p = np.exp(-learner.positions)
    p /= p.sum()
    assert (p.max() > 0.5) == (rounds == 200)
    means = [np.delete(p, i) @ np.delete(learner.points, i, axis=0) / (1 - p[i]) for i in range(32)]
    wanted = np.sqrt(((np.array(means) - p @ learner.points) ** 2).sum(axis=0))
    assert learner.precision().error == pytest.approx(wanted, rel=1e-9)


def test_the_error_of_points_covers_the_truth_for_most_scramblings():
    """With f(x) = x_0 on the square the density of EXP is known."""
    rate, covered = 6.0, 0
    truth = 1 / rate - 1 / np.expm1(rate)
    for seed in range(20):
        learner = ContinuousHedge(
            Box([0.0, 0.0], [1.0, 1.0]),
            Exponential(0.5),
            integration=Points(64),
            random_state=seed,
        )
        learner.run([LinearLoss([1.0, 0.0])] * 12)
        off = abs(learner.predict()[0] - truth)
        covered += off <= 2 * learner.precision().error[0]
        assert learner.precision().error[0] < 0.1
    assert covered >= 18


@pytest.mark.parametrize("strategy", [Points(64), Grid(9)], ids=["points", "grid"])
@pytest.mark.parametrize("rounds", [60, 5000], ids=["nearly all", "all"])
def test_the_error_is_not_zero_when_one_chip_has_the_mass(strategy, rounds):
    """Nothing is known of the density between that chip and the next."""
    learner = ContinuousHedge(Box([0.0, 0.0], [1.0, 1.0]), Exponential(20.0), integration=strategy)
    learner.run([LinearLoss([0.5, 0.5])] * rounds)
    precision = learner.precision()
    assert precision.effective_size == pytest.approx(1.0, abs=1e-3)
    # the mean of the density is next to the origin; the estimate need not reach that far
    assert (precision.error >= 0.25 * learner.predict()).all()


def test_the_error_of_a_grid_is_not_zero_at_a_node_of_the_coarser_one():
    """Both rules then agree on that node, and know nothing of what is around it."""
    learner = ContinuousHedge(Interval(), Exponential(20.0), integration=Grid(9))
    learner.run([QuadraticLoss.to_target([0.53])] * 500)
    assert learner.precision().effective_size == pytest.approx(1.0)
    assert learner.precision().error[0] == pytest.approx(1 / 9)  # to the next node


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grid(10), "per_axis must be a multiple of 3; got 10"),
        (lambda: Points(1000), "n_points must be a power of two; got 1000"),
        (
            lambda: ContinuousHedge(Box(np.zeros(4), np.ones(4)), integration=Grid()),
            "a grid needs a set of dimension 1, 2 or 3; got 4",
        ),
    ],
)
def test_bad_strategies_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_matched_points_begin_at_the_very_centre():
    learner = ContinuousHedge(Simplex(8), integration=Points(512, matched=True))
    assert np.allclose(learner.predict(), 1 / 8, atol=1e-13)
