"""How figures are written."""

import re

import numpy as np
import pytest

from driftgames.plots import plot_regret_over_time, plot_shapes, save_figure
from driftgames.plots.style import DARK, dark_rules, render, shown_name, with_styles


def luminance(colour):
    shares = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_every_curve_is_visible_on_a_light_and_on_a_dark_screen():
    drawn = [style["color"] for *_, style in with_styles((str(k), k) for k in range(6))]
    assert len(set(drawn)) == 6
    for colour in (*drawn, "#000000"):
        assert contrast(colour, "#ffffff") > 3
        assert contrast(DARK[colour], DARK["#ffffff"]) > 4.5


def test_an_svg_follows_the_screen_and_states_colours_for_programs_without_style_sheets():
    figure = plot_regret_over_time(np.arange(1.0, 4.0), {"a": np.array([0.0, 2.0, 1.0])})
    text = render(figure, "svg").decode()
    assert "@media screen and (prefers-color-scheme: dark)" in text
    body = text[text.index("</style>") :]
    stated = set(re.findall(r"(?:stroke|fill): (#[0-9a-f]{6})", body))
    assert {"#1b1b1b", "#ffffff", "#000000"} <= stated <= set(DARK)
    for colour in stated:
        assert f"stroke: {DARK[colour]} !important" in text


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


def test_control_characters_in_names_leave_an_svg_that_opens(tmp_path):
    import xml.etree.ElementTree

    from driftgames.plots.regret import plot_weights
    from driftgames.plots.style import save_figure

    names = ["cash\x1b[2J", "b\x00nds", "x" * 10_000, "\ud800"]
    figure = plot_weights(np.arange(1.0, 4.0), np.full((3, 4), 0.25), names)
    save_figure(figure, tmp_path / "w.svg")
    drawn = xml.etree.ElementTree.parse(tmp_path / "w.svg")
    assert drawn.getroot().tag.endswith("svg")
    assert len((tmp_path / "w.svg").read_text()) < 300_000


def test_thirty_six_curves_look_different():
    drawn = [style for *_, style in with_styles((str(k), k) for k in range(36))]
    assert len({(style["color"], style["linestyle"]) for style in drawn}) == 36


def test_rules_for_a_dark_screen_reach_the_copies_of_a_marker():
    """A `use` element shows a copy without an `svg` above it, so no rule may ask for one."""
    assert "svg [" not in dark_rules()
    assert '[style*="stroke: #1b1b1b"] { stroke: #e8e8e8 !important; }' in dark_rules()
