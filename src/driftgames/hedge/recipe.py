"""Learners that follow from a potential: the recipe of Algorithm 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.chips import Theta
from driftgames._kernels.distribution import draw
from driftgames._kernels.ledger import CLOCK, LEAD, LOWEST, all_inside, settle
from driftgames._kernels.sums import dot
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.base import ExpertLearner, Floats
from driftgames.potentials import Exponential, NormalHedgeDT, Potential, TwoNorm
from driftgames.potentials.compiled import CompiledPotential
from driftgames.potentials.describe import describe_potential, restore_potential


class PotentialLearner(ExpertLearner):
    """A learner whose weights are differences of a potential. [LS14, Alg. 3]"""

    _compiled: CompiledPotential | None
    _theta: Theta

    def __init__(
        self,
        n_actions: int,
        potential: Potential | None = None,
        *,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            n_actions, prior=prior, loss_range=loss_range, gains=gains, dtype=dtype, names=names
        )
        self._potential = NormalHedgeDT() if potential is None else potential
        if not isinstance(self._potential, Potential):
            raise TypeError(f"potential must be a Potential; got {potential!r}")
        # found out once: in a round of few actions it would be a tenth of the time
        self._compiled, self._theta = None, ()
        if isinstance(self._potential, CompiledPotential):
            self._compiled, self._theta = self._potential, self._potential.theta

    @property
    def potential(self) -> Potential:
        """What weighs the actions."""
        return self._potential

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound of Theorem 2, in units of loss. [LS14, Thm. 2]"""
        return self._potential.bound(horizon, epsilon) * self._width

    def _replay_drawn(
        self,
        losses: Floats,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
        uniforms: FloatArray,
    ) -> int:
        """Play the rows; with ``uniforms`` the learner's loss is that of a drawn action."""
        if self._compiled is not None:
            done = self._compiled.kernels.replay(
                self._cumulative,
                self._spare,
                self._ledger,
                losses,
                self._scale,
                self._prior,
                self._theta,
                learner_losses,
                regret,
                played,
                uniforms,
            )
            if done % 2:
                self._cumulative, self._spare = self._spare, self._cumulative
            return done
        low, high, offset, factor = self._scale
        for r in range(max(len(losses), 1)):
            p = self._weigh()
            if len(played):
                played[r % len(played)] = p
            if not len(losses):
                break
            if not all_inside(losses[r], low, high):
                return r
            scaled = (losses[r].astype(np.float64) - offset) * factor
            loss = scaled[draw(p, uniforms[r])] if len(uniforms) else dot(p, scaled)
            learner_losses[r] = loss
            regret[r] = self._move(scaled, float(loss))
        return len(losses)

    def _weigh(self) -> FloatArray:
        """Return the next distribution of a potential without compiled loops."""
        return self._potential.distribution(self._positions(), self.t + 1, self._prior)

    def _move(self, losses: FloatArray, learner_loss: float) -> float:
        """Move all chips by one round and return the regret to the best action."""
        self._cumulative += losses
        self._ledger[CLOCK] += 1.0
        self._ledger[LEAD] += learner_loss
        self._ledger[LOWEST] = self._occupied(self._cumulative).min()
        regret = float(self._ledger[LEAD] - self._ledger[LOWEST])
        settle(self._cumulative, self._ledger)
        return regret

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self._potential)

    def _saved_arguments(self) -> Content:
        return {**super()._saved_arguments(), "potential": describe_potential(self._potential)}

    @classmethod
    def _arguments(cls, saved: Content, given: dict[str, Any]) -> dict[str, Any]:
        others = {name: value for name, value in given.items() if name != "potential"}
        potential = restore_potential(saved["potential"], given.get("potential"))
        return {**super()._arguments(saved, others), "potential": potential}


def algorithm_of(potential: Potential) -> str:
    """Return what the paper calls the algorithm that a potential gives."""
    if potential == NormalHedgeDT():
        return "NormalHedge.DT"
    if isinstance(potential, Exponential):
        return "EXP"
    if isinstance(potential, TwoNorm):
        return "2-norm"
    return str(potential)
