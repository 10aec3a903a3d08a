"""Theorem 6 and what it rests on, run on every potential."""

import numpy as np
import pytest

from driftgames.certificates.bounds import theorem_6
from driftgames.oco import Ball, Box, ContinuousHedge, Grid, Interval, LinearLoss, Points, Simplex
from driftgames.potentials import POTENTIALS, Exponential, NormalHedgeDT

HORIZON = 40
EPSILON = 0.05

SETS = {
    "interval": (Interval(-1.0, 1.0), Grid(243)),
    "box": (Box([0.0, -1.0], [1.0, 1.0]), Grid(27)),
    "simplex": (Simplex(3), Grid(27)),
    "ball": (Ball([0.0, 1.0], 2.0), Grid(27)),
}

EVERY_POTENTIAL = pytest.mark.parametrize("name", POTENTIALS)
EVERY_SET = pytest.mark.parametrize("place", SETS)


def reach(domain, a):
    """Return the least and the greatest value of ``a.x`` on the set."""
    if isinstance(domain, Ball):
        middle, half = a @ domain.center, domain.radius * np.linalg.norm(a)
        return middle - half, middle + half
    if isinstance(domain, Simplex):
        return a.min(), a.max()
    ends = np.array([a * domain.low, a * domain.high])
    return ends.min(axis=0).sum(), ends.max(axis=0).sum()


def random_loss(domain, rng):
    """Return a convex function from the set onto a part of [0, 1]: a ramp, a hinge or a bowl."""
    a = rng.normal(size=domain.n_coordinates)
    low, high = reach(domain, a)
    c = rng.uniform(low, high)
    kind = rng.integers(4)
    if kind == 0:
        return lambda x: (x @ a - low) / (high - low)
    if kind == 1:
        return lambda x: np.maximum(x @ a - c, 0.0) / (high - c)
    if kind == 2:
        return lambda x: np.abs(x @ a - c) / max(high - c, c - low)
    return lambda x: ((x @ a - c) / max(high - c, c - low)) ** 2


def greedy_loss(domain, learner, phi, rng, horizon):
    """Return, of many losses, the one after which the sum of potentials is largest."""
    x, points, s = learner.predict()[np.newaxis], learner.points, learner.positions
    losses = [random_loss(domain, rng) for _ in range(12)]
    # hinges that are zero at the learner or steepest there hurt most
    a = rng.normal(size=domain.n_coordinates)
    for sign in (-1.0, 1.0):
        low, high = reach(domain, sign * a)
        at = float(sign * x[0] @ a)
        losses.append(lambda y, b=sign * a, low=low, high=high: (y @ b - low) / (high - low))
        if high - at > 1e-9:
            losses.append(lambda y, b=sign * a, at=at, h=high: np.maximum(y @ b - at, 0) / (h - at))

    def sum_after(loss):
        moved = s + loss(points) - loss(x)[0]
        return phi.value(moved, learner.t + 1, horizon=horizon).sum()

    return max(losses, key=sum_after)


def play(name, place, adversary, seed=0):
    """Return a learner after a game, its losses, and the integral of the potential over time."""
    domain, strategy = SETS[place]
    phi = POTENTIALS[name](HORIZON, EPSILON)
    learner = ContinuousHedge(domain, phi, integration=strategy)
    rng = np.random.default_rng(seed)
    losses = []
    integrals = [float(phi.value(np.zeros(1), 0, horizon=HORIZON)[0])]
    for t in range(1, HORIZON + 1):
        if adversary == "random":
            loss = random_loss(domain, rng)
        else:
            loss = greedy_loss(domain, learner, phi, rng, HORIZON)
        learner.update(loss)
        losses.append(loss)
        integrals.append(float(phi.value(learner.positions, t, horizon=HORIZON).mean()))
    return domain, phi, learner, losses, np.array(integrals)


