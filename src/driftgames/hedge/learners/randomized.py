"""Hedge with drawn actions and a bound that holds with high probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import draw
from driftgames.certificates.bounds import theorem_2
from driftgames.core.checks import check_fraction, check_fractions
from driftgames.core.generators import RandomState, own_sequence, seed_of
from driftgames.core.schema import NUMBER, Schema, integer
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.learners.hedge import Hedge
from driftgames.hedge.rounds.expert_learner import Floats
from driftgames.potentials import Potential


class RandomizedHedge(Hedge):
    r"""Hedge that plays one drawn action a round and is charged that action's loss.

    .. math:: i_t \sim p_t, \qquad s_{t,i} = s_{t-1,i} + \ell_{t,i} - \ell_{t,i_t}

    Its regret is a random number; with probability at least :math:`1-\delta` it stays below
    the bound of Theorem 2 at :math:`\delta\epsilon`, which is :math:`\delta/N` for the best
    action. This holds if the losses of a round are chosen without knowledge of the action
    drawn in it. [LS14, Sec. 3.4]

    Parameters
    ----------
    n_actions : int, optional
        N, at least 1. Default: the number of ``names``.
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
        n_actions: int | None = None,
        potential: Potential | None = None,
        *,
        delta: float = 0.05,
        random_state: RandomState = None,
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
        self._random_state = seed_of(random_state)

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
        return theorem_2(self._potential, horizon, fractions * self._delta) * self._width

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
        stream = np.random.PCG64(own_sequence(self._random_state))
        stream.advance(self.t)
        return np.random.Generator(stream).random(count)
