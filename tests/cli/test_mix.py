"""``driftgames mix``: tables, missing cells, rows to predict, and states that are gone on with."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import typer
from typer.testing import CliRunner

from driftgames.cli import mix as module
from driftgames.cli._mix_stream import MixState, Scores
from driftgames.core.documents import DocumentError
from driftgames.hedge import ExpertMixture, best_combination
from driftgames.hedge.losses.interval_losses import PinballLoss

APP = typer.Typer()
APP.command()(module.mix)
NAMES = ("sun", "rain", "load", "wind")


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


def make_rounds(rounds=80, asleep=0.0):
    rng = np.random.default_rng(0)
    y = 500.0 + 100.0 * rng.random(rounds)
    X = y[:, None] + rng.normal([-30.0, 30.0, 0.0], [10.0, 10.0, 80.0], (rounds, 3))
    X = X.round(2)
    X[:, 1:][rng.random((rounds, 2)) < asleep] = np.nan
    return X, y.round(2)


def as_lines(X, y, names=NAMES, dates=False):
    rows = [",".join(("date", *names) if dates else names)] if names else []
    for t, (row, outcome) in enumerate(zip(X, y, strict=True)):
        cells = ["" if np.isnan(x) else repr(float(x)) for x in (*row[:2], outcome, row[2])]
        rows.append(",".join([f"2020-01-{t + 1}", *cells] if dates else cells))
    return [f"{row}\n" for row in rows]


def write(path, X, y, **settings):
    path.write_text("".join(as_lines(X, y, **settings)))
    return str(path)


def run(*arguments, text=None):
    return CliRunner().invoke(APP, [str(argument) for argument in arguments], input=text)


def mixed(tmp_path, *arguments, text=None):
    """Run with --json and return what it wrote."""
    out = tmp_path / "out.json"
    result = run(*arguments, "--target", "load", "--json", out, text=text)
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text())
    found["text"] = result.output
    found["rows"] = {row["forecast"]: row for row in found["forecasts"]}
    return found


@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_the_table_has_the_scores_of_everyone(tmp_path, asleep):
    X, y = make_rounds(asleep=asleep)
    found = mixed(tmp_path, write(tmp_path / "f.csv", X, y))
    mixture = ExpertMixture()
    predictions = mixture.predict_then_fit(X, y)
    heard = np.where(np.isnan(X), predictions[:, None], X)
    best = best_combination(heard, y)
    expected = {
        "mixture": predictions - y,
        "best convex combination in hindsight": heard @ best.weights - y,
        "mean of the experts": np.nanmean(X, axis=1) - y,
        **{name: X[:, i] - y for i, name in enumerate(("sun", "rain", "wind"))},
    }
    assert found["rows"].keys() == expected.keys()
    for name, errors in expected.items():
        row, errors = found["rows"][name], errors[~np.isnan(errors)]
        assert row["rounds"] == errors.size
        assert row["RMSE"] == pytest.approx(np.sqrt(np.mean(errors**2)))
        assert row["MAE"] == pytest.approx(np.abs(errors).mean())
        assert f"{row['RMSE']:,.6g}" in found["text"]
    assert list(found["weights"]) == ["sun", "rain", "wind"]
    assert list(found["weights"].values()) == mixture.weights_.tolist()
    assert found["regret_to_best_expert"] == mixture.regret_
    certificate = mixture.combination_certificate(X, y)
    assert found["linearised_regret"] == certificate.linearised
    assert found["bound"] == certificate.promised
    assert "every bound holds" in found["text"]


def test_other_losses_are_scored_too(tmp_path):
    X, y = make_rounds()
    path = write(tmp_path / "f.csv", X, y)
    found = mixed(tmp_path, path, "--quantile", 0.9)
    loss = PinballLoss(0.9, None, None)
    predictions = ExpertMixture(loss).predict_then_fit(X, y)
    assert found["rows"]["mixture"]["pinball"] == pytest.approx(loss(predictions, y).mean())
    best = found["rows"]["best convex combination in hindsight"]
    assert best["pinball"] == pytest.approx(best_combination(X, y, loss).total_loss / 80)
    plain = mixed(tmp_path, path, "--loss", "absolute", "--best-expert")
    expected = ExpertMixture("absolute", linearise=False).predict_then_fit(X, y)
    assert plain["rows"]["mixture"]["MAE"] == pytest.approx(np.abs(expected - y).mean())
    assert "convex combination: at most" not in plain["text"]


def test_tracking_is_the_mixture_that_tracks(tmp_path):
    X, y = make_rounds()
    path = write(tmp_path / "f.csv", X, y)
    found = mixed(tmp_path, path, "--tracking")
    mixture = ExpertMixture(outside="nearest", tracking=True)
    errors = mixture.predict_then_fit(X, y) - y
    assert found["rows"]["mixture"]["RMSE"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert "every bound holds" in found["text"]


def test_probabilities_are_mixed_by_log_loss(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.random((60, 3)).round(3)
    X[0, 0] = 0.0  # moved to the nearest probability that the loss allows
    y = (rng.random(60) < X[:, 1]) * 1.0
    found = mixed(tmp_path, write(tmp_path / "f.csv", X, y), "--loss", "log")
    mixture = ExpertMixture("log", outside="nearest").fit(X, y)
    assert found["rows"]["mixture"]["log loss"] == pytest.approx(mixture.total_loss_ / 60)


def test_parquet_standard_input_and_columns_without_names_are_read_alike(tmp_path):
    X, y = make_rounds(asleep=0.2)
    wanted = mixed(tmp_path, write(tmp_path / "f.csv", X, y))
    columns = {"sun": X[:, 0], "rain": X[:, 1], "load": y, "wind": X[:, 2]}
    columns["day"] = [f"day {t}" for t in range(80)]
    pa.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    for found in (
        mixed(tmp_path, tmp_path / "f.parquet", "--leave-out", "day"),
        mixed(tmp_path, "-", text="".join(as_lines(X, y))),
        mixed(tmp_path, write(tmp_path / "d.csv", X, y, dates=True), "--leave-out", "date"),
        mixed(tmp_path, tmp_path / "d.csv"),
        mixed(tmp_path, "-", text="".join(as_lines(X, y)).replace(",", ";").replace(".", ",")),
    ):
        assert found["forecasts"] == wanted["forecasts"]
    plain = run(write(tmp_path / "n.csv", X, y, names=None), "--target", 3)
    assert plain.exit_code == 0
    assert "80 rounds of column 3" in plain.output


def test_rows_without_an_outcome_are_predicted_at_the_end_and_left_out_before(tmp_path):
    X, y = make_rounds()
    y[[3, 70, 78, 79]] = np.nan
    found = mixed(tmp_path, write(tmp_path / "f.csv", X, y))
    known = ~np.isnan(y)
    mixture = ExpertMixture().fit(X[known], y[known])
    assert found["rounds"] == 76
    assert list(found["predictions"]) == ["line 80", "line 81"]
    assert list(found["predictions"].values()) == mixture.predict(X[78:]).tolist()
    assert "2 rows without an outcome were left out" in found["text"]
    streamed = mixed(tmp_path, "-", "--live", text="".join(as_lines(X, y)))  # row by row
    assert streamed["predictions"] == found["predictions"]
    assert "2 rows without an outcome were left out" in streamed["text"]


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_a_state_goes_on_and_skips_what_it_has_counted(tmp_path, loss):
    X, y = make_rounds(asleep=0.2)
    whole, state = write(tmp_path / "f.csv", X, y), tmp_path / "s.json"
    wanted = mixed(tmp_path, whole, "--loss", loss)
    half = write(tmp_path / "h.csv", X[:30], y[:30])
    assert mixed(tmp_path, half, "--state", state, "--loss", loss)["rounds"] == 30
    rest = write(tmp_path / "r.csv", X[30:50], y[30:50])
    found = mixed(tmp_path, rest, "--state", state, "--first-round", "next")
    assert found["rounds"] == 50
    found = mixed(tmp_path, whole, "--state", state)
    assert found["rounds"] == 80
    assert found["weights"] == wanted["weights"]
    assert found["total_loss"] == wanted["total_loss"]
    for name, row in found["rows"].items():
        assert row["RMSE"] == pytest.approx(wanted["rows"][name]["RMSE"], rel=1e-9)
    assert ("best convex combination in hindsight" in found["rows"]) == (loss == "square")
    assert MixState.load(state).t == 80


def test_a_stream_is_acknowledged_line_by_line_with_honest_predictions(tmp_path):
    X, y = make_rounds(20)
    state = tmp_path / "s.json"
    result = run("-", "--target", "load", "--state", state, text="".join(as_lines(X, y)))
    assert result.exit_code == 0
    predictions = ExpertMixture().predict_then_fit(X, y)
    wanted = [f"round={t + 1} prediction={p!r}" for t, p in enumerate(predictions.tolist())]
    assert [line for line in result.output.splitlines() if line.startswith("round=")] == wanted


def test_weights_are_drawn(tmp_path):
    X, y = make_rounds(600)
    figure = tmp_path / "w.svg"
    found = mixed(tmp_path, write(tmp_path / "f.csv", X, y), "--plot", figure)
    assert "wind" in figure.read_text()
    assert found["weights"] == mixed(tmp_path, tmp_path / "f.csv")["weights"]


@pytest.mark.parametrize(
    ("lines", "arguments", "message"),
    [
        (["a,y", "1,x"], [], "line 2, column 2 (y): a forecast or an outcome must be a number"),
        (["a,y", "inf,1"], [], "line 2, column 1 (a): a forecast or an outcome must be finite"),
        (["a,y", "1,2", ",3"], [], "line 3: a round needs at least one forecast; it has none"),
        (["a,z", "1,2"], [], "--target: there is no column 'y'; it has a, z"),
        (["y", "1"], [], "the input has no expert beside the outcomes"),
        (["a,y"], [], "no outcomes came"),
        (["a,y", "1,2,3"], [], "line 2: 3 cells, where 2 were expected"),
        (["a,y", "1,2"], ["--leave-out", "b"], "--leave-out: there is no column 'b'; it has a, y"),
        (["a,y", "1,2"], ["--loss", "zero-one"], "--loss must be one of square, absolute"),
        (["a,y", "1,2"], ["--loss", "log", "--quantile", "0.5"], "--quantile goes with --loss"),
        (["a,y", "1,2"], ["--first-round", "0"], "--first-round must be next or a number"),
        (["a,y", "0.5,2"], ["--loss", "log"], "outcomes must lie in [0, 1]"),
    ],
)
def test_bad_input_is_named(tmp_path, lines, arguments, message):
    path = tmp_path / "f.csv"
    path.write_text("\n".join(lines) + "\n")
    result = run(path, "--target", "y", *arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--loss", "absolute"], "--loss is AbsoluteLoss"),
        (["--best-expert"], "--linearise is False, but the state was kept with True"),
        (["--tracking"], "--tracking is True, but the state was kept with False"),
        (["--target", "sun"], "--target is sun, but the state was kept with load"),
    ],
)
def test_what_the_state_holds_cannot_be_changed(tmp_path, arguments, message):
    path, state = write(tmp_path / "f.csv", *make_rounds(10)), tmp_path / "s.json"
    assert run(path, "--target", "load", "--state", state).exit_code == 0
    result = run(path, "--target", "load", "--state", state, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_state_that_is_not_whole_is_refused(tmp_path, rewrite):
    path, state = write(tmp_path / "f.csv", *make_rounds(10)), tmp_path / "s.json"
    assert run(path, "--target", "load", "--state", state).exit_code == 0
    rewrite(state, lambda content: content.update(rounds=11))
    result = run(path, "--target", "load", "--state", state)
    assert "11 rounds, but the mixture has 10" in result.output
    rewrite(state, lambda content: content.pop("scores"))
    assert (
        "not a whole state of a mixture" in run(path, "--target", "load", "--state", state).output
    )


def test_a_state_with_a_deep_list_is_refused(tmp_path, rewrite):
    made = ExpertMixture(outside="nearest").fit([[1.0, 2.0]], [1.5])
    state = MixState("y", ("a", "b"), made, Scores.empty(2))
    state.save(path := tmp_path / "s.json")

    def deepen(content):
        nest = []
        for _ in range(500):
            nest = [nest]
        content["scores"]["sums"] = nest

    rewrite(path, deepen)
    with pytest.raises(DocumentError, match="not a whole state of a mixture"):
        MixState.load(path)


STREAM = "from driftgames.cli import main; main()"
PREPARED = """
import driftgames.cli._mix_report, driftgames.cli.app
from driftgames.hedge import ExpertMixture
ExpertMixture().predict_then_fit([[0.0, 1.0]], [0.5])  # loads the compiled code
"""


def test_killed_streams_lose_nothing_and_count_nothing_twice(tmp_path, fork_server):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2)).round(3)
    rows = np.column_stack([X, X.mean(axis=1)])
    lines = ["a,b,y\n", *(",".join(map(str, row)) + "\n" for row in rows.tolist())]
    state, last = tmp_path / "s.json", 0
    command = ("mix", "-", "--target", "y", "--state", state)
    for kill_after in (1, 40):
        process = fork_server.start(STREAM, *command, before=PREPARED)
        process.stdin.write("".join(lines[:-20]))  # the stream is not at its end
        process.stdin.flush()
        while last < kill_after:
            line = process.stdout.readline()
            last = int(line.split()[0].removeprefix("round="))
        process.kill()
        kept = MixState.load(state)
        assert last <= kept.t < 80  # nothing acknowledged is lost
        wanted = ExpertMixture()
        wanted.predict_then_fit(X[: kept.t], rows[: kept.t, -1])
        np.testing.assert_array_equal(kept.mixture.weights_, wanted.weights_)
    assert run("-", "--target", "y", "--state", state, text="".join(lines)).exit_code == 0
    wanted = ExpertMixture()
    wanted.predict_then_fit(X, rows[:, -1])
    np.testing.assert_array_equal(MixState.load(state).mixture.weights_, wanted.weights_)


def test_a_sentence_says_whether_the_mixture_won(tmp_path):
    X, y = make_rounds()
    won = run(write(tmp_path / "a.csv", X, y), "--target", "load").output
    assert "The mixture has the lowest mean loss.\n" in won
    X[:, 0] = y
    lost = run(write(tmp_path / "b.csv", X, y), "--target", "load").output
    assert "The mixture did not win: the mean loss of sun is 100.0 % lower.\n" in lost


def test_a_column_that_counts_the_rows_is_named(tmp_path):
    X, y = make_rounds(30)
    X[:, 1] = np.arange(30)
    result = run(write(tmp_path / "f.csv", X, y), "--target", "load")
    assert "f.csv: column rain counts the rows; leave it out with --leave-out rain" in result.stderr
    assert (
        "counts the rows"
        not in run(tmp_path / "f.csv", "--target", "load", "--leave-out", "rain").stderr
    )
