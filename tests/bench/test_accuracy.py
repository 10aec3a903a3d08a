"""The comparison of libraries: what is measured, what is kept, how it is ranked and shown."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss as expected_log_loss
from sklearn.tree import DecisionTreeClassifier

from bench import accuracy, libraries, measuring, sets
from bench.accuracy import Study
from bench.accuracy_options import AccuracyOptions
from bench.accuracy_page import markdown, write_page
from bench.accuracy_tables import Facts, Report
from bench.libraries import LIBRARIES, Library, Made
from bench.measuring import CLASSES
from bench.rank_plot import draw_ranks
from bench.ranks import Comparison, compare, critical_distance, groups
from bench.results import ResultsFile
from bench.set_table import TABLE, Source
from driftgames.tables import Column, Table


def library(name, make, **options):
    forms = {"form": libraries.as_numbers, "size": libraries.pickled}
    return Library(name, make, "scikit-learn", **forms, **options)


GOOD = library("tree", lambda: DecisionTreeClassifier(max_depth=3, random_state=0))
BAD = library("dummy", lambda: DummyClassifier(strategy="prior"))


def compare_libraries(chosen, names, **options):
    study = Study("accuracy", {name: TABLE[name] for name in names}, chosen)
    return accuracy.compare(study, **options)


@pytest.fixture
def made(monkeypatch):
    """Two sets that are in no package: 'made b' (to report on) and 'made a' (to choose on)."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("made b", 120), ("made a", 80)):
        y = pd.Series(np.arange(n_rows) % 2)
        frame = pd.DataFrame({"x": y + rng.normal(size=n_rows), "z": rng.normal(size=n_rows)})
        monkeypatch.setitem(TABLE, name, Source(name, "frame"))
        monkeypatch.setitem(sets._READERS, name, lambda source, f=frame, y=y: (f.copy(), y.copy()))
    assert (sets.half("made b"), sets.half("made a")) == ("report", "choose")
    return ["made b", "made a"]


def a_row(name, split, of, **figures):
    return {"set": name, "split": split, "library": of, "version": "1", **figures}


def test_a_file_that_is_not_there_has_no_rows_and_an_append_makes_it(tmp_path):
    file = ResultsFile(tmp_path / "deep" / "rows.jsonl")
    assert file.rows() == {}
    assert file.drop(lambda row: True) == 0
    file.append(a_row("s", 0, "A", error=1.5))
    assert file.rows() == {("s", 0, "A"): a_row("s", 0, "A", error=1.5)}


