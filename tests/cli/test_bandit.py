"""``driftgames bandit``: adversaries, files, tables at 80 columns, one clear line on errors."""

import gzip
import json
import subprocess
import sys
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

from driftgames.bandit import ENVIRONMENTS, POLICIES, Adaptive, ArmRace
from driftgames.bandit.named_policies import REACTING
from driftgames.cli.bandit import app


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def call(*arguments, **options):
    return CliRunner().invoke(app, [str(each) for each in arguments], **options)


@pytest.fixture
def losses(tmp_path):
    matrix = np.random.default_rng(0).random((200, 3)).round(3)
    path = tmp_path / "losses.csv"
    np.savetxt(path, matrix, delimiter=",", header="red,green,blue", comments="", fmt="%.3f")
    return path


def test_the_help_names_all_policies_and_adversaries_without_loading_numba():
    code = "import sys, driftgames.cli.bandit; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    text = "".join(
        each for each in call("simulate", "--help").output if each.isalnum() or each in "-,."
    )
    assert ",".join(POLICIES) in text
    assert ",".join(ENVIRONMENTS) in text


def test_the_adversaries_that_react_are_named():
    adaptive = [name for name, make in ENVIRONMENTS.items() if isinstance(make(2, 0.1), Adaptive)]
    assert tuple(adaptive) == REACTING


def test_one_of_a_kind_is_written_in_the_singular():
    result = call("simulate", "--arms", 1, "--horizon", 1, "--games", 1, "--policies", "exp3")
    assert result.exit_code == 0, result.output
    assert "stochastic: 1 arm, 1 round, 1 game\n" in result.output


@pytest.mark.parametrize("adversary", ENVIRONMENTS)
def test_every_adversary_is_played_by_every_policy_in_80_columns(adversary):
    result = call("simulate", "--adversary", adversary, "--horizon", 200, "--games", 2, "--arms", 4)
    assert result.exit_code == 0, result.output
    assert f"{adversary}: 4 arms, 200 rounds, 2 games" in result.output
    for policy in POLICIES:
        assert f" {policy} " in result.output
    assert result.output.count("every bound holds") == len(POLICIES) - 1
    assert result.output.count("nothing is promised") == 1  # by thompson
    assert max(map(len, result.output.splitlines())) <= 80


def test_the_same_seed_gives_the_same_output():
    first, second, other = (
        call("simulate", "--horizon", 100, "--games", 2, "--seed", seed).output
        for seed in (1, 1, 2)
    )
    assert first == second != other


def test_late_losses_change_the_bounds_and_some_promise_nothing(tmp_path):
    arguments = ("simulate", "--horizon", 2000, "--games", 2, "--arms", 3, "--delay", 5)
    result = call(*arguments, "--plot", tmp_path / "regret.svg")
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line.split() for line in result.output.splitlines() if line.strip()}
    assert lines["exp3-ix"][-2:] == ["-", "-"]
    assert lines["tsallis-inf"][-1] == "2/2"
    assert result.output.count("every bound holds") == 3
    assert result.output.count("nothing is promised") == 5
    text = " ".join(result.output.split())
    assert "they came 9,985 pulls late in all" in text
    assert "if neither losses nor delays depend on the arms drawn" in text
    assert max(map(len, result.output.splitlines())) <= 80
    assert (tmp_path / "regret.svg").exists()


def test_a_bound_of_at_least_the_number_of_rounds_is_not_shown():
    arguments = ("simulate", "--horizon", 200, "--games", 2, "--arms", 3, "--delay", 100)
    result = call(*arguments, "--policies", "exp3,tsallis-inf")
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line.split() for line in result.output.splitlines() if line.strip()}
    assert lines["tsallis-inf"][-2:] == lines["exp3"][-2:] == ["-", "-"]
    assert "every bound holds" not in result.output.split("Tsallis-INF:")[1]
    text = " ".join(result.output.split())
    assert "Tsallis-INF: nothing is promised (losses came 14,950 pulls late in all" in text


def test_a_file_is_replayed(losses):
    result = call(
        "replay", losses, "--policies", "exp3,tsallis-inf", "--games", 3, "--epsilon", "0.3,0.7"
    )
    assert result.exit_code == 0, result.output
    assert "3 arms, 200 rounds, 3 games" in result.output
    assert "epsilon 0.3" in result.output
    assert "exp3-ix" not in result.output


def test_gains_of_a_range_come_from_standard_input():
    lines = "up,down\n" + "100,0\n" * 300
    result = call(
        "replay", "-", "--gains", "--loss-range", "0,100", "--policies", "tsallis-inf", input=lines
    )
    assert result.exit_code == 0, result.output
    assert "standard input: 2 arms, 300 rounds" in result.output


