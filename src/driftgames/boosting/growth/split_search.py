"""The search for the best question of a node: written once, compiled for two classes and for pairs.

All sums are integers. Scores are floats that are computed from exact sums in one order of
operations, so that every machine and every number of threads chooses the same question. The scores
of all cuts of a feature are written first and compared afterwards: so the compiler can use vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, specialise
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.growth.shape import EXHAUSTIVE

MOST_BINS = 256
"""The most bins that a feature has."""

LANES: int = NotImplemented  # names for `specialise` to bind
bin_weight: Callable[..., Any] = NotImplemented
score_cuts: Callable[..., Any] = NotImplemented
edge_cuts: Callable[..., Any] = NotImplemented
node_weight: Callable[..., Any] = NotImplemented
gather: Callable[..., Any] = NotImplemented
write_left: Callable[..., Any] = NotImplemented


def compile_search(sides: ModuleType) -> Callable[..., Any]:
    """Return `find_split` for the sides of two classes, or of several."""
    names = ("bin_weight", "score_cuts", "edge_cuts", "node_weight")
    return specialise(
        _find_split,
        inner_kernel,
        **{name: getattr(sides, name) for name in names},
        gather=specialise(_gather, inner_kernel, LANES=sides.LANES),
        write_left=specialise(_write_left, inner_kernel, LANES=sides.LANES),
    )


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
    running: Array,
    scores: Array,
    edges: Array,
    found: Array,
    found_left: Array,
) -> float:
    """Return the best score of a question of one node, and write the question to ``found``.

    ``sums[p, slot]`` holds the sums of the node over the rows of share ``p`` in each bin that rows
    list, and ``totals`` those over all bins. ``found`` becomes (feature, cut, whether missing
    values go left), and ``found_left`` the totals of the left side. The feature is -1 if there is
    no question. Only features from ``first_feature`` to ``last_feature`` are asked about. Both
    sides have a positive weight and, if leaves have a least size, the size ``least``. Where
    ``monotonic[j]`` is not 0, no cut has votes that step the other way. The others are scratch
    buffers: the sums of one feature, sums up to a cut, and scores or edges of all cuts, first with
    missing values on the left, then on the right.

    Ties go to the lowest feature, then to the lowest cut, then to missing values on the left. If
    no missing value has weight, they go to the side of more weight (left if equal).

    An exhaustive stump may have all the weight on one side: it then votes for one class.
    """
    offsets, implicit = bins.offsets, bins.implicit
    missing, monotonic = bins.missing, bins.monotonic
    best = -1.0
    best_edge = np.int64(-1)
    found[0] = -1
    at = offsets[first_feature]  # where the sums of the feature begin
    for j in range(first_feature):
        at -= implicit[j] >= 0
    for j in range(first_feature, last_feature):
        n_bins = offsets[j + 1] - offsets[j]
        table, first = sums[0, slot], at
        if sums.shape[0] > 1 or implicit[j] >= 0:
            table, first = of_feature, np.int64(0)
            gather(sums, slot, totals, at, n_bins, implicit[j], of_feature)
        at += n_bins - (implicit[j] >= 0)
        n_known = n_bins - missing[j]
        gone = missing[j] and bin_weight(table, first + n_known) > 0
        begin = 0 if gone else 1  # missing values go left, then right
        for side in range(begin, 2):
            lost = first + n_known if side == 0 else np.int64(-1)
            if criterion == EXHAUSTIVE:
                edge_cuts(table, first, n_known, lost, totals, monotonic[j], running, edges[side])
            else:
                score_cuts(
                    table,
                    first,
                    n_known,
                    lost,
                    totals,
                    least,
                    monotonic[j],
                    criterion,
                    running,
                    scores[side],
                )
        if criterion == EXHAUSTIVE:
            edges[0, n_known - 1] = -1  # all values on one side
            if not missing[j]:
                edges[1, n_known - 1] = -1
            cut = _find_largest(edges, begin, n_known, best_edge)
        else:
            cut = _find_largest(scores, begin, n_known, best)
        if cut >= 0:
            b, side = cut >> 1, cut & 1
            if criterion == EXHAUSTIVE:
                best_edge = edges[side, b]
                best = float(best_edge)
            else:
                best = scores[side, b]
            write_left(table, first, b, n_known if side == 0 else -1, found_left)
            found[0] = j
            found[1] = b
            found[2] = side == 0
            if not gone and b < n_known - 1:
                found[2] = 2 * node_weight(found_left) >= node_weight(totals)
    return best


@inner_kernel
def _find_largest(scores: Array, begin: int, n_cuts: int, best: Any) -> Any:
    """Return ``2 * cut + side`` of the first score above ``best`` and all others, or -1."""
    found = -1
    if begin == 1:
        for b in range(n_cuts):
            if scores[1, b] > best:
                best = scores[1, b]
                found = 2 * b + 1
        return found
    for b in range(n_cuts):
        for side in range(2):
            if scores[side, b] > best:
                best = scores[side, b]
                found = 2 * b + side
    return found


def _write_left(table: Array, first: int, cut: int, lost: int, out: Array) -> None:
    """Write the totals of the bins up to a cut; those of bin ``lost`` too, if it is not -1."""
    for k in range(out.shape[0]):
        row = table[k]
        for lane in range(LANES):
            total = row[LANES * (first + lost) + lane] if lost >= 0 else np.int64(0)
            for b in range(cut + 1):
                total += row[LANES * (first + b) + lane]
            out[k, lane] = total


def _gather(
    sums: Array, slot: int, totals: Array, at: int, n_bins: int, hidden: int, out: Array
) -> None:
    """Write the sums of one feature over all shares; bin ``hidden`` has what the others leave."""
    n_before = LANES * (n_bins if hidden < 0 else hidden)
    n_after = LANES * (n_bins - 1) - n_before if hidden >= 0 else 0
    for k in range(totals.shape[0]):
        own = out[k]
        for b in range(LANES * n_bins):
            own[b] = 0
        for p in range(sums.shape[0]):
            listed = sums[p, slot, k]
            begin = LANES * at
            for b in range(n_before):
                own[b] += listed[begin + b]
            begin += n_before
            for b in range(n_after):
                own[n_before + LANES + b] += listed[begin + b]
        if hidden >= 0:
            for lane in range(LANES):
                rest = totals[k, lane]
                for b in range(n_bins):
                    rest -= own[LANES * b + lane]
                own[LANES * hidden + lane] = rest
