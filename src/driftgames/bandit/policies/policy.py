"""Bandit policies: whole runs, and their bounds and certificates."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit.pulls.logged import columns_of
from driftgames.bandit.pulls.pulling import ArmPuller
from driftgames.bandit.runs.bandit_run import BanditRun, Recorder, nothing_promised
from driftgames.bandit.runs.environments import Adaptive, Environment
from driftgames.bandit.runs.replay import (
    DelayedReplay,
    check_delays,
    check_environment,
    check_matrix,
    losses_from,
    losses_in,
    play,
)
from driftgames.bandit.types import Rounds
from driftgames.certificates import Certificate
from driftgames.core.checks import check_fractions, check_horizons, check_number, check_vector
from driftgames.core.generators import check_generator, child_of
from driftgames.core.typing import FloatArray
from driftgames.potentials import NoBoundError


class BanditPolicy(ArmPuller):
    r"""A player who draws one arm a round and sees the loss of that arm alone.

    .. math:: \hat\ell_{t,i} = \mathbf 1\{i = i_t\}\, \ell_{t,i_t} / p_{t,i_t}

    estimates the losses of all arms from one pull, without bias. `pull` returns the probability
    of the drawn arm, and `update` takes it back. So feedback may come late and in any order.
    [LS14, Sec. 4]

    Parameters
    ----------
    n_arms : int, optional
        K. It may be left out if ``names`` are given.
    names : sequence, optional
        The arms, as `pull` returns and `update` takes them. Default: 0, 1, ...
    loss_range : (float, float)
        The range of losses (or of gains).
    gains : bool
        Whether the numbers are gains; a loss is then minus a gain.
    random_state : int or np.random.Generator, optional
        The generator that draws the arms if `pull` is not given one. It is a part of the state.
        A seed gives other numbers than ``np.random.default_rng`` of it, so that a simulation may
        draw its losses with the same seed.

    Notes
    -----
    A pull waits for its feedback under its arm and probability. Among pulls that agree in both,
    the oldest is answered first. Feedback without a waiting pull is an error, and so is feedback
    twice for one pull. `discard` removes a pull whose feedback will never come.

    A policy counts how late feedback comes, and its bound grows with the delays: see
    `total_delay` and `bound`. Some bounds are known for feedback at once only. Then nothing is
    promised as soon as one pull is made while another one waits.

    The generator gives one number per pull, as ``rng.random()`` does. Several threads may use one
    policy: its calls happen one after another.
    """

    # ---------------------------------------------------------------- what a policy must give

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the policy in tables and figures."""

    @abstractmethod
    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound for losses in [0, 1] that all came at once."""

    def _late_bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Return the bound for losses in [0, 1] with the delays that they had."""
        raise NoBoundError(
            f"the bound of {self.title} is for losses that come at once, and they came "
            f"{self.total_delay:,} pulls late in all"
        )

    @property
    def caveat(self) -> str:
        """The sense in which the bound holds."""
        if self.total_delay == 0:
            return "in expectation"
        with contextlib.suppress(NoBoundError):  # its message takes the place of the caveat
            if np.isinf(self._promised_at(self.t, 1.0)):
                return (
                    f"losses came {self.total_delay:,} pulls late in all, and the bound is no "
                    "less than the number of rounds"
                )
        return "in expectation, if neither losses nor delays depend on the arms drawn"

    def __repr__(self) -> str:
        return f"<{self.title}: {self._n_arms} arms, {self.t} pulls>"

    # ---------------------------------------------------------------- whole runs

    def run(
        self,
        source: npt.ArrayLike | Environment,
        horizon: int | None = None,
        *,
        rng: np.random.Generator | None = None,
        environment_rng: np.random.Generator | None = None,
        delays: npt.ArrayLike = 0,
        points: int = 256,
    ) -> BanditRun:
        """Play a T x K matrix, or ``horizon`` rounds of an environment, in compiled loops.

        It equals one `pull` and one `update` per round, bit for bit. Matrices are in the
        policy's own units. Environments give losses in [0, 1], which are converted to them.
        An error leaves the policy and its generator as they were.

        The bound of the run counts the delays of the run. It is known if the policy begins with
        this run: bounds count from the first round, and the losses of the arms before the run
        are unknown here.

        Parameters
        ----------
        source : array of shape (T, K), or Environment
            All losses (or gains) in advance, or an environment that makes them.
        horizon : int
            The number of rounds of an environment. A matrix has its own.
        rng : np.random.Generator, optional
            Draws the arms. Default: the policy's own generator.
        environment_rng : np.random.Generator, optional
            Draws the losses of an environment. Default: a generator seeded by ``rng``.
        delays : int, or array of int of shape (T,)
            The number of further pulls before the loss of a pull comes. A loss that is due
            after the last round never comes. Games with delays are not compiled. Environments
            that react to the player cannot have delays.
        points : int
            The number of rounds at which totals are kept for the curves.
        """
        gaps = None
        if isinstance(source, Environment):
            rounds = check_environment(source, self._n_arms, horizon)
        else:
            matrix = check_matrix(source, self._n_arms, horizon, self._units)
            rounds = matrix.shape[0]
        if environment_rng is not None:
            check_generator("environment_rng", environment_rng)
        late = check_delays(delays, rounds)
        if late is not None and isinstance(source, Adaptive):
            raise ValueError("delays are for losses that do not react to the player")
        engine, respond = self._engine, source.respond if isinstance(source, Adaptive) else None
        replay = partial(engine.play, respond) if late is None else DelayedReplay(engine, late)
        losses_of: Callable[[slice], FloatArray]
        with self._lock, self._drawing_from(rng), self._all_or_nothing():
            played = self.t
            if isinstance(source, Environment):
                draws = child_of(self.rng) if environment_rng is None else environment_rng
                gaps = source.gaps
                losses_of = partial(losses_from, source, played + 1, draws)
            else:
                losses_of = partial(losses_in, matrix, self._units)
            recorder = play(replay, self._addresses, losses_of, rounds, self._n_arms, points)
        return self.recorded_run(recorder, played, gaps)

    def recorded_run(
        self, recorder: Recorder, played: int, gaps: FloatArray | None = None
    ) -> BanditRun:
        """Return the run that was recorded after ``played`` earlier pulls."""
        bound = self.copy().bound if played == 0 else partial(nothing_promised, played)
        learner_totals, arm_totals = recorder.totals(self._units)
        return BanditRun(
            title=self.title,
            first_round=played + 1,
            checkpoints=recorder.checkpoints,
            bound=bound,
            smallest_epsilon=1.0 / self._n_arms,
            arms=self.arms,
            drawn=recorder.drawn,
            learner_totals=learner_totals,
            arm_totals=arm_totals,
            gaps=None if gaps is None else gaps * self.width,
            caveat=self.caveat,
        )

    def warm_start(self, log: Any) -> int:
        """Learn from the pulls of a log, in their order, and return their number.

        It is one `watch` per pull, so nothing is promised from then on. Pulls without a loss are
        skipped. An error leaves the policy as it was.

        Parameters
        ----------
        log : PullLog, or data frame with the columns round, arm, propensity and loss
            Of any policy. Losses are in the units of this policy.

        Examples
        --------
        >>> from driftgames.bandit import PullLog, ThompsonSampling, TsallisINF
        >>> log = PullLog(TsallisINF(2, random_state=0))
        >>> _ = log.run([[0.0, 1.0]] * 50)
        >>> policy = ThompsonSampling(2, random_state=0)
        >>> policy.warm_start(log), bool(policy.distribution()[0] > 0.99)
        (50, True)
        """
        columns = columns_of(log)
        rows = zip(columns["arm"], columns["loss"], columns["propensity"], strict=True)
        learnt = 0
        with self._all_or_nothing():
            for row, (arm, loss, prob) in enumerate(rows):
                if loss is None or loss != loss:
                    continue
                try:
                    self.watch(arm, loss, prob)
                except ValueError as error:
                    raise ValueError(f"row {row} of the log: {error}") from error
                learnt += 1
        return learnt

    # ---------------------------------------------------------------- what is promised

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound on the epsilon-regret after ``horizon`` rounds, in units of loss.

        It counts the delays of all pulls so far and assumes that later feedback comes at once.
        It raises `NoBoundError` if there is no bound. With delays it is infinite where the
        formula gives no less than the number of rounds: no regret exceeds that.
        """
        return np.asarray(self._promised_at(horizon, epsilon) * self.width)

    def certificate(
        self, arm_losses: npt.ArrayLike | None = None, learner_loss: float | None = None
    ) -> Certificate:
        """Return the epsilon-regret of all rounds so far beside the bound.

        It is for a stream; the result of `run` has a certificate of its own. The bound counts
        the delays that happened, or the certificate says that nothing is promised. Without the
        totals it has the bound alone: a policy sees the losses of drawn arms only.

        Parameters
        ----------
        arm_losses : array of shape (K,), optional
            The total loss of each arm in all rounds, in units of loss.
        learner_loss : float, optional
            The total loss of the drawn arms in all rounds, with or without feedback.
        """
        if arm_losses is None and learner_loss is None:
            return Certificate.of_promise(
                self.title,
                self.t,
                self._n_arms,
                self.bound,
                caveat=self.caveat,
                rival="the best arm",
            )
        if arm_losses is None or learner_loss is None:
            raise ValueError("arm_losses and learner_loss must be given together; got one")
        totals = check_vector("arm_losses", arm_losses, self._n_arms)
        own = check_number("learner_loss", learner_loss)
        return Certificate.of_run(
            self.title,
            self.t,
            totals,
            own,
            self.bound,
            caveat=self.caveat,
            rival="the best arm",
        )

    def _promised_at(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return the bound for losses in [0, 1]."""
        both = np.broadcast_arrays(check_horizons(horizon), check_fractions("epsilon", epsilon))
        self._check_own()
        if self.total_delay == 0:
            return self._bound(*both)
        bound = self._late_bound(*both)
        return np.where(bound < both[0], bound, np.inf)

    def _check_own(self) -> None:
        """Raise NoBoundError if another player drew some of the arms."""
        if self.watched:
            raise NoBoundError(
                f"bounds are for a policy that draws its own arms, and {self.watched:,} of its "
                "pulls were watched"
            )

    def _check_own_and_prompt(self) -> None:
        """Raise NoBoundError if another player drew some of the arms or losses came late."""
        self._check_own()
        if self.total_delay > 0:
            raise NoBoundError(
                f"this bound is for losses that come at once, and they came {self.total_delay:,} "
                "pulls late in all"
            )
