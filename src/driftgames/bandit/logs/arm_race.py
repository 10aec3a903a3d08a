"""A/B and n arms: which arms may still be the best, at any time, and when one may stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from driftgames.bandit.pulls.arms import check_names, shorten
from driftgames.bandit.types import Arm
from driftgames.certificates import ConfidenceSequence
from driftgames.core.checks import check_between, check_fraction, check_integer, shown
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.schema import FLAG, LIST, PAIR, SHARE, Schema
from driftgames.core.state import Stateful, nested, restore_nested
from driftgames.core.typing import Content, FloatArray
from driftgames.core.units import Units
from driftgames.tables import Column, Table, counted


class ArmRace(Displayed, Stateful):
    r"""Confidence intervals for the mean of every arm that hold at all times at once.

    .. math:: \Pr\bigl[\exists t, a: \mu_a \notin [l_{t,a}, h_{t,a}]\bigr] \le \delta

    An arm is within reach of the best while its interval reaches the best end of all intervals.
    With confidence :math:`1 - \delta` the best arm is within reach at all times, whoever pulls
    the arms and by whatever rule, and whenever one looks. So one may look after every pull, and
    stop at any time: nothing need be planned. Each interval is a `ConfidenceSequence` with a share
    :math:`\delta/K`.

    Parameters
    ----------
    names : sequence
        The arms.
    delta : float
        The chance that an interval ever misses. Default: 0.05.
    loss_range : (float, float)
        The range of losses (or of gains).
    gains : bool
        Whether the numbers are gains.

    Notes
    -----
    The mean of each arm must stay the same, given the past. Where arms change over time, the
    intervals say nothing, and `ThompsonSampling` follows the changes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> race = ArmRace(["old page", "new page"], gains=True)
    >>> for _ in range(2000):
    ...     race.update("old page", float(rng.random() < 0.10))
    ...     race.update("new page", float(rng.random() < 0.16))
    >>> race.within_reach, race.leader
    (('new page',), 'new page')
    >>> race.may_stop()
    True
    """

    VERSION: ClassVar[int] = 1
    _named_arguments: ClassVar[Schema] = {
        "names": LIST,
        "delta": SHARE,
        "loss_range": PAIR,
        "gains": FLAG,
    }

    def __init__(
        self,
        names: Sequence[Arm],
        *,
        delta: float = 0.05,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
    ) -> None:
        self._names = check_names(names, None) or []
        check_integer("the number of arms", len(self._names), least=1)
        self._delta = check_fraction("delta", delta)
        self._units = Units.of(loss_range, gains)
        share = self._delta / len(self._names)
        ends = self._units.low, self._units.high
        self._intervals = {
            name: ConfidenceSequence(share, value_range=ends) for name in self._names
        }

    def update(self, arm: Arm, number: float) -> None:
        """Take the loss (or the gain) of a pull of ``arm``."""
        try:
            interval = self._intervals[arm]
        except (KeyError, TypeError):
            arms = shorten(tuple(self._names))
            raise ValueError(f"there is no arm {shown(arm)}; the arms are {arms}") from None
        check_between(f"a {self._units.word}", number, self._units.low, self._units.high)
        with self._lock:
            interval.update(number)

    # ---------------------------------------------------------------- what is known

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms."""
        return tuple(self._names)

    @property
    def pulls(self) -> tuple[int, ...]:
        """The number of pulls of each arm."""
        return tuple(each.t for each in self._intervals.values())

    @property
    def intervals(self) -> FloatArray:
        """The lower and the upper bound on the mean of each arm, a row each."""
        return np.array([(each.low, each.high) for each in self._intervals.values()])

    @property
    def within_reach(self) -> tuple[Any, ...]:
        """The arms that may still be the best."""
        worst, best = self._worst_and_best()
        return tuple(
            name for name, low in zip(self._names, best, strict=True) if low <= worst.min()
        )

    @property
    def leader(self) -> Any:
        """The arm that can be furthest from the best by the least."""
        return self._names[int(np.argmin(self._worst_and_best()[0]))]

    @property
    def shortfall(self) -> float:
        """The mean of the leader is at most this much worse than that of the best arm."""
        worst, best = self._worst_and_best()
        at = int(np.argmin(worst))
        others = np.delete(best, at)
        return max(0.0, float(worst[at] - others.min())) if others.size else 0.0

    def may_stop(self, margin: float = 0.0) -> bool:
        """Whether the leader is the best arm, or at most ``margin`` worse, with confidence."""
        return self.shortfall <= check_between("margin", margin, 0.0, np.inf)

    @property
    def table(self) -> Table:
        """A line per arm: pulls, mean, interval, and whether it is within reach."""
        reach = set(self.within_reach)
        rows = tuple(
            (str(name), each.t, each.mean, each.low, each.high, "yes" if name in reach else "no")
            for name, each in self._intervals.items()
        )
        columns = (
            Column("arm"),
            Column("pulls", ",d"),
            Column("mean", ".4f"),
            Column("low", ".4f"),
            Column("high", ".4f"),
            Column("within reach"),
        )
        return Table(f"{counted(sum(self.pulls), 'pull')}", columns, rows)

    def __str__(self) -> str:
        sure = f"with confidence {1 - self._delta:g}"
        if self.may_stop():
            return f"{self.leader} is the best arm, {sure}"
        reach = ", ".join(map(str, self.within_reach))
        return (
            f"the best arm is one of {reach}, {sure}; {self.leader} is at most "
            f"{self.shortfall:.4f} worse than the best"
        )

    def _columns(self) -> Fields:
        table = self.table
        names = [column.name for column in table.columns]
        return dict(zip(names, map(list, zip(*table.rows, strict=True)), strict=True))

    def _sketch(self) -> Sketch:
        intervals = self._intervals.items()
        return Sketch(intervals={str(k): (each.low, each.mean, each.high) for k, each in intervals})

    def _worst_and_best(self) -> tuple[FloatArray, FloatArray]:
        """Return the worst and the best mean of each arm, as losses."""
        with self._lock:
            ends = self.intervals
        return (-ends[:, 0], -ends[:, 1]) if self._units.gains else (ends[:, 1], ends[:, 0])

    # ---------------------------------------------------------------- state

    def _arguments(self) -> Content:
        return {
            "names": self._names,
            "delta": self._delta,
            "loss_range": (self._units.low, self._units.high),
            "gains": self._units.gains,
        }

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        return cls._named_arguments, {"intervals": LIST}

    def _get_state(self) -> Content:
        return {"intervals": [nested(each) for each in self._intervals.values()]}

    def _set_state(self, state: Content) -> None:
        saved = state["intervals"]
        if len(saved) != len(self._names):
            raise ValueError(f"there must be {len(self._names)} intervals; got {len(saved)}")
        own = [nested(each)["arguments"] for each in self._intervals.values()]
        for content, wanted in zip(saved, own, strict=True):
            if not isinstance(content, dict) or content.get("arguments") != wanted:
                raise ValueError("an interval of the file has other settings than the race")
        found = [restore_nested(content, ConfidenceSequence) for content in saved]
        self._intervals = dict(zip(self._names, found, strict=True))
