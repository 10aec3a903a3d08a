"""Every command that prints numbers writes them with ``--json``, as strict JSON."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from driftgames.cli.app import app
from driftgames.tables import write_json

RNG = np.random.default_rng(0)
TABLE = RNG.random((30, 3)).round(3)
LABELS = np.where(TABLE[:, 0] > 0.5, "yes", "no")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path / "cache"))
    np.savetxt("t.csv", TABLE + 0.001, delimiter=",", header="a,b,c", comments="", fmt="%g")
    rows = [f"{a},{b},{label}" for (a, b, _), label in zip(TABLE, LABELS, strict=True)]
    (tmp_path / "xy.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, [*arguments, "--json", "out.json"])
    assert result.exit_code == 0, result.output
    return result.output


def refuse(word):
    raise AssertionError(f"{word} is not JSON")


@pytest.mark.parametrize(
    ("command", "members"),
    [
        ("hedge t.csv --loss-range 0,2", {"actions", "epsilon_regret", "learner_loss", "verdict"}),
        ("hedge t.csv --loss-range 0,2 --gains", {"actions", "learner_gain", "best_action"}),
        ("mix t.csv --target a", {"forecasts", "weights", "bound"}),
        ("bandit replay t.csv --loss-range 0,2 --games 1", {"policies", "arms", "rounds", "games"}),
        ("portfolio t.csv -a eg,hold", {"strategies", "to_hold", "periods"}),
        ("game --chips 4 --rounds 9", {"average_potential", "epsilon_regret", "verdict"}),
        ("boost cv xy.csv --folds 2 --rounds 2", {"parts", "mean"}),
    ],
)
def test_the_file_holds_what_is_printed(folder, command, members):
    run(*command.split())
    assert members <= set(json.loads((folder / "out.json").read_text(), parse_constant=refuse))


def test_a_model_that_is_inspected_and_its_predictions(folder):
    CliRunner().invoke(app, ["boost", "fit", "xy.csv", "--rounds", "3", "--model", "m.json"])
    for command, member in (
        ("boost inspect m.json --data xy.csv", "margins"),
        ("boost predict xy.csv --model m.json", "predictions"),
    ):
        run(*command.split())
        assert member in json.loads((folder / "out.json").read_text(), parse_constant=refuse)


def test_numbers_are_raw_and_actions_are_all_there(folder):
    run(*["hedge", "t.csv", "--loss-range", "0,2", "--top", "1"])
    found = json.loads((folder / "out.json").read_text())
    p = {each["action"]: each["probability"] for each in found["actions"]}
    assert set(p) == {"a", "b", "c"}
    assert sum(p.values()) == pytest.approx(1.0, abs=1e-12)
    totals = {each["action"]: each["total loss"] for each in found["actions"]}
    assert found["best_action"] == min(totals, key=totals.get)
    assert found["regret"] == pytest.approx(found["learner_loss"] - min(totals.values()))


def test_the_list_of_sets(folder):
    run("datasets", "list")
    found = json.loads((folder / "out.json").read_text())
    assert found[0]["train"] == 32561
    assert (found[-1]["train"], found[-1]["where"]) == (None, "scikit-learn")


def test_what_is_not_finite_is_null(tmp_path):
    write_json({"a": [math.inf, {"b": (math.nan, 1.5)}]}, tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": [None, {"b": [None, 1.5]}]}
