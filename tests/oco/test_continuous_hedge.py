"""Algorithm 5: what it plays, what it refuses, and that it survives a restart."""

import numpy as np
import pytest

from driftgames.core.documents import DocumentError
from driftgames.oco import (
    Ball,
    Box,
    ContinuousHedge,
    Grid,
    HitAndRun,
    Interval,
    LinearLoss,
    LogWealthLoss,
    Points,
    Polytope,
    QuadraticLoss,
    Simplex,
)
from driftgames.portfolio import UniversalPortfolio
from driftgames.potentials import Exponential, NormalHedgeDT, RecipePotential, TwoNorm
from tests.refusals import check_files_of

SQUARE = Box([0.0, 0.0], [1.0, 1.0])
STRATEGIES = [Grid(), Points(256), HitAndRun(128, least_effective=1.0)]


def test_the_first_prediction_is_the_centre_of_mass(domain):
    x = ContinuousHedge(domain).predict()
    assert np.allclose(
        x, domain.mean, atol=2e-3 * np.ptp(domain.sample(99, np.random.default_rng(0)))
    )


def test_positions_move_by_the_loss_of_the_played_point_not_by_the_mean_loss():
    """[LS14, Alg. 5]: z = f(x) - f(x_t), where the mean of f under p may be larger."""
    learner = ContinuousHedge(Interval(0.0, 1.0), integration=Grid(99))
    x, points = learner.predict(), learner.points
    own = learner.update(lambda points: (2 * points[:, 0] - 1) ** 2)
    assert own == pytest.approx((2 * x[0] - 1) ** 2)
    assert np.allclose(learner.positions, (2 * points[:, 0] - 1) ** 2 - own)
    assert learner.positions.mean() > 0.3  # with the mean loss it would be zero


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(
    "domain",
    [Interval(), Box([0.0, 0.0], [1.0, 2.0]), Simplex(3), Ball([1.0, 1.0], 0.5)],
    ids=["interval", "box", "simplex", "ball"],
)
def test_predictions_always_lie_in_the_set(domain, strategy):
    rng = np.random.default_rng(0)
    learner = ContinuousHedge(domain, integration=strategy)
    for _ in range(15):
        corner = domain.sample(1, rng)[0]
        learner.update(QuadraticLoss.to_target(corner, 0.15))
        assert domain.contains(learner.predict()).all()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
def test_a_range_given_once_only_rescales(strategy):
    """Losses of 5 to 9 play as the same losses on [0, 1], and regret is in their units."""
    plain = ContinuousHedge(Simplex(3), integration=strategy)
    scaled = ContinuousHedge(Simplex(3), integration=strategy, loss_range=(5.0, 9.0))
    rng = np.random.default_rng(1)
    for gradient in rng.random((12, 3)):
        plain.update(LinearLoss(gradient))
        scaled.update(LinearLoss(4 * gradient, offset=5.0))
    assert np.allclose(plain.predict(), scaled.predict())
    assert scaled.certificate().regret == pytest.approx(4 * plain.certificate().regret)
    assert scaled.certificate().promised == pytest.approx(4 * plain.certificate().promised)
    assert scaled.learner_loss == pytest.approx(4 * plain.learner_loss + 5 * 12)


def test_cover_is_continuous_exp_with_log_wealth_losses():
    rng = np.random.default_rng(2)
    relatives = np.exp(rng.normal(0, 0.1, size=(30, 3)))
    low, high = -np.log(relatives.max()), -np.log(relatives.min())
    learner = ContinuousHedge(
        Simplex(3), Exponential(high - low), integration=Points(512), loss_range=(low, high)
    )
    cover = UniversalPortfolio(3, points=learner.points)
    for row in relatives:
        assert np.allclose(cover.predict(), learner.predict(), atol=1e-12)
        learner.update(LogWealthLoss(row))
        cover.update(row)
    assert learner.learner_loss == pytest.approx(-np.log(cover.wealth))


