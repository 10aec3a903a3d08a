"""What a booster promises about new examples: to whom, and when nothing."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.fit.folds import RowKeys, make_folds
from driftgames.boosting.model.choice import Choice, Trial
from driftgames.boosting.model.training_record import HeldOut, Member
from driftgames.boosting.persistence import FORMAT, VERSION, encode_model, load_model
from driftgames.boosting.promises import promise_of
from driftgames.core.documents import write_document

FOLDS = HeldOut((40, 40), (4, 2))


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def record(data):
    return NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(*data).record_


def raced(sizes, stages):
    trials = tuple(Trial(leaves, n, 0.5, 0.1, "played") for leaves in sizes for n in stages)
    return Choice(sizes[0], stages[0], 2, 80, trials)


def rules_of(booster):
    """Return how many rules of prediction the sigmoid could have made."""
    assert booster.record_.held_out.n_rules >= 2
    return booster.record_.held_out.n_rules


def test_held_out_errors_are_those_of_predictions():
    """The sigmoid moves the threshold, and errors follow it."""
    rng = np.random.default_rng(6)
    X = rng.integers(-4, 5, (1200, 2)).astype(float)  # folds have the cuts of all rows
    y = (rng.random(1200) < np.where(X[:, 0] > 0, 0.4, 0.02)).astype(int)
    booster = AdaBoostClassifier(20, ensemble=True).fit(X, y)
    held_out = booster.record_.held_out
    assert held_out.n_rules > 2
    errors, vote_errors = [], []
    for k in range(5):
        part = make_folds(RowKeys(hash_rows(X), y, None), 5).fold_of == k
        fold = AdaBoostClassifier(20, calibrate=False).fit(X[~part], y[~part])
        votes = fold.decision_function(X[part])
        errors.append(((booster.calibration_.scores(votes) > 0) != y[part]).sum())
        vote_errors.append(((votes > 0) != y[part]).sum())
    assert held_out.n_errors == tuple(errors)
    assert held_out.n_vote_errors == tuple(vote_errors)
    assert held_out.n_errors != held_out.n_vote_errors
    plain = AdaBoostClassifier(20, ensemble=True, calibrate=False).fit(X, y)
    assert plain.record_.held_out.n_errors == held_out.n_vote_errors
    assert plain.certificate_.new_examples.n_candidates == 1
    assert plain.certificate_.new_examples.log_loss is None


def test_folds_of_a_calibration_promise_their_mean_and_estimate_the_model(data):
    booster = NHBoostDTClassifier(10, max_leaves=2).fit(*data)
    promise = booster.certificate_.new_examples
    assert (promise.n_examples, promise.n_errors) == booster.record_.held_out[:2]
    assert len(promise.n_examples) == 10
    assert (promise.model, promise.n_candidates) == ("refit", rules_of(booster))
    text = str(booster.certificate_).splitlines()
    assert text[0] == promise.promise
    assert text[0].startswith("error on new examples at most ")
    assert text[1].startswith("estimate for this model, fitted once more to all examples: ")


def test_one_part_of_many_examples_estimates_one_more_fit(data, monkeypatch):
    monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 100)
    booster = NHBoostDTClassifier(10, max_leaves=2).fit(*data)
    promise = booster.certificate_.new_examples
    assert len(promise.n_examples) == 1
    assert (promise.model, promise.n_candidates) == ("refit", rules_of(booster))


def test_a_race_of_sizes_divides_delta_by_all_that_could_win(data):
    chosen = NHBoostDTClassifier(ensemble=False).fit(*data)
    assert len({trial.max_leaves for trial in chosen.record_.choice.trials}) == 5
    assert chosen.certificate_.new_examples.n_candidates == 5 * 5 * rules_of(chosen)
    rounds = NHBoostDTClassifier(max_leaves=2).fit(*data)
    assert rounds.certificate_.new_examples.n_candidates == 5 * rules_of(rounds)
    assert rounds.certificate_.new_examples.model == "mean"
    size = NHBoostDTClassifier(20, ensemble=False).fit(*data)
    assert size.certificate_.new_examples.n_candidates == 5 * rules_of(size)


def test_the_promise_of_a_mean_is_about_the_boosters_of_the_chosen_size(data, record):
    both = tuple(Member(n, 80, fold) for n in (50, 25) for fold in (0, 1))
    told = replace(record, held_out=FOLDS, members=both, choice=raced((2, 4, 8), (25, 50)))
    assert (promise_of(told).model, promise_of(told).n_candidates) == ("mean", 3 * 5 * 2)
    mean = NHBoostDTClassifier().fit(*data)
    alone = NHBoostDTClassifier(ensemble=False).fit(*data)
    assert mean.record_.held_out == alone.record_.held_out


def test_where_rounds_were_chosen_otherwise_the_choice_is_paid_for(data, record):
    stopped = NHBoostDTClassifier(20, max_leaves=2, early_stopping=True).fit(*data)
    n = stopped.n_iter_
    assert stopped.certificate_.new_examples.n_candidates == n * (n + 1) * rules_of(stopped)
    ended = promise_of(replace(record, held_out=FOLDS, ended_early=True))
    assert "ended early" in ended.caveat


def test_without_examples_held_out_it_says_what_to_set(data):
    booster = NHBoostDTClassifier(10, max_leaves=2, calibrate=False).fit(*data)
    assert "calibrate=True" in str(booster.certificate_).splitlines()[0]
    assert booster.certificate_.new_examples.high == 1.0


def test_several_classes_have_the_promise_too():
    certificate = (
        NHBoostDTClassifier(10, max_leaves=4).fit(*load_iris(return_X_y=True)).certificate_
    )
    assert str(certificate).startswith("error on new examples at most ")
    assert certificate.new_examples.high < 0.4


def test_examples_count_once_whatever_they_weigh(data):
    weights = np.random.default_rng(0).uniform(0.1, 3.0, data[1].size)
    booster = AdaBoostClassifier(5).fit(*data, weights)
    assert sum(booster.certificate_.new_examples.n_examples) == data[1].size


def test_the_promise_survives_a_file(data, tmp_path):
    booster = NHBoostDTClassifier(10, max_leaves=2).fit(*data)
    booster.save(tmp_path / "m.json")
    loaded = NHBoostDTClassifier.load(tmp_path / "m.json")
    assert loaded.certificate_.new_examples == booster.certificate_.new_examples


@pytest.mark.parametrize("pair", [[57, 58], [0, 0], [57, -1], [57], [1e3, 2], [2**41, 2]])
def test_counts_that_cannot_be_are_refused_in_a_file(data, tmp_path, pair):
    path = tmp_path / "m.json"
    content = encode_model(NHBoostDTClassifier(5, max_leaves=2).fit(*data))
    assert content["held_out"]
    write_document(path, FORMAT, VERSION, {**content, "held_out": [pair]})
    with pytest.raises(ValueError, match=r"held_out\[0\] must be a number of examples"):
        load_model(path)
