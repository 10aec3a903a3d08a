import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import driftgames

ROOT = Path(__file__).resolve().parents[1]


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
    heavy = {"numpy", "numba", "matplotlib", "sklearn", "scipy", "pandas", "river"}
    assert heavy.isdisjoint(loaded.stdout.split())


def test_the_version_is_that_of_the_installed_package(monkeypatch):
    assert driftgames.__version__ == metadata.version("driftgames")

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert driftgames.__version__ == "0+unknown"


def test_the_changelog_has_the_usual_form():
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in versions[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


def test_one_version_stands_in_metadata_citation_and_changelog():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    released = re.search(
        r"^## \[(\d.*)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert project["version"] == citation["version"] == released[1]
    assert str(citation["date-released"]) == released[2]


def test_the_classifiers_are_what_the_public_checks_run():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    jobs = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())["jobs"]
    runs = jobs["test"]["strategy"]["matrix"]["include"]
    pythons = {each.rpartition(" ")[2] for each in classifiers if ":: Python :: 3." in each}
    assert pythons == {each["python"] for each in runs}
    systems = {"ubuntu": "Linux", "macos": "MacOS", "windows": "Windows"}
    run = {each["os"] for each in runs} | {jobs["windows"]["runs-on"]}
    named = {each.rpartition(" ")[2] for each in classifiers if each.startswith("Operating System")}
    assert named == {systems[each.partition("-")[0]] for each in run}


def test_the_citation_names_the_software_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == "BSD-3-Clause"
    names = [author["family-names"] for author in citation["references"][0]["authors"]]
    assert names == ["Luo", "Schapire"]


def test_the_public_checks_run_targets_of_the_makefile():
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    asked = {step["run"].split()[1] for step in steps if step.get("run", "").startswith("make ")}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"test", "reproduce", "dist"} <= asked <= targets
