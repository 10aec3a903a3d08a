"""ONNX models of regressors give their means and quantiles in onnxruntime."""

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTRegressor
from driftgames.boosting.regression.distribution import LEVELS

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

Q = [0.0, 0.013, 0.05, 0.5, 0.7777, 1.0]


def check(model, path, inputs, rows, q=Q, tolerance=1e-9, **settings):
    model.to_onnx(path, q=q, **settings)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    mean, quantiles = session.run(["mean", "quantiles"], inputs)
    unit = np.ptp(model.predict(rows))
    np.testing.assert_allclose(mean, model.predict(rows), rtol=0, atol=tolerance * unit)
    wanted = model.predict_quantiles(rows, q).reshape(quantiles.shape)
    np.testing.assert_allclose(quantiles, wanted, rtol=0, atol=tolerance * unit)


def draw():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(250, 3)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=250)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, 100.0 + 5.0 * y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_stages", [1, 3])
def test_means_and_quantiles(n_stages, dtype, tmp_path):
    X, y = draw()
    model = NHBoostDTRegressor(15, max_leaves=4, n_stages=n_stages, n_thresholds=5).fit(X, y)
    assert len(model.model_.stages) == n_stages
    rows = X if dtype == "float32" else np.random.default_rng(1).normal(size=(300, 3))
    tolerance = 1e-9 if dtype == "float64" else 1e-5  # of the output
    given = {"X": rows.astype(dtype)}
    check(model, tmp_path / "m.onnx", given, rows, tolerance=tolerance, dtype=dtype)


def test_every_known_level_and_the_levels_of_an_interval(tmp_path):
    X, y = draw()
    model = NHBoostDTRegressor(15, max_leaves=4, n_stages=2).fit(X, np.rint(y))  # has atoms
    given = {"X": X.astype(np.float64)}
    check(model, tmp_path / "m.onnx", given, X, q=LEVELS, dtype="float64")
    levels = model.scores_.places.levels(0.8)
    check(model, tmp_path / "m.onnx", given, X, q=levels, dtype="float64")
    check(model, tmp_path / "m.onnx", given, X, q=0.3, dtype="float64")


def test_categories_are_coded_for_every_stage(tmp_path):
    X, y = draw()
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(X[:, :2], columns=["mean", "height"])
    frame["town"] = rng.choice(["Ulm", "Bonn", "Kiel", None], 250)
    frame["size"] = rng.choice([0.1, 2.5, np.nan, 40.0], 250)
    y = y + 6.0 * frame["town"].isin(["Ulm", "Kiel"]) + 3.0 * (frame["size"] == 2.5)
    model = NHBoostDTRegressor(
        20, max_leaves=6, n_stages=2, n_thresholds=5, categorical_features=["town", "size"]
    ).fit(frame, y.to_numpy())
    assert len(model.model_.stages) == 2
    frame.loc[:4, "town"] = "Rom"
    frame.loc[5:9, "size"] = 7.0
    towns = frame["town"].astype(object)
    inputs = {
        "input mean": frame[["mean"]].to_numpy(np.float64),
        "height": frame[["height"]].to_numpy(np.float64),
        "town": towns.where(towns.notna(), "").to_numpy(object)[:, None],
        "size": frame[["size"]].to_numpy(np.float64),
    }
    check(model, tmp_path / "m.onnx", inputs, frame, dtype="float64")


def test_what_cannot_be_written_is_refused(tmp_path):
    X, y = draw()
    model = NHBoostDTRegressor(3, max_leaves=2, n_stages=1, n_thresholds=3).fit(X, y)
    for settings, message in (({"dtype": "float16"}, "float16"), ({"q": 1.5}, "q must be levels")):
        with pytest.raises(ValueError, match=message):
            model.to_onnx(tmp_path / "m.onnx", **settings)
    with pytest.raises(ValueError, match="no model to write"):
        NHBoostDTRegressor().fit(X, np.ones(250)).to_onnx(tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
