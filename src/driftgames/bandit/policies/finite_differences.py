r"""Theorem 4 by finite differences, for potentials without a formula.

A chip starts at 0 and moves by at least -1 a round. So before round t it stands at ``s > -t``,
and it can reach every position to the right. Second derivatives are taken at ``s - 1``, in cells
of half a unit. The cells lie side by side near 0, and farther and farther apart from there to
``-t`` and ``T``. In a cell the derivatives are second differences of step 1/64, relative to the
size of the potential in that cell. A jump is a difference that stays as large when the step
shrinks. Up to 32 rounds are probed, the first and the last among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from driftgames.core.typing import FloatArray
from driftgames.potentials import Potential

STEP = 1.0 / 64
CELL = 17  # steps on either side of a cell's middle
NEAR = 6.0  # up to here the cells lie side by side
MOST_ROUNDS = 32
JUMP = 0.2  # relative to the second derivative on either side
ZOOM = 16
EPSILON = float(np.finfo(float).eps)


class Probe(NamedTuple):
    """The result of one round: the reason of failure per condition, and the growth."""

    t: int
    failures: tuple[str, str, str, str, str]
    log_growth: float


class Cell(NamedTuple):
    """Values around one position ``x = s - 1``, relative to ``exp(log_scale)``."""

    x: FloatArray
    step: float
    left: FloatArray  # Phi_t(s - 1)
    right: FloatArray  # Phi_t(s + 1)
    before: FloatArray  # Phi_{t-1}(s)
    log_scale: float

    @property
    def second(self) -> FloatArray:
        """The second differences of ``left``; one fewer on either side."""
        return np.asarray(np.diff(self.left, 2) / self.step**2)

    @property
    def noise(self) -> float:
        """The largest rounding error of a second difference."""
        return 8 * EPSILON * float(np.abs(self.left).max()) / self.step**2


def rounds_to_probe(horizon: int) -> list[int]:
    """Return all rounds of a short game, and some of a long one.

    >>> rounds_to_probe(4)
    [1, 2, 3, 4]
    """
    if horizon <= MOST_ROUNDS:
        return list(range(1, horizon + 1))
    spread = np.unique(np.geomspace(1, horizon, MOST_ROUNDS).round().astype(int))
    return [int(t) for t in spread]


def probe_round(phi: Potential, t: int, n_arms: int, horizon: int) -> Probe:
    """Check one round."""
    cells = []
    for middle in _middles(t, horizon):
        cell = _cell(phi, t, horizon, middle, STEP)
        if not np.isfinite(cell.left + cell.right + cell.before).all():
            where = f"round {t}: the potential is not finite near s = {middle + 1:g}"
            return Probe(t, (where, where, where, where, where), math.inf)
        if cell.left[0] != 0.0:  # a cell that has underflowed shows nothing
            cells.append(cell)
    shape = _first(_shape(cell, t) for cell in cells)
    jump = _first(_jump(phi, cell, t, horizon) for cell in cells)
    rising = "" if jump else _first(_rising(cell, t) for cell in cells)
    alpha, endless = _alpha(cells, t)
    if endless:
        return Probe(t, (shape, jump, rising, endless, "alpha_t is not finite"), math.inf)
    growth, lost = _growth(cells, alpha, n_arms, t)
    return Probe(t, (shape, jump, rising, "", lost), growth)


def _middles(t: int, horizon: int) -> FloatArray:
    near = np.arange(-NEAR, NEAR + 0.25, 0.5)
    left, right = (np.geomspace(NEAR, max(end, NEAR), 13)[1:] for end in (t, horizon))
    return np.unique(np.concatenate([-left, near, right]))


def _cell(phi: Potential, t: int, horizon: int, middle: float, step: float) -> Cell:
    x: FloatArray = middle + step * np.arange(-CELL, CELL + 1, dtype=np.float64)
    scale = fitting_scale(phi, float(x[0]), t, horizon)
    with np.errstate(over="ignore", invalid="ignore"):
        left, right, before = (
            phi.value(x + shift, clock, horizon=horizon, log_scale=scale)
            for shift, clock in ((0.0, t), (2.0, t), (1.0, t - 1))
        )
    return Cell(x, step, left, right, before, scale)


def fitting_scale(phi: Potential, s: float, t: int, horizon: int) -> float:
    """Return a log-scale at which ``Phi_t(s)`` is finite, with the factor of a long game."""
    scale, further = phi.log_scale(np.array([s + 1.0]), t), 600.0
    with np.errstate(over="ignore"):
        for _ in range(40):
            value = phi.value(np.array([s]), t, horizon=horizon, log_scale=scale)[0]
            if value < math.inf:
                break
            scale, further = scale + further, 2 * further
    return scale


def _shape(cell: Cell, t: int) -> str:
    rounding = 4 * EPSILON * float(np.abs(cell.left).max())
    checks = (
        (cell.second < -cell.noise, "is not convex"),
        (np.diff(cell.left) > rounding, "rises"),
        (cell.left < -rounding, "is negative"),
    )
    for bad, verb in checks:
        if bad.any():
            return f"round {t}: the potential {verb} at s = {cell.x[int(np.argmax(bad))]:.3g}"
    return ""


def _jump(phi: Potential, cell: Cell, t: int, horizon: int) -> str:
    """Say where the second derivative jumps: where it stays as rough with a finer step."""
    for _ in range(2):
        second = cell.second
        leap = np.abs(second[2:] - second[:-2])
        size = np.maximum(np.abs(second[2:]), np.abs(second[:-2]))
        suspect = (leap > JUMP * size) & (leap > 10 * cell.noise)
        if not suspect.any():
            return ""
        at = int(np.argmax(np.where(suspect, leap, 0.0)))
        where, (above, below) = cell.x[at + 2], second[[at, at + 2]]
        found = f"from {_unscaled(above, cell)} to {_unscaled(below, cell)} at s = {where:.3g}"
        cell = _cell(phi, t, horizon, float(where), cell.step / ZOOM)
    return f"round {t}: the second derivative jumps {found}"


def _rising(cell: Cell, t: int) -> str:
    second = cell.second
    bad = np.diff(second) > 2 * cell.noise + 1e-6 * np.abs(second[:-1])
    if not bad.any():
        return ""
    return f"round {t}: the second derivative rises at s = {cell.x[1 + int(np.argmax(bad))]:.3g}"


def _alpha(cells: list[Cell], t: int) -> tuple[float, str]:
    """Return alpha_t, or say where it is infinite."""
    alpha = 0.0
    for cell in cells:
        second, difference = cell.second, (cell.left - cell.right)[1:-1]
        curved = second > cell.noise
        flat = difference <= 4 * EPSILON * float(np.abs(cell.left).max())
        if (curved & flat).any():
            at = int(np.argmax(curved & flat))
            s = cell.x[1 + at] + 1.0
            return math.inf, (
                f"round {t}: at s = {s:.3g} the weight is 0, and the second derivative at "
                f"s - 1 is not"
            )
        ratios = second[curved] / difference[curved]
        alpha = max(alpha, 0.5 * float(ratios.max(initial=0.0)))
    return alpha, ""


def _growth(cells: list[Cell], alpha: float, n_arms: int, t: int) -> tuple[float, str]:
    """Return the logarithm of the growth that Eq. (6) needs, or say where it is infinite."""
    growth = -math.inf
    for cell in cells:
        needed = (0.5 + n_arms * alpha) * cell.left + (0.5 - n_arms * alpha) * cell.right
        lost = (cell.before <= 0) & (needed > 0)
        if lost.any():
            s = cell.x[int(np.argmax(lost))] + 1.0
            return math.inf, f"round {t}: the potential of the round before is 0 at s = {s:.3g}"
        ratios = needed[cell.before > 0] / cell.before[cell.before > 0]
        growth = max(growth, math.log(float(ratios.max(initial=0.0)) or math.ulp(0.0)))
    return growth, ""


def _unscaled(value: float, cell: Cell) -> str:
    return f"{float(value) * math.exp(min(cell.log_scale, 700.0)):.3g}"


def _first(reasons: Iterable[str]) -> str:
    return next((reason for reason in reasons if reason), "")
