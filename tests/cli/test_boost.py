"""``driftgames boost``: from files to a model, to predictions, to what it is made of."""

from __future__ import annotations

import errno
import gzip
import io
import json
import re
import xml.etree.ElementTree
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from typer.testing import CliRunner

from driftgames.boosting import (
    BOOSTERS,
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
)
from driftgames.boosting.persistence import encode_model, load_model
from driftgames.certificates import NewExamples
from driftgames.cli._boost_options import ALGORITHMS
from driftgames.cli._boost_report import deal_folds
from driftgames.cli.boost import app
from driftgames.datasets.libsvm import format_libsvm

pytestmark = pytest.mark.usefixtures("few_folds")


def last(done):
    """Return the last line on standard error: the lines before say how a table was read."""
    return done.stderr.splitlines(keepends=True)[-1]


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = (rng.random((240, 8)) < 0.4).astype(float)
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=240) > 1.2, 1, -1)
    return X, y


@pytest.fixture
def svm(data, tmp_path):
    path = tmp_path / "train.svm.gz"
    path.write_bytes(gzip.compress(format_libsvm(*data)))
    return path


@pytest.fixture
def csv(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3)).round(3)
    labels = np.where(X[:, 0] > X[:, 1], "spam", "ham")
    lines = [f"{label},{a},{b},{c}" for label, (a, b, c) in zip(labels, X.tolist(), strict=True)]
    path = tmp_path / "mail.csv"
    path.write_text("\n".join(["kind,links,length,noise", *lines]) + "\n")
    return path, X, labels


def test_the_algorithms_are_the_boosters_that_need_no_potential(svm, tmp_path):
    assert (*ALGORITHMS, "potential boost") == tuple(BOOSTERS)
    done = run("fit", svm, "--model", tmp_path / "m.json", "--algorithm", "bagging", code=2)
    assert f"--algorithm must be one of {', '.join(ALGORITHMS)}; got 'bagging'" in done.stderr


def test_fit_and_predict_give_what_the_library_gives(svm, data, tmp_path):
    model = tmp_path / "m.json"
    done = run("fit", svm, "--algorithm", "nh-boost.dt", "--model", model)
    booster = NHBoostDTClassifier(n_jobs=1).fit(*data)
    mean = f"the mean of {len(booster.record_.members)} boosters of the best sizes"
    mean += f", {booster.n_iter_:,} rounds in all"
    assert f"{mean}, training error" in done.stdout.replace("\n  ", " ")
    chosen = booster.chosen_
    loss = next(trial.log_loss for trial in chosen.trials if trial.outcome == "chosen")
    assert done.stdout.splitlines()[0] == (
        f"chosen: {chosen.max_leaves} leaves, {chosen.n_estimators} rounds, of "
        f"{len(chosen.trials)} trials on 5 folds, held-out log-loss {loss:.4f}"
    )
    assert encode_model(load_model(model)) == encode_model(booster)
    done = run("predict", svm, "--model", model)
    assert done.stdout.split() == [str(label) for label in booster.predict(data[0])]
    error = np.mean(booster.predict(data[0]) != data[1])
    assert f"error {error:.2%} on 240 examples" in done.stderr


@pytest.mark.parametrize(
    ("what", "method"), [("score", "decision_function"), ("probability", "predict_proba")]
)
def test_predictions_can_be_votes_or_probabilities_in_a_file(svm, data, tmp_path, what, method):
    model, out = tmp_path / "m.json", tmp_path / "out.txt"
    run("fit", svm, "--rounds", 12, "--model", model)
    assert run("predict", svm, "--model", model, "--what", what, "--output", out).stdout == ""
    wanted = getattr(load_model(model), method)(data[0])
    wanted = wanted[:, 1] if wanted.ndim == 2 else wanted
    assert [float(line) for line in out.read_text().split()] == wanted.tolist()


@pytest.mark.parametrize(
    ("arguments", "booster"),
    [
        (["--algorithm", "adaboost"], AdaBoostClassifier(20)),
        (
            ["--d", "5", "--bins", "16", "--leaves", "2"],
            NHBoostDTClassifier(20, d=5, max_bins=16, max_leaves=2),
        ),
        (["--depth", "2"], NHBoostDTClassifier(20, max_depth=2)),
        (
            ["--leaves", "4", "--algorithm", "adaboost"],
            AdaBoostClassifier(20, max_leaves=4, max_depth=None),
        ),
        (
            ["--algorithm", "boost-by-majority", "--edge", "0.05"],
            BoostByMajorityClassifier(20, edge=0.05, horizon=20),
        ),
    ],
)
def test_every_algorithm_is_that_of_the_library(svm, data, tmp_path, arguments, booster):
    model = tmp_path / "m.json"
    run("fit", svm, "--rounds", 20, "--model", model, *arguments)
    whole = booster.set_params(n_jobs=1).fit(*data)
    assert encode_model(load_model(model)) == encode_model(whole)


