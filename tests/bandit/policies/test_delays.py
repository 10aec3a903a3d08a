"""Late losses: how late they were, what the bounds make of it, and games with delays."""

import numpy as np
import pytest

from driftgames.bandit import (
    BernoulliArms,
    Exp3IX,
    PotentialBandit,
    Spiteful,
    TsallisINF,
    play_games,
)
from driftgames.bandit.engines import tsallis_engine as tsallis
from driftgames.certificates.bounds.bandits import (
    exp3_delayed,
    tsallis_inf,
    tsallis_inf_adaptive,
    tsallis_inf_delayed,
    tsallis_inf_rv,
    tsallis_inf_stochastic,
)
from driftgames.potentials import NoBoundError

PROMISING = {
    "exp3": lambda **more: PotentialBandit(2, horizon=400, **more),
    "exp3-anytime": lambda **more: PotentialBandit(2, **more),
    "tsallis-inf": lambda **more: TsallisINF(2, **more),
    "tsallis-inf, adaptive": lambda **more: TsallisINF(2, adapt_to_delays=True, **more),
}


def stream(policy, losses, delays):
    """Play rows of losses; the loss of row t comes right after pull ``t + delays[t]``."""
    waiting, drawn = [], []
    for t, row in enumerate(losses):
        arm, prob = policy.pull()
        drawn.append(arm)
        waiting.append((t + delays[t], t, arm, float(row[arm]), prob))
        for due in sorted(each for each in waiting if each[0] <= t):
            policy.update(*due[2:])
            waiting.remove(due)
    return drawn


def test_the_delay_is_the_number_of_waiting_pulls_summed_over_the_pulls(make):
    policy = make(3, random_state=0)
    pulls = [policy.pull() for _ in range(4)]  # 0 + 1 + 2 + 3 wait
    assert policy.total_delay == 6
    for arm, prob in pulls[:3]:
        policy.update(arm, 0.5, prob)
    policy.pull()  # one waits
    assert policy.total_delay == 7
    policy.discard(*pulls[3])
    policy.pull()  # one waits, and one was given up
    assert policy.total_delay == 9


def test_the_delay_is_the_sum_of_all_delays_if_every_loss_comes():
    delays = np.array([3, 0, 2, 1, 0, 0, 0])
    policy = TsallisINF(2, random_state=0)
    stream(policy, np.zeros((7, 2)), delays)
    assert policy.total_delay == delays.sum()


def test_losses_at_once_have_no_delay_and_the_bound_that_was_known(promising):
    policy = promising(2, random_state=0)
    before = policy.bound(6, 0.5)
    stream(policy, np.full((6, 2), 0.5), np.zeros(6, dtype=int))
    assert policy.total_delay == 0
    assert policy._engine.drift == 0
    assert policy.bound(6, 0.5) == before
    policy.pull()  # the last pull may wait: it is part of no other pull's decision
    assert policy.bound(6, 0.5) == before


def test_the_drift_weighs_each_waiting_pull_by_the_learning_rate():
    delays = np.full(40, 3)
    missing = np.minimum(np.arange(40), 3)
    policy = TsallisINF(2, random_state=0)
    stream(policy, np.zeros((40, 2)), delays)
    rates = 2 / np.sqrt(np.arange(1, 41))
    assert policy._engine.drift == pytest.approx(missing @ rates, rel=1e-14)
    policy = PotentialBandit(2, random_state=0)
    rates = []
    for t in range(40):
        rates.append(policy.eta)
        pull = policy.pull()
        if t >= 39:
            policy.update(pull[0], 0.0, pull[1])
    assert policy._engine.drift == pytest.approx(np.arange(40) @ np.array(rates), rel=1e-12)


def test_the_rate_adapts_to_the_delay_only_if_it_is_told_to():
    for adapts in (False, True):
        policy = TsallisINF(4, adapt_to_delays=adapts, random_state=0)
        for t in range(1, 9):
            delay = policy.total_delay + t - 1
            policy.pull()
            expected = 2 / np.sqrt(t + adapts * delay / 2)
            assert policy._engine.numbers[tsallis.RATE] == pytest.approx(expected, rel=1e-15)


def test_bounds_with_delays_are_the_formulas_with_the_delays_of_the_policy():
    losses, delays = np.tile([0.0, 1.0], (400, 1)), np.full(400, 2)
    policies = {name: make(random_state=0) for name, make in PROMISING.items()}
    for policy in policies.values():
        stream(policy, losses, delays)
        assert policy.total_delay == 2 * 400 - 3
    exp3 = policies["exp3"]
    drift = exp3.eta * 797
    expected = exp3_delayed(0.5, 2, exp3.eta, 400 * exp3.eta, drift)
    assert exp3.bound(400, 0.5) == pytest.approx(expected, rel=1e-12)
    plain = policies["tsallis-inf"]
    drift = float((2 / np.sqrt(np.arange(1, 401))) @ np.minimum(np.arange(400), 2))
    assert plain.bound(400, 0.5) == pytest.approx(tsallis_inf_delayed(400, 2, drift), rel=1e-12)
    adaptive = policies["tsallis-inf, adaptive"].bound(400, 0.5)
    assert adaptive == pytest.approx(tsallis_inf_adaptive(400, 2, 797))
    for policy in policies.values():
        assert policy.bound(400, 0.5) < 400
        assert "nor delays depend on the arms" in policy.caveat


