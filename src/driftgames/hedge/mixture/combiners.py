r"""Combinations of forecasts that are experts themselves, so that a guarantee covers them too.

Four combinations are computed from the forecasts x of the experts awake and from past rounds:

- the mean;
- the mean by inverse mean squared errors, m;
- ridge regression of :math:`y - m` on :math:`x_i - m` with forgetting,

.. math:: m + \sum_i z_i (x_i - m), \qquad
          z = \arg\min_z \sum_{s<t} \gamma^{t-s}\Bigl(y_s - m_s - \sum_i z_i (x_{s,i} - m_s)\Bigr)^2
              + \lambda |z|^2;

- least squares with forgetting over convex combinations of the experts.

The ridge :math:`\lambda` is a tenth of the mean over rounds of :math:`\sum_i (x_i - m)^2`, so the
units of the forecasts do not matter. An expert that sleeps counts as if it said m.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.jit import allocating_kernel, inner_kernel, kernel
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.simplex import lowest_on_simplex, solve_held
from driftgames._kernels.sums import dot_of
from driftgames.core.checks import as_read_only
from driftgames.core.typing import FloatArray, IntArray

COMBINERS = ("mean", "inverse error", "ridge", "least squares")
"""The names of the combiners, in the order of their columns."""

FORGETTING = 0.99
"""The weight of a round is multiplied by this in every later round; ridge and least squares."""

RIDGE = 0.1
"""The ridge, relative to the mean squared deviation of a round."""

_LARGEST = 1e140
"""The largest error whose square, summed over many rounds, is finite."""

_ALL_ROUNDS, _RECENT = 0, 1  # places of the number of rounds and of their discounted number
_HEADER = 2


class Combiners:
    """The combiners of some experts: their forecasts, and what they learnt.

    Parameters
    ----------
    n_experts : int
        The number of experts.
    low, high : float
        The range that forecasts must lie in; ridge regression alone could leave it.

    Examples
    --------
    >>> combiners = Combiners(2)
    >>> combiners.play([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], [1.5, 3.0, 4.5])[2].round(3)
    array([4.5, 4.5, 4.5, 4.5])
    """

    def __init__(self, n_experts: int, low: float = -np.inf, high: float = np.inf) -> None:
        self.n_experts, self.limits = n_experts, (float(low), float(high))
        self.state = np.zeros(size_of(n_experts))
        _parts(self.state, n_experts)[3][:] = 1.0 / n_experts
        self._allocate()

    def _allocate(self) -> None:
        n = self.n_experts
        self._scratch = np.empty((3, n)), np.empty((n, n)), np.empty((2, n)), np.arange(n)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.state = np.array(self.state)  # arrays of a pickle may be read-only maps of its file
        self._allocate()

    def copy(self) -> Combiners:
        """Return independent combiners in the same state."""
        twin = Combiners(self.n_experts, *self.limits)
        twin.state[:] = self.state
        return twin

    def play(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return a column per combiner; each row is combined before its outcome is learnt.

        NaN is an expert that sleeps.
        """
        rows, outcomes = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(y, np.float64)
        columns = np.empty((len(rows), len(COMBINERS)))
        self.play_into(as_read_only(rows), as_read_only(outcomes), columns)
        return columns

    def play_into(self, rows: FloatArray, outcomes: FloatArray, columns: FloatArray) -> None:
        """Do as `play` with arrays of the caller; the first two must be read-only."""
        if _play(self.state, self.limits, rows, outcomes, columns, *self._scratch) < len(rows):
            raise ValueError("predictions and outcomes are so large that their losses overflow")

    def combine(self, X: FloatArray) -> FloatArray:
        """Return a column per combiner for rows whose outcomes are not known."""
        rows = np.ascontiguousarray(X, np.float64)
        columns = np.empty((len(rows), len(COMBINERS)))
        self.combine_into(as_read_only(rows), columns)
        return columns

    def combine_into(self, rows: FloatArray, columns: FloatArray) -> None:
        """Do as `combine` with arrays of the caller; the first must be read-only."""
        _play(self.state, self.limits, rows, _NO_OUTCOMES, columns, *self._scratch)

    def expert_weights(self) -> FloatArray:
        """Return the weights of the experts in each combination, a row per combiner.

        They sum to 1. Those of ridge regression may be negative; a prediction that its weights
        would take out of the limits is moved to the nearer limit.
        """
        n = self.n_experts
        errors, counts, z, q, *_ = _parts(self.state, n)
        inverse = np.empty(n)
        _inverse_errors(errors, counts, np.zeros(n), inverse)
        ridge = z + (1.0 - z.sum()) * inverse
        return np.stack([np.full(n, 1.0 / n), inverse, ridge, q])


_NO_OUTCOMES = as_read_only(np.empty(0))


def size_of(n: int) -> int:
    """Return the size of the state for ``n`` experts."""
    return _HEADER + 5 * n + 2 * n * n


def check_state(state: FloatArray, n: int) -> None:
    """Raise ValueError unless this can be the state of combiners of ``n`` experts."""
    if state.shape != (size_of(n),) or not np.isfinite(state).all():
        raise ValueError(f"combiners must be {size_of(n)} finite numbers; got {state.shape}")
    errors, counts, _, q, _, A, Q = _parts(state, n)
    rounds, recent = state[:_HEADER]
    if (errors < 0).any() or (counts < 0).any() or (counts > rounds).any() or recent > rounds:
        raise ValueError("combiners must have nonnegative errors and at most all rounds awake")
    if (q < 0).any() or abs(q.sum() - 1.0) > 1e-6:
        raise ValueError(f"the weights of least squares must sum to 1; got {q.sum():g}")
    if any((np.diagonal(M) < 0).any() or (M != M.T).any() for M in (A, Q)):
        raise ValueError("the sums of products must be symmetric")


