import subprocess
import sys

import pytest

import driftgames


@pytest.mark.parametrize("name", driftgames.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(driftgames, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        driftgames.Nothing  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, driftgames; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"numba", "matplotlib", "sklearn", "scipy", "pandas", "rich", "typer", "river"}
    assert heavy.isdisjoint(loaded.stdout.split())


def test_help_of_the_command_line_loads_nothing_heavy():
    code = "import sys, driftgames.cli.app; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"numba", "matplotlib", "sklearn", "scipy", "pandas", "river"}
    assert heavy.isdisjoint(loaded.stdout.split())
