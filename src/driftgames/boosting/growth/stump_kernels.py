"""Loops over binned rows: lay them out, add up weights, and find the best stump.

Rows are sorted by class, class 0 first. A row lists *codes*: the numbers of its bins among all bins
that any row lists. All sums are integers, so that no order of adding changes a bit.

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

import math

import numpy as np

from driftgames._kernels.jit import kernel
from driftgames.boosting.data.bins import Array, FeatureBins, first_from


@kernel
def bin_dense(
    X: Array,
    order: Array,
    cuts: Array,
    missing: Array,
    first: int,
    last: int,
    out: Array,
    values: Array,
    at: Array,
) -> None:
    """Write to ``out[j, i]`` the bin of feature ``j`` in row ``order[i]``, from first to last.

    ``cuts[j]`` ascends and is filled up with infinity to a power of two, less one; the bin is
    the number of cuts below the value. NaN goes to bin ``missing[j]``. ``values`` and ``at`` are
    scratch buffers for a block of rows.
    """
    for begin in range(first, last, values.size):
        size = min(values.size, last - begin)
        for j in range(X.shape[1]):
            mine = cuts[j]
            for i in range(size):
                values[i] = X[np.uint64(order[begin + i]), j]
                at[i] = 0
            step = (mine.size + 1) >> 1
            while step > 0:  # one step for the whole block: the loop inside has no branch
                before = np.uint32(step - 1)
                for i in range(size):
                    at[i] += np.uint32(step) * np.uint32(mine[at[i] + before] < values[i])
                step >>= 1
            for i in range(size):
                out[j, begin + i] = missing[j] if np.isnan(values[i]) else at[i]


@kernel
def count_bins(
    columns: Array, split: int, sample_weights: Array, offsets: Array, out: Array
) -> None:
    """Add the sample weights of each class in each bin to ``out[c, b]``."""
    for j in range(columns.shape[0]):
        column = columns[j]
        lower = out[0, offsets[j] : offsets[j + 1]]
        upper = out[1, offsets[j] : offsets[j + 1]]
        for i in range(np.uint64(split)):
            lower[column[i]] += sample_weights[i]
        for i in range(np.uint64(split), np.uint64(column.size)):
            upper[column[i]] += sample_weights[i]


@kernel
def code_stored(
    indptr: Array,
    indices: Array,
    data: Array,
    thresholds: Array,
    cut_starts: Array,
    missing_bin: Array,
    offsets: Array,
    positive: Array,
    sample_weights: Array,
    codes: Array,
    counts: Array,
) -> None:
    """Write the code of every stored entry; add its row's weight to ``counts[class, code]``."""
    for i in range(indptr.size - 1):
        mine = counts[1] if positive[i] else counts[0]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[e])
            x = np.float64(data[e])
            begin, end = cut_starts[j], cut_starts[j + np.uint64(1)]
            at = missing_bin[j] if np.isnan(x) else first_from(thresholds, begin, end, x) - begin
            code = np.uint64(offsets[j] + at)
            codes[e] = code
            mine[code] += sample_weights[i]


@kernel
def measure_stored(
    indptr: Array, indices: Array, codes: Array, implicit: Array, at_zero: Array, out: Array
) -> None:
    """Write how many codes each row will list.

    ``implicit[j]`` is the code of the bin that rows do not list. ``at_zero[j]`` is the code of
    the entries that the matrix does not store.
    """
    always = 0
    for j in range(implicit.size):
        always += implicit[j] != at_zero[j]
    for i in range(indptr.size - 1):
        size = always
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column = np.uint64(indices[e])
            size += int(codes[e] != implicit[column]) - int(at_zero[column] != implicit[column])
        out[i] = size


