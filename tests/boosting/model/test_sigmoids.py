"""Sigmoids per threshold: probabilities that fall, near a common slope, whatever the order."""

import numpy as np
import pytest
from scipy.optimize import minimize

from driftgames.boosting.model.sigmoids import Sigmoids


def draw(seed, n=300, n_thresholds=5, noise=0.5):
    """Votes that fall from threshold to threshold, positions of outcomes, and masses."""
    rng = np.random.default_rng(seed)
    middle = rng.normal(size=(n, 1))
    thresholds = np.linspace(-1.5, 1.5, n_thresholds)
    votes = np.round(np.tanh(middle - thresholds) * 20) / 20  # as of twenty trees
    y = middle[:, 0] + noise * rng.normal(size=n)
    return votes, (y[:, None] > thresholds).sum(axis=1), rng.integers(1, 4, n)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def slow_fit(votes, positions, masses):
    """The numbers of the least log-loss, found by SciPy."""
    above = positions[:, None] > np.arange(votes.shape[1])
    pair_masses = np.repeat(masses[:, None], votes.shape[1], axis=1)
    n_above, n_below = (pair_masses[above == up].sum() for up in (True, False))
    wanted = np.where(above, (n_above + 1) / (n_above + 2), 1 / (n_below + 2))

    def loss(slope, intercept, at, mass, target):
        z = slope * at + intercept
        return (mass * (np.logaddexp(0, z) - target * z)).sum()

    whole = votes.ravel(), pair_masses.ravel(), wanted.ravel()
    common = minimize(lambda a: loss(a[0], 0.0, *whole), [1.0], tol=1e-12).x[0]
    found = []
    for k, column in enumerate(votes.T):
        spread = np.sqrt((masses * column**2).sum() / masses.sum())
        points = np.array([-spread, spread])
        own = (
            np.append(column, points),
            np.append(masses, [2.0, 2.0]),
            np.append(above[:, k], sigmoid(common * points)),
        )
        start = [common, 0.0]
        found.append(minimize(lambda a, own=own: loss(*a, *own), start, tol=1e-12).x)
    return common, np.array(found).T


def test_the_numbers_are_those_of_the_least_log_loss():
    for seed in range(3):
        votes, positions, masses = draw(seed)
        found = Sigmoids.fit(votes, positions, masses)
        _, (slopes, intercepts) = slow_fit(votes, positions, masses)
        np.testing.assert_allclose(found.slopes, slopes, rtol=1e-4)
        np.testing.assert_allclose(found.intercepts, intercepts, atol=1e-4)
    assert np.ptp(found.slopes) > 0.1


def test_the_order_of_examples_and_copies_change_no_bit():
    votes, positions, masses = draw(1)
    found = Sigmoids.fit(votes, positions, masses)
    order = np.random.default_rng(0).permutation(300)
    copies = np.repeat(np.arange(300), masses)
    for rows, weights in ((order, masses[order]), (copies, np.ones(copies.size, dtype=np.int64))):
        other = Sigmoids.fit(votes[rows], positions[rows], weights)
        np.testing.assert_array_equal(other.slopes, found.slopes)
        np.testing.assert_array_equal(other.intercepts, found.intercepts)


def test_masses_of_fractional_weights_are_scaled_to_examples():
    votes, positions, masses = draw(2)
    found = Sigmoids.fit(votes, positions, masses)
    parts = Sigmoids.fit(votes, positions, masses * 2**40, 2.0**-40)
    np.testing.assert_array_equal(parts.slopes, found.slopes)
    np.testing.assert_array_equal(parts.intercepts, found.intercepts)
    unscaled = Sigmoids.fit(votes, positions, masses * 2**40)
    assert (unscaled.slopes != found.slopes).all()  # what is foretold counts nothing there


