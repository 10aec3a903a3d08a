"""Thompson sampling on a grid: its posterior by hand, arms that change, late losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.bandit import BernoulliArms, PullLog, ThompsonSampling, TsallisINF
from driftgames.bandit.engines.thompson_engine import SWITCH, values_of
from driftgames.potentials import NoBoundError


def posterior(n_arms, pulls, hazard, spread, cells):
    """Return the weights of one model by matrices, pull by pull."""
    values = values_of(cells)
    x = (np.arange(cells) + 0.5) / cells
    prior = x * (1 - x) / (x * (1 - x)).sum()
    walk = np.eye(cells) * (1 - 2 * spread)
    walk += spread * (np.eye(cells, k=1) + np.eye(cells, k=-1))
    walk[0, 0] += spread
    walk[-1, -1] += spread
    w = np.tile(prior, (n_arms, 1))
    chance = 1.0
    for arm, loss in pulls:
        w = (1 - hazard) * (w @ walk) + hazard * prior
        w[arm] *= values**loss * (1 - values) ** (1 - loss)
        chance *= w[arm].sum()
        w[arm] /= w[arm].sum()
    return w, chance


def best_by_sampling(weights, draws=200_000, seed=0):
    rng = np.random.default_rng(seed)
    cells = weights.shape[1]
    at = np.array([rng.choice(cells, size=draws, p=w / w.sum()) for w in weights])
    at = at + rng.random(at.shape)  # within a cell the order is random
    return np.bincount(at.argmin(axis=0), minlength=len(weights)) / draws


@pytest.mark.parametrize(("forget", "agree"), [(None, 1), (20.0, 1), (20.0, 3)])
def test_the_distribution_is_the_chance_to_be_best_under_the_posterior(forget, agree):
    policy = ThompsonSampling(3, forget=forget, agree=agree, resolution=16, random_state=0)
    pulls = []
    for t in range(25):
        arm, prob = policy.pull()
        loss = [0.0, 1.0, 0.3][(t + arm) % 3]
        policy.update(arm, loss, prob)
        pulls.append((arm, loss))
    weights, _ = posterior(3, pulls, 0.0 if forget is None else 1 / forget, 0.0, 16)
    wanted = best_by_sampling(weights) ** agree
    np.testing.assert_allclose(policy.distribution(), wanted / wanted.sum(), atol=0.02)


def test_models_weigh_by_the_chance_that_they_gave_to_the_losses():
    policy = ThompsonSampling(2, resolution=8, random_state=0)
    pulls = []
    for t in range(12):
        arm, prob = policy.pull()
        loss = float(t % 3 == 0)
        policy.update(arm, loss, prob)
        pulls.append((arm, loss))
    spread = 2.5e-5 * 64 / 2
    models = [(1e-5, 0.0), (3e-4, 0.0), (1e-4, spread)]
    shares = np.full(3, 1 / 3)
    for t in range(1, 13):
        for k, (hazard, walk) in enumerate(models):
            before = posterior(2, pulls[: t - 1], hazard, walk, 8)[1]
            shares[k] *= posterior(2, pulls[:t], hazard, walk, 8)[1] / before
        shares = (1 - SWITCH) * shares / shares.sum() + SWITCH / 3
    np.testing.assert_allclose(policy._engine.memory[:3], shares, rtol=1e-9)


def regret(policy, losses, means):
    drawn = policy.run(losses).drawn
    at = np.arange(len(losses))
    return (means[at, drawn] - means.min(axis=1)).sum()


def test_it_follows_arms_that_jump_and_loses_little_where_none_does():
    rng = np.random.default_rng(0)
    jumping = np.repeat(rng.random((5, 10)), 1000, axis=0)
    losses = (rng.random(jumping.shape) < jumping).astype(float)
    forgetting = np.mean(
        [regret(ThompsonSampling(10, random_state=s), losses, jumping) for s in range(5)]
    )
    never = np.mean(
        [
            regret(ThompsonSampling(10, forget=None, random_state=s), losses, jumping)
            for s in range(5)
        ]
    )
    assert forgetting < 0.4 * never
    fixed = BernoulliArms.with_gap(10, 0.1)
    paid = {
        forget: np.mean(
            [
                ThompsonSampling(10, forget=forget, random_state=s)
                .run(fixed, 10_000, environment_rng=np.random.default_rng(s))
                .pseudo_regret
                for s in range(5)
            ]
        )
        for forget in ("auto", None)
    }
    assert paid["auto"] < 2 * paid[None]


def test_late_losses_cost_it_less_than_tsallis_inf():
    arms = BernoulliArms.with_gap(10, 0.1)
    paid = {}
    for make in (ThompsonSampling, TsallisINF):
        runs = [
            make(10, random_state=s).run(
                arms, 5000, environment_rng=np.random.default_rng(s), delays=100
            )
            for s in range(3)
        ]
        paid[make] = np.mean([run.pseudo_regret for run in runs])
    assert paid[ThompsonSampling] < paid[TsallisINF]


def test_many_arms_that_agree_are_drawn_alike():
    """Products of thousands of chances below 1 must not become 0."""
    policy = ThompsonSampling(3000, forget=None, resolution=8, random_state=0)
    weights = policy._engine.memory[1:].reshape(3000, 8)
    weights[:] = 0.0
    weights[:, 2] = 1.0
    np.testing.assert_allclose(policy.distribution(), 1 / 3000, rtol=1e-9)
    weights[7] = [1.0, 0, 0, 0, 0, 0, 0, 0]
    assert policy.distribution()[7] > 0.999


@given(
    losses=st.lists(st.floats(0, 1), min_size=1, max_size=40),
    forget=st.sampled_from(["auto", None, 1.0, 3.5]),
)
def test_every_sequence_of_losses_leaves_a_distribution(losses, forget):
    policy = ThompsonSampling(3, forget=forget, resolution=8, random_state=1)
    for loss in losses:
        arm, prob = policy.pull()
        assert 0 < prob <= 1
        policy.update(arm, loss, prob)
    p = policy.distribution()
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1)
    low, high = policy.means.min(), policy.means.max()
    assert 0 < low <= high < 1


def test_it_stays_finite_for_100_000_rounds_of_one_kind():
    policy = ThompsonSampling(2, forget=None, resolution=16, random_state=0)
    policy.run(np.tile([0.0, 1.0], (100_000, 1)))
    p = policy.distribution()
    assert np.isfinite(p).all()
    assert p[0] > 0.999


def test_nothing_is_promised_and_means_are_in_the_users_units():
    policy = ThompsonSampling(2, loss_range=(0, 10), gains=True, random_state=0)
    with pytest.raises(NoBoundError, match="none for a given sequence"):
        policy.bound(10, 0.5)
    for _ in range(200):
        arm, prob = policy.pull()
        policy.update(arm, 9.0 if arm else 1.0, prob)
    assert policy.means[1] == pytest.approx(9.0, abs=0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forget": 0.5}, 'forget must be "auto", None or a number of rounds >= 1; got 0.5'),
        ({"forget": "never"}, "forget must be"),
        ({"forget": float("nan")}, "forget must be"),
        ({"agree": 0}, "agree must be an integer >= 1"),
        ({"agree": 11}, "agree must be at most 10"),
        ({"resolution": 4}, "resolution must be an integer >= 8"),
        ({"resolution": 1000}, "resolution must be at most 128"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        ThompsonSampling(2, **settings)


@pytest.mark.parametrize("forget", [{"reduced_variance": True}, {"adapt_to_delays": True}])
def test_tsallis_inf_forgets_in_one_way_only(forget):
    with pytest.raises(ValueError, match="forget goes neither"):
        TsallisINF(2, forget=10, **forget)
    with pytest.raises(ValueError, match=r"forget must lie in \[2,"):
        TsallisINF(2, forget=1)


def test_a_warm_start_learns_from_a_log_as_from_pulls_of_its_own():
    losses = (np.random.default_rng(0).random((600, 3)) < [0.5, 0.2, 0.5]).astype(float)
    log = PullLog(TsallisINF(3, random_state=1))
    log.run(losses)
    warm = ThompsonSampling(3, random_state=0)
    assert warm.warm_start(log) == 600
    assert warm.t == warm.watched == 600
    assert warm.distribution()[1] > 0.9
    framed = ThompsonSampling(3, random_state=0)
    framed.warm_start(log.to_frame("polars"))
    assert framed == warm
    one_by_one = ThompsonSampling(3, random_state=0)
    for arm, prob, loss in zip(
        *(log.columns[c] for c in ("arm", "propensity", "loss")), strict=True
    ):
        one_by_one.watch(arm, loss, prob)
    assert one_by_one == warm


def test_a_bad_row_of_a_log_leaves_the_policy_cold_and_missing_losses_are_skipped():
    frame = PullLog(TsallisINF(2, random_state=0))
    for _ in range(4):
        frame.pull()
    cold = ThompsonSampling(2, random_state=0)
    assert cold.warm_start(frame) == 0
    frame.columns["loss"][:] = [0.0, 1.0, 7.0, 0.0]
    with pytest.raises(ValueError, match=r"row 2 of the log: a loss must lie in \[0, 1\]; got 7"):
        cold.warm_start(frame)
    assert cold == ThompsonSampling(2, random_state=0)
