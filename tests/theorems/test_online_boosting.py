"""The bounds on the mistakes of online boosters, on any stream, and players who break them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.boosting.engine.rules import MajorityRule
from driftgames.online_boosting import ONLINE_BOOSTERS, AdaBoostOL, OnlineBBM

SIGNS = st.sampled_from([-1.0, 1.0])


def play(booster, right):
    """Play a stream: ``right`` says which weak learner is right on which example."""
    rng = np.random.default_rng(0)
    labels = rng.choice([-1, 1], len(right)).tolist()
    for z, label in zip(np.where(right, 1.0, -1.0), labels, strict=True):
        booster.update(label * z, label)
    return booster


@pytest.mark.parametrize("name", ONLINE_BOOSTERS)
@settings(max_examples=50)
@given(moves=arrays(float, st.tuples(st.integers(1, 40), st.just(5)), elements=SIGNS))
def test_mistakes_stay_below_the_bound_on_any_stream(name, moves):
    booster = play(ONLINE_BOOSTERS[name](5, 0.2), moves > 0)
    assert booster.certificate().holds


@pytest.mark.parametrize("name", ONLINE_BOOSTERS)
@pytest.mark.parametrize("n", [1, 11, 60])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_mistakes_stay_below_the_bound_for_learners_of_every_kind(name, n, share):
    rng = np.random.default_rng(n)
    rounds = 200
    free = rng.random((rounds, n)) < share
    same = np.repeat(free[:, :1], n, axis=1)  # all copies err together
    turning = np.where(np.arange(rounds)[:, None] < 100, free, ~free)
    for right in (free, same, turning, free & same, np.zeros_like(free)):
        assert play(ONLINE_BOOSTERS[name](n, 0.1), right).certificate().holds


def test_bbm_mistakes_are_the_game_value_and_what_edges_fall_short_of():
    """Every step of the game with moves -1 and +1 is an equality."""
    rng = np.random.default_rng(1)
    booster = OnlineBBM(7, edge=0.15)
    right, short = rng.random((300, 7)) < rng.random(7), 0.0
    for z in np.where(right, 1.0, -1.0):
        before = np.cumsum(z < 0) - (z < 0)
        weights = booster._table[np.arange(7), before]
        short += float((weights * (0.3 - z)).sum())
        booster.update(z, 1)
    assert booster.mistakes == pytest.approx(300 * booster.game_value + short, rel=1e-12)


def test_bbm_weights_are_those_of_boost_by_majority():
    online, counted = OnlineBBM(9, edge=0.12), MajorityRule(9, 0.12)
    assert online.game_value == pytest.approx(counted.game_value, rel=1e-12)
    for t in range(1, 10):
        k = np.arange(t)
        wanted = counted.weights(k, t, 0.0, np.ones(t, dtype=np.int64))
        found = online._table[t - 1, :t]
        assert np.allclose(found / found.max(), wanted / wanted.max(), rtol=1e-9)


@pytest.mark.parametrize("n", [5, 21])
def test_bbm_promises_little_more_than_the_game_value_to_learners_with_the_edge(n):
    rng = np.random.default_rng(2)
    found = play(OnlineBBM(n, edge=0.1), rng.random((8_000, n)) < 0.62).certificate()
    value = OnlineBBM(n, edge=0.1).game_value
    assert found.promised < 1.01 * value * 8_000
    assert found.realised > 0.7 * found.promised


def test_adaboost_ol_promises_something_to_strong_learners():
    rng = np.random.default_rng(3)
    found = play(AdaBoostOL(30), rng.random((4_000, 30)) < 0.85).certificate()
    assert found.realised < 0.02 * 4_000
    assert found.promised < 0.3 * 4_000


class LazyBBM(OnlineBBM):
    """Gives every example the same weight."""

    def _move(self, moves):
        return np.full(self._n_learners, 0.1), super()._move(moves)[1]


class LazyOL(AdaBoostOL):
    """Gives every example the same weight, and every weak learner the same vote."""

    def _move(self, moves):
        margins = np.cumsum(moves)
        return np.ones(self._n_learners), self._hedge.update((margins <= 0) * 1.0)


@pytest.mark.parametrize(
    ("lazy", "booster"),
    [(LazyBBM(41, edge=0.3), OnlineBBM(41, edge=0.3)), (LazyOL(50), AdaBoostOL(50))],
)
def test_a_lazy_player_breaks_the_bound(lazy, booster):
    """All learners are right on the same 8 of 10 examples: the majority errs on the others."""
    right = np.repeat(np.random.default_rng(4).random((5000, 1)) < 0.82, lazy.n_learners, axis=1)
    broken = play(lazy, right).certificate()
    assert not broken.holds
    assert broken.promised < 0.95 * broken.realised
    assert play(booster, right).certificate().holds
