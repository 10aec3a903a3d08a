"""The minimax potentials of a drifting game, solved numerically."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import (
    as_floats,
    check_flag,
    check_fractions,
    check_horizons,
    check_integer,
    check_vector,
    is_real,
    shown,
)
from driftgames.core.typing import FloatArray
from driftgames.potentials.envelope import envelope
from driftgames.potentials.potential import NoBoundError, Potential

ChipLoss = Callable[[FloatArray], npt.ArrayLike]
"""The loss of chips at these final positions."""

TOLERANCE = 1e-9
"""The largest distance of a position from its lattice point that counts as rounding."""

LARGEST_LAYER = 50_000_000
"""The largest number of positions in one layer; above it the common step is too small."""


LARGEST_TABLE = 200_000_000
"""The largest number of potentials and weights that ``keep_table`` holds: 1.6 GB."""


class Layer(NamedTuple):
    """Potentials after round ``t`` and the weights of the round that leads there.

    ``weights[i]`` belongs to the position before the round, and is empty for ``t = 0``.
    """

    t: int
    values: FloatArray
    weights: FloatArray


@dataclass(frozen=True)
class MinimaxPotential(Potential):
    r"""The potentials that make the player of a drifting game minimax optimal.

    .. math:: \Phi_T(s) = L(s), \qquad
              \Phi_{t-1}(s) = \min_{w \ge 0}\max_{z \in B}\bigl(\Phi_t(s+z) + w(z-\beta)\bigr)

    The inner problem is the upper concave envelope of :math:`z \mapsto \Phi_t(s+z)` at beta,
    and the weight is its negated slope there. With moves ``{-1, +1}`` and ``L = 1{s <= 0}``
    these are boost-by-majority's. [LS14, Eq. (1)]

    Parameters
    ----------
    loss : callable
        L, vectorised: nonincreasing and nonnegative on the positions that can be reached.
    horizon : int
        T.
    moves : sequence of float
        B, at least two numbers with a common step, such as ``(-1, 1)``; see `on_interval`.
    beta : float
        The lower limit of the weighted average of the moves.
    keep_table : bool
        Keep every layer rather than solve again for each requested round. Use it for a game that
        is played forward. Memory then grows with the square of the horizon.
    snap : bool
        Accept positions between the lattice points and snap them; `on_interval` sets it. By
        default every position must be a lattice point.

    Notes
    -----
    At a corner of the envelope any weight between the two slopes is optimal; their mean is
    taken. Without ``snap`` the bound holds against adversaries that move as `moves` allows.

    With ``snap`` it holds against every move between the least and the largest of `moves`.
    Let :math:`\delta` be the spacing of the moves. A chip at ``s`` after ``t`` rounds counts as

    .. math:: x_t = \lfloor s \rfloor_\delta + t\delta

    the lattice point to the left of ``s``, plus one spacing per round, and at most the largest
    position that ``t`` rounds can reach. Then :math:`x_t - x_{t-1} \ge z_t`, so the moves of
    ``x`` average at least beta too, and the sum of :math:`\Phi_t(x_t)` never rises. Snapping
    alone lacks this: it takes up to :math:`\delta` from a move, and the average may fall below
    beta. At the end :math:`x_T \le s_T + T\delta`, so the bound is larger by :math:`T\delta`.

    Examples
    --------
    >>> majority = MinimaxPotential(lambda s: s <= 0, horizon=5, beta=0.2)
    >>> round(majority.game_value, 5)   # the chance of at most 2 heads in 5 of a 0.6 coin
    0.31744
    >>> majority.weights([0.0, 2.0], t=3)
    array([0.24, 0.08])
    """

    loss: ChipLoss
    horizon: int
    moves: Sequence[float] = (-1.0, 1.0)
    beta: float = 0.0
    keep_table: bool = False
    snap: bool = False
    _step: Fraction = field(init=False, repr=False, compare=False)
    _lattice: npt.NDArray[np.int64] = field(init=False, repr=False, compare=False)
    _table: list[Layer] = field(init=False, repr=False, compare=False, default_factory=list)

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.loss):
            raise ValueError(f"loss must be a function; got {shown(self.loss)}")
        check_integer("horizon", self.horizon, least=1)
        check_flag("keep_table", self.keep_table)
        check_flag("snap", self.snap)
        moves = np.unique(check_vector("moves", list(self.moves)))
        if moves.size < 2:
            raise ValueError(f"moves must hold at least two numbers; got {shown(self.moves)}")
        if not (is_real(self.beta) and 0 <= self.beta <= moves[-1]):
            raise ValueError(
                f"beta must lie in [0, {moves[-1]:g}], up to the largest move; "
                f"got {shown(self.beta)}"
            )
        step = _common_step(moves)
        lattice = np.rint(moves / float(step)).astype(np.int64)
        if self.horizon * (lattice[-1] - lattice[0]) > LARGEST_LAYER:
            raise ValueError(f"moves must have a common step of some size; got {shown(self.moves)}")
        object.__setattr__(self, "moves", tuple(moves.tolist()))
        object.__setattr__(self, "_step", step)
        object.__setattr__(self, "_lattice", lattice)
        self._check_loss()
        if self.keep_table:
            size = self.horizon**2 * int(lattice[-1] - lattice[0])
            if size > LARGEST_TABLE:
                raise ValueError(
                    f"the table of this game would hold {size:,} numbers, and at most "
                    f"{LARGEST_TABLE:,} are kept; use keep_table=False or a shorter horizon"
                )
            self._table.extend(reversed(list(self.layers())))

    @classmethod
    def on_interval(
        cls,
        loss: ChipLoss,
        horizon: int,
        *,
        low: float = -1.0,
        high: float = 1.0,
        per_unit: int = 1,
        beta: float = 0.0,
        keep_table: bool = False,
    ) -> MinimaxPotential:
        r"""Return the potentials for all moves in ``[low, high]``, on a lattice of positions.

        The spacing is ``1 / per_unit``, and the ends are rounded outwards to multiples of it. The
        potentials accept every position and snap it to the lattice. With the default interval
        this is the near-minimax player of DGv1 without the rule on differences. `Hedge` can play
        it; ``keep_table=True`` then solves the game once instead of in every round. The bound is
        larger by ``horizon / per_unit`` than that of the lattice, so it is useful only for a
        large ``per_unit``. The default is meant for `game_value`.
        [LS14, Sec. 3.2]

        >>> fine = MinimaxPotential.on_interval(lambda s: s <= -10, 30, per_unit=30)
        >>> float(fine.bound(30, 0.25))
        11.0
        >>> fine.distribution([-1.2, 0.7, 0.5], t=3).round(3)
        array([0.489, 0.244, 0.267])
        """
        fineness = check_integer("per_unit", per_unit, least=1)
        # 0.29 * 100 is slightly below 29, and 29 is meant
        first, last = (round(end * fineness, 9) for end in (low, high))
        grid = np.arange(math.floor(first), math.ceil(last) + 1) / fineness
        return cls(loss, horizon, grid.tolist(), beta, keep_table, snap=True)

    @property
    def game_value(self) -> float:
        """The largest average loss against the minimax player: ``Phi_0(0)``. [LS14, Eq. (2)]"""
        return float(self._layer(0).values[0])

    def layers(self, offset: float = 0.0) -> Iterator[Layer]:
        """Yield the layers from ``t = T`` down to 0, for chips that started at ``offset``.

        Only two layers are held at a time, so memory is linear in the reachable positions.
        """
        values = np.array(self.loss(self._positions(self.horizon) + offset), dtype=np.float64)
        spread = self._lattice - self._lattice[0]
        target = self.beta / float(self._step) - float(self._lattice[0])
        for t in range(self.horizon, 0, -1):
            size = (t - 1) * int(spread[-1]) + 1
            earlier, slopes = np.empty(size), np.empty(size)
            envelope(values, spread, target, earlier, slopes)
            yield Layer(t, values, slopes / float(self._step))
            values = earlier
        yield Layer(0, values, np.empty(0))

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
        """Return ``Phi_t(s) * exp(-log_scale)`` at positions that ``t`` rounds can reach."""
        if horizon not in (None, self.horizon):
            raise ValueError(f"this game was solved for horizon {self.horizon}; got {horizon}")
        return self._look_up(positions, t, t, "values") * math.exp(-log_scale)

    def weights(
        self, positions: npt.ArrayLike, t: int, log_scale: float | None = None
    ) -> FloatArray:
        """Return the weights that realise the minimum in round ``t``, times ``exp(-log_scale)``."""
        check_integer("t", t, least=1)
        found = self._look_up(positions, t, t - 1, "weights")
        return found * math.exp(-(log_scale or 0.0))

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        r"""Return the least R on the lattice with :math:`\Phi_T(-R) > \Phi_0(0)/\epsilon`.

        With ``snap`` it is larger by the horizon times the spacing. If there is no such R, the
        bound is the largest distance that the moves can cover. [LS14, Thm. 2]
        """
        rounds, epsilons = np.broadcast_arrays(
            check_horizons(horizon), check_fractions("epsilon", epsilon)
        )
        if (rounds != self.horizon).any():
            raise NoBoundError(
                f"this game was solved for horizon {self.horizon}; got {shown(horizon)}"
            )
        at = self._positions(self.horizon)
        left = at <= 0
        losses = np.asarray(self.loss(at[left]), dtype=np.float64)
        # on a plateau of L both sides may be equal; rounding must not count as larger
        enough = losses > (1 + 1e-12) * self.game_value / epsilons[..., np.newaxis]
        # losses decrease to the right, so the large ones come first
        count = np.count_nonzero(enough, axis=-1)
        radii = -np.append(at[0], at[left])
        allowance = self.horizon * float(self._step) if self.snap else 0.0
        return np.asarray(np.minimum(radii[count] + allowance, -at[0]))

    def __str__(self) -> str:
        moves = "{" + ", ".join(f"{z:g}" for z in self.moves) + "}"
        if self.snap:
            moves = f"[{self.moves[0]:g}, {self.moves[-1]:g}] in steps of {self._step}"
        return f"minimax player of {self.horizon} rounds with moves {moves}"

    def _look_up(
        self, positions: npt.ArrayLike, t: int, rounds_played: int, part: str
    ) -> FloatArray:
        s = as_floats("positions", positions)
        if not 0 <= t <= self.horizon:
            raise ValueError(f"t must lie in 0..{self.horizon}, the horizon; got {t}")
        index = self._index(s, rounds_played)
        layer = getattr(self._layer(t), part)
        return np.asarray(layer[index])

    def _index(self, s: FloatArray, t: int) -> npt.NDArray[np.int64]:
        """Return where the positions stand in the layer of ``t`` rounds played."""
        steps = s / float(self._step)
        nearest = np.rint(steps)
        on_lattice = np.abs(nearest * float(self._step) - s) <= TOLERANCE
        if not (self.snap or on_lattice.all()):
            first = int(np.argmin(on_lattice))
            raise ValueError(
                f"positions must be multiples of the moves' common step {self._step}; got "
                f"{s.flat[first]:g} at index {first}; on_interval takes every position"
            )
        left = np.where(on_lattice, nearest, np.floor(steps)).astype(np.int64)
        first, last = t * int(self._lattice[0]), t * int(self._lattice[-1])
        if left.size and not first <= left.min() <= left.max() <= last:
            low, high = float(s.min()), float(s.max())
            raise ValueError(
                f"{t} rounds cannot reach every position; got min={low:g}, max={high:g}"
            )
        if self.snap:
            # the allowance may carry a chip beyond the layer; it then stands at the right end
            left = np.minimum(left + t, last)
        return left - first

    def _drawn_positions(self, t: int) -> FloatArray:
        return self._positions(t)

    def _layer(self, t: int) -> Layer:
        if self._table:
            return self._table[t]
        return next(layer for layer in self.layers() if layer.t == t)

    def _positions(self, t: int) -> FloatArray:
        first, last = int(self._lattice[0]), int(self._lattice[-1])
        # a quotient of integers is rounded once, so that integer positions are exact
        lattice = np.arange(t * first, t * last + 1, dtype=np.float64)
        return lattice * self._step.numerator / self._step.denominator

    def _check_loss(self) -> None:
        at = self._positions(self.horizon)
        losses = as_floats("loss", self.loss(at))
        if losses.shape != at.shape:
            raise ValueError(f"loss must be vectorised; {at.shape} in gave {losses.shape} out")
        if not np.isfinite(losses).all() or (losses < 0).any():
            raise ValueError("loss must be finite and nonnegative at every reachable position")
        rising = np.diff(losses) > 0
        if rising.any():
            where = at[int(np.argmax(rising))]
            raise ValueError(f"loss must be nonincreasing; it rises to the right of {where:g}")


def _common_step(moves: FloatArray) -> Fraction:
    """Return the largest number that all moves are multiples of."""
    fractions = [Fraction(z).limit_denominator(10**6) for z in moves.tolist()]
    unit = math.lcm(*(fraction.denominator for fraction in fractions))
    step = Fraction(math.gcd(*(int(fraction * unit) for fraction in fractions)), unit)
    if not np.allclose([float(f) for f in fractions], moves, rtol=0, atol=1e-12):
        raise ValueError(f"moves must have a common step of some size; got {moves}")
    return step
