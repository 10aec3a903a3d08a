"""Hedge with drawn actions and a bound that holds with high probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import draw
from driftgames.core.checks import check_fraction, check_fractions, check_integer
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.base import Floats, Mask
from driftgames.hedge.recipe import PotentialLearner, algorithm_of
from driftgames.potentials import Potential


class RandomizedHedge(PotentialLearner):
    r"""Hedge that plays one drawn action a round and is charged that action's loss.

    .. math:: i_t \sim p_t, \qquad s_{t,i} = s_{t-1,i} + \ell_{t,i} - \ell_{t,i_t}

    Its regret is a random number; with probability at least :math:`1-\delta` it stays below
    the bound of Theorem 2 at :math:`\delta\epsilon`, which is :math:`\delta/N` for the best
    action. That holds against losses chosen without knowledge of the action drawn in the same
    round. [LS14, Sec. 3.4]

    Parameters
    ----------
    n_actions : int
        N, at least 1.
    potential : Potential, optional
        `NormalHedgeDT()` unless given.
    delta : float
        The probability with which the bound may fail, for each epsilon.
    random_state : int, Generator or None
        Where the draws come from; a Generator is asked once, for a seed.
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
        self._seed = _as_seed(random_state)

    @property
    def title(self) -> str:
        """The name of the algorithm, and that its actions are drawn."""
        return f"{algorithm_of(self._potential)}, drawn"

    @property
    def delta(self) -> float:
        """With what probability the bound may fail."""
        return self._delta

    @property
    def action(self) -> int:
        """The action drawn for the next round; reading it again gives the same."""
        return int(draw(self._look(), self._uniforms(1)[0]))

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return what the epsilon-regret exceeds with probability at most delta.

        [LS14, Sec. 3.4]
        """
        fractions = check_fractions("epsilon", epsilon)
        return self._potential.bound(horizon, fractions * self._delta) * self._width

    @property
    def _caveat(self) -> str:
        return f"each with probability at least {1 - self._delta:g}"

    @property
    def _memory_size(self) -> int:
        return 0

    def _replay(
        self,
        losses: Floats,
        awake: Mask | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
    ) -> int:
        kept = played if len(played) else np.empty((1, self._n_actions))
        uniforms = self._uniforms(len(losses))
        return self._replay_drawn(losses, learner_losses, regret, kept, uniforms)

    def _uniforms(self, count: int) -> FloatArray:
        """Return the next numbers in [0, 1): they follow from the seed and the clock alone."""
        stream = np.random.PCG64(self._seed)
        stream.advance(self.t)
        return np.random.Generator(stream).random(count)

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self._delta, self._seed)

    def _saved_arguments(self) -> Content:
        own = {"delta": self._delta, "random_state": self._seed}
        return {**super()._saved_arguments(), **own}


def _as_seed(random_state: int | np.random.Generator | None) -> int:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return int(cast(int, np.random.SeedSequence().entropy))
    return check_integer("random_state", random_state, least=0)
