"""The pictures of results in notebooks."""

import math
import re

import pytest

from driftgames.core.display import Sketch
from driftgames.core.display_html import page_of, svg_of


def test_a_picture_has_room_for_its_numbers():
    """The sign of -0.06721 stood outside of the picture."""
    for values in ([-0.06721, 0.4138], [0.0, 1.0], [-1.234e-05, 123456.0]):
        picture = svg_of(Sketch([1.0, 2.0], {"loss": values}))
        for x, anchor, words in re.findall(
            r'<text x="([\d.]+)" [^>]*text-anchor="(\w+)">([^<]*)<', picture
        ):
            assert anchor != "end" or float(x) >= 6 * len(words), words


def test_a_long_name_of_a_bar_is_cut_with_a_sign():
    assert "od280/od315_o…<" in svg_of(Sketch(bars={"od280/od315_of_diluted_wines": 1.0}))


def test_an_interval_is_a_dot_with_whiskers():
    text = svg_of(Sketch(intervals={"a": (0.0, 1.0, 4.0), "b": (2.0, 3.0, math.inf)}))
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', text)]
    lines = [
        [float(x) for x in each] for each in re.findall(r'<path d="M([\d.]+) \d+H([\d.]+)M', text)
    ]
    assert len(dots) == len(lines) == 2
    for dot, (low, high) in zip(dots, lines, strict=True):
        assert low < dot < high
    assert (dots[0] - lines[0][0]) / (lines[0][1] - lines[0][0]) == pytest.approx(0.25, abs=0.01)
    assert text.count("v8") == 3  # an infinite end has no cap
    assert "<rect" not in text


def test_rounding_errors_are_shown_as_0():
    text = page_of("Run", "", {}, {"weight": [0.5, 2.776e-17]}, Sketch([0, 1], {"w": [3e-17, 0.5]}))
    assert "e-17" not in text
    assert text.count(">0<") >= 2
    assert "3e-17" in svg_of(Sketch([0, 1], {"w": [3e-17, 4e-17]}))
