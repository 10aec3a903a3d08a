"""The plain twin of NH-Boost.DT chooses what the library does, and boosts any weak learner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from driftgames.boosting import NHBoostDTClassifier, NoEdgeWarning, WeakLearnerBooster
from driftgames.boosting.plain import Stump, boost, nh_boost_dt, weigh
from driftgames.potentials import Exponential, NormalHedgeDT, Potential, TwoNorm

LEARNERS = {
    "stump": None,
    "tree": DecisionTreeClassifier(max_depth=2),
    "bayes": GaussianNB(),
    "logistic": LogisticRegression(),
}


def table(seed, noise=1.0, n=150):
    """Return integers with many ties, and labels that depend on two columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, 4)).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(0, noise, n) > 7, 1, -1)


def stumps_of(booster):
    found = booster.stumps_
    columns = found.feature.tolist(), found.threshold.tolist(), found.left_vote.tolist()
    return [Stump(*each) for each in zip(*columns, strict=True)]


# ------------------------------------------------------------ equal to the library


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(1, 4), st.sampled_from([2, 3, 20]))
def test_the_plain_twin_chooses_the_stumps_of_the_library(seed, n, n_features, n_values):
    """On small integers most edges of a round are tied."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, n_features)) / 4
    y = np.append(rng.choice([-1, 1], n - 2), [-1, 1])
    library = NHBoostDTClassifier(60, max_leaves=2, calibrate=False).fit(X, y)
    rounds = nh_boost_dt(X, y, 60)
    assert [played.hypothesis for played in rounds] == stumps_of(library)
    edges = [played.edge for played in rounds]
    np.testing.assert_allclose(edges, library.history_["edge"], rtol=0, atol=1e-12)
    for played, share in zip(rounds, library.history_["zero_fraction"], strict=True):
        assert np.mean(played.weights == 0) == share
    if rounds:
        votes = sum(played.hypothesis.votes(X) for played in rounds) / len(rounds)
        np.testing.assert_array_equal(votes, library.decision_function(X))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 1.0, 6.0])
def test_the_class_with_the_plain_stump_is_the_library(seed, noise):
    X, y = table(seed, noise)
    library = NHBoostDTClassifier(300, max_leaves=2, calibrate=False).fit(X, y)
    booster = WeakLearnerBooster(n_estimators=300).fit(X, y)
    assert booster.estimators_ == stumps_of(library)
    for name, column in library.history_.items():
        np.testing.assert_allclose(booster.history_[name], column, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(booster.decision_function(X), library.decision_function(X))
    np.testing.assert_array_equal(booster.predict(X), library.predict(X))
    np.testing.assert_allclose(booster.predict_proba(X), library.predict_proba(X))
    ours, theirs = booster.certificate_, library.certificate_
    np.testing.assert_array_equal(ours.realised, theirs.realised)
    np.testing.assert_allclose(ours.promised, theirs.promised, rtol=0, atol=1.5 / y.size)


def test_sample_weights_do_as_in_the_library():
    X, y = table(5)
    for weights in (np.arange(y.size) % 4, np.random.default_rng(5).random(y.size)):
        library = NHBoostDTClassifier(40, max_leaves=2, calibrate=False)
        library.fit(X, y, sample_weight=weights)
        booster = WeakLearnerBooster(n_estimators=40).fit(X, y, sample_weight=weights)
        for name, column in library.history_.items():
            np.testing.assert_allclose(booster.history_[name], column, rtol=0, atol=1e-12)


def test_copies_of_examples_do_what_their_weights_do():
    X, y = table(6)
    copies = np.arange(y.size) % 3
    weighted = WeakLearnerBooster(n_estimators=40).fit(X, y, sample_weight=copies)
    repeated = WeakLearnerBooster(n_estimators=40).fit(np.repeat(X, copies, 0), y.repeat(copies))
    assert weighted.estimators_ == repeated.estimators_


def test_equal_positions_weigh_the_same_and_weights_add_up_to_two_to_the_61():
    s = np.array([-3.0, 0.5, -3.0, 1.0, 2.0])
    weights = weigh(NormalHedgeDT(), s, 9, np.ones(5, dtype=int))
    assert weights[0] == weights[2] > weights[1] > weights[3] == weights[4] == 0
    assert 2**60 <= weights.sum() <= 2**61
    np.testing.assert_allclose(weights / weights.sum(), NormalHedgeDT().distribution(s, 9))
    safe = weigh(NormalHedgeDT(), np.full(3, 5.0), 9, np.array([1, 1, 2]))
    assert (safe / safe.sum()).tolist() == [0.25, 0.25, 0.5]


# ------------------------------------------------------------ the theorem


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("noise", [0.0, 1.0, 6.0])
def test_thm3_margins_and_errors_stay_below_the_bound_for_any_weak_learner(name, noise):
    X, y = table(7, noise)
    booster = WeakLearnerBooster(LEARNERS[name], 120, random_state=0).fit(X, y)
    certificate = booster.certificate_
    margins = y * booster.decision_function(X)
    assert certificate.holds
    for theta in (-0.5, 0.0, 0.25, 0.5):
        row = certificate.at(theta)
        assert np.mean(margins <= theta + 1e-12) == pytest.approx(row.realised)
        assert row.realised <= row.promised
    assert certificate.training_error == pytest.approx(1 - booster.score(X, y))


def test_thm3_promises_something_where_the_edges_are_large():
    X, y = table(8, noise=0.0, n=400)
    weak = DecisionTreeClassifier(max_depth=5)
    certificate = WeakLearnerBooster(weak, 300, random_state=0).fit(X, y).certificate_
    assert certificate.error_bound == 0.0
    assert certificate.at(0.2).promised < 0.1
    assert certificate.holds


@pytest.mark.parametrize("potential", [Exponential(0.2), TwoNorm(), NormalHedgeDT(5.0)])
def test_any_potential_boosts(potential):
    X, y = table(9)
    booster = WeakLearnerBooster(n_estimators=100, potential=potential).fit(X, y)
    assert booster.score(X, y) > 0.85
    assert booster.potential_ is potential
    assert booster.certificate_.holds
    assert booster.certificate_.title == potential.title


class Lazy(Potential):
    """Weighs all examples alike for ever, and promises what NormalHedge.DT does."""

    adaptive = True

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        return -np.asarray(positions, dtype=float)

    def bound(self, horizon, epsilon):
        return NormalHedgeDT().bound(horizon, epsilon)


def test_nothing_is_promised_for_what_is_no_potential():
    X, y = table(9)
    certificate = WeakLearnerBooster(n_estimators=5, potential=Lazy()).fit(X, y).certificate_
    assert certificate.verdict == "nothing is promised"
    assert "no potential of Algorithm 3" in certificate.caveat


def test_long_horizons_stay_finite():
    """One example errs in every round: the exponent of its weight is far beyond a float's."""
    y = np.ones(8, dtype=int)
    votes = np.where(np.arange(8) == 0, -1, 1)

    def learn(weights):
        heavy = weights[0] >= weights[1:].sum()  # then it errs on the others for once
        return None, -votes if heavy else votes

    played = list(boost(learn, y, np.ones(8, dtype=int), 20_000, NormalHedgeDT()))
    assert len(played) == 20_000
    assert np.isfinite([each.edge for each in played]).all()
    assert all(2**60 <= each.weights.sum() < 2**62 for each in played)
    noise = np.random.default_rng(0)
    X, labels = noise.integers(0, 3, (60, 2)).astype(float), noise.choice([-1, 1], 60)
    rounds = nh_boost_dt(X, labels, 3000)
    assert np.isfinite([each.edge for each in rounds]).all()


