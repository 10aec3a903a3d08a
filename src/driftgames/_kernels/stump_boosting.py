"""Loops of the stump boosters: integers only, so that no order of adding changes a bit.

Examples are rows, sorted by class: class 0 first. A row lists *codes*, the numbers of its bins
among all bins that are ever listed; a *level* is a row's number of mistakes up to a shift that
its class shares; and ``tally[p, c, r, b]`` counts the rows of share ``p`` and class ``c`` that
are at level ``r`` or above and lie in bin ``b`` (in the last column, all of them).

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import exact_kernel, inner_kernel

BLOCK = 4096
"""Rows that are picked before they are entered in the tally: their numbers stay in cache."""

Array = npt.NDArray[Any]


@exact_kernel
def weigh_tally(
    tally: Array, low: Array, high: Array, shift: Array, weights: Array, out: Array
) -> None:
    """Write the weighted sum of labels in each bin, ``sum_i w_i y_i``, to ``out``.

    Behind the bins come the sum over all rows and ``sum_i w_i``. ``weights[r + shift[c]]`` is
    the weight of class ``c`` at level ``r``; levels ``low[c]`` to ``high[c]`` are occupied. Sums
    may wrap around on the way: the result is exact modulo 2**64 and lies within.
    """
    n_sums = tally.shape[2]
    for b in range(out.size):
        out[b] = 0
    for c in range(2):
        before = 0
        for r in range(low[c], high[c] + 1):
            now = weights[r + shift[c]]
            step = now - before if c == 1 else before - now
            before = now
            if step != 0:
                row = tally[c, r]
                for b in range(n_sums):
                    out[b] += step * row[b]
                out[n_sums] += (step if c == 1 else -step) * row[n_sums - 1]


@exact_kernel
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


@exact_kernel
def weigh_dense(weights: Array, split: int, offsets: Array, codes: Array, out: Array) -> None:
    """Do as `weigh_sparse` for rows that list one bin of every feature."""
    for i in range(weights.size):
        weight = weights[i] if i >= split else -weights[i]
        if weight != 0:
            row = codes[i]
            for j in range(row.size):
                out[offsets[j] + np.uint64(row[j])] += weight
            out[out.size - 2] += weight
            out[out.size - 1] += abs(weight)


@exact_kernel
def best_stump(
    sums: Array,
    offsets: Array,
    implicit: Array,
    missing: Array,
    counts: Array,
    mine: Array,
    found: Array,
) -> None:
    """Find the stump of largest ``|sum_i w_i y_i h(x_i)|`` and write it to ``found``.

    Feature ``j`` has the bins ``offsets[j]`` to ``offsets[j + 1]``, and ``missing[j]`` tells
    whether the last of them holds missing values. ``implicit[j]`` is its bin that rows do not
    list, or -1: it has no place in ``sums``, and its sum is what the others leave of the total.
    ``counts[c, b]`` counts rows. ``found`` becomes (value, feature, cut, left vote, missing
    vote): bins up to ``cut`` go left. The value is 0 where no stump has an edge. ``mine`` is
    room for the sums of one feature.

    Ties go to the lowest feature, then to the lowest cut; a vote that makes no difference is
    +1 on the left, and for missing values that of the side with more rows (left if equal).
    """
    total = sums[sums.size - 2]
    found[0] = 0
    found[1] = -1
    at = 0  # the place of the next bin among the sums
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
            value = abs(2 * left - known) + abs(lost)
            if value > found[0]:
                found[0] = value
                found[1] = j
                found[2] = b
                found[3] = 1 if 2 * left >= known else -1
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


@exact_kernel
def vote_by_bin(
    stump: tuple[int, int, int, int],
    offsets: Array,
    missing: Array,
    counts: Array,
    votes: Array,
    rise: Array,
) -> None:
    """Write 1 for each bin of a stump's feature that it votes +1, else 0.

    ``stump`` is (feature, cut, left vote, missing vote). ``rise[c]`` becomes whether those of
    class ``c`` that err are at most half of it.
    """
    feature, cut, left, lost = stump
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


@exact_kernel
def settle(tally: Array, rise: Array, low: Array, high: Array, shift: Array, masses: Array) -> int:
    """Bring the occupied levels up to date after a move, and write the mass of each.

    ``masses[c, k - first]`` becomes the mass of class ``c`` with ``k`` mistakes, where ``first``,
    the least such ``k``, is returned. Levels at either end that nobody holds are left out.
    """
    last = tally.shape[3] - 1
    for c in range(2):
        if rise[c]:
            high[c] += 1
        else:
            low[c] -= 1
            shift[c] += 1
        while low[c] < high[c] and _held(tally, c, low[c], last) == 0:
            low[c] += 1
        while low[c] < high[c] and _held(tally, c, high[c], last) == 0:
            high[c] -= 1
    first = min(low[0] + shift[0], low[1] + shift[1])
    for c in range(2):
        for k in range(masses.shape[1]):
            masses[c, k] = 0
        for r in range(low[c], high[c] + 1):
            masses[c, r + shift[c] - first] = _held(tally, c, r, last)
    return first


@inner_kernel
def _held(tally: Array, c: int, level: int, last: int) -> int:
    held = 0
    for p in range(tally.shape[0]):
        held += tally[p, c, level, last] - tally[p, c, level + 1, last]
    return held


@exact_kernel
def appraise(
    weights: Array, masses: Array, first: int, n_rounds: int, sum_bits: int, out: Array
) -> tuple[int, int]:
    """Return how many examples weigh zero and how many the vote gets wrong, and scale weights.

    ``masses[c, k]`` examples of class ``c`` have made ``first + k`` mistakes in ``n_rounds`` and
    have weight ``weights[k]``. In ``out`` the weights of all examples sum to just below
    ``2**sum_bits``. Where all weights are zero they become equal. A tied vote is for class 0.
    """
    total = 0.0
    everyone = 0
    zeros = 0
    wrong = 0
    for k in range(weights.size):
        held = masses[0, k] + masses[1, k]
        everyone += held
        total += held * weights[k]
        zeros += held if weights[k] == 0.0 else 0
        wrong += masses[0, k] if 2 * (first + k) > n_rounds else 0
        wrong += masses[1, k] if 2 * (first + k) >= n_rounds else 0
    alike = total == 0.0
    exponent = math.frexp(float(everyone) if alike else total)[1]
    for k in range(weights.size):
        if masses[0, k] + masses[1, k] > 0:
            # not by a factor: that of tiny weights is infinite
            out[k] = math.ldexp(1.0 if alike else weights[k], sum_bits - exponent)
        else:
            out[k] = 0.0  # a weight that nobody has may be anything
    return (0 if alike else zeros), wrong


@exact_kernel
def move_sparse(
    bounds: Array,
    rise: Array,
    votes: Array,
    implicit_vote: int,
    listed: Array,
    listed_bins: Array,
    starts: Array,
    codes: Array,
    counts: Array,
    levels: Array,
    tally: Array,
    buffer: Array,
) -> None:
    """Move the rows of each class that a stump sets apart, and enter them in the tally.

    ``rise[c]`` says whether the mistakes of class ``c`` move up or the others move down.
    ``votes[b]`` is 1 where bin ``b`` of the stump's feature is voted +1. ``listed`` are the
    rows, ascending, that are not in the feature's implicit bin, and ``listed_bins`` where they are.
    """
    for c in range(2):
        wanted = 1 - c if rise[c] else c
        e = _first_from(listed, bounds[c, 0])
        end = _first_from(listed, bounds[c, 1])
        if wanted == implicit_vote:
            i = np.uint64(bounds[c, 0])
            stop = np.uint64(bounds[c, 1])
            while i < stop:
                m = np.uint64(0)
                upto = min(stop, i + np.uint64(BLOCK))
                while i < upto:
                    gap = min(upto, np.uint64(listed[e])) if e < end else upto
                    while i < gap:
                        buffer[m] = i
                        m += np.uint64(1)
                        i += np.uint64(1)
                    if i < upto:
                        buffer[m] = i
                        m += np.uint64(votes[listed_bins[e]] == wanted)
                        e += np.uint64(1)
                        i += np.uint64(1)
                _enter_sparse(buffer[:m], rise[c], starts, codes, counts, levels, tally[c])
        else:
            while e < end:
                m = np.uint64(0)
                upto = min(end, e + np.uint64(BLOCK))
                while e < upto:
                    buffer[m] = listed[e]
                    m += np.uint64(votes[listed_bins[e]] == wanted)
                    e += np.uint64(1)
                _enter_sparse(buffer[:m], rise[c], starts, codes, counts, levels, tally[c])


@inner_kernel
def _first_from(listed: Array, row: int) -> Any:
    """Return where the first row listed, of ``row`` and those after it, stands."""
    begin = np.uint64(0)
    end = np.uint64(listed.size)
    while begin < end:
        middle = (begin + end) >> np.uint64(1)
        if listed[middle] < row:
            begin = middle + np.uint64(1)
        else:
            end = middle
    return begin


@exact_kernel
def move_dense(
    bounds: Array,
    rise: Array,
    votes: Array,
    column: Array,
    offsets: Array,
    codes: Array,
    counts: Array,
    levels: Array,
    tally: Array,
    buffer: Array,
) -> None:
    """Do as `move_sparse` where ``column`` gives the bin of every row."""
    for c in range(2):
        wanted = 1 - c if rise[c] else c
        i = np.uint64(bounds[c, 0])
        stop = np.uint64(bounds[c, 1])
        while i < stop:
            m = np.uint64(0)
            upto = min(stop, i + np.uint64(BLOCK))
            while i < upto:
                buffer[m] = i
                m += np.uint64(votes[column[i]] == wanted)
                i += np.uint64(1)
            _enter_dense(buffer[:m], rise[c], offsets, codes, counts, levels, tally[c])


@inner_kernel
def _enter_sparse(
    rows: Array, rise: bool, starts: Array, codes: Array, counts: Array, levels: Array, book: Array
) -> None:
    last = np.uint64(book.shape[1] - 1)
    one = np.uint64(1)
    for q in range(rows.size):
        i = np.uint64(rows[q])
        r = np.uint64(levels[i])
        count = counts[i]
        if rise:
            r += one
            levels[i] = r
        else:
            levels[i] = r - one
            count = -count
        row = book[r]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
            row[codes[e]] += count
        row[last] += count


@inner_kernel
def _enter_dense(
    rows: Array, rise: bool, offsets: Array, codes: Array, counts: Array, levels: Array, book: Array
) -> None:
    last = np.uint64(book.shape[1] - 1)
    one = np.uint64(1)
    for q in range(rows.size):
        i = np.uint64(rows[q])
        r = np.uint64(levels[i])
        count = counts[i]
        if rise:
            r += one
            levels[i] = r
        else:
            levels[i] = r - one
            count = -count
        row = book[r]
        bins = codes[i]
        for j in range(np.uint64(bins.size)):
            row[offsets[j] + np.uint64(bins[j])] += count
        row[last] += count
