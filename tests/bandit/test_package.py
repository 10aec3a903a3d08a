"""The package: every name can be had, type checkers see the same names, policies by name."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftgames import bandit
from driftgames.bandit import registry


@pytest.mark.parametrize("name", bandit.__all__)
def test_every_public_name_can_be_had(name):
    found = getattr(bandit, name)
    assert getattr(found, "__name__", name) == name


def test_type_checkers_see_the_names_of_run_time_in_the_same_modules():
    tree = ast.parse(Path(bandit.__file__).read_text())
    seen = {
        alias.name: node.module.removeprefix("driftgames.bandit.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("driftgames.bandit.")
        for alias in node.names
    }
    assert seen == bandit._HOMES


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'driftgames\.bandit' has no attribute 'Nothing'"):
        bandit.Nothing  # noqa: B018


def test_the_registry_of_policies_loads_nothing_heavy():
    code = "import sys, driftgames.bandit.registry; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert {"numba", "numpy", "scipy"}.isdisjoint(loaded.stdout.split())


@pytest.mark.parametrize("name", registry.POLICIES)
def test_every_policy_takes_arms_horizon_generator_names_and_units(name):
    policy = registry.POLICIES[name](
        2, 10, np.random.default_rng(0), names=["a", "b"], loss_range=(0, 5), gains=True
    )
    assert policy.arms == ("a", "b")
    assert policy.width == 5
    titles = [make(2, 10, None).title for make in registry.POLICIES.values()]
    assert len(set(titles)) == len(titles)
