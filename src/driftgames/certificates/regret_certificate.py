"""The certificate of one regret, that to the best decision in hindsight, and runs that have one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

from driftgames.core.display import Displayed, Sketch
from driftgames.core.run import Run
from driftgames.tables import counted


@dataclass(frozen=True)
class RegretCertificate(Displayed):
    """The regret to the best fixed decision beside its bound.

    Parameters
    ----------
    title : str
        What was run.
    horizon : int
        How many rounds it ran.
    regret, promised : float
        The regret and the bound on it, which is infinite if nothing is promised.
    largest : float
        The largest of the totals whose difference the regret is; rounding is relative to it.
    caveat : str
        Why nothing is promised. Default: "".
    unit : str
        What the regret is measured in, such as "log-wealth". Default: "", for the losses.

    Examples
    --------
    >>> print(RegretCertificate("coin betting", 10, regret=1.5, promised=4.0, largest=9.0))
    coin betting after 10 rounds: regret 1.500, at most 4.000: the bound holds
    """

    title: str
    horizon: int
    regret: float
    promised: float
    largest: float
    caveat: str = ""
    unit: str = ""

    @property
    def rounding(self) -> float:
        """How much rounding may have moved the regret: once per round."""
        return self.horizon * 2.0**-52 * max(self.largest, self.promised)

    @property
    def holds(self) -> bool:
        """Whether the regret keeps below the promise; `rounding` is allowed for."""
        return self.regret <= self.promised + self.rounding

    def _sketch(self) -> Sketch:
        return Sketch(bars={"regret": self.regret, "promised": self.promised})

    def __str__(self) -> str:
        unit = f" in {self.unit}" if self.unit else ""
        rounds = counted(self.horizon, "round")
        begin = f"{self.title} after {rounds}: regret {self.regret:.3f}{unit}"
        if math.isinf(self.promised):
            return f"{begin}; nothing is promised: {self.caveat}"
        verdict = "the bound holds" if self.holds else "THE BOUND IS BROKEN"
        return f"{begin}, at most {self.promised:.3f}: {verdict}"


class OneRegret(Protocol):
    """A certificate of one regret."""

    @property
    def regret(self) -> float:
        """The regret."""

    @property
    def promised(self) -> float:
        """The bound on it."""


OneRegretT = TypeVar("OneRegretT", bound=OneRegret)


@dataclass(frozen=True, eq=False, kw_only=True)
class OneRegretRun(Run[OneRegretT]):
    """A run whose certificate is of one regret."""

    @property
    def regret(self) -> float:
        """The regret after the last round."""
        return self.certificate().regret

    @property
    def promised(self) -> float:
        """The bound on `regret`; infinite if nothing is promised."""
        return self.certificate().promised