def _parts(
    state: FloatArray, n: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return squared errors, rounds awake, weights of ridge and of least squares, and sums."""
    vectors = state[_HEADER : _HEADER + 5 * n].reshape(5, n)
    A, Q = state[_HEADER + 5 * n :].reshape(2, n, n)
    return vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], A, Q


@allocating_kernel
def _play(
    state: FloatArray,
    limits: tuple[float, float],
    X: FloatArray,
    y: FloatArray,
    columns: FloatArray,
    scratch: FloatArray,
    factor: FloatArray,
    solved: FloatArray,
    all_of_them: IntArray,
) -> int:
    """Combine the rows, and learn their outcomes if there are any; return how many were played."""
    n = X.shape[1]
    vectors = state[_HEADER : _HEADER + 5 * n].reshape((5, n))
    errors, counts, z, q, pull = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    sums = state[_HEADER + 5 * n :].reshape((2, n, n))
    x, w, d = scratch[0], scratch[1], scratch[2]
    for r in range(len(X)):
        _inverse_errors(errors, counts, X[r], w)
        mean, middle, here, least, most = 0.0, 0.0, 0, np.inf, -np.inf
        for i in range(n):
            if X[r, i] == X[r, i]:
                mean += X[r, i]
                middle += w[i] * X[r, i]
                least, most = min(least, X[r, i]), max(most, X[r, i])
                here += 1
        # rounded means must not leave the range of the experts
        middle = min(max(middle, least), most)
        for i in range(n):
            x[i] = X[r, i] if X[r, i] == X[r, i] else middle
            d[i] = x[i] - middle
        ridge, width = middle + dot_of(z, d), most - least
        ridge = min(max(ridge, max(least - width, limits[0])), min(most + width, limits[1]))
        columns[r, 0] = min(max(mean / here, least), most)
        columns[r, 1] = middle
        columns[r, 2] = ridge
        columns[r, 3] = min(max(dot_of(q, x), least), most)
        if len(y) == 0:
            continue
        for i in range(n):
            if not abs(x[i] - y[r]) <= _LARGEST:
                return r
        for i in range(n):
            if X[r, i] == X[r, i]:
                errors[i] += (x[i] - y[r]) * (x[i] - y[r])
                counts[i] += 1.0
        state[_ALL_ROUNDS] += 1.0
        state[_RECENT] = FORGETTING * state[_RECENT] + 1.0
        _add_products(sums[0], d)
        for i in range(n):
            pull[i] = FORGETTING * pull[i] + d[i] * (y[r] - middle)
            x[i] -= y[r]
        _add_products(sums[1], x)
        # with many experts a solution costs more than a round, and serves several
        if state[_ALL_ROUNDS] % max(1, n // 8) == 0:
            _solve_ridge(sums[0], pull, state[_RECENT], z, factor, solved, all_of_them)
            _solve_simplex(sums[1], state[_RECENT], q)
    return len(X)


@kernel
def _inverse_errors(
    errors: FloatArray, counts: FloatArray, row: FloatArray, out: FloatArray
) -> None:
    """Write weights by inverse mean squared errors over the experts awake in this row.

    An expert that was never awake counts as one with the mean error of the others. Without any
    error so far, or with experts that never erred, all of these weigh the same.
    """
    n, known, mean, least = errors.size, 0, 0.0, np.inf
    for i in range(n):
        if counts[i] > 0.0:
            mean += errors[i] / counts[i]
            known += 1
    mean = mean / known if known > 0 else 0.0
    for i in range(n):
        out[i] = errors[i] / counts[i] if counts[i] > 0.0 else mean
        if row[i] == row[i]:
            least = min(least, out[i])
    total = 0.0
    for i in range(n):
        if row[i] != row[i]:
            out[i] = 0.0
        elif least > 0.0:
            out[i] = least / out[i]
        else:
            out[i] = 1.0 if out[i] == 0.0 else 0.0
        total += out[i]
    for i in range(n):
        out[i] /= total


@inner_kernel
def _add_products(sums: FloatArray, x: FloatArray) -> None:
    """Forget a little, and add the products of all pairs of entries."""
    n = x.size
    for i in range(n):
        row = sums[i]
        for j in range(0, n, LANES):
            store(row, j, fma(x[i], load(x, j, 0.0), FORGETTING * load(row, j, 0.0)))


@inner_kernel
def _solve_ridge(
    sums: FloatArray,
    pull: FloatArray,
    rounds: float,
    z: FloatArray,
    factor: FloatArray,
    solved: FloatArray,
    all_of_them: IntArray,
) -> None:
    n, trace = z.size, 0.0
    for i in range(n):
        trace += sums[i, i]
    if not trace > 0.0:
        return
    for i in range(n):
        for j in range(n):
            factor[i, j] = sums[i, j]
        factor[i, i] += (RIDGE / rounds + 1e-12) * trace
    solve_held(factor, pull, all_of_them, factor, solved)  # an entry is read before it is written
    for i in range(n):
        z[i] = solved[0, i]


@allocating_kernel
def _solve_simplex(sums: FloatArray, rounds: float, q: FloatArray) -> None:
    n, trace = q.size, 0.0
    for i in range(n):
        trace += sums[i, i]
    if not trace > 0.0:
        return
    scaled, none = sums / trace, np.zeros(n)
    for i in range(n):
        scaled[i, i] += RIDGE / (rounds * n) + 1e-12
    lowest_on_simplex(scaled, none, q)