# ------------------------------------------------------------ weak learners


class Watching(DecisionTreeClassifier):
    seen: list = []  # noqa: RUF012 - what every clone of this class was given

    def fit(self, X, y, sample_weight=None):
        self.seen.append((np.unique(y), sample_weight))
        return super().fit(X, y, sample_weight=sample_weight)


def test_the_weak_learner_sees_only_examples_that_weigh():
    X, y = table(10)
    Watching.seen.clear()
    booster = WeakLearnerBooster(Watching(max_depth=2), 40, random_state=0).fit(X, y)
    assert len(Watching.seen) == 40
    assert all(weights.min() > 0 for _, weights in Watching.seen)
    assert all(weights.sum() == pytest.approx(1.0) for _, weights in Watching.seen)
    unseen = [1 - weights.size / y.size for _, weights in Watching.seen]
    np.testing.assert_allclose(unseen, [0.0, *booster.history_["zero_fraction"][:-1]], atol=1e-12)
    assert max(unseen) > 0.3


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_boosting_improves_on_its_weak_learner(name):
    X, y = table(11, noise=0.5, n=400)
    first, *_, last = (
        WeakLearnerBooster(LEARNERS[name], 61, random_state=0).fit(X, y).staged_predict(X)
    )
    assert np.mean(last == y) >= np.mean(first == y)
    assert np.mean(last == y) > 0.9


