"""Tutorials run, print, and draw what their pages show."""

import re
from pathlib import Path

import nbformat
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
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == sorted([*drawn, f"{script.stem}.ipynb"])
    made = nbformat.read(tmp_path / f"{script.stem}.ipynb", as_version=4)
    nbformat.validate(made)
    assert sum(cell.cell_type == "code" for cell in made.cells) == text.count("```python\n")
    if script.stem.startswith("lesson_"):
        assert text.count("<summary>Answer</summary>") == 3
        assert text.count("<details") == text.count("</details>") == 3
        assert len(re.findall(r"(?m)^\*\*Exercise \d\.\*\*", text)) == 3
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


def test_an_answer_is_folded_up_to_the_next_exercise(tmp_path):
    script = tmp_path / "sheet.py"
    script.write_text(
        '"Sheet."\n\n# Exercise 1. What is it?\n\n# Answer. This.\n\nprint(6 * 7)\n\n'
        "# Exercise 2. And that?\n\n# Answer. That.\n"
    )
    text = page(script, tmp_path)
    first, second = text.split("Exercise 2.")
    assert first.count("<details") == first.count("</details>") == 1
    assert first.index("<details") < first.index("42") < first.index("</details>")
    assert second.index("That.") < second.index("</details>")
    cells = nbformat.read(tmp_path / "sheet.ipynb", as_version=4).cells
    assert [cell.metadata.get("tags", []) for cell in cells] == [
        [], [], ["answer"], ["answer"], [], ["answer"]
    ]  # fmt: skip
    assert cells[2].source == "<details><summary>Answer</summary>\n\nThis.\n\n</details>"
    assert cells[3].metadata["jupyter"]["source_hidden"]
