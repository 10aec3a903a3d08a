"""Where arrays lie in memory decides nothing: all placements give the same bits.

A compiler that may re-order sums writes a loop for arrays that lie apart and another for arrays
that may overlap, and chooses between them at run time. These tests put every array that a kernel
reads or writes into one buffer, in every order, at all distances up to 512 bytes.
"""

import itertools

import numpy as np
import pytest

from driftgames.hedge import LEARNERS

OFFSETS = range(0, 513, 8)
HELD = ("_cumulative", "_spare", "_memory")


def _placed(arrays, order, offset):
    """Return copies of the arrays in one buffer, ``offset`` bytes apart in this order."""
    gap = offset // 8
    buffer = np.zeros(sum(array.size + gap for array in arrays.values()))
    views, start = {}, 0
    for name in order:
        start += gap
        array = arrays[name]
        views[name] = buffer[start : start + array.size]
        views[name][:] = array
        start += array.size
    return views


def _played(make, L, order, offset):
    """Return all that a learner shows after a few rounds with its arrays placed so."""
    learner = make()
    arrays = {name: getattr(learner, name) for name in HELD} | {"row": L[0]}
    views = _placed(arrays, order, offset)
    for name in HELD:
        setattr(learner, name, views[name])
    seen = []
    for row in L:
        views["row"][:] = row
        seen.append(learner.update(views["row"]))
        seen += learner.distribution().tolist()
    return np.array(seen).tobytes()


@pytest.mark.parametrize("n", [7, 17, 40])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_distance_between_arrays_changes_no_bit(name, n):
    L = np.random.default_rng(n).random((6, n))

    def make():
        return LEARNERS[name](n, horizon=100)

    orders = list(itertools.permutations((*HELD, "row")))
    wanted = _played(make, L, orders[0], OFFSETS[-1])
    for offset in OFFSETS:
        # every order at the distances where loops change, two of them at the others
        chosen = orders if offset in (0, 8, 64, 512) else orders[:: len(orders) - 1]
        for order in chosen:
            assert _played(make, L, order, offset) == wanted, (order, offset)


@pytest.mark.parametrize("name", LEARNERS)
def test_rows_of_a_matrix_may_begin_anywhere(name):
    n, rounds = 19, 30
    L = np.random.default_rng(1).random((rounds, n))
    wanted = LEARNERS[name](n, horizon=rounds).run(L).learner_losses.tobytes()
    for offset in OFFSETS:
        buffer = np.zeros(L.size + 64)
        placed = buffer[offset // 8 : offset // 8 + L.size].reshape(L.shape)
        placed[:] = L
        assert LEARNERS[name](n, horizon=rounds).run(placed).learner_losses.tobytes() == wanted