@EVERY_POTENTIAL
@EVERY_SET
@pytest.mark.parametrize("adversary", ["random", "greedy"])
def test_thm6_both_bounds_hold_and_the_potential_integral_never_rises(name, place, adversary):
    domain, phi, learner, losses, integrals = play(name, place, adversary)
    assert np.isfinite(integrals).all()
    assert (np.diff(integrals) <= 1e-9 * integrals[0]).all()
    certificate = learner.certificate()
    assert certificate.quantiles.holds
    assert np.isfinite(certificate.quantiles.realised).all()
    # the regret to the best point of the set, not only of the grid
    many = np.concatenate([learner.points, domain.sample(20_000, np.random.default_rng(1))])
    best = min(sum(loss(many) for loss in losses))
    regret = learner.learner_loss - best
    assert certificate.regret <= regret + 1e-9
    assert regret <= certificate.promised
    for epsilon in (0.01, 0.1, 0.5):
        assert regret <= float(theorem_6(phi, HORIZON, epsilon, domain.dimension))
        assert certificate.quantiles.at(epsilon).realised <= float(phi.bound(HORIZON, epsilon))


@EVERY_POTENTIAL
def test_thm6_weights_make_the_mean_move_nonnegative(name):
    """The rule of DGv3 that convexity gives: the moves are not negative on average."""
    domain, strategy = SETS["box"]
    learner = ContinuousHedge(domain, POTENTIALS[name](HORIZON, EPSILON), integration=strategy)
    rng = np.random.default_rng(3)
    for t in range(1, HORIZON + 1):
        p = POTENTIALS[name](HORIZON, EPSILON).distribution(learner.positions, t)
        before = learner.positions
        learner.update(random_loss(domain, rng))
        assert p @ (learner.positions - before) >= -1e-12


# one vertex or end of each set is best in every round
STEEPEST = {"interval": [1.0], "box": [1.0, 0.5], "simplex": [1.0, 1.0, 0.0], "ball": [1.0, 0.0]}


@pytest.mark.parametrize(
    ("name", "place"),
    # a recipe potential is slow: one set is enough
    [(n, p) for n in POTENTIALS for p in SETS if n != "recipe" or p == "interval"],
)
def test_thm6_holds_for_400_rounds_where_a_player_who_stays_in_the_middle_breaks_it(name, place):
    """The same ramp in every round: whoever does not move pays at least half of all it can cost."""
    horizon, (domain, strategy) = 400, SETS[place]
    phi = POTENTIALS[name](horizon, 0.01)
    learner = ContinuousHedge(domain, phi, integration=strategy)
    a = np.array(STEEPEST[place])
    low, high = reach(domain, a)

    def ramp(x):
        return (x @ a - low) / (high - low)

    lazy = horizon * float(ramp(learner.predict()[np.newaxis])[0])
    for _ in range(horizon):
        learner.update(ramp)
    epsilons = np.geomspace(1e-4, 0.9, 60)
    promised = theorem_6(phi, horizon, epsilons, domain.dimension)
    assert (learner.learner_loss <= promised).all()  # the best point loses nothing
    assert learner.certificate().holds
    assert lazy > promised.min()
    assert lazy > learner.certificate().promised


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("dimension", [1, 2])
def test_thm6_the_regret_to_the_best_point_needs_the_term_of_the_volume(dimension, epsilon):
    """EXP with a small rate on a ramp: R alone is below the regret, R + T epsilon^(1/d) is not."""
    horizon, phi = 400, Exponential(0.02)
    domain = Box(np.zeros(dimension), np.ones(dimension))
    learner = ContinuousHedge(domain, phi, integration=Grid(243 if dimension == 1 else 27))
    for _ in range(horizon):
        learner.update(lambda x: x.mean(axis=-1))
    promised = float(theorem_6(phi, horizon, epsilon, dimension))
    regret = learner.learner_loss  # the best point, the origin, loses nothing
    assert float(phi.bound(horizon, epsilon)) < regret <= promised
    volume = horizon * epsilon ** (1 / dimension)
    assert promised == pytest.approx(float(phi.bound(horizon, epsilon)) + volume, rel=1e-12)


