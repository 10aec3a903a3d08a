"""Polytopes: what is refused, and that their measure is exact."""

import numpy as np
import pytest

from driftgames.oco import Box, Polytope, Simplex


def cube(d):
    return Polytope(np.vstack([np.eye(d), -np.eye(d)]), np.concatenate([np.ones(d), np.zeros(d)]))


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "must be bounded; coordinate 0 has no lower bound"),
        ([[-1.0], [1.0]], [-2.0, 1.0], "must not be empty"),
        ([[1.0], [-1.0]], [1.0, -1.0], "must have an interior"),
        ([[1.0, np.nan]], [1.0], "A must be finite"),
        ([1.0, 2.0], [1.0], "A must have one row per inequality"),
        ([[1.0]], [1.0, 2.0], r"b must be of shape \(1,\)"),
    ],
)
def test_unbounded_empty_and_flat_polytopes_are_refused(A, b, message):
    with pytest.raises(ValueError, match=message):
        Polytope(A, b)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_cube_has_the_moments_of_a_box(d):
    polytope, box = cube(d), Box(np.zeros(d), np.ones(d))
    assert np.allclose(polytope.mean, box.mean)
    assert np.allclose(polytope.covariance, box.covariance)


def test_beyond_the_triangulated_dimensions_points_are_drawn_by_a_long_walk():
    polytope = cube(6)
    assert not polytope.has_map
    points = polytope.sample(2000, np.random.default_rng(0))
    assert polytope.contains(points).all()
    assert np.abs(points.mean(axis=0) - 0.5).max() < 4.5 / np.sqrt(12 * 2000)
    assert np.abs(points.var(axis=0) - 1 / 12).max() < 0.01
    with pytest.raises(ValueError, match="integrate over it with HitAndRun"):
        polytope.from_cube(np.zeros((1, 6)))


def test_a_scaled_and_shifted_triangle_is_the_image_of_the_simplex():
    triangle = Polytope([[-1, 0], [0, -1], [1, 1]], [-100, -100, 201])
    corner = np.array([100.0, 100.0])
    assert np.allclose(triangle.mean, corner + 1 / 3)
    assert np.allclose(triangle.covariance, Simplex(3).covariance[:2, :2])


def test_inequalities_may_be_said_twice_or_say_nothing():
    A = np.vstack([np.eye(2), -np.eye(2), 3 * np.eye(2), [[1.0, 1.0]], [[0.0, 0.0]]])
    b = np.concatenate([np.ones(2), np.zeros(2), 3 * np.ones(2), [5.0], [1.0]])
    polytope, box = Polytope(A, b), Box([0.0, 0.0], [1.0, 1.0])
    assert np.allclose(polytope.mean, box.mean)
    assert np.allclose(polytope.covariance, box.covariance)
    with pytest.raises(ValueError, match="must not be empty; it asks that 0 be below 0"):
        Polytope([[1.0], [-1.0], [0.0]], [1.0, 0.0, -1.0])


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_the_inequalities_does_not_matter(scale):
    rows, sides = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), [1.0, 0.0, 1.0, 0.0]
    for polytope in (
        Polytope(scale * rows, scale * np.array(sides)),
        Polytope(rows, scale * np.array(sides)),
    ):
        assert polytope.contains(polytope.sample(50, np.random.default_rng(0))).all()


SCALES = pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e5, 1e9])


@SCALES
def test_projections_are_exact_for_sets_of_every_size(scale):
    """Answers by hand: a corner, a point of the long edge, a point of an axis, and no move."""
    triangle = Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, scale])
    for point, nearest in [
        ([3.0, 2.0], [1.0, 0.0]),
        ([1.0, 0.5], [0.75, 0.25]),
        ([-2.0, 0.25], [0.0, 0.25]),
        ([-1.0, -3.0], [0.0, 0.0]),
        ([0.0, 1.0 + 1e-6], [0.0, 1.0]),
        ([0.25, 0.5], [0.25, 0.5]),
    ]:
        found = triangle.project(scale * np.array(point))
        assert found == pytest.approx(scale * np.array(nearest), rel=1e-12, abs=1e-12 * scale)


@SCALES
def test_projections_onto_a_cube_are_those_onto_a_box(scale):
    sides = scale * np.ones(5)
    polytope = Polytope(np.vstack([np.eye(5), -np.eye(5)]), np.concatenate([sides, 0 * sides]))
    box, rng = Box(np.zeros(5), sides), np.random.default_rng(0)
    for point in scale * rng.normal(size=(50, 5)) * 10.0 ** rng.integers(-6, 7, size=(50, 1)):
        size = scale + np.abs(point).max()
        assert polytope.project(point) == pytest.approx(box.project(point), abs=1e-12 * size)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-8, 1.0, 1e8, 1e300])
def test_the_lowest_point_does_not_depend_on_the_length_of_the_gradient(size):
    triangle = Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])
    assert triangle.lowest(size * np.array([-2.0, -1.0])).tolist() == [1.0, 0.0]
    assert triangle.lowest(size * np.array([1.0, -1.0])).tolist() == [0.0, 1.0]
    assert triangle.contains(triangle.lowest(np.zeros(2))).all()
