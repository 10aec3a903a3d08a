import numpy as np
import pytest

from driftgames.oco import Ball, Box, Interval, Polytope, Simplex

SETS = {
    "interval": Interval(-1.0, 2.0),
    "box": Box([0.0, -1.0], [1.0, 3.0]),
    "box of 5": Box(np.arange(5.0), np.arange(5.0) + 2.0),
    "simplex": Simplex(3),
    "simplex of 6": Simplex(6),
    "ball": Ball([1.0, -1.0], 2.0),
    "ball of 5": Ball(np.ones(5), 0.5),
    "triangle": Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]),
    "octahedron": Polytope(
        [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], np.ones(8)
    ),
}


@pytest.fixture(params=SETS)
def domain(request):
    return SETS[request.param]