@pytest.mark.parametrize("before", [None, "an older model"])
def test_a_fit_that_is_stopped_says_that_nothing_was_written(svm, tmp_path, monkeypatch, before):
    model = tmp_path / "m.json"
    if before is not None:
        model.write_text(before)

    def stop(self, *data, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(NHBoostDTClassifier, "fit", stop)
    done = run("fit", svm, "--model", model, code=130)
    assert last(done) == f"stopped; nothing was written to {model}\n"
    assert (model.read_text() if model.exists() else None) == before


@pytest.mark.parametrize(
    ("arguments", "booster"),
    [
        ([], NHBoostDTClassifier()),
        (["--rounds", 8, "--leaves", 2], NHBoostDTClassifier(8, max_leaves=2)),
        (["--algorithm", "adaboost", "--rounds", 20], AdaBoostClassifier(20)),
    ],
)
def test_a_fit_ends_with_the_promise_about_new_examples(svm, data, tmp_path, arguments, booster):
    done = run("fit", svm, "--model", tmp_path / "m.json", *arguments)
    promise = booster.fit(*data).certificate_.new_examples
    assert promise.high < 1.0
    assert done.stdout.replace("\n  ", " ").endswith(f"{promise}\n")


def test_data_that_do_not_fit_in_memory_are_named_with_their_size(svm, tmp_path, monkeypatch):
    def exhaust(self, *data, **options):
        raise MemoryError("no room")

    monkeypatch.setattr(NHBoostDTClassifier, "fit", exhaust)
    done = run("fit", svm, "--model", tmp_path / "m.json", code=2)
    assert f"{svm}: " in done.stderr
    assert "features do not fit in memory (no room)" in done.stderr


def test_a_model_is_made_anew(svm, tmp_path):
    model = tmp_path / "m.json"
    run("fit", svm, "--rounds", 9, "--leaves", 2, "--model", model)
    run("fit", svm, "--rounds", 4, "--leaves", 2, "--model", model)
    assert load_model(model).n_iter_ == 4


def test_csv_columns_have_names_and_may_come_in_another_order(csv, tmp_path):
    path, X, labels = csv
    model, other = tmp_path / "m.json", tmp_path / "other.csv"
    size = ["--leaves", 2, "--rounds"]
    run("fit", path, "--label", "kind", *size, 15, "--model", model)
    loaded = load_model(model)
    assert loaded.feature_names_in_.tolist() == ["links", "length", "noise"]
    assert loaded.classes_.tolist() == ["ham", "spam"]
    rows = [f"{c},{b},{a}" for a, b, c in X.tolist()]
    other.write_text("\n".join(["noise,length,links", *rows]) + "\n")
    whole = NHBoostDTClassifier(15, max_leaves=2).fit(X, labels)
    predicted = run("predict", other, "--model", model)
    assert predicted.stdout.split() == whole.predict(X).tolist()
    assert "error" not in predicted.stderr
    assert loaded.stumps_ == whole.stumps_


@pytest.mark.parametrize("depth", [1, 2])
def test_strings_are_categories(tmp_path, depth):
    rng = np.random.default_rng(2)
    towns, size = rng.choice(["Rome", "Oslo", "Lima", "?"], 120), rng.integers(0, 9, 120)
    labels = np.where((towns == "Oslo") ^ (size > 6), "in", "out")
    path, model, other = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "other.csv"
    rows = [f"{t},{s},{y}" for t, s, y in zip(towns, size, labels, strict=True)]
    path.write_text("\n".join(["town,size,where", *rows]) + "\n")
    option, setting = (["--leaves", 2], {"max_leaves": 2})
    if depth > 1:
        option, setting = (["--depth", depth], {"max_depth": depth})
    done = run("fit", path, "--rounds", 20, *option, "--model", model)
    assert f"{path}: read as categories: town\n" in done.stderr
    frame = pd.DataFrame({"town": np.where(towns == "?", None, towns), "size": size})
    wanted = NHBoostDTClassifier(20, **setting).fit(frame, labels)
    loaded = load_model(model)
    assert loaded.encoder_ == wanted.encoder_
    assert loaded.feature_names_in_.tolist() == ["town", "size"]
    rows = [f"{s},{t}" for t, s in zip(towns, size, strict=True)]
    other.write_text("\n".join(["size,town", "8,Bonn", *rows]))
    strange = pd.concat([pd.DataFrame({"town": ["Bonn"], "size": [8]}), frame])
    predicted = run("predict", other, "--model", model).stdout.split()
    assert predicted == wanted.predict(strange).tolist()
    shown = run("inspect", model, "--data", path).output
    assert re.search(r"features that vote\W+2\b", shown)
    if depth == 1:
        n_stumps = (wanted.encoder_.feature[wanted.stumps_.feature] == 0).sum()
        assert re.search(rf"town\W+{n_stumps}\b", shown)
    other.write_text("size,town\nbig,Rome\n")
    refused = run("predict", other, "--model", model, code=2).stderr
    assert "line 2, column 1 (size): 'big' is not a number" in refused


def test_inspect_shows_rounds_features_margins_and_the_certificate(csv, tmp_path):
    path, X, labels = csv
    model, plot = tmp_path / "m.json", tmp_path / "shapes.svg"
    run("fit", path, "--label", "kind", "--leaves", 2, "--rounds", 40, "--model", model)
    arguments = ["--data", path, "--label", "kind", "--plot", plot, "--top", 2]
    shown = run("inspect", model, *arguments).output
    for text in ("NHBoostDTClassifier", "ham, spam", "40", "links", "length", "nothing yet"):
        assert text in shown
    lowest = NHBoostDTClassifier(40, max_leaves=2).fit(X, labels).margins(X, labels).min()
    assert f"{lowest:+.4f}" in shown
    assert max(len(line) for line in shown.splitlines() if str(tmp_path) not in line) <= 80
    drawn = plot.read_text()
    assert drawn.startswith("<?xml")
    assert "links" in drawn
    assert "noise" not in drawn


def test_inspect_shows_and_draws_how_the_size_was_chosen(svm, data, tmp_path):
    model, plot, out = (tmp_path / name for name in ("m.json", "race.svg", "out.json"))
    run("fit", svm, "--model", model)
    shown = run("inspect", model, "--plot-race", plot, "--json", out).output
    trials = NHBoostDTClassifier().fit(*data).chosen_.trials
    rows = json.loads(out.read_text())["race"]
    chosen = next(trial for trial in trials if trial.outcome == "chosen")
    without = chosen._replace(standard_error=None)  # its difference from itself has none
    shown_trials = [without if trial is chosen else trial for trial in trials]
    assert [tuple(row.values()) for row in rows] == [tuple(trial) for trial in shown_trials]
    assert f"{trials[-1].log_loss:.4f}" in shown
    assert max(len(line) for line in shown.splitlines() if str(tmp_path) not in line) <= 80
    xml.etree.ElementTree.fromstring(plot.read_text())
    assert "16 leaves" in plot.read_text()
    run("fit", svm, "--model", model, "--rounds", 5, "--leaves", 2)
    done = run("inspect", model, "--plot-race", plot, code=2)
    assert "--plot-race draws how a size was chosen" in done.stderr
    done = run("inspect", model, "--plot-race", tmp_path / "race.txt", code=2)
    assert "--plot-race must end in .svg, .pdf or .png" in done.stderr


def test_a_mean_of_boosters_is_named(svm, data, tmp_path):
    model = tmp_path / "m.json"
    size = ["--rounds", 5, "--leaves", 2]
    done = run("fit", svm, "--model", model, *size, "--ensemble")
    whole = NHBoostDTClassifier(5, max_leaves=2, ensemble=True).fit(*data)
    assert load_model(model).stumps_ == whole.stumps_
    error = np.mean(whole.predict(data[0]) != data[1])
    mean = "the mean of 15 boosters of the best sizes, 75 rounds in all"
    line = f"{model}: {mean}, training error {error:.2%}\n"
    promise = whole.certificate_.new_examples
    assert promise.model == "mean"
    assert done.stdout.replace("\n  ", " ").endswith(f"{line}{promise}\n")
    shown = run("inspect", model).stdout
    assert re.search(r"boosters\W+15\b", shown)
    assert re.search(r"rounds of all\W+75\b", shown)


@pytest.mark.parametrize(
    ("weights", "wanted"), [("balanced", "balanced"), ("1=3,-1=0.5", {1: 3.0, -1: 0.5})]
)
def test_class_weights_are_those_of_the_library(svm, data, tmp_path, weights, wanted):
    model, size = tmp_path / "m.json", ["--rounds", 6, "--leaves", 2]
    run("fit", svm, "--model", model, *size, "--class-weight", weights)
    whole = NHBoostDTClassifier(6, max_leaves=2, class_weight=wanted).fit(*data)
    assert load_model(model).stumps_ == whole.stumps_
    assert whole.stumps_ != NHBoostDTClassifier(6, max_leaves=2).fit(*data).stumps_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-weight", "heavy"], "--class-weight must be balanced, or factors"),
        (["--class-weight", "2=3"], "--class-weight: there is no class '2'"),
        (["--class-weight", "1=big"], "--class-weight must be numbers"),
        (["--early-stopping", "soon"], "--early-stopping must be one of off, on, auto; got 'soon'"),
        (["--early-stopping", "cv"], "--early-stopping must be one of off, on, auto; got 'cv'"),
        (["--early-stopping", "off", "--patience", 3], "--patience needs --early-stopping on"),
    ],
)
def test_bad_weights_and_rules_to_stop_are_refused(svm, tmp_path, options, message):
    done = run("fit", svm, "--model", tmp_path / "m.json", "--rounds", 3, *options, code=2)
    assert message in last(done)
    assert not (tmp_path / "m.json").exists()


