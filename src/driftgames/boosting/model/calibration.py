r"""The sigmoid that makes probabilities of votes, and its numbers of the least log-loss.

.. math:: P(y = 1 \mid x) = \frac{1}{1 + e^{-(a v(x) + b)}}

where :math:`v` is the normalised vote (Platt, 1999). Of more than two classes, class :math:`k` has
a share of :math:`e^{a v_k(x) + b_k}`. The numbers are found by Newton's method.

Their targets are Platt's: if ``n`` of the examples are of a class, one of them counts
``(n + 1) / (n + 2)`` for it, and the other classes share the rest. So probabilities stay inside
(0, 1) where votes tell the classes apart. Examples of equal votes are added up in integers, so that
their order does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import exp, exp_all, log, log1p, log_all
from driftgames._kernels.jit import allocating_kernel, inner_kernel, kernel
from driftgames._kernels.sums import dot, dot_of, row_dots, total, total_of
from driftgames.core.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """A sigmoid of the vote.

    With more than two classes the probabilities are in proportion to ``exp(slope * vote)``, times
    ``exp(intercept)`` of the class if there are ``class_intercepts``. Without them the likeliest
    class is that of most votes.

    Parameters
    ----------
    slope, intercept : float
        The numbers of the sigmoid. A slope is at least 0. The intercept is 0 with more than two
        classes.
    class_intercepts : tuple of float
        With more than two classes an intercept for each, 0 for the first: where class weights have
        moved the votes, or where votes tell nothing. Default: none.
    class_weighted : bool
        Whether class weights have moved the votes. They say what errors cost, so `predict` then
        returns the class of most votes, and else the class of the largest probability. Default:
        False.
    """

    slope: float
    intercept: float
    class_intercepts: tuple[float, ...] = ()
    class_weighted: bool = False

    @classmethod
    def fit(
        cls,
        votes: FloatArray,
        labels: IntArray,
        masses: IntArray,
        scale: float = 1.0,
        *,
        class_weighted: bool = False,
    ) -> Calibration:
        """Fit the sigmoids to votes, a column for each class if there are more than two.

        ``labels`` number the classes. ``scale`` times the integer ``masses`` are the numbers of
        examples that the prior sees. If classes were weighted, each has an intercept.
        """
        if votes.ndim == 1:
            slope, intercept, _ = fit_sigmoid(votes, labels == 1, masses, scale)
            return cls(slope, intercept, class_weighted=class_weighted)
        if class_weighted:
            slope, intercepts = fit_class_intercepts(votes, labels, masses, scale)
            return cls(slope, 0.0, intercepts, class_weighted)
        slope = fit_softmax(votes, labels, masses, scale)
        if slope == 0.0:
            slope, intercepts = fit_class_intercepts(np.zeros_like(votes), labels, masses, scale)
            return cls(slope, 0.0, intercepts)
        return cls(slope, 0.0)

    def scores(self, votes: FloatArray) -> FloatArray:
        """Return the logarithms of the odds; of several classes, those of the shares.

        The likelier of two classes is the second where they are above 0; the likeliest of several
        is that of the largest.
        """
        if self.class_intercepts:
            return np.asarray(self.slope * votes + np.array(self.class_intercepts))
        return np.asarray(self.slope * votes + self.intercept)

    def decide(self, votes: FloatArray) -> FloatArray:
        """Return what `predict` compares: the scores, or the votes with class weights."""
        return votes if self.class_weighted else self.scores(votes)

    def losses(self, votes: FloatArray, labels: IntArray) -> FloatArray:
        """Return the log-loss of the probabilities of each vote."""
        return -log_all(self.probabilities(votes)[np.arange(labels.size), labels])

    def log_loss(self, votes: FloatArray, labels: IntArray, masses: IntArray) -> float:
        """Return the mean log-loss of the probabilities of votes."""
        losses = self.losses(votes, labels)
        return dot(masses.astype(np.float64), losses) / int(masses.sum())

    def probabilities(self, votes: FloatArray) -> FloatArray:
        """Return the probability of every class.

        >>> Calibration(4.0, 0.0).probabilities(np.array([0.0, 1.0]))
        array([[0.5       , 0.5       ],
               [0.01798621, 0.98201379]])
        """
        if votes.ndim == 1:
            z = self.scores(votes)
            small = exp_all(-np.abs(z))
            up = np.where(z >= 0, 1.0, small)  # both classes have one where z is 0
            down = np.where(z <= 0, 1.0, small)
            return np.column_stack([down, up]) / (1.0 + small)[:, None]
        if self.class_intercepts:
            z = self.scores(votes)
            shares = exp_all(z - z.max(axis=1, keepdims=True))
        else:
            shares = exp_all(self.slope * (votes - votes.max(axis=1, keepdims=True)))
        return np.asarray(shares / row_dots(shares, np.ones_like(shares))[:, None])


_SEVERAL = 10  # examples of each class, from which on a standard error tells something
_MOST_STEPS = 100  # Newton's method needs some ten
_MOST_HALVES = 30


def fit_sigmoid(
    votes: FloatArray, positive: BoolArray, masses: IntArray, scale: float = 1.0
) -> tuple[float, float, float]:
    """Return the slope, the intercept and the mean log-loss of the sigmoid of the least log-loss.

    A negative slope becomes 0: a vote for a class does not make it less likely. An intercept
    within its standard error of 0 is 0, if there are ten examples of each class: the likelier class
    is then the one that the vote is for.

    >>> slope, intercept, loss = fit_sigmoid(
    ...     np.array([-0.5, -0.5, 0.5, 0.5]),
    ...     np.array([False, False, True, True]),
    ...     np.ones(4, dtype=np.int64),
    ... )
    >>> round(slope, 6), abs(round(intercept, 6)), round(loss, 6)
    (2.197225, 0.0, 0.287682)
    """
    at, place = np.unique(votes, return_inverse=True)
    counts = np.zeros((2, at.size), dtype=np.int64)
    np.add.at(counts, (positive.astype(np.intp), place), masses)
    below, above = scale * counts[0], scale * counts[1]
    n_below, n_above = scale * counts[0].sum(), scale * counts[1].sum()
    mass = below + above
    wanted = above * ((n_above + 1) / (n_above + 2)) + below / (n_below + 2)
    rate = total(wanted) / total(mass)
    flat = float(log_all(np.array([rate / (1 - rate)]))[0])
    slope, intercept = 0.0, flat
    if at.size > 1:
        slope, intercept, variance = _newton(at, mass, wanted, flat, True)
        if intercept * intercept < variance and min(n_below, n_above) >= _SEVERAL:
            slope, intercept, _ = _newton(at, mass, wanted, 0.0, False)
        if slope <= 0:
            slope, intercept = 0.0, flat
    loss = _sigmoid_loss(at, mass, above, slope, intercept, np.empty(at.size)) / total(mass)
    return slope, intercept, loss


def find_sigmoid(
    votes: FloatArray, mass: FloatArray, wanted: FloatArray, *, has_intercept: bool = True
) -> tuple[float, float]:
    """Return the slope and the intercept of the least log-loss; the slope is at least 0.

    Each vote has a ``mass``, of which ``wanted`` is for the second class.

    >>> slope, _ = find_sigmoid(np.array([-0.5, 0.5]), np.full(2, 4.0), np.array([1.0, 3.0]))
    >>> round(slope, 6)
    2.197225
    """
    wanted_mass, all_mass = total(wanted), total(mass)
    odds = np.array([wanted_mass / (all_mass - wanted_mass)])
    flat = float(log_all(odds)[0]) if has_intercept else 0.0
    slope, intercept, _ = _newton(votes, mass, wanted, flat, has_intercept)
    return (slope, intercept) if slope > 0.0 else (0.0, flat)


def fit_softmax(votes: FloatArray, labels: IntArray, masses: IntArray, scale: float = 1.0) -> float:
    """Return the slope of the least log-loss of shares ``exp(slope * vote)``; at least 0.

    >>> votes = np.array([[0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]])
    >>> round(fit_softmax(votes, np.arange(3), np.ones(3, dtype=np.int64)), 6)
    1.386294
    """
    at, mass, wanted = _add_up(votes, labels, masses, scale)
    return max(_newton_softmax(at, mass, wanted), 0.0)


def fit_class_intercepts(
    votes: FloatArray, labels: IntArray, masses: IntArray, scale: float = 1.0
) -> tuple[float, tuple[float, ...]]:
    """Return the slope and the intercepts of the least log-loss of shares of classes.

    The shares are ``exp(slope * vote + intercept)``, with the intercept of each class, 0 for the
    first. If the slope would be negative, it is 0,
    and the probabilities are the shares of the classes.

    >>> votes = np.array([[0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]])
    >>> slope, intercepts = fit_class_intercepts(votes, np.arange(3), np.array([1, 1, 8]))
    >>> round(slope, 4), [round(each, 4) for each in intercepts]
    (2.0171, [0.0, 0.0, 0.7757])
    """
    at, mass, wanted = _add_up(votes, labels, masses, scale)
    logs = log_all(np.array([total(np.ascontiguousarray(each)) for each in wanted.T]))
    flat = logs - logs[0]
    found = np.concatenate([[0.0], flat])
    if at.shape[0] > 1:
        found = _newton_classes(at, mass, wanted, flat)
    if found[0] <= 0.0:
        found = np.concatenate([[0.0], flat])
    return float(found[0]), tuple(found[1:].tolist())


def _add_up(
    votes: FloatArray, labels: IntArray, masses: IntArray, scale: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the different rows of votes, their masses, and Platt's targets for each class."""
    at, place = _distinct_rows(votes)
    counts = np.zeros(at.shape, dtype=np.int64)
    np.add.at(counts, (place, labels), masses)
    class_counts = scale * counts.sum(axis=0)
    rest = scale * counts / (class_counts + 2)
    of_others = row_dots(rest, np.ones_like(rest))[:, None] - rest
    wanted = of_others / (class_counts.size - 1) + rest * (class_counts + 1)
    return at, scale * counts.sum(axis=1), wanted