def test_probabilities_fall_from_threshold_to_threshold():
    votes, positions, masses = draw(3, n_thresholds=12, noise=2.0)
    sigmoids = Sigmoids.fit(votes, positions, masses)
    raw = sigmoid(sigmoids.slopes * votes + sigmoids.intercepts)
    assert (np.diff(raw, axis=1) > 0).any()  # some sigmoids cross
    found = sigmoids.probabilities(votes)
    assert (np.diff(found, axis=1) <= 0).all()
    assert ((found > 0) & (found < 1)).all()
    falls = (np.diff(raw, axis=1) <= 0).all(axis=1)
    np.testing.assert_allclose(found[falls], raw[falls], rtol=1e-12)
    down = np.minimum.accumulate(raw, axis=1)
    up = np.maximum.accumulate(raw[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_allclose(found, (down + up) / 2, rtol=1e-12)


def test_votes_that_tell_all_pairs_apart_leave_room_for_errors():
    """Votes of -0.5 and 0.5 that are always right: the odds are some of the number of pairs."""
    positions = np.repeat([0, 3], 50)
    votes = np.where(positions[:, None] > np.arange(3), 0.5, -0.5)
    sigmoids = Sigmoids.fit(votes, positions, np.ones(100, dtype=np.int64))
    found = sigmoids.probabilities(votes)
    assert 1 / 10_000 < found[0].max() < 1 / 100
    np.testing.assert_allclose(found[0], 1 - found[-1], rtol=1e-6)
    assert (sigmoids.slopes < 20).all()


@pytest.mark.parametrize("n_beyond", [0, 1])
def test_a_threshold_that_few_outcomes_lie_beyond_stays_near_the_common_slope(n_beyond):
    votes, positions, masses = draw(4, n=500)
    masses = np.ones_like(masses)
    common, _ = slow_fit(votes, positions, masses)
    positions = np.minimum(positions, 4)
    positions[np.argsort(votes[:, 4])[400 : 400 + n_beyond]] = 5
    sigmoids = Sigmoids.fit(votes, positions, masses)
    assert common / 3 < sigmoids.slopes[4] < 3 * common
    found = sigmoids.probabilities(votes)[:, 4]
    assert found.min() > 0
    assert 0 < found.mean() < 0.02


def test_votes_that_tell_nothing_give_the_shares():
    positions, ones = np.repeat([0, 1, 2], [50, 30, 20]), np.ones(100, dtype=np.int64)
    for votes in (np.zeros((100, 2)), np.full((100, 2), 0.3)):
        found = Sigmoids.fit(votes, positions, ones).probabilities(votes)
        np.testing.assert_allclose(found[0], [0.5, 0.2], atol=0.03)
        assert np.ptp(found, axis=0).tolist() == [0, 0]


def test_votes_that_are_wrong_have_no_negative_slope():
    votes, positions, masses = draw(5)
    sigmoids = Sigmoids.fit(-votes, positions, masses)
    assert (sigmoids.slopes == 0).all()
    assert (np.diff(sigmoids.probabilities(votes), axis=1) <= 0).all()


def test_losses_are_brier_scores_by_gaps():
    sigmoids = Sigmoids(np.zeros(2), np.log([4.0, 1.0]))  # probabilities 0.8 and 0.5
    votes, gaps = np.zeros((3, 2)), np.array([3, 1])
    found = sigmoids.losses(votes, np.array([0, 1, 2]), gaps)
    by_hand = [
        (3 * 0.8**2 + 0.5**2) / 4,
        (3 * 0.2**2 + 0.5**2) / 4,
        (3 * 0.2**2 + 0.5**2) / 4,
    ]
    np.testing.assert_allclose(found, by_hand)


def test_a_loss_is_the_crps_of_a_distribution_on_the_thresholds():
    """Probabilities as a step function between 0 and the sum of all gaps."""
    votes, positions, masses = draw(6)
    sigmoids, gaps = Sigmoids.fit(votes, positions, masses), np.array([3, 1, 4, 1, 5])
    places = np.append(0, np.cumsum(gaps))
    grid = np.arange(14) + 0.5  # steps of one
    threshold = np.searchsorted(places, grid) - 1
    below = 1 - sigmoids.probabilities(votes)[:, threshold]
    reached = grid >= places[positions][:, None]
    expected = ((below - reached) ** 2).sum(axis=1) / 14
    np.testing.assert_allclose(sigmoids.losses(votes, positions, gaps), expected)