def test_inspect_draws_the_density_of_the_data(csv, tmp_path):
    path, *_ = csv
    model, bare, full = (tmp_path / name for name in ("m.json", "bare.svg", "full.svg"))
    run("fit", path, "--label", "kind", "--leaves", 2, "--rounds", 5, "--model", model)
    run("inspect", model, "--plot", bare)
    run("inspect", model, "--plot", full, "--data", path, "--label", "kind")
    assert full.read_text().count("<path") > bare.read_text().count("<path") + 20


def test_inspect_shows_names_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, model = Path("[b] :+1:.csv"), "m.json"
    path.write_text("b [/x],price [usd],label\n1,2,yes\n2,1,no\n1,1,no\n2,2,no\n")
    run("fit", path, "--rounds", 3, "--model", model)
    shown = run("inspect", model, "--data", path).output
    assert "b [/x]" in shown
    assert "price [usd]" in shown
    assert "Margins on [b] :+1:.csv" in shown


def test_a_fit_that_ends_early_says_so(tmp_path):
    path = tmp_path / "coin.csv"
    path.write_text("1,-1\n1,1\n")  # the same example with both labels: no stump has an edge
    done = run("fit", path, "--rounds", 5, "--model", tmp_path / "m.json")
    assert "ended after 0 of 5 rounds: no tree has an edge" in done.stderr
    assert "NHBoostDTClassifier" in run("inspect", tmp_path / "m.json").output
    path.write_text("1,b\n1,b\n1,a\n1,b\n")
    done = run("fit", path, "--rounds", 5, "--leaves", 2, "--model", tmp_path / "m.json")
    assert "no stump has an edge; every prediction is b, the class of most weight" in done.stderr
    assert done.stdout.endswith("0 rounds, training error 25.00%\n")  # nothing is promised
    done = run("predict", path, "--model", tmp_path / "m.json")
    assert done.stdout.split() == ["b"] * 4


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("1 1:1\n", [], "one class only"),
        ("1 1:1\n-1 2:x\n", [], "line 2"),
        (
            "1 1:1\n-1 999999999999999:1\n",
            [],
            "line 2: an index must be at most 2147483647",
        ),
        ("1 1:1\n-1 2:1\n", ["--edge", "0.1"], "--edge belongs to boost-by-majority"),
        ("1 1:1\n-1 2:1\n", ["--algorithm", "boost-by-majority"], "which needs it"),
        ("1 1:1\n-1 2:1\n", ["--algorithm", "adaboost", "--d", "4"], "--d belongs to nh-boost.dt"),
        ("1 1:1\n-1 2:1\n", ["--d", "-4"], "d must be a finite number > 0"),
    ],
)
def test_bad_input_is_one_clear_line_and_leaves_the_model_file_alone(
    tmp_path, text, arguments, message
):
    path, model = tmp_path / "bad.svm", tmp_path / "m.json"
    path.write_text(text)
    model.write_text("an older model")
    done = run("fit", path, "--model", model, *arguments, code=2)
    assert message in last(done)
    assert done.stderr.count("error: ") == 1
    assert model.read_text() == "an older model"