def bad_losses():
    return {
        "above its range": (lambda x: 2 * x[:, 0], r"losses must lie in \[0, 1\]"),
        "below its range": (lambda x: -x[:, 0], r"losses must lie in \[0, 1\]"),
        "not a number": (lambda x: x[:, 0] * np.nan, r"losses must lie in \[0, 1\]; got nan"),
        "concave": (lambda x: x[:, 0] * (1 - x[:, 0]), "the loss is not convex: it is"),
        "a bump": (lambda x: np.exp(-50 * (x[:, 0] - 0.5) ** 2), "the loss is not convex"),
        "not vectorised": (lambda x: 0.5, "a loss must return one value per row"),
        "no function": (0.5, "a loss must be a function of points; got 0.5"),
        "not numbers": (lambda x: ["a"] * len(x), "losses must be numbers"),
    }


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("name", bad_losses())
def test_a_bad_loss_is_refused_and_the_state_is_unchanged(strategy, name):
    loss, message = bad_losses()[name]
    learner = ContinuousHedge(Box([0.0, 0.0], [1.0, 1.0]), integration=strategy)
    learner.update(LinearLoss([0.5, 0.5]))
    before = learner.predict(), learner.points.copy(), learner.t, learner.learner_loss
    with pytest.raises(ValueError, match=message):
        learner.update(loss)
    after = learner.predict(), learner.points, learner.t, learner.learner_loss
    for was, now in zip(before, after, strict=True):
        assert np.array_equal(was, now)


def test_a_loss_that_is_seen_not_to_be_convex_in_the_mean_is_refused():
    """Two grid points of 729 that dip: no segment need see them, the weights do."""
    learner = ContinuousHedge(Interval(), Exponential(2.0))
    for _ in range(400):
        learner.update(LinearLoss([1.0]))
    spike = learner.predict()[0]

    def loss(points):
        return np.where(np.abs(points[:, 0] - spike) < 1e-9, 0.9, 0.1)

    with pytest.raises(ValueError, match="at the mean of the density, above its mean"):
        learner.update(loss)


@pytest.mark.parametrize(
    "domain",
    [
        Interval(-1.0, 1.0),
        Box([0.0, 0.0], [1.0, 1.0]),
        Simplex(3),
        Ball([0.5, 0.5], 0.5),
        Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]),
    ],
    ids=lambda domain: type(domain).__name__,
)
@pytest.mark.parametrize("potential", [NormalHedgeDT(), Exponential(0.3), TwoNorm()])
@pytest.mark.parametrize("strategy", [Grid(27), Points(128, matched=True)])
def test_a_saved_learner_goes_on_to_the_same_bits(tmp_path, domain, potential, strategy):
    """Also when the losses are functions: only the positions are state."""
    rng = np.random.default_rng(3)
    targets = domain.sample(10, rng)
    whole = ContinuousHedge(domain, potential, integration=strategy, loss_range=(0.0, 4.0))
    path = tmp_path / "state.json"
    for t, target in enumerate(targets):
        if t == 5:
            whole.save(path)
        whole.update(lambda points, y=target: ((points - y) ** 2).sum(axis=1))
    again = ContinuousHedge.load(path)
    for target in targets[5:]:
        again.update(lambda points, y=target: ((points - y) ** 2).sum(axis=1))
    assert np.array_equal(whole.positions, again.positions)
    assert np.array_equal(whole.predict(), again.predict())
    assert (whole.t, whole.learner_loss) == (again.t, again.learner_loss)
    assert str(whole.certificate()) == str(again.certificate())


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
def test_a_copy_is_equal_and_goes_its_own_way(tmp_path, strategy):
    learner, other = (ContinuousHedge(Ball([0.5, 0.5], 0.5), integration=strategy) for _ in "ab")
    assert learner == other
    learner.run([LinearLoss([0.5, 0.5]), QuadraticLoss.to_target([0.2, 0.3], 0.5)])
    learner.save(tmp_path / "state.json")
    twin, loaded = learner.copy(), ContinuousHedge.load(tmp_path / "state.json")
    assert learner == twin == loaded != other
    before = learner.predict()
    twin.update(LinearLoss([0.1, 0.9]))
    assert learner != twin
    assert np.array_equal(learner.predict(), before)
    assert learner == loaded


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
def test_a_run_is_one_update_per_loss_or_nothing(strategy):
    losses = [LinearLoss(g) for g in np.random.default_rng(4).random((6, 2)) / 2]
    whole, step = (ContinuousHedge(SQUARE, integration=strategy) for _ in range(2))
    whole.run(losses[:2])
    run = whole.run(losses[2:])
    own = [step.update(loss) for loss in losses]
    assert whole == step
    assert run.learner_losses.tolist() == own[2:]
    assert run.rounds.tolist() == [3, 4, 5, 6]
    assert run.title == "NormalHedge.DT on a box" == whole.certificate().quantiles.title
    certificate = whole.certificate()
    with pytest.raises(ValueError, match="losses must lie in"):
        whole.run([losses[0], LinearLoss([9.0, 9.0])])
    assert whole == step
    whole.update(losses[0])
    assert (run.regret, run.promised) == (certificate.regret, certificate.promised)
    assert str(run.certificate()) == str(certificate)


