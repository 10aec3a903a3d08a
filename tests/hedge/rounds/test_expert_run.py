"""What `run` gives back."""

import numpy as np
import pytest

from driftgames.hedge import Hedge
from driftgames.hedge.rounds import expert_learner
from driftgames.potentials import NormalHedgeDT


@pytest.fixture
def run():
    learner = Hedge(10, names=[f"expert {i}" for i in range(10)])
    L = np.random.default_rng(0).random((50, 10))
    learner.run(L[:20])
    return learner.run(L[20:], distributions=True)


def test_rounds_count_from_the_learners_first(run):
    assert run.first_round == 21
    assert run.rounds.tolist() == list(range(21, 51))


def test_what_is_promised_is_the_bound_for_the_best_action(run):
    np.testing.assert_allclose(run.promised_over_time, NormalHedgeDT().bound(run.rounds, 0.1))
    assert (run.regret_over_time <= run.promised_over_time).all()


def test_with_a_prior_the_promise_is_for_the_least_likely_action():
    learner = Hedge(3, prior=[0.9, 0.1, 0.0])
    run = learner.run(np.zeros((4, 3)))
    np.testing.assert_allclose(run.promised_over_time, NormalHedgeDT().bound(np.arange(1, 5), 0.1))


def test_regret_is_drawn_against_its_bound(run):
    (axes,) = run.plot().axes
    drawn, bound = axes.get_lines()
    assert drawn.get_ydata().tolist() == run.regret_over_time.tolist()
    assert bound.get_ydata().tolist() == run.promised_over_time.tolist()
    assert drawn.get_xdata()[0] == 21


def test_weights_are_drawn_by_name(run):
    (axes,) = run.plot_weights(most=3).axes
    labels = [line.get_label() for line in axes.get_lines()]
    assert len(labels) == 4
    assert all(label.startswith("expert") for label in labels[:3])
    assert labels[3] == "the other 7"


def test_unnamed_actions_go_by_number():
    run = Hedge(2).run(np.zeros((3, 2)), distributions=True)
    (axes,) = run.plot_weights().axes
    assert [line.get_label() for line in axes.get_lines()] == ["0", "1"]


def test_weights_that_were_not_kept_cannot_be_drawn():
    run = Hedge(2).run(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="run with distributions=True"):
        run.plot_weights()


def test_a_bad_row_of_a_later_part_is_named_by_its_number_in_the_matrix(monkeypatch):
    monkeypatch.setattr(expert_learner, "_CHUNK", 4)  # two rows of two actions
    losses = np.full((9, 2), 0.5)
    losses[7, 1] = 1.5
    learner = Hedge(2)
    with pytest.raises(ValueError, match=r"^losses\[7\] must lie in \[0, 1\]; got 1.5 at index 1"):
        learner.run(losses)
    assert learner == Hedge(2)
