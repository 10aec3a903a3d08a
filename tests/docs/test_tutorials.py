"""Tutorials run, print, and draw what their pages show."""

import re
from pathlib import Path

import pytest

from driftgames.core.description import Describable
from driftgames.potentials import POTENTIALS
from tools.docs_tutorials import page, pieces

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.py"))


@pytest.fixture(autouse=True)
def forget_what_a_tutorial_registers():
    potentials, kinds = dict(POTENTIALS), dict(Describable._kinds)
    yield
    for registry, before in ((POTENTIALS, potentials), (Describable._kinds, kinds)):
        for name in set(registry) - set(before):
            del registry[name]


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda script: script.stem)
def test_a_tutorial_runs_and_its_page_shows_what_it_printed_and_drew(script, tmp_path):
    text = page(script, tmp_path)
    assert text.startswith("# ")
    assert "```text\n" in text
    drawn = re.findall(r"save_figure\(.*?\"(\w+\.svg)\"\)", script.read_text(), re.DOTALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(drawn)
    for name in drawn:
        assert f"]({name})" in text


def test_prose_and_code_are_told_apart():
    script = '"Title."\n\n# One *line*.\n#\n# Another.\n\nx = 1\n# a comment\ny = 2\n\n# The end.\n'
    assert pieces(script) == [
        ("prose", "# Title"),
        ("prose", "One *line*.\n\nAnother."),
        ("code", "x = 1\n# a comment\ny = 2"),
        ("prose", "The end."),
    ]
