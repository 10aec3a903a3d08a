"""Figures that show themselves: no window, nothing that keeps them alive."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

from driftgames.plots import plot_game, plot_potential, plot_shapes, plot_weights
from driftgames.plots.figure import NotebookFigure
from driftgames.potentials import POTENTIALS, MinimaxPotential


def figures():
    rounds = np.arange(1.0, 5.0)
    yield plot_weights(rounds, np.full((4, 3), 1 / 3), ["a", "b", "c"])
    yield plot_shapes([[0.5]], [[-0.1, 0.1]], ["sex"])
    yield plot_game(np.zeros((5, 3)), np.full((4, 3), 1 / 3), np.ones(5))
    yield plot_potential({"t = 1": (rounds, rounds)}, {"t = 1": (rounds, rounds)})


def test_a_figure_is_a_picture_of_its_size():
    for figure in figures():
        assert isinstance(figure, NotebookFigure)
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_figure_that_nobody_holds_is_gone():
    seen = []
    for figure in figures():
        figure._repr_png_()
        seen.append(weakref.ref(figure))
        del figure
    gc.collect()
    assert [each() for each in seen] == [None] * len(seen)


def test_pyplot_is_never_imported():
    code = (
        "import sys, numpy as np; from driftgames import Hedge; "
        "Hedge(3).run(np.zeros((4, 3))).plot()._repr_png_(); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", POTENTIALS)
def test_every_potential_draws_itself(name):
    figure = POTENTIALS[name](100, 0.1).plot(times=(1, 10, 100))
    above, below = figure.axes
    assert len(above.lines) == 4  # and the line at 0
    heights = np.concatenate([line.get_ydata() for line in below.lines[:3]])
    assert np.nanmin(heights) >= 0
    assert np.nanmax(heights) == 1.0


def test_a_solved_game_is_drawn_on_its_lattice():
    figure = MinimaxPotential(lambda s: s <= 0, 10, beta=0.2).plot(times=(5, 10))
    assert set(figure.axes[0].lines[1].get_xdata()) == set(range(-10, 11))


def test_times_must_be_rounds():
    with pytest.raises(ValueError, match="at least one round"):
        POTENTIALS["normalhedge.dt"](None, 0.1).plot(times=())
