"""Learners whose theory needs no range of the losses; they mix forecasts in compiled loops."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from driftgames.core.checks import as_read_only
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.hedge.losses.loss_base import Slope
from driftgames.hedge.rounds.linearised_kernels import MixRounds
from driftgames.hedge.rounds.two_pass import TwoPassLearner
from driftgames.potentials import NoBoundError

_NO_SUMS, _NO_COUNTS = np.empty(0), np.empty(0, dtype=np.int64)


class ScaleFreeLearner(TwoPassLearner):
    """A learner whose distributions do not change if all losses are multiplied by a number."""

    scale_free: ClassVar[bool] = True

    _mix_rounds: ClassVar[MixRounds]
    """The compiled loop over forecasts, which is set where its kernels are defined."""

    def run_forecasts(
        self,
        forecasts: FloatArray,
        outcomes: FloatArray,
        slope: Slope,
        *,
        awake: BoolArray | None = None,
        distributions: bool = False,
        sums: FloatArray = _NO_SUMS,
        counts: IntArray = _NO_COUNTS,
        linearised: bool = True,
    ) -> tuple[FloatArray, FloatArray]:
        r"""Play rounds of forecasts; return predictions and distributions.

        .. math:: \ell_{t,i} = g_t (x_{t,i} - \hat y_t), \qquad \hat y_t = p_t\cdot x_t, \quad
                  g_t = \ell'(\hat y_t, y_t)

        The learner's own loss is 0. An expert that sleeps is charged this, so its position does
        not change; its forecast must be that of an expert awake. `loss_base` has the kinds of
        ``slope``. There are no distributions if they are not asked for. The losses of the mixture
        and of the experts are added to ``sums``, and rounds awake to ``counts``, if they are given.
        A row whose losses are too large is an error, and ends the rounds before it. If not
        ``linearised``, an expert is charged its own loss, and one that sleeps the learner's.
        """
        mixed = np.empty(len(outcomes))
        played = np.empty((len(outcomes) if distributions else 0, self._n_actions))
        mask = None if awake is None else self._check_awake(awake, forecasts.shape)
        rows = as_read_only(np.ascontiguousarray(forecasts))
        column = as_read_only(np.ascontiguousarray(outcomes))
        self.mix_rounds(rows, column, slope, mask, mixed, played, sums, counts, linearised)
        return mixed, played

    def mix_rounds(
        self,
        forecasts: FloatArray,
        outcomes: FloatArray,
        slope: Slope,
        awake: BoolArray | None,
        mixed: FloatArray,
        played: FloatArray,
        sums: FloatArray,
        counts: IntArray,
        linearised: bool,
    ) -> None:
        """Do as `run_forecasts` with arrays of the caller, which are not checked.

        ``forecasts`` and ``outcomes`` must be contiguous and read-only, because the loop is
        compiled for one kind of arrays.
        """
        self._prepare_memory(len(outcomes))
        done = self._choose_mixing()(
            self._cumulative,
            self._totals,
            self._memory,
            forecasts,
            outcomes,
            slope,
            linearised,
            self._scale,
            self._prior,
            awake,
            mixed,
            played,
            self._buffers,
            sums,
            counts,
        )
        self._prepare_memory(0)
        if done < len(outcomes):
            raise ValueError("predictions and outcomes are so large that their losses overflow")

    def _choose_mixing(self) -> MixRounds:
        """Return the compiled loop over forecasts for the range of the losses."""
        return self._mix_rounds

    def _prepare_memory(self, rounds: int) -> None:
        """Make room in the memory for ``rounds`` more rounds."""

    def _check_bounded(self) -> None:
        """Raise NoBoundError without a range of the losses."""
        if not self._is_bounded:
            raise NoBoundError("losses without a range have no bound before the run")

    def _allocate_scratch(self) -> None:
        super()._allocate_scratch()
        self._buffers = np.empty((3, self._n_actions))
