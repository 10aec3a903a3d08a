"""Loops of learners whose state is a distribution that returns to the prior in every round."""

from __future__ import annotations

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames._kernels.lanes import LANES, first, fold, load, spread, store
from driftgames.core.typing import FloatArray


@scalar
def shares_at(prior: FloatArray | None, n: int, i: int) -> float:
    """Return the prior of the actions from ``i`` on; 0 where there is none."""
    if prior is None:
        return choose(first(n - i), 1.0 / n, 0.0)
    return load(prior, i, 0.0)


@inner_kernel
def copy_weights(p: FloatArray, out: FloatArray) -> float:
    """Copy weights and return their sum."""
    total = spread(0.0)
    for i in range(0, out.size, LANES):
        w = load(p, i, 0.0)
        store(out, i, w)
        total += w
    return fold(total)


@inner_kernel
def share_out(p: FloatArray, total: float, share: float, prior: FloatArray | None) -> None:
    """Divide weights by their ``total``, and let every action have its share of the prior."""
    scale = (1.0 - share) / total
    for i in range(0, p.size, LANES):
        store(p, i, load(p, i, 0.0) * scale + share * shares_at(prior, p.size, i))