def test_files_that_are_not_there_or_no_models_are_one_clear_line(svm, tmp_path):
    model = tmp_path / "m.json"
    assert "No such file" in run("predict", svm, "--model", model, code=2).stderr
    assert "No such file" in run("fit", tmp_path / "no.svm", "--model", model, code=2).stderr
    nowhere = tmp_path / "no" / "m.json"
    for arguments in (
        ["fit", svm, "--model", nowhere],
        ["predict", svm, "--model", model, "--output", nowhere],
        ["inspect", model, "--plot", nowhere],
    ):
        assert f"there is no directory {nowhere.parent}" in run(*arguments, code=2).stderr
    model.write_text(json.dumps({"booster": "other"}))
    for command in (["predict", svm, "--model", model], ["inspect", model]):
        assert "not a driftgames document" in run(*command, code=2).stderr


@pytest.mark.parametrize("command", ["fit", "cv", "predict", "inspect"])
def test_help_teaches_with_an_example(command):
    assert f"driftgames boost {command}" in " ".join(run(command, "--help").output.split())


def test_trees_are_fitted_and_inspected(data, svm, tmp_path):
    X, y = data
    model = tmp_path / "m.json"
    run("fit", svm, "--model", model, "--rounds", 20, "--depth", 3)
    assert encode_model(load_model(model).set_params(n_jobs=None)) == encode_model(
        NHBoostDTClassifier(20, max_depth=3).fit(X, y)
    )
    shown = run("inspect", model, "--data", svm).output
    assert "questions" in shown
    assert "every bound holds" in shown or "nothing is promised" in shown
    done = run("inspect", model, "--plot", tmp_path / "shapes.svg", code=2)
    assert "--plot draws the votes of stumps" in done.stderr


def test_a_loop_of_links_is_named_and_stays(svm, tmp_path):
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.symlink_to(other)
    other.symlink_to(one)
    assert f"error: {one}: " in run("fit", svm, "--model", one, code=2).stderr
    assert f"error: {one}: " in run("predict", svm, "--model", one, code=2).stderr
    assert one.is_symlink()


def test_labels_reach_a_pipe_as_they_are_and_a_terminal_with_escapes(csv, tmp_path, monkeypatch):
    path = tmp_path / "red.csv"
    path.write_text(csv[0].read_text().replace("spam", "spam\x1b[31m"))
    model = tmp_path / "m.json"
    run("fit", path, "--label", "kind", "--rounds", 5, "--model", model)
    assert "spam\x1b[31m\n" in run("predict", path, "--model", model).stdout
    assert "\x1b" not in run("inspect", model).output
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("driftgames.cli.boost.sys", SimpleNamespace(stdout=terminal))
    run("predict", path, "--model", model)
    assert "\x1b" not in terminal.getvalue()
    assert "spam\\x1b[31m\n" in terminal.getvalue()


