"""``driftgames bandit replay LOSSES --contexts``."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from driftgames.bandit import SquareCB
from driftgames.cli.bandit import app


def call(*arguments):
    return CliRunner().invoke(app, ["replay", *(str(each) for each in arguments)])


@pytest.fixture
def visits(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2)).round(3)
    means = np.clip(0.5 + X @ [[0.5, -0.5], [0.0, 0.0]], 0, 1)
    L = (rng.random(means.shape) < means).astype(int)
    path = tmp_path / "visits.csv"
    lines = [f"{x[0]},{row[0]},{x[1]},{row[1]}" for x, row in zip(X, L, strict=True)]
    path.write_text("\n".join(["age,red,hour,blue", *lines]) + "\n")
    return path, X, L.astype(float)


def test_square_cb_plays_beside_policies_that_see_no_context(visits, tmp_path):
    path, X, L = visits
    out = tmp_path / "out.json"
    options = ["--policies", "tsallis-inf", "--games", 2, "--json", out]
    result = call(path, "--contexts", "age,hour", *options)
    assert result.exit_code == 0, result.stderr
    content = json.loads(out.read_text())
    assert content["arms"] == 2
    rows = {row["policy"]: row for row in content["policies"]}
    assert list(rows) == ["squarecb, ridge", "squarecb, logistic", "tsallis-inf"]
    regrets = [
        SquareCB(2, n_features=2, random_state=np.random.default_rng([0, game])).run(X, L).regret
        for game in range(2)
    ]
    assert rows["squarecb, ridge"]["regret"] == pytest.approx(np.mean(regrets))
    assert rows["squarecb, ridge"]["regret"] < -30 < rows["tsallis-inf"]["regret"]
    assert rows["squarecb, logistic"]["bound"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--contexts", "age,year"], "--contexts must name columns: age, red, hour, blue; got"),
        (["--contexts", "age,age"], "must name each column once; got 'age,age'"),
        (["--contexts", "age,hour,red"], "must leave at least two columns for the arms"),
        (["--contexts", "red"], "losses must lie in [0, 1]"),
    ],
)
def test_wrong_contexts_are_named(visits, options, message):
    result = call(visits[0], *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