@kernel
def list_stored(
    indptr: Array,
    indices: Array,
    codes: Array,
    implicit: Array,
    at_zero: Array,
    order: Array,
    others: Array,
    stored_in: Array,
    out: Array,
) -> None:
    """Write the codes that each row lists, row ``order[0]`` first.

    ``others`` are the columns whose zeros are listed. ``stored_in`` is a scratch buffer of one
    number for each column, all -1 at first. ``out`` has room for one code more. The implicit bins
    have no number among the listed bins: each bin behind one counts one less.
    """
    to = np.uint64(0)
    for r in range(order.size):
        i = order[r]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column = np.uint64(indices[e])
            stored_in[column] = r
            # written in any case and kept if it is listed: the loop has no branch
            out[to] = codes[e] - column - np.uint64(codes[e] > implicit[column])
            to += np.uint64(codes[e] != implicit[column])
        for q in range(others.size):
            column = np.uint64(others[q])
            if stored_in[column] != r:
                out[to] = at_zero[column] - others[q] - (at_zero[column] > implicit[column])
                to += np.uint64(1)


@kernel
def measure_dense(rows: Array, implicit: Array, out: Array) -> None:
    """Do the same as `measure_stored` for rows of bins, where ``implicit`` are bins."""
    for i in range(rows.shape[0]):
        size = 0
        for j in range(rows.shape[1]):
            size += rows[i, j] != implicit[j]
        out[i] = size


@kernel
def list_dense(rows: Array, implicit: Array, offsets: Array, order: Array, out: Array) -> None:
    """Do the same as `list_stored` for rows of bins."""
    to = np.uint64(0)
    for r in range(order.size):
        row = rows[order[r]]
        for j in range(row.size):
            out[to] = offsets[j] - j + row[j] - (row[j] > implicit[j])
            to += np.uint64(row[j] != implicit[j])


@kernel
def list_features(
    starts: Array,
    codes: Array,
    feature_of: Array,
    bin_of: Array,
    free: Array,
    listed: Array,
    listed_bins: Array,
) -> None:
    """Write the rows that each feature lists, ascending, given the codes of every row.

    ``free[j]`` is where the list of feature ``j`` begins; it ends up where the list ends.
    """
    for i in range(starts.size - 1):
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = np.uint64(feature_of[codes[e]])
            to = np.uint64(free[j])
            listed[to] = i
            listed_bins[to] = bin_of[codes[e]]
            free[j] = to + np.uint64(1)


@kernel
def weigh_sparse(weights: Array, split: int, starts: Array, codes: Array, out: Array) -> None:
    """Add ``w_i y_i`` to every bin that row ``i`` lists.

    Behind the bins come the sum over all rows and ``sum_i w_i``.
    """
    for i in range(weights.size):
        weight = weights[i] if i >= split else -weights[i]
        if weight != 0:
            for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                out[codes[e]] += weight
            out[out.size - 2] += weight
            out[out.size - 1] += abs(weight)


@kernel
def weigh_dense(weights: Array, split: int, offsets: Array, codes: Array, out: Array) -> None:
    """Do the same as `weigh_sparse` for rows that list one bin of every feature."""
    for i in range(weights.size):
        weight = weights[i] if i >= split else -weights[i]
        if weight != 0:
            row = codes[i]
            for j in range(row.size):
                out[offsets[j] + np.uint64(row[j])] += weight
            out[out.size - 2] += weight
            out[out.size - 1] += abs(weight)