class Rotating(ClassifierMixin, BaseEstimator):
    """Errs on the lightest of the first five examples, which are all of class 0.

    A row of X is the number of an example and its label.
    """

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        assert self.classes_.tolist() == [0, 1]
        first = X[:, 0] < 5
        self.wrong_ = X[first][sample_weight[first].argmin(), 0]
        return self

    def predict(self, X):
        return np.where(X[:, 0] == self.wrong_, 1 - X[:, 1], X[:, 1])


def test_a_round_whose_weight_is_of_one_class_has_a_constant_vote():
    """The examples that are never wrong become safe, and the first five have all the weight."""
    numbers = np.arange(30)
    y = (numbers % 2) * (numbers >= 5)
    X = np.column_stack([numbers, y])
    booster = WeakLearnerBooster(Rotating(), 40).fit(X, y)
    constant = [not isinstance(each, Rotating) for each in booster.estimators_]
    assert 0 < sum(constant) < 40
    for each in np.array(booster.estimators_)[constant]:
        assert set(each.predict(X)) == {0}
    assert (booster.history_["edge"][constant] == 0.5).all()
    assert booster.certificate_.holds


def test_clones_take_seeds_from_the_random_state_also_nested_ones():
    X, y = table(12)
    tree = DecisionTreeClassifier(max_depth=2, max_features=1, random_state=3)
    fits = [WeakLearnerBooster(tree, 9, random_state=seed).fit(X, y) for seed in (1, 1, 2)]
    votes = [booster.decision_function(X) for booster in fits]
    assert np.array_equal(votes[0], votes[1])
    assert not np.array_equal(votes[0], votes[2])
    assert len({each.random_state for each in fits[0].estimators_}) == 9
    assert tree.random_state == 3
    nested = WeakLearnerBooster(WeakLearnerBooster(tree, 3), 2, random_state=1).fit(X, y)
    inner = [each.estimator.random_state for each in nested.estimators_]
    assert len({3, *inner}) == 3


def test_several_classes_have_a_clone_for_each():
    X, y = load_iris(return_X_y=True)
    y = np.array(["ant", "bee", "cow"])[y]
    for weak in (DecisionTreeClassifier(max_depth=1), None):
        booster = WeakLearnerBooster(weak, 30, random_state=0).fit(X, y)
        assert [len(clones) for clones in booster.estimators_] == [3] * 30
        if weak is not None:  # "ant" is easy: in some rounds none of its pairs weighs, or one kind
            constant = [each[0] for each in booster.estimators_ if not hasattr(each[0], "tree_")]
            assert {each.predict(X).mean() for each in constant} == {0.0, 1.0}
        assert booster.score(X, y) > 0.95
        assert booster.history_["training_error"][-1] == pytest.approx(1 - booster.score(X, y))
        assert booster.certificate_.holds
        assert booster.certificate_.n_classes == 3
        votes, shares = booster.decision_function(X), booster.predict_proba(X)
        np.testing.assert_array_equal(booster.predict(X), booster.classes_[votes.argmax(axis=1)])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        own = y[:, None] == booster.classes_
        margins, masses = np.where(own, votes, -votes), np.where(own, 2, 1)
        for theta in (-0.1, 0.0, 0.3):
            share = masses[margins <= theta + 1e-12].sum() / masses.sum()
            assert booster.certificate_.at(theta).realised == pytest.approx(share)


