"""The theorems on Hedge, run through the public learners: at every t, for every epsilon = k/N."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.certificates import bounds
from driftgames.games import GreedyAdversary
from driftgames.games.chips import Chips
from driftgames.hedge import LEARNERS, Hedge, RandomizedHedge
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm

NAMES = list(LEARNERS)
ROUNDING = 1e-9


def _regret_curves(L, learner_losses):
    """Return the epsilon-regret after each round (rows) for epsilon = 1/N, ..., 1 (columns)."""
    totals = np.sort(np.cumsum(L, axis=0), axis=1)
    return np.cumsum(learner_losses)[:, np.newaxis] - totals


def _bound_curves(learner, rounds):
    epsilons = np.arange(1, learner.n_actions + 1) / learner.n_actions
    return learner.bound(np.arange(1, rounds + 1)[:, np.newaxis], epsilons)


def _assert_below(realised, promised):
    assert np.isfinite(promised).all()
    assert realised.shape == promised.shape
    assert (realised <= promised + ROUNDING).all()


def _against(learner, choose, rounds):
    """Play against ``choose(learner, p)`` and return the losses and the learner's own."""
    losses, own = [], []
    for _ in range(rounds):
        row = choose(learner, learner.distribution())
        losses.append(row)
        own.append(learner.update(row))
    return np.array(losses), np.array(own)


def _greedy(potential):
    """An adversary that maximises the sum of potentials over all losses in {0, 1}."""
    adversary, rng = GreedyAdversary(potential), np.random.default_rng(0)

    def choose(learner, p):
        z = adversary.moves(Chips(learner.positions, learner.t), p, rng)
        return np.clip(z - z.min(), 0.0, 1.0)  # rounding may pass 1

    return choose


matrices = arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.integers(1, 6)),
    elements=st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)),
)


@pytest.mark.parametrize("name", NAMES)
@tried(max_examples=60)
@given(L=matrices)
def test_thm2_regret_stays_below_bound_for_every_epsilon_on_any_losses(name, L):
    learner = LEARNERS[name](L.shape[1], len(L))
    run = learner.run(L)
    _assert_below(_regret_curves(L, run.learner_losses), _bound_curves(learner, len(L)))
    assert learner.certificate().holds


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_actions", [2, 3, 6, 20])
def test_thm2_regret_stays_below_bound_against_a_greedy_adversary(name, n_actions):
    rounds = 80
    learner = LEARNERS[name](n_actions, rounds)
    L, own = _against(learner, _greedy(NormalHedgeDT()), rounds)
    _assert_below(_regret_curves(L, own), _bound_curves(learner, rounds))
    assert own.sum() > L.sum(axis=0).min()  # the adversary does gain on the learner


@pytest.mark.parametrize("name", NAMES)
def test_thm2_regret_stays_below_bound_against_an_adversary_that_punishes_the_heaviest(name):
    rounds, n_actions = 400, 5
    learner = LEARNERS[name](n_actions, rounds)
    L, own = _against(learner, lambda _, p: (p == p.max()).astype(float), rounds)
    _assert_below(_regret_curves(L, own), _bound_curves(learner, rounds))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gap", [0.0, 0.1, 0.5])
def test_thm2_regret_stays_below_bound_on_stochastic_losses(name, gap):
    rng = np.random.default_rng(7)
    rounds, n_actions = 1000, 50
    chances = np.full(n_actions, 0.5)
    chances[: n_actions // 10] -= gap
    L = (rng.random((rounds, n_actions)) < chances).astype(float)
    learner = LEARNERS[name](n_actions, rounds)
    run = learner.run(L)
    _assert_below(_regret_curves(L, run.learner_losses), _bound_curves(learner, rounds))


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_holds_after_every_round(name):
    # certificates of learners that adapt know how easy the run was, and promise less
    rounds, n_actions = 150, 6
    learner = LEARNERS[name](n_actions, rounds)
    choose, rng = _greedy(NormalHedgeDT()), np.random.default_rng(1)
    for t in range(1, rounds + 1):
        row = rng.random(n_actions) if t % 2 else choose(learner, learner.distribution())
        learner.update(row)
        certificate = learner.certificate()
        _assert_below(certificate.realised, certificate.promised)
        worst = learner.bound(t, certificate.epsilons)
        assert (certificate.promised <= worst + ROUNDING).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "normalhedge"])
