"""Bounds over the rounds of a run, where some rounds have none."""

import numpy as np
import pytest

from driftgames.certificates.regret_run import promised_at
from driftgames.potentials import NoBoundError

HORIZONS = np.arange(1, 8)


@pytest.mark.parametrize("least", [7, 5, 8])
def test_rounds_without_a_bound_leave_the_later_ones_theirs(least):
    """A learner that is tuned to its horizon has a bound for the last round alone."""

    def bound(horizon, epsilon):
        if (np.asarray(horizon) < least).any():
            raise NoBoundError("tuned to the end")
        return np.sqrt(horizon) / epsilon

    found = promised_at(bound, HORIZONS, 0.5)
    known = least <= HORIZONS
    np.testing.assert_array_equal(found[known], 2 * np.sqrt(HORIZONS[known]))
    assert np.isinf(found[~known]).all()
