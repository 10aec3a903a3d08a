import dataclasses

import numpy as np
import pytest

from driftgames.paper.boosting import (
    ALGORITHMS,
    AS_PROVED,
    AS_PUBLISHED,
    THETAS,
    Fit,
    boosters,
    fit,
    flip,
)
from driftgames.paper.store import Task


def without_time(measured):
    return dataclasses.replace(measured, seconds=0.0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_fit_measures_what_the_model_does(digits, algorithm):
    measured = fit(digits, algorithm, 10)

    model = boosters()[algorithm](10).fit(*digits.train)
    X, y = digits.test
    assert measured.test_error == np.mean(model.predict(X) != y)
    assert measured.rounds == len(measured.zero_fractions) == 10
    assert measured.zeros == pytest.approx(np.mean(measured.zero_fractions))
    assert measured.seconds > 0
    at = int(np.searchsorted(THETAS, 0.3))
    margins = model.margins(*digits.train)
    decided = measured.margins if measured.weighted_margins is None else measured.weighted_margins
    assert decided[at] == np.mean(margins <= THETAS[at] + 1e-9)
    assert measured.margins[-1] == 1.0
    assert (measured.weighted_margins is not None) == (algorithm == "AdaBoost")
    if algorithm == "AdaBoost":
        assert measured.zeros == 0.0


def test_margins_give_every_hypothesis_one_vote(digits):
    X, y = digits.train
    model = boosters()["AdaBoost"](10).fit(X, y)
    votes = np.zeros(y.size)
    before = np.zeros(y.size)
    totals = np.cumsum(model.estimator_weights_)
    for stage, total in zip(model.staged_decision_function(X), totals, strict=True):
        votes += np.sign(stage * total - before)
        before = stage * total

    measured = fit(digits, "AdaBoost", 10)

    margins = y * votes / 10
    assert measured.margins == [float(np.mean(margins <= theta + 1e-9)) for theta in THETAS]
    assert measured.margins != measured.weighted_margins


def test_the_same_fit_gives_the_same_numbers(digits):
    first, second = (fit(digits, AS_PROVED, 10, noise=0.1, seed=3) for _ in range(2))

    assert without_time(first) == without_time(second)
    other = fit(digits, AS_PROVED, 10, noise=0.1, seed=4)
    assert other.margins != first.margins


def test_noise_flips_that_share_of_labels_and_none_twice():
    y = np.ones(200, dtype=np.int64)

    assert (flip(y, 0.05, seed=1) == -1).sum() == 10
    assert (flip(y, 1.0, seed=1) == -1).all()
    np.testing.assert_array_equal(flip(y, 0.0, seed=1), y)
    np.testing.assert_array_equal(y, 1)


def test_parts_differ_with_data_algorithm_rounds_noise_and_seed(digits):
    swapped = digits.with_labels_swapped()
    tasks = [
        Task.of(fit, digits, AS_PROVED, 10),
        Task.of(fit, digits, AS_PUBLISHED, 10),
        Task.of(fit, digits, AS_PROVED, 11),
        Task.of(fit, digits, AS_PROVED, 10, noise=0.1),
        Task.of(fit, digits, AS_PROVED, 10, seed=1),
        Task.of(fit, swapped, AS_PROVED, 10),
    ]

    assert len({task.key for task in tasks}) == len(tasks)
    assert Fit(**tasks[0].run()).algorithm == AS_PROVED


def test_bad_parameters_are_refused(digits):
    with pytest.raises(ValueError, match="rounds must be"):
        fit(digits, AS_PROVED, 0)
    with pytest.raises(ValueError, match="noise must lie in"):
        fit(digits, AS_PROVED, 10, noise=1.5)
