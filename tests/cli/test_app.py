"""``driftgames --help``: every command, in one order, each with its whole summary."""

import io
import shlex
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from driftgames import __version__
from driftgames.boosting import BOOSTERS
from driftgames.cli import reproduce
from driftgames.cli._options import SETS
from driftgames.cli._output import say
from driftgames.cli.app import SUMMARIES, app
from driftgames.cli.help import TOPICS
from driftgames.datasets import CATALOGUE
from driftgames.paper import experiment
from driftgames.paper.sets import KNOWN
from driftgames.potentials import POTENTIALS


def run(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})


def test_help_lists_every_command_in_order_with_its_summary():
    lines = run("--help").output.partition("Commands:\n")[2].split("\n\n")[0].splitlines()
    shown = [tuple(line.strip().split(maxsplit=1)) for line in lines if line.strip()]
    assert shown == list(SUMMARIES.items())
    names = {each.name or each.callback.__name__ for each in app.registered_commands}
    assert names | {group.name for group in app.registered_groups} == set(SUMMARIES)


def test_names_that_are_written_out_are_those_of_the_registries():
    assert tuple(CATALOGUE) == SETS
    assert tuple(experiment.EXPERIMENTS) == reproduce.EXPERIMENTS
    assert all(experiment.EXPERIMENTS[each].extra for each in reproduce.EXPERIMENTS[5:])
    assert f"--sets NAME,NAME {', '.join(KNOWN)}." in " ".join(
        run("reproduce", "--help").output.split()
    )
    assert {"exp", "2-norm", "normalhedge.dt", "backward-heat"} <= set(POTENTIALS)


def test_names_of_boosters_are_read_from_their_registry():
    first, *others, _ = BOOSTERS
    shown = "".join(run("boost", "fit", "--help").output.split())
    assert f"Thebooster:{','.join([first, *others])},or" in shown
    assert f"defines.Default:{first}." in shown


def test_every_option_of_every_command_is_described():
    top = typer.main.get_command(app).commands
    groups = [top[name].commands for name in ("boost", "bandit", "datasets")]
    commands = [*top.values(), *(each for group in groups for each in group.values())]
    options = [each for command in commands for each in command.params]
    assert [each.name for each in options if not each.help] == []
    assert not any("{" in each.get_help(typer.Context(each)) for each in commands)
    opposites = {opposite for each in options for opposite in each.secondary_opts}
    assert opposites == {
        "--no-header",
        "--no-combiners",
        "--no-ensemble",
        "--no-pairs",
        "--losses",
        "--best-expert",
    }


@pytest.mark.parametrize("group", ["boost", "bandit", "datasets"])
def test_no_summary_is_cut_short(group):
    assert "..." not in run(group, "--help").output.partition("Commands:")[2]


