"""The truncated square: the 2-norm algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import lesser
from driftgames._kernels.elementary import exp, exp_all
from driftgames._kernels.jit import scalar
from driftgames.core.checks import as_floats, check_fractions, check_horizons, count_rounds_left
from driftgames.core.typing import FloatArray
from driftgames.potentials.compiled import (
    CompiledPotential,
    Kernels,
    Theta,
    compile_kernels,
)


@dataclass(frozen=True)
class TwoNorm(CompiledPotential):
    r"""Potential of the 2-norm algorithm: adaptive, without parameters, without ``exp``.

    .. math:: \Phi_t(s) = [s]_-^2 + T - t, \qquad [s]_- = \min(s, 0)

    Its regret is optimal in the horizon, but grows as :math:`\sqrt{1/\epsilon}` rather than as
    :math:`\sqrt{\ln(1/\epsilon)}`. [LS14, Lem. 1, Cor. 1]

    Examples
    --------
    >>> TwoNorm().distribution([-1.0, 0.0, 1.0], t=1)
    array([0.8, 0.2, 0. ])
    >>> float(TwoNorm().bound(100, 0.01))
    100.0
    """

    title: ClassVar[str] = "2-norm"
    adaptive: ClassVar[bool] = True
    registry_name: ClassVar[str | None] = "2-norm"

    def value(
        self,
        positions: npt.ArrayLike,
        t: int,
        *,
        horizon: int | None = None,
        log_scale: float = 0.0,
    ) -> FloatArray:
        """Return ``Phi_t(s) * exp(-log_scale)``."""
        rounds_left = count_rounds_left(t, horizon)
        below = np.minimum(as_floats("positions", positions), 0.0)
        return np.asarray((below**2 + rounds_left) * exp_all(-log_scale))

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`\sqrt{T / \epsilon}`. [LS14, Cor. 1]"""
        return np.sqrt(check_horizons(horizon) / check_fractions("epsilon", epsilon))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of the 2-norm."""
        return _KERNELS

    @property
    def theta(self) -> Theta:
        """``(0.0,)``: there are no parameters, and a compiled tuple must not be empty."""
        return (0.0,)


@scalar
def _exponent(s: float, t: float, theta: Theta) -> float:
    return 0.0  # squares do not overflow


@scalar
def _weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    return _game_weight(s, t, log_scale, theta) * exp(-log_scale)


@scalar
def _game_weight(s: float, t: float, log_scale: float, theta: Theta) -> float:
    # in a game the scale is that of `_exponent`: 0
    left, right = lesser(s - 1.0, 0.0), lesser(s + 1.0, 0.0)
    return 0.5 * (left - right) * (left + right)


_KERNELS = compile_kernels(weight=_weight, exponent=_exponent, game_weight=_game_weight)
