"""EXP4 behind river's protocol of contextual policies."""

import numpy as np
import pytest

from driftgames.bandit import Exp4

pytest.importorskip("river")

from driftgames.bandit.river_contexts import MOST_WAITING, RiverExp4, RiverSquareCB

ARMS = ["x", "y", "z"]


def test_it_is_the_policy_with_the_same_draws():
    policy = RiverExp4(reward_range=(0.0, 2.0), seed=3)
    settings = {"loss_range": (0.0, 2.0), "gains": True, "random_state": 3}
    twin = Exp4(names=ARMS, experts=["rule", "mixed", "silent"], **settings)
    for t in range(300):
        rule = ARMS[t % 3]
        advice = {"rule": rule, "mixed": {"z": 0.75, "x": 0.25}, "silent": {}}
        if t:
            del advice["silent"]  # later it may be missing: all arms alike
        numbers = [np.eye(3)[t % 3], [0.25, 0.0, 0.75], np.full(3, 1 / 3)]
        assert list(policy.distribution(advice).values()) == (
            twin.distribution(numbers).tolist() if t else []
        )
        arm = policy.pull(ARMS, advice)
        wanted, prob = twin.pull(numbers)
        assert arm == wanted
        reward = 2.0 if arm == rule else 0.5
        policy.update(arm, advice, reward)
        twin.update(arm, reward, prob, numbers)
    assert policy.distribution({"rule": "y"})["y"] > 0.8
    assert policy._n == 300


def test_the_distribution_of_another_policy_is_advice():
    inner, outer = RiverSquareCB(seed=0), RiverExp4(seed=0)
    arms, rng = ["x", "y"], np.random.default_rng(0)
    right = 0.0
    for t in range(600):
        features = {"a": float(rng.uniform(-1, 1))}
        better = "x" if features["a"] > 0 else "y"
        if t < 300:
            arm = inner.pull(arms, features)
            inner.update(arm, features, float(arm == better))
            continue
        advice = {"SquareCB": inner.distribution(features), "always x": "x"}
        arm = outer.pull(arms, advice)
        outer.update(arm, advice, float(arm == better))
        right += arm == better
    assert right > 240  # of 300; "always x" is right in about half of them


def test_a_river_policy_clones_and_its_mistakes_have_names():
    policy = RiverExp4((0.0, 5.0), seed=1)
    assert policy.clone().reward_range == (0.0, 5.0)
    assert policy.distribution({"a": "x"}) == {}
    with pytest.raises(ValueError, match="EXP4 needs a context with experts; got None"):
        policy.pull(ARMS)
    with pytest.raises(ValueError, match=r"expert 'a' must advise arms, .*; got 'w'"):
        policy.pull(ARMS, {"a": "w"})
    with pytest.raises(ValueError, match="must sum to 1"):
        policy.pull(ARMS, {"a": {"x": 2.0}})
    policy.pull(ARMS, {"b": "x"})  # bad contexts were not the first
    with pytest.raises(ValueError, match=r"experts of the first, \['b'\]; got 'c'"):
        policy.pull(ARMS, {"b": "x", "c": "x"})
    with pytest.raises(ValueError, match=r"must sum to 1; got 0.5 of expert 'b'"):
        policy.pull(ARMS, {"b": {"x": 0.5}})
    with pytest.raises(ValueError, match="the arms of EXP4 cannot change"):
        policy.pull(["x", "y", "w"], {"b": "x"})
    with pytest.raises(ValueError, match="loss_range"):
        RiverExp4((1.0, 0.0))


def test_old_pulls_are_discarded():
    policy = RiverExp4(seed=0)
    for _ in range(2 * MOST_WAITING + 5):
        policy.pull(ARMS, {"b": "x"})
    assert list(map(len, policy._waiting.values())) == [MOST_WAITING]


def test_a_reward_answers_the_latest_pull_with_the_advice_of_that_pull():
    policy = RiverExp4(seed=0)
    twin = Exp4(names=["x", "y"], experts=["a", "b"], gains=True, random_state=0)
    sure, split = {"a": "x", "b": "x"}, {"a": "x", "b": {"x": 0.5, "y": 0.5}}
    policy.pull(["x", "y"], sure)
    twin.pull([[1, 0], [1, 0]])
    while policy.pull(["x", "y"], split) != "x":
        twin.pull([[1, 0], [0.5, 0.5]])
    arm, prob = twin.pull([[1, 0], [0.5, 0.5]])
    policy.update("x", sure, 0.0)  # the context of an update is not read: that of the pull counts
    twin.update(arm, 0.0, prob, [[1, 0], [0.5, 0.5]])
    assert list(policy.distribution(split).values()) == (
        twin.distribution([[1, 0], [0.5, 0.5]]).tolist()
    )
