"""How figures are written."""

import numpy as np
import pytest

from driftgames.plots import plot_regret_over_time, plot_shapes, save_figure
from driftgames.plots.style import render, shown_name


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_numbers_give_the_same_file(tmp_path, ending):
    for name in ("first", "second"):
        figure = plot_regret_over_time(np.arange(1.0, 4.0), {"a": np.array([0.0, 2.0, 1.0])})
        save_figure(figure, tmp_path / f"{name}.{ending}")

    first, second = (tmp_path / f"{name}.{ending}" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_a_name_reads_as_it_is_but_for_a_space_where_it_would_be_hidden():
    assert shown_name("a_b") == "a_b"
    assert shown_name("_a") == " _a"


def test_dollars_in_names_are_no_formula():
    names = ["$a_$", "$a^^$ and $", "$"]
    regret = {name: np.array([0.0, 2.0, 1.0]) for name in names}
    assert render(plot_regret_over_time(np.arange(1.0, 4.0), regret), "png")
    assert render(plot_shapes([[0.5]] * 3, [[-0.1, 0.1]] * 3, names), "png")
