"""The benchmark of portfolios runs, small, and reports what it says it reports."""

import numpy as np
import pytest

from driftgames.benchmarks import oco
from driftgames.oco import UniversalPortfolio


@pytest.fixture(scope="module")
def tables():
    return {table.title: table for table in oco.run(quick=True)}


def test_every_race_has_ours_first(tables):
    for title in oco.WANTED:
        assert tables[title].column("contestant")[0] == "driftgames"
        assert tables[title].column("best")[0] > 0
        assert f"{oco.WANTED[title]:g} s" in tables[title].notes[0]


def test_an_absent_peer_says_why(tables):
    table = tables["universal portfolio"]
    for name, best in zip(table.column("contestant"), table.column("best"), strict=True):
        if best is None:
            assert name == "universal-portfolios"
            assert "skipped" in table.column("note")[1]


def test_accuracy_is_the_distance_to_the_reference():
    X = np.exp(np.random.default_rng(0).normal(0, 0.01, size=(20, 3)))
    table = oco.accuracy(X, exact=True)
    wealth = UniversalPortfolio(3).run(X).final_wealth
    assert table.column("wealth")[0] == wealth
    assert table.column("error")[0] == abs(wealth - oco.UNIVERSAL_WEALTH)


def test_the_reference_agrees_with_the_library_on_a_small_market():
    X = np.exp(np.random.default_rng(0).normal(0, 0.05, size=(50, 3)))
    wealth, error = oco.reference(X, scramblings=3)
    assert abs(wealth - UniversalPortfolio(3).run(X).final_wealth) < 1e-4
    assert error < 1e-4