def test_a_torn_last_line_is_ignored_and_does_not_spoil_the_next(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    file.append(a_row("s", 0, "A", error=1.0))
    with open(file.path, "a") as stream:
        stream.write('{"set": "s", "split": 0, "libr')
    assert list(file.rows()) == [("s", 0, "A")]
    file.append(a_row("s", 1, "A", error=2.0))
    assert list(file.rows()) == [("s", 0, "A"), ("s", 1, "A")]


def test_the_last_row_of_a_key_counts_and_dropped_rows_are_gone(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    for error in (1.0, 2.0):
        file.append(a_row("s", 0, "A", error=error))
    file.append(a_row("s", 0, "B", error=3.0))
    assert file.rows()["s", 0, "A"]["error"] == 2.0
    assert file.drop(lambda row: row["library"] == "A") == 1
    assert list(file.rows()) == [("s", 0, "B")]
    with pytest.raises(ValueError, match="JSON"):
        file.append(a_row("s", 0, "C", error=math.nan))
    assert list(file.rows()) == [("s", 0, "B")]


def test_a_row_holds_the_figures_that_its_model_has(made):
    examples = sets.load("made b")
    row = measuring.measure(GOOD, examples, 1, CLASSES)
    X, y, X_test, y_test = examples.split(1)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X.to_numpy(), y)
    assert row["error"] == 100 * np.mean(model.predict(X_test.to_numpy()) != y_test)
    shares = np.clip(model.predict_proba(X_test.to_numpy()), 1e-15, 1)
    assert row["log_loss"] == pytest.approx(expected_log_loss(y_test, shares))
    assert 0.5 < row["auc"] <= 1.0
    assert row["size"] > 100
    assert min(row["fit"], row["fit_wall"], row["predict"], row["predict_wall"]) >= 0
    assert (row["set"], row["split"], row["library"]) == ("made b", 1, "tree")
    json.dumps(row, allow_nan=False)


def test_log_loss_is_finite_where_a_model_was_sure_and_wrong():
    sure = measuring.log_loss(np.array([0]), np.array([[0.0, 1.0]]))
    assert sure == pytest.approx(-math.log(1e-15))
    halved = measuring.log_loss(np.array([1]), np.array([[0.1, 0.3]]))  # its sum is not 1
    assert halved == pytest.approx(-math.log(0.75))


def test_a_library_that_raises_is_a_row_that_says_so(made):
    class Broken(DummyClassifier):
        def fit(self, X, y):
            raise TypeError("no such\nthing")

    row = measuring.measure(library("broken", Broken), sets.load("made b"), 0, CLASSES)
    assert row["failed"] == "TypeError: no such"
    assert "error" not in row


def test_every_library_gets_categories_and_missing_values_in_a_form_that_it_takes():
    X = pd.DataFrame({"n": [1.0, None, 3.0, 8.0], "c": pd.Categorical(["b", None, "a", "a"])})
    numbers, test = libraries.as_numbers(X, X.iloc[:1])
    np.testing.assert_array_equal(numbers, [[1, 1], [3, -1], [3, 0], [8, 0]])
    np.testing.assert_array_equal(test, [[1, 1]])
    texts, _ = libraries.as_text(X, X)
    assert texts["c"].tolist() == ["b", "missing", "a", "a"]
    many = pd.DataFrame({"c": pd.Categorical(range(300)), "d": pd.Categorical([0] * 300)})
    few, _ = libraries.few_levels(many, many)
    assert few["c"].tolist() == list(range(300))
    assert few["d"].dtype == "category"
    assert X["c"].dtype == "category"  # the frame itself is not changed


def test_a_killed_run_goes_on_and_measures_nothing_twice(made, tmp_path, monkeypatch):
    measured = []

    def measure(library, examples, split, kind):
        if len(measured) == 3:
            raise KeyboardInterrupt
        measured.append((examples.name, split, library.name))
        return a_row(*measured[-1], error=1.0, log_loss=1.0, auc=0.5, fit=0, predict=0, size=1)

    monkeypatch.setattr(accuracy, "measure", measure)
    file = ResultsFile(tmp_path / "rows.jsonl")
    with pytest.raises(KeyboardInterrupt):
        compare_libraries([GOOD, BAD], made, file=file)
    assert list(file.rows()) == measured
    assert [key[0] for key in measured] == ["made a"] * 3  # the small set first
    before = list(measured)

    def other(library, examples, split, kind):
        return a_row(examples.name, split, library.name, error=2.0)

    monkeypatch.setattr(accuracy, "measure", other)
    compare_libraries([GOOD, BAD], made, file=file)
    rows = file.rows()
    assert len(rows) == 8
    assert [key for key, row in rows.items() if row["error"] == 1.0] == before


def test_small_sets_come_first_and_limited_libraries_last_on_fewer_splits(made):
    facts = {name: Facts.of(sets.load(name)) for name in made}
    slow = Library("slow", GOOD.make, most_splits=1, limit=1.0)
    tasks = accuracy.plan(facts, [slow, GOOD], (0, 1), {("made a", 0, "tree")})
    assert [task.key for task in tasks] == [
        ("made a", 1, "tree"),
        ("made b", 0, "tree"),
        ("made b", 1, "tree"),
        ("made a", 0, "slow"),
        ("made b", 0, "slow"),
    ]


def test_rows_of_a_library_are_measured_anew_on_demand(made, tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy, "LIBRARIES", {"tree": GOOD, "dummy": BAD})
    options = AccuracyOptions(results=tmp_path / "rows.jsonl", sets="made b,made a")
    accuracy.run(options=options)
    file = ResultsFile(options.results)
    before = file.rows()
    for key in before:
        file.append(before[key] | {"error": 99.0})
    accuracy.run(options=options._replace(again="dummy"))
    after = file.rows()
    assert {key: after[key]["error"] for key in after} == {
        key: 99.0 if key[2] == "tree" else before[key]["error"] for key in before
    }


def test_only_report_measures_nothing_and_a_half_is_only_its_sets(made, tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy, "LIBRARIES", {"tree": GOOD, "dummy": BAD})
    options = AccuracyOptions(results=tmp_path / "rows.jsonl", sets="made b,made a")
    tables = accuracy.run(options=options._replace(only_report=True))
    assert not options.results.exists()
    assert tables[1].notes[-1] == "not measured by all: made a"
    tables = accuracy.run(options=options._replace(half="choose", splits="1"))
    assert tables[0].column("set") == ["made a"]
    assert list(ResultsFile(options.results).rows()) == [
        ("made a", 1, "tree"),
        ("made a", 1, "dummy"),
    ]


def test_settings_of_ours_are_ranked_beside_libraries(made, tmp_path, monkeypatch):
    script = tmp_path / "settings.py"
    script.write_text(
        "from driftgames.boosting import NHBoostDTClassifier\n"
        "SETTINGS = {'ours, 3 rounds': lambda: NHBoostDTClassifier(3, n_jobs=1)}\n"
    )
    monkeypatch.setattr(accuracy, "LIBRARIES", {"dummy": BAD})
    options = AccuracyOptions(tmp_path / "rows.jsonl", sets="made b", settings=script)
    tables = {table.title: table for table in accuracy.run(options=options)}
    ranks = tables["mean ranks on the sets to report on"]
    assert ranks.column("library") == ["ours, 3 rounds", "dummy"]
    assert ranks.column("error") == [1.0, 2.0]
    assert tables["wins and costs on the sets to report on"].column("error") == [None, "1-0-0"]
    only = options._replace(libraries="ours, 3 rounds")  # a name with a comma
    assert accuracy.run(options=only)[1].column("library") == ["ours, 3 rounds"]


def test_rows_of_another_version_are_pointed_out(made, tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    tables = compare_libraries([GOOD], made, file=file)
    assert tables[0].notes == ()
    row = file.rows()["made b", 0, "tree"]
    file.append(row | {"version": "0.0"})
    tables = compare_libraries([GOOD], made, file=file)
    assert tables[0].notes[0].startswith(f"tree: rows of 0.0, now {GOOD.version}; --again 'tree'")


def test_a_library_that_is_not_installed_is_named(made, tmp_path):
    absent = Library("absent", GOOD.make, package="no-such-package")
    file = ResultsFile(tmp_path / "rows.jsonl")
    tables = compare_libraries([GOOD, absent], made, file=file)
    assert tables[0].notes == ("absent left out: no-such-package is not installed",)
    assert tables[1].column("library") == ["tree"]


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="half must be of choose, report; got 'both'"):
        accuracy.run(options=AccuracyOptions(half="both"))
    with pytest.raises(ValueError, match=r"libraries must be of .*; got 'LightBGM'"):
        accuracy.run(options=AccuracyOptions(libraries="CatBoost,LightBGM"))


def rows_of(errors):
    """Make the rows of a table of errors: sets by name, libraries by letter, splits in a list."""
    return {
        (name, split, letter): a_row(name, split, letter, error=error)
        for name, cells in errors.items()
        for letter, splits in cells.items()
        for split, error in enumerate(splits)
    }


def test_ranks_are_over_the_mean_of_the_splits_and_ties_share_theirs():
    rows = rows_of(
        {"s": {"A": [1, 5], "B": [2, 2], "C": [3, 3]}, "t": {"A": [4, 4], "B": [4, 4], "C": [1, 1]}}
    )
    found = compare(rows, "error", ["s", "t"], ["A", "B", "C"], [0, 1])
    np.testing.assert_array_equal(found.values, [[3, 2, 3], [4, 4, 1]])
    np.testing.assert_array_equal(found.ranks, [(2.5 + 2.5) / 2, (1 + 2.5) / 2, (2.5 + 1) / 2])
    np.testing.assert_array_equal(found.behind, [[1, 0, 1], [3, 3, 0]])
    assert found.wins("A", "C") == (0, 1, 1)
    assert found.wins("B", "A") == (1, 1, 0)


def test_a_large_auc_is_a_good_one():
    rows = {("s", 0, name): a_row("s", 0, name, auc=auc) for name, auc in (("A", 0.9), ("B", 0.8))}
    found = compare(rows, "auc", ["s"], ["A", "B"], [0])
    assert found.ranks.tolist() == [1, 2]
    assert found.values.tolist() == [[0.9, 0.8]]
    assert found.behind.tolist() == [[0, pytest.approx(0.1)]]


def test_a_failure_is_last_and_what_is_not_measured_leaves_the_set_out():
    rows = rows_of({"s": {"A": [9], "B": [1]}, "t": {"A": [1], "B": [1]}, "u": {"A": [1]}})
    rows["s", 0, "A"] = a_row("s", 0, "A", failed="it did")
    rows["t", 0, "B"] = a_row("t", 0, "B", skipped="more than 300 s")
    found = compare(rows, "error", ["s", "t", "u"], ["A", "B"], [0])
    assert found.sets == ("s",)
    assert found.left_out == ("t", "u")
    assert found.ranks.tolist() == [2, 1]
    report = Report(rows, {}, [GOOD, BAD], [0])
    assert "A failed on s, split 0: it did" in report._notes(found)


def test_critical_distances_are_those_of_the_published_table():
    """Demšar (2006), Tab. 5: q of 0.05 is 1.960 for 2 classifiers, 2.343 for 3 and 3.164 for 10."""
    for k, q in ((2, 1.960), (3, 2.343), (6, 2.850), (10, 3.164)):
        assert critical_distance(k, 30) == pytest.approx(q * math.sqrt(k * (k + 1) / 180), rel=5e-4)


def test_groups_are_the_largest_runs_within_the_distance():
    assert groups([1.0, 2.0, 3.0, 9.0], 2.0) == [(0, 2)]
    assert groups([1.0, 2.0, 3.0, 3.5], 1.5) == [(0, 1), (1, 3)]
    assert groups([1.0, 5.0], 1.0) == []


def test_the_picture_names_every_library_with_its_rank():
    values = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])
    figure = draw_ranks(Comparison(("A", "B", "driftgames"), ("s", "t"), values), "Ranks")
    (ax,) = figure.axes
    texts = [text.get_text() for text in ax.texts]
    assert {"A 1.00", "B 2.50", "driftgames 2.50"} <= set(texts)
    assert f"critical distance {critical_distance(3, 2):.2f}" in texts
    colours = {text.get_text(): text.get_color() for text in ax.texts}
    assert colours["driftgames 2.50"] != colours["A 1.00"]


