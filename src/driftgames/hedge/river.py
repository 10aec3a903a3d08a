"""Combining river models: a Hedge learner that is itself a river model.

Needs the extra: ``pip install 'driftgames[river]'``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from driftgames.certificates import Certificate
from driftgames.core.checks import needs_extra
from driftgames.core.typing import FloatArray
from driftgames.hedge.losses.loss_base import Loss, LossFunction, Range
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.hedge.named_learners import LearnerChoice, make_learner
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.hedge.rounds.linearised import (
    charged_range,
    choose_linearised,
    default_learner,
    play_linearised,
)

with needs_extra(__name__, "river"):
    from river import base

__all__ = ["HedgeClassifier", "HedgeRegressor"]

Features = dict[Any, Any]

_ROUNDING = 1e-6  # the tolerance for probabilities of the models


class _HedgeEnsemble(base.Ensemble):  # type: ignore[misc]
    """Models that a Hedge learner weighs."""

    _learner: ExpertLearner

    @property
    def _min_number_of_models(self) -> int:
        return 1

    @property
    def weights(self) -> FloatArray:
        """The weight of each model in the next prediction."""
        return self._learner.distribution().astype(np.float64, copy=False)

    def certificate(self) -> Certificate:
        """Return the epsilon-regret to the models beside its bound, for every epsilon."""
        return self._learner.certificate()


class HedgeRegressor(_HedgeEnsemble, base.Regressor):  # type: ignore[misc]
    r"""A convex combination of river regressors, re-weighted after every outcome.

    .. math:: \hat y_t = \sum_i p_{t,i} x_{t,i}, \qquad \ell_{t,i} = g_t\,x_{t,i}, \quad
              g_t = \ell'(\hat y_t, y_t)

    Its regret to the best **convex combination** of its models stays below the bound of
    `certificate`, on any stream, without a learning rate and without a range of the outcomes, as
    that of `ExpertMixture`. [LS14, Sec. 3.1, Thm. 2]

    Parameters
    ----------
    models
        The regressors to combine; each learns from every observation.
    loss
        "square", "absolute" or "pinball", a `Loss`, or a function with losses in [0, 1].
    outcome_range
        The range ``(low, high)`` of the outcomes, for a loss by name; an outcome outside it is
        an error. Default: outcomes of any size. A learner that is not scale-free needs it.
    learner
        A name in `LEARNERS` or `POTENTIALS`, or a factory. Default: that of `ExpertMixture`.
    linearise
        Whether the learner is charged linearised losses. If not, it is charged
        :math:`\ell(x_{t,i}, y_t)` and competes with the best model alone. Default: if the loss
        has a gradient.

    Notes
    -----
    River models may predict anything in their first rounds. A prediction outside the range is
    moved to its nearer end, where it is closer to every possible outcome.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, optim, preprocessing
    >>> models = [
    ...     linear_model.LinearRegression(optimizer=optimizer, intercept_lr=0.1)
    ...     for optimizer in (optim.SGD(0.01), optim.RMSProp(), optim.AdaGrad())
    ... ]
    >>> model = preprocessing.StandardScaler() | HedgeRegressor(models, outcome_range=(30, 50))
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.377443
    """

    def __init__(
        self,
        models: Sequence[base.Regressor],
        loss: str | Loss | LossFunction = "square",
        outcome_range: Range | None = None,
        learner: LearnerChoice = None,
        linearise: bool | None = None,
    ) -> None:
        super().__init__(models)
        self.loss = loss
        self.outcome_range = outcome_range
        self.learner = learner
        self.linearise = linearise
        self._loss = make_loss(loss, outcome_range, any_size=True)
        self._linearised = choose_linearised(self._loss, linearise)
        self._learner = make_learner(
            learner or default_learner(self._linearised),
            len(self),
            loss_range=charged_range(self._loss, self._linearised) if learner else None,
        )

    def learn_one(self, x: Features, y: float) -> None:
        """Weigh the models by the losses of their predictions, then let each of them learn."""
        outcome = self._loss.check_outcomes([y])
        experts = self._experts(x)
        if self._linearised:
            play_linearised(self._learner, self._loss, experts[None], outcome, None)
        else:
            self._learner.update(self._loss.evaluate(experts, outcome))
        for model in self:
            model.learn_one(x, y)

    def predict_one(self, x: Features) -> float:
        """Return the weighted mean of the models' predictions."""
        return float(self._loss.combine(self._experts(x), self.weights))

    def _experts(self, x: Features) -> FloatArray:
        return self._loss.nearest([model.predict_one(x) for model in self])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, preprocessing

        models = [
            preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1),
            preprocessing.StandardScaler() | linear_model.PARegressor(),
        ]
        yield {"models": models, "outcome_range": (-1000.0, 1000.0)}


