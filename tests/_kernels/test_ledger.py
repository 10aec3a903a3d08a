"""The ledger: a floor that rises without rounding, and rows that are checked."""

import numpy as np
import pytest

from driftgames._kernels.ledger import CLOCK, FLOOR, LEAD, LOWEST, all_inside, settle


def test_raising_the_floor_moves_no_chip():
    cumulative = 300 + 100 * np.random.default_rng(0).random(50)
    before = cumulative.copy()
    lead = 301.123456789
    ledger = np.array([900.0, lead, float(cumulative.min()), 17.0])
    settle(cumulative, ledger)
    raised = ledger[FLOOR] - 17.0
    assert raised == np.floor(before.min())
    assert (cumulative + raised == before).all()
    assert ledger[LEAD] + raised == lead
    assert ledger[LOWEST] == cumulative.min()
    assert ledger[CLOCK] == 900.0


def test_a_low_floor_is_left_alone():
    cumulative, ledger = np.array([3.0, 500.0]), np.array([600.0, 100.0, 3.0, 0.0])
    settle(cumulative, ledger)
    assert cumulative.tolist() == [3.0, 500.0]
    assert ledger.tolist() == [600.0, 100.0, 3.0, 0.0]


@pytest.mark.parametrize("size", [1, 3, 4, 17, 100])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-300, np.nextafter(1.0, 2.0)])
def test_a_stray_entry_is_seen_wherever_it_stands(size, bad):
    row = np.linspace(0.0, 1.0, size)
    assert all_inside(row, 0.0, 1.0)
    for i in range(size):
        stray = row.copy()
        stray[i] = bad
        assert not all_inside(stray, 0.0, 1.0)
