"""AdaNormalHedge.TV: small regret on every interval of rounds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.distribution import times_prior
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.lanes import LANES, fold, load, spread, store
from driftgames.certificates import IntervalCertificate, bounds
from driftgames.core.state import LAST_ROUND
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.learners.ada_normal_hedge import add_regrets, weigh_chip
from driftgames.hedge.rounds.expert_learner import Rows
from driftgames.hedge.rounds.linearised_kernels import MixRounds, compile_mixing
from driftgames.hedge.rounds.scale_free import ScaleFreeLearner
from driftgames.hedge.rounds.seen_scale import HEADER, SCALE, clip_to_scale
from driftgames.hedge.rounds.totals import CLOCK
from driftgames.hedge.rounds.two_pass import PlayRounds, State, compile_rounds


class AdaNormalHedgeTV(ScaleFreeLearner):
    r"""AdaNormalHedge.TV (Luo and Schapire, 2015) on a geometric cover: tracks what changes.

    .. math:: p_{t,i} \propto q_i \sum_{j : 2^j \le t} \frac1{s_j^2}\,
              w\bigl(R_i(s_j, t), C_i(s_j, t)\bigr), \qquad s_j = 2^j \lfloor t / 2^j \rfloor

    w is the weight of `AdaNormalHedge`, and R and C count from round :math:`s_j` on. Each action
    has a copy for every interval :math:`[s, s + 2^j)` with s a multiple of :math:`2^j`; outside
    of its interval the copy sleeps. The regret on **every** interval of rounds is at most
    `interval_bound`, so the regret to a comparator that switches is at most a sum of these.

    The paper begins a copy in every round, and a round then costs O(tN). The cover of A. Daniely,
    A. Gonen and S. Shalev-Shwartz, "Strongly adaptive online learning", ICML 2015, has one copy
    per power of 2: a round costs O(N ln t), and so does the memory. For this the bound of an
    interval is a sum over pieces that at least double.

    Without a range of the losses, ``loss_range=None``, regrets are scaled and clipped as those of
    `AdaNormalHedge`, and the bound of an interval is that of the run, `bounds.tracking_scaled`.

    H. Luo and R. E. Schapire, "Achieving all with no parameters: AdaNormalHedge", COLT 2015.

    Examples
    --------
    >>> h = AdaNormalHedgeTV(n_actions=2)
    >>> for row in [[0, 1]] * 40 + [[1, 0]] * 10:
    ...     _ = h.update(row)
    >>> h.distribution().round(3)
    array([0.095, 0.905])
    """

    title = "AdaNormalHedge.TV"
    sleeps: ClassVar[bool] = True

    _play_scaled: ClassVar[PlayRounds]
    _mix_scaled: ClassVar[MixRounds]

    @property
    def _memory_size(self) -> int:
        return self._size_at(0)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound of `interval_bound` for all rounds."""
        return self.interval_bound(1, horizon, epsilon)

    def interval_bound(
        self, first: npt.ArrayLike, last: npt.ArrayLike, epsilon: npt.ArrayLike
    ) -> FloatArray:
        """Return `bounds.tracking`, in units of loss; both rounds belong to the interval."""
        self._check_bounded()
        return bounds.tracking(first, last, epsilon) * self._width

    @property
    def scale(self) -> float:
        """The largest regret of a round so far, in units of loss; for losses without a range."""
        return self._width if self._is_bounded else float(self._memory[SCALE])

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        return self._interval_promise(1, horizon, epsilon)

    def _interval_promise(
        self, first: npt.ArrayLike, last: npt.ArrayLike, epsilon: npt.ArrayLike
    ) -> FloatArray:
        """Return the bound of an interval of this run."""
        if self._is_bounded:
            return self.interval_bound(first, last, epsilon)
        scale, first_scale = self._memory[:HEADER].tolist()
        return bounds.tracking_scaled(first, last, epsilon, scale=scale, first_scale=first_scale)

    def interval_certificate(
        self, L: npt.ArrayLike, *, awake: npt.ArrayLike | None = None
    ) -> IntervalCertificate:
        """Return the regret of a new learner on all intervals of these losses beside its bound.

        Actions of prior 0 are not compared with. Where an action sleeps it has no regret.
        """
        arguments = {**self._arguments(), "dtype": self._dtype}
        learner = type(self)(**arguments)
        run = learner.run(L, awake=awake, progress=False)
        losses = np.asarray(L, dtype=np.float64) * (-1.0 if self.gains else 1.0)
        mask = np.ones(losses.shape, dtype=bool) if awake is None else np.asarray(awake, dtype=bool)
        there = np.ones(self._n_actions, dtype=bool) if self._prior is None else self._prior > 0
        return IntervalCertificate.of_run(
            self.title,
            run.learner_losses,
            losses[:, there],
            lambda first, last: learner._interval_promise(first, last, self.smallest_epsilon),
            awake=mask[:, there],
        )

    def _memory_like(self, state: Content) -> FloatArray:
        clock = float(state["totals"][CLOCK])
        return np.zeros(self._size_at(int(clock) if 0 <= clock <= LAST_ROUND else 0))

    def _size_at(self, t: int) -> int:
        """Return the size of the memory in round ``t``: two sums for each copy in an interval.

        Without a range of the losses, the scale comes first.
        """
        return self._header + 2 * t.bit_length() * self._n_actions

    @property
    def _header(self) -> int:
        return 0 if self._is_bounded else HEADER

    def _replay(self, *rows: *Rows) -> int:
        self._resize(self._size_at(self.t + max(len(rows[0]), 1)))
        try:
            return super()._replay(*rows)
        finally:
            self._resize(self._size_at(self.t))

    def _prepare_memory(self, rounds: int) -> None:
        self._resize(self._size_at(self.t + rounds))

    def _choose_rounds(self) -> PlayRounds:
        return self._play_rounds if self._is_bounded else self._play_scaled

    def _choose_mixing(self) -> MixRounds:
        return self._mix_rounds if self._is_bounded else self._mix_scaled

    def _resize(self, size: int) -> None:
        if size > self._memory.size:
            self._memory = np.concatenate([self._memory, np.zeros(size - self._memory.size)])
        elif size < self._memory.size:
            self._memory = self._memory[:size].copy()