@tried(max_examples=30)
@given(
    L=arrays(np.float64, (30, 4), elements=st.floats(0, 1)),
    masses=st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
)
def test_thm2_holds_for_a_prior_with_epsilon_its_mass(name, L, masses):
    prior = np.array(masses) / sum(masses)
    learner = LEARNERS[name](4, 30, prior=prior)
    for row in L:
        learner.update(row)
        certificate = learner.certificate()
        _assert_below(certificate.realised, certificate.promised)


def test_cor1_the_2_norm_stays_below_the_printed_bound_for_all_t_and_epsilon():
    rounds, n_actions = 200, 8
    learner = Hedge(n_actions, TwoNorm())
    L, own = _against(learner, _greedy(TwoNorm()), rounds)
    epsilons = np.arange(1, n_actions + 1) / n_actions
    printed = bounds.corollary_1(np.arange(1, rounds + 1)[:, np.newaxis], epsilons)
    _assert_below(_regret_curves(L, own), printed)


def test_cor2_normal_hedge_dt_stays_below_the_printed_bound_for_all_t_and_epsilon():
    rounds, n_actions = 200, 8
    learner = Hedge(n_actions)
    L, own = _against(learner, _greedy(NormalHedgeDT()), rounds)
    epsilons = np.arange(1, n_actions + 1) / n_actions
    printed = bounds.corollary_2(np.arange(1, rounds + 1)[:, np.newaxis], epsilons)
    _assert_below(_regret_curves(L, own), printed)
    assert (_bound_curves(learner, rounds) <= printed + ROUNDING).all()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_exp_tuned_to_horizon_and_epsilon_stays_below_its_printed_bound(k):
    rounds, n_actions = 100, 8
    potential = Exponential.tuned(rounds, k / n_actions)
    L, own = _against(Hedge(n_actions, potential), _greedy(potential), rounds)
    realised = _regret_curves(L, own)[-1, k - 1]
    assert realised <= bounds.exponential_weights(rounds, k / n_actions)


def _one_is_always_right(rounds, n_actions):
    L = np.ones((rounds, n_actions))
    L[:, 0] = 0.0
    return L


@pytest.mark.parametrize("name", NAMES)
def test_thm2_uniform_play_breaks_every_bound_and_the_learner_keeps_it(name):
    rounds, n_actions = 5000, 4
    L = _one_is_always_right(rounds, n_actions)
    learner = LEARNERS[name](n_actions, rounds)
    promised = _bound_curves(learner, rounds)
    _assert_below(_regret_curves(L, learner.run(L).learner_losses), promised)
    with pytest.raises(AssertionError):
        _assert_below(_regret_curves(L, L.mean(axis=1)), promised)


def test_uniform_play_breaks_both_corollaries():
    rounds, n_actions = 200, 8
    L = _one_is_always_right(rounds, n_actions)
    horizons, epsilons = np.arange(1, rounds + 1)[:, np.newaxis], np.arange(1, 9) / 8
    for potential, printed in ((TwoNorm(), bounds.corollary_1), (None, bounds.corollary_2)):
        promised = printed(horizons, epsilons)
        with pytest.raises(AssertionError):
            _assert_below(_regret_curves(L, L.mean(axis=1)), promised)
        own = Hedge(n_actions, potential).run(L).learner_losses
        _assert_below(_regret_curves(L, own), promised)


@pytest.mark.parametrize("delta", [0.05, 0.5])
@pytest.mark.parametrize("potential", ["normalhedge.dt", "exp"])
def test_drawn_actions_exceed_the_bound_no_more_often_than_delta(delta, potential):
    games, rounds, n_actions = 2000, 60, 5
    rng = np.random.default_rng(11)
    phi = (
        NormalHedgeDT()
        if potential == "normalhedge.dt"
        else Exponential.tuned(rounds, delta / n_actions)
    )
    regret = np.empty(games)
    for game in range(games):
        learner = RandomizedHedge(n_actions, phi, random_state=game, delta=delta)
        regret[game] = learner.run((rng.random((rounds, n_actions)) < 0.5) * 1.0).regret
    limit = bounds.high_probability(phi, rounds, n_actions, delta)
    assert limit == pytest.approx(learner.bound(rounds, 1 / n_actions))
    exceeded = np.mean(regret >= limit)
    assert exceeded <= delta + 3 * np.sqrt(delta * (1 - delta) / games)
    # the regret is a random number and the limit not out of its reach
    assert regret.std() > 1.0
    assert np.quantile(regret, 0.999) > 0.3 * limit


