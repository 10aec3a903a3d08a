"""The logarithm that vectorises."""

import numpy as np
from mpmath import mp

from driftgames._kernels.jit import kernel
from driftgames._kernels.portfolio import log


@kernel
def _logs(x, out):
    for i in range(x.size):
        out[i] = log(x[i])


def test_log_is_that_of_mpmath_to_a_few_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [
            np.exp(rng.uniform(-700, 700, 500)),
            1 + rng.uniform(-0.5, 0.5, 500),
            1 + np.logspace(-15, -1, 50),
            1 - np.logspace(-15, -1, 50),
            [1.0, 2.0, 0.5, np.sqrt(2), np.sqrt(0.5)],
        ]
    )
    out = np.empty_like(x)
    _logs(x, out)
    exact = [mp.log(mp.mpf(float(value))) for value in x]
    for value, wanted in zip(out, exact, strict=True):
        assert abs(value - wanted) <= 4e-16 * abs(wanted) + (0 if abs(wanted) < 0.3 else 2e-16)
    assert out[-5] == 0.0
