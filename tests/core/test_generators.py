"""A random_state means, and is refused, the same everywhere."""

import numpy as np
import pytest

from driftgames.bandit import POLICIES, ThompsonSampling
from driftgames.hedge import RandomizedHedge
from driftgames.oco import Box, ContinuousHedge
from driftgames.portfolio import UniversalPortfolio

players = pytest.mark.parametrize(
    "make",
    [
        lambda state: RandomizedHedge(3, random_state=state),
        lambda state: POLICIES["exp3"](3, 30, state),
        lambda state: ContinuousHedge(Box([0.0], [1.0]), random_state=state),
        lambda state: UniversalPortfolio(3, random_state=state),
    ],
)


@players
@pytest.mark.parametrize("random_state", [-1, 1.5, "7", True])
def test_a_random_state_that_is_no_seed_is_refused(make, random_state):
    with pytest.raises(ValueError, match="random_state must be an integer >= 0; got"):
        make(random_state)


@players
def test_a_seed_a_generator_and_nothing_are_random_states(make):
    assert make(5) == make(5) != make(6)
    one, same, other = (make(np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert one == same != other
    assert make(None) != make(None)


def test_a_policy_and_a_simulation_with_the_same_seed_draw_other_numbers():
    policy = ThompsonSampling(names=["bad", "good"], random_state=0)
    rng = np.random.default_rng(0)
    pulls = {"bad": 0, "good": 0}
    for _ in range(1000):
        arm, prob = policy.pull()
        pulls[arm] += 1
        policy.update(arm, float(rng.random() < {"bad": 0.55, "good": 0.45}[arm]), prob)
    assert pulls["good"] > 500
