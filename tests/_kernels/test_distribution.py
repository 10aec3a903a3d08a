"""Draws from a distribution: those of a cumulative sum, and never an action of probability 0."""

import numpy as np

from driftgames._kernels.distribution import draw


def test_a_uniform_number_at_the_edge_draws_an_arm_with_weight():
    p = np.array([0.25, 0.75 - 1e-16, 0.0])
    assert draw(p, np.nextafter(1.0, 0.0)) == 1
    assert draw(np.array([0.0, 1.0]), 0.0) == 1


def test_a_long_row_of_arms_is_drawn_as_a_cumulative_sum_draws_it():
    rng = np.random.default_rng(0)
    for n in (255, 256, 257, 1000, 5000):
        p = rng.random(n) ** 4
        p[rng.random(n) < 0.5] = 0.0
        p /= p.sum()
        heights = np.cumsum(p)
        for uniform in [*rng.random(200), 0.0, np.nextafter(1.0, 0.0)]:
            arm = draw(p, uniform)
            assert p[arm] > 0
            assert heights[arm] - p[arm] - 1e-12 <= uniform <= heights[arm] + 1e-12


def test_blocks_without_weight_at_the_end_are_never_drawn():
    p = np.zeros(1000)
    p[3] = 1.0 - 1e-15
    assert draw(p, np.nextafter(1.0, 0.0)) == 3
