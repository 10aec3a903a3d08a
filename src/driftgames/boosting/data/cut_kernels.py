"""Loops that choose cuts: the distinct values of columns, their mass, and quantiles of it."""

from __future__ import annotations

import numpy as np

from driftgames._kernels.jit import kernel
from driftgames.boosting.data.bins import Array, first_from


@kernel
def distinct_values(X: Array, values: Array, sizes: Array) -> None:
    """Collect the distinct values of each column, ascending, as long as they are few.

    ``sizes[j]`` becomes the number of values, or the length of ``values[j]`` if there are more.
    NaN is left out.
    """
    most = values.shape[1]
    n_open = X.shape[1]  # the columns that have few values so far
    for i in range(X.shape[0]):
        if n_open == 0:
            break
        for j in range(X.shape[1]):
            size = sizes[j]
            x = np.float64(X[i, j])
            if size < most and not np.isnan(x):
                at = first_from(values[j], 0, size, x)
                if at == size or values[j, at] != x:
                    for b in range(size, at, -1):
                        values[j, b] = values[j, b - 1]
                    values[j, at] = x
                    sizes[j] = size + 1
                    n_open -= size + 1 == most


@kernel
def column_spans(
    indptr: Array,
    indices: Array,
    data: Array,
    sample_weights: Array,
    low: Array,
    high: Array,
    known: Array,
    lost: Array,
) -> None:
    """Find the least and largest value stored in each column of a CSR matrix, and their mass.

    ``lost`` adds up the sample weights of the stored NaN, and ``known`` those of the other entries.
    """
    for i in range(indptr.size - 1):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[e])
            x = np.float64(data[e])
            if np.isnan(x):
                lost[j] += sample_weights[i]
            else:
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)
                known[j] += sample_weights[i]


@kernel
def join_equals(values: Array, weights: Array, masses: Array) -> int:
    """Keep one of each run of equal ``values``, which ascend, and write the mass of the run.

    ``weights`` has a weight for each value, or one for all. The number of runs is returned.
    """
    of_each = np.uint64(weights.size > 1)
    to = np.uint64(0)
    total, joined = np.int64(0), np.int64(0)
    for i in range(np.uint64(values.size)):
        x = values[i]
        total += weights[i * of_each]
        # written in any case and kept at the end of a run: the loop has no branch
        values[to] = x
        masses[to] = total - joined
        is_last = i + np.uint64(1) == np.uint64(values.size) or values[i + np.uint64(1)] != x
        joined = total if is_last else joined
        to += np.uint64(is_last)
    return int(to)


@kernel
def sum_light(masses: Array, share: float) -> tuple[int, int]:
    """Return the sum of the masses below ``share``, and how many they are."""
    total, n_light = 0, 0
    for k in range(masses.size):
        is_light = masses[k] < share
        total += masses[k] if is_light else 0
        n_light += is_light
    return total, n_light


@kernel
def cut_by_mass(
    values: Array, masses: Array, share: float, max_bins: int, below: Array, out: Array
) -> int:
    """Write thresholds that give bins of like mass, where a mass counts as ``share`` at most.

    Each bin takes its part of the mass that the bins before it left over. There are more values
    than bins. ``below`` is a scratch buffer of one float for each value. The number of thresholds
    is returned.
    """
    total = 0.0
    for k in range(masses.size):
        total += min(np.float64(masses[k]), share)
        below[k] = total  # the mass below the cut behind this value
    at, n_cuts, done = -1, 0, 0.0
    for left in range(max_bins, 1, -1):
        target = done + (total - done) / left
        after = first_from(below, 0, below.size, target)
        before = max(after - 1, 0)
        # the nearer one; the second if rounding alone tells them apart
        nearer = target - below[before] < (below[after] - target) * (1 - 1e-9)
        at = max(at + 1, before if nearer else after)
        if at >= below.size - 1:
            break
        done = below[at]
        low, high = values[at], values[at + 1]
        middle = low / 2 + high / 2  # as in `midpoints`
        out[n_cuts] = (middle if low <= middle < high else low) + 0.0
        n_cuts += 1
    return n_cuts
