"""``driftgames boost`` on a label of numbers: said before the fit, with means and intervals."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from typer.testing import CliRunner

from driftgames.boosting import NHBoostDTClassifier, NHBoostDTRegressor
from driftgames.cli.boost import app
from driftgames.datasets.libsvm import format_libsvm


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


def last(done):
    return done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    area, town = rng.normal(80, 20, 120).round(1), rng.choice(["York", "Bath", "Ely"], 120)
    level = pd.Series(town).map({"York": 50, "Bath": 90, "Ely": 0}).to_numpy()
    price = (3 * area + level + 20 * rng.normal(size=120)).round(1)
    return pd.DataFrame({"area": area, "town": town, "price": price})


@pytest.fixture(scope="module")
def houses(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("houses") / "houses.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(houses):
    """Return the file of a regressor that the command has fitted."""
    path = houses.parent / "m.json"
    run("fit", houses, "--rounds", 20, "--leaves", 4, "--model", path)
    return path


@pytest.fixture
def booster(frame):
    """Return what the library fits to the same table."""
    X = frame[["area", "town"]].to_numpy(dtype=object)
    return NHBoostDTRegressor(20, max_leaves=4, categorical_features=[1]).fit(X, frame["price"])


def test_a_label_of_many_numbers_is_a_regression_which_is_said_before_the_fit(houses, tmp_path):
    path = tmp_path / "m.json"
    done = run("fit", houses, "--rounds", 5, "--leaves", 2, "--model", path)
    assert done.stderr.splitlines()[0] == (
        f"{houses}: label price (the last column); 117 different numbers: regression "
        "(--many-classes fits classes); 2 features: area, town"
    )
    stages = NHBoostDTRegressor.load(path).model_.stages
    rounds = sum(stage.model.n_rounds for stage in stages)
    lines = done.stdout.splitlines()
    assert lines[0] == f"{path}: {len(stages)} stages, {rounds} rounds in all"
    assert lines[1].startswith("NumberCertificate: CRPS ")


def test_a_fit_gives_what_the_library_gives(model, frame, booster):
    loaded = NHBoostDTRegressor.load(model)
    assert loaded.feature_names_in_.tolist() == ["area", "town"]
    rows = frame[["area", "town"]]
    bare = rows.to_numpy(dtype=object)
    np.testing.assert_array_equal(loaded.predict(rows), booster.predict(bare))
    np.testing.assert_array_equal(loaded.predict_interval(rows), booster.predict_interval(bare))


def test_predictions_are_a_table_of_means_and_intervals(model, houses, frame, booster, tmp_path):
    bare = frame[["area", "town"]].to_numpy(dtype=object)
    new, out, plain = tmp_path / "new.csv", tmp_path / "out.csv", tmp_path / "out.json"
    frame[["town", "area"]].to_csv(new, index=False)  # columns are found by name
    done = run("predict", new, "--model", model, "--output", out, "--json", plain)
    assert done.output == ""
    found = pd.read_csv(out, dtype=str).astype(float)  # to the bit
    assert found.columns.tolist() == ["mean", "low_90", "high_90"]
    wanted = np.column_stack([booster.predict(bare), booster.predict_interval(bare, 0.9)])
    np.testing.assert_array_equal(found.to_numpy(), wanted)
    assert json.loads(plain.read_text())["predictions"] == found.to_dict("records")
    done = run("predict", houses, "--model", model)
    assert done.stdout == out.read_text()
    r2 = r2_score(frame["price"], booster.predict(bare))
    assert done.stderr.startswith(f"R2 {r2:.4f} on 120 examples, mean absolute error ")


def test_a_column_of_words_where_labels_stand_is_not_scored(model, frame, tmp_path):
    new = tmp_path / "new.csv"
    frame[["area", "town"]].assign(street="High").to_csv(new, index=False)
    done = run("predict", new, "--model", model)
    assert len(done.stdout.splitlines()) == 121
    assert done.stderr == ""


def test_inspect_shows_scores_stages_importances_and_the_certificate(model, houses, tmp_path):
    plain = tmp_path / "i.json"
    done = run("inspect", model, "--data", houses, "--json", plain)
    loaded = NHBoostDTRegressor.load(model)
    found = json.loads(plain.read_text())
    assert found["algorithm"] == "NHBoostDTRegressor"
    assert found["held-out CRPS"] == loaded.scores_.crps[-1]
    assert found["held-out mean absolute error"] == loaded.scores_.mae
    assert [each["held-out CRPS"] for each in found["stages"]] == list(
        loaded.scores_.crps[: len(loaded.model_.stages)]
    )
    shares = {each["feature"]: each["importance"] for each in found["features"]}
    assert shares == dict(zip(["area", "town"], loaded.feature_importances_, strict=True))
    for words in ("held-out CRPS", "averaged", "importance", "nothing is promised"):
        assert words in done.stdout
    assert f"{houses}: R2 " in done.stderr
    assert f"{loaded.scores_.crps[-1]:.4g}" in done.stdout


def test_cross_validation_shows_r2_error_crps_and_coverage(houses, tmp_path):
    plain = tmp_path / "cv.json"
    options = ["--rounds", 10, "--leaves", 4, "--folds", 3, "--json", plain]
    done = run("cv", houses, *options)
    assert "3 folds of" in done.stdout
    found = json.loads(plain.read_text())
    names = ["R2", "mean absolute error", "CRPS", "within 90 %"]
    assert [each["examples"] for each in found["parts"]] == [40, 40, 40]
    for name in names:
        column = [each[name] for each in found["parts"]]
        assert found["mean"][name] == pytest.approx(np.mean(column))
        assert found["spread"][name] == pytest.approx(np.std(column, ddof=1))
    assert found["mean"]["R2"] > 0.7
    assert run("cv", houses, *options).stdout == done.stdout
    refused = run("cv", houses, "--folds", 61, code=2)
    assert "--folds must leave two examples in each; got 61 for 120 examples" in last(refused)


def test_few_numbers_are_classes_unless_regression_is_asked_for(frame, tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    rooms = np.rint(frame["area"] / 30).astype(int)
    frame[["area", "town"]].assign(rooms=rooms).to_csv(path, index=False)
    options = ["--rounds", 5, "--leaves", 4, "--model", model]
    assert " classes: " in run("fit", path, *options).stderr
    done = run("fit", path, "--regression", *options)
    assert f"{rooms.nunique()} different numbers: regression; 2 features" in done.stderr
    predicted = NHBoostDTRegressor.load(model).predict(frame[["area", "town"]])
    assert np.corrcoef(predicted, rooms)[0, 1] > 0.9


def test_libsvm_text_is_a_regression_too(frame, tmp_path):
    path, model = tmp_path / "t.svm", tmp_path / "m.json"
    X = frame[["area"]].to_numpy()
    path.write_bytes(format_libsvm(X, frame["price"].to_numpy()))
    run("fit", path, "--rounds", 5, "--leaves", 4, "--model", model)
    rows = run("predict", path, "--model", model).stdout.splitlines()[1:]
    means = [float(row.split(",")[0]) for row in rows]
    assert means == NHBoostDTRegressor.load(model).predict(X).tolist()


def test_a_validation_file_is_scored(houses, tmp_path):
    options = ["--rounds", 5, "--leaves", 4, "--model", tmp_path / "m.json", "--valid", houses]
    assert last(run("fit", houses, *options)).startswith(f"{houses}: R2 ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--depth", 3], "--depth does not go with regression"),
        (["--class-weight", "balanced"], "--class-weight does not go with regression"),
        (["--patience", 3], "--patience does not go with regression"),
        (["--early-stopping", "on"], "--early-stopping does not go with regression"),
        (["--no-ensemble"], "--ensemble does not go with regression"),
        (["--no-pairs"], "--pairs does not go with regression"),
        (["--algorithm", "adaboost"], "regression is by nh-boost.dt; got --algorithm adaboost"),
        (["--regression", "--many-classes"], "--regression fits numbers and --many-classes fits"),
        (["--regression", "--label", "town"], "is not a finite number, as regression needs"),
    ],
)
def test_what_is_of_classes_is_refused(houses, tmp_path, options, message):
    for command in (["fit", houses, "--model", tmp_path / "m.json"], ["cv", houses]):
        assert message in last(run(*command, *options, code=2))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["inspect", "M", "--plot", "a.svg"], "--plot is for classes; M predicts numbers"),
        (["inspect", "M", "--plot-race", "a.svg"], "--plot-race is for classes; M predicts"),
        (["predict", "T", "--model", "M", "--what", "score"], "--what score is for classes"),
    ],
)
def test_what_a_regressor_does_not_have_is_refused(houses, model, monkeypatch, command, message):
    monkeypatch.chdir(houses.parent)
    before = sorted(houses.parent.iterdir())
    names = {"M": model.name, "T": houses.name}
    done = run(*(names.get(each, each) for each in command), code=2)
    assert message.replace("M", model.name) in last(done)
    assert sorted(houses.parent.iterdir()) == before


def test_a_stopped_fit_writes_nothing(houses, tmp_path, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(NHBoostDTRegressor, "fit", stop)
    done = run("fit", houses, "--model", tmp_path / "m.json", code=130)
    assert "stopped; nothing was written" in done.stderr
    assert not list(tmp_path.iterdir())


def test_files_of_both_kinds_are_told_apart(model, frame, tmp_path):
    classes = tmp_path / "c.json"
    booster = NHBoostDTClassifier(3, max_leaves=2, calibrate=False)
    booster.fit(frame[["area"]], frame["price"] > 290).save(classes)
    assert "NHBoostDTClassifier" in run("inspect", classes).stdout
    assert "NHBoostDTRegressor" in run("inspect", model).stdout
    other = tmp_path / "o.json"
    other.write_text('{"format": "driftgames.hedge"}')
    assert "holds a 'driftgames.hedge', where 'driftgames.boosting' was wanted" in last(
        run("inspect", other, code=2)
    )


def test_rows_held_out_of_everything_come_with_a_promise(houses, frame, tmp_path):
    path = tmp_path / "m.json"
    options = ["--rounds", 5, "--leaves", 2, "--model", path, "--validation-fraction", 0.25]
    done = run("fit", houses, *options)
    loaded = NHBoostDTRegressor.load(path)
    assert loaded.validation_fraction == 0.25
    assert loaded.certificate_.new_examples.n_examples == 30
    assert done.stdout.splitlines()[1].startswith("NumberCertificate: intervals of 90 % hold a new")
    bad = [*options[:-1], 2.5]
    assert "validation_fraction must be a number in (0, 1)" in last(
        run("fit", houses, *bad, code=2)
    )
    classes = tmp_path / "c.csv"
    frame[["area", "town"]].to_csv(classes, index=False)
    refused = run("fit", classes, *options, code=2)
    assert "--validation-fraction goes with regression" in last(refused)
