"""Online boosting of river's classifiers."""

import itertools

import pytest

pytest.importorskip("river")

from river import datasets, linear_model, metrics, naive_bayes, preprocessing, tree
from river.checks import yield_checks

from driftgames.online_boosting import ONLINE_BOOSTERS
from driftgames.online_boosting.river import OnlineBoostingClassifier


def stump(**settings):
    return tree.HoeffdingTreeClassifier(grace_period=20, max_depth=1, **settings)


def error_of(model, rows):
    accuracy = metrics.Accuracy()
    for x, y in rows:
        accuracy.update(y, model.predict_one(x))
        model.learn_one(x, y)
    return 1.0 - accuracy.get()


def models():
    *weighed, drawn = OnlineBoostingClassifier._unit_test_params()
    del drawn["model"]  # naive Bayes takes five times as long
    for settings in (*weighed, {**weighed[0], **drawn, "weighting": "draw"}):
        yield OnlineBoostingClassifier(**{**settings, "n_models": 2})


CHECKS = [
    pytest.param(check, model, id=f"{k} {check.__name__}")
    for k, model in enumerate(models())
    for check in yield_checks(model)
]


@pytest.mark.parametrize(("check", "model"), CHECKS)
def test_the_checks_of_river(check, model):
    check(model.clone())


@pytest.mark.parametrize("algorithm", ONLINE_BOOSTERS)
def test_it_errs_less_than_its_weak_learner(algorithm):
    rows = list(datasets.synth.Sine(classification_function=2, seed=1).take(1500))
    alone = error_of(stump(), rows)
    model = OnlineBoostingClassifier(stump(), algorithm, n_models=7)
    boosted = error_of(model, rows)
    assert boosted < 0.9 * alone
    assert model.certificate().holds
    assert model.certificate().horizon == 1500


def test_a_pipeline_is_given_weights_and_naive_bayes_draws():
    scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    assert OnlineBoostingClassifier(scaled)._weighs
    assert not OnlineBoostingClassifier(naive_bayes.GaussianNB())._weighs
    assert not OnlineBoostingClassifier(scaled, weighting="draw")._weighs
    rows = list(itertools.islice(datasets.Phishing(), 60))
    drawn = [
        OnlineBoostingClassifier(naive_bayes.GaussianNB(), n_models=3, seed=s) for s in (1, 1, 2)
    ]
    errors = [error_of(model, rows) for model in drawn]
    votes = [[model.predict_proba_one(x)[True] for x, _ in rows] for model in drawn]
    assert votes[0] == votes[1] != votes[2]
    assert max(errors) < 0.4


def test_labels_are_two_and_a_third_is_refused_without_a_trace():
    model = OnlineBoostingClassifier(stump(), n_models=3)
    assert model.predict_proba_one({"x": 1.0}) == {False: 0.5, True: 0.5}
    model.learn_one({"x": 1.0}, "spam")
    assert model.predict_one({"x": 1.0}) == "spam"
    model.learn_one({"x": 0.0}, "ham")
    assert sum(model.predict_proba_one({"x": 0.0}).values()) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="for two labels, 'spam' and 'ham'; got 'eggs'"):
        model.learn_one({"x": 0.0}, "eggs")
    assert model.booster.t == 2