@pytest.mark.parametrize("command", SUMMARIES)
def test_every_command_explains_itself(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "\nExample" in result.output
    assert f"  driftgames {command}" in result.output


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "driftgames", "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout == f"driftgames {__version__}\n"


def test_the_version_is_printed():
    assert run("--version").output == f"driftgames {__version__}\n"


RUNNABLE = [
    "datasets export breast_cancer stocks visits",
    "boost fit breast_cancer.train.csv --label class --model m.json",
    "boost cv breast_cancer.train.csv --label class --folds 3",
    "boost predict breast_cancer.test.csv --model m.json",
    "boost inspect m.json --plot-race race.svg --html page.html",
    "boost fit breast_cancer.train.csv --leaves 2 --model m2.json",
    "boost inspect m2.json --plot shapes.svg",
    "boost fit breast_cancer.train.csv --patience 9 --model m.json",
    "boost cv breast_cancer.train.csv --leaves 2 --rounds 200",
    "hedge stocks.relatives.csv --gains --loss-range 0,2",
    "mix stocks.forecasts.csv --target 'S&P 500' --plot w.svg",
    "hedge visits.csv --leave-out age,hour --plot regret.svg",
    "bandit simulate --games 5",
    "bandit replay visits.csv --contexts age,hour",
    "bandit replay visits.advice.csv --advice rule,model",
    "bandit race visits.pulls.csv",
    "portfolio stocks.csv --cost 0.001 --plot wealth.svg",
    "game --potential 2-norm --adversary stochastic",
    "play --output game.html --no-open",
    "reproduce --only table3 --sets breast_cancer",
    "datasets list",
    "help potentials",
]


@pytest.mark.usefixtures("one_turn", "few_folds")
def test_the_examples_with_real_data_run_without_a_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for example in RUNNABLE:
        words = shlex.split(example)
        group = 2 if words[0] in ("boost", "bandit", "datasets") else 1
        assert f"  driftgames {example}\n" in run(*words[:group], "--help").output
        result = run(*words)
        assert result.exit_code == 0, f"{example}: {result.output}"


@pytest.mark.parametrize("command", ["fit", "cv"])
def test_the_options_of_boost_are_in_groups(command):
    lines = run("boost", command, "--help").output.splitlines()
    headings = {line.rstrip(":") for line in lines if line.endswith(":") and line[0] != " "}
    assert {"Algorithm", "Size", "Stopping", "Table"} <= headings


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_explained_and_names_a_command(topic):
    result = run("help", topic)
    assert result.exit_code == 0
    assert len(result.output.split()) > 20
    assert f"To try it: driftgames {TOPICS[topic]} --help" in result.output
    assert TOPICS[topic] in SUMMARIES


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("po", "portfolio"),
        ("hedge --algorithm sq", "squint"),
        ("reproduce --only table2,fig", "table2,figure1\ntable2,figure2"),
        ("boost ins", "inspect"),
        ("help pot", "potentials"),
    ],
)
def test_a_shell_completes_commands_and_names(typed, found):
    words = f"driftgames {typed}"
    asked = {
        "_DRIFTGAMES_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    result = CliRunner().invoke(app, env=asked, prog_name="driftgames")
    assert result.output.strip() == found


@pytest.mark.parametrize(
    "command",
    [[each] for each in SUMMARIES if each not in ("boost", "bandit", "datasets")]
    + [["boost", each] for each in ("fit", "cv", "predict", "inspect")]
    + [["bandit", each] for each in ("simulate", "replay", "race")],
    ids=" ".join,
)
def test_every_example_fits_on_a_line_of_80_columns(command):
    lines = run(*command, "--help").output.splitlines()
    begin = next(i for i, line in enumerate(lines) if line in ("Example:", "Examples:"))
    examples = lines[begin + 1 : lines.index("", begin)]
    assert examples
    assert all("driftgames " in line and len(line) <= 80 for line in examples)
    assert ("docs/command_line.md has all rules" in " ".join(" ".join(lines).split())) == (
        command[0] in {"boost", "hedge", "mix", "bandit", "portfolio"} and command[-1] != "simulate"
    )


@pytest.mark.parametrize(
    ("command", "headings"),
    [
        ("hedge", ["Arguments", "Learner", "Table", "Output", "State", "Files", "Options"]),
        ("mix", ["Arguments", "Mixture", "Table", "Output", "State", "Files", "Options"]),
        ("bandit replay", ["Arguments", "Losses", "Games", "Files", "Table", "Options"]),
        ("portfolio", ["Arguments", "Strategies", "Table", "Files", "Options"]),
        ("reproduce", ["Experiments", "Files", "Options"]),
    ],
)
def test_options_are_shown_in_groups_and_arguments_by_their_names(command, headings):
    lines = run(*command.split(), "--help").output.splitlines()
    shown = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert shown.pop(0) in ("Example", "Examples")
    assert sorted(shown) == sorted(headings)
    assert shown[-1] == "Options"
    assert "<" not in "".join(lines)
    assert "{" not in lines[0]
    assert not any(line.endswith("-") for line in lines)  # names are whole


def test_what_is_written_is_called_output():
    top = typer.main.get_command(app).commands
    written = [top["play"], top["reproduce"], top["datasets"].commands["export"]]
    assert all(
        "--output" in {o for each in command.params for o in each.opts} for command in written
    )


@pytest.mark.parametrize(
    ("typed", "topic"),
    [("regret", "hedge"), ("potentails", "potentials"), ("arms", "bandit")],
)
def test_help_suggests_topics_for_another_word(typed, topic):
    result = run("help", typed)
    assert result.exit_code == 2
    assert f"there is no topic '{typed}'; see driftgames help" in result.stderr
    assert topic in result.stderr


@pytest.mark.parametrize("command", ["boost fit", "hedge", "mix", "portfolio", "bandit replay"])
def test_a_mistyped_file_is_named_before_anything_is_imported(command, tmp_path):
    (tmp_path / "prices.csv").write_text("a,b\n1,2\n")
    needed = {"boost fit": ["--model", "m"], "mix": ["--target", "a"]}.get(command, [])
    words = ["driftgames", *command.split(), str(tmp_path / "price.csv"), *needed]
    code = f"import sys; sys.argv = {words!r}; from driftgames.cli import main\n"
    code += (
        "try:\n    main()\nfinally:\n    print({'numba', 'sklearn', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n"
    assert f"did you mean {tmp_path / 'prices.csv'}?" in done.stderr


def test_a_long_line_wraps_at_spaces_on_a_terminal_and_not_in_a_pipe(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for at_terminal, lines in ((True, 3), (False, 1)):
        stream = io.StringIO()
        stream.isatty = lambda answer=at_terminal: answer
        monkeypatch.setattr(sys, "stderr", stream)
        say("words " * 15 + "a-name-of-a-file.csv", err=True)
        assert stream.getvalue().count("\n") == lines
        assert all(
            "a-name" not in line or "file.csv" in line for line in stream.getvalue().split("\n")
        )
