"""A potential from its final function alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import exp_all
from driftgames._kernels.sums import matvec
from driftgames.core.checks import as_floats, check_integer, shown
from driftgames.core.typing import FloatArray
from driftgames.potentials.potential import NoBoundError, Potential

_CELLS = 4_000_000  # how many values of phi_T are held at a time


@dataclass(frozen=True)
class RecipePotential(Potential):
    r"""The recipe of Algorithm 3 with equality, from any final function.

    .. math:: \Phi_{t-1}(s) = \tfrac12\bigl(\Phi_t(s-1) + \Phi_t(s+1)\bigr)
              \quad\Rightarrow\quad
              \Phi_t(s) = 2^{-n}\sum_{k=0}^{n}\binom nk\,\phi_T(s + 2k - n), \quad n = T - t

    A new algorithm is thus one function, and `bound` computes its regret bound. [LS14, Alg. 3]

    Parameters
    ----------
    phi_T : callable
        Vectorised; convex, nonincreasing and nonnegative. This is checked on the positions that
        a game can reach, in steps of 1/8.
    horizon : int
        T.

    Examples
    --------
    >>> hinge = RecipePotential(lambda s: np.maximum(-s, 0.0), horizon=100)
    >>> hinge.distribution([-1.0, 0.0, 1.0], t=51)
    array([0.37075839, 0.33333333, 0.29590828])
    >>> round(float(hinge.bound(100, 0.1)), 2)
    39.79
    """

    phi_T: Callable[[FloatArray], npt.ArrayLike]  # noqa: N815 (the paper's name)
    horizon: int

    adaptive: ClassVar[bool] = False
    registry_name: ClassVar[str | None] = "recipe"

    def __post_init__(self) -> None:
        if not callable(self.phi_T):
            raise ValueError(f"phi_T must be a function; got {shown(self.phi_T)}")
        reach = check_integer("horizon", self.horizon, least=1) + 1
        at = np.linspace(-reach, reach, 16 * reach + 1)
        phi = as_floats("phi_T", self.phi_T(at))
        if phi.shape != at.shape:
            raise ValueError(f"phi_T must be vectorised; {at.shape} in gave {phi.shape} out")
        _refuse("finite", ~np.isfinite(phi), at)
        _refuse("nonnegative", phi < 0, at)
        # the rounding error, relative to phi_T at the point and at the start
        slack = 1e-12 * (phi + phi[phi.size // 2])
        _refuse("nonincreasing", np.diff(phi) > slack[:-1], at)
        _refuse("convex", np.diff(phi, 2) < -slack[:-2], at[1:])

    @classmethod
    def for_game(cls, horizon: int | None, epsilon: float) -> RecipePotential:
        """Return the recipe from the squared hinge ``[s]_-^2``, the final function of Lemma 1."""
        return cls(_squared_hinge, check_integer("horizon", horizon, least=1))

    @property
    def last_round(self) -> float:
        """The horizon."""
        return self.horizon

    def value(
        self,
        positions: npt.ArrayLike,
        t: int,
        *,
        horizon: int | None = None,
        log_scale: float = 0.0,
    ) -> FloatArray:
        """Return ``Phi_t(s) * exp(-log_scale)``."""
        if horizon is not None and check_integer("horizon", horizon, least=0) != self.horizon:
            raise ValueError(f"phi_T was given for horizon {self.horizon}; got {horizon}")
        if check_integer("t", t, least=0) > self.horizon:
            raise ValueError(f"t must lie in 0..{self.horizon}, the horizon; got {t}")
        s = as_floats("positions", positions)
        rounds_left = self.horizon - t
        chances = _coin_flips(rounds_left)
        ends = 2.0 * np.arange(rounds_left + 1) - rounds_left
        flat, out = s.ravel(), np.empty(s.size)
        block = max(1, _CELLS // ends.size)
        for begin in range(0, flat.size, block):
            part = flat[begin : begin + block, np.newaxis] + ends
            ended = np.ascontiguousarray(self.phi_T(part), dtype=np.float64)
            out[begin : begin + block] = matvec(ended, chances)
        return np.asarray(out.reshape(s.shape) * exp_all(-log_scale))

    def _solve_bounds(self, horizon: int, epsilons: FloatArray) -> FloatArray:
        if horizon != self.horizon:
            raise NoBoundError(f"phi_T was given for horizon {self.horizon}; got {horizon}")
        return super()._solve_bounds(horizon, epsilons)


def _squared_hinge(s: FloatArray) -> FloatArray:
    return np.minimum(s, 0.0) ** 2


@functools.lru_cache(maxsize=64)
def _coin_flips(n: int) -> FloatArray:
    """Return the chance of k heads in n flips of a coin, each rounded once. It is only read.

    >>> _coin_flips(3)
    array([0.125, 0.375, 0.375, 0.125])
    """
    ways, chances = 1, []
    for k in range(n + 1):
        chances.append(ways / (1 << n))  # a quotient of integers
        ways = ways * (n - k) // (k + 1)
    return np.array(chances)


def _refuse(rule: str, broken: npt.NDArray[np.bool_], at: FloatArray) -> None:
    if broken.any():
        raise ValueError(f"phi_T must be {rule}; it is not at {at[int(np.argmax(broken))]:g}")
