import pytest
import typer
from typer.testing import CliRunner

from driftgames.cli.game import game
from driftgames.potentials import POTENTIALS

app = typer.Typer()
app.command()(game)


@pytest.mark.parametrize("adversary", ["random", "stochastic", "greedy"])
@pytest.mark.parametrize("potential", ["exp", "2-norm", "normalhedge.dt", "backward-heat"])
def test_a_game_prints_a_falling_potential_and_a_certificate(potential, adversary):
    options = ["--potential", potential, "--adversary", adversary, "--rounds", "60"]
    result = CliRunner().invoke(app, [*options, "--chips", "5"])
    assert result.exit_code == 0, result.output
    assert "every bound holds" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_a_game_is_drawn(tmp_path):
    plot = tmp_path / "g.svg"
    result = CliRunner().invoke(app, ["--rounds", "60", "--chips", "5", "--plot", str(plot)])
    assert result.exit_code == 0, result.output
    assert plot.read_text().lstrip().startswith("<?xml")
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--potential", "x"], f"potential must be one of {', '.join(POTENTIALS)}; got 'x'"),
        (["--chips", "0"], "n_chips must be an integer >= 1; got 0"),
        (["--rounds", "0"], "horizon must be an integer >= 1; got 0"),
        (["--plot", "no/such/g.svg"], "--plot: there is no directory no/such"),
    ],
)
def test_bad_options_are_one_clear_line(options, message):
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 2
    assert message in result.stderr