def test_several_classes_are_fitted_predicted_and_inspected(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.random((90, 2))
    y = (3 * X[:, 0]).astype(int)
    path, model = tmp_path / "train.svm", tmp_path / "m.json"
    path.write_bytes(format_libsvm(X, y))
    size = ["--rounds", 6, "--leaves", 2]
    done = run("fit", path, "--model", model, *size)
    assert "6 rounds, training error 0.00%" in done.stdout
    booster = load_model(model)
    whole = NHBoostDTClassifier(6, max_leaves=2, n_jobs=1).fit(X, y)
    assert encode_model(booster) == encode_model(whole)
    assert list(map(int, run("predict", path, "--model", model).stdout.split())) == y.tolist()
    for what, method in (("score", "decision_function"), ("probability", "predict_proba")):
        lines = run("predict", path, "--model", model, "--what", what).stdout.splitlines()
        found = [[float(x) for x in line.split()] for line in lines]
        np.testing.assert_array_equal(found, getattr(booster, method)(X))
    shown = run("inspect", model, "--data", path).stdout
    assert "0, 1, 2" in shown
    assert "Theorem 3 promises nothing yet" in shown
    done = run("inspect", model, "--plot", tmp_path / "p.svg", code=2)
    assert "--plot draws the votes of stumps for two classes" in done.stderr


@pytest.mark.parametrize("most_cells", [359, 360], ids=["in batches", "at once"])
def test_parquet_files_are_fitted_in_batches_if_they_are_large(tmp_path, monkeypatch, most_cells):
    monkeypatch.setattr("driftgames.cli._boost_model.MOST_CELLS", most_cells)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["label"] = np.where(frame.a + frame.b > 0, "up", "down")
    for k in range(3):
        frame.iloc[30 * k : 30 * k + 30].to_parquet(tmp_path / f"{k}.parquet")
    pattern, model = str(tmp_path / "*.parquet"), tmp_path / "m.json"
    done = run("fit", pattern, "--rounds", 5, "--leaves", 2, "--model", model)
    assert "5 rounds, training error" in done.output
    whole = NHBoostDTClassifier(5, max_leaves=2, n_jobs=1)
    labels = frame.label if most_cells == 359 else frame.label.to_numpy(dtype=str)
    whole.fit(frame[list("abc")], labels)
    whole.save(tmp_path / "whole.json")
    assert model.read_bytes() == (tmp_path / "whole.json").read_bytes()
    done = run("fit", pattern, "--model", model, "--label", "z", code=2)
    assert "no column 'z'; it has a, b, c, label" in " ".join(done.output.split())
    assert "no.parquet" in run("fit", tmp_path / "no.parquet", "--model", model, code=2).output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_reported_with_the_name_of_the_file(svm, tmp_path, monkeypatch):
    model = tmp_path / "m.json"
    run("fit", svm, "--rounds", 3, "--leaves", 2, "--model", model)
    done = run("predict", svm, "--model", model, "--output", "/dev/full", code=2)
    assert done.stderr == "error: /dev/full: No space left on device\n"

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for arguments in (
        ("fit", svm, "--rounds", 3, "--depth", 1, "--model", tmp_path / "new.json"),
        ("inspect", model, "--plot", tmp_path / "new.svg"),
    ):
        done = run(*arguments, code=2)
        assert last(done) == f"error: {arguments[-1]}: No space left on device\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "train.svm.gz"]


def test_cross_validation_shows_error_auc_and_log_loss_of_every_fold(csv, tmp_path):
    path, X, labels = csv
    out = tmp_path / "cv.json"
    arguments = [
        "--label",
        "kind",
        "--folds",
        3,
        "--rounds",
        10,
        "--seed",
        4,
        "--json",
        out,
    ]
    done = run("cv", path, *arguments)
    found = json.loads(out.read_text())
    fold_of = deal_folds(labels, 3, seed=4)
    for k, row in enumerate(found["parts"]):
        learn, test = fold_of != k, fold_of == k
        booster = NHBoostDTClassifier(10).fit(X[learn], labels[learn])
        assert (row["leaves"], row["rounds"]) == (booster.chosen_.max_leaves, 10)
        assert row["examples"] == 50
        assert row["error"] == np.mean(booster.predict(X[test]) != labels[test])
        p = booster.predict_proba(X[test])
        assert row["log-loss"] == pytest.approx(log_loss(labels[test], p))
        votes = booster.decision_function(X[test])
        assert row["AUC"] == pytest.approx(roc_auc_score(labels[test] == "spam", votes))
    for name in ("error", "AUC", "log-loss"):
        values = [row[name] for row in found["parts"]]
        assert found["mean"][name] == pytest.approx(np.mean(values))
        assert found["spread"][name] == pytest.approx(np.std(values, ddof=1))
    assert f"{found['mean']['log-loss']:.4f}" in done.stdout
    wrong = tuple(round(50 * row["error"]) for row in found["parts"])
    promise = NewExamples((50,) * 3, wrong, "folds")
    assert found["new_examples"]["error_at_most"] == promise.high
    assert found["new_examples"]["log_loss"]["estimate"] == pytest.approx(
        found["mean"]["log-loss"], abs=0.02
    )
    assert promise.promise in done.stdout.replace("\n  ", " ")
    assert "log-loss on new examples at most" in done.stdout
    assert run("cv", path, *arguments).stdout == done.stdout
    done = run("cv", path, "--folds", 100, "--label", "kind", code=2)
    assert "--folds must be at most the number of examples of every class; got 100" in done.stderr


@pytest.mark.parametrize("folds", [2, 3, 7])
def test_folds_have_the_same_number_of_examples_and_of_each_class(folds):
    y = np.random.default_rng(folds).choice(["a", "b", "c"], size=101, p=[0.7, 0.2, 0.1])
    fold_of = deal_folds(y, folds, seed=1)
    for which in (np.ones(y.size, dtype=bool), y == "a", y == "b", y == "c"):
        assert np.ptp(np.bincount(fold_of[which], minlength=folds)) <= 1
    assert not np.array_equal(fold_of, deal_folds(y, folds, seed=2))


def test_columns_that_name_or_count_the_rows_are_said(tmp_path):
    path = tmp_path / "people.csv"
    rows = (f"{k},person {k},{k * 7 % 5},{'ab'[k % 2]},{k % 3}\n" for k in range(30))
    path.write_text("row,who,x,kind,y\n" + "".join(rows))
    done = run("fit", path, "--label", "y", "--rounds", 2, "--model", tmp_path / "m.json")
    assert f"{path}: column row counts the rows; leave it out with --leave-out row\n" in done.stderr
    words = "column who has 30 different categories in 30 rows; leave it out with --leave-out who"
    assert f"{path}: {words}\n" in done.stderr
    assert done.stderr.count("leave it out") == 2


def test_few_examples_for_each_class_are_said_in_our_own_words(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("x,who\n" + "".join(f"{i},p{i % 20}\n" for i in range(38)))
    done = run("fit", path, "--label", "who", "--rounds", 2, "--model", tmp_path / "m.json")
    assert done.stderr.endswith(
        f"{path}: label who has fewer than 2 examples for each class on average\n"
    )


def test_a_label_that_names_the_rows_is_refused(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("x,who\n" + "".join(f"{i},p{i % 40}\n" for i in range(60)))
    fit = ["fit", path, "--label", "who", "--rounds", 1, "--leaves", 2]
    done = run(*fit, "--model", tmp_path / "m.json", code=2)
    assert "for each class on average: it names the rows; say --many-classes" in done.stderr
    run(*fit, "--many-classes", "--model", tmp_path / "m.json")


def test_a_validation_file_is_followed_and_tells_when_to_stop(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4)).round(3)
    labels = np.where(X[:, 0] + rng.normal(size=300) > 0, "up", "down")
    paths = tmp_path / "train.csv", tmp_path / "valid.csv"
    for path, part in zip(paths, (slice(0, 200), slice(200, 300)), strict=True):
        frame = pd.DataFrame(X[part], columns=list("abcd"))
        frame.assign(label=labels[part]).to_csv(path, index=False)
    frame[list("dcba")].assign(label=labels[part]).to_csv(paths[1], sep=";")  # by name
    model = tmp_path / "m.json"
    size = ["--rounds", 60, "--leaves", 2]
    arguments = ["fit", paths[0], *size, "--model", model, "--valid", paths[1]]
    done = run(*arguments)
    booster = NHBoostDTClassifier(60, max_leaves=2).fit(
        X[:200], labels[:200], eval_set=(X[200:], labels[200:]), eval_names=["valid"]
    )
    followed = booster.evals_result_["valid"]["log_loss"]
    assert f"the lowest log-loss was after {followed.argmin() + 1} rounds" in done.stderr
    error = np.mean(booster.predict(X[200:]) != labels[200:])
    loss = log_loss(labels[200:], booster.predict_proba(X[200:]))
    assert f"{paths[1]}: error {error:.2%} on 100 examples, AUC 0." in done.stderr
    assert f"log-loss {loss:.4f}" in done.stderr
    assert load_model(model).n_iter_ == 60
    done = run(*arguments, "--patience", 4)
    assert load_model(model).n_iter_ < 60
    assert "of 60 rounds: the log-loss has not fallen for 4 rounds" in done.stderr
    run(*arguments[:-2], "--patience", 4)  # on a tenth of the rows
    stopped = NHBoostDTClassifier(60, max_leaves=2, early_stopping=True, n_iter_no_change=4)
    assert load_model(model).n_iter_ == stopped.fit(X[:200], labels[:200]).n_iter_ < 60
    # a fit that chooses its size is the same with and without examples that only score it
    run("fit", paths[0], "--model", model, "--valid", paths[1])
    scored = model.read_bytes()
    run("fit", paths[0], "--model", model)
    assert model.read_bytes() == scored


def test_predictions_as_json_have_labels_votes_and_probabilities(csv, tmp_path):
    path, X, _ = csv
    model, out = tmp_path / "m.json", tmp_path / "p.json"
    run("fit", path, "--label", "kind", "--rounds", 8, "--model", model)
    done = run("predict", path, "--label", "kind", "--model", model, "--json", out)
    assert "AUC" in done.stderr
    booster, found = load_model(model), json.loads(out.read_text())
    assert found["classes"] == ["ham", "spam"]
    rows = found["predictions"]
    assert [row["label"] for row in rows] == done.stdout.split()
    del booster.feature_names_in_
    assert [row["score"] for row in rows] == booster.decision_function(X).tolist()
    assert [row["probabilities"] for row in rows] == booster.predict_proba(X).tolist()


def test_rows_without_a_label_are_left_out_of_a_fit_and_predicted(csv, tmp_path):
    path, X, labels = csv
    text = path.read_text().splitlines()
    blank = tmp_path / "blank.csv"
    blank.write_text(
        "\n".join([*text[:-20], *(f",{line.split(',', 1)[1]}" for line in text[-20:])])
    )
    model = tmp_path / "m.json"
    done = run("fit", blank, "--label", "kind", "--rounds", 8, "--leaves", 2, "--model", model)
    assert last(done) == f"{blank}: 20 rows without a label are left out\n"
    whole = NHBoostDTClassifier(8, max_leaves=2).fit(X[:-20], labels[:-20])
    assert load_model(model).stumps_ == whole.stumps_
    done = run("predict", blank, "--label", "kind", "--model", model)
    assert done.stdout.split() == whole.predict(X).tolist()
    assert "on 130 examples" in done.stderr


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a b.csv", "boost fit 'a b.csv' --label NAME --model m.json"),
        ("m.json", "boost inspect m.json"),
    ],
)
def test_a_file_without_a_command_is_answered_with_what_to_type(name, wanted):
    done = run(name, code=2)
    assert done.stderr == f"error: {name} is no command; type: driftgames {wanted}\n"
    assert "No such command" in run("fitt", code=2).output


