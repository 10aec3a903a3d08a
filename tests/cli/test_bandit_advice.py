"""``driftgames bandit replay LOSSES --advice``: EXP4 over columns that name arms."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from driftgames.bandit import Exp4
from driftgames.cli.bandit import app

ARMS = ["red", "green", "blue"]


def call(*arguments, **options):
    return CliRunner().invoke(app, ["replay", *(str(each) for each in arguments)], **options)


def write(path, ages, losses, experts):
    """Write a table whose columns stand in an order that no one may rely on."""
    lines = ["coin,red,age,green,seer,blue"]
    for age, row, coin, seer in zip(ages, losses, *experts, strict=True):
        lines.append(f"{coin},{row[0]:g},{age},{row[1]:g},{seer},{row[2]:g}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def visits(tmp_path):
    """A table of 400 rounds, and its advice: seer is often right, coin is at times silent."""
    rng = np.random.default_rng(0)
    good, coin = rng.integers(0, 3, 400), rng.integers(0, 4, 400)
    losses = np.where(np.eye(3)[good] == 1, 0.25, 0.75) * (rng.random((400, 3)) < 0.9)
    names = [*ARMS, ""]
    path = tmp_path / "visits.csv"
    ages = rng.uniform(-1, 1, 400).round(2)
    write(path, ages, losses, [[names[k] for k in coin], [names[k] for k in good]])
    rows = np.vstack([np.eye(3), np.full(3, 1 / 3)])
    return path, losses, np.stack([rows[coin], rows[good]], axis=1)


def played(path, tmp_path, *options):
    out = tmp_path / "out.json"
    result = call(path, "--policies", "tsallis-inf", "--games", 3, "--json", out, *options)
    assert result.exit_code == 0, result.stderr
    content = json.loads(out.read_text())
    by = {"policies": "policy", "experts": "expert"}
    tables = {key: {row[by[key]]: row for row in content.get(key, [])} for key in by}
    return result.stdout, content, tables


@pytest.mark.parametrize("gains", [False, True])
def test_exp4_plays_with_the_advice_of_the_columns_beside_its_bound(visits, tmp_path, gains):
    path, losses, advice = visits
    options = ["--contexts", "age", "--advice", "coin,seer", *["--gains"] * gains]
    stdout, content, tables = played(path, tmp_path, *options)
    assert content["arms"] == 3
    assert list(tables["policies"]) == [
        *("squarecb, ridge", "squarecb, logistic", "exp4", "tsallis-inf")
    ]
    runs = []
    for game in range(3):
        rng = np.random.default_rng([0, game])
        policy = Exp4(3, experts=["coin", "seer"], gains=gains, random_state=rng)
        runs.append((policy.run(advice, losses), policy))
    sign = -1 if gains else 1
    own = [sign * losses[np.arange(400), run.drawn].sum() for run, _ in runs]
    best_arm = (sign * losses).sum(axis=0).min()
    assert tables["policies"]["exp4"]["regret"] == pytest.approx(np.mean(own) - best_arm)
    theirs = sign * (advice * losses[:, None]).sum(axis=(0, 2))
    bound = float(runs[0][1].bound(400, 0.5))
    order = ["coin", "seer"] if gains else ["seer", "coin"]
    assert list(tables["experts"]) == order, "the best expert comes first"
    for name, loss in zip(["coin", "seer"], theirs, strict=True):
        row = tables["experts"][name]
        assert row["regret"] == pytest.approx(np.mean(own) - loss)
        assert row["std error"] == pytest.approx(np.std(own, ddof=1) / np.sqrt(3))
        assert row["bound"] == pytest.approx(bound)
        assert row["games within"] == "3/3"
    best = tables["experts"][order[0]]["regret"]
    assert best == pytest.approx(np.mean([run.regret for run, _ in runs]))
    assert "EXP4: every bound holds (in expectation; mean of 3 games)" in stdout


def test_exp4_beats_policies_without_advice_where_an_expert_knows_the_arm(visits, tmp_path):
    path, *_ = visits
    # age is no arm, so that it must be named; it tells nothing
    _, _, tables = played(path, tmp_path, "--contexts", "age", "--advice", "seer,coin")
    rows = tables["policies"]
    assert rows["exp4"]["regret"] < -50 < rows["tsallis-inf"]["regret"]


def test_advice_needs_no_contexts_and_is_not_read_from_the_future(visits, tmp_path):
    _, losses, _ = visits
    changed, seer = losses.copy(), [ARMS[k] for k in losses.argmin(axis=1)]
    changed[-1] = 1 - changed[-1]  # the last round alone
    totals = []
    for k, matrix in enumerate((losses, changed)):
        table = tmp_path / f"{k}.csv"
        write(table, ["red"] * 400, matrix, [["blue"] * 400, seer])
        _, _, tables = played(table, tmp_path, "--advice", "age,seer,coin")
        assert list(tables["policies"]) == ["exp4", "tsallis-inf"]
        assert set(tables["experts"]) == {"age", "seer", "coin"}
        best = matrix.sum(axis=0).min()
        totals.append(tables["policies"]["exp4"]["regret"] + best)
    assert abs(totals[0] - totals[1]) <= 1


def test_a_column_of_advice_may_look_like_dates(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("day,red,blue\n" + "red,0,1\nblue,1,0\n" * 20)
    _, _, tables = played(path, tmp_path, "--advice", "day")
    assert list(tables["experts"]) == ["day"]
    assert tables["policies"]["exp4"]["regret"] == -20  # a single expert is obeyed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--advice", "seer,nurse"], "--advice must name columns: coin, red, age, green, seer"),
        (["--advice", "seer,seer"], "--advice must name each column once; got 'seer,seer'"),
        (
            ["--advice", "seer,coin,red", "--contexts", "age,green"],
            "--contexts and --advice must leave at least two columns for the arms",
        ),
        (["--advice", "seer,coin,age"], "(age): advice must name an arm: red, green, blue; got"),
        (["--advice", "seer", "--contexts", "age"], "(coin): a context or a loss must be a num"),
        (["--advice", "seer,coin", "--contexts", "seer"], "--contexts must name columns: red, age"),
        (
            ["--advice", "seer,coin", "--contexts", "age", "--delay", 3],
            "--delay does not go with --contexts or --advice",
        ),
    ],
)
def test_wrong_advice_is_named(visits, options, message):
    result = call(visits[0], *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_advice_needs_a_table_with_a_header():
    result = call("-", "--advice", "seer", input="0,1\n1,0\n")
    assert "--advice names columns, and the input has no header" in result.stderr
