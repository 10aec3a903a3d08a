"""A notebook with one object of each kind, executed by a real kernel."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebook_cells import CELLS


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return what each cell shows: a list of ``{mime type: content}`` per cell."""
    path = tmp_path_factory.mktemp("notebook") / "seen.ipynb"
    script = Path(__file__).with_name("notebook_cells.py")
    subprocess.run([sys.executable, script, path], check=True, cwd=path.parent)
    return [
        [_joined(output) for output in cell["outputs"]]
        for cell in json.loads(path.read_text())["cells"]
    ]


def _joined(output):
    """Return the content by its type; a notebook file holds texts as lists of lines."""
    data = output.get("data", {"stream": output.get("text", "")})
    return {kind: "".join(content) for kind, content in data.items()}


def shown_by(outputs, text):
    """Return the last output of the cell that ends with ``text``."""
    at = next(k for k, cell in enumerate(CELLS) if cell.endswith(text))
    return outputs[at][-1]


def test_every_cell_shows_something_short(outputs):
    for cell, shown in zip(CELLS, outputs, strict=True):
        assert shown, cell
        for each in shown:
            assert "stream" not in each, each  # nothing is printed
            assert len(each.get("text/plain", "")) < 1000
            assert "array(" not in each.get("text/plain", "")


@pytest.mark.parametrize("text", ["run", "run.certificate()", "n_games=4)", "game", "y)"])
def test_results_are_tables_with_a_picture(outputs, text):
    page = shown_by(outputs, text)["text/html"]
    assert "<table" in page
    assert "<svg" in page
    assert "<script" not in page


@pytest.mark.parametrize("text", ["run.plot()", "run.plot_weights()", "game.plot()", "phi.plot()"])
def test_a_figure_shows_itself_once(outputs, text):
    at = next(k for k, cell in enumerate(CELLS) if cell.endswith(text))
    pictures = [each["image/png"] for each in outputs[at] if "image/png" in each]
    assert len(pictures) == 1
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "text",
    ["certificate_", "X.iloc[0])", "['proline']", "chosen_", "record_", "{0: 1.0})", ", 0])"],
)
def test_results_of_boosting_and_of_logs_are_tables_with_a_picture(outputs, text):
    page = shown_by(outputs, text)["text/html"]
    assert "<table" in page
    assert "<svg" in page


def test_an_explanation_is_a_page_in_a_frame_that_runs_nothing(outputs):
    page = shown_by(outputs, "n_examples=3)")["text/html"]
    assert page.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert " sandbox " in page
    assert "<script" not in page
    assert "allow-scripts" not in page


def test_an_animation_moves_without_a_script(outputs):
    page = shown_by(outputs, "game.animate()")["text/html"]
    assert "<animate" in page
    assert "<script" not in page


def test_long_work_shows_a_bar_that_is_gone_in_the_end(outputs):
    assert outputs[-1] == [{"text/html": "", "text/plain": "<IPython.core.display.HTML object>"}]


def test_a_learner_is_one_line(outputs):
    assert shown_by(outputs, "learner")["text/plain"] == "<NormalHedge.DT: 8 actions, 200 rounds>"
    assert "at 0x" not in shown_by(outputs, "UniversalPortfolio(36)")["text/plain"]