def test_the_page_gets_the_tables_that_bear_its_titles(tmp_path):
    columns = (Column("set"), Column("A", ",.2f"), Column("B", ",.2f"))
    table = Table("error, % on x", columns, (("s", 1.0, 2.0), ("t", math.inf, 3.0)), ("one note",))
    text = "| set | A | B |\n|---|--:|--:|\n| s | **1.00** | 2.00 |\n| t | - | **3.00** |\n"
    assert markdown(table) == f"{text}\nOne note.\n"
    page = tmp_path / "page.md"
    place = "<!-- table: {} -->\nold\n<!-- end -->\n"
    page.write_text(f"Before.\n{place.format('error, % on x')}Between.\n{place.format('other')}")
    write_page(page, [table])
    written = f"<!-- table: error, % on x -->\n\n{markdown(table)}\n<!-- end -->\n"
    assert page.read_text() == f"Before.\n{written}Between.\n{place.format('other')}"
    write_page(page, [table])
    assert page.read_text().count("One note.") == 1


def test_ranks_are_sorted_and_the_best_are_marked(made, tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy, "LIBRARIES", {"dummy": BAD, "tree": GOOD})
    options = AccuracyOptions(tmp_path / "rows.jsonl", sets="made b")
    tables = {table.title: table for table in accuracy.run(options=options)}
    ranks, costs = (
        tables[f"{kind} on the sets to report on"] for kind in ("mean ranks", "wins and costs")
    )
    assert ranks.column("library") == costs.column("library") == ["tree", "dummy"]
    assert "| tree | **1.00** | 2.00 | **1.00** | **0.00** |" in markdown(ranks)
    assert "| dummy | 2.00 | **1.00** | 2.00 |" in markdown(ranks)
    assert re.search(r"\| \*\*[\d.]+", markdown(costs))
    assert "**-**" not in markdown(costs)


