"""Walkers follow the density, know their error, and need no more memory with time."""

import gc
import json
import tracemalloc

import numpy as np
import pytest
from scipy.stats import kstest

from driftgames.core.units import Units
from driftgames.oco import (
    Ball,
    Box,
    ContinuousHedge,
    Grid,
    HitAndRun,
    IntegrationWarning,
    Interval,
    LinearLoss,
    Points,
    Polytope,
    QuadraticLoss,
    Simplex,
)
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm

SETS = [
    Box([0.0, 0.0], [1.0, 1.0]),
    Ball([0.0, 0.0], 1.0),
    Simplex(3),
    Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]),
]
POTENTIALS = [NormalHedgeDT(), Exponential(0.5), TwoNorm()]


@pytest.mark.parametrize("domain", SETS, ids=lambda domain: type(domain).__name__)
@pytest.mark.parametrize("potential", POTENTIALS, ids=lambda phi: type(phi).__name__)
def test_points_and_walkers_agree_with_the_grid_within_their_errors(domain, potential):
    rng = np.random.default_rng(5)
    targets = 0.4 * domain.sample(30, rng) + 0.6 * domain.sample(1, rng)
    grid, points, walkers = (
        ContinuousHedge(domain, potential, integration=strategy)
        for strategy in (Grid(), Points(1024), HitAndRun(512))
    )
    off = [], []  # of points and of walkers
    for t, target in enumerate(targets):
        for learner in (grid, points, walkers):
            learner.update(QuadraticLoss.to_target(target, scale=0.25))
        if t % 5 == 4:
            for learner, ratios in zip((points, walkers), off, strict=True):
                error = learner.precision().error + grid.precision().error
                assert error.max() < 0.04
                ratios += list((learner.predict() - grid.predict()) / error)
    for ratios in off:
        assert np.abs(ratios).max() < 4.5
    # the error is a standard error: the mean square of the ratios is near 1
    assert 0.4 < np.sqrt(np.mean(np.square(off[1]))) < 1.8


def test_stored_losses_give_the_density_that_sums_give():
    """A function and the loss object it equals lead to the same walk."""
    domain = Box([0.0, 0.0], [1.0, 1.0])
    targets = np.random.default_rng(0).random((8, 2))
    learners = [ContinuousHedge(domain, integration=HitAndRun(128)) for _ in range(2)]
    for target in targets:
        loss = QuadraticLoss.to_target(target, 0.5)
        learners[0].update(loss)
        learners[1].update(lambda points, loss=loss: loss(points))
    assert np.allclose(*(learner.points for learner in learners), atol=1e-8)


def test_a_loss_may_work_in_place():
    domain = Box([0.0, 0.0], [1.0, 1.0])
    learners = [ContinuousHedge(domain, integration=HitAndRun(128)) for _ in range(2)]

    def in_place(points):
        points -= 0.3
        points *= points
        return points.sum(axis=1)

    for _ in range(5):
        learners[0].update(in_place)
        learners[1].update(lambda points: ((points - 0.3) ** 2).sum(axis=1))
        assert domain.contains(learners[0].points).all()
    assert np.allclose(*(learner.points for learner in learners), atol=1e-8)


@pytest.mark.parametrize("calls", [2, 3, 5])
def test_a_loss_that_raises_in_the_walk_leaves_the_learner_as_it_was(calls):
    """The first call is the learner's own question; the others are those of the walkers."""
    learner, twin = (
        ContinuousHedge(Simplex(3), integration=HitAndRun(64, least_effective=1.0))
        for _ in range(2)
    )
    left = iter(range(calls))

    def loss(points):
        if next(left, None) is None:
            raise RuntimeError("the service is away")
        return points[:, 0]

    for each in (learner, twin):
        each.update(LinearLoss([0.2, 0.5, 0.1]))
    with pytest.raises(RuntimeError, match="the service is away"):
        learner.update(loss)
    assert (learner.t, learner.learner_loss) == (twin.t, twin.learner_loss)
    for each in (learner, twin):
        each.update(QuadraticLoss.to_target([0.0, 0.0, 1.0], 0.5))
    assert np.array_equal(learner.points, twin.points)
    assert learner.precision().effective_size == twin.precision().effective_size


def bytes_in_arrays():
    """Return the size of all NumPy data that is traced; the interpreter's own may vary."""
    gc.collect()
    numpy_only = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    traces = tracemalloc.take_snapshot().filter_traces([numpy_only])
    return sum(trace.size for trace in traces.traces)


@pytest.mark.parametrize("curved", [False, True], ids=["linear", "quadratic"])
def test_dimension_36_runs_in_bounded_memory(curved):
    rng = np.random.default_rng(0)
    domain = Box(np.zeros(36), np.ones(36))
    learner = ContinuousHedge(domain, integration=HitAndRun(64, n_steps=4, least_effective=1.0))

    def play(rounds):
        for _ in range(rounds):
            if curved:
                learner.update(QuadraticLoss.to_target(rng.random(36), 1 / 36))
            else:
                learner.update(LinearLoss(rng.random(36) / 36))
            assert domain.contains(learner.predict()).all()

    play(5)
    tracemalloc.start()
    play(5)  # walkers and sums are made anew in every round, and now they are counted
    before = bytes_in_arrays()
    play(60)
    grown = bytes_in_arrays() - before
    tracemalloc.stop()
    assert grown < 60 * 36 * 8 / 2  # kept losses would be twice that, their matrices 72 times
    assert np.isfinite(learner.precision().error).all()


