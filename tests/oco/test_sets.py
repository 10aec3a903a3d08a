"""Membership, uniform measure, moments and chords of every set."""

import numpy as np
import pytest

from driftgames.oco import Ball, Box, Interval, Polytope, Simplex


def test_uniform_samples_have_the_moments_of_the_set(domain):
    n = 40_000
    points = domain.sample(n, np.random.default_rng(1))
    assert domain.contains(points).all()
    spread = np.sqrt(np.diag(domain.covariance))
    assert np.abs(points.mean(axis=0) - domain.mean).max() < 4.5 * spread.max() / np.sqrt(n)
    # a bounded variable's products vary by no more than a few variances
    error = np.abs(np.cov(points.T) - domain.covariance).max()
    assert error < 6 * spread.max() ** 2 / np.sqrt(n)


def test_uniform_samples_fill_a_half_of_the_set_in_proportion(domain):
    """Moments alone would not tell a uniform law from another with the same two moments."""
    n = 40_000
    points = domain.sample(n, np.random.default_rng(2))
    # the part of a set shrunk by 1/2 towards one of its points has 2**-d of the volume
    anchor = points[0]
    inside = domain.contains(anchor + 2 * (points - anchor)).mean()
    share = 0.5**domain.dimension
    assert abs(inside - share) < 4.5 * np.sqrt(share / n)


def test_chords_end_on_the_boundary(domain):
    rng = np.random.default_rng(3)
    points = domain.sample(200, rng)
    directions = domain.directions(200, rng)
    first, last = domain.chords(points, directions)
    assert (first <= 0).all()
    assert (last >= 0).all()
    for ends, outward in ((first, -1), (last, 1)):
        at = points + ends[:, np.newaxis] * directions
        assert domain.contains(at).all()
        beyond = points + (ends + outward * 1e-3)[:, np.newaxis] * directions
        assert not domain.contains(beyond).any()


def test_directions_are_of_unit_length_and_stay_in_the_plane(domain):
    rng = np.random.default_rng(4)
    directions = domain.directions(100, rng)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1.0)
    start = np.repeat(domain.mean[np.newaxis], 100, axis=0)
    assert domain.contains(start + 1e-3 * directions).all()


def test_the_cube_fills_the_set_evenly(domain):
    """The image of a regular grid of cells has the mean of the set."""
    d, m = domain.dimension, {1: 3000, 2: 60, 3: 16}.get(domain.dimension, 5)
    axes = np.meshgrid(*[(np.arange(m) + 0.5) / m] * d, indexing="ij")
    points = domain.from_cube(np.stack([axis.ravel() for axis in axes], axis=1))
    assert domain.contains(points).all()
    assert np.allclose(points.mean(axis=0), domain.mean, atol=0.03)


def test_corners_of_the_cube_stay_in_the_set(domain):
    corners = np.array([np.zeros(domain.dimension), np.ones(domain.dimension)])
    points = domain.from_cube(corners)
    assert np.isfinite(points).all()
    assert domain.contains(points).all()


def test_a_simplex_point_has_nonnegative_entries_that_sum_to_one():
    points = Simplex(36).sample(1000, np.random.default_rng(0))
    assert points.min() >= 0
    assert np.abs(points.sum(axis=1) - 1).max() < 1e-14


def test_zero_direction_coordinates_reach_nothing():
    first, last = Box([0.0, 0.0], [1.0, 1.0]).chords(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]]))
    assert (first[0], last[0]) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Interval(1.0, 1.0), "low must lie below high"),
        (lambda: Box([0.0], [np.nan]), "high must be finite"),
        (lambda: Box([], []), "low must lie below high"),
        (lambda: Simplex(1), "n_coordinates must be an integer >= 2; got 1"),
        (lambda: Ball([0.0], 0.0), "radius must be a finite number > 0"),
        (lambda: Ball([]), "at least one coordinate"),
        (lambda: Box([0.0], [1.0]).contains([[0.0, 1.0]]), "points must have 1 columns"),
    ],
)
def test_bad_sets_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_lowest_point_is_in_the_set_and_below_all_others(domain):
    rng = np.random.default_rng(3)
    points = domain.sample(2000, rng)
    for gradient in rng.normal(size=(10, domain.n_coordinates)):
        lowest = domain.lowest(gradient)
        assert domain.contains(lowest).all()
        assert gradient @ lowest <= (points @ gradient).min() + 1e-9


def test_the_projection_is_the_nearest_point(domain):
    """(w - x).(u - x) <= 0 for every u of the set, which only the projection satisfies."""
    rng = np.random.default_rng(4)
    points = domain.sample(2000, rng)
    for _ in range(20):
        outside = domain.middle + 3 * rng.normal(size=domain.n_coordinates)
        x = domain.project(outside)
        assert domain.contains(x).all()
        assert ((points - x) @ (outside - x)).max() <= 1e-8
    assert domain.project(points[0]) == pytest.approx(points[0], abs=1e-12)


def test_no_point_is_farther_from_the_middle_than_farthest(domain):
    rng = np.random.default_rng(5)
    points = domain.sample(5000, rng)
    corners = [domain.lowest(g) for g in rng.normal(size=(50, domain.n_coordinates))]
    distances = np.linalg.norm(np.concatenate([points, corners]) - domain.middle, axis=1)
    assert distances.max() <= domain.farthest * (1 + 1e-12)
    assert distances.max() >= 0.5 * domain.farthest
    assert domain.contains(domain.middle).all()


def test_sets_are_equal_if_their_arguments_are():
    assert Box([0.0], [1.0]) == Interval() != Interval(0.0, 2.0)
    assert Simplex(3) == Simplex(3) != Simplex(4)
    assert Ball([0.0]) == Ball([0.0], 1.0) != Ball([0.0], 2.0)
    triangle = [[-1, 0], [0, -1], [1, 1]]
    assert Polytope(triangle, [0, 0, 1]) == Polytope(triangle, [0, 0, 1])
    assert Polytope(triangle, [0, 0, 1]) != Polytope(triangle, [0, 0, 2])
    assert Simplex(2) != Interval()


@pytest.mark.parametrize("size", [1e3, 1e9, 1e17, 1e300])
def test_points_far_from_the_simplex_are_projected(size):
    assert Simplex(2).project(np.array([size, 0.0])).tolist() == [1.0, 0.0]
    assert Simplex(3).project(np.array([-size, 0.0, -size])).tolist() == [0.0, 1.0, 0.0]
    assert Simplex(3).project(np.full(3, size)) == pytest.approx(np.full(3, 1 / 3), rel=1e-15)
    assert Simplex(3).project(np.array([size, size, 0.0])).tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize(
    ("make", "arrays"),
    [
        (Box, {"low": np.zeros(2), "high": np.ones(2)}),
        (Ball, {"center": np.zeros(2)}),
        (Polytope, {"A": np.vstack([np.eye(2), -np.eye(2)]), "b": np.ones(4)}),
    ],
    ids=["box", "ball", "polytope"],
)
def test_a_set_keeps_its_own_arrays(make, arrays):
    given = {name: array.copy() for name, array in arrays.items()}
    domain = make(**given)
    for array in given.values():
        array += 7.0
    assert domain == make(**arrays)
    for name in arrays:
        with pytest.raises(ValueError, match="read-only"):
            getattr(domain, name)[:] = 7.0
    lowest = domain.lowest(np.zeros(2))
    lowest += 7.0  # what a set returns is the caller's
    assert domain == make(**arrays)
