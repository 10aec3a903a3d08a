"""Hedge: the paper's learner from expert advice, for any potential, also with drawn actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import draw
from driftgames._kernels.ranges import all_inside
from driftgames._kernels.sums import dot
from driftgames.core.checks import check_fraction, check_fractions, check_integer, shown
from driftgames.core.schema import NUMBER, Schema, integer, made_as
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.base import ExpertLearner, Floats
from driftgames.hedge.potential_kernels import compile_replay
from driftgames.hedge.totals import close_round
from driftgames.potentials import NormalHedgeDT, Potential
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
    n_actions : int
        N, at least 1.
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
        """Return the bound of Theorem 2 or a lower one, in units of loss. [LS14, Thm. 2]"""
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
        """Play the rows; ``uniforms``, if given, draw an action from each distribution."""
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


class RandomizedHedge(Hedge):
    r"""Hedge that plays one drawn action a round and is charged that action's loss.

    .. math:: i_t \sim p_t, \qquad s_{t,i} = s_{t-1,i} + \ell_{t,i} - \ell_{t,i_t}

    Its regret is a random number; with probability at least :math:`1-\delta` it stays below
    the bound of Theorem 2 at :math:`\delta\epsilon`, which is :math:`\delta/N` for the best
    action. This holds if the losses of a round are chosen without knowledge of the action
    drawn in it. [LS14, Sec. 3.4]

    Parameters
    ----------
    n_actions : int
        N, at least 1.
    potential : Potential, optional
        Default: `NormalHedgeDT()`.
    delta : float
        The probability with which the bound may fail, for each epsilon.
    random_state : int, Generator or None
        The seed of the draws. A Generator gives the seed; it is used once.
    prior, loss_range, gains, dtype, names
        As `ExpertLearner` describes.

    Examples
    --------
    >>> h = RandomizedHedge(n_actions=3, random_state=0)
    >>> h.action
    1
    >>> h.update([0.2, 0.9, 0.4])
    0.9
    >>> h.distribution()
    array([0.49299601, 0.14449625, 0.36250774])
    """

    _named_arguments: ClassVar[Schema] = {
        **Hedge._named_arguments,
        "delta": NUMBER,
        "random_state": integer(0),
    }

    def __init__(
        self,
        n_actions: int,
        potential: Potential | None = None,
        *,
        delta: float = 0.05,
        random_state: int | np.random.Generator | None = None,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            n_actions,
            potential,
            prior=prior,
            loss_range=loss_range,
            gains=gains,
            dtype=dtype,
            names=names,
        )
        self._delta = check_fraction("delta", delta)
        self._random_state = _as_seed(random_state)

    @property
    def title(self) -> str:
        """The name of the algorithm, followed by "drawn"."""
        return f"{self._potential.title}, drawn"

    @property
    def delta(self) -> float:
        """The probability with which the bound may fail, for each epsilon."""
        return self._delta

    @property
    def action(self) -> int:
        """The action drawn for the next round; every read returns the same action."""
        return int(draw(self._next_distribution(), self._uniforms(1)[0]))

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return a number that the epsilon-regret exceeds with probability at most delta.

        [LS14, Sec. 3.4]
        """
        fractions = check_fractions("epsilon", epsilon)
        return self._potential.bound(horizon, fractions * self._delta) * self._width

    @property
    def _caveat(self) -> str:
        return f"each with probability at least {1 - self._delta:g}"

    def _replay(
        self,
        losses: Floats,
        awake: BoolArray | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
        uniforms: FloatArray | None = None,
    ) -> int:
        """Play the rows with one number of the stream for each."""
        if len(learner_losses) and not len(played):
            played = np.empty((1, self._n_actions))  # an action is drawn from the last row
        uniforms = self._uniforms(len(learner_losses)) if uniforms is None else uniforms
        return super()._replay(losses, awake, learner_losses, regret, played, uniforms)

    def _uniforms(self, count: int) -> FloatArray:
        """Return the next numbers in [0, 1); they follow from the seed and the clock."""
        stream = np.random.PCG64(self._random_state)
        stream.advance(self.t)
        return np.random.Generator(stream).random(count)


def _as_seed(random_state: int | np.random.Generator | None) -> int:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return int(cast(int, np.random.SeedSequence().entropy))
    return check_integer("random_state", random_state, least=0, limited=False)