@kernel
def best_stump(sums: Array, bins: FeatureBins, mine: Array, found: Array) -> None:
    """Find the stump of largest ``|sum_i w_i y_i h(x_i)|`` and write it to ``found``.

    The ``sums`` leave out implicit bins: the sum of one is the total less the others. Where
    ``monotonic[j]`` is not 0, the vote on the right of a cut has this sign. ``found`` becomes
    (value, feature, cut, left vote, missing vote): bins up to ``cut`` go left. The value is 0 where
    no stump has an edge. ``mine`` is a scratch buffer for the sums of one feature.

    Ties go to the lowest feature, then to the lowest cut; a vote that makes no difference is
    +1 on the left, and for missing values that of the side with more rows (left if equal).
    """
    offsets, implicit, missing, monotonic, counts = bins
    total = sums[sums.size - 2]
    found[0] = 0
    found[1] = -1
    at = 0  # the index of the next bin among the sums
    for j in range(implicit.size):
        n_bins = offsets[j + 1] - offsets[j]
        rest = total
        for b in range(n_bins):
            if b != implicit[j]:
                mine[b] = sums[at]
                rest -= sums[at]
                at += 1
        if implicit[j] >= 0:
            mine[implicit[j]] = rest
        n_known = n_bins - 1 if missing[j] else n_bins
        lost = mine[n_bins - 1] if missing[j] else 0
        known = total - lost
        left = 0
        for b in range(n_known - 1):
            left += mine[b]
            vote = 1 if 2 * left >= known else -1
            if monotonic[j] != 0:
                vote = -monotonic[j]
            value = vote * (2 * left - known) + abs(lost)
            if value > found[0]:
                found[0] = value
                found[1] = j
                found[2] = b
                found[3] = vote
                found[4] = 0 if lost == 0 else (1 if lost > 0 else -1)
        if missing[j] and abs(known - lost) > found[0]:  # is the value missing?
            found[0] = abs(known - lost)
            found[1] = j
            found[2] = n_known - 1
            found[3] = 1 if known >= lost else -1
            found[4] = -found[3]
    if found[1] >= 0 and found[4] == 0:
        j = found[1]
        more_left = 0
        for b in range(offsets[j], offsets[j + 1] - missing[j]):
            count = counts[0, b] + counts[1, b]
            more_left += count if b - offsets[j] <= found[2] else -count
        found[4] = found[3] if more_left >= 0 else -found[3]


@kernel
def vote_by_bin(
    stump: tuple[int, int, int, int], bins: FeatureBins, votes: Array, rise: Array
) -> None:
    """Write 1 for each bin of a stump's feature that it votes +1, else 0.

    ``stump`` is (feature, cut, left vote, missing vote). ``rise[c]`` becomes whether those of
    class ``c`` that err are at most half of it.
    """
    feature, cut, left, lost = stump
    offsets, _, missing, _, counts = bins
    first = offsets[feature]
    n_bins = offsets[feature + 1] - first
    for b in range(n_bins):
        votes[b] = (left > 0) == (b <= cut)
    if missing[feature]:
        votes[n_bins - 1] = lost > 0
    for c in range(2):
        balance = 0
        for b in range(n_bins):
            balance += -counts[c, first + b] if votes[b] == c else counts[c, first + b]
        rise[c] = balance <= 0


@kernel
def scale_weights(
    weights: Array, masses: Array, first: int, n_rounds: int, sum_bits: int, out: Array
) -> tuple[int, int]:
    """Scale weights; return how many examples weigh zero and how many the vote gets wrong.

    ``masses[c, k]`` examples of class ``c`` have made ``first + k`` mistakes in ``n_rounds`` and
    have weight ``weights[k]``. In ``out`` the weights of all examples sum to just below
    ``2**sum_bits``. If all weights are zero, they become equal. A tied vote is for class 0.
    """
    total = 0.0
    n_examples = 0
    zeros = 0
    wrong = 0
    for k in range(weights.size):
        held = masses[0, k] + masses[1, k]
        n_examples += held
        total += held * weights[k]
        zeros += held if weights[k] == 0.0 else 0
        wrong += masses[0, k] if 2 * (first + k) > n_rounds else 0
        wrong += masses[1, k] if 2 * (first + k) >= n_rounds else 0
    equal = total == 0.0
    exponent = math.frexp(float(n_examples) if equal else total)[1]
    for k in range(weights.size):
        if masses[0, k] + masses[1, k] > 0:
            # ldexp, because the factor of tiny weights would be infinite
            out[k] = math.ldexp(1.0 if equal else weights[k], sum_bits - exponent)
        else:
            out[k] = 0.0  # no example has this number of mistakes
    return (0 if equal else zeros), wrong