@pytest.mark.parametrize("name", [n for n in POTENTIALS if n != "recipe"])
@pytest.mark.parametrize("place", ["interval", "simplex"])
def test_thm6_holds_and_the_potential_integral_never_rises_for_2000_rounds(name, place):
    """Losses of every kind, after 1,000 rounds on which the best point changes sides."""
    horizon, (domain, strategy) = 2000, SETS[place]
    phi = POTENTIALS[name](horizon, EPSILON)
    learner = ContinuousHedge(domain, phi, integration=strategy)
    rng, a = np.random.default_rng(4), np.array(STEEPEST[place])
    totals = np.zeros(len(learner.points))
    integral = float(phi.value(np.zeros(1), 0, horizon=horizon)[0])
    for t in range(1, horizon + 1):
        sign = 1.0 if t <= horizon // 2 else -1.0
        low, high = reach(domain, sign * a)
        if t % 2:
            loss = random_loss(domain, rng)
        else:
            loss = lambda x, b=sign * a, low=low, high=high: (x @ b - low) / (high - low)  # noqa: E731
        learner.update(loss)
        totals += loss(learner.points)
        if t % 50 == 0:
            after = float(phi.value(learner.positions, t, horizon=horizon).mean())
            assert after <= integral * (1 + 1e-9)
            integral = after
        if t % 500 == 0 and (phi.adaptive or t == horizon):
            regret = learner.learner_loss - float(totals.min())
            epsilons = np.geomspace(1e-4, 0.9, 30)
            assert regret <= float(theorem_6(phi, t, epsilons, domain.dimension).min())
            assert learner.certificate().holds
    assert float(theorem_6(phi, horizon, epsilons, domain.dimension).min()) < horizon / 2


@pytest.mark.parametrize("epsilon", [0.05, 0.25, 0.5, 1.0])
def test_appendix_e_epsilon_regret_is_to_the_best_point_outside_the_best_volume(epsilon):
    """With f(x) = x on [0, 1] the best volume epsilon is [0, epsilon], and its edge costs T e."""
    m, horizon = 999, 50
    learner = ContinuousHedge(Interval(), integration=Grid(m))
    own = sum(learner.update(LinearLoss([1.0])) for _ in range(horizon))
    exact = own - horizon * epsilon
    assert learner.certificate().quantiles.at(epsilon).realised == pytest.approx(
        exact, abs=horizon / m
    )


@pytest.mark.parametrize("dimension", [1, 2])
def test_thm6_regret_grows_as_the_root_of_d_t_ln_t(dimension):
    """Setting epsilon = T^-d gives the rate of the theorem, up to a constant."""
    horizons = np.array([10**2, 10**3, 10**4, 10**5])
    bounds = np.array(
        [float(theorem_6(NormalHedgeDT(), t, float(t) ** -dimension, dimension)) for t in horizons]
    )
    ratio = bounds / np.sqrt(dimension * horizons * np.log(horizons))
    assert (ratio < 3).all()
    assert (np.diff(ratio) < 0).all()


def test_thm2_holds_for_sobol_points_in_many_dimensions():
    domain = Simplex(20)
    learner = ContinuousHedge(domain, integration=Points(512))
    rng = np.random.default_rng(0)
    for _ in range(100):
        learner.update(random_loss(domain, rng))
    assert learner.certificate().holds


def test_exp_on_a_convex_set_is_as_good_as_its_tuning():
    """A badly tuned EXP has a weaker promise, and the certificate says so."""
    tuned, cold = Exponential.tuned(400, 0.01), Exponential(1e-3)
    promises = []
    for phi in (tuned, cold):
        learner = ContinuousHedge(Interval(), phi, integration=Grid(99))
        for _ in range(400):
            learner.update(LinearLoss([1.0]))
        certificate = learner.certificate()
        assert certificate.holds
        promises.append((certificate.promised, certificate.regret))
    assert promises[0][0] < promises[1][0]
    assert promises[0][1] < promises[1][1]
