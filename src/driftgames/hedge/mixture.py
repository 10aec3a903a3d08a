"""Combining forecasters: a Hedge learner behind the interface of scikit-learn."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from driftgames.certificates import Certificate
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.losses import Loss, LossFunction, Range, describe_loss, make_loss
from driftgames.hedge.making import Maker, describe_learner, make_learner, restore_learner
from driftgames.hedge.settings import check_loss_range

__all__ = ["ExpertMixture"]

KIND, VERSION = "driftgames.expert-mixture", 1

_CUSTOM = "custom"  # of a maker that a file cannot hold


class ExpertMixture(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A convex combination of experts' predictions, re-weighted after every outcome.

    .. math:: \hat y_t = \sum_i p_{t,i} x_{t,i}, \qquad \ell_{t,i} = \ell(x_{t,i}, y_t)

    The columns of ``X`` are the experts' predictions, its rows the rounds in order. ``p_t`` is
    what a Hedge learner plays before it sees round ``t``; where the loss is convex, the mixture
    loses at most :math:`p_t \cdot \ell_t`, so that its regret to the best experts is at most what
    the learner promises, on any data whatever. [LS14, Sec. 3.1, Thm. 2]

    Parameters
    ----------
    loss : str, Loss or callable
        "square", "absolute", "pinball", "log" or "zero-one"; a `Loss` with its own range; or a
        function of predictions and outcomes whose losses lie in [0, 1] (else `CustomLoss`).
    outcome_range : (low, high), optional
        Where predictions and outcomes lie, for the first three by name; (0, 1) unless given.
    learner : str or callable, optional
        A name in `LEARNERS`, or what makes a learner: it is called with the number of experts,
        and ``loss_range`` and ``names`` as keywords. NormalHedge.DT unless given.
    outside : {"error", "nearest"}
        What is done with a prediction outside the range: an error, or it is moved to the nearer
        end. An outcome outside the range is always an error.

    Attributes
    ----------
    learner_ : ExpertLearner
        The learner, with its clock and totals.
    loss_ : Loss
        The loss in use.
    total_loss_ : float
        What the mixture's own predictions lost, each made before its outcome was seen.

    Examples
    --------
    >>> X = [[0.2, 0.9], [0.4, 0.8], [0.9, 0.7]]
    >>> mixture = ExpertMixture("absolute").fit(X, [0.9, 0.6, 0.8])
    >>> mixture.weights_.round(3)
    array([0.179, 0.821])
    >>> mixture.predict([[0.0, 1.0]]).round(3)
    array([0.821])
    >>> round(mixture.regret_, 3)
    0.247
    """

    loss_: Loss
    learner_: ExpertLearner
    total_loss_: float

    def __init__(
        self,
        loss: str | Loss | LossFunction = "square",
        outcome_range: Range | None = None,
        learner: Maker = None,
        *,
        outside: str = "error",
    ) -> None:
        self.loss = loss
        self.outcome_range = outcome_range
        self.learner = learner
        self.outside = outside

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> ExpertMixture:
        """Forget everything and play the rounds in order."""
        self._play(X, y, fresh=True)
        return self

    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> ExpertMixture:
        """Play more rounds in order; a round alone or many at once come to the same."""
        self._play(X, y, fresh="learner_" not in vars(self))
        return self

    def predict_then_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the predictions, each made before its outcome was seen, and learn as we go."""
        return self._play(X, y, fresh="learner_" not in vars(self))

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the combinations of these predictions under the present weights."""
        check_is_fitted(self)
        predictions = validate_data(self, X, reset=False, dtype=np.float64)
        return self.loss_.combine(self._experts(self.loss_, predictions), self.weights_)

    @property
    def weights_(self) -> FloatArray:
        """The weight of each expert in the next prediction."""
        check_is_fitted(self, "learner_")
        return self.learner_.distribution().astype(np.float64, copy=False)

    @property
    def regret_(self) -> float:
        """How far the mixture's own loss is above that of the expert who was best in the end."""
        check_is_fitted(self)
        return float(self.total_loss_ - np.min(self.learner_.action_losses))

    def certificate(self) -> Certificate:
        """Return the learner's epsilon-regret beside its bound, for every epsilon.

        Where the loss is convex the mixture's own loss is at most the learner's, and both the
        realised curve and the bound hold for it.
        """
        check_is_fitted(self)
        return self.learner_.certificate()

    def report(self, most: int = 10) -> str:
        """Return the best experts, how far behind them the mixture is, and the certificate."""
        check_is_fitted(self)
        totals, rounds, names = self.learner_.action_losses, self.learner_.t, self.learner_.names
        order = np.argsort(totals, kind="stable")
        weights = self.weights_
        width = max(len("mixture"), *(len(names[i]) for i in order[:most]))
        lines = [f"{'':{width}}  {'mean loss':>12}  {'weight':>8}"]
        lines.append(f"{'mixture':{width}}  {self.total_loss_ / rounds:12.6g}")
        lines += [
            f"{names[i]:{width}}  {totals[i] / rounds:12.6g}  {weights[i]:8.4f}"
            for i in order[:most]
        ]
        if totals.size > most:
            lines.append(f"and {totals.size - most} others")
        behind = f"regret to {names[order[0]]}: {self.regret_:.6g} in {rounds:,} rounds"
        return "\n".join([*lines, behind, "", str(self.certificate())])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture to a JSON document, atomically.

        It holds the loss, the learner and the totals. A function (a loss or a maker of
        learners of your own) is not in it, and is given to `load` again.
        """
        check_is_fitted(self)
        content = {
            "loss": describe_loss(self.loss_),
            "maker": _describe_maker(self.learner),
            "outside": self.outside,
            "experts": self._columns(),
            "total_loss": self.total_loss_,
            "learner": describe_learner(self.learner_),
        }
        write_document(path, KIND, VERSION, content)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        loss: Loss | LossFunction | None = None,
        learner: Maker = None,
        **arguments: Any,
    ) -> ExpertMixture:
        """Return the mixture that was saved at ``path``; it goes on to the same bits.

        ``loss``, ``learner`` and ``arguments`` (of the learner's own) are for what a file cannot
        hold; what it does hold cannot be changed.
        """
        content = read_document(path, KIND, VERSION)
        try:
            mixture = cls(
                _saved_loss(content["loss"], loss),
                learner=_saved_maker(content["maker"], learner),
                outside=content["outside"],
            )
            mixture.learner_ = restore_learner(content["learner"], **arguments)
            mixture.loss_ = make_loss(mixture.loss)
            mixture.total_loss_ = float(content["total_loss"])
            wanted, found = mixture.learner_.loss_range, mixture.loss_.loss_range
            if wanted != check_loss_range(found, mixture.learner_.dtype):
                raise DocumentError(f"its learner takes losses in {wanted}, its loss has {found}")
            columns = content["experts"]
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentError(f"{path}: not a whole ExpertMixture: {error}") from error
        mixture.n_features_in_ = mixture.learner_.n_actions
        if columns is not None:
            mixture.feature_names_in_ = np.array(columns, dtype=object)
        return mixture

    def _play(self, X: npt.ArrayLike, y: npt.ArrayLike, *, fresh: bool) -> FloatArray:
        before = self.__dict__.copy()
        try:
            return self._play_checked(X, y, fresh)
        except Exception:
            self.__dict__ = before
            raise

    def _play_checked(self, X: npt.ArrayLike, y: npt.ArrayLike, fresh: bool) -> FloatArray:
        if self.outside not in {"error", "nearest"}:
            raise ValueError(f"outside must be 'error' or 'nearest'; got {self.outside!r}")
        loss = make_loss(self.loss, self.outcome_range) if fresh else self.loss_
        rows, column = validate_data(self, X, y, reset=fresh, dtype=np.float64, y_numeric=True)
        predictions, outcomes = self._experts(loss, rows), loss.check_outcomes(column)
        losses = loss.evaluate(predictions, outcomes[:, None])
        if fresh:
            scale, names = loss.loss_range, self._columns()
            learner = make_learner(self.learner, losses.shape[1], loss_range=scale, names=names)
        else:
            learner = self.learner_.copy()  # a loss of your own may still raise below
        played = learner.run(losses, distributions=True).distributions
        mixed = loss.combine(predictions, np.asarray(played, dtype=np.float64))
        # one by one, so that many rounds at once and a round alone sum in the same order
        total = 0.0 if fresh else self.total_loss_
        for lost in loss.evaluate(mixed, outcomes).tolist():
            total += lost
        self.loss_, self.learner_, self.total_loss_ = loss, learner, total
        return mixed

    def _experts(self, loss: Loss, X: FloatArray) -> FloatArray:
        return loss.nearest(X) if self.outside == "nearest" else loss.check_predictions(X)

    def _columns(self) -> list[str] | None:
        columns = vars(self).get("feature_names_in_")
        return None if columns is None else [str(column) for column in columns]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # it is as good as its experts, not as X predicts y
        return tags


def _saved_loss(saved: Content, given: Loss | LossFunction | None) -> Loss | LossFunction:
    """Return the loss that was saved; one that a file cannot hold must be given."""
    if given is not None:
        described = describe_loss(make_loss(given))
        if described != saved:
            raise DocumentError(f"it was saved with the loss {saved}; the one given is {described}")
        return given
    if saved["loss"] == "custom":
        raise DocumentError("it was saved with a loss of your own; give it as loss=")
    return make_loss(**saved)


def _saved_maker(saved: Content | str, given: Maker) -> Maker:
    """Return how the learner was made; what a file cannot hold must be given."""
    described = _describe_maker(given)
    if given is not None and described != saved:
        raise DocumentError(f"it was saved with the learner {saved}; the one given is {described}")
    if given is None and saved == _CUSTOM:
        raise DocumentError("it was saved with a learner of your own; give it as learner=")
    return given if isinstance(saved, str) else saved["learner"]


def _describe_maker(maker: Maker) -> Content | str:
    return {"learner": maker} if maker is None or isinstance(maker, str) else _CUSTOM