def test_sparse_and_missing_values_are_taken_if_the_weak_learner_takes_them():
    X, y = table(13)
    tree = DecisionTreeClassifier(max_depth=2)
    dense = WeakLearnerBooster(tree, 8, random_state=0).fit(X, y)
    sparse = WeakLearnerBooster(tree, 8, random_state=0).fit(csr_matrix(X), y)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_matrix(X)))
    X[::7, 0] = np.nan
    assert WeakLearnerBooster(tree, 8, random_state=0).fit(X, y).score(X, y) > 0.7
    for weak in (None, GaussianNB()):
        with pytest.raises(ValueError, match="contains NaN"):
            WeakLearnerBooster(weak, 8).fit(X, y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        WeakLearnerBooster().fit(csr_matrix(table(13)[0]), y)


# ------------------------------------------------------------ ends and errors


def test_no_edge_ends_the_fit_with_a_warning():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    with pytest.warns(NoEdgeWarning, match="in round 1: the fit ended after 0 of 7 rounds"):
        booster = WeakLearnerBooster(n_estimators=7).fit(X, y)
    assert booster.estimators_ == []
    assert booster.certificate_ is None
    constant = np.zeros((5, 2))
    with pytest.warns(NoEdgeWarning, match="ended after 0 of 7"):
        booster.fit(constant, list("aabbb"))
    assert set(booster.predict(constant)) == {"b"}
    np.testing.assert_allclose(booster.predict_proba(constant)[0], [0.4, 0.6])
    with pytest.warns(NoEdgeWarning, match="ended after 0 of 7"):
        booster.fit(constant, list("abbcc"))
    assert set(booster.predict(constant)) == {"b"}
    assert list(booster.staged_predict(constant)) == []


class Failing(ClassifierMixin, BaseEstimator):
    """A weak learner that fails, or predicts what is no class."""

    def __init__(self, label=None):
        self.label = label

    def fit(self, X, y, sample_weight=None):
        if self.label is None:
            raise RuntimeError("out of order")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_a_failed_fit_does_not_change_the_state():
    X, y = table(14)
    booster = WeakLearnerBooster(DecisionTreeClassifier(max_depth=2), 5, random_state=0).fit(X, y)
    before, votes = dict(vars(booster)), booster.decision_function(X)
    bad = (
        ({"estimator": Failing()}, RuntimeError, "out of order"),
        ({"estimator": Failing(7)}, ValueError, r"one of the classes \[-1, 1\].*predicted 7"),
        ({"estimator": KNeighborsClassifier()}, ValueError, "must take sample_weight in fit"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be an integer >= 1; got 0"),
        ({"potential": "exp"}, ValueError, "potential must be a Potential; got 'exp'"),
        ({"random_state": -1}, ValueError, "random_state must be an integer >= 0; got -1"),
    )
    for parameters, error, match in bad:
        changed = clone(booster).set_params(**parameters)
        for name in ("classes_", "estimators_", "n_features_in_"):
            setattr(changed, name, before[name])
        known = set(vars(changed))
        with pytest.raises(error, match=match):
            changed.fit(X[:, :2], y)
        assert set(vars(changed)) == known
        assert changed.n_features_in_ == 4
    with pytest.raises(ValueError, match="two classes or more; got one class"):
        booster.fit(X[:, :2], np.ones(y.size))
    assert dict(vars(booster)) == before
    np.testing.assert_array_equal(booster.decision_function(X), votes)


def test_stages_end_at_the_prediction():
    X, y = make_classification(120, random_state=0)
    booster = WeakLearnerBooster(DecisionTreeClassifier(max_depth=1), 9, random_state=0).fit(X, y)
    *_, last = staged = list(booster.staged_predict(X))
    assert len(staged) == len(booster.estimators_) == 9
    np.testing.assert_array_equal(last, booster.predict(X))
    errors = [np.mean(each != y) for each in staged]
    np.testing.assert_allclose(errors, booster.history_["training_error"])


def expected_failures(booster):
    if not isinstance(booster.estimator, DecisionTreeClassifier):
        return {}
    reason = "a tree breaks ties between splits by the order of the rows"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


# some checks fit a handful of points, on which the learners run out of edges
@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@parametrize_with_checks(
    [WeakLearnerBooster(LEARNERS[name], 3) for name in ("stump", "tree", "bayes")],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
