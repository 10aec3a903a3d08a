"""Boosters as Treelite models give the same votes and probabilities."""

import sys

import numpy as np
import pytest

from driftgames.boosting import BOOSTERS, NHBoostDTClassifier

RNG = np.random.default_rng(0)
X = np.where(RNG.random((300, 5)) < 0.1, np.nan, RNG.normal(size=(300, 5)).round(1))
Y = np.nansum(X[:, :2], axis=1) > 0


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("kind", BOOSTERS.values(), ids=lambda kind: kind.__name__)
def test_treelite_gives_the_same_numbers(kind, calibrate, depth):
    treelite = pytest.importorskip("treelite")
    booster = kind(n_estimators=15, max_depth=depth, calibrate=calibrate).fit(X, Y)
    found = treelite.gtil.predict(booster.to_treelite(), X).ravel()
    ours = booster.predict_proba(X)[:, 1] if calibrate else booster.decision_function(X)
    np.testing.assert_allclose(found, ours, rtol=0, atol=1e-12)


def test_what_treelite_cannot_hold_is_refused(monkeypatch):
    pytest.importorskip("treelite")
    three = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match="two classes"):
        three.to_treelite()
    monkeypatch.setitem(sys.modules, "treelite.model_builder", None)
    with pytest.raises(ImportError, match=r"driftgames\[treelite\]"):
        three.to_treelite()
