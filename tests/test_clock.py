"""Work does not grow with the clock: a learner that has played 1e15 rounds answers at once."""

import json
import math
import tracemalloc

import mpmath
import numpy as np
import pytest

from driftgames.bandit import Exp3IX, PotentialBandit, TsallisINF
from driftgames.bandit.engines.exponential_engine import set_rate
from driftgames.bandit.policies.potential_check import check_bandit_potential
from driftgames.certificates import bounds
from driftgames.hedge import LEARNERS, RandomizedHedge
from driftgames.oco import Box, CoinBetting, ContinuousHedge, Grid, Interval
from driftgames.portfolio import BuyAndHold, UniversalPortfolio
from driftgames.potentials import NormalHedgeDT, Potential

LATE = 10**15
MOST_BYTES = 4 * 2**20  # an array over the rounds would take 8e15


def assert_small(action):
    tracemalloc.start()
    try:
        result = action()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    return result


def one_less_b(d, horizon, since):
    """Sum the series of exp term by term: sums of powers are differences of zeta functions."""
    c, total, k = mpmath.mpf(4) / d, mpmath.mpf(0), 1
    while True:
        if k == 1:
            power_sum = mpmath.digamma(horizon + 1) - mpmath.digamma(since + 1)
        else:
            power_sum = mpmath.zeta(k, since + 1) - mpmath.zeta(k, horizon + 1)
        term = c**k / mpmath.factorial(k) * power_sum
        total += term
        if term < mpmath.mpf(10) ** -30 * total:
            return total / 2
        k += 1


@pytest.mark.parametrize(("d", "since"), [(3.0, 0), (3.7, 0), (300.0, 5), (0.5, 1000)])
def test_the_sum_of_lem2_is_an_upper_bound_for_any_number_of_rounds(d, since):
    mpmath.mp.dps = 40
    phi = NormalHedgeDT(d)
    horizons = [since + 1, since + 4096, since + 4097, since + 5000, 10**7, 10**11, LATE]
    sums = assert_small(lambda: phi.one_less_b(np.array(horizons), since))
    for horizon, found in zip(horizons, sums, strict=True):
        excess = (mpmath.mpf(float(found)) / one_less_b(d, horizon, since)) - 1
        if horizon - since <= 4096:  # added up as they are, to the bit
            terms = [math.expm1(4 / (d * t)) for t in range(since + 1, horizon + 1)]
            assert float(found) == pytest.approx(math.fsum(terms) / 2, rel=1e-13)
        else:
            assert 0 < excess < 1e-12
        assert phi.one_less_b(horizon, since) == found


def test_the_bound_of_cor2_does_not_fall_where_the_sum_changes_its_form():
    horizons = np.arange(4000, 4200)
    assert (np.diff(NormalHedgeDT().bound(horizons, 0.01)) > 0).all()
    one = NormalHedgeDT().bound(LATE, 0.01)
    assert float(one) < float(bounds.corollary_2(LATE, 0.01)) < 1.1 * float(one)


def late(learner):
    """Return the learner as if it had played 1e15 rounds."""
    state = learner._get_state()
    if "totals" in state:
        state["totals"][0] = LATE
    elif "numbers" in state:
        state["numbers"][[0, 2]] = LATE
        if not isinstance(learner, TsallisINF):
            set_rate(state["numbers"], float(LATE))  # eta falls over time
    else:
        state["t"] = LATE
    learner._set_state(state)
    assert learner.t == LATE
    return learner


@pytest.mark.parametrize("name", ["normalhedge.dt", "adahedge", "drawn"])
def test_learners_from_expert_advice(name):
    learner = LEARNERS[name](3) if name in LEARNERS else RandomizedHedge(3, random_state=0)
    learner.update([0.1, 0.5, 0.9])
    late(learner)

    def play():
        learner.update([0.1, 0.5, 0.9])
        json.dumps(learner.content())
        return str(learner.certificate())

    assert "every bound holds" in assert_small(play)


@pytest.mark.parametrize("policy", [PotentialBandit(3), Exp3IX(3), TsallisINF(3)], ids=repr)
def test_policies(policy):
    late(policy)

    def play():
        arm, prob = policy.pull()
        policy.update(arm, 0.5, prob)
        policy.content()
        return policy.bound(LATE, 0.5)

    assert 0 < assert_small(play) < LATE


def test_strategies_and_convex_sets():
    for strategy in (BuyAndHold(2), UniversalPortfolio(2, n_points=64)):
        strategy.update([1.0, 1.5])
        late(strategy)
        assert_small(lambda each=strategy: (each.update([1.0, 2.0]), each.content()))
        assert strategy.t == LATE + 1
    for learner in (
        ContinuousHedge(Interval(), integration=Grid(9)),
        CoinBetting(Box([0.0], [1.0])),
    ):
        late(learner)
        assert_small(lambda each=learner: (each.predict(), each.content(), str(each.certificate())))


class Flat(Potential):
    """A potential that every round multiplies by the same factor, without a formula."""

    adaptive = False

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        left = 0 if horizon is None else horizon - t
        return np.exp(-1e-9 * np.asarray(positions) + left * np.log(np.cosh(1e-9)) - log_scale)


def test_conditions_of_thm4_and_values_of_games():
    assert_small(lambda: check_bandit_potential(Flat(), 2, 10**9))
    value = assert_small(lambda: bounds.relaxed_game_value(10**12, 10**6))
    # the binomial is a Gaussian here: 2 P(Z > 1)
    assert value == pytest.approx(0.3173, abs=1e-4)