def test_standard_input_is_fitted(csv, tmp_path):
    path, X, labels = csv
    size = ["--rounds", "5", "--leaves", "2"]
    arguments = ["fit", "-", "--label", "kind", *size, "--model", str(tmp_path / "m")]
    done = CliRunner().invoke(app, arguments, input=path.read_text().replace(",", "\t"))
    assert done.exit_code == 0, done.output
    assert (
        load_model(tmp_path / "m").stumps_
        == NHBoostDTClassifier(5, max_leaves=2).fit(X, labels).stumps_
    )


def test_label_classes_and_columns_are_named_before_the_fit(csv, tmp_path):
    path, _, labels = csv
    model = tmp_path / "m.json"
    for command in (["fit", path, "--model", model], ["cv", path, "--folds", 2]):
        first = run(*command, "--label", "kind", "--rounds", 3).stderr.splitlines()[0]
        assert first == (
            f"{path}: label kind; 2 classes: ham ({(labels == 'ham').sum()}), "
            f"spam ({(labels == 'spam').sum()}); 3 features: links, length, noise"
        )
    numbered = tmp_path / "n.csv"
    numbered.write_text("x,y\n" + "".join(f"{k},{k % 2}\n" for k in range(40)))
    first = run("fit", numbered, "--model", model, "--rounds", 3).stderr.splitlines()[0]
    assert "label y (the last column); 2 classes: 0 (20), 1 (20); 1 feature: x" in first


