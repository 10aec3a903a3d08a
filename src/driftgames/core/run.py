"""What all runs share: the rounds that they played, and a certificate of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from driftgames.core.display import Displayed, Fields, text_of
from driftgames.core.typing import IntArray

CertificateT_co = TypeVar("CertificateT_co", covariant=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Displayed, ABC, Generic[CertificateT_co]):
    """The rounds that one call of `run` played.

    Parameters
    ----------
    title : str
        The name of what was run.
    first_round : int
        The 1-based number of the first of these rounds. It is above 1 if the learner had played
        before.
    """

    title: str
    first_round: int

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """The number of rounds of this run."""

    @abstractmethod
    def certificate(self) -> CertificateT_co:
        """Return what was achieved beside what was promised, from the learner's first round on."""

    @property
    def rounds(self) -> IntArray:
        """The 1-based numbers of the rounds."""
        return np.arange(self.first_round, self.first_round + self.n_rounds)

    def _headline(self) -> str:
        facts = [f"{name} {text_of(value)}" for name, value in self._facts().items()]
        return ", ".join([self.title, *facts])

    def _facts(self) -> Fields:
        before = {"first round": self.first_round} if self.first_round > 1 else {}
        return {"rounds": self.n_rounds, **before}

    def _check_current(self, t: int) -> None:
        """Raise ValueError if the learner has played on since this run, until round ``t``."""
        later = t - (self.first_round - 1 + self.n_rounds)
        if later:
            raise ValueError(
                f"the learner has played {later:,} more rounds, and its certificate counts them; "
                "run a copy of the learner to keep the certificate of this run"
            )
