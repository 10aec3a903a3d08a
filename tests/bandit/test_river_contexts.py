"""SquareCB behind river's protocol of contextual policies."""

import numpy as np
import pytest

from driftgames.bandit import SquareCB

pytest.importorskip("river")

from driftgames.bandit.river_contexts import MOST_WAITING, RiverSquareCB


def rounds(n=300):
    rng = np.random.default_rng(0)
    return [{"a": float(x), "b": float(z)} for x, z in rng.uniform(-1, 1, (n, 2))]


def test_it_is_the_policy_with_the_same_draws():
    policy = RiverSquareCB(seed=3)
    twin = SquareCB(names=["x", "y"], n_features=2, gains=True, random_state=3)
    for context in rounds():
        numbers = [context["a"], context["b"]]
        arm = policy.pull(["x", "y"], context)
        wanted, prob = twin.pull(numbers)
        assert arm == wanted
        reward = 0.5 + 0.5 * context["a"] * (1 if arm == "x" else -1)
        policy.update(arm, context, reward)
        twin.update(arm, reward, prob, numbers)
    assert policy.distribution({"b": 0.3}) == dict(
        zip("xy", twin.distribution([0.0, 0.3]).tolist(), strict=True)
    )
    assert policy._n == 300


def test_a_river_policy_clones_and_its_mistakes_have_names():
    policy = RiverSquareCB("logistic", seed=1)
    assert policy.clone().model == "logistic"
    assert policy.distribution({"a": 1.0}) == {}
    with pytest.raises(ValueError, match="needs a context with features; got None"):
        policy.pull(["x", "y"])
    policy.pull(["x", "y"], {"a": 1.0})
    with pytest.raises(ValueError, match=r"features of the first, \['a'\]; got 'c'"):
        policy.pull(["x", "y"], {"a": 1.0, "c": 2.0})
    with pytest.raises(ValueError, match="the arms of SquareCB cannot change"):
        policy.pull(["x", "z"], {"a": 1.0})
    with pytest.raises(ValueError, match="model must be"):
        RiverSquareCB("tree")


def test_a_bad_reward_is_not_counted_and_old_pulls_are_discarded():
    policy = RiverSquareCB(seed=0)
    arm = policy.pull(["x", "y"], {"a": 1.0})
    with pytest.raises(ValueError, match="must lie in"):
        policy.update(arm, {"a": 1.0}, 3.0)
    assert policy._n == 0
    policy.update(arm, {"a": 1.0}, 1.0)
    assert policy._n == 1
    for _ in range(2 * MOST_WAITING + 5):
        policy.pull(["x", "y"], {"a": 1.0})
    assert max(map(len, policy._waiting.values())) <= MOST_WAITING