def test_a_label_of_many_numbers_needs_a_word_to_be_classes(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame = pd.DataFrame({"size": np.arange(200.0) % 7, "price": np.arange(200) % 40})
    frame.to_csv(path, index=False)
    done = run("fit", path, "--model", model, "--rounds", 2, "--many-classes")
    assert "label price (the last column); 40 classes" in done.stderr
    assert load_model(model).classes_.size == 40


def test_numbers_in_files_that_are_fitted_in_batches_are_refused(tmp_path, monkeypatch):
    path, model = tmp_path / "t.parquet", tmp_path / "m.json"
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(200, 2)), columns=["size", "price"]).to_parquet(path)
    monkeypatch.setattr("driftgames.cli._boost_model.MOST_CELLS", 10)
    for options in ([], ["--regression"]):
        line = last(run("fit", path, "--model", model, *options, code=2))
        assert "label price (the last column) holds numbers, and files that are fitted in" in line
        assert "--many-classes" in line
    assert not model.exists()


def late_table(tmp_path, bad, *, rows=1300, at=1100, values=None):
    """Return a table whose column ``age`` has one bad cell, in the row ``at`` from 0."""
    ages = [str(k % 70) for k in range(rows)] if values is None else values
    ages[at] = bad
    lines = [f"{age},{'yes' if k % 3 else 'no'}" for k, age in enumerate(ages)]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(["age,bought", *lines]) + "\n")
    return path


def test_a_bad_cell_after_the_first_rows_does_not_turn_a_column_into_categories(tmp_path):
    path, model = late_table(tmp_path, "3o"), tmp_path / "m.json"
    line = last(run("fit", path, "--label", "bought", "--model", model, code=2))
    assert "line 1102, column 1 (age): '3o' is not a number, as the first 1,000 values" in line
    assert "--categories age" in line
    assert "--leave-out age" in line
    done = run(
        *("fit", path, "--label", "bought", "--model", model, "--rounds", 2),
        *("--categories", "age"),
    )
    assert "read as categories: age" in done.stderr
    # a missing value is none, and a short file is judged as a whole
    run("fit", late_table(tmp_path, "NA"), "--label", "bought", "--model", model, "--rounds", 2)
    short = late_table(tmp_path, "3o", rows=900, at=800)
    done = run("fit", short, "--label", "bought", "--model", model, "--rounds", 2)
    assert "read as categories: age" in done.stderr