def test_the_page_shows_the_pictures_that_exist(tmp_path):
    page = tmp_path / "page.md"
    places = [f"<!-- picture: {name}.svg, Ranks by {name} -->\n<!-- end -->\n" for name in "ab"]
    page.write_text("".join(places))
    (tmp_path / "b.svg").touch()
    write_page(page, [])
    shown = "<!-- picture: b.svg, Ranks by b -->\n\n![Ranks by b](b.svg)\n\n<!-- end -->\n"
    assert page.read_text() == places[0] + shown


def test_a_set_on_which_no_other_library_learns_is_named(made):
    facts = {name: Facts.of(sets.load(name)) for name in made}
    assert facts["made a"].baselines["error"] == 50.0
    assert facts["made a"].baselines["log_loss"] == pytest.approx(math.log(2))
    ours = Library("ours", GOOD.make)
    cases = {"by error": (44.0, 0.69), "by log-loss": (50.0, 0.65), "": (46.0, 0.67)}
    for learnt, (error, loss) in cases.items():
        rows = {
            (name, 0, each): a_row(name, 0, each, error=e, log_loss=v)
            for name in made
            for each, e, v in (("ours", 0.0, 0.0), ("tree", error, loss), ("dummy", 50.0, 1.0))
        }
        found = Report(rows, facts, [ours, GOOD, BAD], [0]).unlearnt()
        assert found == ([] if learnt else made)


