"""The near-minimax player of Section 3.2, played as Hedge: positions leave its lattice."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.certificates import regret_curve
from driftgames.games import (
    Chips,
    GreedyAdversary,
    PotentialPlayer,
    RandomAdversary,
    StochasticAdversary,
    move,
    play,
    potential_sum,
)
from driftgames.hedge import Hedge, RandomizedHedge
from driftgames.potentials import MinimaxPotential

HORIZON, RADIUS, PER_UNIT = 20, 8, 40
ALLOWANCE = HORIZON / PER_UNIT  # 0.5


@functools.cache
def solved(horizon=HORIZON, radius=RADIUS, per_unit=PER_UNIT):
    return MinimaxPotential.on_interval(
        lambda s: s <= -radius, horizon, per_unit=per_unit, keep_table=True
    )


def uniform_regrets(losses):
    """Return the regrets of a player who never learns, the largest first."""
    return regret_curve(losses.sum(axis=0), losses.mean(axis=1).sum()).regret


def assert_below_bound(regrets, phi):
    n = regrets.size
    promised = phi.bound(phi.horizon, np.arange(1, n + 1) / n)
    assert np.isfinite(promised).all()
    assert (regrets <= promised + 1e-9).all()


losses_of_any_kind = st.integers(1, 12).flatmap(
    lambda n: arrays(
        float,
        (HORIZON, n),
        elements=st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)),
    )
)


@settings(max_examples=100)
@given(losses=losses_of_any_kind)
def test_sec3_near_minimax_hedge_keeps_its_bound_with_the_spacing_allowance(losses):
    phi = solved()
    learner = Hedge(losses.shape[1], phi)
    learner.run(losses)
    assert_below_bound(np.sort(-learner.positions)[::-1], phi)
    assert learner.certificate().holds


def test_sec3_near_minimax_bound_means_something_and_a_lazy_player_breaks_it():
    """One action is always right. Uniform play has regret 15 to it; the bound is 8.5."""
    phi, losses = solved(), np.ones((HORIZON, 4))
    losses[:, 0] = 0.0
    promised = phi.bound(HORIZON, [0.25, 0.5, 0.75, 1.0])
    assert promised.tolist() == [RADIUS + ALLOWANCE] * 4
    with pytest.raises(AssertionError):
        assert_below_bound(uniform_regrets(losses), phi)
    learner = Hedge(4, phi)
    learner.run(losses)
    assert_below_bound(np.sort(-learner.positions)[::-1], phi)


@pytest.mark.parametrize("adversary", ["greedy", "random", "stochastic"])
@pytest.mark.parametrize("n_chips", [2, 5, 12])
def test_eq2_snapped_potential_sum_never_rises_in_hedge(adversary, n_chips):
    phi = solved()
    made = {
        "greedy": GreedyAdversary(phi),
        "random": RandomAdversary(),
        "stochastic": StochasticAdversary(gap=0.4),
    }
    record = play(
        PotentialPlayer(phi),
        made[adversary],
        n_chips=n_chips,
        horizon=HORIZON,
        observers={"sum": potential_sum(phi, HORIZON)},
        rng=2,
    )
    sums = np.concatenate([[phi.game_value], record.seen["sum"]])
    assert (np.diff(sums) <= 1e-12).all()
    share = np.mean(record.chips.positions <= -(RADIUS + ALLOWANCE))
    assert share <= phi.game_value


@settings(max_examples=60)
@given(
    moves=arrays(float, (8, 5), elements=st.floats(-1, 1)),
    per_unit=st.integers(1, 7),
    radius=st.integers(0, 6),
)
def test_eq2_snapped_potential_sum_never_rises_without_the_rule_on_differences(
    moves, per_unit, radius
):
    """Any moves within [-1, 1] whose weighted average is nonnegative, on any lattice."""
    phi = solved(8, radius, per_unit)
    player, chips, before = PotentialPlayer(phi), Chips.at_start(5), phi.game_value
    for row in moves:
        z = row if player.distribution(chips) @ row >= 0 else -row
        chips = move(chips, z)
        after = float(phi.value(chips.positions, chips.t).mean())
        assert after <= before + 1e-12
        before = after
    assert np.mean(chips.positions <= -(radius + 8 / per_unit)) <= phi.game_value + 1e-12


def test_snapped_weights_are_those_of_the_lattice_point_one_spacing_per_round_further():
    phi, lattice = solved(8, 3, 4), MinimaxPotential(lambda s: s <= -3, 8, np.arange(-4, 5) / 4)
    t = 5
    s = np.array([-3.0, -2.9, -2.76, -0.01, 0.0, 0.24, 0.26, 2.0])
    left = np.array([-3.0, -3.0, -3.0, -0.25, 0.0, 0.0, 0.25, 2.0])
    expected = lattice.weights(left + (t - 1) / 4, t)
    assert np.unique(expected).size > 3
    np.testing.assert_array_equal(phi.weights(s, t), expected)
    # a chip near the right end stands at the right end
    np.testing.assert_array_equal(phi.weights([3.9, 4.0], t), lattice.weights([4.0, 4.0], t))
    with pytest.raises(ValueError, match="4 rounds cannot reach"):
        phi.weights([4.3], t)
    with pytest.raises(ValueError, match="4 rounds cannot reach"):
        phi.weights([-4.3], t)


@pytest.mark.parametrize("per_unit", [10, 20, 100])
def test_bound_is_that_of_the_lattice_and_one_spacing_per_round(per_unit):
    grid = np.arange(-per_unit, per_unit + 1) / per_unit
    lattice = MinimaxPotential(lambda s: s <= -4, 10, grid)
    snapped = solved(10, 4, per_unit)
    assert snapped.game_value == lattice.game_value
    assert lattice.bound(10, 0.23) == 4.0
    assert snapped.bound(10, 0.23) == pytest.approx(4.0 + 10 / per_unit)
    assert snapped.bound(10, 0.22) == 10.0  # nothing but that ten rounds cannot lose more


def test_ends_that_are_no_multiples_are_rounded_outwards():
    phi = MinimaxPotential.on_interval(lambda s: s <= -1, 3, low=-0.75, high=0.25, per_unit=2)
    assert phi.moves == (-1.0, -0.5, 0.0, 0.5)
    np.testing.assert_allclose(phi.weights([-0.75, 0.25], 2), phi.weights([-1.0, 0.0], 2))


def test_hedge_on_a_lattice_alone_says_what_takes_every_position():
    learner = Hedge(3, MinimaxPotential(lambda s: s <= -2, 4, (-1.0, 0.0, 1.0)))
    learner.update([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"multiples of .* step 1.*on_interval takes every"):
        learner.distribution()
    assert str(solved(3, 2, 5)) == ("minimax player of 3 rounds with moves [-1, 1] in steps of 1/5")


def test_sec3_near_minimax_player_draws_actions_too():
    """With drawn actions the bound at delta / N fails in at most a share delta of the games."""
    games, delta, n = 300, 0.5, 3
    phi, exceeded = solved(), 0
    rng = np.random.default_rng(0)
    for game in range(games):
        learner = RandomizedHedge(n, phi, delta=delta, random_state=game)
        learner.run((rng.random((HORIZON, n)) < [0.1, 0.9, 0.9]) * 1.0)
        exceeded += float(-learner.positions.min()) >= float(learner.bound(HORIZON, 1 / n))
    assert float(learner.bound(HORIZON, 1 / n)) == RADIUS + ALLOWANCE
    assert exceeded / games <= delta
