"""SHAP values of an additive model are our votes, less their mean over the background."""

from __future__ import annotations

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTClassifier

pytestmark = pytest.mark.filterwarnings("ignore")  # those of shap


@pytest.mark.parametrize("algorithm", ["auto", "permutation"])
def test_shap_values_are_the_votes_of_explain_less_their_mean(algorithm):
    shap = pytest.importorskip("shap")
    X = np.random.default_rng(6).normal(size=(60, 3))
    model = NHBoostDTClassifier(15, max_leaves=2, calibrate=False).fit(X, X[:, 0] + X[:, 1] > 0)
    background = X[:20]
    explainer = shap.Explainer(model.decision_function, background, algorithm=algorithm)
    found = explainer(X[:4], silent=True).values
    shapes = model.shape_functions_
    for i in range(4):
        explained = model.explain(X[i]).by_feature
        for j in range(3):
            mean = shapes[j](background[:, j]).mean() if j in shapes else 0.0
            assert found[i, j] == pytest.approx(explained.get(j, 0.0) - mean, abs=1e-9)
