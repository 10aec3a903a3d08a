"""The totals: a floor that rises without rounding, and rows that are checked."""

import numpy as np

from driftgames.hedge.rounds.totals import CLOCK, FLOOR, LEARNER, LOWEST, raise_floor


def test_raising_the_floor_moves_no_chip():
    cumulative = 300 + 100 * np.random.default_rng(0).random(50)
    before = cumulative.copy()
    lead = 301.123456789
    totals = np.array([900.0, lead, float(cumulative.min()), 17.0])
    raise_floor(cumulative, totals)
    raised = totals[FLOOR] - 17.0
    assert raised == np.floor(before.min())
    assert (cumulative + raised == before).all()
    assert totals[LEARNER] + raised == lead
    assert totals[LOWEST] == cumulative.min()
    assert totals[CLOCK] == 900.0


def test_a_low_floor_is_left_alone():
    cumulative, totals = np.array([3.0, 500.0]), np.array([600.0, 100.0, 3.0, 0.0])
    raise_floor(cumulative, totals)
    assert cumulative.tolist() == [3.0, 500.0]
    assert totals.tolist() == [600.0, 100.0, 3.0, 0.0]
