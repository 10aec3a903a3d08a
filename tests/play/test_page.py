"""The page as a text: one file, nothing from elsewhere, citations that exist."""

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from driftgames.play import SCRIPTS, page, read_part, write_page
from driftgames.play.fixtures import (
    MOST_CHIPS,
    MOST_ROUNDS,
    PER_UNIT,
    PLAYERS,
    minimax,
    stored_adversaries,
)
from driftgames.potentials import MinimaxPotential

PAPER = "LS14"
PARTS = resources.files("driftgames.play").joinpath("parts")
PAPER_MAP = Path(__file__).parents[2] / "docs" / "paper_map.md"


@pytest.fixture(scope="module")
def text():
    return page()


def test_the_page_needs_nothing_from_elsewhere(text):
    assert re.findall(r"""(?:src|href|action)\s*=\s*["']?(?!["']|data:)""", text) == []
    assert re.findall(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|WebSocket|import\(", text) == []
    assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text


def test_every_part_is_on_the_page(text):
    scripts = {part.name for part in PARTS.iterdir() if part.name.endswith(".js")}
    assert scripts == set(SCRIPTS)
    for name in (*SCRIPTS, "page.css"):
        assert read_part(name) in text
    assert "{{" not in text


def test_the_copy_of_the_site_links_back_to_the_site(tmp_path):
    write_page(tmp_path / "play.html", documentation='play.html?a&"b')
    written = (tmp_path / "play.html").read_text("utf-8")
    assert '<a href="play.html?a&amp;&quot;b">Documentation and lessons</a>' in written
    assert "Documentation and lessons" not in page()


def test_the_page_is_the_same_every_time(text, tmp_path):
    write_page(tmp_path / "play.html")
    assert (tmp_path / "play.html").read_text("utf-8") == text


def test_the_records_are_one_game_of_each_player_and_a_fit(text):
    records = json.loads(re.search(r'id="fixtures">(.*?)</script>', text, re.DOTALL)[1])
    assert [game["setup"]["player"] for game in records["games"]] == list(PLAYERS)
    assert len(records["fits"]) == 1


def test_every_citation_has_a_row_in_the_paper_map(text):
    rows = PAPER_MAP.read_text()
    cited = {
        item for found in re.findall(rf"\[{PAPER}, ([^\]]+)\]", text) for item in found.split(", ")
    }
    assert {"Alg. 3", "Alg. 6", "Thm. 2", "Lem. 2"} <= cited
    assert [item for item in cited if f"| {item} |" not in rows] == []


def test_stored_adversaries_serve_the_largest_game():
    for stored in stored_adversaries().values():
        assert len(stored["rounds"]) == MOST_ROUNDS
        assert all(re.fullmatch(f"[01]{{{MOST_CHIPS}}}", row) for row in stored["rounds"])


@pytest.mark.parametrize(("horizon", "epsilon"), [(10, 0.2), (20, 1 / 6)])
def test_the_minimax_player_has_the_least_radius(horizon, epsilon):
    """Its bound is R plus T spacings, and with a smaller R the game's value is too large."""
    player = minimax(horizon, epsilon)
    assert player.game_value < epsilon
    radius = float(player.bound(horizon, epsilon)) - horizon / PER_UNIT
    smaller = MinimaxPotential.on_interval(
        lambda s: s <= 1 / PER_UNIT - radius, horizon, per_unit=PER_UNIT
    )
    assert smaller.game_value >= epsilon