def test_the_formulas_are_those_of_their_docstrings():
    # ln(4) / 0.1 + 4 * 5 + 7
    assert exp3_delayed(0.25, 4, 0.1, 5.0, 7.0) == pytest.approx(40.862943611198906)
    # (6 * 2 - 2) * 3 + 7, then (6 * 2 - 2) * sqrt(9 + 14 / 2)
    assert tsallis_inf_delayed(9, 4, 7.0) == pytest.approx(37.0)
    assert tsallis_inf_adaptive(9, 4, 14) == pytest.approx(40.0)
    # 2 * 6 + 14 * 4 * ln(9) + 16
    assert tsallis_inf_rv(9, 4) == pytest.approx(28 + 56 * np.log(9))
    # (ln(9) + 3) (1 / 0.1 + 1 / 0.5) + 2 / 0.1 + 28 * 3 * ln(9) + 1.5 sqrt(3) + 32
    expected = (np.log(9) + 3) * 12 + 20 + 84 * np.log(9) + 1.5 * np.sqrt(3) + 32
    assert tsallis_inf_stochastic(9, [0.5, 0.0, 0.1]) == pytest.approx(expected)
    for gaps in ([0.0, 0.0, 0.1], [0.1, 0.2], [0.0]):
        with pytest.raises(ValueError, match="exactly one gap must be 0"):
            tsallis_inf_stochastic(9, gaps)


@pytest.mark.parametrize("name", PROMISING)
def test_a_bound_with_delays_of_at_least_the_number_of_rounds_promises_nothing(name):
    policy = PROMISING[name](random_state=0, loss_range=(0, 3))
    for _ in range(400):
        policy.pull()
    finite = policy.bound(10**6, 0.5)
    assert 0 < finite < 3 * 10**6
    assert policy.bound([10, 400, 10**6], 0.5).tolist() == [np.inf, np.inf, finite]
    certificate = policy.certificate([1200.0, 0.0], 1200.0)
    assert certificate.verdict == "nothing is promised"
    assert "losses came 79,800 pulls late in all, and the bound is no less" in certificate.caveat


def test_a_bound_with_delays_is_finite_exactly_where_it_is_below_the_number_of_rounds():
    policy = TsallisINF(2, random_state=0)
    policy.pull()
    policy.pull()
    rounds = np.arange(1, 200)
    formula = tsallis_inf_delayed(rounds, 2, policy._engine.drift)
    bound = policy.bound(rounds, 0.5)
    assert np.array_equal(np.isfinite(bound), formula < rounds)
    assert 0 < np.isfinite(bound).sum() < rounds.size
    np.testing.assert_array_equal(bound[np.isfinite(bound)], formula[formula < rounds])


@pytest.mark.parametrize(
    "policy",
    [
        Exp3IX(3, horizon=50, random_state=0),
        Exp3IX(3, random_state=0),
        TsallisINF(3, reduced_variance=True, random_state=0),
    ],
    ids=lambda policy: policy.title,
)
def test_policies_without_a_bound_for_delays_say_so(policy):
    policy.pull()
    policy.pull()
    with pytest.raises(NoBoundError, match="losses that come at once, and they came 1 pulls late"):
        policy.bound(50, 0.5)
    certificate = policy.certificate(np.zeros(3), 0.0)
    assert certificate.verdict == "nothing is promised"
    assert "they came 1 pulls late" in str(certificate)


def test_a_potential_of_ones_own_has_no_bound_for_delays(two_rates):
    policy = PotentialBandit(3, horizon=6, potential=two_rates(), random_state=0)
    policy.pull()
    policy.pull()
    with pytest.raises(NoBoundError, match="come at once"):
        policy.bound(6, 0.5)


@pytest.mark.parametrize("change", ["add", "remove"])
def test_with_late_losses_nothing_is_promised_of_arms_that_changed(change, tmp_path):
    policy = PotentialBandit(3, horizon=50, random_state=0)
    policy.add_arm("early")  # before the first pull, as if it had been there
    policy.pull()
    policy.pull()
    assert policy.bound(50, 0.5) > 0
    policy.add_arm("late") if change == "add" else policy.remove_arm(0)
    with pytest.raises(NoBoundError, match="arms that stay the same"):
        policy.bound(50, 0.5)
    policy.save(tmp_path / "b.json")
    with pytest.raises(NoBoundError, match="arms that stay the same"):
        PotentialBandit.load(tmp_path / "b.json").bound(50, 0.5)


