"""Promises about new examples where the distribution is known."""

from __future__ import annotations

import numpy as np
import pytest

from bench import new_examples
from bench.harness import silent
from bench.new_examples import DISCRETE, Way

SIZE = {"n_estimators": 3, "max_leaves": 2, "ensemble": True}


def test_the_points_of_binary_columns_are_all_rows_once():
    points = Way("coin", "", {}, 10, 4).points
    assert points.shape == (16, 4)
    assert len(np.unique(points, axis=0)) == 16


def test_the_weak_logit_has_chances_of_both_sides_and_mean_one_half():
    chance = new_examples.weak_logit(Way("weak logit", "", {}, 10, 9).points)
    assert chance.mean() == pytest.approx(0.5)
    assert 0.1 < chance.min() < 0.4 < 0.6 < chance.max() < 0.9


def test_discrete_tables_have_coins_and_a_logit_on_seven_to_ten_columns():
    assert {way.labels for way in DISCRETE} == {"coin", "weak logit"}
    assert {way.n_binary for way in DISCRETE} == {7, 9, 10}
    assert {way.n_examples for way in DISCRETE} == {2_000, 8_000}


def test_misses_are_counted_on_tables_of_equal_rows(monkeypatch):
    ways = (
        Way("coin", "small", SIZE, 300, 3),
        Way("weak logit", "small", SIZE, 300, 3),
    )
    monkeypatch.setattr(new_examples, "DISCRETE", ways)
    table = new_examples.discrete_table(2, silent)
    assert table.column("labels") == ["coin", "weak logit"]
    assert table.column("true error")[0] == 0.5
    for share, checked in zip(table.column("misses"), table.column("checked"), strict=True):
        assert 0 < checked <= 2
        assert 0 <= share <= 1


def test_a_table_without_a_promise_has_empty_cells(monkeypatch):
    monkeypatch.setattr(new_examples, "draw", lambda way, rng: None)
    table = new_examples.discrete_table(2, silent)
    assert table.column("checked") == [0] * len(DISCRETE)
    assert set(table.column("misses")) == {None}
