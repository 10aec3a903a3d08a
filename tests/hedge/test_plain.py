"""The plain twins play what the compiled learner plays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.hedge import Hedge
from driftgames.hedge.plain import normal_hedge_dt_weights, play_hedge
from driftgames.potentials import POTENTIALS, NormalHedgeDT


@pytest.mark.parametrize("name", POTENTIALS)
def test_the_plain_twin_of_hedge_plays_the_same(name):
    rng = np.random.default_rng(0)
    for sharpness in (0.25, 1.0, 4.0):
        losses = rng.random((300, 7)) ** sharpness
        learner = Hedge(7, POTENTIALS[name](300, 0.1))
        if learner.potential.last_round < 300:
            losses = losses[: int(learner.potential.last_round)]
        plain = play_hedge(losses, learner.potential)
        np.testing.assert_allclose(plain, learner.run(losses).learner_losses, atol=1e-10)


@given(
    st.lists(st.floats(-30, 30), min_size=1, max_size=12),
    st.integers(1, 200),
    st.sampled_from([3.0, 4.0, 5.0]),
)
def test_the_plain_weights_are_those_of_the_kernels(positions, t, d):
    s = np.clip(np.array(positions), -t, t)
    plain = normal_hedge_dt_weights(s, t, d)
    kernel = NormalHedgeDT(d).weights(s, t, log_scale=0.0)
    np.testing.assert_allclose(plain, kernel, rtol=1e-9, atol=1e-12 * plain.max())


def test_a_safe_chip_weighs_exactly_zero_in_both():
    s = np.array([0.5, 1.0, 1.5])
    assert (normal_hedge_dt_weights(s, 5) == 0).tolist() == [False, True, True]
    assert (NormalHedgeDT().weights(s, 5) == 0).tolist() == [False, True, True]