@pytest.mark.parametrize("name", PROMISING)
def test_losses_a_thousand_pulls_late_do_not_break_the_certificate(name):
    losses, delays = np.tile([0.0, 1.0], (2000, 1)), np.full(2000, 1000)
    policy = PROMISING[name](random_state=0)
    drawn = stream(policy, losses, delays)
    regret = losses[np.arange(2000), drawn].sum()
    assert regret > float(tsallis_inf(2000, 2))  # what holds for losses at once does not here
    certificate = policy.certificate(losses.sum(axis=0), regret)
    assert certificate.at(0.5).realised == regret
    assert certificate.verdict == "nothing is promised"
    assert "losses came 1,499,500 pulls late in all" in str(certificate)


@pytest.mark.parametrize("delays", [0, 4, "mixed"])
def test_a_run_with_delays_equals_the_stream_bit_for_bit(make, delays):
    rng = np.random.default_rng(3)
    losses = rng.random((500, 4))
    late = rng.integers(0, 30, 500) if delays == "mixed" else np.full(500, delays)
    a, b = make(4, random_state=9), make(4, random_state=9)
    if a._gamma is None:  # of pulls alike a stream answers the oldest first
        late = np.maximum.accumulate(np.arange(500) + late) - np.arange(500)
    run = a.run(losses, delays=late if delays == "mixed" else delays)
    assert run.drawn.tolist() == stream(b, losses, late)
    assert a.estimates.tobytes() == b.estimates.tobytes()
    assert a._engine.numbers.tobytes() == b._engine.numbers.tobytes()
    assert a.total_delay == b.total_delay
    assert run.learner_loss == pytest.approx(losses[np.arange(500), run.drawn].sum())


def test_a_run_with_delays_carries_its_own_bound():
    losses = np.random.default_rng(0).random((300, 2))
    policy = TsallisINF(2, random_state=0)
    run = policy.run(losses, delays=1)
    expected = policy.bound(300, 0.5)
    assert 25 * np.sqrt(2) < expected < 300
    assert run.promised == expected == run.certificate().promised[0]
    assert "nor delays depend" in run.certificate().caveat
    for _ in range(100):
        policy.pull()  # what comes later is not the run's
    assert run.promised == expected
    prompt = TsallisINF(2, random_state=0)
    run = prompt.run(losses)
    prompt.pull()
    prompt.pull()
    assert run.promised == tsallis_inf(300, 2)
    assert np.isinf(prompt.run(losses, delays=1).promised_over_time).all()


def test_the_loss_of_an_environment_may_come_late():
    policy = TsallisINF(3, random_state=0)
    run = policy.run(BernoulliArms.with_gap(3, 0.3), 2000, delays=50)
    assert run.pulls[0] > 1000
    games = play_games(
        lambda n, T, rng: Exp3IX(n, horizon=T, random_state=rng),
        BernoulliArms.with_gap(3, 0.3),
        200,
        n_games=2,
        delays=5,
    )
    assert games.promised == np.inf
    assert games.certificate().verdict == "nothing is promised"


def test_delays_that_cannot_be_are_named(make):
    policy = make(3, random_state=0)
    for bad in (1.5, [1, 2], np.zeros((4, 1), dtype=int), "much"):
        with pytest.raises(ValueError, match="delays must be an integer or 4 integers; got"):
            policy.run(np.zeros((4, 3)), delays=bad)
    with pytest.raises(ValueError, match="delays must be nonnegative; got -1"):
        policy.run(np.zeros((4, 3)), delays=-1)
    with pytest.raises(ValueError, match="do not react to the player"):
        policy.run(Spiteful(3), 4, delays=1)
    assert policy.t == 0


def test_a_saved_policy_remembers_how_late_losses_were(make, tmp_path, two_rates):
    policy = make(3, random_state=0)
    policy.run(np.full((5, 3), 0.5), delays=2)
    policy.save(tmp_path / "b.json")
    given = {"potential": policy.potential} if policy.title.startswith("Algorithm") else {}
    loaded = type(policy).load(tmp_path / "b.json", **given)
    assert loaded.total_delay == policy.total_delay == 7
    assert loaded._engine.drift == policy._engine.drift


def test_a_pull_that_waits_through_a_run_is_counted_in_each_of_its_rounds(make):
    losses = np.random.default_rng(0).random((50, 3))
    a, b = make(3, random_state=2), make(3, random_state=2)
    waiting, _ = a.pull()
    b.pull()
    # of two equal pulls, a loss belongs to the one that waits longer
    assert waiting != a.copy().pull()[0]
    a.run(losses)
    stream(b, losses, np.zeros(50, dtype=int))
    assert a.total_delay == 50
    assert a._engine.numbers.tobytes() == b._engine.numbers.tobytes()
    assert a.estimates.tobytes() == b.estimates.tobytes()