@pytest.mark.parametrize("delta", [0.05, 0.5])
@pytest.mark.parametrize("potential", ["normalhedge.dt", "exp"])
def test_sec34_drawn_actions_keep_a_bound_that_uniform_draws_break_in_every_game(delta, potential):
    """One action is right nine times out of ten, the others once: uniform draws lose to it."""
    games, rounds, n_actions = 300, 200, 5
    rng = np.random.default_rng(12)
    phi = (
        NormalHedgeDT()
        if potential == "normalhedge.dt"
        else Exponential.tuned(rounds, delta / n_actions)
    )
    limit = bounds.high_probability(phi, rounds, n_actions, delta)
    drawn, uniform = np.empty(games), np.empty(games)
    for game in range(games):
        losses = (rng.random((rounds, n_actions)) < [0.1, 0.9, 0.9, 0.9, 0.9]) * 1.0
        learner = RandomizedHedge(n_actions, phi, random_state=game, delta=delta)
        drawn[game] = learner.run(losses).regret
        lazy = losses[np.arange(rounds), rng.integers(n_actions, size=rounds)].sum()
        uniform[game] = lazy - losses.sum(axis=0).min()
    assert np.mean(drawn >= limit) <= delta
    assert drawn.std() > 0.5  # the loss is that of the action drawn
    assert (uniform >= limit).all()


def test_sec34_phi_0_must_be_delta_over_n_and_not_delta():
    """The paper sets Phi_0(0) = delta. The union over N chips needs N Phi_0(0) = delta.

    In one round one action of 50 is right. The first draw is uniform, so the regret is 1 with
    probability 0.98. With R = 1 the potential starts at 0.51.
    """
    n, games, phi = 50, 2000, Exponential(2.0)
    start = float(phi.value([0.0], 0, horizon=1)[0] / phi.value([-1.0], 1, horizon=1)[0])
    losses = np.ones((1, n))
    losses[0, 7] = 0.0
    regrets = [
        RandomizedHedge(n, phi, random_state=game).run(losses).regret for game in range(games)
    ]
    exceeded = np.mean(np.array(regrets) >= 1.0)
    assert start == pytest.approx(0.51, abs=0.01)
    assert start + 0.4 < exceeded <= n * start
    assert bounds.high_probability(phi, 1, n, 0.5) == pytest.approx(float(phi.bound(1, 0.5 / n)))


def test_drawn_actions_keep_their_bound_against_losses_that_follow_the_distribution():
    # the adversary sees p_t, though not the draw, and punishes the heaviest action
    games, rounds, n_actions, delta = 200, 60, 3, 0.2
    regret = np.empty(games)
    for game in range(games):
        learner = RandomizedHedge(n_actions, random_state=game, delta=delta)
        _against(learner, lambda _, p: (p == p.max()).astype(float), rounds)
        regret[game] = -learner.positions.min()
    limit = learner.bound(rounds, 1 / n_actions)
    exceeded = np.mean(regret >= limit)
    assert exceeded <= delta + 3 * np.sqrt(delta * (1 - delta) / games)


@pytest.mark.parametrize("eta", [0.02, 0.1, 0.5, 2.0, 8.0])
def test_exp_on_losses_in_0_1_keeps_the_bound_of_hoeffding_and_it_is_the_lower_one(eta):
    """A leader who loses as late as possible makes EXP pay nearly the whole bound."""
    n, rounds = 64, 400
    potential = Exponential(eta)
    epsilons = np.arange(1, n + 1) / n
    assert (potential.hedge_bound(rounds, epsilons) <= potential.bound(rounds, epsilons)).all()
    rng = np.random.default_rng(0)
    L = rng.integers(0, 2, size=(rounds, n)).astype(float)
    for losses in (L, 1.0 - L, np.sort(L, axis=0), np.tile(np.eye(2), (rounds // 2, n // 2))):
        learner = Hedge(n, potential)
        learner.run(losses)
        certificate = learner.certificate()
        assert certificate.holds
        np.testing.assert_array_equal(
            certificate.promised, potential.hedge_bound(rounds, certificate.epsilons)
        )
    # a player of the uniform distribution breaks it where one action never loses
    best = np.ones((rounds, n))
    best[:, 0] = 0.0
    uniform = best.mean(axis=1).sum() - best.sum(axis=0).min()
    assert uniform > Exponential.tuned(rounds, 1 / n).hedge_bound(rounds, 1 / n)