def test_a_function_of_walkers_is_shared_by_copies_and_never_copied():
    """A loss may hold what cannot be copied, such as a connection."""

    class Loss:
        def __call__(self, points):
            return points[:, 0]

        def __deepcopy__(self, memo):
            raise TypeError("a connection cannot be copied")

    learner = ContinuousHedge(SQUARE, integration=HitAndRun(64, least_effective=1.0))
    run = learner.run([Loss(), Loss()])
    learner.update(Loss())
    assert (run.learner.t, learner.t) == (2, 3)


def test_a_potential_of_your_own_is_given_again(tmp_path):
    phi = RecipePotential(lambda s: np.minimum(s, 0.0) ** 2, 20)
    learner = ContinuousHedge(Interval(), phi, integration=Grid(9))
    learner.update(LinearLoss([1.0]))
    learner.save(tmp_path / "state.json")
    with pytest.raises(DocumentError, match="give it as potential="):
        ContinuousHedge.load(tmp_path / "state.json")
    again = ContinuousHedge.load(tmp_path / "state.json", potential=phi)
    assert np.array_equal(again.predict(), learner.predict())


def test_a_state_of_the_wrong_size_is_refused(tmp_path):
    learner = ContinuousHedge(Interval(), integration=Grid(9))
    line = ("arguments.integration.arguments.per_axis", 27, r"of shape \(27,\); got")
    check_files_of(learner, tmp_path / "state.json", [line])


@pytest.mark.parametrize(
    "given",
    [{"integration": Grid(27)}, {"domain": Interval(0.0, 2.0)}, {"potential": Exponential(5.0)}],
)
def test_what_is_given_again_must_be_what_it_ran_on(tmp_path, given):
    ContinuousHedge(Interval(), integration=Grid(9)).save(tmp_path / "state.json")
    with pytest.raises(DocumentError, match=r"it was made with \w+ = .*; given is"):
        ContinuousHedge.load(tmp_path / "state.json", **given)


ANY = [
    ("state.t", -5, "t must be an integer >= 0; got -5"),
    ("state.t", "x", "t must be an integer >= 0; got 'x'"),
    ("state.learner_loss", np.inf, "learner_loss must be a finite number; got inf"),
]
FIXED = [
    ("state.population.prior", np.ones(1), r"prior must be of shape \("),
    ("state.population.positions", np.zeros(5), "positions must be of shape"),
]
TOTAL = "state.population.total"
WALKING = [
    ("state.population.walkers", np.full((128, 2), 9.0), "in the set"),
    ("state.population.walkers", np.full((128, 2), np.nan), "finite"),
    ("state.population.walkers", np.zeros((64, 2)), "walkers must be of sh"),
    ("state.population.inverse_size", 0.0, "inverse_size must be a finite number > 0"),
    ("state.population.learner_total", np.nan, "learner_total must be a finite number"),
    (f"{TOTAL}.gradient", np.zeros(3), "must be of 2 coordinates; got 3"),
    (f"{TOTAL}.matrix", np.zeros((3, 3)), r"gradient must be of shape \(3,\); got"),
    (f"{TOTAL}.relatives", np.ones((1, 3)), "must be of 2 coordinates; got 3"),
    (f"{TOTAL}.relatives", np.full((1, 2), np.nan), "relatives must be finite"),
]


@pytest.mark.parametrize("k", range(len(STRATEGIES)))
def test_a_state_that_no_run_can_have_is_refused(k, tmp_path):
    learner = ContinuousHedge(SQUARE, integration=STRATEGIES[k])
    learner.update(LinearLoss([0.5, 0.5]))
    check_files_of(learner, tmp_path / "state.json", ANY + (FIXED if k < 2 else WALKING))


