"""Boost-by-majority: the minimax booster for a known edge."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.estimators.mean_certificate import no_certificate
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.weights.by_mistakes import count_chips
from driftgames.boosting.weights.example_chips import ExampleChips
from driftgames.boosting.weights.majority import MajorityWeights
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.core.checks import check_integer, is_real, shown


@dataclass(eq=False, repr=False)
class BoostByMajorityClassifier(BaseBooster):
    r"""Boost-by-majority: the best booster where the rounds and the edge are known beforehand.

    .. math:: \Phi_T(s) = 1\{s \le 0\}, \qquad
              \Phi_{t-1}(s) = \frac{1+\beta}{2}\Phi_t(s+1) + \frac{1-\beta}{2}\Phi_t(s-1),
              \qquad \beta = 2\gamma

    where :math:`s` is the number of right votes less the wrong ones, and examples weigh
    :math:`\frac12(\Phi_t(s-1) - \Phi_t(s+1))`: most if the vote is still open, and zero once it
    is decided. These weights are binomial probabilities and are computed as such, without a table
    of the game. [LS14, Sec. 2, Eq. (1)]

    Parameters
    ----------
    edge : float
        The least edge :math:`\gamma` that every weak hypothesis is expected to have, in (0, 1/2).
    horizon : int, optional
        The planned number of rounds. Default: ``n_estimators``. A fit in parts (``warm_start``)
        must give it, as the weights of the first round depend on it.

    Notes
    -----
    An example whose vote can no longer be won weighs zero. With a small ``edge``, such as 0.02,
    this makes the booster robust to wrong labels (``docs/noise.md``).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = BoostByMajorityClassifier(51).fit(X, y)
    >>> booster.history_["edge"][:3].round(3)
    array([0.421, 0.414, 0.391])
    >>> booster.score(X, y)
    1.0
    """

    n_estimators: int = 200
    edge: float = 0.1
    _: KW_ONLY
    horizon: int | None = None

    chooses_rounds: ClassVar[bool] = False

    def place_chips(self, training_set: TrainingSet, n_rounds: int) -> ExampleChips:
        """Return the examples as chips before the first of up to ``n_rounds`` rounds."""
        if not (is_real(self.edge) and 0 < self.edge < 0.5):
            raise ValueError(f"edge must lie in (0, 0.5); got {shown(self.edge)}")
        if self.horizon is None and self.warm_start and self.__sklearn_is_fitted__():
            raise ValueError("horizon must be given for a fit that goes on (warm_start)")
        horizon = check_integer("horizon", self.binding_settings()["horizon"], least=1)
        if self.n_estimators > horizon:
            raise ValueError(
                f"n_estimators must be at most horizon={horizon}; got {self.n_estimators}"
            )
        return count_chips(MajorityWeights(horizon, self.edge), training_set, n_rounds)

    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        settings = self.record_.settings
        if len(self.record_.members) > 1:
            return no_certificate("Boost-by-majority", self.record_)
        horizon, edge = settings["horizon"], settings["edge"]
        least = float(self.history_["edge"].min())
        if self.n_iter_ < horizon:
            caveat = f"only {self.n_iter_} of the {horizon} planned rounds were played"
        elif least < edge:
            caveat = f"an edge of {least:.4g} was below the expected {edge:g}"
        else:
            caveat = ""
        value = 1.0 if caveat else MajorityWeights(horizon, edge).game_value
        return MarginCertificate.of_game_value(
            "Boost-by-majority", self.n_iter_, margins, error, value, caveat
        )

    def binding_settings(self) -> dict[str, Any]:
        """Return the settings that the rounds depend on, the planned number of rounds too."""
        horizon = self.n_estimators if self.horizon is None else self.horizon
        return {**super().binding_settings(), "horizon": horizon}
