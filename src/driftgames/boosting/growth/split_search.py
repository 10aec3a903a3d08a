"""The search for the best question of a node: written once, compiled for two classes and for pairs.

All sums are integers. Scores are floats that are computed from exact sums in one order of
operations, so that every machine and every number of threads chooses the same question.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, specialise
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.growth.shape import EXHAUSTIVE

LANES: int = NotImplemented  # names for `specialise` to bind
nothing: Callable[..., Any] = NotImplemented
of_node: Callable[..., Any] = NotImplemented
bin_weight: Callable[..., Any] = NotImplemented
take_bin: Callable[..., Any] = NotImplemented
add_bin: Callable[..., Any] = NotImplemented
plus: Callable[..., Any] = NotImplemented
minus: Callable[..., Any] = NotImplemented
weight: Callable[..., Any] = NotImplemented
size: Callable[..., Any] = NotImplemented
contrast: Callable[..., Any] = NotImplemented
steps_against: Callable[..., Any] = NotImplemented
score: Callable[..., Any] = NotImplemented
write: Callable[..., Any] = NotImplemented
gather: Callable[..., Any] = NotImplemented

_BOUND = [
    "LANES",
    "nothing",
    "of_node",
    "bin_weight",
    "take_bin",
    "add_bin",
    "plus",
    "minus",
    "weight",
    "size",
    "contrast",
    "steps_against",
    "score",
    "write",
]


def compile_search(sides: ModuleType) -> Callable[..., Any]:
    """Return `find_split` for the sides of two classes, or of several."""
    own = {name: getattr(sides, name) for name in _BOUND}
    gathering = specialise(_gather, inner_kernel, LANES=sides.LANES)
    return specialise(_find_split, inner_kernel, gather=gathering, **own)


def _find_split(
    sums: Array,
    slot: int,
    totals: Array,
    bins: FeatureBins,
    first_feature: int,
    last_feature: int,
    least: int,
    criterion: int,
    of_feature: Array,
    buffers: Array,
    found: Array,
    found_left: Array,
) -> float:
    """Return the best score of a question of one node, and write the question to ``found``.

    ``sums[p, slot]`` holds the sums of the node over the rows of share ``p`` in each bin that rows
    list, and ``totals`` those over all bins. ``found`` becomes (feature, cut, whether missing
    values go left), and ``found_left`` the totals of the left side. The feature is -1 if there is
    no question. Only features from ``first_feature`` to ``last_feature`` are asked about. Both
    sides have a positive weight and, if leaves have a least size, the size ``least``. Where
    ``monotonic[j]`` is not 0, no cut has votes that step the other way. ``of_feature`` and
    ``buffers`` are scratch buffers: the sums of one feature, and four sides.

    Ties go to the lowest feature, then to the lowest cut, then to missing values on the left. If
    no missing value has weight, they go to the side of more weight (left if equal).

    An exhaustive stump may have all the weight on one side: it then votes for one class.
    """
    offsets, implicit = bins.offsets, bins.implicit
    missing, monotonic = bins.missing, bins.monotonic
    node = of_node(totals)
    exhaustive = criterion == EXHAUSTIVE
    best = -1.0
    best_edge = np.int64(-1)
    found[0] = -1
    at = offsets[first_feature]  # where the sums of the feature begin
    for j in range(first_feature):
        at -= implicit[j] >= 0
    for j in range(first_feature, last_feature):
        n_bins = offsets[j + 1] - offsets[j]
        gather(sums, slot, totals, at, n_bins, implicit[j], of_feature)
        at += n_bins - (implicit[j] >= 0)
        n_known = n_bins - missing[j]
        lost = nothing(buffers[0])
        if missing[j]:
            lost = take_bin(of_feature, n_known, buffers[0])
        gone = missing[j] and weight(lost) > 0
        known = nothing(buffers[1])
        for b in range(n_known):
            if bin_weight(of_feature, b) == 0 and (b > 0 or not exhaustive):
                continue  # the same two sides as at the cut before
            known = add_bin(known, of_feature, b)
            asks_missing = b == n_known - 1  # all known values go left
            for side in range(0 if gone else 1, 2):  # missing values go left, then right
                left = known
                if side == 0:
                    left = plus(known, lost, buffers[2])
                right = minus(node, left, buffers[3])
                if exhaustive:
                    if asks_missing and (side == 0 or not missing[j]):
                        continue
                    edge = contrast(left, right)
                    if monotonic[j] != 0 and not asks_missing:
                        edge = -monotonic[j] * edge
                    else:
                        edge = abs(edge)
                    better = edge > best_edge
                    value = float(edge)
                else:
                    if weight(right) == 0:
                        continue
                    bound = monotonic[j] != 0 and not asks_missing
                    if bound and steps_against(left, right, monotonic[j]):
                        continue
                    if least > 1 and (size(left) < least or size(right) < least):
                        continue
                    edge = best_edge
                    value = score(left, criterion) + score(right, criterion)
                    better = value > best
                if better:
                    best = value
                    best_edge = edge
                    found[0] = j
                    found[1] = b
                    found[2] = side == 0
                    if not gone and not asks_missing:
                        found[2] = weight(left) >= weight(right)
                    write(left, found_left)
    return best


def _gather(
    sums: Array, slot: int, totals: Array, at: int, n_bins: int, hidden: int, out: Array
) -> None:
    """Write the sums of one feature over all shares; bin ``hidden`` has what the others leave."""
    for k in range(totals.shape[0]):
        own = out[k]
        for b in range(LANES * n_bins):
            own[b] = 0
        for p in range(sums.shape[0]):
            listed = sums[p, slot, k]
            place = np.uint64(LANES * at)
            for b in range(n_bins):
                if b != hidden:
                    for lane in range(LANES):
                        own[LANES * b + lane] += listed[place]
                        place += np.uint64(1)
        if hidden >= 0:
            for lane in range(LANES):
                rest = totals[k, lane]
                for b in range(n_bins):
                    rest -= own[LANES * b + lane] if b != hidden else 0
                own[LANES * hidden + lane] = rest