def test_all_libraries_have_one_thread_and_only_ebm_has_fewer_splits():
    assert next(iter(LIBRARIES)) == libraries.OURS
    limited = [each.name for each in LIBRARIES.values() if each.limit or each.most_splits]
    assert limited == ["EBM"]
    assert libraries.ours().get_params()["n_jobs"] == 1


def test_a_library_with_a_limit_is_measured_in_a_process_of_its_own():
    make = Made("sklearn.tree", "DecisionTreeClassifier", {"max_depth": 3, "random_state": 0})
    limited = library("limited", make, limit=60.0)
    examples = sets.load("iris")
    row = measuring.measure(limited, examples, 0, CLASSES)
    alike = measuring.measure(library("tree", make), examples, 0, CLASSES)
    assert {key: row[key] for key in ("error", "log_loss", "auc")} == {
        key: alike[key] for key in ("error", "log_loss", "auc")
    }
    assert row["memory"] >= 0


def test_threads_are_set_by_the_name_that_the_library_has_for_them():
    cat = libraries.with_threads(LIBRARIES["CatBoost"], 2)
    assert (cat.name, cat.n_threads, cat.is_ranked) == ("CatBoost, 2 threads", 2, False)
    assert cat.make.settings["thread_count"] == 2
    hist = libraries.with_threads(LIBRARIES["HistGradientBoosting"], 2)
    assert hist.make == LIBRARIES["HistGradientBoosting"].make  # OpenMP is told, not the model
    assert LIBRARIES["CatBoost"].make.settings["thread_count"] == 1


def test_a_class_of_ours_that_does_not_exist_is_left_out_with_the_reason():
    coming = Library("coming", Made("driftgames.boosting", "NoSuchBooster"))
    assert coming.why_absent == "driftgames.boosting has no NoSuchBooster"
    assert LIBRARIES[libraries.OURS].why_absent is None


def test_what_is_measured_but_not_ranked_is_in_no_table(made, tmp_path):
    more = replace(BAD, name="more", is_ranked=False)
    file = ResultsFile(tmp_path / "rows.jsonl")
    tables = compare_libraries([GOOD, more], made, file=file)
    assert tables[1].column("library") == ["tree"]
    assert ("made a", 0, "more") in file.rows()


def test_a_page_that_does_not_exist_is_made_with_all_tables(tmp_path):
    table = Table("ranks", (Column("library"),), (("A",),))
    write_page(tmp_path / "new.md", [table])
    assert markdown(table) in (tmp_path / "new.md").read_text()


def test_slow_libraries_have_tables_of_their_own_the_largest_limit_first():
    slow, slowest = (
        replace(BAD, name=name, most_splits=1, limit=limit)
        for name, limit in (("slow", 9.0), ("slowest", 3.0))
    )
    found = Report({}, {}, [GOOD, slowest, slow], [0])._with_slow()
    assert found == [["tree", "slow"], ["tree", "slowest", "slow"]]
    assert Report({}, {}, [GOOD, BAD], [0])._with_slow() == []


def test_tables_say_which_slow_library_takes_part(made, tmp_path):
    slow = [replace(BAD, name=f"slow {limit}", most_splits=1, limit=limit) for limit in (9, 3)]
    study = Study("accuracy", {"made b": TABLE["made b"]}, [GOOD, *slow])
    file = ResultsFile(tmp_path / "rows.jsonl")
    tables = accuracy.compare(study, file, only_report=True)
    ranks = [table.title for table in tables if table.title.startswith("mean ranks")]
    assert ranks == [
        "mean ranks on the sets to report on",
        "mean ranks on the sets to report on, one split, with slow 9",
        "mean ranks on the sets to report on, one split, all libraries",
    ]
