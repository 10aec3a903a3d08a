"""Coin betting as a learner: what it refuses, that it survives a restart, and how it scales."""

import numpy as np
import pytest

from driftgames.oco import (
    Ball,
    Box,
    CoinBetting,
    DifferentiableLoss,
    Interval,
    LinearLoss,
    LogWealthLoss,
    QuadraticLoss,
    Simplex,
)
from tests.refusals import check_files_of

BOTH = pytest.mark.parametrize("per_coordinate", [True, False], ids=["coordinates", "norm"])


def test_the_first_point_is_the_middle_and_the_first_bets_follow_by_hand():
    """G = 1, stake and radius 1: the first gradient is not bet on, the second finds no bet."""
    learner = CoinBetting(Interval(-1.0, 1.0))
    down = LinearLoss([1.0])
    played = []
    for _ in range(5):
        played.append(float(learner.predict()[0]))
        learner.update(down)
    # wealth 1, then x/(S+1) = -1/2 of it; won 1/2; then -2/3 of 3/2; then outside, and nothing
    assert played == [0.0, 0.0, -0.5, -1.0, -1.0]
    assert learner.wealth.tolist() == [2.5]


@BOTH
def test_scaled_losses_are_played_alike(per_coordinate):
    """Gradients times a power of two change nothing but the units of the certificate."""
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(60, 3))
    learners = [CoinBetting(Ball(np.zeros(3)), per_coordinate=per_coordinate) for _ in range(2)]
    for g in gradients:
        learners[0].update(LinearLoss(g))
        learners[1].update(LinearLoss(g * 2.0**-20))
        assert np.array_equal(*(learner.predict() for learner in learners))
    small, large = learners[1].certificate(), learners[0].certificate()
    assert small.promised == pytest.approx(large.promised * 2.0**-20, rel=1e-12)


def test_the_losses_of_the_library_and_functions_with_a_gradient_are_taken():
    learner = CoinBetting(Simplex(3))
    learner.update(LinearLoss([1.0, 0.0, 0.0]))
    learner.update(QuadraticLoss.to_target([0.0, 1.0, 0.0]))
    learner.update(LogWealthLoss([1.0, 2.0, 0.5]))
    absolute = DifferentiableLoss(lambda x: np.abs(x[:, 0] - 0.1), lambda x: [x[0] - 0.1, 0, 0])
    x = learner.predict()
    assert learner.update(absolute) == abs(x[0] - 0.1)
    assert learner.t == 4


@pytest.mark.parametrize(
    "loss",
    [
        QuadraticLoss([[2.0, 0.5], [0.5, 1.0]], [1.0, -1.0], 3.0),
        LogWealthLoss([1.5, 0.5]),
        LinearLoss([2.0, -1.0]),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_gradients_are_those_of_the_losses(loss):
    x, h = np.array([0.3, 0.7]), 1e-6
    slopes = [(loss(x[None] + h * e) - loss(x[None] - h * e))[0] / (2 * h) for e in np.eye(2)]
    assert loss.gradient_at(x) == pytest.approx(slopes, rel=1e-7)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda x: x[:, 0], "coin betting needs the gradient of a loss; got <function"),
        (LinearLoss([1.0]), "a LinearLoss is of 1 coordinates; got points of 2"),
        (DifferentiableLoss(lambda x: x[:, 0], lambda x: [1.0]), r"gradient must be of shape \(2,"),
        (DifferentiableLoss(lambda x: x[:, 0], lambda x: [np.nan, 1.0]), "gradient must be finite"),
        (DifferentiableLoss(lambda x: x, lambda x: [1.0, 1.0]), r"losses must be of shape \(1,\)"),
        (LinearLoss([1e200, 1e200]), "a gradient is too long"),
    ],
)
def test_a_bad_loss_is_refused_and_the_state_is_unchanged(loss, message):
    learner = CoinBetting(Ball([0.0, 0.0]))
    learner.run([LinearLoss([1.0, 0.5])] * 3)
    before = learner.predict(), learner.certificate(), learner.t
    with pytest.raises(ValueError, match=message):
        learner.update(loss)
    assert np.array_equal(learner.predict(), before[0])
    assert (learner.certificate(), learner.t) == before[1:]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain": 3}, "domain must be of kind ConvexSet; got 3"),
        ({"stake": 0.0}, "stake must be a finite number > 0"),
        ({"per_coordinate": 1}, "per_coordinate must be True or False"),
    ],
)
def test_bad_arguments_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        CoinBetting(**{"domain": Interval(), **arguments})


@BOTH
@pytest.mark.parametrize("domain", [Box([0.0, -1.0], [1.0, 5.0]), Simplex(2), Ball([1.0, 1.0])])
def test_a_saved_learner_goes_on_to_the_same_bits(tmp_path, domain, per_coordinate):
    rng = np.random.default_rng(1)
    losses = [LinearLoss(g) for g in rng.normal(size=(60, 2)) * 1.1 ** np.arange(60)[:, None]]
    whole = CoinBetting(domain, per_coordinate=per_coordinate, stake=0.5)
    whole.run(losses[:31])
    whole.save(tmp_path / "state.json")
    again = CoinBetting.load(tmp_path / "state.json")
    for learner in (whole, again):
        learner.run(losses[31:])
    assert np.array_equal(whole.predict(), again.predict())
    assert (whole.t, whole.learner_loss) == (again.t, again.learner_loss)
    assert whole.certificate() == again.certificate()


