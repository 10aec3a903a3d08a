"""Log-losses on examples held out, for sigmoids that these examples chose."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.training_record import (
    GRIDS,
    INTERCEPTS,
    SLOPES,
    VOTE_RULES,
    count_losses,
    count_rules,
    count_sigmoids,
)
from driftgames.boosting.persistence import FORMAT, VERSION, encode_model, load_model
from driftgames.certificates.new_log_loss import LEVELS
from driftgames.core.documents import write_document

VOTES = np.linspace(-1, 1, 41)


def counted(calibration, votes, labels):
    """Return what is counted in the place of each loss, in ascending order."""
    (part,) = count_losses(calibration, [votes], [labels])
    return np.repeat(LEVELS[[k for k, _ in part.counts]], [n for _, n in part.counts])


@given(st.floats(0, 256), st.floats(-8, 8), st.integers(0, 2**41 - 1))
def test_what_is_counted_is_at_least_the_loss_of_every_sigmoid_of_the_cell(slope, intercept, bits):
    labels = np.array([bits >> k & 1 for k in range(41)])
    counts = counted(Calibration(slope, intercept), VOTES, labels)
    at = min(np.searchsorted(SLOPES, slope, side="right"), SLOPES.size - 1)
    below = min(np.searchsorted(INTERCEPTS, intercept, side="right"), INTERCEPTS.size - 1)
    for a, b in itertools.product((0.0, 0.3, 1.0), repeat=2):
        other = Calibration(
            SLOPES[at - 1] + a * (SLOPES[at] - SLOPES[at - 1]),
            INTERCEPTS[below - 1] + b * (INTERCEPTS[below] - INTERCEPTS[below - 1]),
        )
        losses = np.clip(other.losses(VOTES, labels), LEVELS[0], LEVELS[-1])
        assert (counts >= np.sort(losses) * (1 - 1e-12)).all()


@given(st.floats(0, 256), st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_with_several_classes_too(slope, labels):
    votes = np.random.default_rng(len(set(labels))).uniform(-1, 1, (12, 3))
    counts = counted(Calibration(slope, 0.0), votes, np.array(labels))
    at = min(np.searchsorted(SLOPES, slope, side="right"), SLOPES.size - 1)
    for other in (SLOPES[at - 1], slope, SLOPES[at]):
        losses = Calibration(other, 0.0).losses(votes, np.array(labels))
        clipped = np.clip(losses, LEVELS[0], LEVELS[-1])
        assert (counts >= np.sort(clipped) * (1 - 1e-12)).all()


def test_every_cell_is_paid_for():
    assert count_sigmoids(2) == (SLOPES.size - 1) * (INTERCEPTS.size - 1)
    assert count_sigmoids(7) == SLOPES.size - 1
    assert (np.diff(SLOPES) > 0).all()
    assert (SLOPES[0], SLOPES[-1]) == (0.0, 256.0)
    assert (INTERCEPTS[0], INTERCEPTS[-1]) == (-8.0, 8.0)


@given(st.floats(0.1, 30), st.floats(-3, 3), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_all_thresholds_of_a_cell_predict_the_same_on_the_examples_held_out(
    slope, intercept, n_rounds, seed
):
    votes = 2 * np.random.default_rng(seed).integers(0, n_rounds + 1, 30) / n_rounds - 1
    n_rules = count_rules(Calibration(slope, intercept), [votes])
    if not n_rules or not intercept:
        assert intercept or n_rules == VOTE_RULES
        return
    n_cells = n_rules // (VOTE_RULES * len(GRIDS)) - 2
    assert n_cells in GRIDS
    threshold = -intercept / slope
    low = np.floor((threshold + 1) * n_cells / 2) * 2 / n_cells - 1
    ends = (low, low + 2 / n_cells)
    if not -1 <= threshold < 1:
        ends = (1.0, 9.0) if threshold > 0 else (-9.0, -1.0 - 1e-9)
    wanted = Calibration(slope, intercept).scores(votes) > 0
    for share in (0.0, 0.4, 1.0 - 1e-9):
        np.testing.assert_array_equal(votes > ends[0] + share * (ends[1] - ends[0]), wanted)


def test_the_doubt_of_all_rules_adds_up_to_all_of_it():
    cells = sum((n + 2) / (VOTE_RULES * len(GRIDS) * (n + 2)) for n in GRIDS)
    assert 1 / VOTE_RULES + cells == 1.0
    of_three = np.zeros((2, 3))
    constant = count_rules(Calibration(0.0, 0.0, (0.0, 1.0, 2.0)), [of_three])
    assert 1 / count_rules(Calibration(3.0, 0.0), [of_three]) + 3 / constant == 1.0
    assert count_rules(Calibration(3.0, 1.0, class_weighted=True), [VOTES]) == 1
    near = -1.0 / 3.0 + np.array([-1e-9, 1e-9])
    assert count_rules(Calibration(3.0, 1.0), [near]) == 0


@pytest.mark.parametrize("beyond", [Calibration(300.0, 0.0), Calibration(1.0, 9.0)])
def test_beyond_the_grid_nothing_is_counted(beyond):
    assert count_losses(beyond, [VOTES], [(VOTES > 0).astype(int)]) == ()


def test_a_booster_promises_its_log_loss_and_pays_for_choice_and_sigmoid():
    X, y = make_classification(6000, 8, flip_y=0.1, random_state=0)
    booster = NHBoostDTClassifier(max_leaves=2).fit(X, y)
    promise = booster.certificate_.new_examples
    loss = promise.log_loss
    n_trials = promise.n_candidates // booster.record_.held_out.n_rules
    assert loss.n_candidates == n_trials * count_sigmoids(2)
    assert n_trials == 5
    assert promise.n_examples == tuple(part.n_examples for part in loss.parts)
    assert loss.estimate < loss.high < 0.69
    assert loss.promise in str(booster.certificate_)
    assert loss.estimate == pytest.approx(min(t.log_loss for t in booster.chosen_.trials), abs=0.01)
    assert loss.promise in booster.explain_model(X[:50]).html()


def test_several_classes_and_files_keep_the_losses(tmp_path):
    booster = NHBoostDTClassifier(10, max_leaves=4).fit(*load_iris(return_X_y=True))
    loss = booster.certificate_.new_examples.log_loss
    assert loss.n_classes == 3
    booster.save(tmp_path / "m.json")
    again = NHBoostDTClassifier.load(tmp_path / "m.json").certificate_.new_examples.log_loss
    assert again == loss


@pytest.mark.parametrize(
    "losses",
    [
        [[0.1, [[3, 57]]]],
        [[0.1, [[3, 50], [2, 7]]]] * 10,
        [[0.1, [[256, 57]]]] * 10,
        [[9.0, [[3, 57]]]] * 10,
        [[0.1, [[3, 1]]]] * 10,
        [[0.1, [[3, 0]]]] * 10,
        [[0.1]],
        [3],
    ],
)
def test_losses_that_cannot_be_are_refused_in_a_file(tmp_path, losses):
    path = tmp_path / "m.json"
    data = load_breast_cancer(return_X_y=True)
    content = encode_model(NHBoostDTClassifier(5, max_leaves=2).fit(*data))
    assert len(content["held_out_losses"]) == 10
    write_document(path, FORMAT, VERSION, {**content, "held_out_losses": losses})
    with pytest.raises(ValueError, match="held_out_losses"):
        load_model(path)
