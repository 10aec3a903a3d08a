"""Mixing on the electricity load: what the page says of it, and what the references are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bench import forecasts, hedge_real, mixing, mixing_real
from bench.mixing_peers import PEERS
from driftgames.datasets import MissingDataError
from driftgames.hedge import ExpertMixture, best_combination

PAGE = Path(__file__).parents[2] / "docs" / "benchmark_tables.md"


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
    page = PAGE.read_text().partition("## Mixing forecasts")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| ([\d,*]+) \| ([\d,*]+) \|$", page, re.MULTILINE)
    assert len(rows) == 12
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
    monkeypatch.setattr(mixing, "SINGLE", 20)
    skipped, raced, single = mixing.run(quick=True)
    assert skipped.column("skipped") == ["electric_load.csv is not there"]
    ours = ["ExpertMixture()", "ExpertMixture(combiners=False)"]
    assert raced.column("contestant") == [*ours, "ML-Poly", "BOA"]
    assert single.column("contestant") == [*(f"{each}.step" for each in ours), "BOA in NumPy"]


def made_up_series(name="made up", rounds=90):
    rng = np.random.default_rng(3)
    values = 10 + np.sin(np.arange(rounds) * 2 * np.pi / 4) + 0.2 * rng.normal(size=rounds).cumsum()
    return forecasts.make_forecasts(name, values, 4)


def test_forecasts_of_a_series_know_the_past_alone():
    rng = np.random.default_rng(0)
    values = rng.normal(size=90).cumsum()
    other = np.where(np.arange(90) < 60, values, 7.0)
    ours, theirs = (forecasts.make_forecasts("made up", each, 4) for each in (values, other))
    begin = forecasts.FIRST + 8
    assert ours.few.shape == (90 - begin, 8)
    assert ours.many.shape == (90 - begin, 50)
    np.testing.assert_array_equal(ours.many[: 61 - begin], theirs.many[: 61 - begin])
    np.testing.assert_array_equal(ours.y, values[begin:])
    assert (ours.many[62 - begin :] != theirs.many[62 - begin :]).any()


def test_sets_are_divided_by_their_names_alone():
    chosen = {name for name in forecasts.SERIES if made_up_named(name).to_choose_on}
    assert len(chosen) == 17
    assert "Australian cafes" not in chosen
    assert len(forecasts.SERIES) == 27


def made_up_named(name):
    empty = np.empty((0, 1))
    return forecasts.Forecasts(name, empty, empty, np.empty(0))


def test_the_five_games_are_what_they_say_and_the_default_is_measured_beside_its_peers():
    series = made_up_series()
    games = dict(mixing_real.games(series))
    assert tuple(games) == mixing_real.KINDS
    assert np.isnan(games["missing"].X).mean() == pytest.approx(0.3, abs=0.05)
    assert (np.sort(games["swapped"].X, axis=1) == np.sort(series.few, axis=1)).all()
    assert (games["swapped"].X[:10] == series.few[:10]).all()
    assert (series.few != games["swapped"].X).any()
    table = mixing_real.table("made up", [series], ewa=False)
    assert table.column("mixture")[0] == "ExpertMixture()"
    lead = table.rows[-1]
    for k, kind in enumerate(mixing_real.KINDS, 1):
        cells = {row[0]: row[k] for row in table.rows}
        best = min(cells[name] for name in mixing_real.PEERS)
        assert lead[k] == pytest.approx(100 * (cells["ExpertMixture()"] / best - 1)), kind
    assert mixing_real.lead_by_series([series]).rows[-1][0] == "geometric mean"


def test_quantiles_come_from_past_errors():
    X, y = np.zeros((4, 1)), np.array([1.0, 3.0, 2.0, 9.0])
    assert mixing_real.quantiles(X, y).ravel().tolist() == [0.0, 1.0, 3.0, 3.0]


def test_every_learner_is_run_on_real_losses():
    L = np.random.default_rng(0).random((60, 4))
    table = hedge_real.regrets({"made up": L}, ())
    columns = [column.name for column in table.columns]
    assert columns[1] == hedge_real.TUNED
    assert {"NormalHedge.DT", "AdaHedge", "AdaNormalHedge, no range"} < set(columns)
    best = min(table.rows[0][columns.index(name)] for name in columns if name.startswith("EXP"))
    assert table.rows[0][1] == pytest.approx(best, abs=0.2)
    assert len(list(hedge_real.matrices())) >= 9
    assert len(hedge_real.epsilons("made up", L).rows) == 6
