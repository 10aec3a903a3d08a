"""What voids a promise, and how fractional sample weights are counted."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from driftgames.boosting import BoostByMajorityClassifier, PotentialBoostClassifier
from driftgames.boosting.fit.folds import RowKeys, make_folds
from driftgames.boosting.fit.watch import EvaluationSet
from driftgames.boosting.model.stumps import Stumps
from driftgames.potentials import TwoNorm


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


class Hasty(TwoNorm):
    """It breaks the inequality of Algorithm 3 and inherits a bound that is not its own."""

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        left = 0 if horizon is None else horizon - t
        return np.minimum(positions, 0.0) ** 2 + left / 2


@pytest.mark.parametrize("settings", [{}, {"ensemble": True}])
def test_a_potential_that_fails_algorithm_3_gets_no_promise(settings, data):
    booster = PotentialBoostClassifier(Hasty(), 20, max_leaves=2, **settings).fit(*data)
    certificate = booster.certificate_
    assert (certificate.promised == 1.0).all()
    assert certificate.verdict == "nothing is promised"
    assert "round 2: at s = -1" in certificate.caveat
    honest = PotentialBoostClassifier(TwoNorm(), 60, max_leaves=2).fit(*data).certificate_
    assert honest.error_bound < 1.0


@pytest.mark.parametrize("below", [True, False])
def test_an_edge_just_below_the_expected_one_voids_boost_by_majority(below, data):
    """The game's value is promised for edges of at least gamma, and for no smaller one."""
    booster = BoostByMajorityClassifier(9, edge=0.05, max_leaves=2, calibrate=False).fit(*data)
    edges = booster.record_.history["edge"]
    gamma = booster.record_.settings["edge"]
    edges[:] = 0.3
    edges[4] = np.nextafter(gamma, 0.0) if below else gamma
    certificate = booster.certificate_
    assert (certificate.error_bound == 1.0) is below
    assert ("below the expected 0.05" in certificate.caveat) is below


def test_fractional_weights_count_as_many_examples_as_there_are():
    """Masses of fractional weights sum to about 2**52; the prior must see n examples."""
    rng = np.random.default_rng(0)
    hashes, labels = np.arange(40, dtype=np.uint64), np.arange(40) % 2
    weights = rng.uniform(0.1, 1.0, 40)
    folds = make_folds(RowKeys(hashes, labels, weights))
    assert folds.outcomes.scale * int(folds.outcomes.masses.sum()) == pytest.approx(40)
    whole = make_folds(RowKeys(hashes, labels, rng.integers(1, 4, 40).astype(float)))
    assert whole.outcomes.scale == 1.0


def follow_stumps(examples):
    """Play four rounds; the votes on 0, 1, 2 and 3 sum to -0.5, -0.1, 0.2 and 0.6."""
    for cut, weight in ((-0.5, 0.05), (0.5, 0.2), (1.5, 0.15), (2.5, 0.2)):
        examples.add(Stumps([0], [cut], [-1], [1]), weight)


def test_an_evaluation_set_sees_as_many_examples_as_it_has():
    """The log-loss does not depend on the unit of the weights."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    masses = np.array([1, 2, 3, 2])
    sets = [EvaluationSet(X, y, np.array([0, 1]), unit * masses) for unit in (1, 2**50)]
    for each in sets:
        follow_stumps(each)
    assert sets[0].log_loss() == pytest.approx(sets[1].log_loss(), rel=1e-12)
    copies = EvaluationSet(X, y, np.array([0, 1]))
    equal = EvaluationSet(X, y, np.array([0, 1]), np.full(4, 2**40))
    for each in (copies, equal):
        follow_stumps(each)
    assert equal.log_loss() == pytest.approx(copies.log_loss(), rel=1e-12)
