"""Losses: formulas, declared ranges that hold, and errors that name value and rule."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgames.core.description import describe, restore
from driftgames.hedge.losses.interval_losses import AbsoluteLoss, PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss, ZeroOneLoss
from driftgames.hedge.losses.loss_base import Loss
from driftgames.hedge.losses.make_loss import LOSSES, CustomLoss, make_loss

INTERVALS = [
    SquareLoss(-3, 7),
    AbsoluteLoss(-3, 7),
    PinballLoss(0.9, -3, 7),
    PinballLoss(0.2, -3, 7),
]
ALL = [*INTERVALS, LogLoss(0.01), ZeroOneLoss()]


def values_of(loss: Loss) -> tuple[st.SearchStrategy[float], st.SearchStrategy[float]]:
    """Draw what the loss allows as predictions and as outcomes."""
    if isinstance(loss, ZeroOneLoss):
        return st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 1.0, 2.0])
    predictions = st.floats(*loss.prediction_range)
    return predictions, st.sampled_from([0.0, 1.0]) if isinstance(loss, LogLoss) else predictions


@pytest.mark.parametrize(
    ("loss", "prediction", "outcome", "expected"),
    [
        (SquareLoss(0, 10), 4.0, 6.0, 4.0),
        (AbsoluteLoss(0, 10), 4.0, 6.0, 2.0),
        (PinballLoss(0.9, 0, 10), 4.0, 6.0, 1.8),
        (PinballLoss(0.9, 0, 10), 6.0, 4.0, 0.2),
        (LogLoss(0.01), 0.25, 1.0, math.log(4)),
        (LogLoss(0.01), 0.25, 0.0, -math.log(0.75)),
        (ZeroOneLoss(), 2.0, 2.0, 0.0),
        (ZeroOneLoss(), 2.0, 1.0, 1.0),
    ],
)
def test_losses_are_what_the_formula_says(loss, prediction, outcome, expected):
    assert float(loss(prediction, outcome)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@settings(max_examples=40)
@given(data=st.data())
def test_every_loss_lies_in_the_range_it_declares(loss, data):
    predictions, outcomes = values_of(loss)
    found = loss(data.draw(st.lists(predictions, min_size=1)), data.draw(outcomes))
    low, high = loss.loss_range
    assert np.all(found >= low)
    assert np.all(found <= high)


def test_no_rounding_of_a_logarithm_leaves_the_range():
    # NumPy's logarithm and the C library's may differ in the last bit, by the machine
    for least in np.random.default_rng(0).uniform(1e-6, 0.5, 1000):
        loss = LogLoss(least)
        assert loss(loss.prediction_range, 1.0).max() <= loss.loss_range[1]
        assert loss(loss.prediction_range, 0.0).max() <= loss.loss_range[1]
        worst = -math.log(min(least, 1.0 - loss.prediction_range[1]))
        assert math.nextafter(worst, math.inf) <= loss.loss_range[1] <= worst * (1 + 1e-14)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_the_declared_range_is_reached(loss):
    low, high = loss.prediction_range if loss.prediction_range[1] < math.inf else (0.0, 1.0)
    outcomes = [0.0, 1.0] if isinstance(loss, LogLoss) else [low, high]
    worst = max(float(loss(x, y)) for x in (low, high) for y in outcomes)
    assert worst == pytest.approx(loss.loss_range[1], rel=1e-12)


@pytest.mark.parametrize("loss", [*INTERVALS, LogLoss(0.01)], ids=repr)
@settings(max_examples=40)
@given(data=st.data())
def test_a_convex_mixture_loses_at_most_the_mean_loss(loss, data):
    predictions, outcomes = values_of(loss)
    x = np.array(data.draw(st.lists(predictions, min_size=2, max_size=5)))
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=x.size, max_size=x.size))
    p, y = np.array(weights) / sum(weights), data.draw(outcomes)
    mixed = loss.combine(x, p)
    assert loss.convex
    assert x.min() <= mixed <= x.max()
    assert float(loss(mixed, y)) <= p @ loss(x, y) + 1e-12 * loss.loss_range[1]


@given(
    labels=st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=6),
    outcome=st.sampled_from([0.0, 1.0, 2.0]),
    seed=st.integers(0, 2**16),
)
def test_the_vote_errs_at_most_twice_as_often_as_the_weight(labels, outcome, seed):
    x = np.array(labels)
    p = np.random.default_rng(seed).dirichlet(np.ones(x.size))
    loss = ZeroOneLoss()
    assert not loss.convex
    assert float(loss(loss.combine(x, p), outcome)) <= 2 * float(p @ loss(x, outcome)) + 1e-12


def test_votes_are_counted_row_by_row():
    x = np.array([[1.0, 3.0, 3.0], [1.0, 1.0, 2.0], [5.0, 4.0, 3.0]])
    p = np.array([[0.4, 0.3, 0.3], [0.1, 0.1, 0.8], [0.2, 0.5, 0.3]])
    assert ZeroOneLoss().combine(x, p).tolist() == [3.0, 2.0, 4.0]


def test_a_combination_of_equal_predictions_is_that_prediction():
    p = np.full(10, 0.1)  # ten tenths do not sum to 1 in floating point
    assert float(SquareLoss().combine(np.full(10, 0.7), p)) == 0.7


@pytest.mark.parametrize("loss", INTERVALS, ids=repr)
def test_values_outside_the_range_are_named(loss):
    with pytest.raises(ValueError, match=r"predictions must lie in \[-3, 7\]; got 7.5 at index 1"):
        loss([0.0, 7.5], 1.0)
    with pytest.raises(ValueError, match=r"outcomes must lie in \[-3, 7\]; got -4.0"):
        loss([0.0, 7.0], [-4.0])
    with pytest.raises(ValueError, match="predictions must be finite; got nan at index 0"):
        loss([np.nan, 7.0], 1.0)


def test_log_loss_names_sure_predictions_and_outcomes_between_0_and_1():
    with pytest.raises(ValueError, match=r"predictions must lie in \[0.01, 0.99\]; got 1.0"):
        LogLoss(0.01)([0.5, 1.0], 1.0)
    with pytest.raises(ValueError, match=r"outcomes of log loss must be 0 or 1; got 0.5"):
        LogLoss(0.01)([0.5], [0.5])


def test_nearest_moves_predictions_to_the_nearer_end_and_keeps_the_rest():
    assert SquareLoss(0, 10).nearest([-5.0, 3.0, 12.0]).tolist() == [0.0, 3.0, 10.0]
    assert LogLoss(0.01).nearest([0.0, 1.0]).tolist() == [0.01, 0.99]
    with pytest.raises(ValueError, match="predictions must be finite; got inf"):
        SquareLoss(0, 10).nearest([np.inf])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SquareLoss(1, 1), "low < high; got \\[1, 1\\]"),
        (lambda: AbsoluteLoss(0, math.inf), "low < high"),
        (lambda: PinballLoss(0.0), "q must lie between 0 and 1; got 0.0"),
        (lambda: PinballLoss(1.0), "q must lie between 0 and 1; got 1.0"),
        (lambda: LogLoss(0.0), r"least must lie between 2\*\*-53 and 1/2; got 0.0"),
        (lambda: LogLoss(1e-17), r"least must lie between 2\*\*-53 and 1/2; got 1e-17"),
        (lambda: LogLoss(0.5), r"least must lie between 2\*\*-53 and 1/2; got 0.5"),
        (lambda: CustomLoss(abs, (1.0, 0.0)), r"range of a loss must be \(low, high\)"),
        (lambda: CustomLoss(abs, ("0", "1")), r"range of a loss must be .*got \('0', '1'\)"),
        (lambda: CustomLoss(abs, (0.0, 1.0, 2.0)), r"range of a loss must be \(low, high\)"),
        (lambda: make_loss("square", 5), r"outcome_range must be \(low, high\), .*got 5"),
        (lambda: make_loss("hinge"), "loss must be one of absolute, log, .*got 'hinge'"),
    ],
)
def test_senseless_losses_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_function_is_a_loss_whose_range_is_checked():
    loss = make_loss(lambda x, y: np.abs(x - y))
    assert loss([0.25], [1.0]).tolist() == [0.75]
    with pytest.raises(ValueError, match=r"custom losses must lie in \[0, 1\]; got 3.0"):
        loss([4.0], [1.0])
    with pytest.raises(ValueError, match=r"custom losses must have shape \(2,\); got \(\)"):
        make_loss(lambda x, y: 0.5)([0.0, 1.0], 1.0)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_a_described_loss_is_made_again(loss):
    assert restore(json.loads(json.dumps(describe(loss)))) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert type(loss) in LOSSES.values()
