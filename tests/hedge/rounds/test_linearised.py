"""Linearised losses: slopes, the compiled loop beside a plain one, and experts that sleep."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.hedge import AdaHedge, ExpertMixture, Hedge
from driftgames.hedge.losses.interval_losses import AbsoluteLoss, PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss
from driftgames.hedge.losses.make_loss import CustomLoss
from driftgames.potentials import NoBoundError

LOSSES = [SquareLoss(), AbsoluteLoss(), PinballLoss(0.3), LogLoss(0.01)]


def forecasts(rounds=80, experts=11, *, seed=0, asleep=0.0):
    rng = np.random.default_rng(seed)
    X = 0.05 + 0.9 * rng.random((rounds, experts))
    y = np.clip(0.6 * X[:, 0] + 0.4 * X[:, 1] + 0.05 * rng.random(rounds), 0.0, 1.0)
    X[:, 2:][rng.random((rounds, experts - 2)) < asleep] = np.nan
    return X, y


def outcomes_for(loss, y):
    return (y > 0.5) * 1.0 if isinstance(loss, LogLoss) else y


def plain_ada_hedge(X, y, slope):
    """Return the predictions and the gap of AdaHedge on linearised losses, from its formulas."""
    L, gap, predictions = np.zeros(X.shape[1]), 0.0, []
    for row, outcome in zip(X, y, strict=True):
        awake = ~np.isnan(row)
        behind = L - L.min()
        w = (behind == 0) * 1.0 if gap == 0.0 else np.exp(-math.log(L.size) / gap * behind)
        w /= w.sum()
        p = np.where(awake, w, 0.0)
        p = p / p.sum() if p.sum() > 0 else awake / awake.sum()
        mean = float(np.nansum(p * row))
        losses = np.where(awake, slope(mean, outcome) * (row - mean), 0.0)
        if gap == 0.0:
            mixed = (L + losses).min() - L.min()
        else:
            rate = math.log(L.size) / gap
            mixed = -math.log(float(np.sum(w * np.exp(-rate * losses)))) / rate
        gap += max(0.0 - mixed, 0.0)
        L += losses
        predictions.append(mean)
    return np.array(predictions), gap


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_derivatives_and_tangents_lie_below(loss):
    rng = np.random.default_rng(1)
    x, y = 0.05 + 0.9 * rng.random((2, 200))
    y = outcomes_for(loss, y)
    found, h = loss.slope(x, y), 1e-6
    steps = (loss.evaluate(x + h, y) - loss.evaluate(x - h, y)) / (2 * h)
    np.testing.assert_allclose(found, steps, rtol=1e-5, atol=1e-8)
    assert np.abs(found).max() <= loss.steepest
    others = 0.05 + 0.9 * rng.random((50, 1))
    below = loss.evaluate(x, y) + found * (others - x)
    assert (below <= loss.evaluate(others, y) + 1e-12).all()
    if not isinstance(loss, LogLoss | SquareLoss):
        assert loss.slope(y, y).tolist() == [0.0] * y.size


@pytest.mark.parametrize("asleep", [0.0, 0.4])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_compiled_loop_is_the_plain_one(loss, asleep):
    X, y = forecasts(asleep=asleep)
    y = outcomes_for(loss, y)
    mixture = ExpertMixture(loss, learner="adahedge")
    predictions, gap = plain_ada_hedge(
        X, y, lambda x, outcome: loss.slope(np.array([x]), np.array([outcome]))[0]
    )
    np.testing.assert_allclose(mixture.predict_then_fit(X, y), predictions, rtol=1e-9)
    width = mixture.learner_.loss_range[1] - mixture.learner_.loss_range[0]
    assert mixture.learner_.gap * width == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_a_gradient_of_your_own_gives_the_bits_of_the_compiled_one(asleep):
    X, y = forecasts(asleep=asleep)
    own = CustomLoss(lambda x, y: (x - y) ** 2, gradient=lambda x, y: 2.0 * (x - y))
    ours, theirs = ExpertMixture("square"), ExpertMixture(own)
    assert theirs.predict_then_fit(X, y).tolist() == ours.predict_then_fit(X, y).tolist()
    assert theirs.learner_ == ours.learner_
    assert theirs.expert_losses_.tolist() == ours.expert_losses_.tolist()


def test_bad_gradients_are_named_and_leave_the_mixture_as_it_was():
    X, y = forecasts()
    answers = iter([lambda x: np.zeros(2), lambda x: np.full(x.shape, np.nan)])
    loss = CustomLoss(lambda x, y: (x - y) ** 2, gradient=lambda x, y: next(answers)(x))
    with pytest.raises(ValueError, match=r"the gradient must have shape \(1,\); got \(2,\)"):
        ExpertMixture(loss).fit(X, y)
    with pytest.raises(ValueError, match="the gradient must be finite; got nan"):
        ExpertMixture(loss).fit(X, y)
    with pytest.raises(ValueError, match="ZeroOneLoss has no slope"):
        ExpertMixture("zero-one").fit(X, y).loss_.slope(y, y)


@given(st.integers(-400, 400), st.integers(0, 3))
def test_a_scale_that_is_a_power_of_two_changes_no_bit(power, seed):
    X, y = forecasts(30, seed=seed)
    scale = 2.0**power
    plain, scaled = ExpertMixture(), ExpertMixture()
    predictions = plain.predict_then_fit(X, y)
    assert scaled.predict_then_fit(X * scale, y * scale).tolist() == (predictions * scale).tolist()
    assert scaled.weights_.tolist() == plain.weights_.tolist()


def test_losses_that_overflow_are_refused():
    X, y = forecasts(10)
    mixture = ExpertMixture().fit(X, y)
    before = mixture.learner_.copy()
    with pytest.raises(ValueError, match="so large that their losses overflow"):
        mixture.partial_fit(X * 1e200, y)
    assert mixture.learner_ == before
    with pytest.raises(ValueError, match="so large that their losses overflow"):
        ExpertMixture(linearise=False).fit(X * 1e200, y)


@pytest.mark.parametrize("learner", [None, "adanormalhedge", "squint", "normalhedge.dt"])
@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_predict_gives_what_the_next_round_plays(learner, asleep):
    X, y = forecasts(asleep=asleep)
    mixture = ExpertMixture("square", (0, 1), learner)
    for t in range(len(y)):
        guess = None if t == 0 else mixture.predict(X[t : t + 1])
        played = mixture.predict_then_fit(X[t : t + 1], y[t : t + 1])
        assert guess is None or played.tolist() == guess.tolist()
    assert mixture.combination_certificate(X, y).holds


@pytest.mark.parametrize("learner", [None, "adanormalhedge", "squint", "normalhedge.dt"])
def test_an_expert_asleep_has_no_weight_and_keeps_its_position(learner):
    X, y = forecasts()
    mixture = ExpertMixture("square", (0, 1), learner, combiners=False).fit(X, y)
    before, losses = mixture.learner_.positions, mixture.expert_losses_
    row = X[:1].copy()
    row[0, 3:] = np.nan
    low, high = np.nanmin(row), np.nanmax(row)
    predicted = mixture.predict_then_fit(row, [0.9])[0]
    assert low <= predicted <= high
    moved = mixture.learner_.positions - before
    np.testing.assert_allclose(moved[3:], 0.0, atol=1e-15)
    assert np.abs(moved[:3]).min() > 1e-6
    np.testing.assert_allclose(mixture.expert_losses_[3:] - losses[3:], (predicted - 0.9) ** 2)
    assert mixture.rounds_awake_.tolist() == [81] * 3 + [80] * 8


def test_experts_who_sleep_are_those_who_say_what_the_mixture_says():
    X, y = forecasts(asleep=0.5)
    sleepy, filled = ExpertMixture(combiners=False), ExpertMixture(combiners=False)
    predictions = sleepy.predict_then_fit(X, y)
    heard = np.where(np.isnan(X), predictions[:, None], X)
    np.testing.assert_allclose(filled.predict_then_fit(heard, y), predictions, rtol=1e-9)
    np.testing.assert_allclose(filled.expert_losses_, sleepy.expert_losses_, rtol=1e-9)


def test_leaders_who_sleep_before_any_gap_leave_the_others_to_play():
    # the first round has one leader and no gap: its weight is 1, and then it sleeps
    mixture = ExpertMixture().fit([[0.0, np.nan, np.nan]], [0.0])
    mixture.partial_fit([[0.0, 1.0, 1.0]], [0.0])
    assert mixture.predict([[np.nan, 1.0, 3.0]])[0] == 2.0


def test_ada_hedge_keeps_its_bound_over_the_rounds_awake():
    rng = np.random.default_rng(3)
    L, awake = rng.random((500, 6)) * 900.0, rng.random((500, 6)) < 0.6
    L[:, 0] *= 0.5
    awake[:, 1] = True
    learner = AdaHedge(6, loss_range=None)
    own = learner.run(L, awake=awake).learner_losses
    regret = np.where(awake, own[:, None] - L, 0.0).sum(axis=0)
    assert learner.certificate().at(1 / 6).realised == pytest.approx(regret.max(), rel=1e-9)
    assert 0 < regret.max() <= 2 * learner.gap
    # a player who shares its weight evenly among those awake breaks the same bound
    even = np.where(awake, L, 0.0).sum(axis=1) / awake.sum(axis=1)
    assert np.where(awake, even[:, None] - L, 0.0).sum(axis=0).max() > 2 * learner.gap


def test_ada_hedge_without_a_range_plays_as_with_one(tmp_path):
    L = np.random.default_rng(4).random((300, 5)) * 64.0 - 32.0
    free, bounded = AdaHedge(5, loss_range=None), AdaHedge(5, loss_range=(-32.0, 32.0))
    p, q = (learner.run(L, distributions=True).distributions for learner in (free, bounded))
    np.testing.assert_allclose(p, q, rtol=1e-9)
    assert free.learner_loss == pytest.approx(bounded.learner_loss)
    assert free.loss_range == (-math.inf, math.inf)
    ours, theirs = free.certificate(), bounded.certificate()
    np.testing.assert_allclose(ours.promised, theirs.promised, rtol=1e-9)
    np.testing.assert_allclose(ours.realised, theirs.realised, rtol=1e-9)
    with pytest.raises(NoBoundError, match="no bound before the run"):
        free.bound(10, 0.2)
    assert np.isinf(free.copy().run(L[:2]).promised_over_time).all()
    with pytest.raises(ValueError, match="losses must lie in"):
        free.update([0.0, math.inf, 0.0, 0.0, 0.0])
    free.save(tmp_path / "free.json")
    again = AdaHedge.load(tmp_path / "free.json")
    assert "Infinity" not in (tmp_path / "free.json").read_text()
    assert again == free
    assert again.update(L[0]) == free.update(L[0])


def test_totals_far_above_their_floor_stay_exact():
    learner = AdaHedge(2, loss_range=None)
    learner.run(np.tile([2.0**70, 2.0**70 + 2.0**60], (40, 1)))
    assert np.diff(learner.positions).tolist() == [40 * 2.0**60]
    assert learner._get_state()["cumulative"].min() == 0.0  # an integer of any size is taken off


@pytest.mark.parametrize("learner", [None, partial(Hedge, potential=None)])
def test_a_saved_mixture_with_sleepers_goes_on_to_the_same_bits(tmp_path, learner):
    X, y = forecasts(asleep=0.3)
    settings = {} if learner is None else {"outcome_range": (0, 1), "learner": learner}
    mixture = ExpertMixture("absolute", **settings).fit(X[:40], y[:40])
    mixture.save(tmp_path / "m.json")
    assert "Infinity" not in (tmp_path / "m.json").read_text()
    again = ExpertMixture.load(tmp_path / "m.json", learner=learner)
    rest = mixture.predict_then_fit(X[40:], y[40:]).tolist()
    assert again.predict_then_fit(X[40:], y[40:]).tolist() == rest
    assert again.expert_losses_.tolist() == mixture.expert_losses_.tolist()
    assert again.rounds_awake_.tolist() == mixture.rounds_awake_.tolist()
    assert again.combination_certificate(X, y).regret == pytest.approx(
        mixture.combination_certificate(X, y).regret
    )


def test_the_combination_certificate_wants_the_rounds_that_were_played():
    X, y = forecasts()
    mixture = ExpertMixture().fit(X, y)
    assert mixture.combination_certificate(X, y).holds
    assert "the bound holds" in str(mixture.combination_certificate(X, y))
    with pytest.raises(ValueError, match="must be all rounds that the mixture has played"):
        mixture.combination_certificate(X[1:], y[1:])
    plain = ExpertMixture(linearise=False).fit(X, y)
    with pytest.raises(ValueError, match="nothing is promised of combinations"):
        plain.combination_certificate(X, y)


def test_the_distributions_of_linearised_rounds_are_those_of_the_learner():
    X, y = forecasts(12, 4)
    learner, twin = (AdaHedge(4, loss_range=None) for _ in range(2))
    slope = SquareLoss().compiled_slope
    mixed, played = learner.run_forecasts(X, y, slope, distributions=True)
    for t in range(12):
        np.testing.assert_array_equal(played[t], twin.distribution())
        assert twin.run_forecasts(X[t : t + 1], y[t : t + 1], slope)[0] == mixed[t]
