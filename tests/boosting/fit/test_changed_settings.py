"""Settings that were changed after a fit: no file is written that would not say what was fitted."""

import numpy as np
import pytest
from sklearn.base import clone

from driftgames.boosting import (
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)
from driftgames.boosting.persistence import load_model
from driftgames.potentials import Exponential, TwoNorm


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(2)
    return X, (X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=300) > 0).astype(int)


@pytest.mark.parametrize(
    ("booster", "changed", "message"),
    [
        (
            NHBoostDTClassifier(5, max_leaves=2, calibrate=False),
            {"d": 30.0},
            "d was 3.0 in the rounds .*; got 30.0",
        ),
        (
            NHBoostDTClassifier(5, max_leaves=2, calibrate=False),
            {"max_bins": 16},
            "max_bins was 'auto' in the rounds .*; got 16",
        ),
        (
            BoostByMajorityClassifier(5, horizon=9, calibrate=False),
            {"edge": 0.2},
            "edge was 0.1 .*; got 0.2",
        ),
        (
            BoostByMajorityClassifier(5, horizon=9, calibrate=False),
            {"horizon": 8},
            "horizon was 9 .*; got 8",
        ),
        (
            PotentialBoostClassifier(TwoNorm(), 5, calibrate=False),
            {"potential": Exponential(0.3)},
            r"potential was TwoNorm\(\) .*; got Exponential\(eta=0.3\)",
        ),
    ],
)
def test_other_settings_are_refused(data, tmp_path, booster, changed, message):
    booster = clone(booster).fit(*data)
    booster.save(tmp_path / "m.json")
    for model in (booster, load_model(tmp_path / "m.json")):
        model.set_params(n_estimators=7, **changed)
        with pytest.raises(ValueError, match=message):
            model.save(tmp_path / "other.json")
        assert not (tmp_path / "other.json").exists()
        model.fit(*data).save(tmp_path / "anew.json")  # anew, anything goes
        assert load_model(tmp_path / "anew.json").n_iter_ == 7


def test_settings_that_leave_the_rounds_played_alone_may_change(data, tmp_path):
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(*data)
    booster.set_params(n_jobs=2, d=3, random_state=4).save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").stumps_ == booster.stumps_
