"""The weights of NormalHedge, for chips (`driftgames.hedge`) and for counts of them (boosting)."""

from __future__ import annotations

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, first, fold, load, spread, store
from driftgames._kernels.sums import total_of
from driftgames.core.typing import FloatArray


@kernel
def weigh_normal_hedge(
    ratios: FloatArray, counts: FloatArray | None, guess: float
) -> tuple[float, float]:
    r"""Replace ratios x by weights :math:`x e^{u (x^2 - 1)}`; return ``u`` and their sum.

    A ratio is a regret, at least 0, relative to the largest regret of a chip, so no scale of
    regrets over- or underflows. ``u`` solves ``mean(exp(u x^2)) = e``; a good ``guess`` saves
    steps. ``counts`` are the numbers of chips at each ratio. Ratios without chips may be above
    1, and their weights are then not used.
    """
    u = solve_exponent(ratios, counts, guess)
    total = spread(0.0)
    for i in range(0, ratios.size, LANES):
        ratio = load(ratios, i, 0.0)
        w = ratio * exp(u * lesser(fma(ratio, ratio, -1.0), 0.0))
        store(ratios, i, w)
        total += w
    return u, fold(total)


@kernel
def solve_exponent(ratios: FloatArray, counts: FloatArray | None, guess: float) -> float:
    """Return u with ``mean(exp(u x^2)) = e``, where the largest ratio x of a chip is 1.

    The logarithm of the left side is convex and increasing in u, so Newton's method comes
    down to the solution from above after one step. u lies between 1 and ``1 + ln N``. A step
    that leaves the remaining interval is replaced by the middle of that interval.
    """
    n_chips = float(ratios.size) if counts is None else total_of(counts)
    low, high = 1.0, 1.0 + log(n_chips)
    u = guess if low <= guess <= high else high
    for _ in range(100):
        total, pull = spread(0.0), spread(0.0)
        for i in range(0, ratios.size, LANES):
            ratio = load(ratios, i, 0.0)
            square = ratio * ratio
            if counts is None:
                term = choose(first(ratios.size - i), exp(u * (square - 1.0)), 0.0)
            else:
                term = load(counts, i, 0.0) * exp(u * lesser(square - 1.0, 0.0))
            total += term
            pull = fma(square, term, pull)
        summed = fold(total)
        excess = u - 1.0 + log(summed / n_chips)
        if excess > 0.0:
            high = u
        else:
            low = u
        following = u - excess * summed / fold(pull)
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - u) <= 1e-14 * u:
            break
        u = following
    return u