REFUSED = [
    ("state.t", -1, "t must be an integer >= 0; got -1"),
    ("state.played", float("nan"), "played must be a finite number; got nan"),
    ("state.wealth", np.ones(3), r"wealth must be float64\[2\]"),
    ("state.clock", -np.ones(2), "scale, clock and ended must be nonneg"),
    ("state.ended", -np.ones((1, 3)), "scale, clock and ended must be nonneg"),
    ("state.ended", np.full((1, 3), np.nan), "ended must be finite"),
    ("arguments.stake", -1.0, "not a whole CoinBetting: stake must be"),
]


def test_a_file_that_no_run_can_have_left_is_refused(tmp_path):
    learner = CoinBetting(Box([0.0, 0.0], [1.0, 1.0]))
    check_files_of(learner, tmp_path / "state.json", REFUSED)


def test_a_run_is_one_update_per_loss_or_nothing():
    losses = [LinearLoss(g) for g in np.random.default_rng(2).normal(size=(20, 2))]
    whole, step = CoinBetting(Ball([0.0, 0.0])), CoinBetting(Ball([0.0, 0.0]))
    run = whole.run(losses)
    assert run.learner_losses.tolist() == [step.update(loss) for loss in losses]
    assert whole == step == run.learner
    with pytest.raises(ValueError, match="a gradient is too long"):
        whole.run([losses[0], LinearLoss([1e200, 1e200])])
    assert whole == step
    whole.update(losses[0])
    assert whole != step
    assert run.promised == step.certificate().promised


@BOTH
def test_a_hundred_thousand_rounds_stay_finite(per_coordinate):
    learner = CoinBetting(Box([-1.0, -1.0], [1.0, 1.0]), per_coordinate=per_coordinate)
    learner.run([LinearLoss([1.0, -0.5])] * 70_000)
    learner.run([LinearLoss([-1.0, 0.5])] * 30_000)
    assert np.isfinite(learner.wealth).all()
    assert learner.predict() == pytest.approx([1.0, -1.0])  # it has changed its mind
    assert learner.certificate().holds


def test_gradients_that_are_not_bet_on_cost_what_they_could_gain():
    """The second gradient is longer than the first, so the bettor begins again before any bet."""
    learner = CoinBetting(Interval(-1.0, 1.0))
    learner.run([LinearLoss([1.0]), LinearLoss([4.0])])  # both at 0; the best point is -1
    certificate = learner.certificate()
    assert certificate.regret == 5.0
    assert certificate.promised == pytest.approx(5.0, rel=1e-12)


def test_no_gradient_at_all_promises_zero():
    learner = CoinBetting(Interval())
    learner.run([LinearLoss([0.0], offset=0.3)] * 3)
    certificate = learner.certificate()
    assert (certificate.regret, certificate.promised, certificate.holds) == (0.0, 0.0, True)


@pytest.mark.parametrize(
    ("domain", "stake"),
    [
        (Box([0.0] * 2, [1.0] * 2), 1e-17),
        (Box([0.0] * 2, [1.0] * 2), 1e-100),
        (Ball([1.0, 1.0]), 1e-17),
        (Simplex(2), 1e-17),
        (Box([1e9] * 2, [1e9 + 1e-6] * 2), 1.0),
        (Box([1e9] * 2, [1e9 + 1e-6] * 2), 1e-3),
        (Box([1e9] * 2, [1e9 + 3e-7] * 2), 1e-3),  # rounding moves its middle
    ],
)
def test_bets_far_smaller_than_the_middle_of_the_set_are_kept(domain, stake):
    learner = CoinBetting(domain, stake=stake)
    learner.run([LinearLoss([1.0, -0.3])] * 3000)
    certificate = learner.certificate()
    assert certificate.holds, str(certificate)
    best = domain.lowest(np.array([1.0, -0.3]))
    assert learner.predict() == pytest.approx(best, rel=1e-15, abs=1e-2)


def test_a_function_that_writes_into_its_argument_changes_no_bet():
    def spoil(points):
        value = 0.3 * np.atleast_2d(points)[:, 0]
        points += 1e6
        return value

    def spoil_one(point):
        point += 1e6
        return [0.3, 0.0]

    clean = CoinBetting(Ball([0.0, 0.0]))
    spoiled = CoinBetting(Ball([0.0, 0.0]))
    for _ in range(20):
        clean.update(LinearLoss([0.3, 0.0]))
        spoiled.update(DifferentiableLoss(spoil, spoil_one))
    assert np.array_equal(clean.predict(), spoiled.predict())
    assert clean.certificate() == spoiled.certificate()


@pytest.mark.parametrize(
    ("domain", "gradients"),
    [
        (Interval(-1.0, 1.0), [[1.5 * 2.0**1023]]),
        (Interval(-1.0, 1.0), [[2.0**1023], [2.0**1023]]),
        (Interval(-1e3, 2e3), [[2.0**1020]]),
        (Interval(-(2.0**512), 2.0**512), [[2.0**511]] * 5),  # 0, 0, 1/2, 1 and 1 times 2**1023
    ],
    ids=["scale", "gradients", "costs", "played"],
)
def test_gradients_that_overflow_are_refused_and_the_state_is_unchanged(domain, gradients):
    learner = CoinBetting(domain)
    learner.run([LinearLoss([1e-3]), *map(LinearLoss, gradients[:-1])])
    before = learner.copy()
    zero = DifferentiableLoss(lambda x: np.zeros(1), lambda x: gradients[-1])
    with pytest.raises(ValueError, match="a gradient is too long"):
        learner.update(zero)
    assert learner == before
    learner.update(LinearLoss([0.5]))
    assert np.isfinite(learner.predict()).all()
