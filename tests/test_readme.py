"""The README's snippets run as they stand."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.splitlines()[0])
def test_a_snippet_runs(snippet, capsys):
    exec(compile(snippet, "README.md", "exec"), {})
    assert "BROKEN" not in capsys.readouterr().out


def test_there_are_snippets_and_their_links_lead_somewhere():
    assert len(SNIPPETS) == 3
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target