def test_a_figure_is_written(tmp_path):
    path = tmp_path / "regret.svg"
    assert call("simulate", "--horizon", 100, "--games", 2, "--plot", path).exit_code == 0
    assert path.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--adversary", "nobody"], "--adversary must be one of stochastic, moody"),
        (["simulate", "--policies", "exp3,ucb"], "--policies must be one of exp3, exp3-anytime"),
        (["simulate", "--plot", "regret.jpg"], "must end in .svg, .pdf or .png"),
        (["simulate", "--adversary", "lure", "--delay", "3"], "lure reacts"),
        (["simulate", "--epsilon", "few"], "--epsilon must be numbers"),
        (["simulate", "--epsilon", "2"], "--epsilon must lie in (0, 1]; got 2.0"),
        (["simulate", "--plot", "no/such/b.png"], "--plot: there is no directory no/such"),
        (["replay", "no-such-file.csv"], "no-such-file.csv: No such file"),
        (["replay", "LOSSES", "--loss-range", "0.4,0.6"], "losses must lie in [0.4, 0.6]"),
        (["replay", "LOSSES", "--loss-range", "0"], "--loss-range must be two numbers"),
    ],
)
def test_bad_input_is_one_clear_line_before_any_game(arguments, message, losses, monkeypatch):
    monkeypatch.setattr("driftgames.bandit.compare", lambda *_, **__: pytest.fail("it played"))
    result = call(*(losses if each == "LOSSES" else each for each in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_that_is_cut_short_is_named(tmp_path):
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(b"0.5,0.5\n" * 100)[:-12])
    result = call("replay", path)
    assert result.exit_code == 2
    assert f"{path}: cannot be read" in result.stderr


def test_a_header_without_rounds_is_named(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("a,b\n")
    assert "a header and no rounds" in call("replay", path).stderr


def test_a_log_of_pulls_says_which_arms_may_still_be_the_best(tmp_path):
    rng = np.random.default_rng(0)
    path, out = tmp_path / "pulls.csv", tmp_path / "out.json"
    rows = [
        f"{arm},{int(rng.random() < p)}" for _ in range(600) for arm, p in (("a", 0.3), ("b", 0.6))
    ]
    path.write_text("arm,loss\n" + "\n".join(rows) + "\n")
    result = call("race", path, "--json", out)
    assert result.exit_code == 0, result.output
    assert "a is the best arm, with confidence 0.95" in result.output
    assert json.loads(out.read_text())["within_reach"] == ["a"]
    path.write_text("arm,loss\n" + "\n".join(rows[:10]) + "\n")
    assert "the best arm is one of a, b" in call("race", path).output
    path.write_text("arm,loss\na,7\n")
    bad = call("race", path)
    assert bad.exit_code == 2
    assert "a loss must lie in [0, 1]" in " ".join(bad.output.split())


def test_policies_learn_from_a_log_before_they_play(tmp_path):
    losses, log, out = tmp_path / "losses.csv", tmp_path / "log.csv", tmp_path / "out.json"
    rows = np.tile([0.2, 0.8, 0.7], (60, 1))
    np.savetxt(losses, rows, delimiter=",", header="red,green,blue", comments="")
    pulls = [("red", 0.2), ("green", 0.8), ("blue", 0.7)] * 20
    log.write_text("arm,propensity,loss\n" + "".join(f"{a},0.3333,{x}\n" for a, x in pulls))
    options = ("replay", losses, "--policies", "thompson,exp3", "--games", 3, "--json", out)
    regrets = []
    for more in ((), ("--warm-start", log)):
        result = call(*options, *more)
        assert result.exit_code == 0, result.output
        regrets.append([row["regret"] for row in json.loads(out.read_text())["policies"]])
    assert regrets[1][0] < 0.5 * regrets[0][0]
    assert regrets[1][1] < regrets[0][1]
    assert "nothing is promised" in result.output
    for change, wanted in (
        (("red,", "pink,"), "an arm must be one of"),
        ((",0.3333,", ",0,"), "a propensity must lie in"),
        ((",0.2", ",7"), "a loss must lie in"),
    ):
        (bad := tmp_path / "bad.csv").write_text(log.read_text().replace(*change, 1))
        assert wanted in " ".join(call(*options, "--warm-start", bad).output.split())
    assert (
        call("simulate", "--warm-start", log, "--arms", 3, "--horizon", 9).exit_code == 2
    )  # no such numbers
    numbered = log.read_text().replace("red", "0").replace("green", "1").replace("blue", "2")
    log.write_text(numbered)
    found = call("simulate", "--warm-start", log, "--arms", 3, "--horizon", 9, "--games", 1)
    assert found.exit_code == 0, found.output


def test_live_pulls_are_judged_while_they_come():
    """The answer to a pull comes before the next one is sent."""
    command = ["bandit", "race", "-", "--names", "a,b", "--every", "50"]
    asked = [sys.executable, "-m", "driftgames", *command]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(asked, **pipes) as process:
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        process.stdin.write("arm,loss\n")
        answers = []
        for _ in range(6):
            process.stdin.write("a,0\nb,1\n" * 25)
            process.stdin.flush()
            answers.append(process.stdout.readline())
        rest, _ = process.communicate()
        watchdog.cancel()
    assert process.returncode == 0
    assert answers[0].startswith("50 pulls: ")
    assert answers[5] == "300 pulls: a is the best arm, with confidence 0.95\n"
    race = ArmRace(["a", "b"])
    for _ in range(25):
        race.update("a", 0.0)
        race.update("b", 1.0)
    assert answers[0] == f"50 pulls: {race}\n"
    assert "within reach" in rest


def test_a_log_with_other_columns_says_which_it_needs(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("variant,bought\nA,1\nB,0\n")
    words = "the columns arm and gain; it has variant, bought: rename yours"
    assert words in call("race", path, "--gains").stderr


def test_live_pulls_need_the_names_of_all_arms(tmp_path):
    path = tmp_path / "pulls.csv"
    path.write_text("arm,loss\na,0\nc,1\n")
    assert "name them with --names" in call("race", path, "--every", 1).stderr
    assert "there is no arm 'c'" in call("race", path, "--names", "a,b", "--every", 1).stderr
    # an arm that was never pulled is still within reach
    assert "one of a, b, c" in call("race", path, "--names", "a,b,c").output
