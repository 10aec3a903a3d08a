"""Boost-by-majority: the minimax booster for a known edge."""

from __future__ import annotations

from typing import Any

from driftgames.boosting.base import BaseBooster, Run
from driftgames.boosting.chips import Chips
from driftgames.boosting.examples import Examples
from driftgames.boosting.rules import MajorityRule
from driftgames.certificates.margins import MarginCertificate
from driftgames.core.checks import check_integer, is_real


class BoostByMajorityClassifier(BaseBooster):
    r"""Boost-by-majority: the best booster where the rounds and the edge are known beforehand.

    .. math:: \Phi_T(s) = 1\{s \le 0\}, \qquad
              \Phi_{t-1}(s) = \frac{1+\beta}{2}\Phi_t(s+1) + \frac{1-\beta}{2}\Phi_t(s-1),
              \qquad \beta = 2\gamma

    where :math:`s` is the number of right votes less the wrong ones, and examples weigh
    :math:`\frac12(\Phi_t(s-1) - \Phi_t(s+1))`: most where the vote hangs in the balance, and
    nothing where it is decided. These weights are binomial probabilities, and are computed as
    such: nothing is solved beforehand. [LS14, Sec. 2, Eq. (1)]

    Parameters
    ----------
    n_estimators : int
        Rounds, at most: the number of weak hypotheses that vote.
    edge : float
        The edge :math:`\gamma` that every weak hypothesis is counted on to have, in (0, 1/2).
    horizon : int, optional
        The rounds that are planned for; ``n_estimators`` unless given. A fit in parts
        (``warm_start``) must give it, as the weights of the first round depend on it.
    estimator : classifier, optional
        The weak learner: any scikit-learn classifier whose ``fit`` takes ``sample_weight``; it
        sees only the examples of nonzero weight. The exhaustive stump unless given.
    max_bins : int
        Bins per feature, from 2 to 255; exact where a feature has no more values than that.
        Missing values have a bin of their own.
    n_jobs : int, optional
        Threads, as joblib counts them. The model does not depend on it.
    random_state : int, Generator or RandomState, optional
        Seeds the weak learners, where they take a seed; stumps draw nothing.
    verbose : int
        Show a progress bar.
    warm_start : bool
        Go on from the rounds played already.

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

    def __init__(
        self,
        n_estimators: int = 200,
        edge: float = 0.1,
        *,
        horizon: int | None = None,
        estimator: Any = None,
        max_bins: int = 255,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.edge = edge
        self.horizon = horizon
        self.estimator = estimator
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _start(self, examples: Examples) -> Chips:
        return examples.counted(self._rule())

    def _certify(self, run: Run) -> MarginCertificate:
        horizon = self._horizon()
        least = float(run.edges.min())
        if run.edges.size < horizon:
            caveat = f"only {run.edges.size} of the {horizon} rounds planned for were played"
        elif least < self.edge:
            caveat = f"an edge of {least:.4g} was below the {self.edge:g} counted on"
        else:
            caveat = ""
        return MarginCertificate.of_game_value(
            "Boost-by-majority",
            run.edges.size,
            run.margins,
            run.training_error,
            1.0 if caveat else self._rule().game_value,
            caveat,
        )

    def _horizon(self) -> int:
        if self.horizon is None:
            if self.warm_start and hasattr(self, "classes_"):
                raise ValueError("horizon must be given for a fit that goes on (warm_start)")
            return self.n_estimators
        horizon = check_integer("horizon", self.horizon, least=1)
        if self.n_estimators > horizon:
            raise ValueError(
                f"n_estimators must be at most horizon={horizon}; got {self.n_estimators}"
            )
        return horizon

    def _binding_settings(self) -> dict[str, Any]:
        horizon = self.n_estimators if self.horizon is None else self.horizon
        return {**super()._binding_settings(), "horizon": horizon}

    def _rule(self) -> MajorityRule:
        if not (is_real(self.edge) and 0 < self.edge < 0.5):
            raise ValueError(f"edge must lie in (0, 0.5); got {self.edge!r}")
        return MajorityRule(self._horizon(), self.edge)
