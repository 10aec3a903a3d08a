"""Tuned peers: what a search draws, tries, counts and chooses."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from bench import tuned
from bench.accuracy_options import AccuracyOptions
from bench.libraries import LIBRARIES, Library, Made, as_numbers, pickled
from bench.sets import half
from bench.tuned import COUNTS, SPACES, Between, RandomSearch, n_tried

TREE = Library(
    "tree",
    Made("sklearn.tree", "DecisionTreeClassifier", {"max_depth": 1, "random_state": 0}),
    "scikit-learn",
    form=as_numbers,
    size=pickled,
)
DEPTH = {"max_depth": Between(2, 4, is_whole=True)}


@pytest.fixture
def chequers():
    """Labels that no stump and every tree of two questions can tell."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], (200, 2))
    return pd.DataFrame(X, columns=["a", "b"]), (X.prod(axis=1) > 0).astype(int)


def test_draws_lie_between_their_ends():
    rng = np.random.default_rng(0)
    for space, _ in SPACES.values():
        for name, each in space.items():
            drawn = [each.draw(rng) for _ in range(200)]
            assert each.low <= min(drawn) <= max(drawn) <= each.high, name
            assert isinstance(drawn[0], int if each.is_whole else float)


def test_logarithms_are_drawn_evenly():
    rng = np.random.default_rng(0)
    drawn = [Between(0.01, 1.0, is_log=True).draw(rng) for _ in range(2_000)]
    assert np.mean(np.array(drawn) < 0.1) == pytest.approx(0.5, abs=0.05)


def test_fewer_settings_are_tried_on_more_rows():
    tried = [n_tried(COUNTS, n_rows) for n_rows in (100, 4_000, 4_001, 50_000, 10**6)]
    assert tried == [40, 40, 20, 8, 8]


def test_the_setting_of_the_least_loss_is_fitted_to_all_rows(chequers):
    X, y = chequers
    found = RandomSearch(TREE, DEPTH, {1_000: 3}).fit(X, y)
    assert found.chosen_["max_depth"] >= 2
    assert found.predict(X).tolist() == y.tolist()
    assert found.predict_proba(X).shape == (200, 2)
    again = RandomSearch(TREE, DEPTH, {1_000: 3}).fit(X, y)
    assert again.chosen_ == found.chosen_


def test_the_default_is_the_first_setting_and_alone_needs_no_folds(chequers, monkeypatch):
    X, y = chequers
    monkeypatch.setattr(RandomSearch, "_loss", None)
    assert RandomSearch(TREE, DEPTH, {1_000: 1}).fit(X, y).chosen_ == {}


def test_a_tuned_library_can_be_sent_to_another_process():
    library = tuned.tuned(LIBRARIES["EBM"], *SPACES["EBM"])
    sent = pickle.loads(pickle.dumps(library))
    assert sent.make().library == LIBRARIES["EBM"]
    assert (sent.name, sent.most_splits) == ("EBM, tuned", 1)


def test_a_run_is_of_the_sets_to_report_on_and_says_what_was_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(tuned, "LIBRARIES", {"ours": TREE, "tree": TREE, "ChimeraBoost": TREE})
    monkeypatch.setattr(tuned, "OURS", "ours")
    monkeypatch.setattr(tuned, "SPACES", {"tree": (DEPTH, {4_000: 3})})
    monkeypatch.setattr(tuned, "highest_quality", lambda library: TREE)
    options = AccuracyOptions(results=tmp_path / "rows.jsonl", sets="iris")
    tables = {table.title: table for table in tuned.run(quick=True, options=options)}
    sets = tables["the sets of tuned peers"]
    assert [half(name) for name in sets.column("set")] == ["report"]
    assert "tree tries 2 settings (up to 100,000 training rows)" in sets.notes[0]
    assert "max_depth 2 to 4" in sets.notes[0]
    ranks = tables["mean ranks on the sets to report on, peers tuned"]
    assert "tree, tuned" in ranks.column("library")
