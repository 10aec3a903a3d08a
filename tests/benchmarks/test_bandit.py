"""The benchmark of bandits: everyone plays, the absent are named."""

import pytest
from rich.console import Console

from driftgames.bandit import POLICIES
from driftgames.benchmarks import bandit
from driftgames.benchmarks.harness import race, render


@pytest.fixture(scope="module")
def small():
    return race("K=4", list(bandit.contestants(4, 30)), repeats=1, unit="rounds")


def test_ours_stream_and_replay_beside_the_peers(small):
    names = small.column("contestant")
    assert names[0] == "EXP3"
    assert {"EXP3 replay", "river Exp3", "pymab EXP3 (Rust)", "SMPyBandits Exp3"} <= set(names)
    rates = dict(zip(names, small.column("rounds/s"), strict=True))
    assert all(rates[name] > 0 for name in names[:5])


def test_tables_have_a_column_per_size_and_name_the_absent(small):
    speed, ratios = bandit.tables({10: small, 10_000: small})
    assert [column.name for column in speed.columns] == ["contestant", "K=10", "K=10,000"]
    assert speed.rows[0] == ("wanted of EXP3, at least", 400_000, 200_000)
    assert ratios.rows[0] == ("EXP3", pytest.approx(1.0), pytest.approx(1.0))
    absent = [row[0] for row in speed.rows if row[1] is None]
    for name in absent:
        assert any(note.startswith(f"{name} skipped: ") for note in speed.notes)


def test_regrets_name_every_policy_and_the_bound():
    table = bandit.regrets(games=2, rounds=200)
    assert table.column("policy")[: len(POLICIES)] == list(POLICIES)
    for regret, bound in zip(table.column("pseudo-regret"), table.column("bound"), strict=True):
        assert bound is None or 0 <= regret <= bound


def test_tables_are_readable_at_80_columns(small, capsys):
    for table in (*bandit.tables({10: small, 1_000: small, 10_000: small}),):
        render(table, Console(width=80))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
