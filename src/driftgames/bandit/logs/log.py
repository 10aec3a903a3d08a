"""A log of pulls: round, arm, propensity and loss, as a data frame."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit.contexts.context_policy import ContextPolicy
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.pulls.logged import LoggedPulls
from driftgames.bandit.pulls.pending import Queues, put, take
from driftgames.bandit.runs.bandit_run import BanditRun, Recorder
from driftgames.bandit.runs.replay import check_matrix, losses_in
from driftgames.bandit.types import Arm
from driftgames.core.checks import check_flag, shown
from driftgames.core.display import Displayed, Fields, Sketch


class PullLog(Displayed, LoggedPulls):
    """Plays a policy and records every pull with its propensity, the probability that it had.

    `pull`, `update` and `discard` are those of the policy. `driftgames.bandit.off_policy_value`
    estimates from the log what another policy would have lost.

    Parameters
    ----------
    policy : BanditPolicy or ContextPolicy
        The policy that plays. The first round of the log is its next pull.
    distributions : bool
        Whether to keep the probabilities of all arms too, in the column ``distribution``, in the
        order of ``policy.arms``. `off_policy_value` is more certain with them. Default: False.

    Notes
    -----
    A loss is NaN until it comes. Among pulls that agree in arm and propensity, a loss belongs to
    the oldest, as it does in the policy. The column is named ``loss`` also if the policy takes
    gains; it holds what `update` was given. A log grows with every pull and is no part of the
    policy's state: save its frame beside the state.

    Examples
    --------
    >>> from driftgames.bandit import TsallisINF
    >>> log = PullLog(TsallisINF(names=["red", "green"], random_state=0))
    >>> for _ in range(3):
    ...     arm, prob = log.pull()
    ...     log.update(arm, 1.0 if arm == "red" else 0.0, prob)
    >>> log.to_frame().round(3)
       round    arm  propensity  loss
    0      1    red       0.500   1.0
    1      2  green       0.841   0.0
    2      3  green       0.806   0.0
    """

    def __init__(
        self, policy: BanditPolicy | ContextPolicy, *, distributions: bool = False
    ) -> None:
        if not isinstance(policy, BanditPolicy | ContextPolicy):
            raise ValueError(f"policy must be a BanditPolicy; got {shown(policy)}")
        self.policy = policy
        self.columns = {"round": [], "arm": [], "propensity": [], "loss": []}
        if isinstance(policy, ContextPolicy):
            self.columns["context"] = []
        if check_flag("distributions", distributions):
            self.columns["distribution"] = []
        self._waiting: Queues[int] = {}

    def __len__(self) -> int:
        return len(self.columns["round"])

    def _headline(self) -> str:
        return f"{len(self):,} pulls of {self.policy.title}"

    def _columns(self) -> Fields:
        return self.columns

    def _sketch(self) -> Sketch:
        pulls = Counter(map(str, self.columns["arm"]))
        return Sketch(bars={arm: float(count) for arm, count in pulls.most_common(12)})

    def pull(
        self, rng: np.random.Generator | None = None, *, context: Any = None
    ) -> tuple[Any, float]:
        """Draw an arm; return it and its probability, which `update` needs.

        A `ContextPolicy` needs a ``context``, which the log keeps in a column of that name.
        """
        whole = self._distribution(context) if "distribution" in self.columns else None
        if isinstance(self.policy, ContextPolicy):
            arm, prob = self.policy.pull(context, rng)
            self.columns["context"].append(self.policy.read_context(context).tolist())
        else:
            arm, prob = self.policy.pull(rng)
        put(self._waiting, (arm, prob), len(self))
        for name, value in zip(
            ("round", "arm", "propensity", "loss"), (self.policy.t, arm, prob, np.nan), strict=True
        ):
            self.columns[name].append(value)
        if whole is not None:
            self.columns["distribution"].append(whole)
        return arm, prob

    def update(self, arm: Arm, loss: float, prob: float, context: Any = None) -> None:
        """Take the loss (or the gain) of a pull of ``arm`` that had probability ``prob``."""
        if isinstance(self.policy, ContextPolicy):
            self.policy.update(arm, loss, prob, context)
        else:
            self.policy.update(arm, loss, prob)
        if (row := self._take(arm, prob)) is not None:
            self.columns["loss"][row] = float(loss)

    def discard(self, arm: Arm, prob: float) -> None:
        """Remove a pull from those that wait; its loss stays NaN."""
        self.policy.discard(arm, prob)
        self._take(arm, prob)

    def run(self, losses: npt.ArrayLike, *, points: int = 256) -> BanditRun:
        """Play a T x K matrix of losses (or gains), pull by pull, with losses at once.

        The result is that of `BanditPolicy.run`, with its regret, curves and certificate.

        >>> from driftgames.bandit import TsallisINF
        >>> log = PullLog(TsallisINF(2, random_state=0))
        >>> run = log.run([[0.0, 1.0]] * 200)
        >>> run.regret, len(log)
        (8.0, 200)
        """
        policy = self.policy
        if isinstance(policy, ContextPolicy):
            raise ValueError("a policy with contexts is logged pull by pull; use pull and update")
        slots = {arm: k for k, arm in enumerate(policy.arms)}
        rows = check_matrix(losses, policy.n_arms, None, policy.units)
        played, recorder = policy.t, Recorder(rows.shape[0], policy.n_arms, points)
        game = losses_in(rows, policy.units, slice(0, rows.shape[0]))
        for t, row in enumerate(rows):
            arm, prob = self.pull()
            recorder.drawn[t] = slots[arm]
            recorder.paid[t] = game[t, slots[arm]]
            self.update(arm, float(row[slots[arm]]), prob)
        recorder.add(game, slice(0, rows.shape[0]))
        return policy.recorded_run(recorder, played)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the pulls as a data frame of pandas, polars or pyarrow, which must be there."""
        return super().to_frame(backend=backend)

    def _distribution(self, context: Any) -> list[float]:
        """Return the probabilities of all arms in the next pull."""
        if isinstance(self.policy, ContextPolicy):
            found = self.policy.distribution(context)
        else:
            found = self.policy.distribution()
        return [float(share) for share in found]

    def _take(self, arm: Arm, prob: float) -> int | None:
        """Return the row of the oldest such pull; None for a pull before the log began."""
        return take(self._waiting, (arm, prob)) if (arm, prob) in self._waiting else None
