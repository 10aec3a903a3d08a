"""Potentials whose weight is a compiled function, so that whole games run as kernels.

A compiled potential brings two scalar functions, both marked ``@scalar``:
``weight(s, t, log_scale, theta)``, and ``exponent(s, t, theta)``, the logarithm of the largest
term in that weight. ``theta`` is the tuple of the potential's parameters. A loop over chips is
written once as a template, and compiled for each potential by `instantiate`. It passes the
positions of eight chips at a time to ``weight``, as `Lanes`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.templates import Part, as_part, instantiate
from driftgames.core.checks import check_integer, check_vector
from driftgames.core.typing import FloatArray
from driftgames.potentials.potential import Potential

Theta = tuple[float, ...]
Weight = Callable[[float, float, float, Theta], float]
Exponent = Callable[[float, float, Theta], float]

potential = Part("potential")


@dataclass(frozen=True, eq=False)
class Kernels:
    """The compiled functions of one potential.

    ``game_weight`` is for the positions that a game with losses in [0, 1] can reach, those with
    ``|s| < t``. ``weigh(positions, t, log_scale, theta, out)`` writes the weight of every chip.
    """

    weight: Weight
    game_weight: Weight
    exponent: Exponent
    weigh: Callable[[FloatArray, float, float, Theta, FloatArray], None]


def compile_kernels(
    *, weight: Weight, exponent: Exponent, game_weight: Weight | None = None
) -> Kernels:
    """Return the compiled functions of a potential; ``game_weight`` may be a cheaper formula."""
    return Kernels(
        weight=weight,
        game_weight=weight if game_weight is None else game_weight,
        exponent=exponent,
        weigh=instantiate(_weigh, potential=as_part("potential", weight=weight)),
    )


@kernel
def _weigh(
    positions: FloatArray, t: float, log_scale: float, theta: Theta, out: FloatArray
) -> None:
    for i in range(0, positions.size, LANES):
        store(out, i, potential.weight(load(positions, i, 0.0), t, log_scale, theta))


class CompiledPotential(Potential):
    """A potential that brings its weight as a compiled scalar function.

    `weights` and the compiled games of the learners use that one formula.
    """

    @property
    @abstractmethod
    def kernels(self) -> Kernels:
        """The compiled functions of this potential."""

    @property
    @abstractmethod
    def theta(self) -> Theta:
        """The parameters that the compiled functions take."""

    def log_scale(self, positions: npt.ArrayLike, t: int) -> float:
        """Return the logarithm of the largest term in the weight of the lowest chip."""
        return self.kernels.exponent(float(np.asarray(positions).min()), float(t), self.theta)

    def weights(
        self, positions: npt.ArrayLike, t: int, log_scale: float | None = None
    ) -> FloatArray:
        """Return ``(Phi_t(s - 1) - Phi_t(s + 1)) / 2 * exp(-log_scale)``.

        The default ``log_scale`` is that of these positions: the largest weight then lies
        between 0 and 1/2.
        """
        s = check_vector("positions", positions)
        if not s.size:
            raise ValueError("positions must be those of at least one chip; got none")
        check_integer("t", t, least=1)
        scale = self.log_scale(s, t) if log_scale is None else log_scale
        out = np.empty_like(s)
        self.kernels.weigh(s, float(t), scale, self.theta, out)
        return out
