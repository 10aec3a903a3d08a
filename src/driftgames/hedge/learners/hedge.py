"""Hedge: the paper's learner from expert advice, for any potential. [LS14, Alg. 3]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import draw
from driftgames._kernels.ranges import all_inside
from driftgames._kernels.sums import dot
from driftgames.core.checks import shown
from driftgames.core.schema import Schema, made_as
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.learners.potential_kernels import compile_replay
from driftgames.hedge.rounds.expert_learner import ExpertLearner, Floats
from driftgames.hedge.rounds.totals import close_round
from driftgames.potentials import NormalHedgeDT, Potential, require_potential
from driftgames.potentials.compiled import CompiledPotential, Theta

_NO_DRAWS = np.empty(0)


class Hedge(ExpertLearner):
    r"""The general Hedge algorithm. Default: NormalHedge.DT.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i} - 1) - \Phi_t(s_{t-1,i} + 1), \qquad
              s_{t,i} = s_{t-1,i} + \ell_{t,i} - p_t\cdot\ell_t

    With `NormalHedgeDT` there is no learning rate and no horizon, and the bound holds at all
    times and for every epsilon at once. [LS14, Alg. 3, Thm. 2, Cor. 2]

    Parameters
    ----------
    n_actions : int, optional
        N, at least 1. Default: the number of ``names``.
    potential : Potential, optional
        `Exponential`, `TwoNorm`, or your own. Default: `NormalHedgeDT()`.
    prior, loss_range, gains, dtype, names
        As `ExpertLearner` describes.

    Examples
    --------
    >>> h = Hedge(n_actions=3)
    >>> h.distribution()
    array([0.33333333, 0.33333333, 0.33333333])
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.53280323, 0.10126953, 0.36592724])
    >>> print(h.certificate())
    at most 2.22 worse per round than the best action; in fact 0.3
    NormalHedge.DT after 1 round: every bound holds
     epsilon  realised  promised     slack
       0.333     0.300     2.223     1.923
         0.5     0.100     1.841     1.741
           1    -0.400     1.619     2.019
    """

    _compiled: CompiledPotential | None
    _theta: Theta

    _memory_size = 0
    _named_arguments: ClassVar[Schema] = {"potential": made_as(Potential)}

    def __init__(
        self,
        n_actions: int | None = None,
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
            raise TypeError(f"potential must be a Potential; got {shown(potential)}")
        # checked once: in every round it would take a tenth of the time of few actions
        self._compiled, self._theta = None, ()
        if isinstance(self._potential, CompiledPotential):
            self._compiled, self._theta = self._potential, self._potential.theta

    @property
    def title(self) -> str:
        """The name of the algorithm that the potential gives."""
        return self._potential.title

    @property
    def potential(self) -> Potential:
        """The potential that weighs the actions."""
        return self._potential

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound of Theorem 2 or a lower one, in units of loss.

        A potential that is not the library's own is checked first. [LS14, Thm. 2]
        """
        require_potential(self._potential, horizon)
        return self._potential.hedge_bound(horizon, epsilon) * self._width

    def _replay(
        self,
        losses: Floats,
        awake: BoolArray | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
        uniforms: FloatArray = _NO_DRAWS,
    ) -> int:
        """Play the rows; ``uniforms``, if given, draw an action from each distribution.

        `driftgames.hedge.plain.play_hedge` is the plain twin.
        """
        if self._compiled is None:
            return self._replay_plain(losses, learner_losses, regret, played, uniforms)
        done = compile_replay(self._compiled.kernels)(
            self._cumulative,
            self._spare,
            self._totals,
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

    def _replay_plain(
        self,
        losses: Floats,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
        uniforms: FloatArray,
    ) -> int:
        """Do as `_replay` with a potential that is not compiled."""
        low, high, offset, factor = self._scale
        rounds = len(learner_losses)
        for r in range(max(rounds, 1)):
            p = self._potential.distribution(self._positions(), self.t + 1, self._prior)
            if len(played):
                played[r % len(played)] = p
            if not rounds:
                break
            if not all_inside(losses[r], low, high):
                return r
            scaled = (losses[r].astype(np.float64) - offset) * factor
            loss = scaled[draw(p, uniforms[r])] if len(uniforms) else dot(p, scaled)
            learner_losses[r] = loss
            self._cumulative += scaled
            lowest = float(self._occupied(self._cumulative).min())
            regret[r] = close_round(self._cumulative, self._totals, float(loss), lowest)
        return rounds
