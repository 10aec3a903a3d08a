"""A potential that a user writes in a file of their own works everywhere by its name."""

import importlib
import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from driftgames.bandit import check_bandit_potential
from driftgames.boosting import PotentialBoostClassifier
from driftgames.boosting.persistence import load_model
from driftgames.cli.app import app
from driftgames.core.description import Describable, describe, restore
from driftgames.core.documents import DocumentError
from driftgames.hedge import Hedge
from driftgames.hedge.named_learners import make_learner
from driftgames.potentials import POTENTIALS

SOURCE = '''
from dataclasses import dataclass

import numpy as np

from driftgames.potentials import Potential


@dataclass(frozen=True)
class ShiftedTwoNorm(Potential):
    """Phi_t(s) = min(s - shift, 0)^2 + T - t."""

    shift: float = 1.0

    adaptive = True
    registry_name = "shifted"

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        rounds_left = 0 if horizon is None else horizon - t
        below = np.minimum(np.asarray(positions, dtype=float) - self.shift, 0.0)
        return (below**2 + rounds_left) * np.exp(-log_scale)
'''


def forget():
    POTENTIALS.pop("shifted", None)
    Describable._kinds.pop("ShiftedTwoNorm", None)
    sys.modules.pop("shifted_two_norm", None)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "shifted_two_norm.py"
    file.write_text(SOURCE)
    forget()
    yield file
    forget()


@pytest.fixture
def potential(path, monkeypatch):
    monkeypatch.syspath_prepend(path.parent)
    module = importlib.import_module("shifted_two_norm")
    return module.ShiftedTwoNorm(shift=0.5)


def _losses(rounds=40, n_actions=4):
    return np.random.default_rng(0).random((rounds, n_actions)) * [0.2, 1.0, 1.0, 1.0]


def test_it_registers_itself_by_name(potential):
    assert POTENTIALS["shifted"](None, 0.1) == type(potential)()
    assert make_learner("shifted", 3).potential == type(potential)()


def test_a_subclass_without_a_name_leaves_the_entry_alone(potential):
    class Steeper(type(potential)):
        pass

    assert type(POTENTIALS["shifted"](None, 0.1)) is type(potential)
    Describable._kinds.pop("Steeper")


def test_hedge_learns_with_it_within_the_bound_of_theorem_2(potential):
    learner = Hedge(4, potential)
    run = learner.run(_losses())
    assert learner.distribution().argmax() == 0
    assert learner.title == "ShiftedTwoNorm(shift=0.5)"
    # Phi_T(-R) = (R + 1/2)^2 reaches Phi_0(0) / epsilon = (1/4 + T) / epsilon there
    wanted = np.sqrt((0.25 + 40) * 4) - 0.5
    assert learner.bound(40, 0.25) == pytest.approx(wanted, abs=1e-9)
    certificate = learner.certificate()
    assert certificate.holds
    assert certificate.at(0.25).promised == pytest.approx(wanted, abs=1e-9)
    assert run.promised == pytest.approx(wanted, abs=1e-9)


def test_a_saved_learner_finds_it_again_once_it_is_imported(potential, tmp_path):
    learner = Hedge(4, potential)
    learner.run(_losses())
    learner.save(tmp_path / "h.json")
    assert Hedge.load(tmp_path / "h.json") == learner
    assert restore(json.loads(json.dumps(describe(potential)))) == potential
    forget()
    with pytest.raises(DocumentError, match="ShiftedTwoNorm, which is not defined here; import"):
        Hedge.load(tmp_path / "h.json")


def test_the_conditions_of_theorem_4_are_checked_for_it(potential):
    check = check_bandit_potential(potential, n_arms=3, horizon=20)
    assert check.potential == potential
    assert not check.qualifies  # a square weighs chips far to the right with zero


def test_it_boosts_and_the_model_is_saved_and_loaded(potential, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.random((120, 3))
    y = X[:, 0] + X[:, 1] > 1.0
    booster = PotentialBoostClassifier(potential, 12).fit(X, y)
    assert booster.score(X, y) > 0.9
    booster.save(tmp_path / "model.json")
    loaded = PotentialBoostClassifier.load(tmp_path / "model.json")
    assert loaded.potential == potential
    assert (loaded.decision_function(X) == booster.decision_function(X)).all()


def test_the_command_line_plays_it_and_goes_on_from_a_state(path, tmp_path):
    table, state = tmp_path / "losses.csv", tmp_path / "s.json"
    rows = [",".join(map(str, row)) for row in _losses()]
    table.write_text("\n".join(["a,b,c,d", *rows[:20]]) + "\n")
    command = ["hedge", str(table), "--algorithm", "shifted", "--state", str(state)]
    unknown = CliRunner().invoke(app, command)
    assert unknown.exit_code == 2
    assert "learner must be one of normalhedge.dt" in unknown.output
    command += ["--import", str(path)]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert "ShiftedTwoNorm(shift=1.0)" in first.output
    forget()
    table.write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    second = CliRunner().invoke(app, command)
    assert second.exit_code == 0, second.output
    assert "40" in second.output
    game = ["game", "--potential", "shifted", "--import", str(path), "--rounds", "20"]
    played = CliRunner().invoke(app, game)
    assert played.exit_code == 0, played.output
    assert "shifted against greedy" in played.output


def test_the_command_line_boosts_with_it_and_lets_it_play_bandits(path, tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    X = np.random.default_rng(1).random((60, 3))
    rows = [f"{a},{b},{c},{int(a + b > 1)}" for a, b, c in X]
    table.write_text("\n".join(["a,b,c,y", *rows]))
    fit = ["boost", "fit", str(table), "--model", str(model), "--algorithm", "shifted"]
    unknown = CliRunner().invoke(app, [*fit, "--rounds", "6"])
    assert "--algorithm must be one of nh-boost.dt" in unknown.output
    fitted = CliRunner().invoke(app, [*fit, "--rounds", "8", "--import", str(path)])
    assert fitted.exit_code == 0, fitted.output
    forget()
    predict = ["boost", "predict", str(table), "--model", str(model)]
    assert "which is not defined here; import" in CliRunner().invoke(app, predict).output
    predicted = CliRunner().invoke(app, [*predict, "--import", str(path)])
    assert predicted.exit_code == 0, predicted.output
    booster = load_model(model)
    assert booster.n_iter_ == 8
    assert type(booster.potential).__name__ == "ShiftedTwoNorm"
    play = ["bandit", "simulate", "--policies", "shifted", "--games", "1", "--horizon", "20"]
    refused = CliRunner().invoke(app, [*play, "--import", str(path)])
    assert refused.exit_code == 2  # it does not meet Theorem 4
    assert "ShiftedTwoNorm(shift=1.0) does not meet Theorem 4" in refused.output
    forget()
    assert "--policies must be one of" in CliRunner().invoke(app, play).output
    smooth = "return np.exp(-0.05 * np.asarray(positions, dtype=float) - log_scale)"
    path.write_text(SOURCE[: SOURCE.index("rounds_left =")] + smooth + "\n")
    played = CliRunner().invoke(app, [*play, "--import", str(path)])
    assert played.exit_code == 0, played.output
    assert "20 rounds, 1 game" in played.output


def test_an_import_that_is_no_python_file_is_refused(tmp_path):
    for name in ("missing.py", "."):
        command = ["game", "--import", str(tmp_path / name)]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 2
        assert "--import must be a Python file" in result.output
