"""Loops of `driftgames.certificates.betting`: the wealth of a mixture of bets, and its roots."""

from __future__ import annotations

import math

from driftgames._kernels.elementary import exp, log, log1p
from driftgames._kernels.jit import brief_kernel, kernel, scalar
from driftgames.core.typing import FloatArray

T, WEIGHT, SUM, LOW_ENDS, HIGH_ENDS, LOWEST, HIGHEST = range(7)
"""What ``numbers`` holds: the clock, sums over values, and the best bounds so far."""

_FINEST = 1e-13  # relative to the distance of a bound from the mean of the values
_MOST_STEPS = 200


@brief_kernel
def log_wealth(
    sums: FloatArray, log_prior: FloatArray, rates: FloatArray, numbers: FloatArray, mean: float
) -> tuple[float, float]:
    """Return the logarithm of the wealth against ``mean``, and its derivative.

    A side that does not bet has a log prior of minus infinity.
    """
    weight = numbers[WEIGHT]
    n = rates.size
    largest = -math.inf
    for side in range(2):
        if log_prior[side, 0] > -math.inf:
            gap = _gap(numbers, mean, side)
            for j in range(n):
                e = log_prior[side, j] + sums[side, j] - weight * log1p(rates[j] * gap)
                largest = max(largest, e)
    total = slope = 0.0
    for side in range(2):
        if log_prior[side, 0] > -math.inf:
            gap = _gap(numbers, mean, side)
            sign = 1.0 - 2.0 * side  # the gap of the second side shrinks with the mean
            for j in range(n):
                e = log_prior[side, j] + sums[side, j] - weight * log1p(rates[j] * gap)
                share = exp(e - largest)
                total += share
                slope -= sign * share * weight * rates[j] / (1.0 + rates[j] * gap)
    return largest + log(total), slope / total


@scalar
def _gap(numbers: FloatArray, mean: float, side: int) -> float:
    """Return how far the mean is from the mean of the ends that this side bets away from."""
    weight = numbers[WEIGHT]
    if weight == 0.0:
        return 0.0
    gap: float = numbers[HIGH_ENDS] / weight - mean if side else mean - numbers[LOW_ENDS] / weight
    return max(gap, 0.0)


@brief_kernel
def find_bound(
    sums: FloatArray,
    log_prior: FloatArray,
    rates: FloatArray,
    numbers: FloatArray,
    outside: float,
    target: float,
) -> float:
    """Return where, between ``outside`` and the mean of the values, the log wealth is ``target``.

    The log wealth is convex in the mean, so that a tangent meets the target outside of the
    interval: every step keeps a point at which the wealth is at least the target.
    """
    inside = numbers[SUM] / numbers[WEIGHT]
    value, slope = log_wealth(sums, log_prior, rates, numbers, outside)
    if not value >= target:
        return outside
    small = _FINEST * abs(inside - outside)
    for _ in range(_MOST_STEPS):
        step = (target - value) / slope
        tangent = outside + step
        if abs(step) <= small or not abs(inside - tangent) < abs(inside - outside):
            break
        outside = tangent
        middle = 0.5 * (outside + inside)
        value, slope = log_wealth(sums, log_prior, rates, numbers, middle)
        if value >= target:
            outside = middle
        else:
            inside = middle
            value, slope = log_wealth(sums, log_prior, rates, numbers, outside)
    return outside


@brief_kernel
def step_outside(
    sums: FloatArray,
    log_prior: FloatArray,
    rates: FloatArray,
    numbers: FloatArray,
    bound: float,
    end: float,
    target: float,
) -> float:
    """Return a point from which `find_bound` may begin: the last bound, its tangent or the end."""
    inside = numbers[SUM] / numbers[WEIGHT]
    if not abs(bound - inside) <= abs(end - inside) or (bound - inside) * (end - inside) < 0.0:
        return end
    value, slope = log_wealth(sums, log_prior, rates, numbers, bound)
    if value >= target:
        return bound
    if not slope * (end - bound) > 0.0:  # the wealth does not grow towards the end
        return end
    tangent = bound + (target - value) / slope
    return tangent if abs(tangent - inside) <= abs(end - inside) else end


@kernel
def play(
    values: FloatArray,
    weights: FloatArray,
    ends: FloatArray,
    rates: FloatArray,
    log_prior: FloatArray,
    target: float,
    drifting: bool,
    every: bool,
    sums: FloatArray,
    numbers: FloatArray,
    lows: FloatArray,
    highs: FloatArray,
) -> None:
    """Settle the bets on each value; write the bounds after each if ``every``, else at the end."""
    up, down = log_prior[0, 0] > -math.inf, log_prior[1, 0] > -math.inf
    for i in range(values.size):
        x, w = values[i], weights[i]
        for j in range(rates.size):
            if up:
                sums[0, j] += w * log1p(rates[j] * (x - ends[0]))
            if down:
                sums[1, j] += w * log1p(rates[j] * (ends[1] - x))
        numbers[T] += 1.0
        numbers[WEIGHT] += w
        numbers[SUM] += w * x
        if up:
            numbers[LOW_ENDS] += w * ends[0]
        if down:
            numbers[HIGH_ENDS] += w * ends[1]
        if drifting and not every:
            continue
        if up:
            start = numbers[LOWEST]
            if drifting:
                end = numbers[LOW_ENDS] / numbers[WEIGHT]
                start = step_outside(sums, log_prior, rates, numbers, start, end, target)
            if start < numbers[SUM] / numbers[WEIGHT]:
                start = find_bound(sums, log_prior, rates, numbers, start, target)
            numbers[LOWEST] = start
        if down:
            start = numbers[HIGHEST]
            if drifting:
                end = numbers[HIGH_ENDS] / numbers[WEIGHT]
                start = step_outside(sums, log_prior, rates, numbers, start, end, target)
            if start > numbers[SUM] / numbers[WEIGHT]:
                start = find_bound(sums, log_prior, rates, numbers, start, target)
            numbers[HIGHEST] = start
        if every:
            lows[i], highs[i] = numbers[LOWEST], numbers[HIGHEST]


@kernel
def play_wealth(
    values: FloatArray,
    weights: FloatArray,
    ends: FloatArray,
    rates: FloatArray,
    log_prior: FloatArray,
    mean: float,
    sums: FloatArray,
    numbers: FloatArray,
    out: FloatArray,
) -> None:
    """Write the log wealth against one mean after each value."""
    for i in range(values.size):
        one, by = values[i : i + 1], weights[i : i + 1]
        play(one, by, ends, rates, log_prior, 0.0, True, False, sums, numbers, out, out)
        out[i] = log_wealth(sums, log_prior, rates, numbers, mean)[0]
