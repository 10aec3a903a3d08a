"""Sets as CSV files."""

import csv

import numpy as np
import pytest

from driftgames.datasets import export, load


def read(path):
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


def test_examples_keep_their_values_names_and_classes(tmp_path):
    data = load("digits49")
    for path, split in zip(export("digits49", tmp_path), (data.train, data.test), strict=True):
        header, *rows = read(path)
        assert header == [*data.feature_names, "class"]
        np.testing.assert_array_equal(
            [row[:-1] for row in rows], split.X.toarray().astype(int).astype(str)
        )
        assert [data.classes.index(row[-1]) for row in rows] == (split.y > 0).astype(int).tolist()


def test_breast_cancer_has_its_measurements_and_the_rows_of_the_set(tmp_path):
    data = load("breast_cancer")
    for path, split in zip(export("breast_cancer", tmp_path), (data.train, data.test), strict=True):
        header, *rows = read(path)
        assert len(header) == 31
        assert header[0] == "mean radius"
        assert [data.classes.index(row[-1]) for row in rows] == (split.y > 0).astype(int).tolist()


def test_visits_reward_their_features_and_their_rule(tmp_path):
    visits, advice, pulls = (read(path) for path in export("visits", tmp_path))
    losses = np.array([row[2:] for row in visits[1:]], dtype=int)
    assert losses.tolist() == [[int(cell) for cell in row[:3]] for row in advice[1:]]
    pages = advice[0][:3]
    for who, most in (("rule", 0.72), ("model", 0.74)):
        chosen = [pages.index(row[advice[0].index(who)]) for row in advice[1:]]
        assert losses[np.arange(len(losses)), chosen].mean() < most < losses.mean(axis=0).min()
    assert pulls[0] == ["arm", "propensity", "loss"]


def test_the_three_files_of_stocks_agree(tmp_path):
    prices, relatives, forecasts = (read(path) for path in export("stocks", tmp_path))
    assert prices[0] == relatives[0]
    assert [row[0] for row in prices[2:]] == [row[0] for row in relatives[1:]]
    table = np.array([row[1:] for row in prices[1:]], dtype=float)
    moves = np.array([row[1:] for row in relatives[1:]], dtype=float)
    np.testing.assert_allclose(table[1:] / table[:-1], moves, rtol=1e-4)
    index = dict(
        zip((row[0] for row in prices[1:]), table[:, prices[0].index("^GSPC") - 1], strict=True)
    )
    dates = list(index)
    for row in forecasts[1:]:  # a forecast knows the months before alone
        before = [index[date] for date in dates[: dates.index(row[0])]]
        made = [before[-1], np.mean(before[-3:]), 2 * before[-1] - before[-2], index[row[0]]]
        np.testing.assert_allclose(np.array(row[1:], dtype=float), made, rtol=1e-4)


def test_an_unknown_set_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"set must be one of a9a, .*visits; got 'iris'"):
        export("iris", tmp_path)
    assert not list(tmp_path.iterdir())