@inner_kernel
def _weigh_copies(
    state: State, copies: FloatArray, scale: float, prior: FloatArray | None, out: FloatArray
) -> float:
    cumulative, totals, _ = state
    n, t, total = out.size, int(totals[CLOCK]) + 1, spread(0.0)
    for i in range(0, n, LANES):
        w, length, j = spread(0.0), 1, 0
        while length <= t:
            begin = t - t % length
            gained, lost = spread(0.0), spread(0.0)
            if begin < t:  # an interval that begins now has seen nothing
                gained = load(copies[2 * j * n : (2 * j + 1) * n], i, 0.0) / scale
                lost = load(copies[(2 * j + 1) * n : (2 * j + 2) * n], i, 0.0) / scale
            w += weigh_chip(gained - lost, gained + lost) / (float(begin) * float(begin))
            length, j = 2 * length, j + 1
        w = times_prior(w, prior, i, load(cumulative, i, np.inf) < np.inf)
        store(out, i, w)
        total += w
    return fold(total)


@inner_kernel
def _learn_copies(
    t: int, copies: FloatArray, losses: FloatArray, factor: float, learner_loss: float
) -> None:
    n, length, j = losses.size, 1, 0
    while length <= t:
        sums = copies[2 * j * n : (2 * j + 2) * n]
        if t % length == 0:
            sums[:] = 0.0
        add_regrets(sums, losses, factor, learner_loss)
        length, j = 2 * length, j + 1


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    return _weigh_copies(state, state[2], 1.0, prior, out)


@inner_kernel
def _learn(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    _learn_copies(int(state[1][CLOCK]) + 1, state[2], losses, 1.0, learner_loss)


@inner_kernel
def _weigh_scaled(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    scale = state[2][SCALE]
    return _weigh_copies(state, state[2][HEADER:], scale if scale > 0.0 else 1.0, prior, out)


@inner_kernel
def _learn_scaled(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    _, totals, memory = state
    factor = clip_to_scale(memory, prior, losses, learner_loss)
    _learn_copies(int(totals[CLOCK]) + 1, memory[HEADER:], losses, factor, learner_loss)


AdaNormalHedgeTV._play_rounds = staticmethod(compile_rounds(_weigh, _learn))
AdaNormalHedgeTV._mix_rounds = staticmethod(compile_mixing(_weigh, _learn))
AdaNormalHedgeTV._play_scaled = staticmethod(compile_rounds(_weigh_scaled, _learn_scaled))
AdaNormalHedgeTV._mix_scaled = staticmethod(compile_mixing(_weigh_scaled, _learn_scaled))
