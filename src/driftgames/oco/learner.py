"""What both learners on convex sets share: rounds, runs and a part of their state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from driftgames.certificates.regret_certificate import OneRegretRun, RegretCertificate
from driftgames.core.checks import check_kind, check_number
from driftgames.core.display import Fields
from driftgames.core.schema import NUMBER, Schema, made_as
from driftgames.core.state import Stateful, check_clock
from driftgames.core.typing import Content, FloatArray
from driftgames.oco.continuous_certificate import ContinuousCertificate
from driftgames.oco.convex_set import ConvexSet

LossT = TypeVar("LossT")
CertificateT = TypeVar("CertificateT", ContinuousCertificate, RegretCertificate)


@dataclass(frozen=True, eq=False, kw_only=True)
class ConvexRun(OneRegretRun[CertificateT]):
    """The rounds that one call of `run` played.

    Parameters
    ----------
    title : str
        The name of the learner.
    first_round : int
        The 1-based number of the first round. It is above 1 if the learner had played before.
    learner : ConvexLearner
        A copy of the learner as it was after the last round.
    learner_losses : array of shape (T,)
        The learner's loss in each round.
    """

    learner: ConvexLearner[Any, CertificateT]
    learner_losses: FloatArray

    @property
    def n_rounds(self) -> int:
        """T."""
        return self.learner_losses.size

    def _columns(self) -> Fields:
        return {"round": self.rounds, "learner loss": self.learner_losses}

    def certificate(self) -> CertificateT:
        """Return the certificate after the last round, counted from the learner's first round."""
        self._check_current(self.learner.t)
        return self.learner.certificate()


class ConvexLearner(Stateful, Generic[LossT, CertificateT]):
    """A learner that plays a point of a convex set every round, then sees a convex loss."""

    _named_arguments: ClassVar[Schema] = {"domain": made_as(ConvexSet)}

    def __init__(self, domain: ConvexSet) -> None:
        check_kind("domain", domain, ConvexSet)
        self._domain = domain
        self._t = 0
        self._learner_loss = 0.0

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the learner, for people."""

    @abstractmethod
    def predict(self) -> FloatArray:
        """Return the point for the next round."""

    @abstractmethod
    def update(self, loss: LossT) -> float:
        """Take the loss of a round and return the learner's own loss."""

    @abstractmethod
    def certificate(self) -> CertificateT:
        """Return the regret beside its bound."""

    def run(self, losses: Iterable[LossT]) -> ConvexRun[CertificateT]:
        """Take one loss per round. A bad loss leaves the learner as it was before the first."""
        with self._all_or_nothing():
            first_round = self._t + 1
            own = np.array([self.update(loss) for loss in losses], dtype=np.float64)
            return ConvexRun(
                title=self.title,
                first_round=first_round,
                learner=self.copy(),
                learner_losses=own,
            )

    @property
    def t(self) -> int:
        """How many rounds were played."""
        return self._t

    @property
    def learner_loss(self) -> float:
        """The learner's total loss."""
        return self._learner_loss

    # ---------------------------------------------------------------- state

    @abstractmethod
    def _get_own_state(self) -> Content:
        """Return the state beyond clock and learner loss."""

    @abstractmethod
    def _set_own_state(self, state: Content) -> None:
        """Take it over, or raise ValueError and change nothing."""

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        return cls._named_arguments, {"learner_loss": NUMBER}

    def _get_state(self) -> Content:
        return {"t": self._t, "learner_loss": self._learner_loss, **self._get_own_state()}

    def _set_state(self, state: Content) -> None:
        t = check_clock("t", state["t"])
        learner_loss = check_number("learner_loss", state["learner_loss"])
        self._set_own_state(state)
        self._t, self._learner_loss = t, learner_loss
