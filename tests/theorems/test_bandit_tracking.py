"""Tsallis-INF that forgets keeps its bound to every sequence of arms with few switches."""

import numpy as np
import pytest

from driftgames.bandit import Exp3IX, TsallisINF
from driftgames.certificates.bounds import tsallis_inf_tracking


def switching(rounds, n_arms, switches, rng, gap=1.0):
    """Return losses and the best sequence: the best arm changes ``switches`` times."""
    ends = np.linspace(0, rounds, switches + 2).astype(int)
    best = np.repeat(np.arange(switches + 1) % n_arms, np.diff(ends))
    means = np.full((rounds, n_arms), 0.5 + gap / 2)
    means[np.arange(rounds), best] = 0.5 - gap / 2
    return (rng.random((rounds, n_arms)) < means).astype(float), best


def tracking_regret(make, rounds, n_arms, switches, gap, games):
    found = []
    for seed in range(games):
        rng = np.random.default_rng(seed)
        losses, best = switching(rounds, n_arms, switches, rng, gap)
        drawn = make(n_arms, seed).run(losses).drawn
        at = np.arange(rounds)
        found.append(losses[at, drawn].sum() - losses[at, best].sum())
    return float(np.mean(found))


@pytest.mark.parametrize(
    ("n_arms", "forget", "switches", "gap"), [(2, 400, 1, 1.0), (2, 400, 5, 0.8), (4, 1000, 3, 1.0)]
)
def test_the_tracking_bound_holds_where_lazy_players_and_those_who_remember_all_break_it(
    n_arms, forget, switches, gap
):
    rounds = 40_000
    bound = tsallis_inf_tracking(rounds, n_arms, forget, switches)
    ours = tracking_regret(
        lambda n, seed: TsallisINF(n, forget=forget, random_state=seed),
        rounds,
        n_arms,
        switches,
        gap,
        10,
    )
    assert 0 < ours < bound
    remembering = tracking_regret(
        lambda n, seed: TsallisINF(n, random_state=seed), rounds, n_arms, switches, gap, 3
    )
    uniform = gap * rounds * (1 - 1 / n_arms)
    assert bound < uniform
    assert bound < remembering


def test_the_tracking_bound_holds_against_a_sequence_that_an_adversary_makes():
    """The favourite of the player loses, in stretches: the best sequence has a loss of 0."""
    rounds, forget = 60_000, 2000
    found = []
    for seed in range(4):
        policy = TsallisINF(2, forget=forget, random_state=seed)
        lost, favourite, own = np.zeros(2), 0, 0.0
        for t in range(rounds):
            if t % 10_000 == 0:
                favourite = int(np.argmax(policy.distribution()))
            arm, prob = policy.pull()
            loss = float(arm == favourite)
            policy.update(arm, loss, prob)
            own += loss
            lost[favourite] += 1
        found.append(own)  # the other arm of every stretch has no loss
    assert np.mean(found) < tsallis_inf_tracking(rounds, 2, forget, 5) < rounds / 2


def test_the_sums_of_the_bound_are_those_of_its_formula_or_above_by_little():
    for rounds, n, forget in ((1, 2, 2.0), (10, 3, 50.0), (5000, 10, 37.5)):
        t = np.minimum(np.arange(1, rounds + 1), forget)
        eta, beta = 2 / np.sqrt(t), 1 - 1 / forget
        exact = 4 * (np.sqrt(n) - 1) * ((1 / eta).sum() / forget + beta / eta[-1])
        exact += np.sqrt(n) / (2 * beta) * eta.sum() + 3 * (forget - 1)
        ours = float(tsallis_inf_tracking(rounds, n, forget, 3))
        assert exact <= ours <= 1.05 * exact + 6 * np.sqrt(n)


def test_a_certificate_compares_with_the_best_fixed_arm():
    policy = TsallisINF(2, forget=300, random_state=0)
    run = policy.run(switching(20_000, 2, 0, np.random.default_rng(0))[0])
    certificate = run.certificate()
    assert certificate.holds
    assert certificate.promised[0] == tsallis_inf_tracking(20_000, 2, 300, 0)
    assert certificate.promised[0] < 10_000
    lazy = Exp3IX(2, horizon=20_000, random_state=0)
    assert lazy.title  # a policy without forget has no bound to a sequence
    with pytest.raises(AttributeError):
        lazy.tracking_bound(10, 1)