class HedgeClassifier(_HedgeEnsemble, base.Classifier):  # type: ignore[misc]
    r"""A mixture of river classifiers' probabilities, re-weighted after every label.

    .. math:: \ell_{t,i} = \tfrac12 \sum_c (q_{t,i}(c) - \mathbf{1}\{c = y_t\})^2 \in [0, 1]

    The loss is half the Brier score: proper, convex, and bounded for any number of classes.
    [LS14, Sec. 3.1, Thm. 2]

    Parameters
    ----------
    models
        The classifiers to combine; each learns from every observation.
    learner
        A name in `LEARNERS` or `POTENTIALS`, or a factory. Default: NormalHedge.DT.

    Notes
    -----
    A model that has seen no label gives every label probability 0 and loses 1/2. A model
    without probabilities counts as certain of the label that it predicts.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> models = [linear_model.LogisticRegression(), naive_bayes.GaussianNB()]
    >>> model = preprocessing.StandardScaler() | HedgeClassifier(models)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.00%
    """

    def __init__(self, models: Sequence[base.Classifier], learner: LearnerChoice = None) -> None:
        super().__init__(models)
        self.learner = learner
        self._learner = make_learner(learner, len(self), loss_range=(0.0, 1.0))

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self)

    def learn_one(self, x: Features, y: base.typing.ClfTarget) -> None:
        """Weigh the models by the losses of their predictions, then let each of them learn."""
        self._learner.update([_half_brier(_probabilities(model, x), y) for model in self])
        for model in self:
            model.learn_one(x, y)

    def predict_proba_one(self, x: Features) -> dict[base.typing.ClfTarget, float]:
        """Return the weighted mean of the models' probabilities."""
        mixed: Counter[Any] = Counter()
        for model, p in zip(self, self._learner.distribution().tolist(), strict=True):
            for label, chance in _probabilities(model, x).items():
                mixed[label] += p * chance
        total = sum(mixed.values())
        return {label: chance / total for label, chance in mixed.items()} if total > 0 else {}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, naive_bayes, preprocessing

        scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        yield {"models": [scaled, naive_bayes.GaussianNB()]}


def _probabilities(model: base.Classifier, x: Features) -> dict[Any, float]:
    try:
        given = dict(model.predict_proba_one(x))
    except NotImplementedError:
        label = model.predict_one(x)
        return {} if label is None else {label: 1.0}
    chances, most = given.values(), 1 + _ROUNDING
    if not (all(-_ROUNDING <= p <= most for p in chances) and sum(chances) <= most):
        raise ValueError(
            f"probabilities must lie in [0, 1] and sum to at most 1; got {given} "
            f"from {type(model).__name__}"
        )
    return given


def _half_brier(probabilities: dict[Any, float], y: base.typing.ClfTarget) -> float:
    squares: float = sum((chance - (label == y)) ** 2 for label, chance in probabilities.items())
    # rounded probabilities may sum to slightly more than 1
    return min(1.0, 0.5 * (squares + (y not in probabilities)))
