"""Write a digest of fitted boosters; `test_same_bits` runs it under several processor targets."""

import hashlib
import json
import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer

from driftgames.boosting import (
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostClassifier,
    NoEdgeWarning,
)

BOOSTERS = {
    "AdaBoost": (AdaBoostClassifier(300), False),
    "AdaBoost, real weights": (AdaBoostClassifier(100), True),
    "NH-Boost": (NHBoostClassifier(300), False),
    "boost-by-majority": (BoostByMajorityClassifier(301, edge=0.07), False),
}


def digest(booster, X, y, sample_weight):
    """Return a digest of the stumps, votes and history of a fitted booster."""
    booster.fit(X, y, sample_weight=sample_weight)
    stumps = booster.stumps_
    found = hashlib.sha256()
    for column in (
        stumps.feature,
        stumps.threshold,
        stumps.left_vote,
        booster.estimator_weights_,
        *booster.history_.values(),
    ):
        found.update(np.asarray(column, dtype="<f8").tobytes())
    return found.hexdigest()[:16]


def main():
    """Write the digest of each booster as JSON."""
    warnings.simplefilter("ignore", NoEdgeWarning)
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]  # few features: labels overlap and no round is easy
    weights = 1.0 / (1.0 + np.arange(y.size))
    digests = {
        name: digest(booster, X, y, weights if weighted else None)
        for name, (booster, weighted) in BOOSTERS.items()
    }
    sys.stdout.write(json.dumps(digests))


if __name__ == "__main__":
    main()
