"""Large tables: made ones, quick runs, and what fits cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench import large, made_tables, sets
from bench.accuracy_options import AccuracyOptions
from bench.libraries import LIBRARIES, Library, Made, as_numbers, pickled
from bench.results import ResultsFile
from bench.set_table import LARGE, TABLE


def tree(name, depth):
    make = Made("sklearn.tree", "DecisionTreeClassifier", {"max_depth": depth, "random_state": 0})
    return Library(name, make, "scikit-learn", form=as_numbers, size=pickled)


@pytest.mark.parametrize("kind", made_tables.KINDS)
def test_a_made_table_is_the_same_each_time_and_has_all_its_classes(kind):
    make = made_tables.KINDS[kind]
    X, y = make(400)
    again, labels = make(400)
    assert X.equals(again)
    assert y.equals(labels)
    assert len(X) == y.size == 400
    shares = np.bincount(y) / 400
    assert shares.min() > 0.1


def test_there_are_real_and_made_tables_in_both_halves():
    real = [name for name, source in LARGE.items() if source.package != "made"]
    made = [name for name in LARGE if name not in real]
    assert len(real) >= 8
    for names in (real, made):
        assert {sets.half(name) for name in names} == set(sets.HALVES)
    for name in LARGE.keys() & TABLE.keys():
        assert LARGE[name] is TABLE[name]


def test_a_made_table_is_read_with_the_rows_that_its_line_has():
    source = replace(LARGE["many categories"], most=300)
    examples = sets.read("many categories", source)
    assert len(examples.X) == 300
    assert [examples.X[name].dtype.name for name in examples.X].count("category") == 5


def test_a_quick_run_compares_small_parts_with_one_thread_and_two(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LIBRARIES", {"ours": tree("ours", 4), "other": tree("other", 1)})
    monkeypatch.setattr(large, "OURS", "ours")
    monkeypatch.setattr(large, "PEERS", ("other",))
    monkeypatch.setattr(large, "QUICK", ("smooth with products", "wide"))
    monkeypatch.setattr(large, "QUICK_ROWS", 300)
    options = AccuracyOptions(results=tmp_path / "rows.jsonl")
    tables = {table.title: table for table in large.run(quick=True, options=options)}
    assert set(tables["the large sets"].column("rows")) == {300}
    ranks = tables["mean ranks on the large sets to report on"]
    assert sorted(ranks.column("library")) == ["other", "ours"]
    costs = tables["threads and memory on the large sets to report on"]
    assert costs.column("library") == ["ours", "other"]
    assert all(seconds >= 0 for seconds in costs.column("two threads, s"))
    by_set = tables["times and memory by set on the large sets to choose on"]
    assert by_set.column("set") == ["wide", "wide"]
    assert len(ResultsFile(options.results).rows()) == 8


def test_every_fit_of_a_whole_run_has_a_process_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setattr(large, "run_study", lambda study, **options: seen.append(study))
    large.run()
    (study,) = seen
    assert {library.limit for library in study.libraries} == {large.LIMIT}
    assert [library.n_threads for library in study.libraries] == [1, 2] * 6
    assert all(LIBRARIES[name].limit is None for name in large.PEERS)
