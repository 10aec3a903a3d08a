"""The search for the best question of a node: written once, compiled for two classes and several.

All sums are integers. Scores are floats that are computed from exact sums in one order of
operations, so that every machine and every number of threads chooses the same question. The scores
of all cuts of a feature are written first and compared afterwards: so the compiler can use vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.engine.shape import EXHAUSTIVE

sides = Part("sides")

MOST_BINS = 256
"""The most bins that a feature has."""


class FeatureCuts(NamedTuple):
    """The cuts of one feature in a node: one behind each bin of known values."""

    table: Array
    """The sums of the node in each bin, of this feature and maybe of others."""
    first: int
    """Where the bins of the feature begin in the table."""
    n_cuts: int
    missing_bin: int
    """The bin of missing values in the table if they go left, else -1."""
    totals: Array
    """The sums of the node over all bins."""
    direction: int
    """The sign of the step that the vote may take, 0 for any."""


@inner_kernel
def find_question(p: int, f: int, bins: FeatureBins, nodes: Any) -> None:
    """Write the best question of fresh leaf ``f`` on the features of share ``p`` to ``best``.

    ``sums[q, slot]`` holds the sums of the node over the rows of share ``q`` in each bin that rows
    list, and ``totals`` those over all bins. The feature is -1 if there is no question. Both sides
    have a positive weight and, if leaves have a least size, that size. Where ``monotonic[j]`` is
    not 0, no cut has votes that step the other way.

    Ties go to the lowest feature, then to the lowest cut, then to missing values on the left. If
    no missing value has weight, they go to the side of more weight (left if equal).

    An exhaustive stump may have all the weight on one side: it then votes for one class.
    """
    node = nodes.fresh[f]
    sums, slot, totals = nodes.sums, nodes.slots[node], nodes.totals[node]
    criterion = nodes.criterion
    scores, edges = nodes.cut_scores[p], nodes.cut_edges[p]  # missing values go left, then right
    best, best_left = nodes.best[p, f], nodes.best_lefts[p, f]
    offsets, implicit = bins.offsets, bins.implicit
    missing, monotonic = bins.missing, bins.monotonic
    n_features, n_shares = implicit.size, nodes.best.shape[0]
    first_feature = n_features * p // n_shares
    best.score = -1.0
    best.feature = -1
    best_edge = np.int64(-1)
    begin = _begin_of(first_feature, bins)
    for j in range(first_feature, n_features * (p + 1) // n_shares):
        n_bins = offsets[j + 1] - offsets[j]
        table, first = sums[0, slot], begin
        if n_shares > 1 or implicit[j] >= 0:
            table, first = nodes.feature_sums[p], np.int64(0)
            _gather(sums, slot, totals, begin, n_bins, implicit[j], table)
        begin += n_bins - (implicit[j] >= 0)
        n_known = n_bins - missing[j]
        any_missing = missing[j] and sides.bin_weight(table, first + n_known) > 0
        first_side = 0 if any_missing else 1
        for side in range(first_side, 2):
            missing_bin: Any = first + n_known if side == 0 else np.int64(-1)
            cuts = FeatureCuts(table, first, n_known, missing_bin, totals, monotonic[j])
            _measure_cuts(p, side, cuts, nodes)
        if criterion == EXHAUSTIVE:
            edges[0, n_known - 1] = -1  # all values on one side
            if not missing[j]:
                edges[1, n_known - 1] = -1
            cut = _find_largest(edges, first_side, n_known, best_edge)
        else:
            cut = _find_largest(scores, first_side, n_known, best.score)
        if cut >= 0:
            b, side = cut >> 1, cut & 1
            if criterion == EXHAUSTIVE:
                best_edge = edges[side, b]
                best.score = float(best_edge)
            else:
                best.score = scores[side, b]
            missing_bin = first + n_known if side == 0 else np.int64(-1)
            _write_left(table, first, b, missing_bin, best_left)
            best.feature = j
            best.cut = b
            best.missing_left = side == 0
            if not any_missing and b < n_known - 1:
                best.missing_left = 2 * sides.node_weight(best_left) >= sides.node_weight(totals)


@inner_kernel
def _begin_of(feature: int, bins: FeatureBins) -> Any:
    """Return where the sums of a feature begin among those of all bins that rows list."""
    begin = bins.offsets[feature]
    for j in range(feature):
        begin -= bins.implicit[j] >= 0
    return begin


@inner_kernel
def _measure_cuts(p: int, side: int, cuts: FeatureCuts, nodes: Any) -> None:
    """Write the score of every cut, or its edge, to the buffers of share ``p``."""
    if nodes.criterion == EXHAUSTIVE:
        sides.edge_cuts(cuts, nodes.running[p], nodes.cut_edges[p, side])
    else:
        scores = nodes.cut_scores[p, side]
        sides.score_cuts(cuts, nodes.least_size, nodes.criterion, nodes.running[p], scores)


@inner_kernel
def _find_largest(scores: Array, first_side: int, n_cuts: int, best: Any) -> Any:
    """Return ``2 * cut + side`` of the first score above ``best`` and all others, or -1."""
    largest = -1
    if first_side == 1:
        for b in range(n_cuts):
            if scores[1, b] > best:
                best = scores[1, b]
                largest = 2 * b + 1
        return largest
    for b in range(n_cuts):
        for side in range(2):
            if scores[side, b] > best:
                best = scores[side, b]
                largest = 2 * b + side
    return largest


@inner_kernel
def _write_left(table: Array, first: int, cut: int, missing_bin: int, out: Array) -> None:
    """Write the totals of the left side: the bins up to a cut, and maybe that of missing values."""
    lanes = sides.LANES
    for k in range(out.shape[0]):
        row = table[k]
        for lane in range(lanes):
            total = row[lanes * missing_bin + lane] if missing_bin >= 0 else np.int64(0)
            for b in range(cut + 1):
                total += row[lanes * (first + b) + lane]
            out[k, lane] = total


@inner_kernel
def _gather(
    sums: Array, slot: int, totals: Array, begin: int, n_bins: int, implicit: int, out: Array
) -> None:
    """Write the sums of one feature over all shares; bin ``implicit`` has what the others leave."""
    lanes = sides.LANES
    n_before = lanes * (n_bins if implicit < 0 else implicit)
    n_after = lanes * (n_bins - 1) - n_before if implicit >= 0 else 0
    for k in range(totals.shape[0]):
        gathered = out[k]
        for b in range(lanes * n_bins):
            gathered[b] = 0
        for p in range(sums.shape[0]):
            listed = sums[p, slot, k]
            start = lanes * begin
            for b in range(n_before):
                gathered[b] += listed[start + b]
            start += n_before
            for b in range(n_after):
                gathered[n_before + lanes + b] += listed[start + b]
        if implicit >= 0:
            for lane in range(lanes):
                rest = totals[k, lane]
                for b in range(n_bins):
                    rest -= gathered[lanes * b + lane]
                gathered[lanes * implicit + lane] = rest
