"""Online boosting of classifiers with partial_fit."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from driftgames.online_boosting import ONLINE_BOOSTERS
from driftgames.online_boosting.partial_fit import PartialFitBoostingClassifier


def rings(n=1200, seed=0):
    """Return points inside and outside of a square, which no line separates."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, np.where(np.abs(X).max(axis=1) < 0.7, "in", "out")


class Unweighted(ClassifierMixin, BaseEstimator):
    """A weak learner without weights: it counts what it learns."""

    def partial_fit(self, X, y, classes=None):
        self.n_ = getattr(self, "n_", 0) + len(y)
        self.inner_ = getattr(self, "inner_", BernoulliNB()).partial_fit(X, y, classes=classes)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


@parametrize_with_checks([PartialFitBoostingClassifier(BernoulliNB(), n_estimators=3)])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("algorithm", ONLINE_BOOSTERS)
def test_it_separates_what_its_weak_learner_cannot(algorithm):
    X, y = rings(500)
    weak = SGDClassifier(random_state=0)
    model = PartialFitBoostingClassifier(weak, algorithm, 15, edge=0.05, batch_size=25).fit(X, y)
    assert model.certificate().holds
    assert model.booster_.t == 500
    assert model.score(X, y) >= clone(weak).partial_fit(X, y, classes=["in", "out"]).score(X, y)


def test_parts_give_what_one_pass_gives():
    X, y = rings(100)
    whole = PartialFitBoostingClassifier(BernoulliNB(), "adaboost.ol", 4).fit(X, y)
    parts = clone(whole)
    for start in range(0, 100, 50):
        parts.partial_fit(X[start : start + 50], y[start : start + 50], classes=["in", "out"])
    assert np.array_equal(parts.decision_function(X), whole.decision_function(X))
    assert parts.booster_ == whole.booster_
    assert parts.fit(X, y).booster_ == whole.booster_  # begins anew
    assert np.allclose(whole.predict_proba(X).sum(axis=1), 1.0)


def test_a_weak_learner_without_weights_draws_as_often_as_the_weights_say():
    X, y = rings(300)
    model = PartialFitBoostingClassifier(Unweighted(), n_estimators=4, random_state=1).fit(X, y)
    counts = np.array([weak.n_ for weak in model.estimators_])
    positive = model.booster_._sums[2]
    assert np.allclose(counts, positive, atol=6 * np.sqrt(300))
    again = clone(model).fit(X, y)
    assert [weak.n_ for weak in again.estimators_] == counts.tolist()
    assert np.array_equal(again.predict(X), model.predict(X))


def test_more_than_two_classes_are_named():
    X, y = rings(30)
    model = PartialFitBoostingClassifier(BernoulliNB())
    with pytest.raises(ValueError, match=r"two classes; got 1 class, \['in'\]"):
        model.partial_fit(X, ["in"] * 30)
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"alone; got .*'on'"):
        model.partial_fit(X, ["on"] * 30)
    assert model.booster_.t == 30