def test_a_small_effective_size_warns_and_is_reported():
    learner = ContinuousHedge(
        Box(np.zeros(8), np.ones(8)), Exponential(2.0), integration=HitAndRun(64, n_steps=1)
    )
    with pytest.warns(IntegrationWarning, match="the 64 walkers are worth") as caught:
        learner.update(LinearLoss(np.full(8, 1 / 8)))
    assert caught[0].filename == __file__  # it is the caller who is warned
    assert learner.precision().effective_size < 100


def test_effective_size_falls_when_walkers_do_not_walk_far():
    sizes = []
    for n_steps in (1, 40):
        learner = ContinuousHedge(
            Simplex(10),
            Exponential(8.0),
            integration=HitAndRun(512, n_steps=n_steps, least_effective=1.0),
        )
        for t in range(20):
            learner.update(LinearLoss(np.eye(10)[t % 3]))
        sizes.append(learner.precision().effective_size)
    assert sizes[0] < sizes[1] / 2
    assert sizes[1] <= 512


@pytest.mark.parametrize("seed", range(3))
def test_walkers_are_drawn_from_the_exponential_density(seed):
    """With f(x) = x the density is exp(-6 x), whose distribution function is known."""
    learner = ContinuousHedge(
        Interval(), Exponential(1.0), integration=HitAndRun(1024, n_steps=10), random_state=seed
    )
    for _ in range(6):
        learner.update(LinearLoss([1.0]))
    found = kstest(learner.points[:, 0], lambda x: np.expm1(-6 * x) / np.expm1(-6))
    assert found.statistic * np.sqrt(1024) < 1.95  # beyond it by chance once in a thousand


def test_effective_size_falls_with_the_weights():
    """One step in 50 dimensions moves little, so the walkers are worth what the weights left."""
    domain = Box(np.zeros(50), np.ones(50))
    learner = ContinuousHedge(
        domain, Exponential(4.0), integration=HitAndRun(1024, n_steps=1, least_effective=1.0)
    )
    weights = np.exp(-4.0 * learner.points[:, 0])
    share = weights.sum() ** 2 / (1024 * weights @ weights)
    assert 0.4 < share < 0.6
    learner.update(LinearLoss(np.eye(50)[0]))
    assert learner.precision().effective_size < 1.1 * share * 1024


def test_a_walker_is_drawn_again_as_often_as_its_weight_says():
    """In the mean over seeds: a mark that does not move would draw some always, some never."""
    weights = np.array([0.02, 0.13, 0.25, 0.6])
    counts = np.zeros(4)
    n_seeds = 2000
    for seed in range(n_seeds):
        walkers = HitAndRun(4).populate(
            Interval(), NormalHedgeDT(), Units(), np.random.default_rng(seed)
        )
        before = walkers.points[:, 0]
        walkers._draw_again(weights)
        counts += [np.count_nonzero(walkers.points[:, 0] == x) for x in before]
    assert counts / n_seeds == pytest.approx(4 * weights, abs=4.5 * 0.5 / np.sqrt(n_seeds))


def test_walkers_outside_the_density_find_back_into_it():
    """A jump of the losses can leave all walkers at weight zero; they must not stay there."""
    learner = ContinuousHedge(
        Box([0.0, 0.0], [1.0, 1.0]), TwoNorm(), integration=HitAndRun(64, least_effective=1.0)
    )
    for t in range(60):
        corner = np.eye(2)[(t // 20) % 2]
        learner.update(LinearLoss(corner))
        assert np.isfinite(learner.predict()).all()
        assert len(np.unique(learner.points, axis=0)) > 32


def test_a_saved_walk_goes_on_to_the_same_bits(tmp_path):
    targets = np.random.default_rng(1).random((12, 2))
    learner = ContinuousHedge(Box([0.0, 0.0], [1.0, 1.0]), integration=HitAndRun(128))
    for target in targets[:6]:
        learner.update(QuadraticLoss.to_target(target, 0.5))
    path = tmp_path / "state.json"
    learner.save(path)
    again = ContinuousHedge.load(path)
    for target in targets[6:]:
        for each in (learner, again):
            each.update(QuadraticLoss.to_target(target, 0.5))
    assert np.array_equal(learner.points, again.points)
    assert learner.precision().effective_size == again.precision().effective_size
    assert json.loads(path.read_text())["format"] == "driftgames.ContinuousHedge"


def test_functions_cannot_be_saved_with_walkers(tmp_path):
    learner = ContinuousHedge(Simplex(3), integration=HitAndRun(64, least_effective=1.0))
    learner.update(lambda points: points[:, 0])
    with pytest.raises(
        ValueError, match=r"1 losses are Python functions.*integrate with Grid or Points"
    ):
        learner.save(tmp_path / "state.json")
    assert not (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_walkers": 1}, "n_walkers must be an integer >= 2"),
        ({"n_steps": 0}, "n_steps must be an integer >= 1"),
        ({"least_effective": 0.0}, "least_effective must be a finite number > 0"),
    ],
)
def test_bad_arguments_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        HitAndRun(**arguments)
