"""Packages that import their names when first used."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from driftgames.core.documents import DocumentError
from driftgames.core.state import nested, restore_nested
from driftgames.hedge import ExpertLearner, Squint

PACKAGES = ("", ".bandit", ".boosting", ".hedge", ".plots", ".portfolio")


@pytest.mark.parametrize("of", PACKAGES)
def test_the_names_of_the_stub_are_those_of_the_package(of):
    package = importlib.import_module(f"driftgames{of}")
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}
    assert package.__all__ == sorted(seen)
    assert set(seen) <= set(dir(package))
    for name, (home, own) in seen.items():
        assert name == own
        assert getattr(package, name) is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("of", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(of):
    package = importlib.import_module(f"driftgames{of}")
    with pytest.raises(AttributeError, match=f"'driftgames{of}' has no attribute 'Nothing'"):
        package.Nothing  # noqa: B018


def test_registries_load_nothing_heavy():
    modules = ("hedge.named_learners", "bandit.named_policies", "portfolio.named_strategies")
    names = ", ".join(f"driftgames.{each}" for each in (*modules, "boosting.by_name"))
    code = f"import sys, {names}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert {"numba", "numpy", "scipy", "sklearn"}.isdisjoint(loaded.stdout.split())


def test_a_part_of_a_document_is_read_before_its_class_was_used():
    code = (
        "import json, sys; from driftgames.core.state import restore_nested\n"
        "from driftgames.hedge import ExpertLearner\n"
        "print(restore_nested(json.load(sys.stdin), ExpertLearner))"
    )
    text = json.dumps(nested(Squint(3)))
    shown = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
    )
    assert shown.stdout == f"{Squint(3)}\n"


@pytest.mark.parametrize(
    "kind", ["Nothing", "LEARNERS", "AdaptiveIntervals", "__class__", "__doc__"]
)
def test_a_part_of_another_kind_is_refused(kind):
    with pytest.raises(DocumentError, match="there is no ExpertLearner"):
        restore_nested({**nested(Squint(3)), "kind": kind}, ExpertLearner)