def _distinct_rows(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the different rows in ascending order, and the place of every row among them.

    `np.unique` compares records. NumPy answers an interruption meanwhile with a TypeError.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    is_first = np.ones(order.size, dtype=bool)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.cumsum(is_first) - 1
    return ordered[is_first], place


@allocating_kernel
def _newton(
    votes: FloatArray, mass: FloatArray, wanted: FloatArray, intercept: float, free: bool
) -> tuple[float, float, float]:
    """Return the slope and the intercept of the least loss, and the variance of the intercept.

    Only if the intercept is ``free`` does it change. The search begins with a slope of 0. A step is
    halved until the loss falls; the search ends where it falls no more in its bits.
    """
    slope = variance = 0.0
    gradient, curvature = np.empty(votes.size), np.empty(votes.size)
    scratch = np.empty(votes.size)
    loss = _sigmoid_loss(votes, mass, wanted, slope, intercept, scratch)
    for _ in range(_MOST_STEPS):
        for i in range(votes.size):
            z = slope * votes[i] + intercept
            small = exp(-abs(z))
            share = (1.0 if z >= 0 else small) / (1.0 + small)
            gradient[i] = mass[i] * share - wanted[i]
            curvature[i] = mass[i] * small / ((1.0 + small) * (1.0 + small))
        curved = total_of(curvature)
        if curved == 0.0:
            break
        # about the centre, slope and intercept do not interact
        centre = dot_of(curvature, votes) / curved if free else 0.0
        for i in range(votes.size):
            scratch[i] = votes[i] - centre
        tilt = dot_of(gradient, scratch)
        for i in range(votes.size):
            scratch[i] *= scratch[i]
        bent = dot_of(curvature, scratch)
        if bent == 0.0:
            break
        step = -tilt / bent
        shift = -total_of(gradient) / curved - centre * step if free else 0.0
        variance = 1.0 / curved + centre * centre / bent
        lower = False
        for _ in range(_MOST_HALVES):
            now = _sigmoid_loss(votes, mass, wanted, slope + step, intercept + shift, scratch)
            if now < loss:
                slope, intercept, loss, lower = slope + step, intercept + shift, now, True
                break
            step *= 0.5
            shift *= 0.5
        if not lower:
            break
    return slope, intercept, variance


@kernel
def _sigmoid_loss(
    votes: FloatArray,
    mass: FloatArray,
    wanted: FloatArray,
    slope: float,
    intercept: float,
    scratch: FloatArray,
) -> float:
    """Return the log-loss of a sigmoid: the sum of ``mass log(1 + e^z) - wanted z``."""
    for i in range(votes.size):
        z = slope * votes[i] + intercept
        scratch[i] = mass[i] * (max(z, 0.0) + log1p(exp(-abs(z)))) - wanted[i] * z
    return total_of(scratch)


@allocating_kernel
def _newton_softmax(votes: FloatArray, mass: FloatArray, wanted: FloatArray) -> float:
    """Return the slope of the least loss; the search is that of `_newton`."""
    n, n_classes = votes.shape
    gradient, curvature, scratch = np.empty(n), np.empty(n), np.empty(n)
    slope = 0.0
    loss = _softmax_loss(votes, mass, wanted, slope, scratch)
    for _ in range(_MOST_STEPS):
        for i in range(n):
            highest = _largest(votes[i])
            norm = mean = square = aim = 0.0
            for k in range(n_classes):
                share = exp(slope * (votes[i, k] - highest))
                norm += share
                mean += share * votes[i, k]
                square += share * votes[i, k] * votes[i, k]
                aim += wanted[i, k] * votes[i, k]
            mean /= norm
            gradient[i] = mass[i] * mean - aim
            curvature[i] = mass[i] * max(square / norm - mean * mean, 0.0)
        bent = total_of(curvature)
        if bent == 0.0:
            break
        step = -total_of(gradient) / bent
        lower = False
        for _ in range(_MOST_HALVES):
            now = _softmax_loss(votes, mass, wanted, slope + step, scratch)
            if now < loss:
                slope, loss, lower = slope + step, now, True
                break
            step *= 0.5
        if not lower:
            break
    return slope


@kernel
def _softmax_loss(
    votes: FloatArray, mass: FloatArray, wanted: FloatArray, slope: float, scratch: FloatArray
) -> float:
    """Return the log-loss: the sum of ``mass log(sum_k e^z_k) - sum_k wanted_k z_k``."""
    for i in range(votes.shape[0]):
        highest = _largest(votes[i])
        norm = aim = 0.0
        for k in range(votes.shape[1]):
            norm += exp(slope * (votes[i, k] - highest))
            aim += wanted[i, k] * (votes[i, k] - highest)
        scratch[i] = mass[i] * log(norm) - slope * aim
    return total_of(scratch)


@allocating_kernel
def _newton_classes(
    votes: FloatArray, mass: FloatArray, wanted: FloatArray, flat: FloatArray
) -> FloatArray:
    """Return the slope and the intercepts of the least loss; the search is that of `_newton`.

    It begins with a slope of 0 and the ``flat`` intercepts. That of the first class stays 0.
    """
    n, n_classes = votes.shape
    found = np.zeros(n_classes + 1)
    found[1:] = flat
    shares, means = np.empty((n, n_classes)), np.empty(n)
    gradient, hessian = np.empty(n_classes), np.empty((n_classes, n_classes))
    scratch = np.empty(n)
    loss = _class_loss(votes, mass, wanted, found, scratch)
    for _ in range(_MOST_STEPS):
        for i in range(n):
            means[i] = _share_out(votes[i], found, shares[i])
        # number 0 is the slope, number k the intercept of class k
        for j in range(n_classes):
            for i in range(n):
                scratch[i] = _slope_at(j, votes[i], mass[i], shares[i], wanted[i])
            gradient[j] = total_of(scratch)
            for m in range(j + 1):
                for i in range(n):
                    scratch[i] = _curve_at(j, m, votes[i], mass[i], shares[i], means[i])
                hessian[j, m] = total_of(scratch)
        if not _solve(hessian, gradient):
            break
        lower = False
        step = found.copy()
        for _ in range(_MOST_HALVES):
            step[0] = found[0] - gradient[0]
            for k in range(1, n_classes):
                step[1 + k] = found[1 + k] - gradient[k]
            now = _class_loss(votes, mass, wanted, step, scratch)
            if now < loss:
                found[:], loss, lower = step, now, True
                break
            for k in range(n_classes):
                gradient[k] *= 0.5
        if not lower:
            break
    return found


@inner_kernel
def _share_out(votes: FloatArray, found: FloatArray, shares: FloatArray) -> float:
    """Write the probability of each class on one example; return the mean of its votes."""
    highest = -np.inf
    for k in range(votes.size):
        shares[k] = found[0] * votes[k] + found[1 + k]
        highest = max(highest, shares[k])
    norm = mean = 0.0
    for k in range(votes.size):
        shares[k] = exp(shares[k] - highest)
        norm += shares[k]
    for k in range(votes.size):
        shares[k] /= norm
        mean += shares[k] * votes[k]
    return mean


@inner_kernel
def _slope_at(
    j: int, votes: FloatArray, mass: float, shares: FloatArray, wanted: FloatArray
) -> float:
    """Return what one example adds to the gradient, in number ``j``."""
    if j:
        return float(mass * shares[j] - wanted[j])
    total = 0.0
    for k in range(votes.size):
        total += (mass * shares[k] - wanted[k]) * votes[k]
    return total


@inner_kernel
def _curve_at(
    j: int, m: int, votes: FloatArray, mass: float, shares: FloatArray, mean: float
) -> float:
    """Return what one example adds to the Hessian, in numbers ``j`` and ``m <= j``."""
    if j == 0:
        square = 0.0
        for k in range(votes.size):
            away = votes[k] - mean
            square += shares[k] * away * away
        return mass * square
    if m == 0:
        return float(mass * shares[j] * (votes[j] - mean))
    own = 1.0 if j == m else 0.0
    return float(mass * shares[j] * (own - shares[m]))


@kernel
def _class_loss(
    votes: FloatArray, mass: FloatArray, wanted: FloatArray, found: FloatArray, scratch: FloatArray
) -> float:
    """Return the log-loss, as `_softmax_loss`, with the intercepts behind the slope."""
    for i in range(votes.shape[0]):
        highest = -np.inf
        for k in range(votes.shape[1]):
            highest = max(highest, found[0] * votes[i, k] + found[1 + k])
        norm = aim = 0.0
        for k in range(votes.shape[1]):
            z = found[0] * votes[i, k] + found[1 + k] - highest
            norm += exp(z)
            aim += wanted[i, k] * z
        scratch[i] = mass[i] * log(norm) - aim
    return total_of(scratch)


@inner_kernel
def _solve(matrix: FloatArray, right: FloatArray) -> bool:
    """Solve a positive definite system in place, by its lower half; False if it is singular."""
    n = right.size
    for j in range(n):  # Cholesky's factors
        for m in range(j + 1):
            value = matrix[j, m]
            for k in range(m):
                value -= matrix[j, k] * matrix[m, k]
            if m < j:
                matrix[j, m] = value / matrix[m, m]
            elif value > 0.0:
                matrix[j, j] = math.sqrt(value)
            else:
                return False
    for j in range(n):
        for k in range(j):
            right[j] -= matrix[j, k] * right[k]
        right[j] /= matrix[j, j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            right[j] -= matrix[k, j] * right[k]
        right[j] /= matrix[j, j]
    return True


@inner_kernel
def _largest(values: FloatArray) -> float:
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return float(largest)
