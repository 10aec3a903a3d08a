"""Potentials whose weight is also a compiled function, so that whole games run as kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._kernels import chips
from driftgames._kernels.chips import Exponent, Replay, Theta, Weight
from driftgames.core.checks import check_integer, check_vector
from driftgames.core.typing import FloatArray
from driftgames.potentials.base import Potential


@dataclass(frozen=True)
class Kernels:
    """The loops of `driftgames._kernels.chips`, compiled for one potential's weight."""

    weigh: Callable[[FloatArray, float, float, Theta, FloatArray], None]
    replay: Replay
    exponent: Exponent


def compile_kernels(
    *, weight: Weight, exponent: Exponent, game_weight: Weight | None = None
) -> Kernels:
    """Return the loops for a weight and the logarithm of its largest term, both ``@scalar``.

    ``game_weight`` is a cheaper form of the weight, if there is one, for the positions that a
    game with losses in [0, 1] can reach: those with ``|s| < t``.
    """
    in_game = weight if game_weight is None else game_weight
    return Kernels(
        weigh=chips.weigher(weight),
        replay=chips.replayer(in_game, exponent),
        exponent=exponent,
    )


class CompiledPotential(Potential):
    """A potential that brings its weight as a compiled scalar function.

    `weights` and the compiled replays of the learners then share that one formula.
    """

    @property
    @abstractmethod
    def kernels(self) -> Kernels:
        """The loops compiled for this potential."""

    @property
    @abstractmethod
    def theta(self) -> Theta:
        """The parameters that the compiled functions take."""

    def log_scale(self, positions: npt.ArrayLike, t: int) -> float:
        """Return the logarithm of the largest term in the weight of the lowest chip."""
        return self.kernels.exponent(float(np.min(positions)), float(t), self.theta)

    def weights(
        self, positions: npt.ArrayLike, t: int, log_scale: float | None = None
    ) -> FloatArray:
        """Return ``(Phi_t(s - 1) - Phi_t(s + 1)) / 2 * exp(-log_scale)``.

        Without a ``log_scale`` the weights are relative to the chips' own, so that the
        largest lies between 0 and 1/2.
        """
        s = check_vector("positions", positions)
        check_integer("t", t, least=1)
        scale = self.log_scale(s, t) if log_scale is None else log_scale
        out = np.empty_like(s)
        self.kernels.weigh(s, float(t), scale, self.theta, out)
        return out
