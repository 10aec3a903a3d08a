"""ONNX models give the labels, votes and probabilities of the booster in onnxruntime."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.training_record import Fitted

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model, path, inputs, **settings):
    """Return the outputs of the exported model by name."""
    model.to_onnx(path, **settings)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def agree(model, found, X, tolerance=1e-7):
    np.testing.assert_array_equal(found["label"], model.predict(X))
    votes, shares = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(found["votes"], votes, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found["probabilities"], shares, rtol=0, atol=tolerance)


def draw(n_classes=2):
    """Return rows that are float32 numbers, with missing values, and noisy labels."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(-1, 1, n_classes + 1)[1:-1])
    y = np.where(rng.random(300) < 0.1, rng.integers(0, n_classes, 300), y)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", [AdaBoostClassifier, NHBoostDTClassifier])
def test_two_classes(kind, depth, dtype, tmp_path):
    X, y = draw()
    model = kind(12, max_depth=depth).fit(X, np.where(y == 1, "yes", "no"))
    rows = X if dtype == "float32" else np.random.default_rng(1).normal(size=(400, 4))
    found = run(model, tmp_path / "m.onnx", {"X": rows.astype(dtype)}, dtype=dtype)
    exact = kind is NHBoostDTClassifier and dtype == "float64"
    agree(model, found, rows, 1e-15 if exact else 1e-7)


def test_a_number_at_a_threshold_goes_the_same_way(tmp_path):
    X, y = draw()
    model = NHBoostDTClassifier(40, max_leaves=2, calibrate=False).fit(X, y)
    cuts = model.stumps_.threshold[np.isfinite(model.stumps_.threshold)].astype(np.float32)
    near = [np.nextafter(cuts, np.float32(-np.inf)), cuts, np.nextafter(cuts, np.float32(np.inf))]
    rows = np.repeat(np.concatenate(near)[:, None], 4, axis=1)
    agree(model, run(model, tmp_path / "m.onnx", {"X": rows}), rows)


@pytest.mark.parametrize("calibrate", [False, True])
def test_several_classes(calibrate, tmp_path):
    X, y = draw(4)
    model = NHBoostDTClassifier(8, max_depth=2, calibrate=calibrate).fit(X, y)
    agree(model, run(model, tmp_path / "m.onnx", {"X": X}), X)


@pytest.mark.parametrize(
    ("n_classes", "calibration"),
    [
        (2, Calibration(5.0, 1.1)),
        (2, Calibration(5.0, -1.0)),
        (2, Calibration(5.0, 1.0, class_weighted=True)),
        (4, Calibration(5.0, 0.0, (0.0, 1.5, -1.0, 0.3), class_weighted=True)),
        (4, Calibration(0.0, 0.0, (0.0, 1.5, -1.0, 2.0))),
    ],
)
def test_the_label_follows_the_calibration_as_predictions_do(n_classes, calibration, tmp_path):
    X, y = draw(n_classes)
    model = NHBoostDTClassifier(10, max_depth=2, calibrate=False).fit(X, y)
    model.adopt(Fitted(replace(model.model_, calibration=calibration), model.record_))
    votes = model.decision_function(X)
    voted = votes > 0 if n_classes == 2 else votes.argmax(axis=1)
    assert (model.predict(X) == voted).all() == calibration.class_weighted
    agree(model, run(model, tmp_path / "m.onnx", {"X": X}), X)


@pytest.mark.parametrize("depth", [1, 3])
def test_categories(depth, tmp_path):
    X, y = draw()
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(X[:, :2], columns=["label", "height"])
    frame["town"] = rng.choice(["Ulm", "Bonn", "Kiel", None], 300)
    frame["size"] = rng.choice([0.1, 2.5, np.nan, 40.0], 300)
    y = y + frame["town"].isin(["Ulm", "Kiel"]) + (frame["size"] == 2.5) + (X[:, 1] > 0) > 1
    model = NHBoostDTClassifier(
        25, max_depth=depth, categorical_features=["town", "size"], calibrate=False
    ).fit(frame, y)
    asked = model.stumps_.feature if depth == 1 else model.trees_.feature[model.trees_.left > 0]
    assert set(model.encoder_.feature[asked]) == {0, 1, 2, 3}
    frame.loc[:4, "town"] = "Rom"
    frame.loc[5:9, "size"] = 7.0
    towns = frame["town"].astype(object)
    inputs = {
        "input label": frame[["label"]].to_numpy(),
        "height": frame[["height"]].to_numpy(),
        "town": towns.where(towns.notna(), "").to_numpy(object)[:, None],
        "size": frame[["size"]].to_numpy(np.float32),
    }
    agree(model, run(model, tmp_path / "m.onnx", inputs), frame)


def test_a_model_without_rounds_and_an_unknown_type(tmp_path):
    X = np.zeros((10, 2), dtype=np.float32)
    y = np.arange(10) < 7
    with pytest.warns(UserWarning, match="no .* edge"):
        model = NHBoostDTClassifier(3, max_leaves=2).fit(X, y)
    agree(model, run(model, tmp_path / "m.onnx", {"X": X}), X)
    with pytest.raises(ValueError, match="float16"):
        model.to_onnx(tmp_path / "n.onnx", dtype="float16")
    assert not (tmp_path / "n.onnx").exists()


def test_ordered_levels_go_by_their_names(tmp_path):
    levels = ["low", "middle", "high", "top"]
    codes = np.random.default_rng(2).integers(0, 4, 200)
    frame = pd.DataFrame({"level": pd.Categorical.from_codes(codes, levels, ordered=True)})
    frame["x"] = np.arange(200) % 7 / 7
    model = NHBoostDTClassifier(20, max_leaves=4).fit(frame, codes + 2 * frame["x"] > 2)
    model.to_onnx(tmp_path / "m.onnx", dtype="float64")
    new = pd.DataFrame({"level": [*levels, "a new word", None], "x": np.linspace(0, 1, 6)})
    given = {
        "level": np.array([[each or ""] for each in new["level"].where(new["level"].notna(), "")]),
        "x": new[["x"]].to_numpy(),
    }
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    (votes,) = session.run(["votes"], given)
    np.testing.assert_array_equal(votes, model.decision_function(new))
