import dataclasses
import os
import signal
import subprocess
import sys

import pytest

from driftgames.experiments import Setting, Store, reproduce, select
from driftgames.experiments.experiment import EXPERIMENTS, Experiment
from driftgames.experiments.reproduce import command_for
from driftgames.experiments.results import Column, Table
from driftgames.experiments.store import Part

HEDGE = "n_actions=4, horizon=20, sizes=(2, 3)"


@pytest.fixture
def setting(chosen):
    return Setting(chosen, rounds=5, n_actions=4, horizon=20, sizes=(2, 3))


def counted(done):
    """An experiment of five parts that writes down which of them it runs."""

    def parts(setting):
        def make(k):
            def run():
                done.append(k)
                return {"k": k, "seed": setting.seed}

            return Part("count", {"k": k, "seed": setting.seed}, run)

        return [make(k) for k in range(5)]

    def build(setting, result):
        rows = tuple((result(part)["k"],) for part in parts(setting))
        return (Table("count", "Count", (Column("k"),), rows),), ()

    return Experiment("count", "Count", "Counts.", parts, build)


def test_finished_parts_are_not_run_again(setting, tmp_path):
    done = []
    store = Store(tmp_path)

    report, first = reproduce([counted(done)], setting, store)
    again, second = reproduce([counted(done)], setting, store)

    assert done == [0, 1, 2, 3, 4]
    assert (first.found, second.found) == (0, 5)
    assert report.sections == again.sections
    assert report.sections[0].tables[0].column("k") == [0, 1, 2, 3, 4]


def test_fresh_runs_all_again(setting, tmp_path):
    done = []
    store = Store(tmp_path)
    reproduce([counted(done)], setting, store)

    _, went = reproduce([counted(done)], setting, store, fresh=True)

    assert done == [0, 1, 2, 3, 4] * 2
    assert went.found == 0


def test_another_seed_is_other_work(setting, tmp_path):
    done = []
    store = Store(tmp_path)
    reproduce([counted(done)], setting, store)

    reproduce([counted(done)], dataclasses.replace(setting, seed=1), store)

    assert done == [0, 1, 2, 3, 4] * 2


def test_an_interrupted_run_goes_on_where_it_stopped(setting, tmp_path):
    done = []

    def interrupt(text):
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce([counted(done)], setting, Store(tmp_path), tell=interrupt)
    assert done == [0, 1, 2]

    _, went = reproduce([counted(done)], setting, Store(tmp_path))

    assert done == [0, 1, 2, 3, 4]
    assert went.found == 3


KILLED = """
import os, signal
from driftgames.datasets import load
from driftgames.experiments import Chosen, Setting, Store, reproduce, select

writes = 0
replace = os.replace
def die_in_the_fifth(source, target):
    global writes
    writes += 1
    if writes == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
os.replace = die_in_the_fifth

setting = Setting(Chosen((load("digits49"),)), {hedge})
reproduce(select(["hedge"]), setting, Store({folder!r}))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_run_killed_while_it_writes_goes_on_and_ends_in_the_same_numbers(setting, tmp_path):
    code = KILLED.format(hedge=HEDGE, folder=str(tmp_path / "parts"))
    killed = subprocess.run([sys.executable, "-c", code], check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "parts").glob("[!.]*.json"))) == 4

    report, went = reproduce(select(["hedge"]), setting, Store(tmp_path / "parts"))
    whole, _ = reproduce(select(["hedge"]), setting, Store(tmp_path / "other"))

    assert went.found == 4
    assert report.sections[0].tables == whole.sections[0].tables
    assert report.sections[0].figures[:2] == whole.sections[0].figures[:2]  # the third is time


def test_selection_keeps_the_order_and_refuses_what_it_does_not_know():
    assert [each.name for each in select(full=True)] == list(EXPERIMENTS)
    assert not any(each.extra for each in select())
    assert [each.name for each in select(["noise", "table3"])] == ["table3", "noise"]
    with pytest.raises(ValueError, match=r"an experiment must be one of table2, .*; got 'table9'"):
        select(["table9"])


def test_commands_name_what_differs_from_the_defaults(setting):
    assert (
        command_for(EXPERIMENTS["table3"], dataclasses.replace(setting, seed=3))
        == "driftgames reproduce --only table3 --sets digits49 --rounds 5 --seed 3"
    )
    assert command_for(EXPERIMENTS["hedge"], setting) == "driftgames reproduce --only hedge"


def test_settings_are_checked(chosen):
    with pytest.raises(ValueError, match="rounds must be an integer >= 1; got 0"):
        Setting(chosen, rounds=0)
    with pytest.raises(ValueError, match="seed must be"):
        Setting(chosen, seed=-1)


def test_summary_says_what_is_missing_and_how_to_get_it(setting, tmp_path):
    report, _ = reproduce(select(["table2"]), setting, Store(tmp_path))

    assert report.summary[0].startswith("Run on digits49. Not here: a9a;")
    assert "driftgames datasets fetch a9a" in report.summary[0]
    assert report.missing == ("a9a",)
