"""Combining forecasters: a Hedge learner behind the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from driftgames.certificates import Certificate
from driftgames.core.description import describe, restore
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.state import nested, restore_nested
from driftgames.core.typing import Content, FloatArray, Path
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.checks import check_units
from driftgames.hedge.factory import LearnerChoice, make_learner
from driftgames.hedge.losses import Loss, LossFunction, Range, make_loss

__all__ = ["ExpertMixture"]

KIND, VERSION = "driftgames.ExpertMixture", 2


class ExpertMixture(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A convex combination of experts' predictions, re-weighted after every outcome.

    .. math:: \hat y_t = \sum_i p_{t,i} x_{t,i}, \qquad \ell_{t,i} = \ell(x_{t,i}, y_t)

    The columns of ``X`` are the experts' predictions, its rows the rounds in order. ``p_t`` is
    the distribution that a Hedge learner plays before it sees round ``t``. If the loss is convex,
    the mixture loses at most :math:`p_t \cdot \ell_t`, so its regret to the best experts stays
    below the learner's bound, on any data. [LS14, Sec. 3.1, Thm. 2]

    Parameters
    ----------
    loss : str, Loss or callable
        "square", "absolute", "pinball", "log" or "zero-one"; a `Loss` with its own range; or a
        function of predictions and outcomes whose losses lie in [0, 1] (else `CustomLoss`).
    outcome_range : (low, high), optional
        The range of predictions and outcomes, for the first three by name. Default: (0, 1).
    learner : str or callable, optional
        A name in `LEARNERS` or `POTENTIALS`, or a factory, which is called with the number of
        experts, and with ``loss_range`` and ``names`` as keywords. Default: NormalHedge.DT.
    outside : {"error", "nearest"}
        A prediction outside the range is an error, or it is moved to the nearer end. An outcome
        outside the range is always an error.

    Attributes
    ----------
    learner_ : ExpertLearner
        The learner, with its clock and totals.
    loss_ : Loss
        The loss in use.
    total_loss_ : float
        The loss of the mixture's own predictions, each made before its outcome was seen.

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
        learner: LearnerChoice = None,
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
        """Play more rounds in order; batches of any size give the same result."""
        self._play(X, y, fresh="learner_" not in vars(self))
        return self

    def predict_then_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the predictions, each made before its outcome is learnt."""
        return self._play(X, y, fresh="learner_" not in vars(self))

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the combinations of these predictions under the current weights."""
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
        """The mixture's own loss less that of the best expert."""
        check_is_fitted(self)
        return float(self.total_loss_ - np.min(self.learner_.action_losses))

    def certificate(self) -> Certificate:
        """Return the learner's epsilon-regret beside its bound, for every epsilon.

        If the loss is convex, the mixture's own loss is at most the learner's, so the realised
        curve and the bound hold for the mixture too.
        """
        check_is_fitted(self)
        return self.learner_.certificate()

    def report(self, most: int = 10) -> str:
        """Return a table of the best experts, the regret to the best, and the certificate."""
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

    def save(self, path: Path) -> None:
        """Write the mixture to a JSON document, atomically.

        It holds the loss, the learner and the totals. A function, such as your own loss or
        factory of learners, must be given to `load` again.
        """
        check_is_fitted(self)
        content = {
            "arguments": {
                "loss": describe(self.loss_),
                "learner": _describe_choice(self.learner),
                "outside": self.outside,
            },
            "state": {
                "experts": self._columns(),
                "total_loss": self.total_loss_,
                "learner": nested(self.learner_),
            },
        }
        write_document(path, KIND, VERSION, content)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        loss: str | Loss | LossFunction | None = None,
        learner: LearnerChoice = None,
        **given: Any,
    ) -> ExpertMixture:
        """Return the mixture that was saved at ``path``; it continues to the same bits.

        ``loss``, ``learner`` and ``given`` (arguments of the learner) are for what a file cannot
        hold. They cannot change what the file does hold.
        """
        content = read_document(path, KIND, VERSION)
        try:
            arguments, state = content["arguments"], content["state"]
            mixture = cls(
                _saved_loss(arguments["loss"], loss),
                learner=_saved_choice(arguments["learner"], learner),
                outside=arguments["outside"],
            )
            mixture.learner_ = restore_nested(state["learner"], ExpertLearner, **given)
            mixture.loss_ = make_loss(mixture.loss)
            mixture.total_loss_ = float(state["total_loss"])
            wanted, found = mixture.learner_.loss_range, mixture.loss_.loss_range
            rounded = check_units(found, False, mixture.learner_.dtype)
            if wanted != (rounded.low, rounded.high):
                raise DocumentError(f"its learner takes losses in {wanted}, its loss has {found}")
            columns = state["experts"]
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
            learner = self.learner_.copy()  # a user's own loss may still raise below
        played = learner.run(losses, distributions=True).distributions
        mixed = loss.combine(predictions, np.asarray(played, dtype=np.float64))
        # one by one, so that batches of any size sum in the same order
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
        tags.regressor_tags.poor_score = True  # the experts bound the score
        return tags


def _saved_loss(saved: Content, given: str | Loss | LossFunction | None) -> Loss | LossFunction:
    """Return the saved loss; a loss that a file cannot hold must be given."""
    if given is None:
        return restore(saved, "loss")
    if describe(make_loss(given)) != saved:
        raise DocumentError(f"it was made with loss = {saved}; given is {given!r}")
    return given if callable(given) else make_loss(given)


def _saved_choice(saved: Content | str | None, given: LearnerChoice) -> LearnerChoice:
    """Return the saved choice of a learner; a factory must be given."""
    if given is None:
        return restore(saved, "learner") if isinstance(saved, dict) else saved
    if _describe_choice(given) != saved:
        raise DocumentError(f"it was made with learner = {saved}; given is {given!r}")
    return given


def _describe_choice(choice: LearnerChoice) -> Content | str | None:
    if choice is None or isinstance(choice, str):
        return choice
    return {"name": "a factory of learners", "arguments": None}
