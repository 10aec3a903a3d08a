from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from driftgames.paper import hedge
from driftgames.paper.hedge import (
    KINDS,
    LEARNERS,
    epsilon_figure,
    hedge_run,
    hedge_table,
    make_losses,
    regret_figure,
    time_per_round,
    timing_figure,
)
from driftgames.tables import draw_table


@pytest.fixture(scope="module")
def runs():
    return [hedge_run(kind, name, 8, 60, seed=0) for kind in KINDS for name in LEARNERS]


def test_regret_at_the_end_is_the_finest_epsilon_regret(runs):
    for run in runs:
        assert run.rounds[-1] == 60
        assert run.regret[-1] == pytest.approx(run.epsilon_regret[0], abs=1e-9)
        assert len(run.epsilons) == 8
        assert all(np.diff(run.epsilon_regret) <= 1e-12)


def test_every_promise_is_kept(runs):
    for run in runs:
        if run.bound is not None:
            assert np.all(np.array(run.epsilon_regret) <= run.bound)
    assert sum(run.bound is not None for run in runs) >= 15


def test_same_seed_same_numbers_and_another_seed_others():
    first = hedge_run("stochastic", "NormalHedge.DT", 8, 60, seed=1)

    assert hedge_run("stochastic", "NormalHedge.DT", 8, 60, seed=1) == first
    assert hedge_run("stochastic", "NormalHedge.DT", 8, 60, seed=2) != first


def test_stochastic_losses_have_better_actions_and_adversarial_ones_none():
    stochastic = make_losses("stochastic", 20, 20_000, seed=0).mean(axis=0)
    adversarial = make_losses("adversarial", 20, 20_000, seed=0).mean(axis=0)

    np.testing.assert_allclose(stochastic[:2], 0.4, atol=0.02)
    np.testing.assert_allclose(stochastic[2:], 0.5, atol=0.02)
    np.testing.assert_allclose(adversarial, 0.5, atol=0.02)


def test_greedy_losses_answer_what_is_played():
    """Against a deterministic first round no action is ahead of the learner without a reply."""
    for name in ("NormalHedge.DT", "2-norm"):
        run = hedge_run("greedy", name, 8, 60, seed=0)
        assert run.regret[0] > 0
        assert run == hedge_run("greedy", name, 8, 60, seed=99)  # nothing is drawn


def test_table_has_regret_beside_bound(runs):
    table = hedge_table(runs, 8, 60)

    assert len(table.rows) == len(KINDS) * len(LEARNERS)
    assert table.column("regret", "ε = 0.12")[0] == runs[0].epsilon_regret[0]
    assert table.column("regret", "ε = 0.5")[0] == runs[0].epsilon_regret[3]
    assert set(table.column("kept")) <= {"1/1", "no bound"}


def test_the_table_says_which_losses_the_greedy_adversary_tries():
    assert "It tries all losses of 0 and 1." in hedge_table([], 12, 60).notes[1]
    assert "a stronger answer may exist" in hedge_table([], 13, 60).notes[1]


def test_a_broken_promise_would_be_said(runs):
    broken = hedge.HedgeRun(**{**vars(runs[0]), "bound": [-1e9] * 8})

    assert hedge_table([broken], 8, 60).column("kept") == ["0/1"]


def test_regret_has_a_panel_per_kind_and_epsilon_regret_one_per_algorithm(runs):
    over_time, at_end = regret_figure(runs), epsilon_figure(runs)
    assert [panel.title for panel in over_time.panels] == list(KINDS)
    assert all(list(panel.curves) == list(LEARNERS) for panel in over_time.panels)
    assert [panel.title for panel in at_end.panels] == list(LEARNERS)
    assert all(list(panel.curves) == list(KINDS) for panel in at_end.panels)
    for panel in at_end.panels:  # one bound stands for all kinds
        bounds = [run.bound for run in runs if run.learner == panel.title]
        assert all(each == bounds[0] for each in bounds)
        assert list(panel.bounds.values()) == ([] if bounds[0] is None else bounds[:1])


def test_seeds_become_a_mean_a_band_and_a_count():
    runs = [hedge_run("stochastic", "2-norm", 8, 60, seed=seed) for seed in range(3)]
    table = hedge_table(runs, 8, 60)
    first = np.mean([run.epsilon_regret[0] for run in runs])
    assert table.column("regret", "ε = 0.12") == [pytest.approx(first)]
    assert table.column("kept") == ["3/3"]
    assert hedge.kept_runs(table) == (3, 3)
    (panel,) = regret_figure(runs).panels
    low, high = panel.bands["2-norm"]
    assert low[-1] == min(run.regret[-1] for run in runs)
    assert high[-1] == max(run.regret[-1] for run in runs)


def test_time_is_measured_for_every_learner():
    seconds = {name: [time_per_round(name, n, turns=1) for n in (2, 4)] for name in LEARNERS}

    assert all(s > 0 for curve in seconds.values() for s in curve)
    assert timing_figure(seconds, (2, 4)).panels[0].x == [2.0, 4.0]


def test_table_1_has_its_bounds_at_80_columns():
    console = Console(width=80, file=StringIO())
    console.print(draw_table(hedge.table_1(50, 1000)))
    shown = console.file.getvalue()
    for name in ("NormalHedge.DT", "NormalHedge ", "adaptive", "ε = 0.02", "ε = 0.1", "ε = 0.5"):
        assert name in shown
    assert "√(T ln(1/ε)) + ln² N (E6)" in shown
    assert "699.4" in shown
