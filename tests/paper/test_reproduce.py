import dataclasses
import signal

import pytest

from driftgames.paper.environment import environment
from driftgames.paper.experiment import EXPERIMENTS, Experiment, Setting
from driftgames.paper.reproduce import command_for, reproduce, select
from driftgames.paper.sets import Chosen
from driftgames.paper.store import Store, Task
from driftgames.tables import Column, Table

pytestmark = pytest.mark.usefixtures("one_turn")

HEDGE = "n_actions=4, horizon=20, sizes=(2, 3)"


@pytest.fixture
def setting(chosen):
    return Setting(chosen, rounds=5, n_actions=4, horizon=20, sizes=(2, 3))


def counted(done, stop=None):
    """An experiment of five tasks that writes down which of them it runs, and may be stopped."""

    def tasks(setting):
        def make(k):
            def run():
                if k == stop:
                    raise KeyboardInterrupt
                done.append(k)
                return {"k": k, "seed": setting.seed}

            return Task("count", {"k": k, "seed": setting.seed}, run)

        return {(k,): make(k) for k in range(5)}

    def build(setting, results):
        rows = tuple((each["k"],) for each in results.values())
        return (Table("Count", (Column("k"),), rows, name="count"),), ()

    return Experiment("count", "Count", "Counts.", tasks, build)


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

    with pytest.raises(KeyboardInterrupt):
        reproduce([counted(done, stop=3)], setting, Store(tmp_path))
    assert done == [0, 1, 2]

    _, went = reproduce([counted(done)], setting, Store(tmp_path))

    assert done == [0, 1, 2, 3, 4]
    assert went.found == 3


IMPORTS = """
import os, signal
from driftgames.datasets import load
from driftgames.paper import store
from driftgames.paper.experiment import Setting
from driftgames.paper.reproduce import reproduce, select
from driftgames.paper.sets import Chosen
from driftgames.paper.store import Store
"""

KILLED = """
store.environment = lambda: {facts}  # whoever saves a source file meanwhile disturbs nothing
writes = 0
replace = os.replace
def die_in_the_fifth(source, target):
    global writes
    writes += str(target).endswith(".json")  # compiled kernels are put in their place too
    if writes == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
os.replace = die_in_the_fifth

setting = Setting(Chosen((load("digits49"),)), {hedge})
reproduce(select(["hedge"]), setting, Store({folder!r}))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_run_killed_while_it_writes_goes_on_and_ends_in_the_same_numbers(
    setting, tmp_path, fork_server
):
    code = KILLED.format(hedge=HEDGE, facts=environment(), folder=str(tmp_path / "tasks"))
    killed = fork_server.start(IMPORTS + code, before=IMPORTS)
    assert killed.wait() == -signal.SIGKILL
    assert len(list((tmp_path / "tasks").glob("[!.]*.json"))) == 4

    report, went = reproduce(select(["hedge"]), setting, Store(tmp_path / "tasks"))
    whole, _ = reproduce(select(["hedge"]), setting, Store(tmp_path / "other"))

    assert went.found == 4
    assert report.sections[0].tables == whole.sections[0].tables
    assert report.sections[0].figures[:2] == whole.sections[0].figures[:2]  # the third is time


def test_selection_keeps_the_order_and_refuses_what_it_does_not_know():
    assert [each.name for each in select(full=True)] == list(EXPERIMENTS)
    assert not any(each.extra for each in select())
    assert [each.name for each in select(["noise", "table3"])] == ["table3", "noise"]
    with pytest.raises(ValueError, match=r"experiment must be one of table2, .*; got 'table9'"):
        select(["table9"])
    with pytest.raises(ValueError, match=r"only must name at least one of table2, .*; got \[\]"):
        select([])


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


def named(digits, *names):
    return Chosen(tuple(dataclasses.replace(digits, name=name) for name in names))


def test_a_section_says_on_which_sets_it_ran_and_which_it_left_out(digits, tmp_path):
    setting = Setting(named(digits, "splice", "a9a"), rounds=3)

    report, _ = reproduce(select(["figure1"]), setting, Store(tmp_path))

    (section,) = report.sections
    assert section.sets == report.sets == ("splice",)
    assert section.omission == (
        "Left out: a9a (as in the paper, the figures show census, splice and w8a)."
    )
    claims = section.figures[0].notes[1:]
    assert len(claims) == 1
    assert report.summary == ("Run on splice.", section.omission, *claims)


def test_the_summary_leaves_it_to_the_section_where_another_uses_the_set(digits, tmp_path):
    setting = Setting(named(digits, "splice", "a9a"), rounds=3)

    report, _ = reproduce(select(["table2", "figure1"]), setting, Store(tmp_path))

    assert report.summary == (
        "Run on splice and a9a.",
        *report.sections[1].figures[0].notes[1:],
    )
    assert report.sections[1].left_out == ("a9a",)


def test_an_experiment_that_can_use_no_set_says_so(digits, tmp_path):
    setting = Setting(named(digits, "w8a"), rounds=3)

    report, _ = reproduce(select(["noise"]), setting, Store(tmp_path))

    assert report.sections[0].tables == ()
    assert report.summary[0] == "No set was used."
    assert report.summary[1].startswith("Left out: w8a (its test rows are training rows")


def test_what_needs_no_set_names_none(setting, tmp_path):
    report, _ = reproduce(select(["hedge"]), setting, Store(tmp_path))

    assert report.sets == ()
    assert report.summary[0] == "No set was used."
    assert report.sections[0].omission == ""


def test_a_run_of_some_experiments_keeps_the_other_sections(setting, tmp_path):
    first, _ = reproduce(select(["table2", "hedge"]), setting, Store(tmp_path))
    assert first.kept == ()

    second, went = reproduce(select(["table3"]), setting, Store(tmp_path))

    assert [section.name for section in second.sections] == ["table2", "table3", "hedge"]
    assert second.kept == ("table2", "hedge")
    assert (second.sections[0], second.sections[2]) == first.sections
    assert went.tasks == 4
    assert second.summary[1].startswith("From earlier runs, ")
    assert second.summary[1].endswith(": table2 and hedge.")


def test_a_section_that_is_made_again_takes_the_place_of_the_older(setting, digits, tmp_path):
    reproduce(select(["table2", "table3"]), setting, Store(tmp_path))
    other = Setting(named(digits, "mine"), rounds=2)

    report, _ = reproduce(select(["table3"]), other, Store(tmp_path))

    assert report.kept == ("table2",)
    assert report.sections[1].sets == ("mine",)
    assert report.sets == ("digits49", "mine")


def test_sections_of_another_seed_or_other_code_are_not_kept(setting, tmp_path, monkeypatch):
    reproduce(select(["table2"]), setting, Store(tmp_path))

    report, _ = reproduce(select(["hedge"]), dataclasses.replace(setting, seed=1), Store(tmp_path))
    assert report.kept == ()

    changed = {**environment(), "source": "another"}
    monkeypatch.setattr("driftgames.paper.store.environment", lambda: changed)
    report, _ = reproduce(select(["hedge"]), setting, Store(tmp_path))
    assert report.kept == ()


def test_summary_says_what_is_missing_and_how_to_get_it(setting, tmp_path):
    report, _ = reproduce(select(["table2"]), setting, Store(tmp_path))

    assert report.summary[0].startswith("Run on digits49. Not here: a9a;")
    assert "driftgames datasets fetch a9a" in report.summary[0]
    assert report.missing == ("a9a",)
