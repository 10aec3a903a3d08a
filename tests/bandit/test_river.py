"""The adapter to river: its interface, its checks, long streams."""

import random

import pytest

pytest.importorskip("river")

from river import bandit, preprocessing, stats

from driftgames.bandit import POLICIES
from driftgames.bandit.river import MOST_WAITING, RiverBandit


@pytest.mark.parametrize("algorithm", POLICIES)
def test_the_best_arm_is_found(algorithm):
    policy = RiverBandit(algorithm, seed=3)
    for _ in range(3000):
        arm = policy.pull(["a", "b", "c"])
        policy.update(arm, {"a": 0.2, "b": 0.9, "c": 0.4}[arm])
    assert policy.ranking[0] == "b"
    assert policy.distribution()["b"] > 0.5
    assert sum(policy.distribution().values()) == pytest.approx(1.0, abs=1e-12)


def test_it_goes_on_where_the_exp3_of_river_overflows():
    policy = RiverBandit("exp3", seed=1)
    theirs = bandit.Exp3(gamma=0.5, seed=1)
    arms = list(range(2))
    for _ in range(5000):
        policy.update(policy.pull(arms), 1.0)
    assert policy._n == 5000

    def play_theirs():
        for _ in range(5000):
            theirs.update(theirs.pull(arms), 1.0)

    with pytest.raises((OverflowError, ValueError)):
        play_theirs()


def test_rewards_may_lie_in_a_range_or_be_scaled():
    policy = RiverBandit("tsallis-inf", reward_range=(-10, 10), seed=0)
    arm = policy.pull(["x", "y"])
    policy.update(arm, -10)
    assert policy.distribution()[arm] < 0.5
    arm = policy.pull(["x", "y"])
    with pytest.raises(ValueError, match=r"a gain must lie in \[-10, 10\]; got 11"):
        policy.update(arm, 11)
    assert policy._counts[arm] <= 1  # neither learnt nor counted
    assert isinstance(policy.reward_obj, stats.Mean)


def test_a_reward_scaler_of_river_is_used():
    scaler = preprocessing.TargetMinMaxScaler(None)
    policy = RiverBandit("exp3", reward_scaler=scaler, seed=0)
    for reward in (3.0, 50.0, 20.0, 7.0):
        policy.update(policy.pull(["x", "y"]), reward)
    assert policy._n == 4
    assert 0 < min(policy.distribution().values()) < 0.5


def test_nothing_is_learnt_from_a_burn_in():
    policy = RiverBandit("exp3", burn_in=2, seed=0)
    for _ in range(6):
        policy.update(policy.pull(["x", "y", "z"]), 1.0)
    assert policy.distribution() == {}
    policy.update(policy.pull(["x", "y", "z"]), 0.0)
    assert policy._n == 7
    assert min(policy.distribution().values()) < 1 / 3


def test_feedback_is_taken_for_the_latest_pull_of_its_arm():
    policy = RiverBandit("tsallis-inf", seed=0)
    pulled = [policy.pull(["x", "y"]) for _ in range(10)]
    waiting = {arm: list(policy._waiting[arm]) for arm in "xy"}
    policy.update(pulled[0], 0.0)
    assert list(policy._waiting[pulled[0]]) == waiting[pulled[0]][:-1]
    assert policy._policy.pending == 9


def test_pulls_that_are_never_answered_do_not_pile_up():
    policy = RiverBandit("exp3", seed=0)
    for _ in range(MOST_WAITING + 50):
        policy.pull(["only"])
    assert policy._policy.pending == MOST_WAITING


def test_it_plays_in_the_offline_evaluation_of_river():
    rng = random.Random(0)
    chances = {"a": 0.2, "b": 0.8, "c": 0.3}
    shown = [rng.choice("abc") for _ in range(6000)]
    clicks = [(list("abc"), None, arm, rng.random() < chances[arm]) for arm in shown]
    policy = RiverBandit("tsallis-inf", seed=1)
    total, used = bandit.evaluate_offline(policy, clicks)
    assert total.get() > 0.6 * used
    assert policy.ranking[0] == "b"


def test_arms_may_come_and_go_with_exp3_alone():
    policy = RiverBandit("exp3", seed=0)
    policy.update(policy.pull(["x", "y"]), 1.0)
    policy.pull(["y", "z"])
    assert set(policy.distribution()) == {"y", "z"}
    fixed = RiverBandit("tsallis-inf", seed=0)
    fixed.pull(["x", "y"])
    with pytest.raises(ValueError, match="the arms of Tsallis-INF cannot change"):
        fixed.pull(["y", "z"])


def test_a_clone_begins_anew_with_the_same_parameters():
    policy = RiverBandit("exp3-ix", horizon=50, reward_range=(0, 5), seed=7)
    policy.update(policy.pull(["x", "y"]), 2)
    clone = policy.clone()
    assert (clone.algorithm, clone.horizon, clone.reward_range) == ("exp3-ix", 50, (0, 5))
    assert clone._n == 0
    assert clone.distribution() == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "ucb"}, "must be one of"),
        ({"algorithm": "tsallis-inf", "horizon": 5}, "no"),
        ({"outside": "clip"}, "outside must be .error. or .nearest.; got .clip."),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        RiverBandit(**arguments)


def candy(seed=42, **settings):
    """Return the total reward of each policy in two short games of river's own evaluation."""
    gym = pytest.importorskip("gymnasium")
    policies = [RiverBandit(name, seed=1, **settings) for name in POLICIES]
    env = gym.make("river_bandits/CandyCaneContest-v0", max_episode_steps=30)
    trace = list(bandit.evaluate(policies, env, n_episodes=2, seed=seed))
    assert len(trace) == 2 * 30 * len(policies)
    return trace


def test_the_evaluation_of_river_plays_every_policy_in_gymnasium():
    trace = candy()
    assert {step["policy_idx"] for step in trace} == set(range(len(POLICIES)))
    assert trace == candy()
    assert trace != candy(seed=43)


def test_rewards_of_any_size_count_as_the_nearest_end():
    gym = pytest.importorskip("gymnasium")
    env = gym.make("river_bandits/KArmedTestbed-v0", max_episode_steps=500)  # normal rewards
    policies = [
        RiverBandit("tsallis-inf", reward_range=(-2, 3), outside="nearest", seed=1),
        bandit.RandomPolicy(seed=1),
    ]
    last = {
        (step["policy_idx"], step["episode"]): step["reward_stat"]
        for step in bandit.evaluate(policies, env, n_episodes=5, seed=0)
    }
    ours, drawn = (sum(last[who, game] for game in range(5)) for who in (0, 1))
    assert ours > drawn + 500
    with pytest.raises(ValueError, match="a gain must lie in"):
        list(bandit.evaluate([RiverBandit(reward_range=(-2, 3), seed=1)], env, n_episodes=5))


def test_a_log_has_every_pull_with_its_propensity():
    policy = RiverBandit("tsallis-inf", seed=3, keep_log=True)
    for _ in range(50):
        arm = policy.pull(["a", "b"])
        policy.update(arm, 1.0 if arm == "b" else 0.0)
    frame = policy.log.to_frame()
    assert frame["round"].tolist() == list(range(1, 51))
    assert ((frame["arm"] == "b") == (frame["loss"] == 1.0)).all()
    assert policy.clone().log is None
