"""The package: every name can be had, and policies by name."""

import numpy as np
import pytest

from driftgames import bandit


@pytest.mark.parametrize("name", bandit.__all__)
def test_every_public_name_can_be_had(name):
    found = getattr(bandit, name)
    assert getattr(found, "__name__", name) == name


@pytest.mark.parametrize("name", bandit.POLICIES)
def test_every_policy_takes_arms_horizon_generator_names_and_units(name):
    policy = bandit.POLICIES[name](
        2, 10, np.random.default_rng(0), names=["a", "b"], loss_range=(0, 5), gains=True
    )
    assert policy.arms == ("a", "b")
    assert policy.width == 5
    titles = [make(2, 10, None).title for make in bandit.POLICIES.values()]
    assert len(set(titles)) == len(titles)
