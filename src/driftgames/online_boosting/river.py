"""Online boosting of river's classifiers.

Needs the extra: ``pip install 'driftgames[river]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from driftgames.certificates.certificate import MistakeCertificate
from driftgames.core.checks import needs_extra
from driftgames.online_boosting.adapters import (
    ONLINE_BOOSTERS,
    TwoLabels,
    drawn_times,
    make_booster,
    takes_weights,
)

with needs_extra(__name__, "river"):
    from river import base

__all__ = ["OnlineBoostingClassifier"]

Features = dict[Any, Any]


class OnlineBoostingClassifier(base.WrapperEnsemble, base.Classifier):  # type: ignore[misc]
    """A majority of copies of a river classifier, each trained where the ones before it err.

    Parameters
    ----------
    model
        The weak learner: any classifier of river for two labels.
    algorithm
        "bbm" (`OnlineBBM`) or "adaboost.ol" (`AdaBoostOL`).
    n_models
        The number of copies. An odd number has no ties.
    edge
        How much better than chance the copies are expected to be, for "bbm".
    weighting
        "weight" gives a copy the weight of an example, as ``learn_one(x, y, w=...)``. "draw" lets
        it learn the example a random number of times, whose mean is the weight. "auto" draws for
        models that take no weight.
    seed
        For the drawing.

    Notes
    -----
    The weak learners belong to river and can only be pickled, so there is no state file of the
    whole. `booster` is a `Stateful`: it can be saved.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, tree
    >>> model = OnlineBoostingClassifier(tree.HoeffdingTreeClassifier(grace_period=50))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.60%
    >>> model.certificate().holds
    True
    """

    def __init__(
        self,
        model: base.Classifier,
        algorithm: str = "bbm",
        n_models: int = 11,
        edge: float = 0.1,
        weighting: str = "auto",
        seed: int | None = None,
    ) -> None:
        super().__init__(model, n_models, seed)
        self.algorithm = algorithm
        self.edge = edge
        self.weighting = weighting
        self.booster = make_booster(algorithm, n_models, edge)
        final = getattr(model, "_last_step", model)  # of a pipeline
        self._weighs = takes_weights(weighting, final.learn_one, "w")
        self._draws = np.random.default_rng(seed)
        self._labels = TwoLabels()

    @property
    def _min_number_of_models(self) -> int:
        return 1

    @property
    def _multiclass(self) -> bool:
        return False

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        """Weigh an example for each copy by what the copies before it predict, and learn it.

        ``kwargs`` are passed on to the copies.
        """
        predictions = self._predictions(x)
        weights = self.booster.update(predictions, self._labels.sign_of(y))
        if self._weighs:
            for model, weight in zip(self, weights.tolist(), strict=True):
                if weight > 0:
                    model.learn_one(x, y, w=weight, **kwargs)
        else:
            for model, times in zip(self, drawn_times(weights, self._draws), strict=True):
                for _ in range(times):
                    model.learn_one(x, y, **kwargs)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[base.typing.ClfTarget, float]:
        """Return the share of the vote that each label has; it is not calibrated.

        Before the first label, the labels are taken to be False and True.
        """
        labels = self._labels.seen
        if len(labels) < 2:
            return dict.fromkeys(labels, 1.0) or {False: 0.5, True: 0.5}
        vote = self.booster.vote(self._predictions(x, **kwargs))
        return {labels[0]: (1.0 + vote) / 2.0, labels[1]: (1.0 - vote) / 2.0}

    def certificate(self) -> MistakeCertificate:
        """Return the number of mistakes beside its bound."""
        return self.booster.certificate()

    def _predictions(self, x: Features, **kwargs: Any) -> list[int]:
        return [self._labels.guess(model.predict_one(x, **kwargs)) for model in self]

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, naive_bayes, preprocessing

        scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        for algorithm in ONLINE_BOOSTERS:
            yield {"model": scaled, "algorithm": algorithm, "n_models": 3}
        yield {"model": naive_bayes.GaussianNB(), "n_models": 3}
