"""The rules of the drifting games. Each object checks a move and names the broken rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import (
    as_floats,
    check_distribution,
    check_number,
    check_positive,
    check_vector,
)
from driftgames.core.typing import FloatArray

TOLERANCE = 1e-9
"""A violation up to this size counts as rounding."""


class RuleBrokenError(ValueError):
    """The game does not allow a move of the adversary; the message names the rule."""


class Rules(Protocol):
    """A game in which the adversary names one move for each chip."""

    def check(self, p: FloatArray, moves: FloatArray) -> None:
        """Raise `RuleBrokenError` unless these moves are allowed against ``p``."""


@dataclass(frozen=True)
class DriftingGame:
    r"""The original game: :math:`z_i \in B` and :math:`p\cdot z \ge \beta`. [LS14, Sec. 2]

    >>> DriftingGame(moves=(-1, 1), beta=0.1).check(np.array([0.5, 0.5]), np.array([1.0, -1.0]))
    Traceback (most recent call last):
    ...
    driftgames.games.rules.RuleBrokenError: p.z must be at least beta = 0.1; got 0
    """

    moves: Sequence[float] = (-1.0, 1.0)
    beta: float = 0.0

    def __post_init__(self) -> None:
        if not check_vector("moves", self.moves).size:
            raise ValueError("moves must hold at least one number; got none")
        check_number("beta", self.beta)

    def check(self, p: FloatArray, moves: FloatArray) -> None:
        """Raise `RuleBrokenError` unless the moves lie in B and average at least beta."""
        p = check_vector("p", p)
        z = check_vector("moves", moves, p.size)
        distances = np.abs(z[:, np.newaxis] - np.asarray(self.moves)).min(axis=1)
        if (distances > TOLERANCE).any():
            where = int(np.argmax(distances))
            raise RuleBrokenError(f"each z must be one of {tuple(self.moves)}; got {z[where]:g}")
        _check_average("p.z", float(p @ z), self.beta)


@dataclass(frozen=True)
class DGv1:
    r"""Hedge as a game: :math:`|z_i| \le 1`, :math:`p\cdot z \ge 0`, :math:`|z_i - z_j| \le 1`.

    [LS14, App. A]
    """

    def check(self, p: FloatArray, moves: FloatArray) -> None:
        """Raise `RuleBrokenError` unless the moves obey all three rules."""
        p = check_vector("p", p)
        z = check_vector("moves", moves, p.size)
        _check_interval(z)
        _check_average("p.z", float(p @ z), 0.0)
        spread = float(z.max() - z.min())
        if spread > 1 + TOLERANCE:
            raise RuleBrokenError(f"|z_i - z_j| must be at most 1; got {spread:g}")


@dataclass(frozen=True)
class DGv2:
    r"""Bandits as a game: random moves with their variance bounded.

    .. math:: z_i \ge -1, \quad E z_i \le 1, \quad E z_i^2 \le 1/p_i, \quad E\,p\cdot z \ge 0

    A random move is given by its outcomes, one per row, and their probabilities.
    [LS14, App. A]
    """

    def check(self, p: npt.ArrayLike, outcomes: npt.ArrayLike, chances: npt.ArrayLike) -> None:
        """Raise `RuleBrokenError` unless the random move obeys all four rules."""
        z = as_floats("outcomes", outcomes)
        if z.ndim != 2:
            raise ValueError(f"outcomes must be a matrix, one row each; got shape {z.shape}")
        q = check_distribution("chances", chances, z.shape[0])
        player = check_distribution("p", p, z.shape[1])
        if z.min() < -1 - TOLERANCE:
            raise RuleBrokenError(f"each z must be at least -1; got {z.min():g}")
        means, squares = q @ z, q @ z**2
        if means.max() > 1 + TOLERANCE:
            raise RuleBrokenError(f"each E z must be at most 1; got {means.max():g}")
        excess = squares * player  # E z^2 <= 1/p, and 1/0 allows anything
        if excess.max() > 1 + TOLERANCE:
            i = int(np.argmax(excess))
            raise RuleBrokenError(
                f"each E z^2 must be at most 1/p; chip {i} has {squares[i]:g} and p = {player[i]:g}"
            )
        _check_average("E p.z", float(means @ player), 0.0)


@dataclass(frozen=True)
class DGv3:
    r"""Online convex optimization as a game: a chip at every point of a set S.

    .. math:: z(x) \in [-1, 1], \qquad E_{x\sim p}\,z(x) \ge 0

    The density and the moves are given at the nodes of a quadrature rule with weights
    ``volumes``. [LS14, App. A]
    """

    def check(self, density: npt.ArrayLike, moves: npt.ArrayLike, volumes: npt.ArrayLike) -> None:
        """Raise `RuleBrokenError` unless the move obeys both rules."""
        z = check_vector("moves", moves)
        measure = check_vector("volumes", volumes, z.size)
        mass = check_vector("density", density, z.size) * measure
        total = check_positive("the integral of the density", float(mass.sum()))
        _check_interval(z)
        _check_average("E z", float(mass @ z) / total, 0.0)


def _check_interval(z: FloatArray) -> None:
    farthest = z[int(np.argmax(np.abs(z)))]
    if abs(farthest) > 1 + TOLERANCE:
        raise RuleBrokenError(f"each z must lie in [-1, 1]; got {farthest:g}")


def _check_average(name: str, average: float, beta: float) -> None:
    if average < beta - TOLERANCE:
        wanted = "nonnegative" if beta == 0 else f"at least beta = {beta:g}"
        raise RuleBrokenError(f"{name} must be {wanted}; got {average:g}")