def test_load_takes_only_what_a_file_cannot_hold(tmp_path):
    ContinuousHedge(Interval(), integration=Grid(9)).save(tmp_path / "state.json")
    with pytest.raises(DocumentError, match="given again; got potentail"):
        ContinuousHedge.load(tmp_path / "state.json", potentail=NormalHedgeDT())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain": "interval"}, "domain must be of kind ConvexSet; got 'interval'"),
        ({"potential": "exp"}, "potential must be of kind Potential; got 'exp'"),
        ({"potential": NormalHedgeDT}, "potential must be of kind Potential; got <class"),
        ({"integration": 729}, "integration must be of kind Integration; got 729"),
    ],
)
def test_arguments_of_another_kind_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        ContinuousHedge(**{"domain": Interval(), **arguments})


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(
    "loss",
    [LinearLoss([0.5]), QuadraticLoss.to_target([0.0, 0.0, 1.0], 0.1), LogWealthLoss([1.0] * 3)],
    ids=lambda loss: type(loss).__name__,
)
def test_a_loss_of_other_points_is_refused_and_the_state_is_unchanged(strategy, loss):
    learner = ContinuousHedge(SQUARE, integration=strategy)
    with pytest.raises(ValueError, match=r"Loss is of [13] coordinates; got points of 2"):
        learner.update(loss)
    assert learner.t == 0


@pytest.mark.parametrize("loss_range", [(1.0, 0.0), (0.0, np.inf), (0.0, 0.0)])
def test_a_bad_range_says_what_is_wrong(loss_range):
    with pytest.raises(ValueError, match=r"loss_range must be \(low, high\), finite"):
        ContinuousHedge(Interval(), loss_range=loss_range)


@pytest.mark.parametrize("potential", [NormalHedgeDT(), Exponential(0.01)])
def test_a_hundred_thousand_rounds_stay_finite(potential):
    """Losses that favour one end for ever, then the other."""
    learner = ContinuousHedge(Interval(), potential, integration=Grid(9))
    up, down = LinearLoss([1.0]), LinearLoss([-1.0], offset=1.0)
    for t in range(100_000):
        learner.update(up if t < 70_000 else down)
    assert np.isfinite(learner.positions).all()
    assert 0.0 <= learner.predict()[0] <= 1.0
    certificate = learner.certificate()
    assert np.isfinite([certificate.regret, certificate.promised]).all()
    assert certificate.holds


def test_the_default_strategy_follows_the_dimension():
    sizes = {1: 729, 2: 6561, 3: 4096}
    for d, size in sizes.items():
        assert len(ContinuousHedge(Box(np.zeros(d), np.ones(d))).points) == size
    cube = Polytope(np.vstack([np.eye(6), -np.eye(6)]), np.ones(12))
    assert len(ContinuousHedge(cube).points) == HitAndRun().n_walkers


def test_positions_are_not_taken_for_other_points(tmp_path, rewrite):
    path = tmp_path / "state.json"
    ContinuousHedge(Simplex(3), integration=Points(64), random_state=0).save(path)
    rewrite(path, lambda content: content["arguments"].update(random_state=1))
    with pytest.raises(DocumentError, match="its points lie elsewhere here"):
        ContinuousHedge.load(path)


def test_a_loss_that_is_hardly_not_convex_is_refused_and_rounding_is_not():
    """The test allows a billionth of the range of the losses, and no more."""
    for bend, refused in ((1e-6, True), (1e-10, False)):
        learner = ContinuousHedge(Interval(0.0, 1.0), integration=Grid(9))

        def loss(x, bend=bend):
            return 0.5 - bend * x[:, 0] ** 2

        if refused:
            with pytest.raises(ValueError, match="not convex"):
                learner.update(loss)
            assert learner.t == 0
        else:
            learner.update(loss)
            assert learner.t == 1


def test_a_loss_that_is_hardly_concave_is_refused_and_a_hardly_convex_one_is_not():
    learner = ContinuousHedge(Interval(0.0, 1.0))
    with pytest.raises(ValueError, match=r"is not convex: .* halfway between"):
        learner.update(lambda x: 0.5 - 1e-4 * (x[:, 0] - 0.5) ** 2)
    assert learner.t == 0
    learner.update(lambda x: 0.5 + 1e-4 * (x[:, 0] - 0.5) ** 2)
    assert learner.t == 1