def test_a_bad_date_after_the_first_rows_is_named(tmp_path):
    days = [f"{2000 + k // 300}-{1 + k // 28 % 10:02}-{1 + k % 28:02}" for k in range(1300)]
    path, model = late_table(tmp_path, "soon", values=days), tmp_path / "m.json"
    line = last(run("fit", path, "--label", "bought", "--model", model, code=2))
    assert "line 1102, column 1 (age): 'soon' is not a date, as the first 1,000 values" in line


def test_categories_must_be_features(csv, tmp_path):
    path, _, _ = csv
    arguments = ("fit", path, "--label", "kind", "--model", tmp_path / "m.json", "--categories")
    assert "there is no column 'weight'" in last(run(*arguments, "weight", code=2))
    assert "kind is no feature" in last(run(*arguments, "kind", code=2))


def test_inspect_counts_the_votes_of_missing_values(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    y = np.where(np.isnan(np.where(x > 0.8, np.nan, x)), 1, (rng.random(300) < 0.3).astype(int))
    frame = pd.DataFrame({"x": np.where(x > 0.8, np.nan, x), "z": rng.normal(size=300), "y": y})
    path, model, out = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "out.json"
    frame.to_csv(path, index=False)
    run("fit", path, "--label", "y", "--model", model, "--rounds", 30, "--leaves", 2)
    run("inspect", model, "--json", out)
    shown = {row["feature"]: row for row in json.loads(out.read_text())["votes"]}
    card = load_model(model).scorecard()
    for feature in ("x", "z"):
        rows = [row for row in card.rows if row[0] == feature]
        total = load_model(model).estimator_weights_.sum()
        points = [row[-1] / total for row in rows]
        assert shown[feature]["lowest vote"] == pytest.approx(min(points))
        assert shown[feature]["highest vote"] == pytest.approx(max(points))
    assert shown["x"]["if missing"] == shown["x"]["highest vote"] > 0


def test_long_and_odd_names_are_short_and_plain_in_all_that_is_shown(tmp_path):
    rng = np.random.default_rng(0)
    name, category = "price\x1b[2J", "\x1b" + "x" * 100_000
    frame = pd.DataFrame({name: rng.normal(size=120), "town": rng.choice([category, "b"], 120)})
    frame["y"] = np.where(frame[name] > 0, "yes\x07", "no")
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame.to_csv(path, index=False)
    page, plot = tmp_path / "p.html", tmp_path / "s.svg"
    outputs = [
        run("fit", path, "--label", "y", "--model", model, "--rounds", 20, "--leaves", 2),
        run("inspect", model, "--plot", plot, "--html", page),
        run("predict", path, "--model", model),
        run("fit", path, "--label", "none" * 10_000, "--model", model, code=2),
    ]
    for text in [page.read_text(), *(done.stderr for done in outputs), outputs[1].stdout]:
        assert "\x1b" not in text
        assert "\x07" not in text
        assert max(map(len, text.splitlines()), default=0) < 4_000
    xml.etree.ElementTree.fromstring(plot.read_text())  # as a browser reads it


def test_csv_parquet_and_data_frames_are_read_alike(tmp_path):
    rng = np.random.default_rng(8)
    n = 240
    hours = rng.integers(0, 9000, n)
    frame = pd.DataFrame(
        {
            "member": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "paid": rng.random(n) < 0.3,
            "when": pd.Timestamp("2023-05-01") + pd.to_timedelta(hours, unit="h"),
            "age": rng.integers(20, 60, n).astype(float),
            "town": rng.choice(["Basel", "Bern", "Genf"], n),
            "zip": rng.choice([3000, 4000, 8001], n),
        }
    )
    frame.loc[::9, "member"] = None
    frame.loc[::7, "age"] = None
    score = frame["paid"] + hours / 4500 + (frame["town"] == "Bern") + rng.normal(size=n)
    y = np.asarray(score > 1.5)
    csv, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    frame.assign(bought=y).to_csv(csv, index=False)
    frame.assign(bought=y).to_parquet(parquet)
    frames = {
        "pandas": frame,
        "text": pd.read_csv(csv).drop(columns="bought"),
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
    }
    models = {}
    for path in (csv, parquet):
        model = tmp_path / f"{path.suffix[1:]}.json"
        given = ["--rounds", 20, "--leaves", 4, "--categories", "town,zip"]
        run("fit", path, "--model", model, *given)
        models[path.suffix] = load_model(model)
    for name in ("pandas", "polars", "pyarrow"):
        booster = NHBoostDTClassifier(20, max_leaves=4, categorical_features=["town", "zip"])
        models[name] = booster.fit(frames[name], y)
    wanted = models["pandas"].predict_proba(frame)
    for name, model in models.items():
        assert model.model_.encoder == models["pandas"].model_.encoder, name
        assert model.classes_.dtype == bool, name
        for kind, rows in frames.items():
            np.testing.assert_array_equal(model.predict_proba(rows), wanted, f"{name}, {kind}")
        model.save(tmp_path / "m.json")
        for path in (csv, parquet):
            done = run("predict", path, "--model", tmp_path / "m.json", "--what", "probability")
            np.testing.assert_array_equal(np.array(done.stdout.split(), float), wanted[:, 1])
            assert "error" in done.stderr  # the labels are known too
