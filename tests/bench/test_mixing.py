"""Mixing on the electricity load: what the page says of it, and what the references are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bench import mixing
from bench.mixing_peers import PEERS
from driftgames.datasets import MissingDataError
from driftgames.hedge import ExpertMixture, best_combination

PAGE = Path(__file__).parents[2] / "docs" / "mixing.md"


@pytest.fixture(scope="module")
def load():
    try:
        return mixing.load_forecasts()
    except MissingDataError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def table(load):
    return mixing.load_table()


def rmse(errors):
    return float(np.sqrt(np.mean(errors**2)))


def test_the_mixture_is_within_3_percent_of_the_best_combination_and_beats_every_expert(load):
    X, y, _ = load
    mixture = ExpertMixture()
    found = rmse(mixture.predict_then_fit(X, y) - y)
    best = rmse(X @ best_combination(X, y).weights - y)
    assert best == pytest.approx(1949.3, abs=0.5)
    assert found <= 1.03 * best
    assert found < rmse(X.mean(axis=1) - y)
    assert found < min(rmse(column - y) for column in X.T)
    assert mixture.combination_certificate(X, y).holds


def test_the_units_of_the_load_do_not_matter(load):
    X, y, _ = load
    megawatts = ExpertMixture().predict_then_fit(X, y)
    for scale in (1e-3, 1e6):
        other = ExpertMixture().predict_then_fit(X * scale, y * scale)
        np.testing.assert_allclose(other / scale, megawatts, rtol=1e-9)


def test_the_page_has_the_numbers_of_the_table(table):
    cells = {row[0]: (f"{row[2]:,.0f}", f"{row[3]:,.0f}") for row in table.rows}
    renamed = {
        "EWA, best rate in hindsight": "EWA",
        "best expert (linear regression)": "linear regression",
    }
    rows = re.findall(r"^\| (.+?) \| ([\d,*]+) \| ([\d,*]+) \|$", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == 11
    for name, *shown in rows:
        plain = name.replace("`", "").strip("*")
        if plain in PEERS and plain not in cells:  # its library is not installed
            continue
        assert tuple(each.strip("*") for each in shown) == cells[renamed.get(plain, plain)]


@pytest.mark.parametrize("name", mixing.REFERENCES)
def test_references_learn_and_play_convex_combinations(name):
    rng = np.random.default_rng(0)
    y = rng.random(400)
    X = y[:, None] + rng.normal([-0.2, 0.2, 0.0], [0.05, 0.05, 1.0], (400, 3))
    predictions = mixing.REFERENCES[name](X, y)
    assert predictions[0] == pytest.approx(X[0].mean())
    assert (predictions >= X.min(axis=1) - 1e-12).all()
    assert (predictions <= X.max(axis=1) + 1e-12).all()
    assert rmse(predictions - y) < 0.7 * rmse(X.mean(axis=1) - y)
    # the past alone decides: other outcomes later change nothing before
    if name != "EWA":
        later = np.where(np.arange(400) < 200, y, 1.0 - y)
        again = mixing.REFERENCES[name](X, later)
        assert again[:201].tolist() == predictions[:201].tolist()
        scaled = mixing.REFERENCES[name](X * 64.0, y * 64.0)
        np.testing.assert_allclose(scaled, predictions * 64.0, rtol=1e-6)


def test_a_set_that_is_not_there_is_said_to_be_skipped(monkeypatch):
    def missing():
        raise MissingDataError("electric_load.csv is not there")

    monkeypatch.setattr(mixing, "load_forecasts", missing)
    monkeypatch.setattr(mixing, "ROUNDS", 50)
    skipped, raced = mixing.run(quick=True)
    assert skipped.column("skipped") == ["electric_load.csv is not there"]
    assert raced.column("contestant") == ["ExpertMixture()", "ML-Poly", "BOA"]
